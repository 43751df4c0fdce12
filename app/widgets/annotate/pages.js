/**
 * The pages of one document, one below the other: scrolled by the wheel, zoomed about the pointer, dragged, rotated,
 * always sharp, with the evidence boxes on them. Only the pages in sight and their neighbours hold an image.
 */

import { h } from './dom.js';
import { imageOf, pageNumbers, pageUrl, rung } from './images.js';
import { Layout, PAD, turned } from './layout.js';
import { TEXT } from './text.js';

/** @typedef {import('./types.js').Doc} Doc */
/** @typedef {import('./types.js').Unit} Unit */
/** @typedef {{document: number, page: number, box: import('./types.js').Box, name: string, title: string, colour: string}} PageMark a box that somebody drew */
/** @typedef {{page: number, element: HTMLElement, picture: HTMLElement, note: HTMLElement, boxes: HTMLElement,
 *   image: HTMLImageElement | null, coming: HTMLImageElement | null, width: number, wanted: number, again: number}} Slot */

const BESIDE = 1; // pages above and below the view that are loaded as well
const AGAIN = 5000; // milliseconds until a sharper image that failed is tried again
const SETTLED = 120; // milliseconds without zooming until a sharper image is fetched
const MARGIN = { from: 0.12, to: 0.3 }; // shares of the page's width in which a passage begins at the left edge of the text

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
    this.layout = new Layout();
    /** @type {Doc | null} */
    this.doc = null;
    /** @type {Unit[]} */
    this.units = [];
    /** @type {PageMark[]} */
    this.marks = [];
    /** @type {string | null} */
    this.active = null;
    /** @type {'width' | 'page' | 'free'} */
    this.fit = 'width';
    this.page = 1;
    this.pinned = false; // the page was asked for, and stays the current one until the annotator scrolls
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

  get numbers() {
    return this.layout.numbers;
  }

  get zoom() {
    return this.layout.zoom;
  }

  /** Shows a document; the same one again keeps its images and place. @param {Doc} doc @param {Unit[]} units */
  open(doc, units) {
    const same = this.doc?.id === doc.id && this.doc.url === doc.url;
    this.doc = doc;
    this.units = units.filter((unit) => unit.document === doc.id);
    if (!this.layout.view.width) this.layout.view = { width: this.element.clientWidth, height: this.element.clientHeight };
    if (!same) {
      for (const slot of this.slots.values()) drop(slot);
      this.slots.clear();
      this.layout.open(pageNumbers(doc, this.units.flatMap((unit) => unit.pages)), doc.sizes);
      this.page = this.layout.numbers[0] ?? 1;
      this.#place();
      this.element.scrollTop = 0;
    }
    for (const slot of this.slots.values()) this.#drawBoxes(slot);
    this.#paint();
  }

  /** Draws the boxes of people beside those of evidence units. @param {PageMark[]} marks */
  setMarks(marks) {
    this.marks = marks;
    for (const slot of this.slots.values()) this.#drawBoxes(slot);
  }

  /** Turns to the page before or after. @param {number} by 1 or -1 */
  turn(by) {
    this.goTo(this.layout.beside(this.page, by));
  }

  /** Scrolls to a page, or the nearest one that is shown. @param {number} page */
  goTo(page) {
    this.page = this.layout.nearest(page);
    this.pinned = true;
    if (this.fit === 'page') this.#setZoom(this.layout.wholeZoom(this.page));
    this.element.scrollTop = this.layout.topOf(this.page) - PAD;
    this.#paint();
    this.on.page(this.page, false);
  }

  /** Brings an evidence unit into view and marks it. @param {Unit} unit */
  showUnit(unit) {
    this.active = unit.key;
    for (const slot of this.slots.values()) this.#drawBoxes(slot);
    const page = unit.pages[0];
    if (!page || this.layout.placeOf(page) < 0) return;
    const { element, layout } = this;
    this.#resized(); // the text beneath may have come or gone
    const { width, height } = layout.view;
    const [left, top] = [element.scrollLeft, element.scrollTop];
    let rect = layout.rect(page, unit.box);
    if (rect.top < top || rect.bottom > top + height || rect.left < left || rect.right > left + width) {
      if (this.fit === 'page') this.#setZoom(layout.wholeZoom(page));
      rect = layout.rect(page, unit.box);
      const pageTop = layout.topOf(page) - PAD;
      const spare = height - (rect.bottom - rect.top);
      const fitsFromTop = !unit.box || rect.bottom + PAD <= pageTop + height;
      element.scrollTop = fitsFromTop ? pageTop : rect.top - (spare > 60 ? Math.min(spare / 2, 160) : 30);
      if (unit.box) element.scrollLeft = (rect.left + rect.right) / 2 - width / 2;
    }
    this.#paint();
    this.pinned = true;
    this.#setPage(page, false);
  }

  /** Makes a unit's box fill the view. @param {Unit} unit */
  enlarge(unit) {
    const page = unit.pages[0];
    if (!page || !unit.box) return;
    const { layout } = this;
    this.fit = 'free';
    this.#setZoom(layout.boxZoom(page, unit.box));
    const rect = layout.rect(page, unit.box);
    this.element.scrollLeft = (rect.left + rect.right - layout.view.width) / 2;
    this.element.scrollTop = (rect.top + rect.bottom - layout.view.height) / 2;
    this.#paint();
  }

  /** @param {number} factor @param {{x: number, y: number}} [about] a point of the view, else its middle */
  zoomBy(factor, about) {
    const { width, height } = this.layout.view;
    this.fit = 'free';
    this.#keeping(about ?? { x: width / 2, y: height / 2 }, () => this.#setZoom(this.zoom * factor));
  }

  fitWidth() {
    this.fit = 'width';
    this.#keeping({ x: this.layout.view.width / 2, y: 0 }, () => this.#setZoom(1));
  }

  fitPage() {
    this.fit = 'page';
    this.goTo(this.page);
  }

  rotate() {
    const { layout, page } = this;
    layout.turn = (layout.turn + 90) % 360;
    if (this.fit === 'page') layout.zoom = layout.wholeZoom(page);
    layout.compute();
    this.#place();
    for (const slot of this.slots.values()) this.#drawBoxes(slot);
    this.goTo(page);
  }

  /** @param {number} screens */
  scrollBy(screens) {
    this.#unpin();
    this.element.scrollTop += screens * this.layout.view.height * 0.9;
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

  /** @param {number} zoom */
  #setZoom(zoom) {
    this.layout.setZoom(zoom);
    this.#place();
    this.on.zoom();
    clearTimeout(this.sharpen);
    this.sharpen = window.setTimeout(() => this.#paint(), SETTLED);
  }

  /** Puts everything where the layout says. */
  #place() {
    const { layout } = this;
    this.surface.style.width = `${Math.max(layout.view.width, layout.width + 2 * PAD)}px`;
    this.surface.style.height = `${layout.height}px`;
    for (const slot of this.slots.values()) this.#placeSlot(slot);
  }

  /**
   * Changes the layout and keeps what is at a point of the view at that point.
   *
   * @param {{x: number, y: number}} at
   * @param {() => void} change
   */
  #keeping(at, change) {
    const { element, layout } = this;
    const [x, y] = [element.scrollLeft + at.x, element.scrollTop + at.y];
    const page = layout.pageAt(y);
    const before = layout.rect(page);
    const across = (x - before.left) / (before.right - before.left);
    const down = (y - before.top) / (before.bottom - before.top);
    change();
    const after = layout.rect(page);
    element.scrollLeft = after.left + across * (after.right - after.left) - at.x;
    element.scrollTop = after.top + down * (after.bottom - after.top) - at.y;
    this.#soon();
  }

  #resized() {
    const { layout } = this;
    const { clientWidth: width, clientHeight: height } = this.element;
    if (!this.doc || !width || (width === layout.view.width && height === layout.view.height)) return;
    this.#keeping({ x: 0, y: 0 }, () => {
      layout.view = { width, height };
      if (this.fit === 'page') layout.zoom = layout.wholeZoom(this.page);
      layout.compute();
      this.#place();
    });
    this.#paint();
    this.on.zoom();
  }

  #soon() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.#paint();
      if (!this.pinned) this.#setPage(this.layout.pageAt(this.element.scrollTop + this.layout.view.height * 0.4), true);
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

  /** Holds exactly the pages in sight and their neighbours; what is in sight is asked for first. */
  #paint() {
    const { layout } = this;
    if (!this.doc || !layout.numbers.length) return;
    const top = this.element.scrollTop;
    const [first, last] = [layout.pageAt(top), layout.pageAt(top + layout.view.height)];
    const near = layout.numbers.slice(Math.max(0, layout.placeOf(first) - BESIDE), layout.placeOf(last) + BESIDE + 1);
    for (const [page, slot] of this.slots) {
      if (page >= near[0] && page <= near[near.length - 1]) continue;
      drop(slot);
      this.slots.delete(page);
    }
    const inSight = (/** @type {number} */ page) => page >= first && page <= last;
    for (const page of [...near.filter(inSight), ...near.filter((one) => !inSight(one))]) this.#load(this.slots.get(page) ?? this.#slot(page));
  }

  /** @param {number} page @returns {Slot} */
  #slot(page) {
    const picture = h('div', { class: 'picture' });
    const note = h('div', { class: 'page-note' });
    const boxes = h('div', { class: 'boxes' });
    const element = h('div', { class: 'page', 'data-page': page, 'data-testid': 'page' }, picture, boxes, note);
    /** @type {Slot} */
    const slot = { page, element, picture, note, boxes, image: null, coming: null, width: 0, wanted: 0, again: 0 };
    this.slots.set(page, slot);
    this.#placeSlot(slot);
    this.#drawBoxes(slot);
    this.surface.append(element);
    return slot;
  }

  /** @param {Slot} slot */
  #placeSlot(slot) {
    const { turn } = this.layout;
    const { left, right, top, bottom } = this.layout.rect(slot.page);
    const [width, height] = [right - left, bottom - top];
    Object.assign(slot.element.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    const [across, down] = turn % 180 ? [height, width] : [width, height];
    Object.assign(slot.picture.style, {
      width: `${across}px`, height: `${down}px`, left: `${(width - across) / 2}px`, top: `${(height - down) / 2}px`,
      transform: turn ? `rotate(${turn}deg)` : '',
    });
  }

  /** Fetches a page's image if a sharper one is needed; the old one stays until the new one is ready. @param {Slot} slot */
  #load(slot) {
    const doc = /** @type {Doc} */ (this.doc);
    const wanted = rung(this.layout.imageWidth(slot.page) * window.devicePixelRatio);
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
    const { layout } = this;
    if (layout.knows(page) || !(ratio > 0)) return;
    this.#keeping({ x: 0, y: 0 }, () => {
      layout.learn(page, ratio);
      this.#place();
    });
  }

  /** @param {Slot} slot */
  #drawBoxes(slot) {
    const own = this.units.filter((unit) => unit.pages[0] === slot.page);
    const unplaced = own.filter((unit) => !unit.box);
    const marks = this.marks.filter((mark) => mark.document === this.doc?.id && mark.page === slot.page);
    slot.boxes.replaceChildren(...own.map((unit) => {
      const [x0, y0, x1, y1] = unit.box ? turned(unit.box, this.layout.turn) : [0, 0, 1, 1];
      // In the page's margin the tag hides no word; over a box that begins further in it has to stand above.
      const place = !unit.box ? 'whole' : x0 > MARGIN.from && x0 < MARGIN.to ? 'beside' : '';
      return h('div', {
        class: `ev ${place} ${unit.key === this.active ? 'on' : ''}`, 'data-unit': unit.key, 'data-testid': 'evidence-box',
        style: `left:${x0 * 100}%;top:${y0 * 100}%;width:${(x1 - x0) * 100}%;height:${(y1 - y0) * 100}%`,
        onclick: () => this.on.unit(unit.key), ondblclick: () => this.enlarge(unit),
      }, h('em', { style: unit.box ? null : `left:${10 + unplaced.indexOf(unit) * 96}px` }, `${unit.key} ${TEXT.kinds[unit.kind] ?? unit.kind}`));
    }), ...marks.map((mark) => {
      const [x0, y0, x1, y1] = turned(mark.box, this.layout.turn);
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
    const { element } = this;
    if (event.button !== 0 || event.pointerType === 'touch' || (event.target instanceof Element && event.target.closest('button'))) return;
    if (event.target === element) this.#unpin(); // the scroll bar
    const start = { x: event.clientX, y: event.clientY, left: element.scrollLeft, top: element.scrollTop };
    const ended = new AbortController();
    const { signal } = ended;
    const move = (/** @type {PointerEvent} */ now) => {
      const [dx, dy] = [now.clientX - start.x, now.clientY - start.y];
      if (!element.classList.contains('dragging')) {
        if (Math.hypot(dx, dy) < 4) return;
        element.setPointerCapture(event.pointerId);
        element.classList.add('dragging');
        this.#unpin();
      }
      element.scrollLeft = start.left - dx;
      element.scrollTop = start.top - dy;
    };
    const end = () => {
      element.classList.remove('dragging');
      ended.abort();
    };
    element.addEventListener('pointermove', move, { signal });
    element.addEventListener('pointerup', end, { signal });
    element.addEventListener('pointercancel', end, { signal });
  }
}

/** Takes a page off the surface and stops its download. @param {Slot} slot */
function drop(slot) {
  slot.element.remove();
  if (slot.coming && !slot.coming.complete) slot.coming.src = '';
}
