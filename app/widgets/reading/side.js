/** The frame of the right side: what is read above, what is decided below, messages and the footer beneath. */

import { Dock } from '../shared/dock.js';
import { h } from '../shared/dom.js';
import { foundIn } from './counted_phrases.js';
import { ReadingArea } from './reading_area.js';
import { TEXT } from '../shared/text.js';
import { Tip } from '../shared/tip.js';

export const LEAST = 96; // pixels that what is read, and the rows, keep wherever the divider is put

/**
 * @template Way what is decided, one by one
 * @abstract
 */
export class Side {
  /**
   * @param {object} options
   * @param {string} options.name what a screen reader calls it
   * @param {string} options.testid
   * @param {import('../shared/keys.js').Keys} options.keys
   * @param {(action: string) => void} options.act
   * @param {import('../texts/texts.js').Texts} options.texts
   * @param {string} [options.shape] extra classes of the whole, of the place of the rows, and of what holds them
   * @param {string} [options.placeShape]
   * @param {string} [options.partsShape]
   */
  constructor({ name, testid, keys, act, texts, shape = '', placeShape = '', partsShape = '' }) {
    this.keys = keys;
    this.texts = texts;
    /** What this side does by key besides what every side does. @type {Record<string, () => void>} */
    this.actions = {};
    this.dock = new Dock(() => this.focus());
    this.notice = h('div', { class: 'notice', role: 'alert', 'data-testid': 'notice' });
    this.area = new ReadingArea({ name: TEXT.question, keys, act, looked: () => this.looked() });
    const { text, scroller } = this.area;
    this.text = text;
    this.reading = scroller;
    this.parts = h('div', { class: partsShape || null });
    this.place = h('div', { class: `criteria ${placeShape}` }, this.parts);
    this.body = h('div', { class: 'body' }, this.area.element, this.place);
    this.footer = h('footer', {});
    this.element = h('aside', { class: `judgement ${shape}`, 'aria-label': name, 'data-testid': testid },
      this.body, this.notice, this.dock.element, this.footer);
    this.tip = new Tip(this.element, this.place);
    this.element.append(this.tip.element);
    /** Percent of the height that a person has given to what is read. @type {number | null} */
    this.chosen = null;
    this.fillsUp = false; // what is read takes all the height that the rows leave
    this.moving = false; // the focus is being moved by the page, not by a person
    this.watch(this.place, this.tip);
    this.resizes = new ResizeObserver(() => this.share());
    for (const part of [this.body, this.text, this.parts, this.footer]) this.resizes.observe(part);
  }

  /** Follows the focus where rows stand. @param {HTMLElement} place @param {Tip} tip */
  watch(place, tip) {
    place.addEventListener('focusin', (event) => {
      if (this.moving || !(event.target instanceof HTMLElement)) return;
      this.quiet = false;
      this.focused(event.target);
      if (event.target.matches(':focus-visible')) tip.show(event.target);
    });
  }

  /** The row that is the current one. @abstract @returns {{element: HTMLElement, focus: () => void, input: Input | null} | null} */
  get row() {
    throw new Error('row is each side’s own');
  }

  /** What the arrows go through, in order, and what of it is the current one. @abstract @returns {{all: Way[], at: Way | null}} */
  get ways() {
    throw new Error('ways is each side’s own');
  }

  /** Makes something the current one. @abstract @param {Way} _way */
  goTo(_way) {
    throw new Error('goTo is each side’s own');
  }

  /** Takes the current label or decision back. @abstract */
  clear() {
    throw new Error('clear is each side’s own');
  }

  /** Moves among decisions, or among the labels of one. @param {'above' | 'below' | 'left' | 'right'} where */
  move(where) {
    if (where === 'left' || where === 'right') {
      // The first press shows which label has the focus.
      const by = this.quiet ? 0 : (where === 'right' ? 1 : -1);
      this.quiet = false;
      this.row?.input?.move?.(by);
      return;
    }
    const { all, at } = this.ways;
    const place = at ? all.indexOf(at) : -1;
    const next = all[Math.max(0, Math.min(all.length - 1, place + (where === 'below' ? 1 : -1)))];
    if (next) this.goTo(next);
  }

  /** Does what an action says; false when it is none of this side's. @param {string} action */
  act(action) {
    const actions = /** @type {Record<string, () => void>} */ ({
      clear: () => this.clear(),
      raw_text: () => this.texts.toggle(),
      previous_criterion: () => this.move('above'),
      next_criterion: () => this.move('below'),
      previous_label: () => this.move('left'),
      next_label: () => this.move('right'),
      ...this.actions,
    });
    actions[action]?.();
    return action in actions || this.read(action);
  }

  /** How much of the top of the rows' place is covered. */
  get covered() {
    return 0;
  }

  /** What is scrolled to: the current row. @returns {HTMLElement | null} */
  get revealed() {
    return this.row?.element ?? null;
  }

  /** How much of the height a long text gets at most, where what is decided needs the rest. */
  get mostReading() {
    return 0.45;
  }

  /** How much of the foot of the rows' place is covered for the current row: its group's line for the rest sticks there. */
  get coveredBelow() {
    return this.revealed?.closest('.group')?.querySelector('.at-once')?.getBoundingClientRect().height ?? 0;
  }

  /** The places where texts are read, the one that keys scroll first before the others. */
  get areas() {
    return [this.area];
  }

  /** What is in view of the texts was looked at anew: the keys scroll what is to be read next. */
  looked() {
    const { areas } = this;
    const next = areas.find((area) => area.overflows && !area.atEnd) ?? areas.find((area) => area.overflows);
    for (const area of areas) area.keyed(area === next);
  }

  /** Scrolls what is read, as an action says; false when it is another action. @param {string} action */
  read(action) {
    const areas = this.areas.filter((area) => area.overflows);
    const [first] = areas;
    if (action === 'read_on' || action === 'read_back') {
      const by = action === 'read_on' ? 1 : -1;
      const area = by > 0 ? areas.find((area) => !area.atEnd) : areas.findLast((area) => !area.atStart);
      if (area) area.by(by);
      else if (!first) this.#scrollPage(by);
    } else if (action === 'read_end') (areas.find((area) => !area.atEnd) ?? first)?.to(true);
    else if (action === 'read_start') (areas.findLast((area) => !area.atStart) ?? first)?.to(false);
    else if (action === 'next_hit' || action === 'previous_hit') {
      const found = this.areas.map((area) => foundIn(area.text)).find((hits) => hits?.keyed);
      found?.walk(action === 'next_hit' ? 1 : -1);
      return !!found;
    } else return false;
    return true;
  }

  /** Where all is one column, the page is scrolled as a whole. @param {number} screens */
  #scrollPage(screens) {
    const page = this.element.closest('.assay');
    if (page) page.scrollTop += screens * page.clientHeight * 0.8;
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
    const { place, revealed, covered } = this;
    if (!revealed) return;
    if (place.scrollHeight <= place.clientHeight) {
      revealed.scrollIntoView({ block: 'nearest' });
      return;
    }
    const [view, own] = [place.getBoundingClientRect(), revealed.getBoundingClientRect()];
    const [top, bottom] = [view.top + covered, view.bottom - this.coveredBelow];
    if (own.top < top) place.scrollTop -= top - own.top + 8;
    else if (own.bottom > bottom) place.scrollTop += Math.min(own.bottom - bottom + 40, own.top - top);
  }

  /** Shares the height as a person chose; else all of it when it is enough, or the reading scrolls and the rows keep more than half. */
  share() {
    const all = this.body.clientHeight;
    const footer = this.footer.offsetHeight;
    const [text, needed] = [this.area.needed, this.parts.offsetHeight + 22];
    const most = this.text.childElementCount ? all - LEAST : 0;
    const wanted = text + needed <= all && !this.fillsUp ? text : Math.max(all - needed, Math.min(text, all * this.mostReading));
    const forReading = Math.max(0, Math.min(most, this.chosen === null ? wanted : Math.max(LEAST, (all * this.chosen) / 100)));
    this.body.style.setProperty('--reading', `${Math.round(forReading)}px`);
    this.element.style.setProperty('--footer', `${footer}px`);
  }

  dispose() {
    this.resizes.disconnect();
    for (const area of this.areas) area.dispose();
    this.tip.hide();
  }
}
