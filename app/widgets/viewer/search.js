/** Searching the document: the field, how many hits there are, and the way from one to the next. */

import { ask } from '../shared/ask.js';
import { button, h } from '../shared/dom.js';
import { besideUrl } from './pages/images.js';
import { WORDS } from '../shared/viewer_text.js';

const PAUSE = 220; // milliseconds without typing until the search begins
const AGAIN = 1000; // milliseconds until a search that was not complete is asked again
const LONGEST = 200; // characters

export class Search {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {object} on
   * @param {() => void} on.changed hits, the hit at hand, or whether the search is open
   * @param {(hit: SearchHit) => void} on.go a hit is to be shown
   * @param {() => void} on.closed
   * @param {() => number} on.page the current page
   */
  constructor(keys, on) {
    this.on = on;
    /** @type {Doc | null} */
    this.doc = null;
    /** @type {SearchHits | null} */
    this.found = null;
    this.at = -1;
    this.timer = 0;
    /** @type {AbortController | null} */
    this.request = null;
    this.field = h('input', {
      type: 'text', class: 'field search-field', 'aria-label': WORDS.searchField, placeholder: WORDS.searchField, maxlength: LONGEST,
      autocomplete: 'off', spellcheck: 'false', dir: 'auto', 'data-testid': 'search-field',
      oninput: () => this.#soon(PAUSE),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== 'Enter' || event.isComposing) return;
        if (this.hits.length) this.walk(event.shiftKey ? -1 : 1);
        else this.#soon(0);
      },
    });
    this.state = h('span', { class: 'search-state', role: 'status', 'data-testid': 'search-state' });
    this.context = h('span', { class: 'search-context', dir: 'auto' });
    this.element = h('div', { class: 'search-bar', role: 'search', 'aria-label': WORDS.searchBar, hidden: true }, this.field,
      button('‹', () => this.walk(-1), { class: 'tool', name: WORDS.searchBefore, hint: WORDS.searchBefore, key: keys.of('previous_hit'), testid: 'search-before' }),
      button('›', () => this.walk(1), { class: 'tool', name: WORDS.searchAfter, hint: WORDS.searchAfter, key: keys.of('next_hit'), testid: 'search-after' }),
      this.state, this.context,
      button('×', () => this.close(), { class: 'tool', name: 'Close', hint: 'Close', key: 'Escape', testid: 'search-close' }));
  }

  get open() {
    return !this.element.hidden;
  }

  /** @returns {SearchHit[]} */
  get hits() {
    return this.open ? this.found?.hits ?? [] : [];
  }

  /** Opens the field, with what was sought last selected. @param {Doc} doc */
  show(doc) {
    this.element.hidden = false;
    this.field.focus();
    this.field.select();
    this.in(doc);
  }

  close() {
    if (!this.open) return;
    this.element.hidden = true;
    this.#forget();
    this.on.closed();
    this.on.changed();
  }

  /** The document that is searched from now on. @param {Doc | null} doc */
  in(doc) {
    const same = this.doc?.url === doc?.url;
    this.doc = doc;
    if (!this.open || (same && this.found)) return;
    this.#forget();
    if (doc && this.field.value.trim()) this.#soon(0);
    else this.on.changed();
  }

  /** Goes to the hit before or after. @param {number} by 1 or -1 */
  walk(by) {
    const { hits } = this;
    if (!hits.length) return;
    this.#go((this.at + by + hits.length) % hits.length);
  }

  #forget() {
    clearTimeout(this.timer);
    this.request?.abort();
    this.found = null;
    this.at = -1;
    this.state.textContent = '';
    this.context.textContent = '';
  }

  /** @param {number} delay */
  #soon(delay) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.#ask(), delay);
  }

  async #ask() {
    const { doc } = this;
    const query = this.field.value.trim();
    this.request?.abort();
    if (!doc || !query) {
      this.#forget();
      this.on.changed();
      return;
    }
    const request = new AbortController();
    this.request = request;
    const fresh = this.found?.query !== query;
    if (fresh) this.state.textContent = WORDS.searching;
    /** @type {SearchHits} */
    let found;
    try {
      const url = besideUrl(doc, 'page-search');
      found = await ask(`${url}${url.endsWith('?') ? '' : '&'}q=${encodeURIComponent(query)}`, undefined, request.signal);
    } catch {
      if (request.signal.aborted) return;
      this.state.textContent = WORDS.searchFailed;
      return;
    }
    if (request.signal.aborted) return;
    this.found = { ...found, query };
    if (fresh) this.at = -1;
    if (!found.complete) this.#soon(AGAIN);
    if (this.at < 0 && found.hits.length) {
      const page = this.on.page();
      this.#go(Math.max(0, found.hits.findIndex((hit) => hit.page >= page)));
    } else {
      this.#say();
      this.on.changed();
    }
  }

  /** @param {number} at */
  #go(at) {
    this.at = at;
    this.#say();
    this.on.changed();
    this.on.go(this.hits[at]);
  }

  #say() {
    const { found, at } = this;
    if (!found) return;
    const hit = found.hits[at];
    this.state.textContent = searchWords(found, at);
    this.context.textContent = hit?.context ?? '';
    this.context.title = hit?.context ?? '';
  }
}

/**
 * What a search says: at which hit it is, and of pages without text that nothing can be found there, which is not that it does not
 * stand there.
 *
 * @param {SearchHits} found
 * @param {number} at the hit that is shown, -1 for none
 */
export function searchWords(found, at) {
  const { hits, complete, pages } = found;
  const count = found.count ?? hits.length;
  const without = found.without_text?.length ?? 0;
  const unreadable = found.reason ? 0 : found.unreadable?.length ?? 0;
  const words = [];
  if (hits.length) words.push(at >= 0 ? WORDS.hitOf(at + 1, count) : WORDS.hits(count));
  else if (found.reason) words.push(found.reason);
  else if (complete && without && without + unreadable >= pages) return WORDS.notSearchable;
  else if (complete) words.push(without || unreadable ? WORDS.noHitsWithText : WORDS.noHits);
  if (hits[at]) words.push(WORDS.hitOnPage(hits[at].page));
  if (count > hits.length) words.push(WORDS.hitsMore(count, hits.length));
  if (!complete) words.push(WORDS.stillReading(found.searched, pages));
  if (without) words.push(WORDS.noText(without));
  if (unreadable) words.push(WORDS.unreadable(unreadable));
  return words.join(' · ');
}
