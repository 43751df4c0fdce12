/** The numbers of an answer's paragraphs, in its margin: what images are placed by, and labels can be about. */

import { placedBlocks } from '../shared/blocks.js';

/** @typedef {import('../texts/drawn.js').Drawn} Drawn */

const WORD = /\S+/u;

/** Whether any of these criteria names paragraphs by their numbers. @param {Criterion[]} criteria */
export const namesParagraphs = (criteria) => criteria.some(({ kind, target }) => kind === 'place' || target === 'block');

/** Marks the first word of each paragraph, beside which its number stands. @param {Drawn} drawn */
export function numberParagraphs(drawn) {
  placedBlocks(drawn.raw).forEach(({ start, text }, at) => {
    const word = firstWord(drawn, start, start + text.length);
    for (const mark of word ? drawn.mark(...word, 'paragraph').slice(0, 1) : []) mark.dataset.number = String(at + 1);
  });
}

/** Where the first word that is shown of a stretch stands. @param {Drawn} drawn @param {number} from @param {number} to @returns {[number, number] | null} */
function firstWord(drawn, from, to) {
  for (const piece of drawn.pieces) {
    if (!piece.exact || piece.end <= from || piece.start >= to) continue;
    const cut = Math.max(0, from - piece.start);
    const found = WORD.exec(piece.text.slice(cut));
    if (found && piece.start + cut + found.index < to) return [piece.start + cut + found.index, piece.start + cut + found.index + found[0].length];
  }
  return null;
}
