/** A place where texts are read: it says how much lies below the fold, scrolls by key, and knows what has been in view. */

import { called, h, isStacked, keepFocus, keycap } from '../shared/dom.js';
import { PlacedWords, sizeOf } from './placed_words.js';
import { Rail } from './rail.js';
import { TEXT } from '../shared/text.js';

/** @typedef {import('./placed_words.js').Span} Span */
/** @typedef {{name: string, words: PlacedWords, part: HTMLElement}} Read a text of the area, by what it is called */

const FADE = 14; // pixels at the lower edge in which a line is no longer read well
const OVERLAP = 44; // pixels of the screen before that are still seen after scrolling by one
const PINNED = 0.3; // the share of the area's height that a text which stays in view may take

export class ReadingArea {
  /**
   * @param {object} options
   * @param {string} options.name what a screen reader calls it
   * @param {import('../shared/keys.js').Keys} options.keys
   * @param {(action: string) => void} options.act
   * @param {() => void} [options.looked] what is in view was looked at anew
   */
  constructor({ name, keys, act, looked = () => undefined }) {
    this.looked = looked;
    /** Called with the words of a text that are on the screen. @type {(name: string, words: Span[], count: number) => void} */
    this.seen = () => undefined;
    this.text = h('div', {});
    this.scroller = h('div', { class: 'reading', tabindex: '0', role: 'region', 'aria-label': name }, this.text);
    this.rail = new Rail(this.scroller);
    this.moreWords = h('span', {});
    this.moreButton = h('button', {
      type: 'button', class: 'more-words', 'data-testid': 'more-words', title: keys.title('read_on'), 'aria-keyshortcuts': keys.of('read_on'),
      onclick: () => this.by(1), onmousedown: keepFocus,
    }, this.moreWords, keycap(keys.of('read_on')));
    const key = (/** @type {string} */ action) => h('button', {
      type: 'button', class: 'plain', title: keys.title(action), 'aria-keyshortcuts': keys.of(action),
      'data-testid': action, onclick: () => act(action), onmousedown: keepFocus,
    }, called(keys.title(action)), keycap(keys.of(action)));
    this.hints = h('span', { class: 'reading-keys' },
      h('span', {}, TEXT.scrollKeys, key('read_on'), key('read_back')),
      h('span', { class: 'to-end' }, TEXT.toEnd, key('read_end')), h('span', { class: 'to-start' }, TEXT.toStart, key('read_start')));
    /** What the marks in the text and on the rail are. */
    this.legend = h('span', { class: 'legend-of-marks' });
    this.foot = h('div', { class: 'reading-foot', hidden: true, 'data-testid': 'reading-foot' }, this.legend, this.moreButton, this.hints);
    this.element = h('div', { class: 'reading-area' },
      h('div', { class: 'reading-place' }, this.scroller, h('div', { class: 'fade', 'data-testid': 'fade' }), this.rail.element), this.foot);
    /** @type {Read[]} */
    this.reads = [];
    /** A short question that stays in view while its answer is read. @type {HTMLElement | null} */
    this.pinned = null;
    this.stale = true;
    this.waiting = false;
    this.scroller.addEventListener('scroll', () => this.#scrolled(), { passive: true });
    this.sizes = new ResizeObserver(() => this.#resized());
    for (const watched of [this.element, this.scroller, this.text]) this.sizes.observe(watched);
    this.changes = new MutationObserver((changes) => {
      if (changes.some(({ target }) => !(target instanceof Element ? target : target.parentElement)?.closest('.image-card'))) this.#changed();
    });
    this.changes.observe(this.text, { childList: true, characterData: true, subtree: true });
  }

  /** The height at which nothing has to be scrolled. */
  get needed() {
    return this.text.offsetHeight + 18;
  }

  get atStart() {
    return this.scroller.scrollTop <= 1;
  }

  get atEnd() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    return scrollTop + clientHeight >= scrollHeight - 1;
  }

  get overflows() {
    return this.element.classList.contains('overflows');
  }

  /** Whether it is known where the words of its texts stand. */
  get measured() {
    return !this.stale || !this.text.childElementCount;
  }

  /** What its texts are called. */
  get names() {
    return this.reads.map((read) => read.name);
  }

  /** Scrolls by so many screens. @param {number} screens */
  by(screens) {
    const { scroller } = this;
    const page = scroller.clientHeight - (this.pinned?.clientHeight ?? 0) - OVERLAP;
    scroller.scrollTop += screens * Math.max(40, page);
  }

  /** Scrolls to the end, or to the start. @param {boolean} end */
  to(end) {
    this.scroller.scrollTop = end ? this.scroller.scrollHeight : 0;
  }

  /** Whether this area is the one that the keys scroll next. @param {boolean} on */
  keyed(on) {
    this.element.classList.toggle('keyed', on);
  }

  /** Looks, once the screen is painted, at what is in view now. */
  look() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => setTimeout(() => {
      this.waiting = false;
      this.#look();
    }));
  }

  dispose() {
    this.sizes.disconnect();
    this.changes.disconnect();
  }

  #scrolled() {
    this.rail.draw();
    this.#edge();
    this.look();
  }

  #resized() {
    this.stale = true;
    // All is read before anything is changed, or the browser would lay the page out again in between.
    const height = this.element.clientHeight;
    const overflows = !isStacked() && this.needed - 2 > height;
    const question = this.element.matches('.facing > *') ? this.text.querySelector(':scope > .part:has(.q)') : null;
    const taken = question?.clientHeight ?? 0;
    this.pinned = question instanceof HTMLElement && !isStacked() && taken <= PINNED * height ? question : null;
    question?.classList.toggle('pinned', question === this.pinned);
    this.element.classList.toggle('overflows', overflows);
    this.foot.hidden = !overflows;
    this.element.style.setProperty('--pinned', `${this.pinned ? taken : 0}px`);
    if (overflows) this.rail.draw();
    this.#edge();
    this.look();
  }

  #changed() {
    this.stale = true;
    this.look();
  }

  #edge() {
    this.element.classList.toggle('at-end', this.atEnd);
    this.element.classList.toggle('at-start', this.atStart);
  }

  #measure() {
    this.stale = false;
    this.reads = [...this.text.children].filter(isPart).map((part) => ({
      name: nameOf(part, this.text), part, words: new PlacedWords([...part.children].filter(isRead)),
    }));
    const { top, height } = this.text.getBoundingClientRect();
    this.rail.mark([...this.text.querySelectorAll('mark:not(.paragraph, .only, .figure)')].map((mark) => (mark.getBoundingClientRect().top - top) / Math.max(1, height)));
  }

  #look() {
    if (!this.element.isConnected || !this.text.clientHeight) return;
    if (this.stale) this.#measure();
    const box = this.scroller.getBoundingClientRect();
    const below = sizeAll(this.reads, Infinity) - sizeAll(this.reads, box.bottom - (this.atEnd ? 0 : FADE));
    const { textContent } = this.moreWords;
    const words = TEXT.moreWords(below);
    if (textContent !== words) this.moreWords.textContent = words;
    const view = this.#view(box);
    if (view) {
      const covered = this.pinned?.getBoundingClientRect().bottom ?? 0;
      for (const { name, words: placed, part } of this.reads) {
        // What the heading of a long text, or a question that stays in view, lies over is not seen.
        const heading = part.firstElementChild?.getBoundingClientRect().bottom ?? 0;
        const spans = placed.between(Math.max(view.top, heading, part === this.pinned ? 0 : covered), view.bottom);
        if (spans.length) this.seen(name, spans, placed.count);
      }
    }
    this.looked();
  }

  /** The heights of the window between which the text can be read now; null when it cannot. @param {DOMRect} box */
  #view(box) {
    if (document.hidden) return null;
    const root = this.element.getRootNode();
    const footer = isStacked() ? stuckAt(root) : Infinity;
    const top = Math.max(0, box.top);
    const bottom = Math.min(window.innerHeight, box.bottom - (this.overflows && !this.atEnd ? FADE : 0), footer);
    if (bottom <= top || !(root instanceof ShadowRoot)) return null;
    // Guidelines, the sheet of keys or a message may lie over it.
    const middle = root.elementFromPoint(box.left + box.width / 2, (top + bottom) / 2);
    return middle && this.element.contains(middle) ? { top, bottom } : null;
  }
}

/** Where the footer begins that stays at the lower edge while the page is scrolled as a whole. @param {Node} root */
function stuckAt(root) {
  return root instanceof ShadowRoot ? root.querySelector('.judgement > footer')?.getBoundingClientRect().top ?? Infinity : Infinity;
}

/** How many words of some texts stand above a height. @param {Read[]} reads @param {number} bottom */
function sizeAll(reads, bottom) {
  return reads.reduce((sum, { words }) => sum + sizeOf(words.between(-Infinity, bottom)), 0);
}

/** @param {Element} element @returns {element is HTMLElement} */
const isPart = (element) => element.matches('.part');

/** Whether it is the text of a part, and not its heading. @param {Element} element @returns {element is HTMLElement} */
const isRead = (element) => element instanceof HTMLElement && !element.matches('h2');

/** What a text is called when it is spoken of. @param {HTMLElement} part @param {HTMLElement} text */
function nameOf(part, text) {
  if (part.querySelector('.q')) return TEXT.theQuestion;
  if (part.querySelector('.refs')) return TEXT.theReferences;
  if (part.querySelector('.hops')) return TEXT.theHops;
  if (part.querySelector('.a') && text.querySelectorAll(':scope > .part .a').length === 1) return TEXT.theAnswer;
  return TEXT.named(part.querySelector('h2')?.firstChild?.textContent ?? '');
}
