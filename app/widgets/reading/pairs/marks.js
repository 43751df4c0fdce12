/** Marks in the two answers of a pair of what only one of them says, which a person can switch off. */

import { button, h } from '../../shared/dom.js';
import { TEXT } from '../../shared/text.js';
import { sentencesOf } from '../../texts/words.js';
import { differences, numberBefore } from './differences.js';

/** @typedef {import('../../texts/drawn.js').Drawn} Drawn */
/** @typedef {import('./differences.js').Difference} Difference */

/** What they are called in settings and submissions. */
export const PAIR_MARKS = 'pair_marks';
const OFF = 'off';
const SIDES = ['left', 'right'];

/** @type {WeakMap<Element, PairMarks>} */
const known = new WeakMap();

/** The marks that are switched within an element; null where there are none. @param {Element} root @returns {PairMarks | null} */
export function pairMarksIn(root) {
  const element = root.querySelector('.pair-legend');
  return (element && known.get(element)) ?? null;
}

export class PairMarks {
  /** @param {import('../../shared/keys.js').Keys} keys */
  constructor(keys) {
    this.preferences = keys.preferences;
    /** @type {Drawn[]} */
    this.sides = [];
    /** Whether the answers were marked at any time. */
    this.seen = false;
    this.toggler = button('', () => this.toggle(), { class: 'mini', key: keys.of(PAIR_MARKS), testid: 'pair-marks', hint: TEXT.pairMarksTitle });
    this.element = h('div', { class: 'pair-legend', 'data-testid': 'pair-legend' },
      ...SIDES.map((side, at) => h('span', { class: `of-${side}` }, h('mark', { class: 'only' }), TEXT.onlyIn(at))),
      h('span', {}, h('mark', { class: 'figure of-left' }), h('mark', { class: 'figure of-right' }), TEXT.otherFigure), this.toggler);
    known.set(this.element, this);
    this.#say();
  }

  get on() {
    return this.preferences.get(PAIR_MARKS) !== OFF;
  }

  /** Takes over a side that was drawn; both are marked once they are there. @param {number} at 0 is left @param {Drawn} drawn */
  drawn(at, drawn) {
    this.sides[at] = drawn;
    if (this.sides[0] && this.sides[1]) this.#draw();
  }

  /** Switches the marks on or off, here and in what follows. */
  toggle() {
    this.preferences.set(PAIR_MARKS, this.on ? OFF : null);
    this.#draw();
    this.#say();
  }

  #draw() {
    const { sides } = this;
    for (const side of sides) for (const kind of ['only', 'figure']) side.unmark(kind);
    if (!this.on) return;
    this.seen = true;
    const sentences = sides.map((side) => sentencesOf(side.pieces.map((piece) => ({ ...piece, whole: piece.node instanceof Element }))));
    const [left, right] = sides.map(({ raw }, at) => sentences[at].map((range) => raw.slice(...range)));
    differences(left, right).forEach((found, at) => found.forEach((difference, number) => this.#mark(at, sentences[at][number], difference)));
  }

  /** @param {number} at @param {[number, number]} sentence @param {Difference} difference */
  #mark(at, [start, end], { only, figures }) {
    const side = this.sides[at];
    if (only) side.mark(start + numberBefore(side.raw.slice(start, end)).length, end, `only of-${SIDES[at]}`);
    for (const [from, to] of figures) side.mark(start + from, start + to, `figure of-${SIDES[at]}`);
  }

  #say() {
    this.element.classList.toggle('on', this.on);
    this.toggler.firstElementChild?.replaceChildren(this.on ? TEXT.pairMarksOff : TEXT.pairMarksOn);
    this.toggler.setAttribute('aria-pressed', String(this.on));
  }
}
