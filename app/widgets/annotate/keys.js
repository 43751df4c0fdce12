/** Which key does what: the actions of the page, as the server lists them and as the annotator changed them. */

import { read, remove, write } from './storage.js';

/** @type {Record<string, string>} */
const SAME = { '=': '+', _: '-' }; // the same keys without or with Shift on common keyboards

export class Keys {
  /**
   * @param {Record<string, [string, string]>} actions action → its key and its name
   * @param {string} person whose changes of keys these are
   */
  constructor(actions, person) {
    this.actions = actions;
    this.place = `assay.keys.1/${person}`;
    this.changed = /** @type {Record<string, string>} */ (read(this.place) ?? {});
  }

  /** The key of an action. @param {string} action */
  of(action) {
    return this.changed[action] ?? this.actions[action]?.[0] ?? '';
  }

  /** What an action is called. @param {string} action */
  title(action) {
    return this.actions[action]?.[1] ?? action;
  }

  /** The action of a key, or null. @param {string} key */
  action(key) {
    const names = Object.keys(this.actions);
    return names.find((name) => this.of(name) === key) ?? names.find((name) => this.of(name) === SAME[key]) ?? null;
  }

  /**
   * Gives an action another key; names who has it already when it is taken.
   *
   * @param {string} action
   * @param {string} key
   * @param {{key: string, title: string}[]} labels the label keys of this protocol
   * @returns {string | null} who has the key
   */
  change(action, key, labels) {
    const holder = this.action(key);
    if (holder && holder !== action) return this.title(holder);
    const label = labels.find((one) => one.key === key);
    if (label) return label.title;
    this.changed = { ...this.changed, [action]: key };
    write(this.place, this.changed);
    return null;
  }

  /** Takes back every change. */
  reset() {
    this.changed = {};
    remove(this.place);
  }
}

/**
 * The keys that an event may mean, best first: the character itself, the letter that is there on a Latin keyboard,
 * and the letter in the other case. Empty when the event is not ours: with Ctrl, Meta or Alt, or while composing.
 *
 * @param {KeyboardEvent} event
 * @returns {string[]}
 */
export function meant(event) {
  // AltGr, which types [ ] { } on many keyboards, shows as Ctrl + Alt on some systems.
  const typesCharacter = event.getModifierState('AltGraph') && event.key.length === 1;
  if (event.isComposing || event.metaKey || ((event.ctrlKey || event.altKey) && !typesCharacter)) return [];
  const { key } = event;
  if (key.length !== 1) return [key];
  const meanings = [key];
  const latin = /^Key([A-Z])$/.exec(event.code);
  if (latin && !/[a-z]/i.test(key)) meanings.push(event.shiftKey ? latin[1] : latin[1].toLowerCase());
  return [...meanings, ...meanings.filter((one) => /[a-z]/i.test(one)).map(
    (one) => (one === one.toLowerCase() ? one.toUpperCase() : one.toLowerCase()),
  )];
}

/**
 * Whether an element takes what is typed.
 *
 * @param {EventTarget | undefined} target
 */
export function takesTyping(target) {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || target.matches('textarea, select')) return true;
  return target instanceof HTMLInputElement && !['button', 'checkbox', 'radio', 'range', 'submit'].includes(target.type);
}
