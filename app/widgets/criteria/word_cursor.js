/** What is pointed at in a text, in whole words: one of them, or several from where one began to where one has come. */

/** @typedef {[number, number]} Range */

export class WordCursor {
  constructor() {
    /** @type {Range[]} */
    this.words = [];
    /** @type {Range[]} */
    this.sentences = [];
    /** The numbers of the words where it began and where it is. @type {[number, number] | null} */
    this.at = null;
  }

  /** The text, by its words and sentences; what is pointed at stays where it was. @param {Range[]} words @param {Range[]} sentences */
  read(words, sentences) {
    const { range } = this;
    this.words = words;
    this.sentences = sentences;
    this.at = null;
    if (range) this.select(...range);
  }

  /** From the begin of the first word to the end of the last. @returns {Range | null} */
  get range() {
    if (!this.at) return null;
    const [first, last] = [Math.min(...this.at), Math.max(...this.at)];
    return [this.words[first][0], this.words[last][1]];
  }

  /** Points at every word that a stretch of the text touches; false when it touches none. @param {number} start @param {number} end */
  select(start, end) {
    const touched = (/** @type {Range} */ word) => word[0] < end && word[1] > start;
    const first = this.words.findIndex(touched);
    if (first < 0) return false;
    this.at = [first, this.words.findLastIndex(touched)];
    return true;
  }

  /** Goes so many words on; with `more` what lies between is pointed at as well. @param {number} by @param {boolean} more */
  byWord(by, more) {
    if (!this.at) return this.#begin();
    this.#to(this.at[1] + by, more);
    return true;
  }

  /**
   * Goes to the first word of the next sentence, or of the one before; with `more` to the end of this sentence, then of
   * the next, or back to the begin of one. False at the end.
   *
   * @param {number} by 1 or -1
   * @param {boolean} more
   */
  bySentence(by, more) {
    if (!this.at) return by > 0 && this.#begin();
    const here = this.words[this.at[1]];
    const firsts = this.sentences.map(([start, end]) => this.#within(start, end)).filter((span) => span !== null);
    const now = firsts.findLastIndex(([first]) => this.words[first][0] <= here[0]);
    if (more) {
      const [first, last] = firsts[Math.max(0, now)];
      const edge = by > 0 ? last : first;
      const next = this.at[1] === edge ? firsts[now + by] : undefined;
      this.#to(next ? next[by > 0 ? 1 : 0] : edge, true);
      return true;
    }
    const next = firsts[now + by];
    if (!next) return false;
    this.#to(next[0], false);
    return true;
  }

  #begin() {
    if (!this.words.length) return false;
    this.at = [0, 0];
    return true;
  }

  /** @param {number} word @param {boolean} more */
  #to(word, more) {
    const place = Math.max(0, Math.min(this.words.length - 1, word));
    this.at = [more && this.at ? this.at[0] : place, place];
  }

  /** The numbers of the first and the last word of a stretch. @param {number} start @param {number} end @returns {[number, number] | null} */
  #within(start, end) {
    const inside = (/** @type {Range} */ word) => word[0] >= start && word[1] <= end;
    const first = this.words.findIndex(inside);
    return first < 0 ? null : [first, this.words.findLastIndex(inside)];
  }
}
