/** What only one of two texts says: sentences that have no counterpart in the other, and figures that their counterpart does not have. */

/** @typedef {[number, number]} Range */
/** @typedef {{only: boolean, figures: Range[]}} Difference of one sentence: whether it has no counterpart; else its other figures, by their places in it */

const WORD = /[\p{L}\p{N}]+(?:[.,:]\p{N}+)*/gu;
const NUMBERED = /^\s*\d+[.)](?:\s|$)/u; // an entry of a list is no figure
const SHORT = 3; // letters from which on a word counts; what has a digit, or is of another script, always does
const STEM = 6; // letters by which words are the same: "retrieve" and "retrieval"
const ENOUGH = 0.5; // of a sentence's words, in the two sentences of the other text that have most of them together
const MOST = 500; // sentences of a text, beyond which nothing is compared

/**
 * What of each text the other does not say. A sentence has a counterpart where two sentences of the other text, or one, have at
 * least half of its words; a figure in it is another one where they do not have it.
 *
 * @param {string[]} left sentences
 * @param {string[]} right sentences
 * @returns {[Difference[], Difference[]]}
 */
export function differences(left, right) {
  if (left.length > MOST || right.length > MOST) return [left.map(same), right.map(same)];
  const [words, others] = [left.map(wordsOf), right.map(wordsOf)];
  return [compared(left, words, others), compared(right, others, words)];
}

/** @returns {Difference} */
const same = () => ({ only: false, figures: [] });

/** @param {string[]} sentences @param {Set<string>[]} words of each @param {Set<string>[]} others the words of the other text's sentences @returns {Difference[]} */
function compared(sentences, words, others) {
  /** @type {Map<string, number[]>} */
  const having = new Map();
  others.forEach((set, at) => set.forEach((word) => having.set(word, [...(having.get(word) ?? []), at])));
  return sentences.map((sentence, at) => {
    const own = words[at];
    if (!own.size) return same();
    const first = most(own, having);
    const left = new Set([...own].filter((word) => first === null || !others[first].has(word)));
    const second = first === null ? null : most(left, having);
    const counterparts = [first, second].flatMap((number) => (number === null ? [] : [others[number]]));
    const shared = [...own].filter((word) => counterparts.some((other) => other.has(word))).length;
    if (shared < own.size * ENOUGH) return { only: true, figures: [] };
    return { only: false, figures: figuresOf(sentence).filter(([start, end]) => !counterparts.some((other) => other.has(stemOf(sentence.slice(start, end))))) };
  });
}

/** The sentence that has most of some words. @param {Set<string>} words @param {Map<string, number[]>} having */
function most(words, having) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const word of words) for (const at of having.get(word) ?? []) counts.set(at, (counts.get(at) ?? 0) + 1);
  /** @type {number | null} */
  let best = null;
  for (const [at, count] of counts) if (best === null || count > (counts.get(best) ?? 0)) best = at;
  return best;
}

/** The number before an entry of a list, which is none of its words. @param {string} sentence */
export const numberBefore = (sentence) => NUMBERED.exec(sentence)?.[0] ?? '';

/** @param {string} text */
const isFigure = (text) => /\p{N}/u.test(text);

/** @param {string} word */
const stemOf = (word) => (isFigure(word) ? word.replace(/[,:](?=\p{N})/gu, '') : word.toLowerCase()).slice(0, isFigure(word) ? undefined : STEM);

/** @param {string} sentence */
function wordsOf(sentence) {
  const words = sentence.slice(numberBefore(sentence).length).match(WORD) ?? [];
  return new Set(words.filter((word) => word.length >= SHORT || /\p{N}|[^\p{Script=Latin}]/u.test(word)).map(stemOf));
}

/** Where the figures of a sentence stand in it. @param {string} sentence @returns {Range[]} */
function figuresOf(sentence) {
  return [...sentence.matchAll(WORD)].filter(({ index, 0: word }) => index >= numberBefore(sentence).length && isFigure(word))
    .map(({ index, 0: word }) => [index, index + word.length]);
}
