/** The requests of the reviser's page. */

import { ask, having } from '../shared/ask.js';

/** @typedef {import('./edits.js').Written} Written */

export class Api {
  /** @param {number} project */
  constructor(project) {
    this.project = project;
  }

  /** @returns {Promise<Revisions>} */
  queue() {
    return ask(`/api/projects/${this.project}/revisions`);
  }

  /** @param {number} item @returns {Promise<ItemToRevise>} */
  item(item) {
    return ask(`/api/items/${item}/revision`);
  }

  /** What saving would do; null where nothing differs. @param {number} item @param {Written} written @param {AbortSignal} signal @returns {Promise<RevisionPlan | null>} */
  async plan(item, written, signal) {
    return having('plan', await ask(`/api/items/${item}/plan`, { written }, signal)).plan;
  }

  /** @param {number} item @param {{written: Written, reason: string, from_version: number, drafts: Record<string, number>}} revision @returns {Promise<{to: number}>} */
  async revise(item, revision) {
    return having('revised', await ask(`/api/items/${item}/revise`, revision)).revised;
  }

  /** Accepts, rejects or withdraws an item by hand. @param {number} item @param {string} state @param {string} reason */
  async end(item, state, reason) {
    return having('ended', await ask(`/api/items/${item}/end`, { state, reason })).ended;
  }

  /** The sentences of an answer. @param {number} item @param {string} answer @returns {Promise<string[]>} */
  async claims(item, answer) {
    return having('claims', await ask(`/api/items/${item}/claims`, { answer })).claims;
  }

  /** What asking for a draft would send. @param {number} item @param {DraftRequest} wanted @returns {Promise<DraftPlan>} */
  async draftPlan(item, wanted) {
    return having('plan', await ask(`/api/items/${item}/draft`, wanted)).plan;
  }

  /** Asks for a draft; the number of the job that does. @param {number} item @param {DraftRequest} wanted @returns {Promise<number>} */
  async draft(item, wanted) {
    return having('job', await ask(`/api/items/${item}/draft`, { ...wanted, send: true })).job;
  }

  /** How a draft stands. @param {number} item @param {number} job @returns {Promise<Drafted>} */
  drafted(item, job) {
    return ask(`/api/items/${item}/drafted`, { job });
  }

  /** Takes an item, so that others pass it over, or keeps it for longer. @param {number} item @returns {Promise<TakenToRevise>} */
  take(item) {
    return ask(`/api/items/${item}/take`, {});
  }

  /** Lets others have an item. That it does not arrive costs them a wait, no more. @param {number} item */
  leave(item) {
    ask(`/api/items/${item}/leave`, {}).catch(() => undefined);
  }
}
