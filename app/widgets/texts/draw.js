/** From the tree of a text to DOM nodes, each of which is known by its place in the raw text. No HTML of the text passes. */

import { fromTheRight, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';
import { Drawn } from './drawn.js';
import { isPlain, parse } from './markdown.js';
import { TooMuch } from './source.js';

/** @typedef {import('./tree.js').Block} Block */
/** @typedef {import('./tree.js').Inline} Inline */
/** @typedef {import('./tree.js').Range} Range */
/** @typedef {import('./tree.js').Table} Table */
/**
 * @typedef {object} Figures the images of an answer
 * @property {(address: string | null) => HTMLElement | null} place the one with this address, or (null) the next one; null when it is none
 * @property {() => HTMLElement[]} rest those that stand nowhere in the text
 */

/** Signs that turn the direction of what follows, and are never seen themselves. @type {Map<string, string>} */
const DIRECTING = new Map(Object.entries({
  '\u061c': 'ALM', '\u200e': 'LRM', '\u200f': 'RLM', '\u202a': 'LRE', '\u202b': 'RLE', '\u202c': 'PDF', '\u202d': 'LRO', '\u202e': 'RLO',
  '\u2066': 'LRI', '\u2067': 'RLI', '\u2068': 'FSI', '\u2069': 'PDI',
}));
const OVERRIDES = new Set(['LRO', 'RLO']); // letters would stand in another order than they were written
const AT_DIRECTING = /([\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069])/;
const KEPT = 120; // texts that are parsed once
const MOST_FORMULAS = 300; // of a text; those behind them stay as they were written
const LONGEST = 400_000; // characters of a text that are shown
const PATIENCE = 2000; // milliseconds that one text may take: far more than any within the limits does, on a slow machine
/** What a text says, `null` where it is plain, `false` where it is too much, or cannot be drawn. @type {Map<string, Block[] | null | false>} */
const parsed = new Map();

/**
 * Draws a text into an element.
 *
 * @param {HTMLElement} element
 * @param {string} raw
 * @param {boolean} rendered whether its Markdown is rendered
 * @param {() => Figures} [figures] the images of the text, made anew each time that it is drawn
 * @returns {Drawn}
 */
export function draw(element, raw, rendered, figures) {
  const blocks = rendered ? markupOf(raw) : null;
  if (blocks) {
    try {
      return painted(element, raw, figures, blocks);
    } catch (error) {
      console.error(error);
      parsed.set(raw, false); // it is not tried again
    }
  }
  return painted(element, raw, figures, null, rendered && isTooMuch(raw));
}

/** @param {HTMLElement} element @param {string} raw @param {(() => Figures) | undefined} makeFigures @param {Block[] | null} blocks @param {boolean} [givenUp] */
function painted(element, raw, makeFigures, blocks, givenUp = false) {
  const figures = makeFigures?.();
  const drawn = new Drawn(element, raw);
  if (!blocks && !givenUp) drawn.rendered = () => draw(h('div'), raw, true);
  const painter = new Painter(drawn, figures, 2);
  const end = Math.min(raw.length, LONGEST);
  const nodes = blocks ? painter.blocks(blocks) : painter.shown([[0, end]]);
  const words = [givenUp && raw.length <= LONGEST ? TEXT.textGivenUp : null, !blocks && end < raw.length ? TEXT.textCut(raw.length - end) : null];
  element.classList.toggle('rendered', blocks !== null);
  // A block of its own direction inside says nothing about the whole any more.
  element.dir = (blocks && directionOf(raw, blocks)) || 'auto';
  element.replaceChildren(
    ...words.flatMap((said) => (said ? [h('p', { class: 'text-note', dir: 'auto', 'data-testid': 'text-note' }, said)] : [])),
    ...nodes, ...(figures?.rest() ?? []));
  return drawn;
}

/** Whether a text has more markup than is drawn. @param {string} raw */
const isTooMuch = (raw) => (markupOf(raw), parsed.get(raw) === false);

/** The blocks of a text that has Markdown which can be rendered, else null. @param {string} raw @returns {Block[] | null} */
export function markupOf(raw) {
  const known = parsed.get(raw);
  if (known !== undefined) return known || null;
  const began = performance.now();
  let blocks = null;
  try {
    blocks = parse(raw);
  } catch (error) {
    console.error(error);
  }
  const took = performance.now() - began;
  const markup = blocks && !isPlain(raw, blocks) ? blocks : null;
  parsed.set(raw, !blocks || took > PATIENCE ? false : markup);
  for (const old of parsed.keys()) {
    if (parsed.size <= KEPT) break;
    parsed.delete(old);
  }
  return parsed.get(raw) || null;
}

/** A text without Markdown, such as a claim: signs that turn its direction are marks, as in any other. @param {string} raw */
export const drawnPlain = (raw) => new Painter(new Drawn(h('span'), raw), undefined, 1).shown([[0, raw.length]]);

/** A text that is not data: the guidelines. @param {string} raw @returns {Node[]} */
export function markdown(raw) {
  const painter = new Painter(new Drawn(h('div'), raw), undefined, 1);
  return painter.blocks(parse(raw) ?? [{ type: 'paragraph', range: [0, raw.length], children: [{ type: 'text', ranges: [[0, raw.length]] }] }]);
}

/** The direction of the first letter. @param {string} text @returns {'ltr' | 'rtl'} */
function direction(text) {
  const letter = /\p{L}/u.exec(text);
  return letter && fromTheRight(letter[0]) ? 'rtl' : 'ltr';
}

/** The direction of the first letter of what is read; code, formulas and addresses say nothing about it. @param {string} raw @param {(Block | Inline)[]} nodes @returns {'ltr' | 'rtl' | null} */
function directionOf(raw, nodes) {
  for (const node of nodes) {
    let found = null;
    if (node.type === 'text') {
      const letter = /\p{L}/u.exec(node.ranges.map(([start, end]) => raw.slice(start, end)).join(''));
      found = letter && direction(letter[0]);
    } else if (node.type === 'list') found = directionOf(raw, node.entries.flatMap((entry) => entry.children));
    else if (node.type === 'table') found = directionOf(raw, node.rows.flat().flatMap((cell) => cell.children));
    else if ('children' in node) found = directionOf(raw, node.children);
    if (found) return found;
  }
  return null;
}

/** The mark of a sign that turns the direction; null for any other text. An override has no effect beyond its mark. @param {Text} node */
function directing(node) {
  const name = DIRECTING.get(node.data);
  if (!name) return null;
  return h('span', { class: OVERRIDES.has(name) ? 'directing override' : 'directing', 'data-sign': name, title: TEXT.directing(name), 'data-testid': 'directing' }, node);
}

class Painter {
  /** @param {Drawn} drawn @param {Figures | undefined} figures @param {number} under the level of the heading above the text */
  constructor(drawn, figures, under) {
    this.drawn = drawn;
    this.figures = figures;
    this.under = under;
    this.block = 0;
    this.until = performance.now() + PATIENCE;
  }

  /** @param {Block[]} blocks @returns {HTMLElement[]} */
  blocks(blocks) {
    return blocks.map((block) => this.#wrapped(block.range, () => this.#block(block)));
  }

  /** Characters as they are; those that turn the direction as marks. @param {Range[]} ranges @returns {(Text | HTMLElement)[]} */
  shown(ranges) {
    return ranges.flatMap(([from, to]) => {
      let start = from;
      return this.drawn.raw.slice(from, to).split(AT_DIRECTING).filter(Boolean).map((text) => {
        const end = start + text.length;
        const node = document.createTextNode(text);
        this.drawn.pieces.push({ node, start, end, exact: true, text, block: this.block });
        start = end;
        return directing(node) ?? node;
      });
    });
  }

  /** @param {Block} block @returns {HTMLElement} */
  #block(block) {
    this.block += 1;
    if (performance.now() > this.until) throw new TooMuch();
    const dir = directionOf(this.drawn.raw, [block]) ?? 'auto';
    switch (block.type) {
      case 'heading': {
        const level = Math.min(6, block.level + this.under);
        return h(/** @type {'h3'} */ (`h${level}`), { class: `head head-${block.level}`, dir }, ...this.#inlines(block.children));
      }
      case 'list': return h(block.ordered ? 'ol' : 'ul', { role: 'list', class: 'list', dir },
        ...block.entries.map((entry) => this.#wrapped(entry.range, () => h('li', {},
          entry.marker ? h('span', { class: 'marker' }, ...this.shown([entry.marker])) : null,
          h('div', { class: 'entry' }, ...this.blocks(entry.children))))));
      case 'quote': return h('blockquote', { dir }, ...this.blocks(block.children));
      case 'fence': return h('div', { class: 'fence', dir: 'ltr' },
        block.about ? h('div', { class: 'about' }, ...this.shown([block.about])) : null,
        h('pre', { tabindex: '0', role: 'region', 'aria-label': TEXT.code }, h('code', {}, ...this.#next(() => this.shown(block.ranges)))));
      case 'rule': return h('hr');
      case 'table': return this.#table(block, dir);
      default: return h('div', { class: 'para', dir }, ...this.#inlines(block.children));
    }
  }

  /** @param {Table} table @param {string} dir */
  #table(table, dir) {
    let heads = table.rows.findIndex((row) => row.some((cell) => !cell.heading));
    if (heads < 0) heads = table.rows.length;
    const rows = table.rows.map((row) => h('tr', {}, ...row.map((cell) => this.#wrapped(cell.range, () => {
      this.block += 1;
      if (performance.now() > this.until) throw new TooMuch();
      return h(cell.heading ? 'th' : 'td', {
        dir: 'auto', colspan: cell.columns > 1 ? cell.columns : null, rowspan: cell.rows > 1 ? cell.rows : null,
        class: cell.align ? `aligned-${cell.align}` : null,
      }, ...this.#inlines(cell.children));
    }))));
    return h('div', { class: 'table-box', tabindex: '0', role: 'region', 'aria-label': TEXT.table },
      h('table', { dir },
        heads ? h('thead', {}, ...rows.slice(0, heads)) : null, h('tbody', {}, ...rows.slice(heads))));
  }

  /** @param {Inline[]} inlines @returns {Node[]} */
  #inlines(inlines) {
    /** @type {Node[]} */
    const nodes = [];
    let behind = false; // what came last takes a line of its own
    for (const inline of inlines) {
      const made = this.#inline(inline);
      const [first] = made;
      if (behind && inline.type === 'text' && first instanceof Text && first.data.startsWith('\n')) {
        // The end of its line would be an empty one.
        const piece = this.drawn.pieces[this.drawn.pieces.length - made.length];
        const rest = first.splitText(1);
        this.drawn.pieces.splice(this.drawn.pieces.indexOf(piece), 1, { ...piece, end: piece.start + 1, text: '\n' },
          ...(rest.data ? [{ ...piece, node: rest, start: piece.start + 1, text: rest.data }] : []));
        made.splice(0, 1, h('span', { class: 'line-end' }, first), rest);
      }
      behind = (inline.type === 'formula' && inline.display) || first instanceof HTMLElement && first.tagName === 'FIGURE';
      nodes.push(...made);
    }
    return nodes;
  }

  /** @param {Inline} inline @returns {Node[]} */
  #inline(inline) {
    const { raw } = this.drawn;
    switch (inline.type) {
      case 'text': return this.shown(inline.ranges);
      case 'char': {
        const node = this.#whole(inline.range, document.createTextNode(inline.text), inline.text);
        return [directing(node) ?? node];
      }
      case 'break': return [this.#whole(inline.range, h('br'), '\n')];
      case 'code': return [this.#wrapped(inline.range, () => h('code', {}, ...this.shown(inline.ranges)))];
      case 'place': {
        const figure = this.figures?.place(null);
        return figure ? [this.#whole(inline.range, figure, ' ')] : this.shown([inline.range]);
      }
      case 'formula': {
        if (this.drawn.formulas.length >= MOST_FORMULAS) return this.shown([inline.range]);
        const element = this.#whole(inline.range, h('span', { class: inline.display ? 'formula display' : 'formula', dir: 'ltr' }, raw.slice(...inline.range)), raw.slice(...inline.range));
        this.drawn.formulas.push({ element, tex: inline.tex, display: inline.display });
        return [element];
      }
      case 'link':
      case 'picture': {
        const address = inline.address ? raw.slice(...inline.address) : null;
        const figure = inline.type === 'picture' && address !== null ? this.figures?.place(address) : null;
        if (figure) return [this.#whole(inline.range, figure, ' ')];
        // Nothing to press and nothing that is fetched: the address is words like the others.
        return [this.#wrapped(inline.range, () => h('span', { class: inline.type === 'link' ? 'hyperlink' : 'no-picture' }, ...this.#inlines(inline.children),
          inline.address ? h('bdi', { class: inline.children.length ? 'address behind' : 'address', dir: 'ltr' }, ...this.shown([inline.address])) : null))];
      }
      default: return [this.#wrapped(inline.range, () => h(inline.type, {}, ...this.#inlines(inline.children)))];
    }
  }

  /** Something that is in a selection as a whole. @template {Text | Element} T @param {Range} range @param {T} node @param {string} text */
  #whole([start, end], node, text) {
    this.drawn.pieces.push({ node, start, end, exact: false, text, block: this.block });
    return node;
  }

  /** What is drawn between signs. @template T @param {Range} outer @param {() => T} make */
  #wrapped(outer, make) {
    const { pieces, wrappings } = this.drawn;
    const first = pieces.length;
    const made = make();
    if (pieces.length > first) wrappings.push({ outer, inner: [pieces[first].start, pieces[pieces.length - 1].end] });
    return made;
  }

  /** @template T @param {() => T} make */
  #next(make) {
    this.block += 1;
    return make();
  }
}
