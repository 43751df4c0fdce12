/** The answer on the screen as controls mark in it: its words, what is selected in it, and the stretches that it shows. */

import { fromTheRight } from '../shared/dom.js';
import { textIn } from '../texts/texts.js';
import { sentencesOf, wordsOf } from '../texts/words.js';

/** @typedef {import('../texts/drawn.js').Drawn} Drawn */
/** @typedef {[number, number]} Range */

/** @implements {Markable} */
export class MarkableAnswer {
  /** @param {() => Element | null} find where the answer stands */
  constructor(find) {
    this.find = find;
    /** @type {Input | null} */
    this.of = null;
    /** @type {((start: number, end: number) => void)[]} */
    this.told = [];
    /** @type {Element | null} */
    this.heard = null;
    /** What was read of the text as it was drawn last. @type {{drawn: Drawn, words: Range[], sentences: Range[]} | null} */
    this.known = null;
  }

  words() {
    return this.#read()?.words ?? [];
  }

  sentences() {
    return this.#read()?.sentences ?? [];
  }

  fromTheRight() {
    const element = this.find();
    return element instanceof HTMLElement && (element.dir === 'rtl' || (element.dir === 'auto' && getComputedStyle(element).direction === 'rtl') ||
      fromTheRight(/\p{L}/u.exec(element.textContent ?? '')?.[0] ?? ''));
  }

  /** @param {{start: number, end: number, number: number, title: string}[]} stretches @param {Range | null} pointed */
  show(stretches, pointed) {
    const drawn = textIn(this.find());
    if (!drawn) return;
    drawn.unmark('pointed');
    drawn.unmark('stretch');
    for (const { start, end, number, title } of stretches) {
      const marks = drawn.mark(start, end, `stretch stretch-${number}`);
      for (const mark of marks) mark.title = title;
      marks[marks.length - 1]?.setAttribute('data-label', title);
    }
    const [first] = pointed ? drawn.mark(...pointed, 'pointed') : [];
    first?.scrollIntoView({ block: 'nearest' });
  }

  /** @param {(start: number, end: number) => void} told */
  listen(told) {
    this.told.push(told);
    const element = this.find();
    if (!element || element === this.heard) return;
    this.heard = element;
    element.addEventListener('pointerup', () => setTimeout(() => this.#selected(element)));
  }

  /** What was selected with the mouse is handed on, and is a mark of ours from then on. @param {Element} element */
  #selected(element) {
    const root = /** @type {ShadowRoot & {getSelection?: () => Selection | null}} */ (element.getRootNode());
    const selection = root.getSelection?.() ?? document.getSelection();
    if (!selection?.rangeCount || selection.isCollapsed) return;
    const places = textIn(element)?.within(selection.getRangeAt(0));
    if (!places) return;
    selection.removeAllRanges();
    for (const told of this.told) told(...places);
  }

  #read() {
    const drawn = textIn(this.find());
    if (drawn && this.known?.drawn !== drawn) {
      const pieces = drawn.pieces.map((piece) => ({ ...piece, whole: piece.node instanceof Element }));
      this.known = { drawn, words: wordsOf(pieces), sentences: sentencesOf(pieces) };
    }
    return drawn && this.known;
  }
}
