/** Tables that come as HTML, as some parsers of documents write them: rows and cells of the text, nothing else of it. */

import { inlines } from './inline.js';
import { Source, TooMuch } from './source.js';

/** @typedef {import('./source.js').Effort} Effort */
/** @typedef {import('./tree.js').Table} Table */
/** @typedef {import('./tree.js').TableCell} TableCell */

const OPEN = /<table(?:\s[^<>]{0,500})?>/giy;
const ANY = /<(\/?)(table|thead|tbody|tfoot|tr|td|th)((?:\s[^<>]{0,500})?)\/?>/giy;
const MOST_CELLS = 3000;
const WIDEST = 200; // columns, with those that a cell of the row reaches over
const MOST_SPANNED = 100;

/** Where a table begins in a line, or -1. @param {string} line */
export const tableStart = (line) => line.search(/<table(?:\s[^<>]{0,500})?>/i);

/**
 * The table that begins at `start`; null where it is not closed, holds another one, or has text beside its cells.
 *
 * @param {string} raw
 * @param {number} start
 * @param {number} limit the place in the raw text where it has to have ended
 * @param {Effort} effort that of the whole text
 * @returns {Table | null}
 */
export function htmlTable(raw, start, limit, effort) {
  OPEN.lastIndex = start;
  const opening = OPEN.exec(raw);
  if (!opening) return null;
  /** @type {TableCell[][]} */
  const rows = [];
  /** @type {{from: number, heading: boolean, columns: number, rows: number} | null} */
  let cell = null;
  let cells = 0;
  let width = 0; // of the row so far
  let heading = false;
  const finish = (/** @type {number} */ end) => {
    if (!cell) return;
    const { from, ...facts } = cell;
    const [first, last] = trimmed(raw, from, end);
    rows[rows.length - 1].push({ range: [first, last], children: inlines(new Source(raw, [[first, last]], effort)), align: null, ...facts });
    cell = null;
    cells += 1;
    if (cells > MOST_CELLS) throw new TooMuch();
  };
  let at = start + opening[0].length;
  for (;;) {
    const next = raw.indexOf('<', at);
    if (next < 0 || next >= limit) return null;
    ANY.lastIndex = next;
    const tag = ANY.exec(raw);
    if (!cell && raw.slice(at, tag ? next : next + 1).trim()) return null; // text beside the cells would be lost
    at = next + 1;
    if (!tag) continue;
    at = next + tag[0].length;
    const name = tag[2].toLowerCase();
    const closes = tag[1] === '/';
    if (name === 'table') {
      if (!closes) return null;
      finish(next);
      const filled = rows.filter((row) => row.length);
      return filled.length ? { type: 'table', range: [start, at], rows: filled } : null;
    }
    finish(next);
    if (name === 'thead') heading = !closes;
    else if (name === 'tr' && !closes) {
      rows.push([]);
      width = 0;
    }
    else if ((name === 'td' || name === 'th') && !closes) {
      if (!rows.length) rows.push([]);
      const spans = { columns: spanned(tag[3], 'colspan'), rows: spanned(tag[3], 'rowspan') };
      width += spans.columns;
      if (width > WIDEST) throw new TooMuch();
      effort.cell(spans.columns * spans.rows);
      cell = { from: at, heading: heading || name === 'th', ...spans };
    }
  }
}

/** @param {string} attributes @param {string} name */
function spanned(attributes, name) {
  const found = new RegExp(`\\b${name}\\s*=\\s*["']?(\\d{1,3})`, 'i').exec(attributes);
  return Math.max(1, Math.min(MOST_SPANNED, Number(found?.[1] ?? 1)));
}

/** @param {string} raw @param {number} from @param {number} to @returns {[number, number]} */
function trimmed(raw, from, to) {
  let [first, last] = [from, to];
  while (first < last && /\s/.test(raw[first])) first += 1;
  while (last > first && /\s/.test(raw[last - 1])) last -= 1;
  return [first, last];
}
