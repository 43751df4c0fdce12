/** Saved or not, and how many disputes are settled: what the top line says. */

export class Status {
  /**
   * @param {import('../frame/top_line.js').TopLine} topLine
   * @param {{waiting: number, refused: unknown[], trouble: import('../shared/ask.js').Trouble | null, savedAt: Date | null}} outbox
   */
  constructor(topLine, outbox) {
    this.topLine = topLine;
    this.outbox = outbox;
    /** How many items the server has settled, and how many wait. */
    this.settled = 0;
    this.disputed = 0;
    /** @type {Set<string>} decisions under way that will count as settled */
    this.counted = new Set();
    this.signedOut = false;
    /** Why the last thing that was asked for did not come. @type {import('../shared/ask.js').Trouble | null} */
    this.trouble = null;
    /** When a half decision was kept in this browser. @type {Date | null} */
    this.keptAt = null;
    /** When something besides a decision was saved. @type {Date | null} */
    this.savedAt = null;
  }

  /** Disputes settled, those under way included. */
  get done() {
    return Math.min(this.settled + this.counted.size, this.of);
  }

  get of() {
    return this.settled + this.disputed;
  }

  /** Takes over the server's counts. @param {Disputes['counts']} counts */
  count(counts) {
    this.settled = counts.adjudicated;
    this.disputed = counts.disputed;
    this.show();
  }

  /** The server acknowledged a decision. @param {string} uid @param {boolean} first it was disputed before */
  acknowledged(uid, first) {
    this.counted.delete(uid);
    if (first) {
      this.settled += 1;
      this.disputed -= 1;
    }
    this.show();
  }

  /** Draws it. */
  show() {
    const { outbox, signedOut, trouble, keptAt: kept } = this;
    const saved = [outbox.savedAt, this.savedAt].reduce((latest, other) => (other && (!latest || other > latest) ? other : latest));
    this.topLine.saved({ outbox, signedOut, trouble, kept, saved });
    this.topLine.progress(this.done, this.of);
  }
}
