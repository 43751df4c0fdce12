/** Saved or not, how far, how long: what the top line says, from the outbox, the drafts and the server's count. */

export class Status {
  /**
   * @param {import('../frame/top_line.js').TopLine} topLine
   * @param {import('../shared/outbox.js').Outbox} outbox
   * @param {import('./drafts.js').Drafts} drafts
   */
  constructor(topLine, outbox, drafts) {
    this.topLine = topLine;
    this.outbox = outbox;
    this.drafts = drafts;
    /** @type {Progress} */
    this.progress = { done: 0, of: 0, seconds_today: 0 };
    this.signedOut = false;
    /** @type {Date | null} */
    this.draftAt = null;
  }

  /** Items that the server has stored; what is on its way is none of them. */
  get done() {
    return this.progress.done;
  }

  /** @param {import('./drafts.js').DraftState} state */
  draft(state) {
    if (state === 'saved') this.draftAt = new Date();
  }

  /** Draws the saved state. */
  show() {
    const { outbox, signedOut, draftAt: kept, drafts: { trouble } } = this;
    this.topLine.saved({ outbox, signedOut, trouble, kept, saved: outbox.savedAt });
  }

  /** Draws how far and how long. @param {number} seconds on the item on the screen */
  count(seconds) {
    this.topLine.progress(this.done, this.progress.of, { waits: this.outbox.waiting, seconds: this.progress.seconds_today + seconds });
  }
}
