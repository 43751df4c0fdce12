/** What is written of one item and differs from it, kept in this browser until it is saved. No DOM, no requests. */

import { keys, read, remove, write } from '../shared/storage.js';

/** @typedef {string | Record<string, unknown>[]} Value */
/** @typedef {Record<string, Value>} Written texts and parts of an item, by their names */
/** @typedef {{version: number, values: Written, reason: string, at: number, drafts?: Record<string, number>}} Kept */

const PREFIX = 'assay.revision.1';
const KEPT = 90 * 24 * 3600_000; // milliseconds an unsaved edit is kept

export class Edits {
  /** @param {ItemToRevise} item @param {Kept | null} kept what was written so far */
  constructor(item, kept) {
    this.item = item;
    /** What differs from the item. @type {Map<string, Value>} */
    this.values = new Map();
    this.reason = kept?.reason ?? '';
    /** The job that drafted what was taken into a field. @type {Map<string, number>} */
    this.drafts = new Map(Object.entries(kept?.drafts ?? {}));
    for (const [name, value] of Object.entries(kept?.values ?? {})) this.set(name, value);
    /** The version that was revised meanwhile, if what is kept began from another one. */
    this.begunFrom = kept && this.touched && kept.version !== item.version ? kept.version : null;
  }

  /** Whether anything is written that is not saved. */
  get touched() {
    return this.values.size > 0 || this.reason !== '';
  }

  /** @param {string} name @returns {Value} */
  of(name) {
    return this.values.get(name) ?? this.item.written[name];
  }

  /** @param {string} name @returns {string} */
  text(name) {
    return /** @type {string} */ (this.of(name));
  }

  /** The parts of an item under a name, for reading. @param {string} name @returns {Record<string, unknown>[]} */
  parts(name) {
    return /** @type {Record<string, unknown>[]} */ (this.of(name));
  }

  /** The parts as the item has them. @param {string} name @returns {Record<string, unknown>[]} */
  before(name) {
    return /** @type {Record<string, unknown>[]} */ (this.item.written[name]);
  }

  /** @param {string} name @param {Value} value */
  set(name, value) {
    if (!(name in this.item.written)) return;
    if (same(value, this.item.written[name])) this.values.delete(name);
    else this.values.set(name, value);
  }

  /** Changes one part, or takes it out and puts it back (null). @param {string} name @param {string} key @param {Record<string, unknown> | null} change */
  setPart(name, key, change) {
    const before = this.before(name);
    const now = this.parts(name);
    const place = (/** @type {Record<string, unknown>} */ { key: other }) => {
      const at = before.findIndex((part) => part.key === other);
      return at < 0 ? before.length : at;
    };
    let parts;
    if (change) parts = now.map((part) => (part.key === key ? without({ ...part, ...change }) : part));
    else if (now.some((part) => part.key === key)) parts = now.filter((part) => part.key !== key);
    else parts = [...now, ...before.filter((part) => part.key === key)].sort((one, other) => place(one) - place(other));
    this.set(name, parts);
  }

  /** Adds a page as evidence; its key. @param {string} document @param {number} page @returns {string} */
  addPage(document, page) {
    const used = new Set([...this.parts('evidence'), ...this.before('evidence')].map(({ key }) => key));
    let number = 1;
    while (used.has(`e${number}`)) number += 1;
    const key = `e${number}`;
    this.set('evidence', [...this.parts('evidence'), { key, kind: 'page', role: 'gold', document, pages: [page] }]);
    return key;
  }

  /** What is sent. @returns {Written} */
  written() {
    return Object.fromEntries(this.values);
  }

  /** Which of what is sent was drafted, and by which job. @returns {Record<string, number>} */
  drafted() {
    return Object.fromEntries([...this.drafts].filter(([name]) => this.values.has(name)));
  }

  /** The item is in another version: what is written stands over that. @param {ItemToRevise} item */
  rebase(item) {
    const from = this.item.version;
    const values = this.written();
    this.item = item;
    this.values.clear();
    for (const [name, value] of Object.entries(values)) this.set(name, value);
    this.begunFrom = item.version === from ? this.begunFrom : from;
  }
}

/** @param {Record<string, unknown>} part @returns {Record<string, unknown>} without what is empty */
function without(part) {
  return Object.fromEntries(Object.entries(part).filter(([, value]) => value !== null && value !== ''));
}

/** @param {unknown} one @param {unknown} other whose names may stand in another order @returns {boolean} */
function same(one, other) {
  return JSON.stringify(sorted(one)) === JSON.stringify(sorted(other));
}

/** @param {unknown} value @returns {unknown} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, sorted(inner)]));
}

/** Unsaved edits, item by item. */
export class KeptEdits {
  /** @param {string} person */
  constructor(person) {
    this.prefix = `${PREFIX}/${person}/`;
    for (const key of keys(PREFIX)) {
      const kept = /** @type {Kept | null} */ (read(key));
      if (Date.now() - (kept?.at ?? 0) > KEPT) remove(key);
    }
  }

  /** @param {Edits} edits */
  keep(edits) {
    const { item, reason } = edits;
    if (!edits.touched) this.drop(item.item_id);
    else write(`${this.prefix}${item.item_id}`, { version: edits.begunFrom ?? item.version, values: edits.written(), reason, at: Date.now(), drafts: edits.drafted() });
  }

  /** @param {number} item @returns {Kept | null} */
  of(item) {
    return /** @type {Kept | null} */ (read(`${this.prefix}${item}`));
  }

  /** @param {number} item */
  drop(item) {
    remove(`${this.prefix}${item}`);
  }
}

/** Which items wait, in which order, and which were done here. */
export class Queue {
  constructor() {
    /** @type {number[]} */
    this.ahead = [];
    /** Items that were put off, in this order. @type {number[]} */
    this.later = [];
    /** Items that were revised or ended at this visit, the last one last. @type {number[]} */
    this.done = [];
    /** @type {number | null} */
    this.current = null;
  }

  get length() {
    return this.ahead.length + this.later.length;
  }

  /** @param {number[]} items as the server has them */
  refill(items) {
    const left = items.filter((item) => item !== this.current);
    this.later = this.later.filter((item) => left.includes(item));
    this.ahead = left.filter((item) => !this.later.includes(item));
  }

  /** The item to show next, or null. */
  take() {
    this.current = this.ahead.shift() ?? this.later.shift() ?? null;
    return this.current;
  }

  /** @returns {number | null} the item after this one */
  next() {
    return this.ahead[0] ?? this.later[0] ?? null;
  }

  /** Puts the item on the screen off to the end; false when there is no other. */
  putOff() {
    if (this.current === null || !this.length) return false;
    this.later.push(this.current);
    this.current = null;
    return true;
  }

  /** The item on the screen is done. */
  finish() {
    if (this.current !== null) this.done = [...this.done.filter((item) => item !== this.current), this.current];
    this.current = null;
  }

  /** Goes back to what was done before; what is on the screen comes next. @returns {number | null} */
  back() {
    const at = this.current === null ? -1 : this.done.indexOf(this.current);
    const before = (at < 0 ? this.done.at(-1) : this.done[at - 1]) ?? null;
    if (before === null) return null;
    if (this.current !== null && !this.done.includes(this.current)) this.ahead.unshift(this.current);
    this.current = before;
    return before;
  }
}
