/** What the annotators marked as support: boxes on the pages in their colours, and the line that says whose they are. */

import { valueWords } from '../criteria/kinds.js';
import { attribute, h, keepFocus } from '../shared/dom.js';
import { WORDS } from './text.js';

/** @typedef {import('../viewer/pages/boxes.js').PageMark} PageMark */

const COLOURS = 6; // in viewer.css

/** The colour of an annotator. @param {string} rater @param {string[]} raters */
export const colourOf = (rater, raters) => `var(--rater-${(Math.max(0, raters.indexOf(rater)) % COLOURS) + 1})`;

/** The boxes of all annotators; the same box of several is drawn once, with all their names. @param {Dispute} dispute @param {VotedUnit[]} units @returns {PageMark[]} */
export function marksOf(dispute, units) {
  const documents = dispute.presentation.documents ?? [];
  /** @type {Map<string, {document: number, page: number, boxes: Box[], raters: Set<string>, about: Set<string>}>} */
  const places = new Map();
  for (const unit of units) {
    for (const vote of unit.votes) {
      for (const { document, page, box, boxes } of vote.rationale ?? []) {
        const found = documents.find((doc) => doc.id === document || doc.key === document);
        const drawn = boxes ?? (box ? [box] : []);
        if (!found || !page || !drawn.length) continue;
        const place = `${found.id} ${page} ${drawn.flat().map((corner) => corner.toFixed(3)).join(' ')}`;
        const mark = places.get(place) ?? { document: found.id, page, boxes: drawn, raters: new Set(), about: new Set() };
        mark.raters.add(vote.rater);
        mark.about.add(`${unit.criterion.title}: ${valueWords(vote.value, unit.criterion)}`);
        places.set(place, mark);
      }
    }
  }
  return [...places.values()].map(({ document, page, boxes, raters, about }) => {
    const name = dispute.raters.filter((rater) => raters.has(rater)).join(', ');
    const [first] = name.split(', ');
    return { document, page, boxes, name, title: WORDS.markTitle(name, [...about].join('; ')), colour: colourOf(first, dispute.raters) };
  });
}

/** The line under the viewer: whose boxes these are, and a button that hides them. */
export class MarksLine {
  /** @param {(marks: PageMark[]) => void} draw */
  constructor(draw) {
    this.draw = draw;
    /** @type {PageMark[]} */
    this.marks = [];
    this.on = true;
    this.button = h('button', {
      type: 'button', class: 'tool', 'data-testid': 'marks', onmousedown: keepFocus,
      onclick: () => {
        this.on = !this.on;
        this.#refresh();
      },
    });
    this.names = h('span', { class: 'marks-names' });
    this.element = h('div', { class: 'legend', hidden: true }, this.button, this.names, h('span', { class: 'soft' }, WORDS.marksMore));
  }

  /** @param {PageMark[]} marks */
  show(marks) {
    this.marks = marks;
    this.element.hidden = !marks.length;
    this.button.textContent = WORDS.marks(marks.length);
    const names = new Map(marks.map((mark) => [mark.name, mark.colour]));
    this.names.replaceChildren(...[...names].map(([name, colour]) => h('span', {}, h('i', { class: 'swatch', style: `background:${colour}` }), name)));
    this.#refresh();
  }

  #refresh() {
    attribute(this.button, 'aria-pressed', String(this.on));
    this.draw(this.on ? this.marks : []);
  }
}
