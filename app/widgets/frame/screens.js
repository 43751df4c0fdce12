/** What is on the screen when no item is: waiting, finished, nothing to do, no connection, an error, signed out. */

import { attribute, button, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

/** @typedef {import('../shared/outbox.js').Entry<any>} Entry */

export class Screens {
  /**
   * @param {import('./shell.js').Shell} shell
   * @param {object} on
   * @param {string} on.home
   * @param {string} [on.toHome] what leads there is called
   * @param {string} on.signIn
   * @param {() => void} on.load
   * @param {(action: string) => void} on.act
   * @param {(entry: Entry) => void} on.giveBack opens the item of a refused submission
   * @param {(entry: Entry) => void} on.discard
   * @param {typeof TEXT} [text] other words for another page
   */
  constructor(shell, on, text = TEXT) {
    this.shell = shell;
    this.on = on;
    this.text = text;
    this.words = h('p', { class: 'warn-text', role: 'alert', 'data-testid': 'screen-notice' });
    /** The message that was put on the screen last. */
    this.last = h('div', {});
  }

  /** @param {string} title */
  busy(title) {
    this.#message('loading', title, '', [], true);
  }

  /** @param {string} words the server's */
  error(words) {
    this.#message('error', this.text.cannotOpen, words, [this.#home()]);
  }

  /** An item that cannot be drawn. @param {(() => void) | null} skip `null` where it is the only one */
  unshown(skip) {
    const { text } = this;
    const skips = skip ? [button(text.skipIt, skip, { class: 'btn pri', testid: 'skip-unshown' })] : [];
    this.#message('unshown', text.cannotShow, text.cannotShowMore, [...skips, this.#home()]);
  }

  /** @param {import('../shared/ask.js').Trouble} trouble @param {boolean} midway there was work before */
  waiting(trouble, midway) {
    const { text } = this;
    const [title, item, more] = trouble === 'offline'
      ? [text.noConnection, text.noConnectionItem, text.noConnectionMore]
      : [text.trouble, text.troubleItem, text.troubleMore];
    if (this.#shown !== trouble) this.#message(trouble, title, midway ? item : more, [button(text.tryNow, this.on.load, { class: 'btn pri' })]);
  }

  /** @param {number} done items submitted @param {string} key of going back @param {string | null} [enough] why no more is asked, in the server's words */
  finished(done, key, enough = null) {
    const [title, more] = enough ? [this.text.enough, enough] : [this.text.finished, this.text.finishedMore(done)];
    this.#message('finished', title, more, [this.#home(), button(this.text.back, () => this.on.act('back'), { key, testid: 'back' })]);
    this.shell.announce(title);
  }

  /** @param {string | null} [halted] why the study gives nothing, in the server's words */
  nothing(halted = null) {
    const [title, more] = halted ? [this.text.halted, halted] : [this.text.nothingNow, this.text.nothingNowMore];
    this.#message(halted ? 'halted' : 'nothing', title, more, [button(this.text.checkAgain, this.on.load, { class: 'btn pri', testid: 'check-again' }), this.#home()]);
  }

  /** Says something beneath the message. @param {string} words */
  say(words) {
    this.words.textContent = words;
  }

  /** Over everything, until somebody is signed in again. @param {number} waiting submissions kept in this browser */
  signedOut(waiting) {
    const { cover, stage } = this.shell;
    const link = h('a', { class: 'btn pri', href: this.on.signIn }, this.text.signInAgain);
    cover.replaceChildren(h('div', { class: 'message', role: 'alertdialog', 'aria-label': this.text.signedOut, 'data-testid': 'signed-out' },
      h('h1', {}, this.text.signedOut), h('p', {}, this.text.signedOutMore(waiting)),
      h('div', { class: 'actions' }, link, button(this.text.tryNow, this.on.load))));
    cover.hidden = false;
    attribute(stage, 'inert', true);
    link.focus();
  }

  signedIn() {
    const { cover, stage } = this.shell;
    cover.hidden = true;
    cover.replaceChildren();
    attribute(stage, 'inert', false);
  }

  /** Refused submissions, with the server's words and a way back. @param {Entry[]} entries */
  refused(entries) {
    this.shell.alerts.replaceChildren(...entries.map((entry) => h('div', { class: 'alert', role: 'alert', 'data-testid': 'refused' },
      h('b', { dir: 'auto' }, this.text.refused(entry.title)), h('span', { class: 'grow', dir: 'auto' }, entry.refused ?? ''),
      button(this.text.returnToItem, () => this.on.giveBack(entry), { class: 'btn small', testid: 'return' }),
      button(this.text.discard, () => {
        if (window.confirm(this.text.discardSure)) this.on.discard(entry);
      }, { class: 'btn small', testid: 'discard' }))));
  }

  /** @param {string} testid @param {string} title @param {string} text @param {HTMLElement[]} actions @param {boolean} [busy] */
  #message(testid, title, text, actions, busy = false) {
    this.say('');
    this.last = h('div', { class: 'message', 'data-testid': testid, role: busy ? 'status' : null },
      busy ? h('div', { class: 'spinner', 'aria-hidden': 'true' }) : null, h('h1', {}, title), text ? h('p', { dir: 'auto' }, text) : null,
      actions.length ? h('div', { class: 'actions' }, ...actions) : null, this.words);
    this.shell.fill(this.last);
  }

  /** Whether a message on the screen says that something is waited for. */
  get isWaiting() {
    return this.#shown !== null && ['loading', 'offline', 'trouble'].includes(this.#shown);
  }

  /** Which message is on the screen now, if one is. */
  get #shown() {
    return this.last.isConnected ? this.last.dataset.testid ?? null : null;
  }

  #home() {
    return h('a', { class: 'btn pri', href: this.on.home, 'data-testid': 'home' }, this.on.toHome ?? this.text.toHome);
  }
}
