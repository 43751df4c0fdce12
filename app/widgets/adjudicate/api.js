/** The requests of the adjudicator's page. */

import { ask, having, Refused } from '../shared/ask.js';

const CONFLICT = 409;

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

  /** @param {number} assignment @param {string} reason @returns {Promise<unknown>} */
  giveBack(assignment, reason) {
    return ask(`/api/assignments/${assignment}/return`, { reason });
  }
}
