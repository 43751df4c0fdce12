/** Which item is on the screen, which come next, which was left to correct an earlier one. No DOM, no requests. */

const REMEMBERED = 50; // items that can be shown again if the server refuses their labels

export class Queue {
  constructor() {
    /** The item on the screen. @type {Presentation | null} */
    this.item = null;
    /** @type {Presentation[]} */
    this.ahead = [];
    /** What was left to correct an earlier item. @type {Presentation | null} */
    this.interrupted = null;
    /** Whether the item on the screen was submitted before. */
    this.correcting = false;
    /** Assignments submitted here, the last one last. @type {number[]} */
    this.history = [];
    /** @type {Map<number, Presentation>} */
    this.seen = new Map();
  }

  /**
   * Takes over what the server has for us; what is on the screen or under way is not ahead. Of what we said that we
   * have it sends only stubs.
   *
   * @param {Presentation[]} items
   * @param {number[]} underWay assignments whose submission is not acknowledged
   */
  refill(items, underWay) {
    const away = new Set(underWay);
    if (this.item) away.add(this.item.assignment);
    const known = new Map([this.interrupted, ...this.ahead].flatMap((item) => (item ? [[item.assignment, item]] : [])));
    this.ahead = items.filter((item) => !away.has(item.assignment)).flatMap((item) => (item.kept ? known.get(item.assignment) ?? [] : item));
  }

  /** The assignments whose items need not be sent again. */
  get have() {
    return [this.item, this.interrupted, ...this.ahead].flatMap((item) => (item ? [item.assignment] : []));
  }

  /** The item to show after the one that was just left, or null. @returns {Presentation | null} */
  take() {
    this.item = null;
    this.correcting = false;
    const next = this.interrupted ?? this.ahead[0] ?? null;
    this.interrupted = null;
    if (next) this.put(next);
    return next;
  }

  /** Makes an item the one on the screen. @param {Presentation} item */
  put(item) {
    this.item = item;
    this.ahead = this.ahead.filter((waiting) => waiting.assignment !== item.assignment);
    this.seen.delete(item.assignment);
    this.seen.set(item.assignment, item);
    for (const old of this.seen.keys()) {
      if (this.seen.size <= REMEMBERED) break;
      this.seen.delete(old);
    }
  }

  /** Leaves the item on the screen for another one; it comes back afterwards. @param {Presentation} other @param {boolean} correcting */
  interrupt(other, correcting) {
    if (this.item && this.item.assignment !== other.assignment && !this.correcting) this.interrupted = this.item;
    this.correcting = correcting;
    this.put(other);
  }

  /** The item on the screen was submitted for good. */
  submitted() {
    const assignment = this.item?.assignment;
    if (assignment !== undefined) this.history = [...this.history.filter((before) => before !== assignment), assignment];
    this.item = null;
  }

  /** The study gives nothing now: what was only looked ahead at is dropped, with the item on the screen. */
  halt() {
    this.item = null;
    this.interrupted = null;
    this.ahead = [];
  }

  /**
   * The assignment to open again when the annotator goes back: the last one, then the one before it.
   *
   * @param {number | null} last what the server knows as submitted last, from earlier visits
   */
  before(last) {
    if (!this.correcting || !this.item) return this.history.at(-1) ?? last;
    return this.history[this.history.indexOf(this.item.assignment) - 1] ?? null;
  }

  /** A step of an item that is at hand or was. @param {number} assignment @param {number} step */
  find(assignment, step) {
    return [this.item, ...this.ahead, this.seen.get(assignment)].find((item) => item?.assignment === assignment && item.step === step) ?? null;
  }
}
