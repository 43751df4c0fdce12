/** What wheel, mouse and fingers do on the pages: scroll, zoom about the pointer, drag, pinch, draw a box. */

import { holdSelection } from './selection.js';

/** @typedef {import('./pages.js').Pages} Pages */

const STIR = 4; // pixels until a press is a drag
const QUICK = 60; // the most that one event of the wheel zooms by, in its own pixels

export class Gestures {
  /** @param {Pages} pages */
  constructor(pages) {
    this.pages = pages;
    const { element } = pages;
    element.addEventListener('wheel', (event) => this.#wheel(event), { passive: false });
    element.addEventListener('pointerdown', (event) => this.#pointer(event));
    element.addEventListener('touchstart', (event) => this.#touch(event), { passive: false });
    element.addEventListener('dblclick', (event) => {
      if (!this.#onWord(event)) pages.enlargeAt(event.clientX, event.clientY);
    });
  }

  /** Ctrl + wheel and pinches on a touchpad zoom about the pointer; the plain wheel scrolls by itself. @param {WheelEvent} event */
  #wheel(event) {
    const { pages } = this;
    if (!event.ctrlKey && !event.metaKey) {
      pages.unpin();
      return;
    }
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? event.deltaY * 16 : event.deltaY;
    pages.zoomBy(Math.exp(-Math.max(-QUICK, Math.min(QUICK, pixels)) / 200), this.#inView(event.clientX, event.clientY));
  }

  /** Two fingers zoom about the point between them and move it; one finger scrolls by itself. @param {TouchEvent} event */
  #touch(event) {
    const { pages } = this;
    pages.unpin();
    if (event.touches.length !== 2) return;
    event.preventDefault();
    const grip = (/** @type {TouchEvent} */ now) => {
      const [first, second] = now.touches;
      return {
        x: (first.clientX + second.clientX) / 2, y: (first.clientY + second.clientY) / 2,
        apart: Math.max(20, Math.hypot(first.clientX - second.clientX, first.clientY - second.clientY)),
      };
    };
    let last = grip(event);
    const ended = new AbortController();
    const { signal } = ended;
    pages.element.addEventListener('touchmove', (moved) => {
      if (moved.touches.length !== 2) return;
      moved.preventDefault();
      const now = grip(moved);
      pages.zoomBy(now.apart / last.apart, this.#inView(now.x, now.y));
      pages.element.scrollLeft -= now.x - last.x;
      pages.element.scrollTop -= now.y - last.y;
      last = now;
    }, { signal, passive: false });
    for (const end of /** @type {const} */ (['touchend', 'touchcancel'])) {
      pages.element.addEventListener(end, () => ended.abort(), { signal });
    }
  }

  /** @param {PointerEvent} event */
  #pointer(event) {
    const { pages } = this;
    const onButton = event.target instanceof Element && event.target.closest('button');
    if (onButton) return;
    if (pages.marker.on && event.button === 0) {
      this.#drawBox(event);
      return;
    }
    if (event.pointerType === 'touch') return;
    if (event.target === pages.element) pages.unpin(); // the scroll bar
    if (event.button === 0 && this.#onWord(event)) this.#select(event);
    else if (event.button === 0 || event.button === 1) this.#drag(event);
  }

  /** Drags the page. @param {PointerEvent} event */
  #drag(event) {
    const { element } = this.pages;
    if (event.button === 1) event.preventDefault();
    const start = { x: event.clientX, y: event.clientY, left: element.scrollLeft, top: element.scrollTop };
    this.#follow(event, (now) => {
      const [dx, dy] = [now.clientX - start.x, now.clientY - start.y];
      if (!element.classList.contains('dragging')) {
        if (Math.hypot(dx, dy) < STIR) return;
        element.setPointerCapture(event.pointerId);
        element.classList.add('dragging');
        this.pages.unpin();
      }
      element.scrollLeft = start.left - dx;
      element.scrollTop = start.top - dy;
    }, (now) => {
      const dragged = element.classList.contains('dragging');
      element.classList.remove('dragging');
      if (!dragged && now && event.button === 0) this.pages.clicked(now.clientX, now.clientY);
    });
  }

  /** Selects text: while the pointer is between words, the selection stays at the nearest one. @param {PointerEvent} event */
  #select(event) {
    const { pages } = this;
    const ended = new AbortController();
    pages.element.classList.add('selecting');
    pages.unpin();
    document.addEventListener('selectionchange', () => holdSelection(pages), { signal: ended.signal });
    const start = { x: event.clientX, y: event.clientY };
    const end = (/** @type {PointerEvent} */ now) => {
      ended.abort();
      pages.element.classList.remove('selecting');
      // A press without a drag is a click; a second one selects the word.
      if (Math.hypot(now.clientX - start.x, now.clientY - start.y) < STIR && now.type === 'pointerup') pages.clicked(now.clientX, now.clientY);
      pages.on.selected();
    };
    window.addEventListener('pointerup', end, { signal: ended.signal, capture: true });
    window.addEventListener('pointercancel', end, { signal: ended.signal, capture: true });
  }

  /** Draws a box with mouse, pen or finger. @param {PointerEvent} event */
  #drawBox(event) {
    const { pages } = this;
    const start = pages.pointAt(event.clientX, event.clientY);
    if (!start) return;
    event.preventDefault();
    pages.element.setPointerCapture(event.pointerId);
    pages.marker.begin(start);
    this.#follow(event, (now) => pages.marker.reach(pages.pointAt(now.clientX, now.clientY, start.page)), (now) => {
      if (now) pages.marker.finish();
      else pages.marker.forget();
    });
  }

  /**
   * @param {PointerEvent} event
   * @param {(now: PointerEvent) => void} move
   * @param {(now: PointerEvent | null) => void} end null: it was broken off
   */
  #follow(event, move, end) {
    const { element } = this.pages;
    const ended = new AbortController();
    const { signal } = ended;
    element.addEventListener('pointermove', (now) => {
      if (now.pointerId === event.pointerId) move(now);
    }, { signal });
    element.addEventListener('pointerup', (now) => {
      ended.abort();
      end(now);
    }, { signal });
    element.addEventListener('pointercancel', () => {
      ended.abort();
      end(null);
    }, { signal });
  }

  /** @param {MouseEvent} event */
  #onWord(event) {
    return event.target instanceof Element && event.target.matches('.page-words span');
  }

  /** @param {number} x @param {number} y */
  #inView(x, y) {
    const view = this.pages.element.getBoundingClientRect();
    return { x: x - view.left, y: y - view.top };
  }
}
