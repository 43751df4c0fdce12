/** Which key does what: the actions of a page and the labels of its protocol, with the changes a person made. */

import { TEXT } from './text.js';

/** @typedef {Record<string, Record<string, Record<string, string>>>} LabelKeys protocol → criterion → value → key */
/** @typedef {{key: string, title: string, of: string, criterion: string, value: string}} LabelKey one label of a criterion */

/** @type {Record<string, string>} */
const SAME = { '=': '+', _: '-' }; // the same keys without or with Shift on common keyboards
const NAMED = new Set(['Enter', 'Backspace', 'Delete', 'Insert', 'Home', 'End', 'F2', 'F4', 'F6', 'F7', 'F8', 'F9']);

export const FIXED = new Set(['close', 'previous_criterion', 'next_criterion', 'previous_label', 'next_label']);

export class Keys {
  /**
   * @param {Record<string, [string, string]>} actions action → its key and its name
   * @param {Protocol} protocol its labels get the person's keys
   * @param {import('./preferences.js').Preferences} preferences
   * @param {string} name of the preference that has the keys of these actions
   */
  constructor(actions, protocol, preferences, name) {
    this.actions = actions;
    this.protocol = protocol;
    this.preferences = preferences;
    this.name = name;
    /** The protocol's own key of every label. @type {Map<Label, string>} */
    this.given = new Map(protocol.criteria.flatMap((criterion) => (criterion.labels ?? []).map((label) => [label, label.key])));
    /** The changes that hold on this page. @type {Record<string, string>} */
    this.changed = {};
    this.settle();
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

  /** The labels of some criteria that have a key, as the sheet of keys lists them. @param {Criterion[]} criteria @returns {LabelKey[]} */
  labels(criteria) {
    return criteria.flatMap((criterion) => (criterion.labels ?? []).filter((label) => label.key).map(
      (label) => ({ key: label.key, title: label.title, of: criterion.title, criterion: criterion.name, value: String(label.value) }),
    ));
  }

  /**
   * Gives an action another key.
   *
   * @param {string} action
   * @param {string} key
   * @returns {string | null} why it cannot have it, in words
   */
  change(action, key) {
    const first = key === this.actions[action]?.[0];
    if (/^[0-9]$/.test(key) || !(shows(key) || NAMED.has(key) || first)) return TEXT.keysUnusable(key);
    const holder = this.action(key);
    if (holder && holder !== action) return TEXT.keysTaken(key, this.title(holder));
    const label = [...this.given.keys()].find((label) => label.key === key);
    if (label) return TEXT.keysTakenLabel(key, label.title);
    const own = this.#own();
    if (first) delete own[action];
    else own[action] = key;
    this.preferences.set(this.name, Object.keys(own).length ? own : null);
    this.settle();
    return null;
  }

  /**
   * Gives a label another key, in this protocol.
   *
   * @param {{criterion: string, value: string}} which
   * @param {string} key
   * @returns {string | null} why it cannot have it, in words
   */
  changeLabel({ criterion, value }, key) {
    if (!shows(key)) return TEXT.keysUnusableLabel(key);
    const holder = this.action(key);
    if (holder) return TEXT.keysTaken(key, this.title(holder));
    const labels = this.protocol.criteria.find((asked) => asked.name === criterion)?.labels ?? [];
    const other = labels.find((label) => label.key === key && String(label.value) !== value);
    if (other) return TEXT.keysTakenLabel(key, other.title);
    const all = this.#ownLabels();
    const mine = (all[this.protocol.name] ??= {});
    mine[criterion] = Object.fromEntries(labels.map((label) => [String(label.value), String(label.value) === value ? key : label.key]));
    this.preferences.set('label_keys', all);
    this.settle();
    return null;
  }

  /** Takes back every change that concerns this page. */
  reset() {
    const all = this.#ownLabels();
    delete all[this.protocol.name];
    this.preferences.set(this.name, null);
    this.preferences.set('label_keys', Object.keys(all).length ? all : null);
    this.settle();
  }

  /**
   * Puts the person's keys in force as far as they go together here: a change that was made for another protocol gives
   * way to this one's own keys.
   */
  settle() {
    const actions = Object.fromEntries(Object.entries(this.#own()).filter(([action]) => action in this.actions && !FIXED.has(action)));
    const labels = { ...this.#ownLabels()[this.protocol.name] };
    const keyOf = (/** @type {string} */ action) => actions[action] ?? this.actions[action][0];
    for (;;) {
      for (const criterion of this.protocol.criteria) {
        for (const label of criterion.labels ?? []) label.key = labels[criterion.name]?.[String(label.value)] ?? this.given.get(label) ?? '';
      }
      const taken = new Set([...this.given.keys()].map((label) => label.key));
      const names = Object.keys(this.actions);
      const action = Object.keys(actions).find((action) => taken.has(actions[action]) || names.some((other) => other !== action && keyOf(other) === actions[action]));
      const used = new Set(names.map(keyOf));
      const criterion = this.protocol.criteria.find(({ name, labels: own = [] }) => name in labels &&
        (own.some((label) => used.has(label.key)) || new Set(own.map((label) => label.key)).size < own.length))?.name;
      if (action) delete actions[action];
      else if (criterion) delete labels[criterion];
      else break;
    }
    this.changed = actions;
  }

  /** @returns {Record<string, string>} */
  #own() {
    return { .../** @type {Record<string, string> | null} */ (this.preferences.get(this.name)) };
  }

  /** @returns {LabelKeys} */
  #ownLabels() {
    return structuredClone(/** @type {LabelKeys | null} */ (this.preferences.get('label_keys')) ?? {});
  }
}

/** Whether a key types one character that shows. @param {string} key */
function shows(key) {
  return [...key].length === 1 && key.trim() !== '';
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
  if (key === ' ') return [event.shiftKey ? 'Shift+Space' : 'Space'];
  if (key.length !== 1) return event.shiftKey && key.startsWith('Arrow') ? [`Shift+${key}`, key] : [key];
  const meanings = [key];
  const latin = /^Key([A-Z])$/.exec(event.code);
  if (latin && !/[a-z]/i.test(key)) meanings.push(event.shiftKey ? latin[1] : latin[1].toLowerCase());
  return [...meanings, ...meanings.filter((meaning) => /[a-z]/i.test(meaning)).map(
    (meaning) => (meaning === meaning.toLowerCase() ? meaning.toUpperCase() : meaning.toLowerCase()),
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
