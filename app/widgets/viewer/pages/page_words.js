/** The words of pages as the server reads them, fetched once and kept for the pages seen last. */

import { ask } from '../../shared/ask.js';
import { besideUrl } from './images.js';

const KEPT = 60; // pages
const AGAIN = 20_000; // milliseconds until words that could not be had are asked for again

/** @type {Map<string, Promise<PageWords | null>>} */
const kept = new Map();

/** The words of a page; null when they cannot be had now. @param {Doc} doc @param {number} page @returns {Promise<PageWords | null>} */
export function wordsOf(doc, page) {
  const url = besideUrl(doc, 'page-words', page);
  const known = kept.get(url);
  if (known) return known;
  const fetched = ask(url, undefined, undefined, 'default').catch(() => {
    setTimeout(() => kept.delete(url), AGAIN);
    return null;
  });
  kept.set(url, fetched);
  for (const old of kept.keys()) {
    if (kept.size <= KEPT) break;
    kept.delete(old);
  }
  return fetched;
}
