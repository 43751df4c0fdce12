/** Whether the annotator has read the guidelines of a study: said once, kept by the server however late it hears of it. */

import { freshId, Outbox } from '../shared/outbox.js';

/** @typedef {{protocol_hash: string, guidelines_read: boolean}} Study */
/** @typedef {{uid: string, protocol_hash: string}} Said */

export class Reading {
  /** @param {string} person @param {number} study @param {import('./api.js').Api} api */
  constructor(person, study, api) {
    this.outbox = /** @type {Outbox<Said, {saved_at: string}>} */ (Outbox.of(person, `guidelines-${study}`, {
      submit: ({ protocol_hash }) => api.guidelinesRead({ protocol_hash }),
    }));
    /** The hashes of the protocols whose guidelines were read here. @type {Set<string>} */
    this.here = new Set();
    // What the server refuses, because the study has other guidelines by now, was not said of those: they open again.
    for (const entry of this.outbox.refused) this.outbox.discard(entry);
    for (const entry of this.outbox.entries) this.here.add(entry.body.protocol_hash);
    if (this.here.size) void this.outbox.send();
  }

  /** Whether the guidelines of the study, as it is now, were read here or elsewhere. @param {Study} study */
  done(study) {
    return study.guidelines_read || this.here.has(study.protocol_hash);
  }

  /** They were read. @param {Study} study */
  say({ protocol_hash }) {
    this.here.add(protocol_hash);
    this.outbox.add({ uid: freshId(), protocol_hash }, '');
  }
}
