/** The best set's phrases where they stand in an answer: marked, counted in its heading, and walked to one by one. */

import { button, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

/** @typedef {import('../texts/drawn.js').Drawn} Drawn */

/** @type {WeakMap<Element, FoundPhrases>} */
const known = new WeakMap();

/** The phrases that are marked somewhere within an element; null where there are none. @param {Element} root @returns {FoundPhrases | null} */
export function foundIn(root) {
  const element = root.querySelector('.found-phrases:not([hidden])');
  return (element && known.get(element)) ?? null;
}

export class FoundPhrases {
  /**
   * @param {[number, number][]} places in the raw text, in order
   * @param {import('../shared/keys.js').Keys | null} keys walk from one to the next; null where they belong to the document's hits
   */
  constructor(places, keys) {
    this.places = places;
    this.keyed = keys !== null;
    this.at = -1;
    /** The marks of each place. @type {HTMLElement[][]} */
    this.marks = [];
    this.words = h('span', { 'aria-live': 'polite' });
    const walk = (/** @type {string} */ action, /** @type {string} */ sign, /** @type {string} */ title, /** @type {number} */ by) =>
      button(sign, () => this.walk(by), { class: 'mini', name: title, hint: title, key: keys?.of(action), testid: `found-${action}` });
    this.element = h('span', { class: 'found-phrases', 'data-testid': 'found-phrases', hidden: !places.length }, this.words,
      walk('previous_hit', '‹', TEXT.foundBefore, -1), walk('next_hit', '›', TEXT.foundNext, 1));
    known.set(this.element, this);
    this.#say();
  }

  /** Marks them in a text that was drawn. @param {Drawn} drawn */
  mark(drawn) {
    this.marks = this.places.map(([start, end]) => drawn.mark(start, end, 'found'));
    this.#current(true);
  }

  /** Brings the next one to the middle, or the one before. @param {number} by 1 or -1 */
  walk(by) {
    const { length } = this.places;
    if (!length) return;
    this.#current(false);
    this.at = this.at < 0 ? (by > 0 ? 0 : length - 1) : (this.at + by + length) % length;
    this.#current(true);
    this.marks[this.at][0]?.scrollIntoView({ block: 'center' });
    this.#say();
  }

  /** What the marks are, for the line beneath the text. @returns {HTMLElement[]} */
  legend() {
    return [h('mark', {}), h('span', {}, TEXT.foundLegend(this.places.length)), h('i', {}), h('span', {}, TEXT.foundOnRail)];
  }

  /** @param {boolean} on */
  #current(on) {
    for (const mark of this.marks[this.at] ?? []) mark.classList.toggle('at', on);
  }

  #say() {
    this.words.textContent = this.at < 0 ? TEXT.foundPhrases(this.places.length) : TEXT.foundPhrase(this.at + 1, this.places.length);
  }
}
