/** A scrollbar that is there whenever there is something to scroll, on every system, with marks of places in the text. */

import { h, keepFocus } from '../shared/dom.js';

const LEAST = 28; // pixels of the thumb

export class Rail {
  /** @param {HTMLElement} scroller whose own scrollbar is not shown */
  constructor(scroller) {
    this.scroller = scroller;
    this.thumb = h('i', { class: 'thumb' });
    this.marks = h('div', { class: 'rail-marks' });
    // The keyboard and a screen reader scroll the text itself.
    this.element = h('div', { class: 'rail', 'aria-hidden': 'true', 'data-testid': 'rail', onmousedown: keepFocus }, this.thumb, this.marks);
    this.element.addEventListener('pointerdown', (event) => this.#press(event));
  }

  /** Draws the thumb where the text stands. */
  draw() {
    const { height, top, free, range } = this.#sizes();
    this.thumb.style.height = `${height}px`;
    this.thumb.style.transform = `translateY(${range ? (top / range) * free : 0}px)`;
  }

  /** Draws marks at places of the text. @param {number[]} places from 0, its beginning, to 1 */
  mark(places) {
    const rounded = [...new Set(places.map((place) => (place * 100).toFixed(1)))];
    this.marks.replaceChildren(...rounded.map((place) => h('i', { style: `top:${place}%` })));
  }

  #sizes() {
    const { scrollHeight, clientHeight, scrollTop } = this.scroller;
    const length = this.element.clientHeight;
    const height = Math.min(length, Math.max(LEAST, (length * clientHeight) / Math.max(1, scrollHeight)));
    return { height, top: scrollTop, free: length - height, range: scrollHeight - clientHeight };
  }

  /** Dragging the thumb scrolls; a press beside it brings it there. @param {PointerEvent} event */
  #press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    const { element, scroller } = this;
    const { height, free, range } = this.#sizes();
    const rail = element.getBoundingClientRect().top;
    const held = event.target === this.thumb ? event.clientY - this.thumb.getBoundingClientRect().top : height / 2;
    const move = (/** @type {PointerEvent} */ moved) => {
      if (free > 0) scroller.scrollTop = ((moved.clientY - rail - held) / free) * range;
    };
    const end = () => element.removeEventListener('pointermove', move);
    element.setPointerCapture(event.pointerId);
    element.addEventListener('pointermove', move);
    element.addEventListener('lostpointercapture', end, { once: true });
    move(event);
  }
}
