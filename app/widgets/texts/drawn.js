/**
 * A text on the screen, and which characters of the raw text each of its nodes shows: places are always those of the raw text,
 * whether it is rendered or not.
 */

import { h } from '../shared/dom.js';

/** @typedef {import('./tree.js').Range} Range */
/**
 * @typedef {object} Piece
 * @property {Text | Element} node
 * @property {number} start in the raw text
 * @property {number} end
 * @property {boolean} exact its characters are those of the raw text, one for one; else it is one whole, such as a formula
 * @property {string} text what it says
 * @property {number} block the number of the paragraph, heading or cell it stands in
 */
/** @typedef {{outer: Range, inner: Range}} Wrapping signs around something, such as those of bold words */
/** @typedef {{text: string, from: number[], to: number[]}} Folded small letters with one space between words; and each one's place */

export class Drawn {
  /** @param {HTMLElement} element @param {string} raw */
  constructor(element, raw) {
    this.element = element;
    this.raw = raw;
    /** In the order of the text. @type {Piece[]} */
    this.pieces = [];
    /** The inner ones first. @type {Wrapping[]} */
    this.wrappings = [];
    /** @type {{element: Element, tex: string, display: boolean}[]} */
    this.formulas = [];
    /** @type {HTMLElement[]} */
    this.marks = [];
    /** The same text rendered, where this is the raw one: words are looked for as they are read. @type {(() => Drawn) | null} */
    this.rendered = null;
    /** @type {Folded | null} */
    this.folded = null;
  }

  /**
   * Marks characters of the raw text, across emphasis, cells and formulas.
   *
   * @param {number} start
   * @param {number} end
   * @param {string} kind the class of the marks
   * @returns {HTMLElement[]} the marks, in order
   */
  mark(start, end, kind) {
    /** @type {Piece[]} */
    const pieces = [];
    /** @type {HTMLElement[]} */
    const made = [];
    for (const piece of this.pieces) {
      const [from, to] = [Math.max(piece.start, start), Math.min(piece.end, end)];
      if (from >= to) {
        pieces.push(piece);
        continue;
      }
      const parts = piece.exact ? cut(piece, from, to) : [piece];
      const inside = parts.find((part) => part.start < to && part.end > from) ?? piece;
      const mark = h('mark', { class: kind });
      inside.node.replaceWith(mark);
      mark.append(inside.node);
      made.push(mark);
      pieces.push(...parts);
    }
    this.pieces = pieces;
    this.marks.push(...made);
    return made;
  }

  /** Takes the marks of a kind away. @param {string} kind */
  unmark(kind) {
    const gone = this.marks.filter((mark) => mark.classList.contains(kind));
    if (!gone.length) return;
    for (const mark of gone) mark.replaceWith(...mark.childNodes);
    this.marks = this.marks.filter((mark) => !gone.includes(mark));
    /** @type {Piece[]} */
    const pieces = [];
    for (const piece of this.pieces) {
      const last = pieces[pieces.length - 1];
      if (last?.exact && piece.exact && last.end === piece.start && last.node.nextSibling === piece.node &&
        last.node instanceof Text && piece.node instanceof Text) {
        last.node.appendData(piece.node.data);
        last.end = piece.end;
        last.text += piece.text;
        piece.node.remove();
      } else pieces.push(piece);
    }
    this.pieces = pieces;
  }

  /**
   * Where words stand, whatever their case, the spaces and the signs of emphasis between them.
   *
   * @param {string} words
   * @param {number} [most] how many places at most
   * @returns {Range[]} places in the raw text
   */
  find(words, most = 1000) {
    const wanted = fold(words).trim();
    const { text, from, to } = (this.folded ??= (this.rendered?.() ?? this).#fold());
    /** @type {Range[]} */
    const found = [];
    for (let at = wanted ? text.indexOf(wanted) : -1; at >= 0 && found.length < most; at = text.indexOf(wanted, at + wanted.length)) {
      found.push([from[at], to[at + wanted.length - 1]]);
    }
    return found;
  }

  /**
   * The characters that a selection covers; null when it covers none of this text. A formula is in it or is not.
   *
   * @param {Range_} range
   * @returns {Range | null}
   */
  within(range) {
    /** @type {Range | null} */
    let found = null;
    for (const piece of this.pieces) {
      const { node } = piece;
      if (!range.intersectsNode(node)) continue;
      let [start, end] = [piece.start, piece.end];
      if (piece.exact) {
        if (range.startContainer === node) start += range.startOffset;
        if (range.endContainer === node) end = piece.start + range.endOffset;
      } else if (range.endContainer === node.firstChild && range.endOffset === 0) continue; // its edge is touched
      if (start >= end) continue;
      found = [found ? found[0] : start, end];
    }
    return found;
  }

  /** What of the raw text belongs to a selection: with the signs around what is wholly in it. @param {Range_} range */
  rawText(range) {
    const found = this.within(range);
    if (!found) return '';
    let [start, end] = found;
    for (const { outer, inner } of this.wrappings) {
      if (inner[0] >= start && inner[1] <= end) [start, end] = [Math.min(start, outer[0]), Math.max(end, outer[1])];
    }
    return this.raw.slice(start, end);
  }

  /** @returns {Folded} */
  #fold() {
    /** @type {Folded} */
    const folded = { text: '', from: [], to: [] };
    /** @type {string[]} */
    const signs = [];
    let block = -1;
    const add = (/** @type {string} */ sign, /** @type {number} */ from, /** @type {number} */ to) => {
      if (sign === ' ' && signs[signs.length - 1] === ' ') return;
      signs.push(sign);
      folded.from.push(from);
      folded.to.push(to);
    };
    for (const { start, end, exact, text, block: own } of this.pieces) {
      if (own !== block && signs.length) add(' ', start, start);
      block = own;
      for (let at = 0; at < text.length; at += 1) {
        if (exact) add(foldOne(text[at]), start + at, start + at + 1);
        else add(foldOne(text[at]), start, end);
      }
    }
    folded.text = signs.join('');
    return folded;
  }
}

/** @typedef {globalThis.Range} Range_ */

/** @param {string} sign one character */
function foldOne(sign) {
  if (/\s/.test(sign)) return ' ';
  const small = sign.toLowerCase();
  return small.length === 1 ? small : sign;
}

/** @param {string} text */
function fold(text) {
  return text.replace(/\s+/g, ' ').split('').map(foldOne).join('');
}

/** Cuts a piece of text before `from` and behind `to`. @param {Piece} piece @param {number} from @param {number} to @returns {Piece[]} */
function cut(piece, from, to) {
  const parts = [piece];
  const behind = (/** @type {Piece} */ head, /** @type {number} */ place) => {
    const at = place - head.start;
    const rest = /** @type {Text} */ (head.node).splitText(at);
    const other = { ...head, node: rest, start: place, text: head.text.slice(at) };
    head.end = place;
    head.text = head.text.slice(0, at);
    parts.push(other);
    return other;
  };
  const inside = from > piece.start ? behind(piece, from) : piece;
  if (to < inside.end) behind(inside, to);
  return parts;
}
