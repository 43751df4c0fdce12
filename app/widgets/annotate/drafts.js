/** Half-filled answers: mirrored in this browser at once, sent to the server a moment later. */

import { pauseAfter, Refused, SignedOut, troubleOf } from '../shared/ask.js';
import { keys, read, remove, write } from '../shared/storage.js';

/** @typedef {{content: Content, seconds: number}} Draft */
/** @typedef {'saved' | 'signed-out' | 'outdated' | 'over' | import('../shared/ask.js').Trouble} DraftState */

const PREFIX = 'assay.draft.1';
const DELAY = 800; // milliseconds without a change until a draft is sent
const RETRY = 5000;
const KEPT = 30 * 24 * 3600_000; // milliseconds a mirror is kept

export class Drafts {
  /**
   * @param {string} person
   * @param {number} study
   * @param {import('./api.js').Api} api
   * @param {(state: DraftState) => void} onstate 'outdated': the server has a newer draft, from elsewhere; 'over': what could
   *   not be saved waits no more
   */
  constructor(person, study, api, onstate) {
    this.prefix = `${PREFIX}/${person}/${study}/`;
    this.api = api;
    this.onstate = onstate;
    this.timer = 0;
    this.notBefore = 0; // when the server wants to hear from us again, by performance.now()
    /** @type {{item: Presentation, draft: Draft} | null} */
    this.unsent = null;
    /** @type {AbortController | null} */
    this.request = null;
    /** Why the last draft that was sent is not saved. @type {import('../shared/ask.js').Trouble | null} */
    this.why = null;
    /** How often each draft has changed, at whatever computer: clocks of computers differ. @type {Map<string, number>} */
    this.revisions = new Map();
    for (const key of keys(PREFIX)) {
      const draft = /** @type {Draft | null} */ (read(key));
      if (!draft || Date.now() - (draft.content.at ?? 0) > KEPT) remove(key);
    }
  }

  /** What keeps a draft from being saved, as long as one waits. @returns {import('../shared/ask.js').Trouble | null} */
  get trouble() {
    return this.unsent || this.request ? this.why : null;
  }

  /** Keeps a change. @param {Presentation} item @param {Content} content @param {number} seconds */
  keep(item, content, seconds) {
    const key = this.#key(item);
    const revision = (this.revisions.get(key) ?? 0) + 1;
    this.revisions.set(key, revision);
    const draft = { content: { ...content, at: Date.now(), revision }, seconds };
    write(key, draft);
    if (item.questions) return; // what is answered around the items leaves this browser when it is sent, and not before
    this.unsent = { item, draft };
    this.#later(DELAY);
  }

  /** Keeps the time that was spent, which is no change: a newer draft from another computer stays the newest. @param {Presentation} item @param {number} seconds */
  spent(item, seconds) {
    const mirror = /** @type {Draft | null} */ (read(this.#key(item)));
    if (mirror) write(this.#key(item), { ...mirror, seconds });
    if (this.unsent?.item === item) this.unsent.draft.seconds = seconds;
  }

  /** Sends what is not sent yet, now. */
  async flush() {
    clearTimeout(this.timer);
    const unsent = this.unsent;
    if (!unsent) return;
    this.unsent = null;
    const request = new AbortController();
    this.request = request;
    const { item, draft } = unsent;
    try {
      const { content, seconds } = draft;
      const { assignment, sitting, step } = item;
      await this.api.draft({ assignment, sitting, step, content, seconds }, request.signal);
      this.#ended(request, null);
      this.onstate('saved');
    } catch (error) {
      if (request.signal.aborted) return;
      this.#ended(request, error instanceof Refused || error instanceof SignedOut ? null : troubleOf(error));
      // A refused draft is not sent again: its item was submitted or taken back, and the mirror still has it.
      if (error instanceof Refused) {
        this.onstate(error.status === 409 ? 'outdated' : 'over');
        return;
      }
      const newest = this.revisions.get(this.#key(item)) === draft.content.revision;
      if (newest) this.unsent ??= unsent; // else a later one of it is sent, or waits
      this.notBefore = performance.now() + pauseAfter(error, 0);
      this.#later(RETRY);
      this.onstate(error instanceof SignedOut ? 'signed-out' : troubleOf(error));
    }
  }

  /** Forgets the draft of a step that was submitted or skipped. @param {Presentation} item */
  drop(item) {
    remove(this.#key(item));
    if (this.unsent?.item.assignment === item.assignment) {
      this.unsent = null;
      clearTimeout(this.timer);
    }
    this.request?.abort();
    this.request = null;
    if (this.why && !this.unsent) {
      this.why = null;
      this.onstate('over');
    }
  }

  /** The newest draft of a step, from the server or from this browser; what is kept from now on is newer. @param {Presentation} item @returns {Draft | null} */
  restore(item) {
    const key = this.#key(item);
    const mirror = /** @type {Draft | null} */ (read(key));
    const newest = mirror && (!item.draft || revisionOf(mirror) >= revisionOf(item.draft)) ? mirror : item.draft;
    this.revisions.set(key, Math.max(revisionOf(mirror), revisionOf(item.draft)));
    return newest;
  }

  /** Whether the server has a draft that was changed after what is on the screen: at another computer. @param {Presentation} item */
  isNewer(item) {
    return revisionOf(item.draft) > (this.revisions.get(this.#key(item)) ?? 0);
  }

  /** A request has its answer: what that says of the last one that was sent. @param {AbortController} request @param {import('../shared/ask.js').Trouble | null} why */
  #ended(request, why) {
    if (this.request !== request) return; // a newer one is on its way, and says how it stands
    this.request = null;
    this.why = why;
  }

  /** @param {number} delay */
  #later(delay) {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.flush(), Math.max(delay, this.notBefore - performance.now()));
  }

  /** @param {Presentation} item */
  #key(item) {
    return `${this.prefix}${item.questions ?? item.assignment}/${item.sitting}/${item.step}`;
  }
}

/** @param {Draft | null} draft */
function revisionOf(draft) {
  return draft?.content.revision ?? 0;
}
