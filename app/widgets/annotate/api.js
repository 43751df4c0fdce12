/** The requests of a page to our own routes, and the three ways in which one can fail. */

/** The server understood and said no; its words are for the annotator. */
export class Refused extends Error {
  /** @param {string} message @param {number} status @param {string} kind */
  constructor(message, status, kind) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** Nobody is signed in any more. */
export class SignedOut extends Error {}

/** No answer, or one that says "later": worth trying again. */
export class Unreachable extends Error {}

const PATIENCE = 20_000; // milliseconds until an unanswered request counts as failed
const KEEPALIVE_LIMIT = 60_000; // bytes; browsers refuse larger bodies with keepalive
const LATER = new Set([408, 425, 429]);

/** @typedef {import('./types.js').Work} Work */
/** @typedef {import('./types.js').Submitted} Submitted */
/** @typedef {import('./types.js').Submission} Submission */
/** @typedef {import('./types.js').Presentation} Presentation */
/** @typedef {import('./types.js').Content} Content */

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
  submit(submission) {
    return ask(`${this.base}/submit`, { ...submission, have: this.have() });
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
  guidelinesRead(read) {
    return ask(`${this.base}/guidelines`, read);
  }

  /** @param {number | null} assignment null: the last one that was submitted @returns {Promise<{item: Presentation}>} */
  reopen(assignment) {
    return ask(`${this.base}/reopen`, { assignment });
  }
}

/**
 * One request; what fails is Refused, SignedOut or Unreachable.
 *
 * @param {string} url
 * @param {unknown} [body] makes it a POST
 * @param {AbortSignal} [signal]
 * @param {RequestCache} [cache] what the browser may answer by itself
 * @returns {Promise<any>}
 */
export async function ask(url, body, signal, cache = 'no-store') {
  const patience = AbortSignal.timeout(PATIENCE);
  /** @type {RequestInit} */
  const request = {
    credentials: 'same-origin',
    headers: { Accept: 'application/json' },
    cache,
    signal: signal ? AbortSignal.any([signal, patience]) : patience,
  };
  if (body !== undefined) {
    const text = JSON.stringify(body);
    request.method = 'POST';
    request.headers = { Accept: 'application/json', 'Content-Type': 'application/json', 'X-Assay': '1' };
    request.body = text;
    // An answer that is on its way when the page closes still arrives.
    request.keepalive = new Blob([text]).size < KEEPALIVE_LIMIT;
  }
  let response;
  try {
    response = await fetch(url, request);
  } catch (error) {
    throw new Unreachable(String(error), { cause: error });
  }
  if (response.status === 401) throw new SignedOut();
  if (response.status >= 500 || LATER.has(response.status)) throw new Unreachable(`HTTP ${response.status}`);
  let answer;
  try {
    answer = await response.json();
  } catch (error) {
    if (response.redirected) throw new SignedOut();
    if (response.ok) throw new Unreachable('the answer is not JSON', { cause: error });
    answer = {};
  }
  if (!response.ok) {
    throw new Refused(String(answer.error ?? `HTTP ${response.status}`), response.status, String(answer.kind ?? ''));
  }
  return answer;
}
