/** The words of a page over its picture: not seen, but selected, copied, found by the browser and read out. */

import { ask } from '../../shared/ask.js';
import { fromTheRight, h } from '../../shared/dom.js';
import { besideUrl } from './images.js';
import { around } from './layout.js';

const UPRIGHT = 1.8; // a word this much higher than wide, and longer than a letter or two, is written upwards or downwards
const FONT = 'sans-serif';
const WIDTH = 1000; // pixels that a layer is wide; it is scaled as a whole, so that zooming lays out no word anew

const pen = document.createElement('canvas').getContext('2d');

/** Width of a text in a font one pixel high. @param {string} text */
function widthOf(text) {
  if (!pen) return text.length * 0.5;
  pen.font = `100px ${FONT}`;
  return pen.measureText(text).width / 100 || 0.3;
}

/** @param {number} share of the layer's width */
const px = (share) => `${(share * WIDTH).toFixed(2)}px`;

/**
 * The lines of a page in the order in which they are read: words of a line from the right are turned round where the
 * document has them from the left.
 *
 * @param {Word[]} words
 * @returns {Word[][]}
 */
export function linesOf(words) {
  /** @type {Map<number, Word[]>} */
  const lines = new Map();
  for (const word of words) {
    const line = lines.get(word[5]);
    if (line) line.push(word);
    else lines.set(word[5], [word]);
  }
  return [...lines.values()].map((line) => {
    const arabic = line.filter((word) => fromTheRight(word[4])).length;
    const visual = line.length > 1 && line[0][0] < line[line.length - 1][0];
    return arabic * 2 > line.length && visual ? [...line].reverse() : line;
  });
}

export class TextLayer {
  /** @param {PageWords} page @param {number} ratio height ÷ width of the page */
  constructor(page, ratio) {
    /** @type {Map<Element, Word>} */
    this.words = new Map();
    const nodes = linesOf(page.words).flatMap((line, number, all) => [
      ...line.map((word, at) => this.#word(word, at < line.length - 1, line, ratio)),
      number < all.length - 1 ? h('br') : '',
    ]);
    // Moved behind the end of a selection while one is drawn, so that a pointer beside the words does not make it jump.
    this.end = h('div', { class: 'page-words-end' });
    this.element = h('div', {
      class: 'page-words', style: `width:${WIDTH}px;height:${WIDTH * ratio}px`, dir: 'ltr', 'data-testid': 'words', 'data-ocr': page.ocr ? 'true' : null,
    }, ...nodes, this.end);
  }

  /** @param {number} width pixels that the page is wide */
  scale(width) {
    this.element.style.transform = `scale(${width / WIDTH})`;
  }

  /** The words that a selection covers, in reading order. @param {Range} range @returns {Word[]} */
  within(range) {
    const found = [];
    for (const [element, word] of this.words) {
      if (!range.intersectsNode(element)) continue;
      const text = element.firstChild;
      // A selection that only touches the edge of a word does not mean it.
      const begins = text && range.startContainer === text && range.startOffset >= word[4].length;
      const ends = text && range.endContainer === text && range.endOffset === 0;
      if (!begins && !ends) found.push(word);
    }
    return found;
  }

  /** @param {Word} word @param {boolean} more another word follows on the line @param {Word[]} line @param {number} ratio */
  #word(word, more, line, ratio) {
    const [x0, y0, x1, y1, text] = word;
    const [width, height] = [x1 - x0, (y1 - y0) * ratio]; // both in widths of the page
    const right = fromTheRight(text);
    const element = h('span', { dir: right ? 'rtl' : null }, more ? `${text} ` : text);
    const { style } = element;
    style.top = px(y0 * ratio);
    if (text.length > 2 && height > width * UPRIGHT) {
      const stretch = height / (widthOf(text) * width);
      const upwards = line.length < 2 || line[0][1] > line[line.length - 1][1];
      style.left = px(x0);
      style.writingMode = 'vertical-rl';
      style.fontSize = px(width);
      style.transform = upwards
        ? `translate(${px(width)}, ${px(height)}) rotate(180deg) scaleY(${stretch.toFixed(4)})`
        : `scaleY(${stretch.toFixed(4)})`;
    } else {
      if (right) style.right = px(1 - x1);
      else style.left = px(x0);
      style.fontSize = px(height);
      style.transform = `scaleX(${(width / (widthOf(text) * height)).toFixed(4)})`;
      style.transformOrigin = right ? 'top right' : 'top left';
    }
    this.words.set(element, word);
    return element;
  }
}

/** What words say, a line each line. @param {Word[]} words */
export function textOf(words) {
  return linesOf(words).map((line) => line.map((word) => word[4]).join(' ')).join('\n');
}

/** One box for each line of words. @param {Word[]} words @returns {Box[]} */
export function boxesOf(words) {
  return linesOf(words).map((line) => around(line.map(([x0, y0, x1, y1]) => /** @type {Box} */ ([x0, y0, x1, y1]))));
}

/** The words whose middle lies in a box. @param {Word[]} words @param {Box} box */
export function wordsIn(words, [x0, y0, x1, y1]) {
  return words.filter(([left, top, right, bottom]) => {
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    return x > x0 && x < x1 && y > y0 && y < y1;
  });
}

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
