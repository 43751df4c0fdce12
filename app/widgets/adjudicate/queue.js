/** Which disputes are left, in which order, and which were settled here. No DOM, no requests. */

import { read, write } from '../shared/storage.js';

const REMEMBERED = 30; // settled items that can be opened again

export class Queue {
  /** @param {string} person @param {number} study */
  constructor(person, study) {
    this.place = `assay.adjudicated.1/${person}/${study}`;
    /** The item on the screen. @type {number | null} */
    this.current = null;
    /** Items that come next. @type {number[]} */
    this.ahead = [];
    /** Items that were put off, in this order. @type {number[]} */
    this.later = [];
    /** What was left to open a settled item again. @type {number | null} */
    this.interrupted = null;
    /** What was settled in this browser, the last one last. @type {Settlement[]} */
    this.settled = /** @type {Settlement[] | null} */ (read(this.place)) ?? [];
  }

  /** How many wait besides the item on the screen. */
  get length() {
    return this.ahead.length + this.later.length;
  }

  /**
   * Takes over what the server has.
   *
   * @param {number[]} items most disputed first
   * @param {number[]} underWay items whose decision is not acknowledged
   */
  refill(items, underWay) {
    const away = new Set([...underWay, this.current, this.interrupted]);
    const left = items.filter((item) => !away.has(item));
    this.later = this.later.filter((item) => left.includes(item));
    this.ahead = left.filter((item) => !this.later.includes(item));
  }

  /** The items to fetch ahead, the next one first. @param {number} n */
  next(n) {
    return [this.interrupted, ...this.ahead, ...this.later].filter((item) => item !== null).slice(0, n);
  }

  /** The item to show after the one that was just left, or null. */
  take() {
    this.current = this.interrupted ?? this.ahead.shift() ?? this.later.shift() ?? null;
    this.interrupted = null;
    return this.current;
  }

  /** Puts the item on the screen off to the end; false when there is no other. */
  putOff() {
    if (this.current === null || !this.length) return false;
    this.later.push(this.current);
    this.current = null;
    return true;
  }

  /** Leaves the item on the screen for another one; it comes back afterwards. @param {number} item */
  interrupt(item) {
    if (this.current !== null && this.current !== item && !this.settled.some((before) => before.study_item === this.current)) {
      this.interrupted = this.current;
    }
    this.current = item;
    this.ahead = this.ahead.filter((waiting) => waiting !== item);
    this.later = this.later.filter((waiting) => waiting !== item);
  }

  /** The item on the screen was settled. @param {Settlement} settlement */
  done(settlement) {
    this.current = null;
    this.settled = [...this.settled.filter((before) => before.study_item !== settlement.study_item), settlement].slice(-REMEMBERED);
    write(this.place, this.settled);
  }

  /** What was settled did not count, or is open again. @param {number} item */
  undone(item) {
    this.settled = this.settled.filter((before) => before.study_item !== item);
    write(this.place, this.settled);
  }

  /** What to open when the adjudicator goes back: the last one, then the one before it. @returns {Settlement | null} */
  before() {
    const at = this.settled.findIndex((before) => before.study_item === this.current);
    return (at < 0 ? this.settled.at(-1) : this.settled[at - 1]) ?? null;
  }
}
