/** The words and sentences of a text on the screen, each as its places in the raw text. */

/** @typedef {import('./tree.js').Range} Range */
/**
 * @typedef {object} Shown what of the raw text is shown, in order: a piece of `Drawn`
 * @property {string} text
 * @property {number} start
 * @property {number} end
 * @property {boolean} exact its characters are those of the raw text, one for one
 * @property {number} block
 * @property {boolean} [whole] it is one thing, such as a formula
 */

const WORD = /\S+/gu;
const SHOWS = /\S/u;
const ONE = 'x'; // stands for what is one whole
const ENDS_BLOCK = '\n';

/** The words, as the language of the text has them; a formula is one. @param {Iterable<Shown>} pieces @returns {Range[]} */
export function wordsOf(pieces) {
  const read = readable(pieces);
  if (!('Segmenter' in Intl)) return [...read.text.matchAll(WORD)].map(({ index, 0: word }) => placed(read, index, index + word.length));
  return apart([...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(read.text)].filter((part) => part.isWordLike)
    .map(({ index, segment }) => placed(read, index, index + segment.length)));
}

/** The sentences; a heading, a cell and an entry of a list are at least one each. @param {Iterable<Shown>} pieces @returns {Range[]} */
export function sentencesOf(pieces) {
  const read = readable(pieces);
  const parts = 'Segmenter' in Intl
    ? [...new Intl.Segmenter(undefined, { granularity: 'sentence' }).segment(read.text)]
    : [...read.text.matchAll(/[^.!?\n]*[.!?]*\n?/gu)].map(({ index, 0: segment }) => ({ index, segment }));
  return apart(parts.filter(({ segment }) => SHOWS.test(segment)).map(({ index, segment }) => {
    const [before, behind] = [segment.length - segment.trimStart().length, segment.trimEnd().length];
    return placed(read, index + before, index + behind);
  }));
}

/** The text as it is read, and the place in the raw text where each of its characters begins and ends. @param {Iterable<Shown>} pieces */
function readable(pieces) {
  /** @type {{text: string, from: number[], to: number[]}} */
  const read = { text: '', from: [], to: [] };
  const add = (/** @type {string} */ signs, /** @type {(at: number) => Range} */ place) => {
    for (let at = 0; at < signs.length; at += 1) {
      const [from, to] = place(at);
      read.from.push(from);
      read.to.push(to);
    }
    read.text += signs;
  };
  let block = null;
  for (const { text, start, end, exact, block: own, whole } of pieces) {
    if (block !== null && own !== block) add(ENDS_BLOCK, () => [start, start]);
    block = own;
    if (exact) add(text, (at) => [start + at, start + at + 1]);
    else add(whole && SHOWS.test(text) ? ONE : text, () => [start, end]);
  }
  return read;
}

/** @param {{from: number[], to: number[]}} read @param {number} from @param {number} to @returns {Range} */
const placed = (read, from, to) => [read.from[from], read.to[to - 1]];

/** Each place once: two halves of one whole are it. @param {Range[]} ranges */
function apart(ranges) {
  /** @type {Range[]} */
  const found = [];
  for (const range of ranges) {
    const last = found[found.length - 1];
    if (last && range[0] < last[1]) last[1] = Math.max(last[1], range[1]);
    else found.push([...range]);
  }
  return found;
}
