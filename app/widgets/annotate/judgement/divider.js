/** The bar between two parts of the page: dragged, or moved by keyboard, put back by a double click; and where a person has put it. */

import { attribute, h, keepFocus } from '../../shared/dom.js';
import { TEXT } from '../../shared/text.js';

const STEP = 2; // percent by which an arrow key moves it
const LEAP = 10; // the same with Shift

/** @typedef {{value: number, least: number, most: number}} Where percent of the whole that lies before the bar: now, at least, at most */

export class Divider {
  /**
   * @param {object} options
   * @param {string} options.name what a screen reader calls it
   * @param {string} options.testid
   * @param {boolean} options.upright it stands between left and right
   * @param {() => DOMRect} options.whole what it divides
   * @param {() => Where} options.where
   * @param {(value: number | null) => void} options.move puts it there, for now; null: where the program has it
   * @param {(value: number | null) => void} options.keep remembers it
   */
  constructor({ name, testid, upright, whole, where, move, keep }) {
    this.upright = upright;
    this.whole = whole;
    this.where = where;
    this.move = move;
    this.keep = keep;
    this.element = h('div', {
      class: `divider ${upright ? 'upright' : 'level'}`, role: 'separator', tabindex: '0', 'aria-orientation': upright ? 'vertical' : 'horizontal',
      'aria-label': name, title: TEXT.dividerTitle, 'data-testid': testid, onmousedown: keepFocus,
      ondblclick: () => this.#set(null),
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.#key(event),
    });
    this.element.addEventListener('pointerdown', (event) => this.#press(event));
    new ResizeObserver(() => this.tell()).observe(this.element); // it came to the screen, or the screen is another
  }

  /** Says to a screen reader where it stands. */
  tell() {
    const { value, least, most } = this.where();
    for (const [word, number] of Object.entries({ valuenow: value, valuemin: least, valuemax: most })) attribute(this.element, `aria-${word}`, Math.round(number));
  }

  /** @param {number | null} value */
  #set(value) {
    this.#to(value);
    this.keep(value === null ? null : this.#sane(value));
  }

  /** @param {number | null} value */
  #to(value) {
    this.move(value === null ? null : this.#sane(value));
    this.tell();
  }

  /** @param {number} value */
  #sane(value) {
    const { least, most } = this.where();
    return Math.round(Math.max(least, Math.min(most, value)) * 10) / 10;
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const { value, least, most } = this.where();
    const by = event.shiftKey ? LEAP : STEP;
    const [less, more] = this.upright ? ['ArrowLeft', 'ArrowRight'] : ['ArrowUp', 'ArrowDown'];
    const wanted = /** @type {Record<string, number | null>} */ ({ [less]: value - by, [more]: value + by, Home: least, End: most, Enter: null });
    if (!(event.key in wanted)) return;
    event.preventDefault();
    this.#set(wanted[event.key]);
  }

  /** @param {PointerEvent} event */
  #press(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    const { element } = this;
    const box = element.getBoundingClientRect();
    const held = this.upright ? event.clientX - box.left : event.clientY - box.top;
    /** @type {number | null} */
    let wanted = null;
    let frame = 0;
    const move = (/** @type {PointerEvent} */ moved) => {
      const whole = this.whole();
      wanted = this.upright ? ((moved.clientX - held - whole.left) / whole.width) * 100 : ((moved.clientY - held - whole.top) / whole.height) * 100;
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        if (wanted !== null) this.#to(wanted);
      });
    };
    const end = () => {
      element.removeEventListener('pointermove', move);
      element.classList.remove('held');
      cancelAnimationFrame(frame);
      if (wanted !== null) this.#set(wanted);
    };
    element.classList.add('held');
    element.setPointerCapture(event.pointerId);
    element.addEventListener('pointermove', move);
    element.addEventListener('lostpointercapture', end, { once: true });
  }
}

/** @typedef {'side' | 'reading' | 'references'} Place percent of the width that the left side has; of the height that what is read has above the criteria, beside evidence and where the answer stands opposite */

const NAME = 'panes'; // of the preference
const SIDES = { left: 320, right: 380 }; // pixels that a side keeps, as in frame/stage.css

export class Panes {
  /** @param {import('../../shared/preferences.js').Preferences} preferences */
  constructor(preferences) {
    this.preferences = preferences;
  }

  /** @param {Place} place @returns {number | null} null: where the program has it */
  get(place) {
    return this.#all()[place] ?? null;
  }

  /** @param {Place} place @param {number | null} value */
  set(place, value) {
    const all = { ...this.#all() };
    if (value === null) delete all[place];
    else all[place] = value;
    this.preferences.set(NAME, Object.keys(all).length ? all : null);
  }

  /** @returns {Partial<Record<Place, number>>} */
  #all() {
    return /** @type {Partial<Record<Place, number>> | null} */ (this.preferences.get(NAME)) ?? {};
  }
}

/** The divider between what is looked at and what is decided. */
export class PaneDivider extends Divider {
  /** @param {HTMLElement} stage @param {Panes} panes */
  constructor(stage, panes) {
    const move = (/** @type {number | null} */ value) => {
      if (value === null) stage.style.removeProperty('--left');
      else stage.style.setProperty('--left', `${value}%`);
    };
    super({
      name: TEXT.panesDivider, testid: 'panes-divider', upright: true, move,
      whole: () => stage.getBoundingClientRect(),
      where: () => {
        const all = Math.max(1, stage.clientWidth);
        const left = this.element.offsetLeft;
        return { value: (left / all) * 100, least: (SIDES.left / all) * 100, most: ((all - SIDES.right) / all) * 100 };
      },
      keep: (value) => panes.set('side', value),
    });
    move(panes.get('side'));
  }
}
