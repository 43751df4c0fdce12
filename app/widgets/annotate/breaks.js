/** A gentle word about a break: one line between two items, which takes no keys and can be switched off. */

import { button, h } from '../shared/dom.js';
import { read, write } from '../shared/storage.js';
import { TEXT } from '../shared/text.js';

const REST = 5 * 60_000; // milliseconds without a sign of life that are a break
const SNOOZE = 10 * 60_000; // milliseconds of work until it is said again
const MINUTE = 60_000;
const CHOICES = [0, 25, 50, 90]; // minutes offered in the sheet of keys

export class Breaks {
  /**
   * @param {string} person
   * @param {import('../shared/preferences.js').Preferences} preferences
   * @param {import('./clock.js').Clock} clock
   */
  constructor(person, preferences, clock) {
    this.place = `assay.break.1/${person}`;
    this.preferences = preferences;
    this.clock = clock;
    this.words = h('span', { class: 'grow' });
    this.element = h('div', { class: 'news break', role: 'status', hidden: true, 'data-testid': 'break' }, this.words,
      button(TEXT.breakLater, () => this.#later(), { class: 'btn small', testid: 'break-later' }),
      button(TEXT.breakOff, () => this.#set(0), { class: 'btn small', testid: 'break-off' }));
    this.choice = h('select', { class: 'choose', 'data-testid': 'break-after', onchange: () => this.#set(Number(this.choice.value)) });
    this.setting = h('section', { class: 'settings' }, h('h2', {}, TEXT.settings), h('label', {}, h('span', {}, TEXT.breakSetting), this.choice));
    this.#draw();
  }

  /** Minutes of work after which a break is suggested; 0: never. */
  get after() {
    return Number(this.preferences.get('break_after') ?? 0);
  }

  /** Counts the time since the last look as work, unless there was a rest in it. */
  tick() {
    const kept = this.#kept();
    const seen = Date.now() - this.clock.quiet;
    const gap = seen - kept.at;
    if (gap <= 0) return;
    if (gap >= REST) this.#keep({ worked: 0, at: seen, again: 0 });
    else this.#keep({ ...kept, worked: kept.worked + gap, at: seen });
    if (gap >= REST) this.element.hidden = true;
  }

  /** Shows the line if it is time; called when the screen changes anyway, so that nothing moves under a hand. */
  offer() {
    this.tick();
    const { worked, again } = this.#kept();
    const due = this.after > 0 && worked >= Math.max(this.after * MINUTE, again);
    this.words.textContent = due ? TEXT.breakTitle(Math.floor(worked / MINUTE)) : '';
    this.element.hidden = !due;
  }

  #later() {
    const kept = this.#kept();
    this.#keep({ ...kept, again: kept.worked + SNOOZE });
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
    const choices = [...new Set([...CHOICES, after])].sort((one, other) => one - other);
    this.choice.replaceChildren(...choices.map((minutes) => h('option', { value: minutes, selected: minutes === after }, TEXT.breakAfter(minutes))));
  }

  /** @returns {{worked: number, at: number, again: number}} milliseconds of work without a rest, until when, and when to say it again */
  #kept() {
    return { worked: 0, at: 0, again: 0, .../** @type {object | null} */ (read(this.place)) };
  }

  /** @param {{worked: number, at: number, again: number}} kept */
  #keep(kept) {
    write(this.place, kept);
  }
}
