/** The requests of the annotator's page. */

import { ask, having } from '../shared/ask.js';

export class Api {
  /** @param {string} base such as /api/studies/3 */
  constructor(base) {
    this.base = base;
    /** The assignments whose items need not be sent again. @type {() => number[]} */
    this.have = () => [];
  }

  /** @returns {Promise<Work>} */
  work() {
    return ask(`${this.base}/work`);
  }

  /** @param {Submission} submission @returns {Promise<Submitted>} */
  async submit(submission) {
    return having('saved_at', await ask(`${this.base}/submit`, { ...submission, have: this.have() }));
  }

  /**
   * @param {{assignment: number, sitting: string | number, step: number, content: Content, seconds: number}} draft
   * @param {AbortSignal} [signal]
   * @returns {Promise<{saved_at: string}>}
   */
  draft(draft, signal) {
    return ask(`${this.base}/draft`, draft, signal);
  }

  /** @param {number} assignment @param {string} reason @returns {Promise<Submitted>} */
  skip(assignment, reason) {
    return ask(`${this.base}/skip`, { assignment, reason, have: this.have() });
  }

  /** @param {{protocol_hash: string}} read which guidelines were read @returns {Promise<{saved_at: string}>} */
  async guidelinesRead(read) {
    return having('saved_at', await ask(`${this.base}/guidelines`, read));
  }

  /** @param {PhaseAnswers} said what is said in the phase that is open @returns {Promise<Submitted>} */
  async phase(said) {
    return having('saved_at', await ask(`${this.base}/phase`, said));
  }

  /** @param {number | null} assignment null: the last one that was submitted @returns {Promise<{item: Presentation}>} */
  reopen(assignment) {
    return ask(`${this.base}/reopen`, { assignment });
  }
}
