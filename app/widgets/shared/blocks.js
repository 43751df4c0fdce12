/** The paragraphs of an answer: what an image belongs after, and what labels can be about. */

const IMAGE = /<PIC>|!\[[^[\]\n]*\]\([^() \t\r\n]*\)/g; // where one stands in the text of an answer: its mark, or Markdown's

/** @param {string} text */
const saysSomething = (text) => /[^ \t\r\n]/.test(text);

/**
 * The blocks of an answer: its paragraphs, that is what stands between lines that are empty, in order. What holds
 * nothing but images is no block: it has its place by one.
 *
 * The same rule as the server's (annotators/items/blocks.py); tests/data/blocks.json holds both to it.
 *
 * @param {string} answer
 */
export const blocksOf = (answer) => placedBlocks(answer).map(({ text }) => text);

/** The blocks of an answer with the places in it where each begins. @param {string} answer */
export function placedBlocks(answer) {
  /** @type {{lines: string[], start: number}[]} */
  const found = [{ lines: [], start: 0 }];
  let at = 0;
  for (const line of answer.split('\n')) {
    const block = found[found.length - 1];
    if (saysSomething(line)) {
      if (!block.lines.length) block.start = at;
      block.lines.push(line);
    } else if (block.lines.length) found.push({ lines: [], start: 0 });
    at += line.length + 1;
  }
  return found.map(({ lines, start }) => ({ text: lines.join('\n'), start })).filter(({ text }) => saysSomething(text.replaceAll(IMAGE, '')));
}

/** A paragraph without its images and what marks it as a heading, an entry of a list or a quotation. @param {string} block */
export const plain = (block) => block.replaceAll(IMAGE, ' ').replace(/^\s*(?:#{1,6}|[-*+>]|\d+[.)])\s+/, '').replace(/\*\*|`/g, '').replace(/\s+/g, ' ').trim() || block;
