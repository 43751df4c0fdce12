/**
 * Markdown as models and parsers of documents write it, into a tree whose every part says where it stands in the raw text.
 *
 * CommonMark with the tables of GitHub, but for what would lose something of a plain text: lines stay lines, nothing is code
 * because it is indented, a line of dashes makes no heading of the text above it, HTML is text (tables, line breaks, sub
 * and sup excepted), and references to definitions elsewhere stay as they are.
 */

import { htmlTable, tableStart } from './html_table.js';
import { inlines } from './inline.js';
import { Effort, Source, TooMuch } from './source.js';

/** @typedef {import('./tree.js').Block} Block */
/** @typedef {import('./tree.js').Range} Range */
/** @typedef {import('./tree.js').Entry} Entry */
/** @typedef {import('./tree.js').TableCell} TableCell */
/** @typedef {{from: number, end: number, next: number}} Line its characters without what contains it, and where the line after it begins */
/** @typedef {{indent: number, content: number, ordered: boolean, number: string, from: number, to: number}} Bullet columns, and the places of the marker */

const LONGEST = 400_000; // characters of a text that is parsed
const DEEPEST = 10; // lists and quotes within each other
const MOST = 4000; // blocks, entries and cells
const WIDEST = 100; // columns of a table
const FORMULA_LINES = 40;

const HEADING = /^[ \t]{0,3}(#{1,6})(?:[ \t]+|$)/;
const FENCE = /^[ \t]*(`{3,}(?!`)|~{3,}(?!~))([^`\n]*)$/;
const QUOTE = /^[ \t]{0,3}>[ \t]?/;
const BULLET = /^([ \t]*)([-*+]|(\d{1,9})[.)])(?:[ \t]+(?=\S)|[ \t]*$)/;
const ALIGNS = /^:?-+:?$/;

/**
 * The blocks of a text; null where it has more markup than anybody writes: it is shown as it is.
 *
 * @param {string} raw
 * @returns {Block[] | null}
 */
export function parse(raw) {
  if (raw.length > LONGEST) return null;
  try {
    return new Parser(raw).blocks(linesOf(raw), 0, true);
  } catch (error) {
    if (error instanceof TooMuch) return null;
    throw error;
  }
}

/** Whether a text is lines of text and nothing else, so that it looks the same as it is. @param {string} raw @param {Block[]} blocks */
export function isPlain(raw, blocks) {
  let signs = 0;
  for (const block of blocks) {
    for (const inline of block.type === 'paragraph' ? block.children : [null]) {
      if (inline?.type !== 'text') return false;
      for (const [from, to] of inline.ranges) signs += raw.slice(from, to).replace(/\s+/g, '').length;
    }
  }
  return signs === raw.replace(/\s+/g, '').length;
}

/** @param {string} raw @returns {Line[]} */
function linesOf(raw) {
  /** @type {Line[]} */
  const lines = [];
  const ends = /\r\n|\n|\r/g;
  let from = 0;
  for (let found = ends.exec(raw); found; found = ends.exec(raw)) {
    lines.push({ from, end: found.index, next: found.index + found[0].length });
    from = found.index + found[0].length;
  }
  lines.push({ from, end: raw.length, next: raw.length });
  return lines;
}

class Parser {
  /** @param {string} raw */
  constructor(raw) {
    this.raw = raw;
    this.count = 0;
    this.effort = new Effort();
  }

  /**
   * @param {Line[]} lines
   * @param {number} depth
   * @param {boolean} whole the lines are contiguous in the raw text
   * @returns {Block[]}
   */
  blocks(lines, depth, whole) {
    if (depth > DEEPEST) throw new TooMuch();
    /** @type {Block[]} */
    const blocks = [];
    let failed = -1; // the place of a table's tag that is none
    for (let at = 0; at < lines.length;) {
      const line = lines[at];
      const text = this.#text(line);
      if (!text.trim()) {
        at += 1;
        continue;
      }
      this.#add();
      const fence = FENCE.exec(text);
      if (fence) {
        at = this.#fence(lines, at, fence, blocks);
        continue;
      }
      const tag = whole ? tableStart(text) : -1;
      if (tag >= 0 && failed !== line.from + tag) {
        const start = line.from + tag;
        const table = htmlTable(this.raw, start, lines[lines.length - 1].end, this.effort);
        if (!table) {
          failed = start;
          continue;
        }
        if (text.slice(0, tag).trim()) blocks.push(...this.blocks([{ from: line.from, end: start, next: start }], depth, false));
        blocks.push(table);
        const end = table.range[1];
        while (lines[at].end < end) at += 1;
        lines[at] = { ...lines[at], from: end };
        continue;
      }
      const heading = HEADING.exec(text);
      const bullet = isRule(text) ? null : bulletOf(text);
      if (heading) {
        blocks.push(this.#heading(line, text, heading));
        at += 1;
      } else if (isRule(text)) {
        blocks.push({ type: 'rule', range: [line.from, line.end] });
        at += 1;
      } else if (QUOTE.test(text) && depth < DEEPEST) {
        at = this.#quote(lines, at, depth, blocks);
      } else if (this.#isTable(lines, at)) {
        at = this.#table(lines, at, blocks);
      } else if (bullet && depth < DEEPEST) {
        at = this.#list(lines, at, bullet, depth, blocks);
      } else {
        at = this.#paragraph(lines, at, whole, failed, blocks);
      }
    }
    return blocks;
  }

  /** @param {Line} line */
  #text(line) {
    return this.raw.slice(line.from, line.end);
  }

  #add() {
    this.count += 1;
    if (this.count > MOST) throw new TooMuch();
  }

  /** @param {Range[]} ranges */
  #inlines(ranges) {
    return inlines(new Source(this.raw, ranges, this.effort));
  }

  /** @param {Line} line @param {string} text @param {RegExpExecArray} found @returns {Block} */
  #heading(line, text, found) {
    let end = text.trimEnd().length;
    let signs = end;
    while (signs > found[0].length && text[signs - 1] === '#') signs -= 1;
    if (signs < end && /[ \t]/.test(text[signs - 1])) end = text.slice(0, signs).trimEnd().length;
    const from = Math.min(found[0].length, end);
    return { type: 'heading', range: [line.from, line.end], level: found[1].length, children: this.#inlines([[line.from + from, line.from + Math.max(from, end)]]) };
  }

  /** @param {Line[]} lines @param {number} at @param {RegExpExecArray} found @param {Block[]} blocks */
  #fence(lines, at, found, blocks) {
    const [, sign, about] = found;
    const indent = columns(this.#text(lines[at]));
    let end = at + 1;
    while (end < lines.length && !closesFence(this.#text(lines[end]), sign)) end += 1;
    /** @type {Range[]} */
    const ranges = [];
    for (const line of lines.slice(at + 1, end)) {
      ranges.push([line.from + stripped(this.#text(line), indent), line.end]);
      ranges.push([Math.max(line.end, line.next - 1), line.next]);
    }
    ranges.pop();
    const words = about.trim();
    const place = lines[at].from + found[0].lastIndexOf(words);
    const last = lines[Math.min(end, lines.length - 1)];
    blocks.push({ type: 'fence', range: [lines[at].from, last.end], about: words ? [place, place + words.length] : null, ranges });
    return end + 1;
  }

  /** @param {Line[]} lines @param {number} at @param {number} depth @param {Block[]} blocks */
  #quote(lines, at, depth, blocks) {
    let end = at;
    /** @type {Line[]} */
    const inner = [];
    for (; end < lines.length; end += 1) {
      const found = QUOTE.exec(this.#text(lines[end]));
      if (!found) break;
      inner.push({ ...lines[end], from: lines[end].from + found[0].length });
    }
    blocks.push({ type: 'quote', range: [lines[at].from, lines[end - 1].end], children: this.blocks(inner, depth + 1, false) });
    return end;
  }

  /** @param {Line[]} lines @param {number} at @param {Bullet} first @param {number} depth @param {Block[]} blocks */
  #list(lines, at, first, depth, blocks) {
    /** @type {Entry[]} */
    const entries = [];
    const start = lines[at].from;
    let end = at;
    /** @type {Bullet | null} */
    let bullet = first;
    while (bullet) {
      const own = bullet;
      const inner = [{ ...lines[end], from: lines[end].from + own.to }];
      const head = lines[end].from;
      let last = lines[end].end;
      let blank = !this.#text(inner[0]).trim();
      bullet = null;
      for (end += 1; end < lines.length; end += 1) {
        const line = lines[end];
        const text = this.#text(line);
        if (!text.trim()) {
          inner.push({ ...line, from: line.end });
          blank = true;
          continue;
        }
        const indent = columns(text);
        if (indent < own.content) {
          const other = isRule(text) ? null : bulletOf(text);
          if (other && indent < own.indent + 2) {
            if (other.ordered === own.ordered) bullet = other;
            break;
          }
          // What belongs to an entry by its indentation, or goes on in the middle of a sentence.
          if (indent < own.indent + 2 && (blank || this.#begins(lines, end))) break;
        }
        inner.push({ ...line, from: line.from + stripped(text, own.content) });
        last = line.end;
        blank = false;
      }
      this.#add();
      const marker = /** @type {Range | null} */ (own.ordered ? [head + own.from, head + own.from + own.number.length] : null);
      entries.push({ range: [head, last], marker, children: this.blocks(inner, depth + 1, false) });
    }
    blocks.push({ type: 'list', range: [start, entries[entries.length - 1].range[1]], ordered: first.ordered, entries });
    return end;
  }

  /** @param {Line[]} lines @param {number} at @param {boolean} whole @param {number} failed @param {Block[]} blocks */
  #paragraph(lines, at, whole, failed, blocks) {
    let end = this.#formula(lines, at);
    for (; end < lines.length; end += 1) {
      const text = this.#text(lines[end]);
      if (!text.trim() || this.#begins(lines, end)) break;
      const tag = whole ? tableStart(text) : -1;
      if (tag >= 0 && lines[end].from + tag !== failed) break;
      end = this.#formula(lines, end) - 1;
    }
    /** @type {Range[]} */
    const ranges = [];
    for (const line of lines.slice(at, end)) {
      ranges.push([line.from, line.end], [Math.max(line.end, line.next - 1), line.next]);
    }
    ranges.pop();
    blocks.push({ type: 'paragraph', range: [lines[at].from, lines[end - 1].end], children: this.#inlines(ranges) });
    return end;
  }

  /** The line behind the one at `at`, or behind the formula over several lines that begins with it. @param {Line[]} lines @param {number} at */
  #formula(lines, at) {
    const text = this.#text(lines[at]).trim();
    const sign = text.startsWith('$$') ? '$$' : text.startsWith('\\[') ? '\\]' : text.startsWith('\\begin{') ? '\\end{' : '';
    if (!sign || text.indexOf(sign, 2) >= 0) return at + 1;
    for (let end = at + 1; end < Math.min(lines.length, at + FORMULA_LINES); end += 1) {
      const other = this.#text(lines[end]);
      if (!other.trim()) break;
      if (other.includes(sign)) return end + 1;
    }
    return at + 1;
  }

  /** Whether a line ends the paragraph before it. @param {Line[]} lines @param {number} at */
  #begins(lines, at) {
    const text = this.#text(lines[at]);
    if (HEADING.test(text) || FENCE.test(text) || QUOTE.test(text) || isRule(text)) return true;
    const bullet = bulletOf(text);
    if (bullet && (!bullet.ordered || /^1[.)]/.test(bullet.number)) && text.slice(bullet.to).trim()) return true;
    return this.#isTable(lines, at);
  }

  /** Whether a table's head stands at `at`: cells, and beneath them a row of dashes. @param {Line[]} lines @param {number} at */
  #isTable(lines, at) {
    if (at + 1 >= lines.length || !this.#text(lines[at]).includes('|')) return false;
    const below = this.#text(lines[at + 1]);
    if (!/^[ \t]*(?:\|[ \t]*)?:?-/.test(below) || !below.includes('|')) return false;
    const cells = cellsOf(lines[at + 1], below);
    return cells.length <= WIDEST && cells.every(([from, to]) => ALIGNS.test(this.raw.slice(from, to)));
  }

  /** @param {Line[]} lines @param {number} at @param {Block[]} blocks */
  #table(lines, at, blocks) {
    const aligns = cellsOf(lines[at + 1], this.#text(lines[at + 1])).map(([from, to]) => {
      const [left, right] = [this.raw[from] === ':', this.raw[to - 1] === ':'];
      return right ? (left ? 'center' : 'end') : left ? 'start' : null;
    });
    const row = (/** @type {Line} */ line, /** @type {boolean} */ heading) => cellsOf(line, this.#text(line)).map((range, column) => {
      this.#add();
      return /** @type {TableCell} */ ({ range, children: this.#inlines([range]), heading, columns: 1, rows: 1, align: aligns[column] ?? null });
    });
    const rows = [row(lines[at], true)];
    let end = at + 2;
    for (; end < lines.length; end += 1) {
      const text = this.#text(lines[end]);
      if (!text.trim() || !text.includes('|') || FENCE.test(text) || HEADING.test(text)) break;
      rows.push(row(lines[end], false));
    }
    blocks.push({ type: 'table', range: [lines[at].from, lines[end - 1].end], rows });
    return end;
  }
}

/** How far a line is indented; a tab counts as four. @param {string} text */
function columns(text) {
  let width = 0;
  for (const sign of text) {
    if (sign === ' ') width += 1;
    else if (sign === '\t') width += 4;
    else break;
  }
  return width;
}

/** How many characters of a line's indentation make up so many columns, at most. @param {string} text @param {number} wanted */
function stripped(text, wanted) {
  let [width, at] = [0, 0];
  while (width < wanted && (text[at] === ' ' || text[at] === '\t')) {
    width += text[at] === ' ' ? 1 : 4;
    at += 1;
  }
  return at;
}

/** Three or more of one of `- * _` and nothing else. @param {string} text */
function isRule(text) {
  const signs = text.replace(/[ \t]+/g, '');
  return signs.length > 2 && '-*_'.includes(signs[0]) && columns(text) < 4 && signs === signs[0].repeat(signs.length);
}

/** @param {string} text @param {string} opened */
function closesFence(text, opened) {
  const signs = text.trim();
  return signs.length >= opened.length && signs === opened[0].repeat(signs.length);
}

/** @param {string} text @returns {Bullet | null} */
function bulletOf(text) {
  const found = BULLET.exec(text);
  if (!found) return null;
  const [whole, space, marker, digits] = found;
  const indent = columns(space);
  const gap = whole.length - space.length - marker.length;
  // Behind a marker that is far from its text, or alone, the text is taken to begin one space on.
  const taken = gap > 4 || whole.length === text.length ? Math.min(gap, 1) : gap;
  return {
    indent, content: indent + marker.length + Math.max(1, taken), ordered: digits !== undefined, number: marker,
    from: space.length, to: space.length + marker.length + taken,
  };
}

/** The cells of a row without the space around them; what a backslash stands before divides nothing. @param {Line} line @param {string} text @returns {Range[]} */
function cellsOf(line, text) {
  /** @type {number[]} */
  const bars = [];
  for (let at = 0; at < text.length; at += 1) {
    if (text[at] === '\\') at += 1;
    else if (text[at] === '|') bars.push(at);
  }
  if (bars.length > WIDEST + 1) throw new TooMuch();
  const ends = [-1, ...bars, text.length];
  /** @type {Range[]} */
  const cells = [];
  for (let number = 0; number + 1 < ends.length; number += 1) {
    let [from, to] = [ends[number] + 1, ends[number + 1]];
    while (from < to && /\s/.test(text[from])) from += 1;
    while (to > from && /\s/.test(text[to - 1])) to -= 1;
    const outer = number === 0 || number + 2 === ends.length; // before the first bar and behind the last there is no cell
    if (!(outer && from === to)) cells.push([line.from + from, line.from + to]);
  }
  return cells;
}
