/** The top line: where one is, how far, whether it is saved. */

import { button, clockTime, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

/** @typedef {import('../shared/ask.js').Trouble} Trouble */
/**
 * @typedef {object} Words what a page calls what is counted and kept
 * @property {(done: number, of: number) => string} progress
 * @property {(of: number) => string} of
 * @property {string} kept the state of what is kept and not submitted
 * @property {(time: string) => string} keptAt
 * @property {(waiting: number) => string} notSavedTitle
 */
/**
 * @typedef {object} Saved
 * @property {{waiting: number, refused: unknown[], trouble: Trouble | null}} outbox
 * @property {boolean} signedOut
 * @property {Trouble | null} trouble of something else than the outbox
 * @property {Date | null} kept when something was kept that is not submitted
 * @property {Date | null} saved when something was saved last
 */

export class TopLine {
  /** @param {Words} words @param {string} home @param {(action: string) => void} act */
  constructor(words, home, act) {
    this.words = words;
    this.act = act;
    this.project = h('a', { class: 'project', href: home, title: TEXT.home, dir: 'auto' });
    this.study = h('h1', { class: 'soft study', dir: 'auto' });
    this.fill = h('i', {});
    this.fillWaits = h('i', { class: 'waits' });
    this.bar = h('div', { class: 'bar', role: 'progressbar', 'aria-valuemin': 0 }, this.fill, this.fillWaits);
    this.count = h('span', { class: 'count', 'data-testid': 'progress' });
    this.today = h('span', { class: 'soft today', title: TEXT.todayTitle });
    this.state = h('span', { class: 'saved', role: 'status', 'data-testid': 'saved', 'data-state': 'none' });
    this.buttons = h('span', { class: 'header-buttons' });
    this.person = h('span', { class: 'soft person', dir: 'auto' });
    this.element = h('header', { class: 'top' }, this.project, this.study, this.bar, this.count, this.today,
      h('span', { class: 'grow' }), this.state, this.buttons, this.person);
  }

  /** @param {{project: string, study: string, title: string, person: string}} names `title`: more about the study @param {import('../shared/keys.js').Keys} keys */
  show({ project, study, title, person }, keys) {
    this.project.textContent = project;
    this.study.textContent = study;
    this.study.title = title;
    this.person.textContent = person;
    const open = (/** @type {string} */ action, /** @type {string} */ name) => button(name, () => this.act(action), { key: keys.of(action), class: 'plain', testid: `${action}-button` });
    this.buttons.replaceChildren(open('guidelines', TEXT.guidelines), open('keys', TEXT.keys));
  }

  /**
   * What is stored, of how much, and apart from it what is not stored yet.
   *
   * @param {number} done
   * @param {number} of
   * @param {{waits?: number, seconds?: number | null}} [more] waits: submissions that are still to be sent; seconds of today
   */
  progress(done, of, { waits = 0, seconds = null } = {}) {
    const words = [this.words.progress(done, of), ...(waits ? [TEXT.waitsToBeSent(waits)] : [])].join(', ');
    const share = (/** @type {number} */ n) => `${of ? Math.min(100, (n / of) * 100) : 0}%`;
    this.fill.style.width = share(done);
    this.fillWaits.style.width = share(Math.min(waits, of - done));
    this.bar.setAttribute('aria-valuemax', String(of));
    this.bar.setAttribute('aria-valuenow', String(done));
    this.bar.setAttribute('aria-label', words);
    this.count.replaceChildren(String(done), h('span', { class: 'soft' }, ` ${this.words.of(of)}`),
      ...(waits ? [h('span', { class: 'soft waits' }, ` ${TEXT.waits(waits)}`)] : []));
    this.count.title = words;
    this.today.hidden = seconds === null;
    this.today.textContent = TEXT.today(Math.floor((seconds ?? 0) / 60));
  }

  /** Says whether all is saved; "saved" only when nothing waits. @param {Saved} facts */
  saved({ outbox, signedOut, trouble, kept, saved }) {
    const { waiting, refused } = outbox;
    const settled = kept && (!saved || kept > saved) ? this.words.kept : saved ? 'saved' : 'none';
    const state = signedOut ? 'signed-out' : trouble ?? outbox.trouble ?? (waiting ? 'saving' : refused.length ? 'refused' : settled);
    const time = clockTime((state === 'saved' ? saved : kept) ?? new Date());
    const words = /** @type {Record<string, string>} */ ({
      none: '', saving: TEXT.saving, saved: TEXT.saved(time), [this.words.kept]: this.words.keptAt(time), offline: TEXT.notSaved,
      trouble: TEXT.notSavedTrouble, refused: TEXT.refusedState(refused.length), 'signed-out': TEXT.signedOutState,
    })[state];
    if (this.state.textContent !== words) this.state.textContent = words;
    this.state.dataset.state = state;
    this.state.title = waiting && state !== 'saving' ? this.words.notSavedTitle(waiting) : '';
  }
}
