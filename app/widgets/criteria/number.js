/** A number in a range: one key each where there are few values (`t` is 10), else a field. */

import { h } from '../shared/dom.js';
import { buttons } from './buttons.js';
import { register } from './kinds.js';

/** @typedef {Criterion & {minimum?: number, maximum?: number, step?: number}} NumberCriterion */

const MOST_BUTTONS = 11;

const WORDS = {
  outOfRange: (/** @type {string} */ value, /** @type {number} */ low, /** @type {number} */ high, /** @type {number} */ step) =>
    `${value} is not allowed: give a number from ${low} to ${high}${step === 1 ? '' : ` in steps of ${step}`}`,
  field: (/** @type {number} */ low, /** @type {number} */ high) => `Number from ${low} to ${high}`,
};

/** @param {NumberCriterion} criterion */
const range = (criterion) => ({
  low: criterion.minimum ?? 0, high: criterion.maximum ?? 10, step: criterion.step ?? 1,
});

/** All values, or null when they are too many for buttons. @param {NumberCriterion} criterion */
function fewValues(criterion) {
  const { low, high, step } = range(criterion);
  const steps = Math.floor((high - low) / step + 1e-9);
  if (steps >= MOST_BUTTONS) return null;
  return Array.from({ length: steps + 1 }, (_, number) => Number((low + number * step).toFixed(9)));
}

register('number', {
  complete,
  problem,
  create(options) {
    const values = fewValues(options.criterion);
    return values ? asButtons(options, values) : asField(options);
  },
});

/** @param {Value | null} value */
function complete(value) {
  return typeof value === 'number';
}

/** What is wrong with a value. @param {Value | null} value @param {NumberCriterion} criterion @returns {string | null} */
function problem(value, criterion) {
  if (value === null) return null;
  const { low, high, step } = range(criterion);
  const given = Number(value);
  const steps = (given - low) / step;
  const right = Number.isFinite(given) && given >= low && given <= high && Math.abs(steps - Math.round(steps)) < 1e-6;
  return right ? null : WORDS.outOfRange(String(value), low, high, step);
}

/** @param {InputOptions} options @param {number[]} values @returns {Input} */
function asButtons({ name, give }, values) {
  const digits = values.every((value) => Number.isInteger(value) && value >= 0 && value <= 10);
  const keys = '123456789t';
  const labels = values.map((value, place) => ({
    value, title: String(value), key: digits ? (value === 10 ? 't' : String(value)) : (keys[place] ?? ''), definition: '',
  }));
  const row = buttons({ name, labels, layout: 'numbers', pick: (label) => give(Number(label.value), true) });
  return { ...row, show: (given) => row.show((label) => given !== null && given.value === label.value) };
}

/** @param {InputOptions} options @returns {Input} */
function asField({ criterion, name, give }) {
  const { low, high, step } = range(criterion);
  const valueOf = () => {
    const typed = field.value.trim().replace(',', '.');
    return typed === '' ? null : (Number.isFinite(Number(typed)) ? Number(typed) : typed);
  };
  const field = h('input', {
    type: 'text', inputmode: step % 1 ? 'decimal' : 'numeric', class: 'field number', 'aria-label': name,
    placeholder: `${low}–${high}`, title: WORDS.field(low, high), autocomplete: 'off',
    oninput: () => {
      give(valueOf(), false);
    },
    onkeydown: (/** @type {KeyboardEvent} */ event) => {
      if (event.key === 'Enter' && complete(valueOf()) && problem(valueOf(), criterion) === null) give(valueOf(), true);
    },
  });
  return {
    element: field,
    show(given) {
      const shown = given?.value ?? null;
      if (valueOf() !== shown) field.value = shown === null ? '' : String(shown);
    },
    key(key) {
      if (!/^[0-9]$/.test(key)) return false;
      field.value = key;
      field.focus();
      give(Number(key), false);
      return true;
    },
    focus: () => field.focus(),
    enter: () => field.focus(),
  };
}
