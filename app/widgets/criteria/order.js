/** The right order of the item's images: press their numbers one after the other, drag them, or move them by button. */

import { h, keepFocus, keycap, shorten } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';
import { buttons } from './buttons.js';
import { register } from './kinds.js';

const GIVEN = 'given_order'; // one of the orders that were given, where the images cannot be told apart by their keys

const WORDS = {
  help: 'Press the images’ numbers in the right order, or drag them',
  asShown: 'As shown',
  asShownDefinition: 'The order in which the answer has them is right',
  orderOf: (/** @type {string} */ places) => `Images ${places}`,
  earlier: (/** @type {string} */ name) => `Move ${name} one place earlier`,
  later: (/** @type {string} */ name) => `Move ${name} one place later`,
};

/** @param {Value} value */
const words = (value) => WORDS.orderOf([value].flat().map((key) => String(key).replace(/^I(?=\d+$)/, '')).join(', '));

/** @param {Value | null | undefined} value @returns {string[]} */
const keysOf = (value) => (Array.isArray(value) ? /** @type {string[]} */ (value) : []);

/** The images that are put in order: those of the question are not. @param {Presentation} item */
const ordered = (item) => (item.images ?? []).filter((image) => image.of !== 'question');

register(GIVEN, {
  words,
  create({ criterion, name, give }) {
    const row = buttons({ name, labels: criterion.labels ?? [], pick: (label) => give(JSON.parse(String(label.value)), true) });
    return { ...row, show: (given) => row.show((label) => JSON.stringify(given?.value) === label.value) };
  },
});

register('order', {
  complete: (value, _criterion, item) => Array.isArray(value) && value.length === ordered(item).length,
  words,
  rekeyed: (value, keyOf) => (Array.isArray(value) ? keysOf(value).map(keyOf) : value),
  among(criterion, votes) {
    const given = new Map(votes.flatMap(({ value }) => (Array.isArray(value) ? [[JSON.stringify(value), value]] : [])));
    const labels = [...given].map(([value, order], number) => ({ value, title: order.join(', '), key: String(number + 1), definition: '' }));
    return { ...criterion, kind: GIVEN, labels };
  },
  create({ name, item, give }) {
    const images = item.images ?? [];
    const keys = ordered(item).map((image) => image.key);
    /** @type {string[]} the images that have a place, in order */
    let placed = [];
    const list = h('ol', { class: 'order', 'aria-label': name });
    const asShown = h('button', {
      type: 'button', class: 'btn', 'data-testid': 'label', 'data-value': 'as-shown', 'data-tip': WORDS.asShownDefinition,
      'aria-description': WORDS.asShownDefinition, 'aria-keyshortcuts': '0', onmousedown: keepFocus,
      onclick: () => place(keys),
    }, h('span', {}, WORDS.asShown), keycap('0'));

    /** @param {string[]} now */
    const place = (now) => give(now.length ? now : null, now.length === keys.length);

    /** The whole sequence: what is placed, then the rest as shown. */
    const sequence = () => [...placed, ...keys.filter((key) => !placed.includes(key))];

    /** @param {string} key @param {number} to */
    const moveTo = (key, to) => {
      const others = sequence().filter((other) => other !== key);
      others.splice(Math.max(0, Math.min(others.length, to)), 0, key);
      place(others);
    };

    const draw = () => {
      list.replaceChildren(...sequence().map((key, at) => {
        const number = images.findIndex((image) => image.key === key) + 1;
        const title = TEXT.image(number);
        const done = placed.includes(key);
        return h('li', {
          class: done ? 'placed' : '', draggable: 'true', 'data-key': key, 'data-testid': 'order-entry',
          ondragstart: (/** @type {DragEvent} */ event) => event.dataTransfer?.setData('text/plain', key),
          ondragover: (/** @type {DragEvent} */ event) => event.preventDefault(),
          ondrop: (/** @type {DragEvent} */ event) => {
            event.preventDefault();
            const dragged = event.dataTransfer?.getData('text/plain') ?? '';
            if (keys.includes(dragged)) moveTo(dragged, at);
          },
        },
        h('b', {}, done ? String(at + 1) : '–'),
        h('span', { class: 'grow', dir: 'auto' }, title, images[number - 1].caption
          ? h('small', {}, ` ${shorten(images[number - 1].caption ?? '', 60)}`) : null),
        number <= 9 ? keycap(String(number)) : null,
        h('button', {
          type: 'button', class: 'mini', 'aria-label': WORDS.earlier(title), disabled: at === 0,
          onclick: () => moveTo(key, at - 1), onmousedown: keepFocus,
        }, '↑'),
        h('button', {
          type: 'button', class: 'mini', 'aria-label': WORDS.later(title), disabled: at === keys.length - 1,
          onclick: () => moveTo(key, at + 1), onmousedown: keepFocus,
        }, '↓'));
      }));
    };
    draw();
    return {
      element: h('div', { class: 'order-input' }, list, h('p', { class: 'order-help' }, h('small', {}, WORDS.help), asShown)),
      show(given) {
        placed = keysOf(given?.value).filter((key) => keys.includes(key));
        draw();
      },
      key(pressed) {
        if (pressed === '0') {
          place(keys);
          return true;
        }
        const key = /^[1-9]$/.test(pressed) ? images[Number(pressed) - 1]?.key : undefined;
        if (key === undefined || !keys.includes(key)) return false;
        if (placed.length === keys.length) place([key]); // a full order begins anew
        else if (!placed.includes(key)) place([...placed, key]);
        return true;
      },
      focus: () => asShown.focus({ preventScroll: true }),
    };
  },
});
