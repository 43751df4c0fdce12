/** One request of a page to our own routes, and the three ways in which it can fail. */

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

/** No answer, half of one, or one that says "later": worth trying again. */
export class Unreachable extends Error {
  /**
   * @param {string} message
   * @param {{answered?: boolean, seconds?: number, cause?: unknown}} [facts] `answered`: something came back, only not
   *   what was asked for; `seconds`: for how long the server wants to be left alone
   */
  constructor(message, { answered = false, seconds = 0, cause } = {}) {
    super(message, { cause });
    this.answered = answered;
    this.seconds = seconds;
  }
}

/** @param {unknown} error @returns {Trouble} what an error that is worth another try says about the server */
export function troubleOf(error) {
  return error instanceof Unreachable && error.answered ? 'trouble' : 'offline';
}

/** @param {unknown} error @param {number} least milliseconds @returns {number} after how many to try again */
export function pauseAfter(error, least) {
  return Math.max(least, error instanceof Unreachable ? error.seconds * 1000 : 0);
}

const PATIENCE = 20_000; // milliseconds until an unanswered request counts as failed
const KEEPALIVE_LIMIT = 60_000; // bytes; browsers refuse larger bodies with keepalive
const LATER = new Set([408, 425, 429]);
const LONGEST_ORDER = 900; // seconds that a server may ask us to wait

/** @typedef {'offline' | 'trouble'} Trouble there is no connection, or a server that cannot do its part */

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
  if (response.status >= 500 || LATER.has(response.status)) {
    throw new Unreachable(`HTTP ${response.status}`, { answered: true, seconds: secondsAsked(response) });
  }
  let answer;
  try {
    answer = await response.json();
  } catch (error) {
    if (response.redirected) throw new SignedOut();
    if (response.ok) throw new Unreachable('the answer is not JSON, or only half of it came', { answered: true, cause: error });
    answer = {};
  }
  if (!response.ok) {
    throw new Refused(String(answer?.error ?? `HTTP ${response.status}`), response.status, String(answer?.kind ?? ''));
  }
  return answer;
}

/**
 * An acknowledgement, which has `name`. What somebody between us and the server says in its place acknowledges nothing.
 *
 * @param {string} name
 * @param {any} answer
 */
export function having(name, answer) {
  if (typeof answer === 'object' && answer !== null && name in answer) return answer;
  throw new Unreachable(`the answer has no ${name}`, { answered: true });
}

/** Seconds of Retry-After, which is a number or a date. @param {Response} response */
function secondsAsked(response) {
  const asked = response.headers.get('Retry-After') ?? '';
  const seconds = /^\d+$/.test(asked) ? Number(asked) : (Date.parse(asked) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(LONGEST_ORDER, Math.max(0, seconds)) : 0;
}
