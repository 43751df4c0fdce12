/**
 * The pages of one document, one below the other: scrolled by the wheel, zoomed about the pointer, dragged, rotated,
 * always sharp, with the evidence boxes on them. Only the pages in sight and their neighbours hold an image.
 */

import { h } from './dom.js';
import { imageOf, pageCount, pageUrl, rung } from './images.js';
import { TEXT } from './text.js';

/** @typedef {import('./types.js').Doc} Doc */
/** @typedef {import('./types.js').Unit} Unit */
/** @typedef {import('./types.js').Box} Box */
/** @typedef {{document: number, page: number, box: Box, name: string, title: string, colour: string}} PageMark a box that somebody drew */
/** @typedef {{page: number, element: HTMLElement, picture: HTMLElement, note: HTMLElement, boxes: HTMLElement,
 *   image: HTMLImageElement | null, coming: HTMLImageElement | null, width: number, wanted: number, again: number}} Slot */

const PAD = 14;
const GAP = 14;
const A4 = Math.SQRT2;
const SMALLEST = 0.15;
const LARGEST = 10;
const BESIDE = 1; // pages above and below the view that are loaded as well
const AGAIN = 5000; // milliseconds until a sharper image that failed is tried again

export class Pages {
  /**
   * @param {object} on
   * @param {(page: number, byScrolling: boolean) => void} on.page another page is the current one
   * @param {() => void} on.zoom zoom or fit changed
   * @param {(unit: string) => void} on.unit an evidence box was clicked
   */
  constructor(on) {
    this.on = on;
    this.surface = h('div', { class: 'surface' });
    this.element = h('div', { class: 'pages', tabindex: '0', role: 'region', 'aria-label': TEXT.pages }, this.surface);
    /** @type {Doc | null} */
    this.doc = null;
    /** @type {Unit[]} */
    this.units = [];
    /** @type {PageMark[]} */
    this.marks = [];
    /** @type {string | null} */
    this.active = null;
    this.count = 0;
    this.zoom = 1; // 1: a page is as wide as the view
    /** @type {'width' | 'page' | 'free'} */
    this.fit = 'width';
    this.turn = 0; // degrees clockwise
    this.page = 1;
    this.pinned = false; // the page was asked for, and stays the current one until the annotator scrolls
    /** @type {number[]} height ÷ width of each page, unrotated */
    this.ratios = [];
    /** @type {number[]} */
    this.tops = [];
    /** @type {Map<number, Slot>} */
    this.slots = new Map();
    this.frame = 0;
    this.sharpen = 0;
    this.resizes = new ResizeObserver(() => this.#resized());
    this.resizes.observe(this.element);
    this.element.addEventListener('scroll', () => this.#soon(), { passive: true });
    this.element.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    this.element.addEventListener('touchmove', () => this.#unpin(), { passive: true });
    this.element.addEventListener('pointerdown', (event) => this.#drag(event));
  }

  /** Shows a document; the same one again keeps its images and place. @param {Doc} doc @param {Unit[]} units */
  open(doc, units) {
    const same = this.doc?.id === doc.id && this.doc.url === doc.url;
    this.doc = doc;
    this.units = units.filter((unit) => unit.document === doc.id);
    if (!same) {
      for (const slot of this.slots.values()) drop(slot);
      this.slots.clear();
      this.count = pageCount(doc, this.units.flatMap((unit) => unit.pages));
      this.ratios = Array.from({ length: this.count }, (_, at) => {
        const size = doc.sizes?.[at];
        return size && size[0] > 0 ? size[1] / size[0] : 0;
      });
      this.turn = 0;
      this.page = 1;
      this.#layout();
      this.element.scrollTop = 0;
    }
    for (const slot of this.slots.values()) this.#drawBoxes(slot);
    this.#paint();
  }

  /** Draws boxes of people beside those of evidence units. @param {PageMark[]} marks */
  setMarks(marks) {
    this.marks = marks;
    for (const slot of this.slots.values()) this.#drawBoxes(slot);
  }

  /** Scrolls to a page. @param {number} page */
  goTo(page) {
    this.page = Math.max(1, Math.min(this.count, page));
    this.pinned = true;
    if (this.fit === 'page') this.#setZoom(this.#pageZoom(this.page));
    this.element.scrollTop = this.tops[this.page - 1] - PAD;
    this.#paint();
    this.on.page(this.page, false);
  }

  /** Brings an evidence unit into view and marks it. @param {Unit} unit */
  showUnit(unit) {
    this.active = unit.key;
    for (const slot of this.slots.values()) this.#drawBoxes(slot);
    const page = unit.pages[0];
    if (!page || page > this.count) return;
    let rect = this.#rect(page, unit.box);
    const view = this.element;
    const seen = rect.top >= view.scrollTop && rect.bottom <= view.scrollTop + view.clientHeight &&
      rect.left >= view.scrollLeft && rect.right <= view.scrollLeft + view.clientWidth;
    if (!seen) {
      if (this.fit === 'page') {
        this.#setZoom(this.#pageZoom(page));
        rect = this.#rect(page, unit.box);
      }
      const top = this.tops[page - 1] - PAD;
      const spare = view.clientHeight - (rect.bottom - rect.top);
      const fitsFromTop = !unit.box || rect.bottom + PAD <= top + view.clientHeight;
      view.scrollTop = fitsFromTop ? top : rect.top - (spare > 60 ? Math.min(spare / 2, 160) : 30);
      if (unit.box) view.scrollLeft = (rect.left + rect.right) / 2 - view.clientWidth / 2;
    }
    this.#paint();
    this.pinned = true;
    this.#setPage(page, false);
  }

  /** Makes a unit's box as wide as the view. @param {Unit} unit */
  enlarge(unit) {
    const page = unit.pages[0];
    if (!page || !unit.box) return;
    const [x0, y0, x1, y1] = turned(unit.box, this.turn);
    const across = this.element.clientWidth / ((x1 - x0) * this.#available());
    const down = this.element.clientHeight / ((y1 - y0) * this.#available() * this.#ratio(page));
    this.fit = 'free';
    this.#setZoom(0.94 * Math.min(across, down));
    const rect = this.#rect(page, unit.box);
    this.element.scrollLeft = (rect.left + rect.right - this.element.clientWidth) / 2;
    this.element.scrollTop = (rect.top + rect.bottom - this.element.clientHeight) / 2;
    this.#paint();
  }

  /** @param {number} factor @param {{x: number, y: number}} [about] a point of the view, else its middle */
  zoomBy(factor, about) {
    this.fit = 'free';
    this.#keeping(about ?? { x: this.element.clientWidth / 2, y: this.element.clientHeight / 2 },
      () => this.#setZoom(this.zoom * factor));
  }

  fitWidth() {
    this.fit = 'width';
    this.#keeping({ x: this.element.clientWidth / 2, y: 0 }, () => this.#setZoom(1));
  }

  fitPage() {
    this.fit = 'page';
    const { page } = this;
    this.#setZoom(this.#pageZoom(page));
    this.goTo(page);
  }

  rotate() {
    const { page } = this;
    this.turn = (this.turn + 90) % 360;
    if (this.fit === 'page') this.zoom = this.#pageZoom(page);
    this.#layout();
    for (const slot of this.slots.values()) this.#drawBoxes(slot);
    this.goTo(page);
  }

  /** @param {number} screens */
  scrollBy(screens) {
    this.#unpin();
    this.element.scrollTop += screens * this.element.clientHeight * 0.9;
  }

  /** Tries again what could not be loaded. */
  retry() {
    for (const slot of this.slots.values()) {
      if (slot.again) this.#tryAgain(slot);
    }
  }

  dispose() {
    this.resizes.disconnect();
    cancelAnimationFrame(this.frame);
    clearTimeout(this.sharpen);
    for (const slot of this.slots.values()) drop(slot);
    this.slots.clear();
  }

  /** The width that a page has at zoom 1. */
  #available() {
    return Math.max(120, this.element.clientWidth - 2 * PAD);
  }

  /** Height ÷ width of a page as it is turned. @param {number} page */
  #ratio(page) {
    const ratio = this.ratios[page - 1] || this.ratios.find((known) => known > 0) || A4;
    return this.turn % 180 ? 1 / ratio : ratio;
  }

  /** @param {number} page */
  #pageZoom(page) {
    return Math.min(1, (this.element.clientHeight - 2 * PAD) / (this.#available() * this.#ratio(page)));
  }

  /** @param {number} zoom */
  #setZoom(zoom) {
    this.zoom = Math.max(SMALLEST, Math.min(LARGEST, zoom));
    this.#layout();
    this.on.zoom();
    clearTimeout(this.sharpen);
    this.sharpen = window.setTimeout(() => this.#paint(), 120);
  }

  #layout() {
    const width = this.#available() * this.zoom;
    this.tops = [];
    let top = PAD;
    for (let page = 1; page <= this.count; page += 1) {
      this.tops.push(top);
      top += width * this.#ratio(page) + GAP;
    }
    this.surface.style.width = `${Math.max(this.element.clientWidth, width + 2 * PAD)}px`;
    this.surface.style.height = `${top - GAP + PAD}px`;
    for (const slot of this.slots.values()) this.#place(slot);
  }

  get #left() {
    return Math.max(PAD, (this.element.clientWidth - this.#available() * this.zoom) / 2);
  }

  /** Where a page, or a box on it, lies on the surface. @param {number} page @param {Box | null} [box] */
  #rect(page, box = null) {
    const width = this.#available() * this.zoom;
    const height = width * this.#ratio(page);
    const [x0, y0, x1, y1] = box ? turned(box, this.turn) : [0, 0, 1, 1];
    const top = this.tops[page - 1];
    return {
      left: this.#left + x0 * width, right: this.#left + x1 * width, top: top + y0 * height, bottom: top + y1 * height,
    };
  }

  /** Changes the layout and keeps what is at a point of the view at that point. @param {{x: number, y: number}} at @param {() => void} change */
  #keeping(at, change) {
    const x = this.element.scrollLeft + at.x;
    const y = this.element.scrollTop + at.y;
    const below = this.tops.findIndex((top) => top > y);
    const page = below < 0 ? this.count : Math.max(1, below);
    const before = this.#rect(page);
    const across = (x - before.left) / (before.right - before.left);
    const down = (y - before.top) / (before.bottom - before.top);
    change();
    const after = this.#rect(page);
    this.element.scrollLeft = after.left + across * (after.right - after.left) - at.x;
    this.element.scrollTop = after.top + down * (after.bottom - after.top) - at.y;
    this.#soon();
  }

  #resized() {
    if (!this.doc) return;
    this.#keeping({ x: 0, y: 0 }, () => {
      if (this.fit === 'page') this.zoom = this.#pageZoom(this.page);
      this.#layout();
    });
    this.#paint();
    this.on.zoom();
  }

  #soon() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.#paint();
      if (this.pinned) return;
      const middle = this.element.scrollTop + this.element.clientHeight * 0.4;
      const below = this.tops.findIndex((top) => top > middle);
      this.#setPage(below < 0 ? this.count : Math.max(1, below), true);
    });
  }

  /** @param {number} page @param {boolean} byScrolling */
  #setPage(page, byScrolling) {
    if (page === this.page) return;
    this.page = page;
    this.on.page(page, byScrolling);
  }

  #unpin() {
    this.pinned = false;
    this.#soon();
  }

  /** Holds exactly the pages in sight and their neighbours. */
  #paint() {
    if (!this.doc || !this.count) return;
    const top = this.element.scrollTop;
    const bottom = top + this.element.clientHeight;
    const first = this.tops.findIndex((_, at) => this.#rect(at + 1).bottom >= top);
    const below = this.tops.findIndex((other) => other > bottom);
    const from = Math.max(1, (first < 0 ? this.count : first + 1) - BESIDE);
    const to = Math.min(this.count, (below < 0 ? this.count : below) + BESIDE);
    for (const [page, slot] of this.slots) {
      if (page < from || page > to) {
        drop(slot);
        this.slots.delete(page);
      }
    }
    // What is in sight is asked for first.
    const near = Array.from({ length: to - from + 1 }, (_, at) => from + at);
    const seen = (/** @type {number} */ page) => this.tops[page - 1] < bottom && this.#rect(page).bottom > top;
    for (const page of [...near.filter(seen), ...near.filter((one) => !seen(one))]) this.#load(this.slots.get(page) ?? this.#slot(page));
  }

  /** @param {number} page @returns {Slot} */
  #slot(page) {
    const picture = h('div', { class: 'picture' });
    const note = h('div', { class: 'page-note' });
    const boxes = h('div', { class: 'boxes' });
    const element = h('div', { class: 'page', 'data-page': page, 'data-testid': 'page' }, picture, note, boxes);
    /** @type {Slot} */
    const slot = { page, element, picture, note, boxes, image: null, coming: null, width: 0, wanted: 0, again: 0 };
    this.slots.set(page, slot);
    this.surface.append(element);
    this.#place(slot);
    this.#drawBoxes(slot);
    return slot;
  }

  /** @param {Slot} slot */
  #place(slot) {
    const { left, right, top, bottom } = this.#rect(slot.page);
    const [width, height] = [right - left, bottom - top];
    Object.assign(slot.element.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    const [across, down] = this.turn % 180 ? [height, width] : [width, height];
    Object.assign(slot.picture.style, {
      width: `${across}px`, height: `${down}px`, left: `${(width - across) / 2}px`, top: `${(height - down) / 2}px`,
      transform: this.turn ? `rotate(${this.turn}deg)` : '',
    });
  }

  /** Fetches a page's image if a sharper one is needed; the old one stays until the new one is ready. @param {Slot} slot */
  #load(slot) {
    const doc = /** @type {Doc} */ (this.doc);
    const wanted = rung(parseFloat(slot.picture.style.width) * window.devicePixelRatio);
    if (Math.max(slot.width, slot.wanted) >= wanted || performance.now() < slot.again) return;
    slot.wanted = wanted;
    const image = imageOf(pageUrl(doc, slot.page, wanted));
    image.alt = TEXT.pageOf(slot.page, doc.title || doc.key);
    image.draggable = false;
    slot.coming = image;
    const ready = () => {
      if (this.slots.get(slot.page) !== slot || wanted < slot.width) return;
      slot.image = image;
      slot.width = wanted;
      slot.again = 0;
      slot.picture.replaceChildren(image);
      slot.element.dataset.loaded = String(wanted);
      slot.note.replaceChildren();
      this.#learnRatio(slot.page, image.naturalHeight / image.naturalWidth);
    };
    if (image.complete && image.naturalWidth) {
      ready();
      return;
    }
    image.decode().then(ready, () => {
      if (this.slots.get(slot.page) !== slot || slot.coming !== image) return;
      slot.wanted = slot.width;
      // Without any image the annotator decides when to try again; a blurred one is replaced when there is another reason.
      slot.again = slot.image ? performance.now() + AGAIN : Infinity;
      if (!slot.image) this.#showFailure(slot);
    });
  }

  /** @param {Slot} slot */
  #showFailure(slot) {
    slot.note.replaceChildren(h('p', { role: 'alert' }, TEXT.pageFailed(slot.page)), h('button', {
      type: 'button', class: 'btn', 'data-testid': 'retry-page', onclick: () => this.#tryAgain(slot),
    }, TEXT.retry));
  }

  /** @param {Slot} slot */
  #tryAgain(slot) {
    slot.again = 0;
    slot.note.replaceChildren();
    this.#load(slot);
  }

  /** Takes the image's own shape where the document's sizes are not known. @param {number} page @param {number} ratio */
  #learnRatio(page, ratio) {
    if (this.ratios[page - 1] || !(ratio > 0)) return;
    this.#keeping({ x: 0, y: 0 }, () => {
      this.ratios[page - 1] = ratio;
      this.#layout();
    });
  }

  /** @param {Slot} slot */
  #drawBoxes(slot) {
    const own = this.units.filter((unit) => unit.pages[0] === slot.page);
    const marks = this.marks.filter((mark) => mark.document === this.doc?.id && mark.page === slot.page);
    slot.boxes.replaceChildren(...own.map((unit) => {
      const [x0, y0, x1, y1] = unit.box ? turned(unit.box, this.turn) : [0, 0, 1, 1];
      const at = own.filter((other) => !other.box).indexOf(unit);
      const name = `${unit.key} ${TEXT.kinds[unit.kind] ?? unit.kind}`;
      return h('div', {
        class: `ev ${unit.box ? '' : 'whole'} ${unit.key === this.active ? 'on' : ''}`, 'data-unit': unit.key,
        'data-testid': 'evidence-box',
        style: `left:${x0 * 100}%;top:${y0 * 100}%;width:${(x1 - x0) * 100}%;height:${(y1 - y0) * 100}%`,
        onclick: () => this.on.unit(unit.key), ondblclick: () => this.enlarge(unit),
      }, h('em', { style: unit.box ? null : `left:${10 + at * 96}px` }, name));
    }), ...marks.map((mark) => {
      const [x0, y0, x1, y1] = turned(mark.box, this.turn);
      return h('div', {
        class: 'ev mark', title: mark.title, 'data-testid': 'mark-box',
        style: `left:${x0 * 100}%;top:${y0 * 100}%;width:${(x1 - x0) * 100}%;height:${(y1 - y0) * 100}%;--mark-colour:${mark.colour}`,
      }, h('em', {}, mark.name));
    }));
  }

  /** Ctrl + wheel and pinches zoom about the pointer; the plain wheel scrolls by itself. @param {WheelEvent} event */
  #wheel(event) {
    if (!event.ctrlKey && !event.metaKey) {
      this.#unpin();
      return;
    }
    event.preventDefault();
    const view = this.element.getBoundingClientRect();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
    this.zoomBy(Math.exp(-Math.max(-60, Math.min(60, pixels)) / 200), { x: event.clientX - view.left, y: event.clientY - view.top });
  }

  /** Drags the page with the mouse; touch scrolls by itself. @param {PointerEvent} event */
  #drag(event) {
    if (event.button !== 0 || event.pointerType === 'touch' || (event.target instanceof Element && event.target.closest('button'))) return;
    const start = { x: event.clientX, y: event.clientY, left: this.element.scrollLeft, top: this.element.scrollTop };
    let moved = false;
    const move = (/** @type {PointerEvent} */ now) => {
      const [dx, dy] = [now.clientX - start.x, now.clientY - start.y];
      if (!moved && Math.hypot(dx, dy) < 4) return;
      if (!moved) this.element.setPointerCapture(event.pointerId);
      moved = true;
      this.#unpin();
      this.element.classList.add('dragging');
      this.element.scrollLeft = start.left - dx;
      this.element.scrollTop = start.top - dy;
    };
    const end = () => {
      this.element.classList.remove('dragging');
      this.element.removeEventListener('pointermove', move);
      this.element.removeEventListener('pointerup', end);
      this.element.removeEventListener('pointercancel', end);
    };
    this.element.addEventListener('pointermove', move);
    this.element.addEventListener('pointerup', end);
    this.element.addEventListener('pointercancel', end);
  }
}

/** Takes a page off the surface and stops its download. @param {Slot} slot */
function drop(slot) {
  slot.element.remove();
  if (slot.coming && !slot.coming.complete) slot.coming.src = '';
}

/** A box after the page was turned clockwise. @param {Box} box @param {number} turn @returns {Box} */
function turned([x0, y0, x1, y1], turn) {
  if (turn === 90) return [1 - y1, x0, 1 - y0, x1];
  if (turn === 180) return [1 - x1, 1 - y1, 1 - x0, 1 - y0];
  if (turn === 270) return [y0, 1 - x1, y1, 1 - x0];
  return [x0, y0, x1, y1];
}
