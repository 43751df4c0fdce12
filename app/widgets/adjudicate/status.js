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
    this.signedOut = false;
    /** Why the last thing that was asked for did not come. @type {import('../shared/ask.js').Trouble | null} */
    this.trouble = null;
    /** When a half decision was kept in this browser. @type {Date | null} */
    this.keptAt = null;
    /** When something besides a decision was saved. @type {Date | null} */
    this.savedAt = null;
  }

  /** Disputes that the server has settled; what is on its way is none of them. */
  get done() {
    return this.settled;
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

  /** The server acknowledged a decision. @param {boolean} first the item was disputed before */
  acknowledged(first) {
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
    this.topLine.progress(this.done, this.of, { waits: outbox.waiting });
  }
}
