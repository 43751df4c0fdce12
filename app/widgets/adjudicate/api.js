/** The requests of the adjudicator's page. */

import { ask, having, Refused } from '../shared/ask.js';

const CONFLICT = 409;
const KEPT = 6; // items fetched ahead
const STALE = 5 * 60_000; // milliseconds after which an item is fetched again: others may have been at it


export class Api {
  /** @param {number} study */
  constructor(study) {
    this.study = study;
  }

  /** @returns {Promise<Disputes>} */
  queue() {
    return ask(`/api/studies/${this.study}/disputes`);
  }

  /** @param {number} studyItem @returns {Promise<Dispute>} */
  item(studyItem) {
    return ask(`/api/study-items/${studyItem}`);
  }

  /** Takes an item, so that others pass it over, or keeps it for longer. @param {number} studyItem @returns {Promise<Taken>} */
  take(studyItem) {
    return ask(`/api/study-items/${studyItem}/take`, {});
  }

  /** Lets others have an item. That it does not arrive costs them a wait, no more. @param {number} studyItem */
  leave(studyItem) {
    ask(`/api/study-items/${studyItem}/leave`, {}).catch(() => undefined);
  }

  /** Sends a decision; that somebody else was faster is an answer like another. @param {Settlement} settlement @returns {Promise<SettlementAnswer>} */
  async submit({ study_item: studyItem, ...body }) {
    try {
      having('adjudication', await ask(`/api/study-items/${studyItem}/adjudicate`, body));
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== CONFLICT) throw error;
      return { conflict: error.message };
    }
    return { conflict: null };
  }

  /** @param {Dispute} dispute @param {string} rater @param {string} reason @returns {Promise<unknown>} */
  giveBack(dispute, rater, reason) {
    return ask(`/api/study-items/${dispute.study_item_id}/return`, { annotation: dispute.annotations[rater], reason });
  }
}

/** Items that are fetched before they are shown. */
export class Ahead {
  /** @param {Api} api */
  constructor(api) {
    this.api = api;
    /** @type {Map<number, {at: number, coming: Promise<Dispute>, here: boolean}>} */
    this.items = new Map();
  }

  /** Whether an item can be shown at once. @param {number} item */
  has(item) {
    const found = this.items.get(item);
    return !!found?.here && performance.now() - found.at < STALE;
  }

  /** @param {number} item @returns {Promise<Dispute>} */
  fetch(item) {
    const known = this.items.get(item);
    if (known && performance.now() - known.at < STALE) return known.coming;
    const entry = { at: performance.now(), coming: this.api.item(item), here: false };
    this.items.set(item, entry);
    entry.coming.then(() => {
      entry.here = true;
    }, () => this.items.delete(item));
    for (const old of this.items.keys()) {
      if (this.items.size <= KEPT) break;
      this.items.delete(old);
    }
    return entry.coming;
  }

  /** The item, not kept any longer: when it is shown again it may have changed. @param {number} item @returns {Promise<Dispute>} */
  take(item) {
    const coming = this.fetch(item);
    this.items.delete(item);
    return coming;
  }
}
