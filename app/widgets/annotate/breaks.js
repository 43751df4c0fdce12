/** A gentle word about a break: one line between two items, which takes no keys and can be switched off. */

import { button, h } from '../shared/dom.js';
import { read, write } from '../shared/storage.js';
import { TEXT } from '../shared/text.js';

const REST = 5 * 60_000; // milliseconds without a sign of life that are a break
const SNOOZE = 10 * 60_000; // milliseconds of work until it is said again
const MINUTE = 60_000;
const CHOICES = [0, 25, 50, 90]; // minutes offered in the sheet of keys

/** How long somebody has worked without a rest, kept in this browser; moments and lengths in milliseconds. */
export class Worked {
  /** @param {string} place where it is kept */
  constructor(place) {
    this.place = place;
  }

  /** Since the last rest; until when that was counted; and from when on a break is said again. @returns {{worked: number, at: number, again: number}} */
  get kept() {
    return { worked: 0, at: 0, again: 0, .../** @type {object | null} */ (read(this.place)) };
  }

  /** Counts the time since the last look as work, unless there was a rest in it. @param {number} seen the last sign of life @returns {boolean} whether there was one */
  until(seen) {
    const { kept } = this;
    const gap = seen - kept.at;
    if (gap > 0) write(this.place, gap >= REST ? { worked: 0, at: seen, again: 0 } : { ...kept, worked: kept.worked + gap, at: seen });
    return gap >= REST;
  }

  /** Whether a break is to be suggested. @param {number} after minutes; 0: never */
  due(after) {
    const { worked, again } = this.kept;
    return after > 0 && worked >= Math.max(after * MINUTE, again);
  }

  later() {
    const { kept } = this;
    write(this.place, { ...kept, again: kept.worked + SNOOZE });
  }
}

export class Breaks {
  /**
   * @param {string} person
   * @param {import('../shared/preferences.js').Preferences} preferences
   * @param {import('./clock.js').Clock} clock
   */
  constructor(person, preferences, clock) {
    this.worked = new Worked(`assay.break.1/${person}`);
    this.preferences = preferences;
    this.clock = clock;
    this.words = h('span', { class: 'grow' });
    this.element = h('div', { class: 'news break', role: 'status', hidden: true, 'data-testid': 'break' }, this.words,
      button(TEXT.breakLater, () => this.#later(), { class: 'btn small', testid: 'break-later' }),
      button(TEXT.breakOff, () => this.#set(0), { class: 'btn small', testid: 'break-off' }));
    this.choice = h('select', { class: 'choose', 'data-testid': 'break-after', onchange: () => this.#set(Number(this.choice.value)) });
    this.setting = h('label', {}, h('span', {}, TEXT.breakSetting), this.choice);
    this.#draw();
  }

  /** Minutes of work after which a break is suggested; 0: never. */
  get after() {
    return Number(this.preferences.get('break_after') ?? 0);
  }

  tick() {
    if (this.worked.until(Date.now() - this.clock.quiet)) this.element.hidden = true;
  }

  /** Shows the line if it is time; called when the screen changes anyway, so that nothing moves under a hand. */
  offer() {
    this.tick();
    const due = this.worked.due(this.after);
    this.words.textContent = due ? TEXT.breakTitle(Math.floor(this.worked.kept.worked / MINUTE)) : '';
    this.element.hidden = !due;
  }

  #later() {
    this.worked.later();
    this.element.hidden = true;
  }

  /** @param {number} minutes */
  #set(minutes) {
    this.preferences.set('break_after', minutes);
    this.#draw();
    if (!minutes) this.element.hidden = true;
  }

  #draw() {
    const { after } = this;
    const choices = [...new Set([...CHOICES, after])].sort((a, b) => a - b);
    this.choice.replaceChildren(...choices.map((minutes) => h('option', { value: minutes, selected: minutes === after }, TEXT.breakAfter(minutes))));
  }
}
