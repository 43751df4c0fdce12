/** Words of the annotator's own, counted against the limit as they are typed. */

import { h } from '../shared/dom.js';
import { register } from './kinds.js';

/** @typedef {Criterion & {max_words?: number | null, lines?: number}} TextCriterion */

/** @param {number} n */
const inWords = (n) => `${n} ${n === 1 ? 'word' : 'words'}`;

const WORDS = {
  count: (/** @type {number} */ n, /** @type {number | null} */ most) => (most ? `${n} of ${most} words` : inWords(n)),
  tooMany: (/** @type {number} */ n, /** @type {number} */ most) => `has ${inWords(n)}; at most ${most} are allowed`,
  typeHere: 'Space starts typing, Escape ends it',
};

/** @param {string} value */
const words = (value) => value.trim().split(/\s+/).filter(Boolean).length;

register('text', {
  typed: true,
  compared: false,
  complete: (value) => typeof value === 'string' && value.trim() !== '',
  problem(value, /** @type {TextCriterion} */ criterion) {
    const most = criterion.max_words;
    if (typeof value !== 'string' || !most) return null;
    return words(value) > most ? WORDS.tooMany(words(value), most) : null;
  },
  create({ criterion, name, give }) {
    const { max_words: most = null, lines = 2 } = /** @type {TextCriterion} */ (criterion);
    const counter = h('small', { class: 'counter', 'aria-live': 'polite' });
    const field = h('textarea', {
      class: 'field', rows: lines, dir: 'auto', 'aria-label': name, title: WORDS.typeHere,
      oninput: () => {
        give(field.value.trim() === '' ? null : field.value, false);
        recount();
      },
    });
    const recount = () => {
      const n = words(field.value);
      counter.textContent = WORDS.count(n, most);
      counter.classList.toggle('over', !!most && n > most);
      field.setAttribute('aria-invalid', String(!!most && n > most));
    };
    recount();
    return {
      element: h('div', { class: 'text-input' }, field, counter),
      show(given) {
        const value = typeof given?.value === 'string' ? given.value : '';
        // A trailing space that is being typed stays: only another text replaces the field's.
        if (value.trim() !== field.value.trim()) field.value = value;
        recount();
      },
      key: () => false,
      focus: () => undefined, // the row takes the focus, so that the page's keys go on working
      enter: () => field.focus({ preventScroll: true }),
    };
  },
});
