/**
 * The pages of one document, one below the other or two beside each other: scrolled by the wheel, zoomed about the
 * pointer, dragged, turned. Which of them hold a picture, and how sharp a one, is decided in holding.js.
 */

import { unitAt } from './boxes.js';
import { h } from '../../shared/dom.js';
import { Gestures } from './gestures.js';
import { Holding } from './holding.js';
import { pageNumbers } from './images.js';
import { around, Layout, Looks, PAD } from './layout.js';
import { Marker } from './marker.js';
import { TEXT } from '../../shared/text.js';

/** @typedef {import('./boxes.js').PageMark} PageMark */
/** @typedef {import('./boxes.js').PageSupport} PageSupport */
/** @typedef {import('./boxes.js').PageHit} PageHit */
/** @typedef {import('./marker.js').Point} Point */

export class Pages {
  /**
   * @param {object} on
   * @param {(page: number, byScrolling: boolean) => void} on.page another page is the current one
   * @param {() => void} on.zoom zoom, fit, or the number of pages beside each other changed
   * @param {(unit: string) => void} on.unit an evidence box was clicked
   * @param {() => void} on.selected text was selected, or no longer is
   * @param {(page: number, box: Box, asText: boolean) => void} on.marked a box was drawn
   * @param {() => void} on.drawing drawing a box began or ended
   * @param {() => void} on.pictured a page has got its picture
   * @param {(page: number) => string} on.thumbnail address of the thumbnail of a page; empty unless it is there already
   */
  constructor(on) {
    this.on = on;
    this.surface = h('div', { class: 'surface' });
    this.element = h('div', { class: 'pages', tabindex: '0', role: 'region', 'aria-label': TEXT.pages }, this.surface);
    this.layout = new Layout();
    this.looks = new Looks();
    /** @type {Doc | null} */
    this.doc = null;
    /** What is drawn on the pages. @type {import('./boxes.js').OnPages} */
    this.drawn = { units: [], located: [], active: null, marks: [], supports: [], hits: [] };
    /** @type {PageMark[]} of all documents */
    this.marks = [];
    /** @type {import('./layout.js').Fit} */
    this.fit = 'width';
    this.page = 1;
    /** The unit that was brought into view last, unless the view was moved since. @type {string | null} */
    this.at = null;
    this.pinned = false; // the page was asked for, and stays the current one until the annotator scrolls
    /** A part of a page that fills the view, and where the view was before. @type {{page: number, box: Box, whole: boolean, zoom: number, fit: import('./layout.js').Fit, left: number, top: number} | null} */
    this.enlarged = null;
    this.frame = 0;
    this.holding = new Holding(this);
    this.marker = new Marker(this, { marked: on.marked, changed: on.drawing });
    this.gestures = new Gestures(this);
    this.resizes = new ResizeObserver(() => this.#resized());
    this.resizes.observe(this.element);
    this.element.addEventListener('scroll', () => this.soon(), { passive: true });
  }

  get numbers() {
    return this.layout.numbers;
  }

  get views() {
    return this.holding.views;
  }

  get zoom() {
    return this.layout.zoom;
  }

  /** The address of a page's picture; null while it is coming, empty where there is none. @param {number} page */
  picture(page) {
    const view = this.views.get(page);
    return view ? view.address : '';
  }

  /** How the document at hand is looked at; what is enlarged will not stay so. @returns {import('./layout.js').Look} */
  #look() {
    const { zoom, fit } = this.enlarged ?? { zoom: this.zoom, fit: this.fit };
    return { zoom, fit, columns: this.layout.columns, turn: this.layout.turn };
  }

  /** Shows a document; the same one again keeps its pictures and place. @param {Doc} doc @param {Unit[]} units */
  open(doc, units) {
    const same = this.doc?.id === doc.id && this.doc.url === doc.url;
    if (this.doc) this.looks.keep(this.doc.id, this.#look());
    this.doc = doc;
    this.drawn.units = units.filter((unit) => unit.document === doc.id);
    this.drawn.located = [];
    this.drawn.supports = [];
    this.drawn.hits = [];
    this.drawn.marks = this.marks.filter((mark) => mark.document === doc.id);
    this.marker.set(false);
    if (!this.layout.view.width) this.layout.view = { width: this.element.clientWidth, height: this.element.clientHeight };
    if (!same) {
      this.holding.clear();
      const { zoom, fit, columns, turn } = this.looks.of(doc.id, this.#look());
      this.enlarged = null;
      this.fit = fit;
      Object.assign(this.layout, { zoom, columns });
      this.layout.open(pageNumbers(doc, this.drawn.units.flatMap((unit) => unit.pages)), doc.sizes);
      this.layout.turn = turn;
      this.page = this.layout.numbers[0] ?? 1;
      if (fit === 'page') this.layout.zoom = this.layout.wholeZoom(this.page);
      this.layout.compute();
      this.#place();
      this.element.scrollTop = 0;
    } else if (this.enlarged) this.closeEnlarged();
    this.holding.draw();
    this.holding.paint();
  }

  /** Draws the boxes of people beside those of evidence units. @param {PageMark[]} marks of all documents */
  setMarks(marks) {
    this.marks = marks;
    this.drawn.marks = marks.filter((mark) => mark.document === this.doc?.id);
    this.holding.draw();
  }

  /** Draws something else over the pages of this document. @param {Partial<import('./boxes.js').OnPages>} drawn */
  set(drawn) {
    Object.assign(this.drawn, drawn);
    this.holding.draw();
  }

  /** Turns to the page before or after. @param {number} by 1 or -1 */
  turn(by) {
    this.goTo(this.layout.beside(this.page, by), by);
  }

  /** Scrolls to a page, or the nearest one that is shown. @param {number} page @param {number} [heading] 1 or -1 when the annotator leafs */
  goTo(page, heading = 0) {
    this.at = null;
    this.page = this.layout.nearest(page);
    this.pinned = true;
    if (this.fit === 'page') this.#setZoom(this.layout.wholeZoom(this.page));
    this.element.scrollTop = this.layout.topOf(this.page) - PAD;
    this.holding.head(heading);
    this.holding.paint();
    this.on.page(this.page, false);
  }

  /** Brings an evidence unit into view and marks it. @param {Unit} unit */
  showUnit(unit) {
    this.drawn.active = unit.key;
    this.holding.draw();
    const place = this.drawn.located.find((place) => place.unit === unit.key);
    const page = place && !unit.box ? place.page : unit.pages[0];
    if (page) this.bring(page, unit.box ?? (place ? around(place.boxes) : null));
    this.at = unit.key;
  }

  /** Brings a page, or a part of it, into view; what is seen already stays where it is. @param {number} page @param {Box | null} box */
  bring(page, box) {
    if (this.layout.placeOf(page) < 0) return;
    this.at = null;
    const { element, layout } = this;
    this.#resized(); // the text beneath may have come or gone
    const { width, height } = layout.view;
    const [left, top] = [element.scrollLeft, element.scrollTop];
    let rect = layout.rect(page, box);
    if (rect.top < top || rect.bottom > top + height || rect.left < left || rect.right > left + width) {
      if (this.fit === 'page') this.#setZoom(layout.wholeZoom(page));
      rect = layout.rect(page, box);
      const pageTop = layout.topOf(page) - PAD;
      const spare = height - (rect.bottom - rect.top);
      const fitsFromTop = !box || rect.bottom + PAD <= pageTop + height;
      element.scrollTop = fitsFromTop ? pageTop : rect.top - (spare > 60 ? Math.min(spare / 2, 160) : 30);
      if (box) element.scrollLeft = (rect.left + rect.right) / 2 - width / 2;
      this.holding.head(0);
    }
    this.holding.paint();
    this.pinned = true;
    this.#setPage(page, false);
  }

  /** Makes a part of a page fill the view; `closeEnlarged` goes back. @param {number} page @param {Box} box */
  enlarge(page, box) {
    this.at = null;
    const { layout, element, zoom, fit } = this;
    const { zoom: first, fit: how, left, top } = this.enlarged ?? { zoom, fit, left: element.scrollLeft, top: element.scrollTop };
    this.fit = 'free';
    this.#setZoom(layout.boxZoom(page, box));
    this.enlarged = { page, box, whole: true, zoom: first, fit: how, left, top };
    const rect = layout.rect(page, box);
    element.scrollLeft = (rect.left + rect.right - layout.view.width) / 2;
    element.scrollTop = (rect.top + rect.bottom - layout.view.height) / 2;
    this.pinned = true;
    this.#setPage(page, false);
    this.holding.paint();
    this.on.zoom();
  }

  /** Goes back to where the view was before a part was enlarged; false when none is. */
  closeEnlarged() {
    const { enlarged } = this;
    if (!enlarged) return false;
    this.enlarged = null;
    this.fit = enlarged.fit;
    this.#setZoom(enlarged.zoom);
    this.element.scrollLeft = enlarged.left;
    this.element.scrollTop = enlarged.top;
    this.holding.paint();
    return true;
  }

  /** @param {number} factor @param {{x: number, y: number}} [about] a point of the view, else its middle */
  zoomBy(factor, about) {
    this.at = null;
    const { width, height } = this.layout.view;
    this.fit = 'free';
    if (this.enlarged) this.enlarged.whole = false;
    this.#keeping(about ?? { x: width / 2, y: height / 2 }, () => this.#setZoom(this.zoom * factor));
  }

  fitWidth() {
    this.enlarged = null;
    this.fit = 'width';
    this.#keeping({ x: this.layout.view.width / 2, y: 0 }, () => this.#setZoom(1));
  }

  fitPage() {
    this.enlarged = null;
    this.fit = 'page';
    this.goTo(this.page);
  }

  rotate() {
    const { layout, page } = this;
    this.enlarged = null;
    layout.turn = (layout.turn + 90) % 360;
    this.#laidOut(page);
  }

  /** One page or two beside each other. */
  twoPages() {
    const { layout, page } = this;
    this.enlarged = null;
    layout.columns = layout.columns === 1 ? 2 : 1;
    this.#laidOut(page);
    this.on.zoom();
  }

  /** @param {number} screens */
  scrollBy(screens) {
    this.unpin();
    this.element.scrollTop += screens * this.layout.view.height * 0.9;
  }

  /** Tries again what could not be loaded. */
  retry() {
    this.holding.retry();
  }

  dispose() {
    this.resizes.disconnect();
    cancelAnimationFrame(this.frame);
    this.holding.clear();
  }

  /** The annotator moves by hand: the page in view is the current one from now on. */
  unpin() {
    this.at = null;
    this.pinned = false;
    this.soon();
  }

  /** The point of a page under a point of the window; on a given page, the nearest one. @param {number} clientX @param {number} clientY @param {number} [page] @returns {Point | null} */
  pointAt(clientX, clientY, page) {
    const view = this.element.getBoundingClientRect();
    const [x, y] = [clientX - view.left + this.element.scrollLeft, clientY - view.top + this.element.scrollTop];
    const on = page ?? this.layout.pageAt(y, x);
    const { left, right, top, bottom } = this.layout.rect(on);
    if (page === undefined && (x < left || x > right || y < top || y > bottom)) return null;
    const within = (/** @type {number} */ share) => Math.max(0, Math.min(1, share));
    return { page: on, x: within((x - left) / (right - left)), y: within((y - top) / (bottom - top)) };
  }

  /** The point of the current page that is nearest to the middle of the view. @returns {Point} */
  middle() {
    const view = this.element.getBoundingClientRect();
    return /** @type {Point} */ (this.pointAt(view.left + view.width / 2, view.top + view.height / 2, this.page));
  }

  /** Scrolls as little as shows a point of a page. @param {Point} point */
  reveal({ page, x, y }) {
    const { left, right, top, bottom } = this.layout.rect(page);
    const { width, height } = this.layout.view;
    const [across, down] = [left + x * (right - left), top + y * (bottom - top)];
    const { element } = this;
    element.scrollLeft = Math.max(across + 40 - width, Math.min(across - 40, element.scrollLeft));
    element.scrollTop = Math.max(down + 40 - height, Math.min(down - 40, element.scrollTop));
  }

  /** @param {number} page */
  elementOf(page) {
    return this.views.get(page)?.element ?? null;
  }

  /** A click on the pages: the smallest evidence box under it is chosen. @param {number} clientX @param {number} clientY */
  clicked(clientX, clientY) {
    const unit = this.#unitAt(clientX, clientY);
    if (unit) this.on.unit(unit.key);
  }

  /** Opens the table or figure at a point of the window. @param {number} clientX @param {number} clientY */
  enlargeAt(clientX, clientY) {
    const unit = this.#unitAt(clientX, clientY);
    if (unit?.box) this.enlarge(unit.pages[0], unit.box);
  }

  /** @param {number} clientX @param {number} clientY */
  #unitAt(clientX, clientY) {
    const point = this.pointAt(clientX, clientY);
    return point && unitAt(this.drawn, point, this.layout.turn);
  }

  /** After a turn or another number of columns. @param {number} page that is to stay in view */
  #laidOut(page) {
    const { layout } = this;
    if (this.fit === 'page') layout.zoom = layout.wholeZoom(page);
    layout.compute();
    this.#place();
    this.holding.draw();
    this.goTo(page);
  }

  /** @param {number} zoom */
  #setZoom(zoom) {
    this.layout.setZoom(zoom);
    this.#place();
    this.on.zoom();
    this.holding.paintLater();
  }

  /** Puts everything where the layout says. */
  #place() {
    const { layout } = this;
    this.surface.style.width = `${Math.max(layout.view.width, layout.across + 2 * PAD)}px`;
    this.surface.style.height = `${layout.height}px`;
    this.holding.place();
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
    const page = layout.pageAt(y, x);
    const before = layout.rect(page);
    const across = (x - before.left) / (before.right - before.left);
    const down = (y - before.top) / (before.bottom - before.top);
    change();
    const after = layout.rect(page);
    element.scrollLeft = after.left + across * (after.right - after.left) - at.x;
    element.scrollTop = after.top + down * (after.bottom - after.top) - at.y;
    this.holding.head(this.holding.heading);
    this.soon();
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
    this.holding.paint();
    this.on.zoom();
  }

  /** Paints in the next frame, and sees which page is the current one. */
  soon() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.holding.scrolled();
      this.holding.paint();
      if (!this.pinned) this.#setPage(this.layout.pageAt(this.element.scrollTop + this.layout.view.height * 0.4), true);
    });
  }

  /** @param {number} page @param {boolean} byScrolling */
  #setPage(page, byScrolling) {
    const row = Math.floor(this.layout.placeOf(page) / this.layout.columns);
    const same = byScrolling && row === Math.floor(this.layout.placeOf(this.page) / this.layout.columns);
    if (page === this.page || same) return;
    this.page = page;
    this.on.page(page, byScrolling);
  }

  /** Takes the picture's own shape where the document's sizes are not known. @param {number} page @param {number} ratio */
  learn(page, ratio) {
    const { layout } = this;
    if (layout.knows(page) || !(ratio > 0)) return;
    this.#keeping({ x: 0, y: 0 }, () => {
      layout.learn(page, ratio);
      this.#place();
    });
  }
}
