/** The strip of page thumbnails: only those in sight exist, so five hundred pages cost as much as ten. */

import { attribute, h, keepFocus } from './dom.js';
import { pageUrl, THUMBNAIL } from './images.js';
import { TEXT } from './text.js';

/** @typedef {{class: string, title: string}} Mark */

const PITCH = 76; // pixels from one thumbnail to the next
const WAIT = 60; // milliseconds of rest before thumbnails are fetched

export class Strip {
  /** @param {(page: number) => void} onpick */
  constructor(onpick) {
    this.onpick = onpick;
    this.list = h('div', { class: 'strip-list' });
    this.element = h('nav', { class: 'strip', 'aria-label': TEXT.pages }, this.list);
    this.element.addEventListener('scroll', () => this.draw(), { passive: true });
    this.resizes = new ResizeObserver(() => this.draw());
    this.resizes.observe(this.element);
    /** @type {import('./types.js').Doc | null} */
    this.doc = null;
    this.count = 0;
    this.page = 1;
    this.timer = 0;
    /** @type {(page: number) => Mark[]} */
    this.marks = () => [];
    /** @type {Map<number, HTMLElement>} */
    this.shown = new Map();
  }

  /** @param {import('./types.js').Doc} doc @param {number} count @param {(page: number) => Mark[]} marks */
  open(doc, count, marks) {
    if (this.doc?.url !== doc.url) {
      this.shown.clear();
      this.list.replaceChildren();
      this.element.scrollTop = 0;
    }
    this.doc = doc;
    this.count = count;
    this.marks = marks;
    this.list.style.height = `${count * PITCH}px`;
    this.draw();
    this.remark();
  }

  /** @param {number} page */
  select(page) {
    this.page = page;
    const top = (page - 1) * PITCH;
    const { scrollTop, clientHeight } = this.element;
    if (top < scrollTop || top + PITCH > scrollTop + clientHeight - 12) {
      this.element.scrollTop = top - clientHeight / 2 + PITCH / 2;
    }
    this.draw();
    for (const [number, element] of this.shown) attribute(element, 'aria-current', number === page ? 'page' : null);
  }

  /** Draws the marks again. */
  remark() {
    for (const [page, element] of this.shown) this.#mark(page, element);
  }

  draw() {
    if (!this.doc) return;
    const from = Math.max(1, Math.floor(this.element.scrollTop / PITCH) - 1);
    const to = Math.min(this.count, Math.ceil((this.element.scrollTop + this.element.clientHeight) / PITCH) + 2);
    for (const [page, element] of this.shown) {
      if (page < from || page > to) {
        element.remove();
        this.shown.delete(page);
      }
    }
    for (let page = from; page <= to; page += 1) {
      if (this.shown.has(page)) continue;
      const element = h('button', {
        type: 'button', class: 'th', style: `top:${(page - 1) * PITCH}px`, 'data-page': page, 'data-testid': 'thumbnail',
        'aria-current': page === this.page ? 'page' : null, onclick: () => this.onpick(page), onmousedown: keepFocus,
      }, h('span', { class: 'th-number' }, String(page)), h('span', { class: 'dots' }));
      this.shown.set(page, element);
      this.list.append(element);
      this.#mark(page, element);
    }
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.#fetch(), WAIT);
  }

  dispose() {
    this.resizes.disconnect();
    clearTimeout(this.timer);
  }

  /** @param {number} page @param {HTMLElement} element */
  #mark(page, element) {
    const marks = this.marks(page);
    const title = [TEXT.page(page), ...marks.map((mark) => mark.title)].join(', ');
    element.title = title;
    element.setAttribute('aria-label', title);
    element.querySelector('.dots')?.replaceChildren(...marks.slice(0, 4).map((mark) => h('i', { class: `dot ${mark.class}` })));
  }

  #fetch() {
    const { doc } = this;
    if (!doc) return;
    for (const [page, element] of this.shown) {
      if (element.querySelector('img')) continue;
      element.prepend(h('img', { src: pageUrl(doc, page, THUMBNAIL), alt: '', draggable: 'false', decoding: 'async' }));
    }
  }
}
