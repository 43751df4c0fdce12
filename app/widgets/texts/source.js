/** The characters of one paragraph, heading or cell, and where each of them stands in the raw text. */

/** @typedef {import('./tree.js').Range} Range */

/** More markup in one text than a person wrote: it is shown as it is. */
export class TooMuch extends Error {}

const MOST_NODES = 20_000; // of a text, in all its paragraphs and cells
const MOST_SPANNED = 10_000; // places in its tables, with those that cells reach over

/** What a whole text comes to. A limit of each part is none of what they come to together. */
export class Effort {
  nodes = 0;
  spanned = 0;

  /** One more piece of text, emphasis, link or formula. */
  node() {
    this.nodes += 1;
    if (this.nodes > MOST_NODES) throw new TooMuch();
  }

  /** One more cell. @param {number} places of the table that it reaches over */
  cell(places) {
    this.spanned += places;
    if (this.spanned > MOST_SPANNED) throw new TooMuch();
  }
}

export class Source {
  /** @param {string} raw the whole text @param {Range[]} ranges what of it is read here, in order @param {Effort} effort that of the whole text */
  constructor(raw, ranges, effort) {
    this.effort = effort;
    /** @type {Range[]} */
    const joined = [];
    for (const [start, end] of ranges) {
      const last = joined[joined.length - 1];
      if (last && last[1] === start) last[1] = end;
      else if (end > start) joined.push([start, end]);
    }
    this.ranges = joined;
    this.text = joined.map(([start, end]) => raw.slice(start, end)).join('');
    /** Where each range begins in `text`. @type {number[]} */
    this.begins = [];
    let at = 0;
    for (const [start, end] of joined) {
      this.begins.push(at);
      at += end - start;
    }
  }

  /** The place in the raw text of the character at `at`. @param {number} at */
  place(at) {
    const number = this.#number(at);
    return this.ranges[number][0] + at - this.begins[number];
  }

  /** From the first to behind the last of some characters, with the markup between them. @param {number} from @param {number} to @returns {Range} */
  span(from, to) {
    const start = this.place(from);
    return [start, to > from ? this.place(to - 1) + 1 : start];
  }

  /** The same in pieces that are contiguous in the raw text. @param {number} from @param {number} to @returns {Range[]} */
  pieces(from, to) {
    /** @type {Range[]} */
    const found = [];
    for (let number = this.#number(from), at = from; at < to; number += 1) {
      const [start, end] = this.ranges[number];
      const first = start + at - this.begins[number];
      const last = Math.min(end, first + to - at);
      found.push([first, last]);
      at += last - first;
    }
    return found;
  }

  /** @param {number} at */
  #number(at) {
    const { begins } = this;
    let [low, high] = [0, begins.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (begins[middle] <= at) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
