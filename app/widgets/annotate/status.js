/** Saved or not, how far, how long: what the top line says, from the outbox, the drafts and the server's count. */

export class Status {
  /**
   * @param {import('../frame/top_line.js').TopLine} topLine
   * @param {import('../shared/outbox.js').Outbox} outbox
   */
  constructor(topLine, outbox) {
    this.topLine = topLine;
    this.outbox = outbox;
    /** @type {Progress} */
    this.progress = { done: 0, of: 0, seconds_today: 0 };
    /** @type {Set<string>} submissions under way that will count as progress */
    this.counted = new Set();
    this.signedOut = false;
    /** What keeps the draft from being saved. @type {import('../shared/ask.js').Trouble | null} */
    this.draftTrouble = null;
    /** @type {Date | null} */
    this.draftAt = null;
  }

  /** Items submitted, those under way included. */
  get done() {
    return Math.min(this.progress.done + this.counted.size, Math.max(this.progress.of, this.progress.done));
  }

  /** @param {import('./drafts.js').DraftState} state */
  draft(state) {
    this.draftTrouble = state === 'offline' || state === 'trouble' ? state : null;
    if (state === 'saved') this.draftAt = new Date();
  }

  /** Draws the saved state. */
  show() {
    const { outbox, signedOut, draftTrouble: trouble, draftAt: kept } = this;
    this.topLine.saved({ outbox, signedOut, trouble, kept, saved: outbox.savedAt });
  }

  /** Draws how far and how long. @param {number} seconds on the item on the screen */
  count(seconds) {
    this.topLine.progress(this.done, this.progress.of, this.progress.seconds_today + seconds);
  }
}
