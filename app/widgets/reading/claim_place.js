/** Where an answer says what a claim says: word for word, or in the sentence that shares most words with it. */

const WORD = /[\p{L}\p{N}]+(?:[.,][\p{N}]+)*/gu;
const SENTENCE = /[^\n.!?。؟]+(?:[.!?。؟]+(?=\S)[^\n.!?。؟]+)*[.!?。؟]*/gu; // to a sign that ends one before a space, or the line's end
const SHORT = 3; // letters from which on a word counts; what has a digit always does
const ENOUGH = 0.5; // of the claim's words

/** @param {string} text */
function wordsOf(text) {
  return new Set((text.toLowerCase().match(WORD) ?? []).filter((word) => word.length >= SHORT || /\p{N}|[^\p{Script=Latin}]/u.test(word)));
}

/**
 * The sentence of a text that shares most words with a claim, or null where none shares half of them.
 *
 * @param {string} text raw
 * @param {string} claim
 * @returns {[number, number] | null} its place in the text
 */
export function sentenceLike(text, claim) {
  const wanted = wordsOf(claim);
  /** @type {[number, number] | null} */
  let best = null;
  let most = Math.max(1, wanted.size * ENOUGH) - 0.5;
  for (const { 0: sentence, index } of text.matchAll(SENTENCE)) {
    const words = wordsOf(sentence);
    const shared = [...wanted].filter((word) => words.has(word)).length;
    if (shared <= most) continue;
    most = shared;
    const start = index + sentence.length - sentence.trimStart().length;
    best = [start, start + sentence.trim().length];
  }
  return best;
}
