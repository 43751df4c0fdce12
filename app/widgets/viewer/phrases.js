/** The line that says which phrases of the answer and the references were found, where, and which were not. */

import { attribute, button, h, keepFocus, shorten } from '../shared/dom.js';
import { around } from './pages/layout.js';
import { WORDS } from '../shared/viewer_text.js';

/** @typedef {{document: number, page: number, boxes: Box[], phrase: FoundPhrase}} Hit */

const LONG = 48; // characters of a phrase on its chip

export class Phrases {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {object} on
   * @param {() => void} on.changed what is highlighted
   * @param {(hit: Hit) => void} on.go a hit is to be shown
   * @param {(action: string) => void} on.act
   * @param {() => {document: number, page: number}} on.place what is in view
   */
  constructor(keys, on) {
    this.on = on;
    /** @type {FoundOnPages | null} */
    this.found = null;
    /** Every hit, in the order of the pages. @type {Hit[]} */
    this.hits = [];
    /** @type {Hit | null} */
    this.at = null;
    this.shown = true;
    this.toggle = button(WORDS.phrases, () => {
      this.shown = !this.shown;
      this.#state();
      on.changed();
    }, { class: 'tool', hint: WORDS.phrasesTitle, testid: 'phrases' });
    this.row = h('div', { class: 'chips phrase-chips' });
    this.all = button(WORDS.all, () => {
      this.element.classList.toggle('all');
      this.#state();
    }, { class: 'tool', hint: WORDS.showAll, testid: 'all-phrases' });
    const walk = (/** @type {string} */ action, /** @type {string} */ title, /** @type {string} */ sign) => button(sign, () => on.act(action),
      { class: 'tool plain-key', name: title, hint: title, key: keys.of(action), testid: action });
    this.walks = h('span', { class: 'walks' }, walk('previous_hit', WORDS.searchBefore, '‹'), walk('next_hit', WORDS.searchAfter, '›'));
    this.element = h('div', { class: 'legend phrases-line', role: 'toolbar', 'aria-label': WORDS.phrasesLine, hidden: true },
      this.toggle, this.row, this.all, this.walks);
    this.#state();
  }

  /** A new item, about which nothing is known yet. @param {boolean} expected */
  begin(expected) {
    this.found = null;
    this.hits = [];
    this.at = null;
    this.element.hidden = !expected;
    this.walks.hidden = true;
    this.all.hidden = true;
    if (expected) this.row.replaceChildren(h('span', { class: 'soft' }, WORDS.looking));
  }

  /** @param {FoundOnPages | null} found null: they cannot be had @param {number[]} documents their ids, in order */
  show(found, documents) {
    if (!found) {
      this.element.hidden = true;
      return;
    }
    this.found = found;
    const seen = new Set();
    this.hits = found.phrases.flatMap((phrase) => phrase.hits.map((hit) => ({ ...hit, phrase })))
      .filter((hit) => documents.includes(hit.document) && hit.boxes.length)
      .sort((first, second) => documents.indexOf(first.document) - documents.indexOf(second.document) || first.page - second.page ||
        around(first.boxes)[1] - around(second.boxes)[1] || around(first.boxes)[0] - around(second.boxes)[0])
      .filter((hit) => {
        // The answer and a reference may say the same: one stop, in the colour of the first.
        const place = `${hit.document} ${hit.page} ${hit.boxes[0].map((edge) => edge.toFixed(3)).join()}`;
        return !seen.has(place) && seen.add(place);
      });
    this.#draw(found);
    this.element.hidden = false;
    this.on.changed();
  }

  /** Goes to the hit before or after; from the page in view when none is at hand. @param {number} by 1 or -1 */
  walk(by) {
    this.#to(this.hits, by);
  }

  /** @param {Hit[]} hits @param {number} by */
  #to(hits, by) {
    if (!hits.length) return;
    let at = this.at ? hits.findIndex((hit) => this.at && same(hit, this.at)) : -1;
    if (at >= 0) at = (at + by + hits.length) % hits.length;
    else {
      const { document, page } = this.on.place();
      const ahead = hits.findIndex((hit) => hit.document === document && hit.page >= page);
      at = by > 0 ? Math.max(0, ahead) : ((ahead < 0 ? 0 : ahead) - 1 + hits.length) % hits.length;
    }
    this.at = hits[at];
    if (!this.shown) {
      this.shown = true;
      this.#state();
    }
    for (const chip of this.row.querySelectorAll('[data-phrase]')) {
      const own = chip.getAttribute('data-phrase') === idOf(this.at.phrase);
      attribute(chip, 'aria-current', own ? 'true' : null);
      if (own && chip instanceof HTMLElement && chip.offsetLeft + chip.offsetWidth > this.row.scrollLeft + this.row.clientWidth) this.row.scrollLeft = chip.offsetLeft - 20;
    }
    this.on.changed();
    this.on.go(this.at);
  }

  /** @param {FoundOnPages} found */
  #draw(found) {
    const there = found.phrases.filter((phrase) => phrase.count > 0);
    const without = found.without_text?.length ?? 0;
    const silent = without > 0 && without >= (found.searched ?? Infinity);
    const absent = silent ? [] : found.phrases.filter((phrase) => phrase.count === 0);
    const swatch = (/** @type {FoundPhrase} */ phrase) => h('i', { class: `swatch ${phrase.of}`, role: 'img', 'aria-label': name(phrase) });
    const nodes = there.map((phrase) => {
      const pages = [...new Set(phrase.hits.map((hit) => hit.page))];
      return h('button', {
        type: 'button', class: 'chip', 'data-phrase': idOf(phrase), 'data-testid': 'phrase', onmousedown: keepFocus,
        title: WORDS.phraseTitle(phrase.text, name(phrase), WORDS.foundTimes(phrase.count, pages)),
        onclick: () => this.#to(this.hits.filter((hit) => hit.phrase === phrase || phrase.hits.some((other) => same(other, hit))), 1),
      }, swatch(phrase), h('bdi', {}, shorten(phrase.text, LONG)), h('small', {}, ` ${WORDS.times(phrase.count, pages)}`));
    });
    if (absent.length && found.complete !== false) {
      nodes.push(/** @type {any} */ (h('span', { class: 'absent', 'data-testid': 'phrases-absent' }, h('b', {}, without ? WORDS.notFoundWithText : WORDS.notFound), ...absent.map(
        (phrase) => h('span', { title: WORDS.phraseTitle(phrase.text, name(phrase), WORDS.noneFound) }, swatch(phrase), h('bdi', {}, shorten(phrase.text, LONG))),
      ))));
    }
    if (silent && found.complete !== false) nodes.push(/** @type {any} */ (h('span', { class: 'soft', 'data-testid': 'not-searchable' }, WORDS.notSearchablePages)));
    else if (without) nodes.push(/** @type {any} */ (h('span', { class: 'soft' }, WORDS.phrasesLater(without))));
    if (found.complete === false) nodes.push(/** @type {any} */ (h('span', { class: 'soft' }, WORDS.looking)));
    else if (!found.phrases.length && !silent) nodes.push(/** @type {any} */ (h('span', { class: 'soft' }, WORDS.noPhrases)));
    this.row.replaceChildren(...nodes);
    this.walks.hidden = !this.hits.length;
    this.all.hidden = found.phrases.length < 3 && !absent.length;
    this.all.textContent = absent.length && found.complete !== false ? WORDS.absent(absent.length) : WORDS.all;
  }

  #state() {
    this.toggle.setAttribute('aria-pressed', String(this.shown));
    this.all.setAttribute('aria-pressed', String(this.element?.classList.contains('all') ?? false));
  }
}

/** @param {FoundPhrase} phrase */
const idOf = (phrase) => `${phrase.of} ${phrase.text}`;

/** @param {FoundPhrase} phrase */
const name = (phrase) => (phrase.of === 'answer' ? WORDS.ofAnswer : WORDS.ofReference);

/** @param {{document: number, page: number, boxes: Box[]}} hit @param {{document: number, page: number, boxes: Box[]}} other */
const same = (hit, other) => hit.document === other.document && hit.page === other.page && hit.boxes[0]?.every((edge, at) => Math.abs(edge - (other.boxes[0]?.[at] ?? 9)) < 1e-3);
