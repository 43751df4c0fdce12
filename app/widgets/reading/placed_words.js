/** Where the words of a text stand on the screen, whatever elements it is made of: which lie between two heights. */

/** @typedef {[number, number]} Span a run of words by their numbers, the end not included */
/** @typedef {{root: number, node: Text, starts: number[], first: number, top: number, bottom: number}} Run the words of a text node; heights from the top of its root */

// Elements that do not end a word: “H<sub>2</sub>O” is one.
const INLINE = new Set(['A', 'ABBR', 'B', 'BDI', 'CODE', 'DEL', 'EM', 'I', 'INS', 'MARK', 'S', 'SMALL', 'SPAN', 'STRONG', 'SUB', 'SUP', 'U']);
const NOT_READ = 'button, .unseen, .image-card, [aria-hidden="true"], annotation, script, style';
const WORD = /\S+/gu;
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/u;
const SLACK = 3; // pixels by which the box of a word may stick out of its line

export class PlacedWords {
  /** @param {HTMLElement[]} roots what the text stands in; what sticks out of a root is cut off by it */
  constructor(roots) {
    this.roots = roots;
    /** @type {Run[]} */
    this.runs = [];
    this.count = 0;
    this.range = document.createRange();
    this.measure();
  }

  /** Reads the text and where it stands, anew. */
  measure() {
    this.runs = [];
    this.count = 0;
    this.roots.forEach((root, number) => this.#read(root, number));
  }

  /** The words that stand wholly between two heights of the window. @param {number} top @param {number} bottom @returns {Span[]} */
  between(top, bottom) {
    const boxes = this.roots.map((root) => root.getBoundingClientRect());
    /** @type {Span[]} */
    const spans = [];
    for (const run of this.runs) {
      const { top: origin, height } = boxes[run.root];
      const [from, to] = [Math.max(top - origin, 0) - SLACK, Math.min(bottom - origin, height) + SLACK];
      if (run.bottom <= from || run.top >= to) continue;
      const begin = run.top >= from ? 0 : this.#search(run, (box) => box.top - origin >= from);
      const end = run.bottom <= to ? run.starts.length : this.#search(run, (box) => box.bottom - origin > to);
      if (begin < end) spans.push([run.first + begin, run.first + end]);
    }
    return spans;
  }

  /** The first word of a run for whose box this holds; it holds for all that follow. @param {Run} run @param {(box: DOMRect) => boolean} holds */
  #search(run, holds) {
    let [low, high] = [0, run.starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const start = run.starts[middle];
      this.range.setStart(run.node, start);
      this.range.setEnd(run.node, Math.min(start + 1, run.node.length));
      const box = this.range.getClientRects()[0];
      if (!box || holds(box)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** @param {HTMLElement} root @param {number} number */
  #read(root, number) {
    const origin = root.getBoundingClientRect().top;
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) => (
      node instanceof Element && node.matches(NOT_READ) ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT));
    /** @type {Element | null} */
    let block = null;
    let open = false; // the text so far ends within a word
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!(node instanceof Text)) {
        if (node instanceof HTMLBRElement) open = false;
        continue;
      }
      this.range.selectNodeContents(node);
      const { top, bottom, height } = this.range.getBoundingClientRect();
      if (!height) continue; // not shown
      const own = blockOf(node);
      const starts = wordStarts(node.data);
      if (open && own === block && starts[0] === 0) starts.shift();
      [block, open] = [own, /\S$/u.test(node.data)];
      if (!starts.length) continue;
      this.runs.push({ root: number, node, starts, first: this.count, top: top - origin, bottom: bottom - origin });
      this.count += starts.length;
    }
  }
}

/** How many words spans have. @param {Span[]} spans */
export function sizeOf(spans) {
  return spans.reduce((sum, [from, to]) => sum + to - from, 0);
}

/** Where the words of a text begin. @param {string} text */
function wordStarts(text) {
  if (!UNSPACED.test(text) || !('Segmenter' in Intl)) return [...text.matchAll(WORD)].map((match) => match.index);
  return [...new Intl.Segmenter(undefined, { granularity: 'word' }).segment(text)].filter((segment) => segment.isWordLike).map((segment) => segment.index);
}

/** The element that sets the line in which a text stands. @param {Text} node */
function blockOf(node) {
  let element = node.parentElement;
  while (element && INLINE.has(element.tagName)) element = element.parentElement;
  return element;
}
