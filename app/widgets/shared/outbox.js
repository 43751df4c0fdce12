/** Submissions on their way: kept in this browser, sent in order, removed only when the server has acknowledged them. */

import { Refused, SignedOut, troubleOf, Unreachable } from './ask.js';
import { keys, read, remove, write } from './storage.js';

/**
 * @template {{uid: string}} [Body=Submission]
 * @typedef {{key: string, body: Body, title: string, refused: string | null}} Entry
 */
/** @typedef {'empty' | 'sending' | 'signed-out' | import('./ask.js').Trouble} OutboxState */
/**
 * @template {{uid: string}} [Body=Submission]
 * @template [Answer=Submitted]
 * @typedef {object} Listener
 * @property {() => void} changed something about the state or the number of entries
 * @property {(entry: Entry<Body>, answer: Answer) => void} acknowledged
 * @property {(entry: Entry<Body>) => void} refused
 */

const PREFIX = 'assay.outbox.1';
const FIRST_WAIT = 1000; // milliseconds; doubles with every failure
const LONGEST_WAIT = 30_000;

/** @type {Map<string, Outbox<any, any>>} */
const outboxes = new Map();

/**
 * @template {{uid: string}} [Body=Submission]
 * @template [Answer=Submitted]
 */
export class Outbox {
  /**
   * The one outbox of a person and study in this tab; it goes on sending after the page that filled it is left.
   *
   * @template {{uid: string}} Body
   * @template Answer
   * @param {string} person
   * @param {number | string} study
   * @param {{submit: (body: Body) => Promise<Answer>}} api
   * @returns {Outbox<Body, Answer>}
   */
  static of(person, study, api) {
    const prefix = `${PREFIX}/${person}/${study}/`;
    const outbox = outboxes.get(prefix) ?? new Outbox(prefix, api);
    outboxes.set(prefix, outbox);
    return outbox;
  }

  /** @param {string} prefix @param {{submit: (body: Body) => Promise<Answer>}} api */
  constructor(prefix, api) {
    this.prefix = prefix;
    this.api = api;
    /** @type {OutboxState} */
    this.state = 'empty';
    /** @type {Date | null} */
    this.savedAt = null;
    /** @type {Set<Listener<Body, Answer>>} */
    this.listeners = new Set();
    this.failures = 0;
    this.number = 0;
    this.timer = 0;
    this.notBefore = 0; // when the server wants to hear from us again, by performance.now()
    /** @type {Promise<void> | null} */
    this.sending = null;
    this.wake = () => {
      if (!document.hidden) void this.send();
    };
    // Another tab of this browser has sent what waited here, or keeps something in the same outbox.
    this.heard = (/** @type {StorageEvent} */ event) => {
      if (event.key !== null && !event.key.startsWith(this.prefix)) return;
      if (this.watching && !this.waiting) this.savedAt = new Date();
      this.#changed(this.waiting ? this.state : 'empty');
    };
    this.warn = (/** @type {BeforeUnloadEvent} */ event) => event.preventDefault();
    this.watching = false;
    window.addEventListener('storage', /** @type {EventListener} */ (this.heard));
    this.#watch();
  }

  /** All entries, oldest first. @returns {Entry<Body>[]} */
  get entries() {
    return keys(this.prefix).flatMap((key) => {
      const kept = /** @type {Omit<Entry<Body>, 'key'> | null} */ (read(key));
      return kept ? [{ ...kept, key }] : [];
    });
  }

  /** How many submissions the server has not answered yet. */
  get waiting() {
    return this.entries.filter((entry) => entry.refused === null).length;
  }

  /** What keeps entries from being sent, if something does. @returns {import('./ask.js').Trouble | null} */
  get trouble() {
    return this.waiting && (this.state === 'offline' || this.state === 'trouble') ? this.state : null;
  }

  /** The entries that the server refused, with its words. */
  get refused() {
    return this.entries.filter((entry) => entry.refused !== null);
  }

  /** @param {string} uid */
  has(uid) {
    return this.entries.some((entry) => entry.body.uid === uid);
  }

  /** Keeps a submission and begins to send. @param {Body} body @param {string} title */
  add(body, title) {
    this.number += 1;
    const key = `${this.prefix}${String(Date.now()).padStart(14, '0')}-${String(this.number).padStart(6, '0')}-${body.uid}`;
    write(key, { body, title, refused: null });
    this.#changed(this.trouble ?? 'sending');
    void this.send();
  }

  /** Forgets an entry, as its writer decided. @param {Entry<Body>} entry */
  discard(entry) {
    remove(entry.key);
    this.#changed(this.state);
  }

  /** @param {Listener<Body, Answer>} listener @returns {() => void} ends it */
  listen(listener) {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /**
   * Tries everything that waits, once; resolves when nothing is left or sending failed. While the server wants to be left
   * alone it is left alone, unless a person asks.
   *
   * @param {boolean} [asked] by a person
   */
  async send(asked = false) {
    clearTimeout(this.timer);
    const left = this.notBefore - performance.now();
    if (left > 0 && !asked && !this.sending) {
      this.timer = window.setTimeout(() => void this.send(), left);
      return;
    }
    this.sending ??= this.#sendAll().finally(() => {
      this.sending = null;
    });
    await this.sending;
  }

  async #sendAll() {
    for (;;) {
      const entry = this.entries.find((kept) => kept.refused === null);
      if (!entry) {
        this.failures = 0;
        this.#changed('empty');
        return;
      }
      if (!this.trouble) this.#changed('sending');
      try {
        const answer = await this.api.submit(entry.body);
        remove(entry.key);
        this.failures = 0;
        this.savedAt = new Date();
        this.#changed(this.waiting ? 'sending' : 'empty');
        for (const listener of [...this.listeners]) listener.acknowledged(entry, answer);
      } catch (error) {
        if (error instanceof Refused) {
          write(entry.key, { body: entry.body, title: entry.title, refused: error.message });
          this.#changed(this.waiting ? 'sending' : 'empty');
          for (const listener of [...this.listeners]) listener.refused({ ...entry, refused: error.message });
        } else {
          this.failures += 1;
          this.#later(error);
          this.#changed(error instanceof SignedOut ? 'signed-out' : troubleOf(error));
          return;
        }
      }
    }
  }

  /** Sends again after as long as the server says, else after longer with every failure. @param {unknown} error */
  #later(error) {
    const asked = error instanceof Unreachable ? error.seconds * 1000 : 0;
    // Not all browsers at once: from the moment asked for to a quarter later, or around that of our own.
    const wait = asked
      ? asked * (1 + Math.random() / 4)
      : Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (this.failures - 1)) * (0.75 + Math.random() / 2);
    this.notBefore = asked ? performance.now() + wait : 0;
    this.timer = window.setTimeout(() => void this.send(), wait);
  }

  /** @param {OutboxState} state */
  #changed(state) {
    this.state = state;
    this.#watch();
    for (const listener of [...this.listeners]) listener.changed();
  }

  /** Listens to the window exactly as long as something waits. */
  #watch() {
    const needed = this.waiting > 0;
    if (needed === this.watching) return;
    this.watching = needed;
    const change = needed ? 'addEventListener' : 'removeEventListener';
    window[change]('online', this.wake);
    window[change]('focus', this.wake);
    document[change]('visibilitychange', this.wake);
    window[change]('beforeunload', /** @type {EventListener} */ (this.warn));
  }
}

Object.defineProperty(window, 'assayOutbox', {
  configurable: true,
  value: {
    get waiting() {
      return [...outboxes.values()].reduce((sum, outbox) => sum + outbox.waiting, 0);
    },
    get refused() {
      return [...outboxes.values()].reduce((sum, outbox) => sum + outbox.refused.length, 0);
    },
  },
});

/** A fresh id; `crypto.randomUUID` exists only in secure contexts. */
export function freshId() {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
