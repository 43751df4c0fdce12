/** Phrases that were counted: the sets of references that require them, and where the best set's stand in the answer. */

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

/**
 * The sets, the best one in front under the number it has among the references.
 *
 * @param {{sets: PhraseSet[], rule: string}} counted
 * @param {string | null} language
 */
export function phraseSets({ sets, rule }, language) {
  const numbered = sets.map((set, at) => ({ set, number: at + 1 }));
  const ordered = [...numbered.filter(({ set }) => set.best), ...numbered.filter(({ set }) => !set.best)];
  return h('div', { class: 'phrase-sets', 'data-testid': 'references' },
    ...ordered.map(({ set, number }) => oneSet(set, number, sets.length, language)),
    h('p', { class: 'soft rule' }, TEXT.phraseRule(rule)));
}

/** @param {PhraseSet} set @param {number} number @param {number} of @param {string | null} language */
function oneSet(set, number, of, language) {
  const found = set.phrases.filter((phrase) => phrase.count > 0).length;
  return h('section', { class: `phrase-set ${set.best ? 'best' : ''}`, 'data-testid': 'phrase-set', 'data-best': set.best ? 'true' : null },
    h('h3', {}, TEXT.phraseSet(number), h('small', { class: 'soft' }, TEXT.phrasesFound(found, set.phrases.length, set.best && of > 1))),
    h('ul', {}, ...set.phrases.map((phrase) => h('li', { class: phrase.count ? 'found' : 'missing' },
      h('span', { class: 'tick', 'aria-hidden': 'true' }, phrase.count ? '✓' : '✗'),
      h('span', { dir: 'auto', lang: language }, phrase.text),
      h('small', {}, phrase.count ? h('span', { 'aria-hidden': 'true' }, TEXT.times(phrase.count)) : TEXT.phraseMissing,
        phrase.count ? h('span', { class: 'unseen' }, TEXT.phraseFound(phrase.count)) : null)))));
}
