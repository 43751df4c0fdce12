/** The frame of the right side: what is read above, what is decided below, messages and the footer beneath. */

import { Dock } from './dock.js';
import { h } from './dom.js';
import { TEXT } from './text.js';
import { Tip } from './tip.js';

/** @typedef {{element: HTMLElement}} RowLike */

/** @abstract */
export class Side {
  /**
   * @param {object} options
   * @param {string} options.name what a screen reader calls it
   * @param {string} options.testid
   * @param {string} [options.shape] extra classes of the whole, of the place of the rows, and of what holds them
   * @param {string} [options.placeShape]
   * @param {string} [options.partsShape]
   */
  constructor({ name, testid, shape = '', placeShape = '', partsShape = '' }) {
    this.dock = new Dock(() => this.focus());
    this.notice = h('div', { class: 'notice', role: 'alert', 'data-testid': 'notice' });
    this.text = h('div', {});
    this.reading = h('div', { class: 'reading', tabindex: '0', role: 'region', 'aria-label': TEXT.question }, this.text);
    this.parts = h('div', { class: partsShape || null });
    this.place = h('div', { class: `criteria ${placeShape}` }, this.parts);
    this.body = h('div', { class: 'body' }, this.reading, this.place);
    this.footer = h('footer', {});
    this.element = h('aside', { class: `judgement ${shape}`, 'aria-label': name, 'data-testid': testid },
      this.body, this.notice, this.dock.element, this.footer);
    this.tip = new Tip(this.element, this.place);
    this.element.append(this.tip.element);
    this.moving = false; // the focus is being moved by the page, not by a person
    this.place.addEventListener('focusin', (event) => {
      if (this.moving) return;
      this.quiet = false;
      if (!(event.target instanceof HTMLElement)) return;
      this.focused(event.target);
      if (event.target.matches(':focus-visible')) this.tip.show(event.target);
    });
    this.resizes = new ResizeObserver(() => this.share());
    for (const part of [this.body, this.text, this.parts]) this.resizes.observe(part);
  }

  /** The row that is the current one. @abstract @returns {{element: HTMLElement, focus: () => void} | null} */
  get row() {
    throw new Error('row is each side’s own');
  }

  /** How much of the top of the rows' place is covered. */
  get covered() {
    return 0;
  }

  /** An element of the rows got the focus from a person. @abstract @param {HTMLElement} _target */
  focused(_target) {
    throw new Error('focused is each side’s own');
  }

  /** Whether the page put the focus where it is: the label that has it is then not singled out. */
  get quiet() {
    return this.element.classList.contains('quiet');
  }

  set quiet(quiet) {
    this.element.classList.toggle('quiet', quiet);
  }

  /** Gives the focus back to the current row, which shows where it is; where nothing is asked, to what is read. */
  focus() {
    this.moving = true;
    (this.row ?? this.reading).focus();
    this.moving = false;
    this.quiet = true;
  }

  /** Says something above the footer. @param {string} words */
  say(words) {
    this.notice.textContent = words;
  }

  /** Locks the panel while something is on its way. @param {boolean} busy */
  setBusy(busy) {
    this.element.toggleAttribute('inert', busy);
    this.element.classList.toggle('busy', busy);
  }

  /** Scrolls the rows, or the whole page where it is one column, so far that the current one is seen. */
  reveal() {
    const { place, row, covered } = this;
    if (!row) return;
    if (place.scrollHeight <= place.clientHeight) {
      row.element.scrollIntoView({ block: 'nearest' });
      return;
    }
    const [view, own] = [place.getBoundingClientRect(), row.element.getBoundingClientRect()];
    if (own.top < view.top + covered) place.scrollTop -= view.top + covered - own.top + 8;
    else if (own.bottom > view.bottom) place.scrollTop += Math.min(own.bottom - view.bottom + 40, own.top - view.top - covered);
  }

  /** Shares the height: all of it when it is enough, else the reading scrolls and the rows keep more than half. */
  share() {
    const all = this.body.clientHeight;
    const [text, needed] = [this.text.offsetHeight + 18, this.parts.offsetHeight + 14];
    const forReading = text + needed <= all ? text : Math.max(all - needed, Math.min(text, all * 0.45));
    this.body.style.setProperty('--reading', `${Math.round(forReading)}px`);
  }

  dispose() {
    this.resizes.disconnect();
    this.tip.hide();
  }
}
