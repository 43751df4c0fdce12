/** What the full-screen pages have in common: they go up and down, listen while they are up, and hand on every key. */

import { press } from './keyboard.js';
import { meant } from '../shared/keys.js';

/**
 * @typedef {object} DeskLike what is on the screen while an item is
 * @property {import('./keyboard.js').Panel & {setBusy: (busy: boolean) => void}} judgement
 * @property {import('../viewer/viewer.js').Viewer} viewer
 * @property {import('./guidelines.js').Guidelines} guidelines
 * @property {import('./key_sheet.js').KeySheet} keySheet
 * @property {() => void} toggleGuidelines
 * @property {() => void} showKeys
 * @property {() => void} dispose
 */

const LEFT_FOR_GOOD = 5000; // milliseconds after which a page that was taken down is not put up again as it was

/**
 * @template {DeskLike} Desk
 * @abstract
 */
export class Page {
  /** @param {import('./shell.js').Shell} shell @param {import('../shared/preferences.js').Preferences} preferences */
  constructor(shell, preferences) {
    this.shell = shell;
    this.preferences = preferences;
    /** @type {import('../shared/keys.js').Keys | null} */
    this.keys = null;
    /** @type {Desk | null} */
    this.desk = null;
    this.busy = false; // an answer is awaited, and nothing can be done meanwhile
    this.shownAt = 0; // when the item on the screen was put there
    this.timer = 0;
    this.leaving = 0;
    this.token = {};
    /** Keys that are down and were ours. @type {Set<string>} */
    this.taken = new Set();
    /** @type {AbortController | null} */
    this.listening = null;
  }

  /** @returns {Desk['judgement'] | null} */
  get judgement() {
    return this.desk?.judgement ?? null;
  }

  get viewer() {
    return this.desk?.viewer ?? null;
  }

  get guidelines() {
    return this.desk?.guidelines ?? null;
  }

  get keySheet() {
    return this.desk?.keySheet ?? null;
  }

  /** Whether nobody is signed in any more. @abstract @returns {boolean} */
  get signedOut() {
    throw new Error('signedOut is each page’s own');
  }

  /** Whether an item is on the screen and can be answered. @abstract @returns {boolean} */
  get live() {
    throw new Error('live is each page’s own');
  }

  /** Gets what there is to do. @abstract @returns {Promise<void>} */
  async load() {
    throw new Error('load is each page’s own');
  }

  /** Does what a button or key says. @abstract @param {string} _action */
  act(_action) {
    throw new Error('act is each page’s own');
  }

  /** Listens to what only this page listens to. @abstract @param {AbortSignal} _signal ends it */
  listen(_signal) {
    throw new Error('listen is each page’s own');
  }

  /** Puts the page up, or back up. @param {Element | ShadowRoot} parent */
  attach(parent) {
    clearTimeout(this.leaving);
    this.shell.attach(parent);
    if (this.listening) return;
    this.listening = new AbortController();
    const { signal } = this.listening;
    const look = () => this.shell.theme();
    window.addEventListener('keydown', (event) => this.#key(event), { signal, capture: true });
    // Some browsers press a button when the space bar comes up again, whoever had it when it went down.
    window.addEventListener('keyup', (event) => {
      if (this.taken.delete(event.code)) event.preventDefault();
    }, { signal, capture: true });
    window.addEventListener('online', () => {
      this.viewer?.pages.retry();
      void this.preferences.send();
    }, { signal });
    window.addEventListener('focus', () => {
      look();
      if (this.signedOut) void this.load();
    }, { signal });
    document.addEventListener('visibilitychange', look, { signal });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => setTimeout(look, 50), { signal });
    this.listen(signal);
    void this.preferences.send();
  }

  /** Takes the page down; put up again soon, it is as it was. @param {() => void} forget */
  detach(forget) {
    clearTimeout(this.timer);
    this.listening?.abort();
    this.listening = null;
    this.shell.detach();
    this.leaving = window.setTimeout(() => {
      this.desk?.dispose();
      forget();
    }, LEFT_FOR_GOOD);
  }

  /** Every key of the page passes here first. @param {KeyboardEvent} event */
  #key(event) {
    const meanings = meant(event);
    if (!meanings.length || event.defaultPrevented || !this.keys) return;
    if (press(this, event.composedPath()[0], meanings, event.repeat)) {
      this.taken.add(event.code);
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }
}
