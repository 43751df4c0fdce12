/** The texts of an item on a page: rendered or as they were written, by one key, and copied as they were written. */

import { button, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';
import { draw, markupOf } from './draw.js';
import { drawFormulas } from './formulas.js';

/** @typedef {import('./drawn.js').Drawn} Drawn */
/** @typedef {import('./draw.js').Figures} Figures */
/** @typedef {{get: (name: string) => unknown, set: (name: string, value: unknown) => void}} Settings */

/** Name of the preference, and the value of it that shows texts as they were written. */
const SETTING = 'text_view';
const RAW = 'raw';
const TURN = 120; // milliseconds that texts may take at once, before the page is let go on
const SCROLLS = '.reading, .passages, .drawer';

/** @type {WeakMap<Element, {drawn: Drawn, again: (rendered?: boolean) => Drawn}>} */
const texts = new WeakMap();

/** A text that stands in an element. @param {Element | null | undefined} element @returns {Drawn | null} */
export function textIn(element) {
  return (element && texts.get(element)?.drawn) ?? null;
}

export class Texts {
  /** @param {Settings} settings the person's @param {string} key that goes from one view to the other */
  constructor(settings, key) {
    this.settings = settings;
    this.key = key;
    /** Called after the texts were drawn anew. @type {() => void} */
    this.onchange = () => undefined;
    /** What the texts are in, on the screen or not. @type {HTMLElement[]} */
    this.roots = [];
    /** Whether texts show as they were written until somebody wants them rendered, whatever the person has chosen. */
    this.plain = false;
    this.spent = 0; // of the turn
    /** Texts that are drawn when the page has been let go on; they are plain until then. @type {HTMLElement[]} */
    this.later = [];
  }

  /** Whether texts show as they were written. */
  get raw() {
    return this.plain || this.settings.get(SETTING) === RAW;
  }

  /**
   * Puts a text into an element.
   *
   * @template {HTMLElement} T
   * @param {T} element
   * @param {string} raw
   * @param {() => Figures} [figures] the images of the answer, made anew each time
   * @param {(drawn: Drawn) => void} [marks] marks what is always marked in it
   * @returns {T}
   */
  fill(element, raw, figures, marks) {
    element.classList.add('item-text');
    const again = (rendered = !this.raw) => {
      const drawn = draw(element, raw, rendered, figures);
      drawFormulas(drawn.formulas);
      marks?.(drawn);
      return drawn;
    };
    const waits = !this.raw && this.spent > TURN;
    if (waits) this.later.push(element);
    texts.set(element, { drawn: this.#timed(() => again(waits ? false : undefined)), again });
    element.addEventListener('copy', copy);
    return element;
  }

  /** What is made, with the time that it took counted into the turn. @template T @param {() => T} make @returns {T} */
  #timed(make) {
    if (!this.spent) setTimeout(() => this.#nextTurn());
    const began = performance.now();
    const made = make();
    this.spent += Math.max(0.01, performance.now() - began);
    return made;
  }

  /** Draws what waits, as much as one turn takes. */
  #nextTurn() {
    this.spent = 0;
    let drew = false;
    while (this.later.length && this.spent <= TURN) {
      const element = /** @type {HTMLElement} */ (this.later.shift());
      if (!element.isConnected) continue; // another item is on the screen
      this.#timed(() => this.#redraw(element));
      drew = true;
    }
    if (drew) this.onchange();
  }

  /** Shows texts the other way, and keeps that for the person. */
  toggle() {
    this.settings.set(SETTING, this.raw ? null : RAW);
    this.plain = false;
    this.later = [];
    for (const root of this.roots) {
      for (const element of root.querySelectorAll('.item-text')) this.#redraw(element);
      for (const choice of root.querySelectorAll('.text-view')) this.#state(choice);
    }
    this.onchange();
  }

  /** The two views to choose from, where a text has any Markdown; null where it has none. @param {(string | null | undefined)[]} raws */
  choice(...raws) {
    if (!raws.some((raw) => raw && markupOf(raw))) return null;
    const view = (/** @type {string} */ words, /** @type {boolean} */ raw) => button(words, () => {
      if (this.raw !== raw) this.toggle();
    }, { class: 'mini', key: raw ? this.key : undefined, testid: raw ? 'raw-text' : 'rendered-text', hint: raw ? TEXT.rawTextTitle : TEXT.renderedTitle });
    const element = h('span', { class: 'text-view', role: 'group', 'aria-label': TEXT.textView, 'data-testid': 'text-view' },
      view(TEXT.rendered, false), view(TEXT.rawText, true));
    this.#state(element);
    return element;
  }

  /** @param {Element} element */
  #state(element) {
    [...element.children].forEach((view, number) => view.setAttribute('aria-pressed', String(this.raw === (number === 1))));
  }

  /** Draws a text anew; what stood at the top of the view stays there. @param {Element} element */
  #redraw(element) {
    const text = texts.get(element);
    if (!text) return;
    const view = element.closest(SCROLLS);
    const top = view?.getBoundingClientRect().top ?? 0;
    const before = element.getBoundingClientRect();
    const reading = view && before.top < top && before.bottom > top;
    const place = reading ? placeAt(text.drawn, top) : null;
    text.drawn = text.again();
    if (view && place !== null) {
      const now = placeOf(text.drawn, place);
      if (now !== null) view.scrollTop += now - top;
    }
  }
}

/** A selection within a text is copied as it was written. @param {ClipboardEvent} event */
function copy(event) {
  const element = /** @type {HTMLElement} */ (event.currentTarget);
  const root = /** @type {ShadowRoot & {getSelection?: () => Selection | null}} */ (element.getRootNode());
  const selection = root.getSelection?.() ?? document.getSelection();
  if (!selection?.rangeCount || selection.isCollapsed || !event.clipboardData) return;
  const range = selection.getRangeAt(0);
  if (!element.contains(range.commonAncestorContainer)) return;
  const raw = textIn(element)?.rawText(range);
  if (!raw) return;
  event.clipboardData.setData('text/plain', raw);
  event.preventDefault();
}

/** The place in the raw text of what is first seen below a line on the screen. @param {Drawn} drawn @param {number} top */
function placeAt(drawn, top) {
  let [low, high] = [0, drawn.pieces.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rectOf(drawn.pieces[middle].node, 0).bottom > top) high = middle;
    else low = middle + 1;
  }
  const piece = drawn.pieces[low];
  if (!piece) return null;
  if (!piece.exact) return piece.start;
  let [first, last] = [0, piece.text.length - 1];
  while (first < last) {
    const middle = (first + last) >> 1;
    if (rectOf(piece.node, middle, middle + 1).bottom > top) last = middle;
    else first = middle + 1;
  }
  return piece.start + first;
}

/** Where a place of the raw text is on the screen. @param {Drawn} drawn @param {number} place */
function placeOf(drawn, place) {
  const piece = drawn.pieces.find((piece) => piece.end > place);
  if (!piece) return null;
  const at = piece.exact ? Math.max(0, place - piece.start) : 0;
  return rectOf(piece.node, at, at + 1).top;
}

/** @param {Text | Element} node @param {number} from @param {number} [to] */
function rectOf(node, from, to) {
  if (node instanceof Element) return node.getBoundingClientRect();
  const range = document.createRange();
  range.setStart(node, Math.min(from, node.length));
  range.setEnd(node, Math.min(to ?? node.length, node.length));
  return range.getBoundingClientRect();
}
