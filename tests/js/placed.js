/** Where texts stand on a page whose letters are all ten pixels wide and whose lines are twenty high: ranges, and a walk over nodes. */

import './whole_page.js';

const [LETTER, LINE] = [10, 20];
const rect = (left, top, width, height) => ({ left, top, width, height, right: left + width, bottom: top + height, x: left, y: top });

/** The nodes of a tree in the order of the text. */
const nodesIn = (root) => [root, ...(root instanceof Text ? [] : root.children.flatMap(nodesIn))];

Object.defineProperty(Text.prototype, 'length', { get() {
  return this.data.length;
} });
globalThis.NodeFilter = { SHOW_ELEMENT: 1, SHOW_TEXT: 4, FILTER_ACCEPT: 1, FILTER_REJECT: 2 };
globalThis.HTMLBRElement = class extends Element {};
const { createElement } = document;
document.createElement = (tag) => (tag === 'br' ? new HTMLBRElement('br') : createElement(tag));
document.createTreeWalker = (root, _, accept) => {
  const kept = (node) => (accept(node) === NodeFilter.FILTER_REJECT ? [] : [node, ...(node instanceof Text ? [] : node.children.flatMap(kept))]);
  const nodes = root.children.flatMap(kept);
  return { nextNode: () => nodes.shift() ?? null };
};

export class Range {
  startOffset = 0;
  endOffset = 0;

  setStart(node, offset) {
    [this.startContainer, this.startOffset] = [node, offset];
    this.endContainer ??= node;
  }

  setEnd(node, offset) {
    [this.endContainer, this.endOffset] = [node, offset];
  }

  selectNodeContents(node) {
    this.setStart(node, 0);
    this.setEnd(node, node.length);
  }

  get collapsed() {
    return this.startContainer === this.endContainer && this.startOffset === this.endOffset;
  }

  get commonAncestorContainer() {
    let node = this.startContainer;
    while (node && !(node.contains?.(this.endContainer) || node === this.endContainer || nodesIn(node).includes(this.endContainer))) node = node.parentElement;
    return node;
  }

  intersectsNode(node) {
    let root = node;
    while (root.parentElement) root = root.parentElement;
    const all = nodesIn(root);
    const own = nodesIn(node).map((one) => all.indexOf(one));
    const [start, end] = [this.startContainer, this.endContainer].map((one) => all.indexOf(one));
    return Math.max(...own) >= start && Math.min(...own) <= end;
  }

  getClientRects() {
    const { startContainer: node, startOffset: from, endOffset: to } = this;
    const lines = new Map();
    for (let at = from; at < to; at += 1) {
      const place = node.placeOf?.(at);
      if (!place) continue;
      const line = lines.get(place.top) ?? { left: place.left, right: place.left };
      lines.set(place.top, { left: Math.min(line.left, place.left), right: Math.max(line.right, place.left + LETTER) });
    }
    return [...lines].map(([top, { left, right }]) => rect(left, top, right - left, LINE));
  }

  getBoundingClientRect() {
    const rects = this.getClientRects();
    if (!rects.length) return rect(0, 0, 0, 0);
    const [left, top] = [Math.min(...rects.map((one) => one.left)), Math.min(...rects.map((one) => one.top))];
    return rect(left, top, Math.max(...rects.map((one) => one.right)) - left, Math.max(...rects.map((one) => one.bottom)) - top);
  }
}
document.createRange = () => new Range();

/**
 * Lays out what is in an element: so many letters a line, each block on a line of its own, from a height on, which a scroller
 * moves up. Every element knows its box from then on, until it is laid out again.
 *
 * @param {Element} root @param {{letters?: number, top?: number, scroller?: Element | null}} [how]
 * @returns {number} how high it is
 */
export function lay(root, { letters = 20, top = 0, scroller = null } = {}) {
  const INLINE = new Set(['span', 'mark', 'b', 'em', 'strong', 'sub', 'a', 'code']);
  let [line, column] = [0, 0];
  const moved = () => top - (scroller?.scrollTop ?? 0);
  const put = (node) => {
    if (node instanceof Text) {
      const places = [...node.data].map((sign) => {
        if (sign === '\n' || column >= letters) [line, column] = [line + 1, 0];
        column += 1;
        return [line, column - 1];
      });
      node.placeOf = (at) => (places[at] ? { left: places[at][1] * LETTER, top: moved() + places[at][0] * LINE } : null);
      return;
    }
    if (node.hidden) return;
    const block = !INLINE.has(node.tag);
    if (block && column) [line, column] = [line + 1, 0];
    const first = line;
    for (const child of node.children) put(child);
    if (node.tag === 'br') [line, column] = [line + 1, 0];
    if (block && column) [line, column] = [line + 1, 0];
    const height = Math.max(block ? line - first : line - first + 1, 0) * LINE;
    node.getBoundingClientRect = () => rect(0, moved() + first * LINE, letters * LETTER, height);
    node.clientHeight = node.offsetHeight = height;
  };
  put(root);
  return line * LINE;
}

/** Gives an element a box on the screen. @param {Element} element */
export function box(element, left, top, width, height) {
  element.getBoundingClientRect = () => rect(left, top, width, height);
  Object.assign(element, { clientWidth: width, clientHeight: height, offsetWidth: width, offsetHeight: height });
  return element;
}
