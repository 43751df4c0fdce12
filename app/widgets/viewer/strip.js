/** The strip of page thumbnails: only those in sight exist, so five hundred pages cost as much as ten. */

import { attribute, h, keepFocus } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';
import { Thumbnails } from './thumbnails.js';

/** @typedef {{class: string, title: string, words?: string}} Mark */

const PITCH = 76; // pixels from one thumbnail to the next
const MOST = 5; // marks on a thumbnail; its name has them all
const WAIT = 250; // milliseconds of rest before thumbnails are fetched, after the pages in view
const KEPT = 400; // thumbnails of a document that stay when they are out of sight

export class Strip {
  /**
   * @param {(page: number) => void} onpick
   * @param {(page: number) => string | null} picture the address of the picture of a page that is shown large as well;
   *   null while it is coming, empty where the page is not shown
   */
  constructor(onpick, picture) {
    this.onpick = onpick;
    this.picture = picture;
    this.list = h('div', { class: 'strip-list' });
    this.element = h('nav', { class: 'strip', 'aria-label': TEXT.pages }, this.list);
    this.element.addEventListener('scroll', () => {
      this.top = this.element.scrollTop;
      this.draw();
    }, { passive: true });
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.element.addEventListener('focusout', (event) => {
      if (event.relatedTarget instanceof Node && this.element.contains(event.relatedTarget)) return;
      this.at = this.page;
      this.draw();
    });
    this.resizes = new ResizeObserver(() => {
      const shown = this.height > 0;
      this.height = this.element.clientHeight;
      // What was scrolled to while it was hidden did not happen. Here, where it costs no layout, it is asked where it stands.
      this.top = this.element.scrollTop;
      if (shown) this.draw();
      else this.select(this.page);
    });
    this.resizes.observe(this.element);
    /** @type {Doc | null} */
    this.doc = null;
    /** @type {number[]} the pages there are thumbnails of */
    this.numbers = [];
    this.page = 1;
    this.at = 1; // the thumbnail that Tab reaches: the page in view, until the arrows go on from it
    this.timer = 0;
    /** @type {Thumbnails | null} the pictures of this document */
    this.pictures = null;
    // Kept here because asking the element makes the browser lay the page out.
    this.top = 0;
    this.height = 0;
    /** @type {(page: number) => Mark[]} */
    this.marks = () => [];
    /** @type {Map<number, HTMLElement>} */
    this.shown = new Map();
  }

  /** @param {Doc} doc @param {number[]} numbers @param {(page: number) => Mark[]} marks */
  open(doc, numbers, marks) {
    if (this.doc?.url !== doc.url) {
      this.shown.clear();
      this.list.replaceChildren();
      this.pictures?.forget();
      this.pictures = new Thumbnails(doc, (page) => this.#picture(page));
      this.#scrollTo(0);
    }
    this.height ||= this.element.clientHeight;
    this.doc = doc;
    this.numbers = numbers;
    this.marks = marks;
    this.list.style.height = `${numbers.length * PITCH}px`;
    this.draw();
    this.remark();
  }

  /** @param {number} page */
  select(page) {
    this.page = page;
    if (!this.#focused) this.at = page;
    const top = this.numbers.indexOf(page) * PITCH;
    if (!this.#inView(top)) this.#scrollTo(top - this.height / 2 + PITCH / 2);
    this.draw();
    for (const [number, element] of this.shown) {
      if (element.hasAttribute('aria-current') !== (number === page)) attribute(element, 'aria-current', number === page ? 'page' : null);
    }
  }

  /** The address of the thumbnail of a page; empty unless it has been loaded. @param {number} page */
  thumbnail(page) {
    const image = this.shown.get(page)?.querySelector('img');
    return image?.complete && image.naturalWidth > 0 ? image.src : '';
  }

  /** Draws the marks again. */
  remark() {
    for (const [page, element] of this.shown) this.#mark(page, element);
  }

  draw() {
    if (!this.doc) return;
    const first = Math.max(0, Math.floor(this.top / PITCH) - 2);
    const near = this.numbers.slice(first, Math.ceil((this.top + this.height) / PITCH) + 2);
    for (const [page, element] of this.shown) {
      if ((page >= near[0] && page <= near[near.length - 1]) || element === this.#focused) continue;
      const image = element.querySelector('img');
      if (image && !image.complete) {
        image.src = ''; // nobody waits for it any more
        this.pictures?.drop(page);
      }
      element.remove();
      this.shown.delete(page);
    }
    for (const [at, page] of near.entries()) {
      if (this.shown.has(page)) continue;
      const element = h('button', {
        type: 'button', class: 'th', style: `top:${(first + at) * PITCH}px`, 'data-page': page, 'data-testid': 'thumbnail',
        tabindex: '-1', 'aria-current': page === this.page ? 'page' : null, onclick: () => this.onpick(page), onmousedown: keepFocus,
      }, h('span', { class: 'th-number' }, String(page)), h('span', { class: 'dots' }));
      this.shown.set(page, element);
      this.list.append(element);
      this.#mark(page, element);
      this.#picture(page);
    }
    // Exactly one of those that exist is reached with Tab.
    const stop = this.shown.has(this.at) ? this.at : near[Math.min(2, near.length - 1)];
    for (const [page, element] of this.shown) {
      const index = page === stop ? 0 : -1;
      if (element.tabIndex !== index) element.tabIndex = index;
    }
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.#fetch(), WAIT);
  }

  dispose() {
    this.resizes.disconnect();
    clearTimeout(this.timer);
    this.pictures?.forget();
  }

  /** The thumbnail that has the focus. @returns {HTMLElement | null} */
  get #focused() {
    return this.element.querySelector(':focus');
  }

  /** Arrows, Home and End go from one thumbnail to the next; Enter, which the button answers to itself, opens its page. @param {KeyboardEvent} event */
  #key(event) {
    const place = this.numbers.indexOf(Number(this.#focused?.dataset.page));
    const last = this.numbers.length - 1;
    const to = /** @type {Record<string, number>} */ ({
      ArrowDown: place + 1, ArrowRight: place + 1, ArrowUp: place - 1, ArrowLeft: place - 1, Home: 0, End: last,
    })[event.key];
    if (place < 0 || to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const wanted = Math.max(0, Math.min(last, to));
    this.at = this.numbers[wanted];
    const top = wanted * PITCH;
    if (!this.#inView(top)) this.#scrollTo(to < place ? top - PITCH / 2 : top - this.height + 1.5 * PITCH);
    this.draw();
    this.shown.get(this.at)?.focus({ preventScroll: true });
  }

  /** Whether a thumbnail that begins at a height is seen whole. @param {number} top */
  #inView(top) {
    return top >= this.top && top + PITCH <= this.top + this.height - 12;
  }

  /** @param {number} top */
  #scrollTo(top) {
    this.top = Math.max(0, Math.min(top, this.numbers.length * PITCH - this.height));
    this.element.scrollTop = this.top;
  }

  /** @param {number} page @param {HTMLElement} element */
  #mark(page, element) {
    const marks = this.marks(page);
    const title = [TEXT.page(page), ...marks.map((mark) => mark.title)].join(', ');
    element.title = title;
    element.setAttribute('aria-label', title);
    element.querySelector('.dots')?.replaceChildren(...marks.slice(0, MOST).map((mark) => h('i', { class: `dot ${mark.class}` }, mark.words ?? '')));
  }

  /**
   * Fetches the thumbnails in view that are not there yet: together, and one by one those that did not come with them.
   * A page that is shown large is its own thumbnail, and not asked for besides.
   */
  async #fetch() {
    const { pictures } = this;
    if (!pictures) return;
    if (this.top !== this.element.scrollTop) { // it was taken out of the page and put back, which scrolls without a word
      this.top = this.element.scrollTop;
      this.draw();
      return;
    }
    const inView = this.numbers.slice(Math.floor(this.top / PITCH), Math.ceil((this.top + this.height) / PITCH));
    for (const page of inView) {
      const large = pictures.of(page) ? '' : this.picture(page);
      if (large) pictures.take(page, large);
    }
    await pictures.fetch(inView.filter((page) => this.picture(page) !== null));
    for (const page of [...pictures.pictures.keys()]) {
      if (pictures.pictures.size <= KEPT) break;
      if (!this.shown.has(page)) pictures.drop(page);
    }
  }

  /** Shows the thumbnail of a page that has been fetched. @param {number} page */
  #picture(page) {
    const element = this.shown.get(page);
    const url = this.pictures?.of(page);
    if (!element || !url || element.querySelector('img')) return;
    element.prepend(h('img', { fetchpriority: 'low', src: url, alt: '', draggable: 'false', decoding: 'async' }));
  }
}
