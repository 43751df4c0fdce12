/** Drawing a box on a page as the support of a label: with the pointer, or with a crosshair that the arrow keys move. */

import { h } from '../../shared/dom.js';
import { unturned } from './layout.js';
import { WORDS } from '../../shared/viewer_text.js';

/** @typedef {import('./pages.js').Pages} Pages */
/** @typedef {{page: number, x: number, y: number}} Point on a page as it is turned, in fractions */

const STEP = 0.012; // of the page's width that the crosshair moves by
const FAST = 4; // times as much while the key is held
const SMALLEST = 0.004; // sides of a box below this are a slip of the hand
/** @type {Record<string, [number, number]>} */
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class Marker {
  /**
   * @param {Pages} pages
   * @param {object} on
   * @param {(page: number, box: Box, asText: boolean) => void} on.marked a box was drawn; on the page as it is unturned
   * @param {() => void} on.changed drawing began or ended
   */
  constructor(pages, on) {
    this.pages = pages;
    this.changed = on.changed;
    this.marked = on.marked;
    this.on = false;
    /** @type {Point | null} */
    this.start = null;
    /** @type {Point | null} */
    this.at = null;
    this.rubber = h('div', { class: 'rubber', 'data-testid': 'rubber' });
    this.cross = h('div', { class: 'cross', 'data-testid': 'cross' });
    this.say = h('span', { class: 'unseen', 'aria-live': 'polite' });
    this.bar = h('div', { class: 'mark-bar', role: 'status', hidden: true, 'data-testid': 'mark-bar' }, WORDS.marking, this.say);
  }

  /** Says something else while a box is drawn. @param {string} words */
  words(words) {
    this.bar.replaceChildren(words, this.say);
  }

  /** @param {boolean} on */
  set(on) {
    if (on === this.on) return;
    this.on = on;
    this.bar.hidden = !on;
    this.pages.element.classList.toggle('marking', on);
    this.forget();
    this.cross.remove();
    this.at = null;
    this.changed();
  }

  /** @param {Point} point */
  begin(point) {
    this.start = point;
    this.at = point;
    this.cross.remove();
    this.#draw();
  }

  /** @param {Point | null} point */
  reach(point) {
    if (!point || !this.start || point.page !== this.start.page) return;
    this.at = point;
    this.#draw();
  }

  /** Ends the box where it is. @param {boolean} [asText] what it encloses is meant, as text */
  finish(asText = false) {
    const { start, at } = this;
    this.forget();
    if (!start || !at) return;
    const box = boxOf(start, at);
    if (box[2] - box[0] < SMALLEST || box[3] - box[1] < SMALLEST) return;
    const { turn } = this.pages.layout;
    this.set(false);
    this.marked(start.page, /** @type {Box} */ (unturned(box, turn).map((edge) => Number(edge.toFixed(5)))), asText);
  }

  /** Leaves the box that was begun. */
  forget() {
    this.start = null;
    this.rubber.remove();
  }

  /** A key while drawing: arrows move the crosshair, Enter begins a box and ends it, Space ends it as text. @param {string} key @param {boolean} repeat @returns {boolean} */
  key(key, repeat) {
    if (!this.on) return false;
    const arrow = ARROWS[key];
    if (arrow) {
      this.#move(arrow, repeat ? FAST : 1);
      return true;
    }
    if (key === 'Enter' || key === 'Space') {
      if (!this.at) this.#move([0, 0], 0);
      if (this.start) this.finish(key === 'Space');
      else if (this.at) this.begin(this.at);
      return true;
    }
    if (key === 'Escape') {
      if (this.start) this.forget();
      else this.set(false);
      return true;
    }
    return false;
  }

  /** @param {[number, number]} direction @param {number} times */
  #move([dx, dy], times) {
    const { pages } = this;
    const at = this.at ?? pages.middle();
    const ratio = pages.layout.ratio(at.page);
    const within = (/** @type {number} */ value) => Math.max(0, Math.min(1, value));
    this.at = { page: at.page, x: within(at.x + dx * STEP * times), y: within(at.y + (dy * STEP * times) / ratio) };
    pages.reveal(this.at);
    this.#draw();
    this.say.textContent = WORDS.crosshair(this.at.page, Math.round(this.at.x * 100), Math.round(this.at.y * 100));
  }

  #draw() {
    const { start, at } = this;
    const element = at && this.pages.elementOf(at.page);
    if (!at || !element) return;
    if (start) {
      const [x0, y0, x1, y1] = boxOf(start, at);
      Object.assign(this.rubber.style, { left: `${x0 * 100}%`, top: `${y0 * 100}%`, width: `${(x1 - x0) * 100}%`, height: `${(y1 - y0) * 100}%` });
      if (this.rubber.parentElement !== element) element.append(this.rubber);
    }
    Object.assign(this.cross.style, { left: `${at.x * 100}%`, top: `${at.y * 100}%` });
    if (this.cross.parentElement !== element) element.append(this.cross);
  }
}

/** @param {Point} corner @param {Point} opposite @returns {Box} */
function boxOf(corner, opposite) {
  return [Math.min(corner.x, opposite.x), Math.min(corner.y, opposite.y), Math.max(corner.x, opposite.x), Math.max(corner.y, opposite.y)];
}
