/** What the server finds out about an item's pages after the item is on the screen: phrases, and places of passages. */

import { ask } from '../shared/ask.js';

/** @typedef {'phrases' | 'passages'} What */

const AFTER = 120; // milliseconds after an item was shown until anything is asked
const AGAIN = 1000; // milliseconds until an answer that was not complete is asked for again
const TIMES = 60; // how often at most
const KEPT = 40; // answers

/** Runs something when the browser has nothing better to do. @param {() => void} task */
function idle(task) {
  if ('requestIdleCallback' in window) window.requestIdleCallback(task, { timeout: 1500 });
  else setTimeout(task, 200);
}

export class Lookups {
  /** @param {string} base such as /api/studies/3 */
  constructor(base) {
    this.base = base;
    /** Complete answers. @type {Map<string, FoundOnPages | LocatedPassages>} */
    this.kept = new Map();
    this.token = {};
  }

  /**
   * Finds out about the item on the screen; each answer is handed over when it comes, again when it is more complete.
   *
   * @param {Presentation} item
   * @param {(phrases: FoundOnPages | null) => void} phrases null: they cannot be had
   * @param {(passages: LocatedPassages) => void} passages
   */
  follow(item, phrases, passages) {
    const token = {};
    this.token = token;
    const live = () => this.token === token;
    setTimeout(() => idle(() => {
      if (!live()) return;
      if (worthwhile(item, 'passages')) void this.#ask(item, 'passages', live, (found) => found && passages(/** @type {LocatedPassages} */ (found)));
      if (worthwhile(item, 'phrases')) void this.#ask(item, 'phrases', live, (found) => phrases(/** @type {FoundOnPages | null} */ (found)));
    }), AFTER);
  }

  /** Finds out about items that come next, one after the other. @param {Presentation[]} items */
  ahead(items) {
    const { token } = this;
    idle(async () => {
      for (const item of items) {
        for (const what of /** @type {What[]} */ (['passages', 'phrases'])) {
          if (this.token !== token) return;
          if (worthwhile(item, what)) await this.#ask(item, what, () => false, () => undefined);
        }
      }
    });
  }

  /** Nobody waits for an answer any more. */
  stop() {
    this.token = {};
  }

  /**
   * @param {Presentation} item
   * @param {What} what
   * @param {() => boolean} live whether somebody still waits for it
   * @param {(found: FoundOnPages | LocatedPassages | null) => void} show
   */
  async #ask(item, what, live, show) {
    const key = `${what}/${item.assignment}/${item.sitting}/${item.step}`;
    const known = this.kept.get(key);
    if (known) {
      show(known);
      return;
    }
    for (let time = 0; time < TIMES; time += 1) {
      let found;
      try {
        found = /** @type {FoundOnPages | LocatedPassages} */ (await ask(`${this.base}/${what}?assignment=${item.assignment}`));
      } catch {
        if (live()) show(null); // the item can be judged without it
        return;
      }
      if (found.complete !== false) this.#keep(key, found);
      if (live()) show(found);
      if (found.complete !== false || !live()) return;
      await new Promise((later) => setTimeout(later, AGAIN));
      if (!live()) return;
    }
  }

  /** @param {string} key @param {FoundOnPages | LocatedPassages} found */
  #keep(key, found) {
    this.kept.set(key, found);
    for (const old of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(old);
    }
  }
}

/** In place of lookups where the item brings with it what is found on its pages: there is no server to ask. */
export class Brought {
  /**
   * @param {Presentation} item
   * @param {(phrases: FoundOnPages | null) => void} phrases
   * @param {(passages: LocatedPassages) => void} passages
   */
  follow({ marks }, phrases, passages) {
    if (marks?.passages) passages(marks.passages);
    if (marks?.phrases) phrases(marks.phrases);
  }

  ahead() {
    // All of it is there.
  }

  stop() {
    // Nothing is asked.
  }
}

/** Whether a question to the server can have an answer. @param {Presentation} item @param {What} what */
function worthwhile(item, what) {
  if (!item.documents?.some((doc) => doc.supplied)) return false;
  if (what === 'phrases') return item.answer !== undefined || !!item.references?.length;
  return !!item.evidence?.some((unit) => unit.text && !unit.box && unit.document !== null);
}
