/** Stretches of the answer, each with a label: words are selected with the mouse or by keys, and a label's key marks them. */

import { button, h, keepFocus, shorten } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';
import { buttons } from './buttons.js';
import { register } from './kinds.js';
import { WordCursor } from './word_cursor.js';

const NONE = '\u0000none';
const SHORT = 60; // characters of a stretch where it is listed
const TAKING = 'abdehijklnoqtuvy'; // keys that take over what somebody marked: no page has an action on them

const WORDS = {
  noneDefinition: 'There is nothing to mark',
  help: 'Select words with the mouse, or with ← → by word and ↑ ↓ by sentence, with ⇧ more of them; then press a label’s key.',
  selectFirst: 'Select words of the answer first: with the mouse, or → for the first word.',
  selected: (/** @type {string} */ text) => `Selected: “${text}”`,
  remove: (/** @type {string} */ text) => `Take the mark off “${text}”`,
  show: (/** @type {string} */ label, /** @type {string} */ text) => `${label}: “${text}”. Show it in the answer`,
  list: 'Marked stretches',
  take: (/** @type {string} */ rater) => `As ${rater} has it`,
  said: (/** @type {string} */ label, /** @type {string} */ text) => `“${text}” (${label})`,
};

/** @type {[string, string][]} */
const KEYS = [
  ['← →', 'Word before, next word of the answer'],
  ['⇧← ⇧→', 'Select more words, or fewer'],
  ['↑ ↓', 'Sentence before, next sentence'],
  ['⇧↑ ⇧↓', 'Select to the begin or the end of the sentence, then of the next'],
  ['⌫', 'Take the mark off what is selected, or off what was marked last'],
  ['0', 'None: there is nothing to mark'],
];

/** @param {Value | null | undefined} value @returns {Stretch[]} */
const stretchesOf = (value) => (Array.isArray(value) ? /** @type {Stretch[]} */ (value) : []);

/** @param {Criterion} criterion @param {string} label */
const titleOf = (criterion, label) => criterion.labels?.find(({ value }) => String(value) === label)?.title ?? label;

/** A text by its Unicode code points, which places of stretches count; those of the browser count UTF-16 units. */
export class CodePoints {
  /** @param {string} text */
  constructor(text) {
    this.signs = [...text];
    /** Where each code point begins in UTF-16 units, and where the text ends. @type {number[]} */
    this.units = [0];
    for (const sign of this.signs) this.units.push(this.units[this.units.length - 1] + sign.length);
  }

  /** The code point that a UTF-16 unit belongs to. @param {number} unit */
  at(unit) {
    let [low, high] = [0, this.units.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.units[middle] <= unit) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** A stretch without space at its ends; null when nothing is left. @param {number} start @param {number} end @param {string} label @returns {Stretch | null} */
  stretch(start, end, label) {
    let [from, to] = [start, end];
    while (from < to && !this.signs[from].trim()) from += 1;
    while (to > from && !this.signs[to - 1].trim()) to -= 1;
    return from < to ? { start: from, end: to, label, text: this.signs.slice(from, to).join('') } : null;
  }
}

/**
 * The stretches when one more is marked: what it lies over gives way, and what touches it with the same label is one with it.
 *
 * @param {Stretch[]} stretches
 * @param {Stretch} added
 * @param {CodePoints} points
 * @returns {Stretch[]}
 */
export function withStretch(stretches, added, points) {
  let { start, end } = added;
  const others = stretches.flatMap((other) => {
    if (other.end < added.start || other.start > added.end) return [other];
    if (other.label === added.label) {
      [start, end] = [Math.min(start, other.start), Math.max(end, other.end)];
      return [];
    }
    return [points.stretch(other.start, Math.min(other.end, added.start), other.label),
      points.stretch(Math.max(other.start, added.end), other.end, other.label)];
  });
  return [...others, points.stretch(start, end, added.label)].filter((stretch) => stretch !== null).sort((a, b) => a.start - b.start);
}

register('spans', {
  keys: KEYS,
  complete: (value) => Array.isArray(value),
  words: (value, criterion) => stretchesOf(value).map(
    ({ label, text }) => WORDS.said(titleOf(criterion, label), shorten(text, SHORT)),
  ).join('; ') || TEXT.none,
  create({ criterion, name, item, give, answer, votes }) {
    const points = new CodePoints(item.answer ?? '');
    const cursor = new WordCursor();
    const labels = criterion.labels ?? [];
    const numbers = new Map(labels.map(({ value }, number) => [String(value), number + 1]));
    const free = labels.every((label) => label.key !== '0');
    const none = { value: NONE, title: TEXT.none, key: free ? '0' : '', definition: WORDS.noneDefinition };
    /** @type {Stretch[] | null} */
    let value = null;
    /** @type {Stretch | null} */
    let latest = null;

    const now = h('p', { class: 'selected-words soft', dir: 'auto', 'aria-live': 'polite', 'data-testid': 'selected-words' }, WORDS.help);
    const list = h('ul', { class: 'stretches', 'aria-label': WORDS.list, 'data-testid': 'stretches' });

    const draw = () => {
      if (!answer || answer.of !== input) return;
      cursor.read(answer.words(), answer.sentences());
      answer.show((value ?? []).map(({ start, end, label }) => ({
        start: points.units[start], end: points.units[end], number: numbers.get(label) ?? 1, title: titleOf(criterion, label),
      })), cursor.range);
    };
    const point = () => {
      const { range } = cursor;
      const text = range ? (item.answer ?? '').slice(...range) : '';
      now.textContent = range ? WORDS.selected(shorten(text, SHORT)) : WORDS.help;
      draw();
    };
    /** The control at hand is the one whose stretches the answer shows. */
    const own = () => {
      if (!answer || answer.of === input) return;
      answer.of = input;
      draw();
    };
    /** @param {Stretch[]} stretches */
    const set = (stretches) => give(stretches.length ? stretches : null, false);

    const row = buttons({
      name, labels: [...labels, none], multiple: true, layout: 'wrap',
      pick(label) {
        own();
        if (label.value === NONE) {
          cursor.at = null;
          point();
          give([], true);
          return;
        }
        const { range } = cursor;
        const added = range && points.stretch(points.at(range[0]), points.at(range[1]), String(label.value));
        if (!added) {
          now.textContent = WORDS.selectFirst;
          return;
        }
        latest = added;
        set(withStretch(value ?? [], added, points));
      },
    });
    const given = (votes ?? []).filter((vote) => Array.isArray(vote.value));
    const keysOfLabels = new Set(labels.map((label) => label.key));
    const taking = [...TAKING].filter((key) => !keysOfLabels.has(key));
    const takes = given.map((vote, number) => ({ vote, key: taking[number] ?? '' }));
    const take = (/** @type {Vote} */ vote) => {
      own();
      give(stretchesOf(vote.value), true);
    };

    /** Takes the marks off what is selected, else off what was marked last; false when nothing is marked. */
    const unmark = () => {
      const stretches = value ?? [];
      const { range } = cursor;
      const over = range ? stretches.filter(({ start, end }) => points.units[start] < range[1] && points.units[end] > range[0]) : [];
      const gone = over.length ? over : stretches.filter((stretch) => stretch.start === latest?.start).concat(stretches.slice(-1)).slice(0, 1);
      if (gone.length) set(stretches.filter((stretch) => !gone.includes(stretch)));
      return gone.length > 0;
    };

    /** @type {Input} */
    const input = {
      element: h('div', { class: 'spans-input' }, row.element, ...(takes.length ? [h('div', { class: 'takes' }, ...takes.map(({ vote, key }) => button(
        WORDS.take(vote.rater), () => take(vote), { class: 'btn small', key: key || undefined, testid: 'take' })))] : []), now, list),
      show(shown) {
        value = Array.isArray(shown?.value) ? stretchesOf(shown.value) : null;
        row.show((label) => (label.value === NONE ? value?.length === 0 : !!value?.some((stretch) => stretch.label === String(label.value))));
        list.replaceChildren(...(value ?? []).map((stretch) => entry(stretch)));
        draw();
      },
      key(key) {
        own();
        const more = key.startsWith('Shift+');
        const [, arrow] = /^(?:Shift\+)?Arrow(Left|Right|Up|Down)$/.exec(key) ?? [];
        if (arrow) {
          const forwards = arrow === 'Down' || (arrow === 'Right') !== !!answer?.fromTheRight();
          const by = forwards ? 1 : -1;
          const moved = arrow === 'Up' || arrow === 'Down' ? cursor.bySentence(by, more) : cursor.byWord(by, more);
          if (moved) point();
          return moved;
        }
        if (key === 'Backspace' || key === 'Delete') return unmark();
        const taken = takes.find((offered) => offered.key === key);
        if (taken) take(taken.vote);
        return !!taken || row.key(key);
      },
      focus() {
        own();
        row.focus();
      },
    };

    /** One stretch in the list. @param {Stretch} stretch */
    const entry = (stretch) => {
      const { start, end, label, text } = stretch;
      const [title, words] = [titleOf(criterion, label), shorten(text, SHORT)];
      return h('li', { class: `stretch-${numbers.get(label) ?? 1}` },
        h('button', {
          type: 'button', class: 'plain', 'aria-label': WORDS.show(title, words), onmousedown: keepFocus, 'data-testid': 'stretch',
          onclick: () => {
            own();
            cursor.select(points.units[start], points.units[end]);
            point();
          },
        }, h('b', {}, title), h('span', { dir: 'auto' }, words)),
        h('button', {
          type: 'button', class: 'mini', 'aria-label': WORDS.remove(words), onmousedown: keepFocus,
          onclick: () => set((value ?? []).filter((other) => other !== stretch)),
        }, '×'));
    };

    if (answer) {
      answer.of ??= input;
      answer.listen((start, end) => {
        if (answer.of !== input) return;
        cursor.read(answer.words(), answer.sentences());
        if (cursor.select(start, end)) point();
      });
      if (answer.of === input) cursor.read(answer.words(), answer.sentences());
    }
    return input;
  },
});
