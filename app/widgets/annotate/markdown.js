/** Guidelines from Markdown to DOM nodes: headings, paragraphs, lists, quotes, code, bold, italic. No HTML passes. */

import { h } from './dom.js';

const INLINE = /(`+)(.+?)\1|\*\*(.+?)\*\*|__(.+?)__|\*(?!\s)(.+?)\*|(?<![\p{L}\p{N}])_(?!\s)(.+?)_(?![\p{L}\p{N}])/us;
const BULLET = /^(\s*)(?:[-*+]|(\d+)[.)])\s+(.*)$/;

/**
 * @param {string} text
 * @returns {DocumentFragment}
 */
export function markdown(text) {
  const fragment = document.createDocumentFragment();
  fragment.append(...blocks(text.replace(/\r\n?/g, '\n').split('\n')));
  return fragment;
}

/** @param {string[]} lines @returns {Node[]} */
function blocks(lines) {
  /** @type {Node[]} */
  const nodes = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const heading = /^(#{1,6})\s+(.*?)\s*#*$/.exec(line);
    if (!line.trim()) {
      at += 1;
    } else if (heading) {
      const level = Math.min(heading[1].length + 1, 6);
      nodes.push(h(/** @type {'h2'} */ (`h${level}`), { dir: 'auto' }, ...inline(heading[2])));
      at += 1;
    } else if (/^\s*(```|~~~)/.test(line)) {
      const end = lines.findIndex((other, number) => number > at && /^\s*(```|~~~)/.test(other));
      const last = end < 0 ? lines.length : end;
      nodes.push(h('pre', {}, h('code', {}, lines.slice(at + 1, last).join('\n'))));
      at = last + 1;
    } else if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) {
      nodes.push(h('hr'));
      at += 1;
    } else if (/^\s*>/.test(line)) {
      const quoted = take(lines, at, (other) => /^\s*>/.test(other));
      nodes.push(h('blockquote', { dir: 'auto' }, ...blocks(quoted.map((other) => other.replace(/^\s*>\s?/, '')))));
      at += quoted.length;
    } else if (BULLET.test(line)) {
      const listed = take(lines, at, (other, before) => BULLET.test(other) || /^\s+\S/.test(other) ||
        (!!other.trim() && !!before.trim() && !startsBlock(other)));
      nodes.push(list(listed));
      at += listed.length;
    } else {
      const paragraph = take(lines, at, (other) => !!other.trim() && !startsBlock(other));
      nodes.push(h('p', { dir: 'auto' }, ...inline(paragraph.join('\n'))));
      at += paragraph.length;
    }
  }
  return nodes;
}

/** @param {string} line */
function startsBlock(line) {
  return /^(#{1,6}\s|\s*>|\s*(```|~~~))/.test(line) || BULLET.test(line);
}

/**
 * The lines from `at` on: the first, and those after it while `goes` holds.
 *
 * @param {string[]} lines
 * @param {number} at
 * @param {(line: string, before: string) => boolean} goes
 */
function take(lines, at, goes) {
  let end = at + 1;
  while (end < lines.length && goes(lines[end], lines[end - 1])) end += 1;
  return lines.slice(at, end);
}

/** @param {string[]} lines @returns {HTMLElement} */
function list(lines) {
  const first = /** @type {RegExpExecArray} */ (BULLET.exec(lines[0]));
  const indent = first[1].length;
  const element = first[2] ? h('ol', { start: first[2], dir: 'auto' }) : h('ul', { dir: 'auto' });
  let at = 0;
  while (at < lines.length) {
    const entry = take(lines, at, (other) => {
      const bullet = BULLET.exec(other);
      return !bullet || bullet[1].length > indent;
    });
    const words = /** @type {RegExpExecArray} */ (BULLET.exec(entry[0]))[3];
    const nested = entry.findIndex((other, number) => number > 0 && BULLET.test(other));
    const own = [words, ...entry.slice(1, nested < 0 ? undefined : nested).map((other) => other.trim())];
    element.append(h('li', { dir: 'auto' }, ...inline(own.join('\n')), nested < 0 ? null : list(entry.slice(nested))));
    at += entry.length;
  }
  return element;
}

/** @param {string} text @returns {Node[]} */
function inline(text) {
  const found = INLINE.exec(text);
  if (!found) return [document.createTextNode(text)];
  const [whole, , code, strong1, strong2, em1, em2] = found;
  const strong = strong1 ?? strong2;
  /** @type {Node} */
  let node;
  if (code !== undefined) node = h('code', {}, code);
  else if (strong !== undefined) node = h('strong', {}, ...inline(strong));
  else node = h('em', {}, ...inline(em1 ?? em2));
  return [
    document.createTextNode(text.slice(0, found.index)), node, ...inline(text.slice(found.index + whole.length)),
  ];
}
