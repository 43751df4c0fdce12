/**
 * What stands within a paragraph: emphasis, code, links, pictures, formulas, entities, with their places in the raw text.
 *
 * Emphasis follows CommonMark's rules of delimiter runs, in time linear in the text; `~~` strikes out, as on GitHub.
 */

import { entityAt } from './entities.js';
import { isFormula } from './formula_source.js';
import { TooMuch } from './source.js';

/** @typedef {import('./tree.js').Inline} Inline */
/** @typedef {import('./source.js').Source} Source */
/**
 * @typedef {object} Link one of a chain of nodes while it is not known yet what belongs together
 * @property {number} from
 * @property {number} to
 * @property {Inline | null} node null: characters that show as they are
 * @property {number} depth of what is in it
 * @property {Link | null} previous
 * @property {Link | null} next
 */
/**
 * @typedef {object} Run of emphasis signs
 * @property {Link} link
 * @property {string} sign
 * @property {number} length as it was at first
 * @property {boolean} opens
 * @property {boolean} closes
 * @property {Run | null} previous
 * @property {Run | null} next
 */
/** @typedef {{link: Link, run: Run | null, kind: '[' | '![' | 'sub' | 'sup', at: number}} Opener */

const DEEPEST = 12; // emphasis within emphasis
const MOST = 3000; // nodes of one paragraph
const NEAR = 30; // brackets that were opened and not closed since a <sub>
const PUNCTUATION = /[\p{P}\p{S}]/u;
const SPACE = /[\s\u00a0]/;
const WORD = /[\p{L}\p{N}]/u;
// Scripts that put no spaces between words: emphasis beside their letters is meant whatever stands within it.
const UNSPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\u3000-\u303f\uff00-\uffef]/u;
const SPECIAL = /[\\`*_~[\]!<&$]/g;
const BREAK = /<br[ \t]*\/?>/iy;
const PLACE = /<PIC>/y;
const SCRIPT = /<(\/?)(sub|sup)>/iy;
// Blanks that could belong to one repetition or the next are few: a long run of them would be divided in every way.
const ADDRESS = /\([ \t]{0,20}(<[^<>\n]*>|[^\s()<>]*(?:\([^\s()<>]*\)[^\s()<>]*)*)(?:[ \t\n]{1,20}(?:"[^"\n]*"|'[^'\n]*'))?[ \t]{0,20}\)/y;
const LONGEST_ADDRESS = 2000;
const ENVIRONMENT = /\\begin\{(equation|align|aligned|gather|gathered|multline|cases|array|[bpvBV]?matrix)(\*?)\}/y;
const ESCAPED = /[!-/:-@[-`{-~]/;

/**
 * @param {Source} source
 * @returns {Inline[]}
 */
export function inlines(source) {
  return new Reader(source).read();
}

class Reader {
  /** @param {Source} source */
  constructor(source) {
    this.source = source;
    this.text = source.text;
    /** @type {Link} */
    this.first = { from: 0, to: 0, node: null, depth: 0, previous: null, next: null };
    this.last = this.first;
    this.count = 0;
    /** @type {Run | null} */
    this.run = null;
    /** @type {Opener[]} */
    this.openers = [];
    /** Where the next of a closing sign is, as far as it was looked for. @type {Map<string, number>} */
    this.ahead = new Map();
    /** Where runs of so many backticks begin. @type {Map<number, number[]> | null} */
    this.ticks = null;
  }

  read() {
    const { text } = this;
    let at = 0;
    let shown = 0; // up to here the characters are in the chain
    while (at < text.length) {
      SPECIAL.lastIndex = at;
      const found = SPECIAL.exec(text);
      if (!found) break;
      at = found.index;
      const to = this.#special(at, shown);
      if (to > at) shown = to;
      at = Math.max(to, at + 1);
    }
    this.#show(shown, text.length);
    this.#emphasis(null);
    return this.#nodes(this.first.next, null);
  }

  /**
   * What the sign at `at` begins or ends, put into the chain behind the characters from `shown` on.
   *
   * @param {number} at
   * @param {number} shown
   * @returns {number} the place behind it; `at` itself where it means nothing
   */
  #special(at, shown) {
    const { text } = this;
    switch (text[at]) {
      case '\\': return this.#backslash(at, shown);
      case '$': return this.#dollar(at, shown);
      case '`': return this.#code(at, shown);
      case '&': {
        const entity = entityAt(text, at);
        if (!entity) return at;
        const to = at + entity.length;
        return this.#put(shown, at, to, { type: 'char', range: this.source.span(at, to), text: entity.text });
      }
      case '<': return this.#tag(at, shown);
      case '!':
        if (text[at + 1] !== '[') return at;
        return this.#open(at, at + 2, shown, '![');
      case '[': return this.#open(at, at + 1, shown, '[');
      case ']': return this.#bracket(at, shown);
      default: return this.#delimiters(at, shown);
    }
  }

  /** @param {number} at @param {number} shown */
  #backslash(at, shown) {
    const { text } = this;
    const next = text[at + 1];
    if (next === '(' || next === '[') {
      const end = this.#find(next === '(' ? '\\)' : '\\]', at + 2);
      const again = this.#find(`\\${next}`, at + 2);
      if (end >= 0 && (again < 0 || again > end) && isFormula(text.slice(at + 2, end), next)) return this.#formula(at, end + 2, at + 2, end, next === '[', shown);
    }
    if (next === 'b') {
      ENVIRONMENT.lastIndex = at;
      const found = ENVIRONMENT.exec(text);
      const closing = found ? `\\end{${found[1]}${found[2]}}` : '';
      const end = found ? this.#find(closing, at + found[0].length) : -1;
      if (end >= 0) {
        const to = end + closing.length;
        if (isFormula(text.slice(at, to), 'begin')) return this.#formula(at, to, at, to, true, shown);
      }
    }
    if (next === '\n') {
      this.#show(shown, at);
      return at + 1; // a break that is there anyway: the sign is markup
    }
    if (next === undefined || !ESCAPED.test(next)) return at;
    this.#show(shown, at);
    this.#show(at + 1, at + 2);
    return at + 2;
  }

  /** Dollars as in Pandoc and on GitHub: none inside, no space within the signs, no letter or digit beside them. @param {number} at @param {number} shown */
  #dollar(at, shown) {
    const { text } = this;
    if (text[at + 1] === '$') {
      const end = this.#find('$$', at + 2);
      if (end >= 0 && isFormula(text.slice(at + 2, end), '$$')) return this.#formula(at, end + 2, at + 2, end, true, shown);
      this.#show(shown, at + 2);
      return at + 2;
    }
    if (SPACE.test(text[at + 1] ?? ' ') || WORD.test(text[at - 1] ?? ' ')) return at;
    let end = this.#find('$', at + 1);
    while (end > 0 && text[end - 1] === '\\') end = this.#find('$', end + 1);
    if (end < 0 || text[end + 1] === '$' || SPACE.test(text[end - 1]) || WORD.test(text[end + 1] ?? ' ')) return at;
    const tex = text.slice(at + 1, end);
    return isFormula(tex, '$') ? this.#formula(at, end + 1, at + 1, end, false, shown) : at;
  }

  /** @param {number} at @param {number} to @param {number} from of what is between the signs @param {number} end @param {boolean} display @param {number} shown */
  #formula(at, to, from, end, display, shown) {
    return this.#put(shown, at, to, { type: 'formula', range: this.source.span(at, to), tex: this.text.slice(from, end), display });
  }

  /** @param {number} at @param {number} shown */
  #code(at, shown) {
    const { text } = this;
    let open = at;
    while (text[open] === '`') open += 1;
    const length = open - at;
    if (!this.ticks) {
      this.ticks = new Map();
      for (const { index, 0: run } of text.matchAll(/`+/g)) {
        const same = this.ticks.get(run.length);
        if (same) same.push(index);
        else this.ticks.set(run.length, [index]);
      }
      for (const places of this.ticks.values()) places.reverse();
    }
    const places = this.ticks.get(length) ?? [];
    while (places.length && places[places.length - 1] < open) places.pop();
    if (!places.length) {
      this.#show(shown, open);
      return open;
    }
    const close = places[places.length - 1];
    const padded = close - open > 2 && text[open] === ' ' && text[close - 1] === ' ' && text.slice(open, close).trim() !== '';
    const [from, end] = padded ? [open + 1, close - 1] : [open, close];
    const to = close + length;
    return this.#put(shown, at, to, { type: 'code', range: this.source.span(at, to), ranges: this.source.pieces(from, end) });
  }

  /** @param {number} at @param {number} shown */
  #tag(at, shown) {
    const { text } = this;
    for (const [pattern, type] of /** @type {[RegExp, 'break' | 'place'][]} */ ([[BREAK, 'break'], [PLACE, 'place']])) {
      pattern.lastIndex = at;
      const found = pattern.exec(text);
      if (found) {
        const to = at + found[0].length;
        return this.#put(shown, at, to, { type, range: this.source.span(at, to) });
      }
    }
    SCRIPT.lastIndex = at;
    const found = SCRIPT.exec(text);
    if (!found) return at;
    const to = at + found[0].length;
    const kind = /** @type {'sub' | 'sup'} */ (found[2].toLowerCase());
    if (!found[1]) return this.#open(at, to, shown, kind);
    let number = this.openers.length - 1;
    const least = Math.max(0, number - NEAR);
    while (number >= least && this.openers[number].kind.endsWith('[')) number -= 1;
    const opener = this.openers[number];
    if (opener?.kind !== kind) return at;
    this.openers.length = number;
    this.#show(shown, at);
    this.#wrap(opener, to, (children, range) => ({ type: kind, range, children }));
    return to;
  }

  /** Something begins whose end is not known. @param {number} at @param {number} to @param {number} shown @param {Opener['kind']} kind */
  #open(at, to, shown, kind) {
    this.#show(shown, at);
    this.#show(at, to);
    this.openers.push({ link: this.last, run: this.run, kind, at });
    if (this.openers.length > MOST) throw new TooMuch();
    return to;
  }

  /** @param {number} at @param {number} shown */
  #bracket(at, shown) {
    const { text } = this;
    const opener = this.openers[this.openers.length - 1];
    if (!opener || (opener.kind !== '[' && opener.kind !== '![')) return at;
    ADDRESS.lastIndex = at + 1;
    const found = text[at + 1] === '(' ? ADDRESS.exec(text) : null;
    if (!found || found[0].length > LONGEST_ADDRESS) {
      // A picture's words may have brackets of their own.
      this.openers.pop();
      return at;
    }
    this.openers.pop();
    this.#show(shown, at);
    const to = at + 1 + found[0].length;
    const inside = found[1].startsWith('<') ? found[1].slice(1, -1) : found[1];
    const from = at + 1 + found[0].indexOf(inside, 1);
    const address = inside ? this.source.span(from, from + inside.length) : null;
    this.#wrap(opener, to, (children, range) => ({ type: opener.kind === '[' ? 'link' : 'picture', range, children, address }));
    return to;
  }

  /** What stands behind an opener becomes one node. @param {Opener} opener @param {number} to @param {(children: Inline[], range: import('./tree.js').Range) => Inline} make */
  #wrap(opener, to, make) {
    this.#emphasis(opener.run);
    const { link } = opener;
    const depth = this.#depth(link.next, null) + 1;
    const children = this.#nodes(link.next, null);
    link.node = make(children, this.source.span(opener.at, to));
    link.depth = depth;
    link.next = null;
    this.last = link;
    if (depth > DEEPEST) throw new TooMuch();
  }

  /** A run of emphasis signs. @param {number} at @param {number} shown */
  #delimiters(at, shown) {
    const { text } = this;
    const sign = text[at];
    let to = at;
    while (text[to] === sign) to += 1;
    const before = characterBefore(text, at);
    const after = characterAt(text, to);
    const [spaceBefore, spaceAfter] = [SPACE.test(before), SPACE.test(after)];
    const unspaced = UNSPACED.test(before) || UNSPACED.test(after);
    const [signBefore, signAfter] = [PUNCTUATION.test(before), PUNCTUATION.test(after)];
    const left = !spaceAfter && (!signAfter || spaceBefore || signBefore || unspaced);
    const right = !spaceBefore && (!signBefore || spaceAfter || signAfter || unspaced);
    let [opens, closes] = [left, right];
    if (sign === '_') [opens, closes] = [left && (!right || signBefore), right && (!left || signAfter)];
    else if (sign === '~') [opens, closes] = to - at === 2 ? [left, right] : [false, false];
    // A single star between digits or Latin letters multiplies them.
    else if (to - at === 1 && /[A-Za-z0-9]/.test(before) && /[A-Za-z0-9]/.test(after)) [opens, closes] = [false, false];
    if (!opens && !closes) return at + 1 < to ? this.#plain(shown, to) : at;
    this.#show(shown, at);
    this.#show(at, to);
    /** @type {Run} */
    const run = { link: this.last, sign, length: to - at, opens, closes, previous: this.run, next: null };
    if (this.run) this.run.next = run;
    this.run = run;
    return to;
  }

  /** @param {number} shown @param {number} to */
  #plain(shown, to) {
    this.#show(shown, to);
    return to;
  }

  /** Finds what belongs together among the runs behind `bottom`, and leaves none of them. @param {Run | null} bottom */
  #emphasis(bottom) {
    if (this.run === bottom) return;
    /** @type {Map<string, Run | null>} */
    const bottoms = new Map();
    let closer = this.run;
    while (closer && closer.previous !== bottom) closer = closer.previous;
    while (closer) {
      if (!closer.closes) {
        closer = closer.next;
        continue;
      }
      const kind = `${closer.sign}${closer.opens}${closer.length % 3}`;
      const floor = bottoms.has(kind) ? bottoms.get(kind) ?? null : bottom;
      let opener = closer.previous;
      while (opener && opener !== bottom && opener !== floor && !fit(opener, closer)) opener = opener.previous;
      if (!opener || opener === bottom || opener === floor) {
        bottoms.set(kind, closer.previous);
        const { next } = closer;
        if (!closer.opens) this.#drop(closer);
        closer = next;
        continue;
      }
      closer = this.#pair(opener, closer);
    }
    this.run = bottom;
    if (bottom) bottom.next = null;
  }

  /** Makes emphasis of what is between two runs. @param {Run} opener @param {Run} closer @returns {Run | null} where to go on */
  #pair(opener, closer) {
    const [before, behind] = [opener.link, closer.link];
    const both = before.to - before.from >= 2 && behind.to - behind.from >= 2;
    const used = both ? 2 : 1;
    for (let run = closer.previous; run && run !== opener; run = run.previous) this.#drop(run);
    const depth = this.#depth(before.next, behind) + 1;
    if (depth > DEEPEST) throw new TooMuch();
    const children = this.#nodes(before.next, behind);
    before.to -= used;
    const [from, to] = [before.to, behind.from + used];
    behind.from += used;
    const type = opener.sign === '~' ? 'del' : both ? 'strong' : 'em';
    /** @type {Link} */
    const link = { from, to, node: { type, range: this.source.span(from, to), children }, depth, previous: before, next: behind };
    before.next = link;
    behind.previous = link;
    if (before.from === before.to) this.#drop(opener);
    if (behind.from < behind.to) return closer;
    const { next } = closer;
    this.#drop(closer);
    return next;
  }

  /** @param {Run} run */
  #drop(run) {
    if (run.previous) run.previous.next = run.next;
    if (run.next) run.next.previous = run.previous;
    else if (this.run === run) this.run = run.previous;
  }

  /** Where a sign comes next; what was looked for in vain, or found further on, is not looked for again. @param {string} sign @param {number} from */
  #find(sign, from) {
    const known = this.ahead.get(sign);
    if (known !== undefined && (known < 0 || known >= from)) return known;
    const found = this.text.indexOf(sign, from);
    this.ahead.set(sign, found);
    return found;
  }

  /** @param {number} from @param {number} to */
  #show(from, to) {
    if (from < to) this.#add({ from, to, node: null, depth: 0, previous: this.last, next: null });
  }

  /** @param {number} shown @param {number} from @param {number} to @param {Inline} node */
  #put(shown, from, to, node) {
    this.#show(shown, from);
    this.#add({ from, to, node, depth: 0, previous: this.last, next: null });
    return to;
  }

  /** @param {Link} link */
  #add(link) {
    this.count += 1;
    if (this.count > MOST) throw new TooMuch();
    this.source.effort.node();
    this.last.next = link;
    this.last = link;
  }

  /** @param {Link | null} link @param {Link | null} end */
  #depth(link, end) {
    let depth = 0;
    for (let at = link; at && at !== end; at = at.next) depth = Math.max(depth, at.depth);
    return depth;
  }

  /** The chain from a link up to another; characters beside each other become one node. @param {Link | null} link @param {Link | null} end @returns {Inline[]} */
  #nodes(link, end) {
    /** @type {Inline[]} */
    const nodes = [];
    for (let at = link; at && at !== end; at = at.next) {
      if (at.node) {
        nodes.push(at.node);
        continue;
      }
      if (at.from === at.to) continue;
      const last = nodes[nodes.length - 1];
      const pieces = this.source.pieces(at.from, at.to);
      if (last?.type !== 'text') {
        nodes.push({ type: 'text', ranges: pieces });
        continue;
      }
      const end_ = last.ranges[last.ranges.length - 1];
      if (end_[1] === pieces[0][0]) {
        last.ranges[last.ranges.length - 1] = [end_[0], pieces[0][1]];
        pieces.shift();
      }
      last.ranges.push(...pieces);
    }
    return nodes;
  }
}

/** Whether one run can open what another closes, by CommonMark's rule of three. @param {Run} opener @param {Run} closer */
function fit(opener, closer) {
  if (opener.sign !== closer.sign || !opener.opens) return false;
  if (opener.sign === '~') return true;
  return !((opener.closes || closer.opens) && closer.length % 3 !== 0 && (opener.length + closer.length) % 3 === 0);
}

/** @param {string} text @param {number} at */
function characterAt(text, at) {
  return at < text.length ? String.fromCodePoint(/** @type {number} */ (text.codePointAt(at))) : '\n';
}

/** @param {string} text @param {number} at */
function characterBefore(text, at) {
  if (at <= 0) return '\n';
  const pair = at > 1 && /[\udc00-\udfff]/.test(text[at - 1]);
  return pair ? characterAt(text, at - 2) : text[at - 1];
}
