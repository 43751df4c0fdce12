/** What opens above the footer: comments, and the reasons for skipping or for not being able to judge. */

import { button, h, keepFocus, keycap } from './dom.js';
import { TEXT } from './text.js';

export class Dock {
  /** @param {() => void} onclose gives the focus back to the labels */
  constructor(onclose) {
    this.onclose = onclose;
    this.element = h('div', { class: 'dock', hidden: true });
    /** @type {((text: string) => void) | null} */
    this.decide = null;
    /** @type {string[]} */
    this.reasons = [];
    /** @type {HTMLTextAreaElement | null} */
    this.field = null;
    this.needed = true; // a reason has to be given
    this.telling = false; // something is told that only has to be read
  }

  get open() {
    return !this.element.hidden;
  }

  /** Whether it waits for a reason, so that the keys are its own. */
  get asking() {
    return this.decide !== null;
  }

  /**
   * Fields for the comment on one decision and for the one on the whole item, kept as they are typed.
   *
   * @param {{title: string, value: string, change: (text: string) => void}[]} fields
   */
  comment(fields) {
    this.decide = null;
    const areas = fields.map(({ title, value, change }) => {
      const area = h('textarea', {
        class: 'field', rows: 2, dir: 'auto', 'aria-label': title, 'data-testid': 'comment-field', oninput: () => change(area.value),
        onkeydown: onEnter(() => this.close()),
      });
      area.value = value;
      return { title, area };
    });
    this.#show(TEXT.comment, areas.map(({ title, area }) => h('label', {}, h('span', { dir: 'auto' }, title), area)),
      h('small', { class: 'soft grow' }, TEXT.commentHint), button(TEXT.close, () => this.close(), { class: 'btn', key: 'Enter' }));
    areas[0].area.focus();
  }

  /**
   * A reason, from a list by its number or in words.
   *
   * @param {string} title
   * @param {string[]} reasons
   * @param {string} value
   * @param {(reason: string) => void} decide
   * @param {boolean} [needed] it cannot be left empty
   */
  ask(title, reasons, value, decide, needed = true) {
    this.decide = decide;
    this.needed = needed;
    this.reasons = reasons;
    const problem = h('small', { class: 'warn-text', role: 'alert' });
    const field = h('textarea', {
      class: 'field', rows: 2, dir: 'auto', 'aria-label': reasons.length ? TEXT.ownWords : title, placeholder: reasons.length ? TEXT.ownWords : null, title: TEXT.ownWordsTitle,
      'data-testid': 'reason-field', onkeydown: onEnter(() => this.#own()),
    });
    field.value = value;
    this.field = field;
    this.problem = problem;
    const list = this.#list(reasons);
    this.#show(title, [list, field, problem], h('span', { class: 'grow' }),
      button(TEXT.cancel, () => this.close(), { class: 'btn', key: 'Escape' }),
      button(TEXT.ok, () => this.#own(), { class: 'btn pri', key: 'Enter' }));
    if (value) field.focus();
    else list.focus();
  }

  /**
   * One of several things, by its number.
   *
   * @param {string} title
   * @param {string[]} choices at most nine have a key
   * @param {(choice: string) => void} decide
   */
  choose(title, choices, decide) {
    this.decide = decide;
    this.reasons = choices;
    this.field = null;
    const list = this.#list(choices);
    this.#show(title, [list], h('span', { class: 'grow' }), button(TEXT.cancel, () => this.close(), { class: 'btn', key: 'Escape' }));
    list.focus();
  }

  /**
   * Something to be read before one goes on.
   *
   * @param {string} title
   * @param {HTMLElement[]} content
   * @param {() => void} read
   */
  tell(title, content, read) {
    this.decide = read;
    this.reasons = [];
    this.field = null;
    this.telling = true;
    const goOn = button(TEXT.goOn, () => this.close(), { class: 'btn pri', key: 'Enter', testid: 'told' });
    this.#show(title, [h('div', { class: 'told', tabindex: '0' }, ...content)], h('span', { class: 'grow' }), goOn);
    goOn.focus({ preventScroll: true });
  }

  /** A key while a reason is asked for and no field has the focus. @param {string} key @returns {boolean} */
  key(key) {
    if (!this.decide) return false;
    if (this.telling) {
      if (key === 'Enter') this.close();
      return true;
    }
    const reason = /^[1-9]$/.test(key) ? this.reasons[Number(key) - 1] : undefined;
    if (reason !== undefined) this.#decided(reason);
    else if (!this.field) return true; // one of the list, or Escape
    else if (key === 'Enter') this.#own();
    else if (key.length === 1) {
      this.field?.focus(); // and the character is typed there
      return false;
    }
    return true;
  }

  close() {
    if (!this.open) return;
    const read = this.telling ? this.decide : null;
    this.decide = null;
    this.telling = false;
    this.element.hidden = true;
    this.element.replaceChildren();
    this.onclose();
    read?.('');
  }

  /** @param {string[]} reasons */
  #list(reasons) {
    return h('div', { class: 'reasons', tabindex: '-1' }, ...reasons.map((reason, number) => h('button', {
      type: 'button', class: 'btn', 'data-testid': 'reason', 'aria-keyshortcuts': String(number + 1),
      onclick: () => this.#decided(reason), onmousedown: keepFocus,
    }, keycap(String(number + 1)), h('span', {}, reason))));
  }

  #own() {
    const reason = this.field?.value.trim() ?? '';
    if (reason || !this.needed) this.#decided(reason);
    else if (this.problem) {
      this.problem.textContent = TEXT.reasonNeeded;
      this.field?.focus();
    }
  }

  /** @param {string} reason */
  #decided(reason) {
    const { decide } = this;
    this.close();
    decide?.(reason);
  }

  /** @param {string} title @param {HTMLElement[]} content @param {...HTMLElement} actions */
  #show(title, content, ...actions) {
    this.element.setAttribute('role', 'dialog');
    this.element.setAttribute('aria-label', title);
    this.element.replaceChildren(h('h2', { dir: 'auto' }, title), ...content, h('div', { class: 'dock-actions' }, ...actions));
    this.element.hidden = false;
  }
}

/**
 * What Enter does in a field of several lines: it submits, and Shift + Enter breaks the line.
 *
 * @param {() => void} submit
 * @returns {(event: KeyboardEvent) => void}
 */
export function onEnter(submit) {
  return (event) => {
    if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  };
}
