/** Settings of the person's own: kept on the server, and in this browser until the server has them. */

import { ask, Refused } from './ask.js';
import { read, remove, write } from './storage.js';

/** @typedef {Record<string, unknown>} Values */

const PREFIX = 'assay.preferences.1';

export class Preferences {
  /** @param {string} person @param {Values | undefined} values as the server had them when the page was opened */
  constructor(person, values) {
    this.url = `/api/people/${person}/preferences`;
    this.place = `${PREFIX}/${person}`;
    /** @type {Values} */
    this.known = { ...values };
    /** What the server does not have yet; null goes back to the program's own. @type {Values} */
    this.unsent = /** @type {Values | null} */ (read(this.place)) ?? {};
    /** Called with the server's words when it does not take a setting, after that was taken back. @type {(words: string) => void} */
    this.onrefused = () => undefined;
    /** @type {Promise<void> | null} */
    this.sending = null;
  }

  /** @param {string} name @returns {unknown} null where nothing was set */
  get(name) {
    return (name in this.unsent ? this.unsent[name] : this.known[name]) ?? null;
  }

  /** Sets it here at once, and on the server as soon as it can be reached. @param {string} name @param {unknown} value */
  set(name, value) {
    this.unsent = { ...this.unsent, [name]: value };
    write(this.place, this.unsent);
    void this.send();
  }

  /** Sends what the server does not have. */
  async send() {
    this.sending ??= this.#sendAll().finally(() => {
      this.sending = null;
    });
    await this.sending;
  }

  async #sendAll() {
    for (;;) {
      const [name] = Object.keys(this.unsent);
      if (name === undefined) return;
      const value = this.unsent[name];
      try {
        await ask(this.url, { name, value });
        this.known[name] = value;
      } catch (error) {
        if (!(error instanceof Refused)) return; // sent with the next change, or when the page is opened again
        this.#sent(name, value);
        this.onrefused(error.message);
        continue;
      }
      this.#sent(name, value);
    }
  }

  /** @param {string} name @param {unknown} value what the server has answered to */
  #sent(name, value) {
    if (this.unsent[name] !== value) return; // changed again meanwhile
    this.unsent = Object.fromEntries(Object.entries(this.unsent).filter(([other]) => other !== name));
    if (Object.keys(this.unsent).length) write(this.place, this.unsent);
    else remove(this.place);
  }
}
