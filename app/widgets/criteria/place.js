/** The block of the answer that an image belongs after: a button and a key for each paragraph, and one for nowhere. */

import { blocksOf, plain } from '../shared/blocks.js';
import { h, shorten } from '../shared/dom.js';
import { buttons } from './buttons.js';
import { register } from './kinds.js';

const NOWHERE = 'nowhere';
const AFTER = 'block:';
const SHORT = 22; // characters of a paragraph on its button: enough to know it by, and to stand in the adjudicator's column
const LONG = 400; // characters of it in the button's tip
const MOST_KEYS = 9;

const WORDS = {
  nowhere: 'Nowhere',
  nowhereDefinition: 'It belongs at no place of this answer',
  after: (/** @type {string} */ number) => `After paragraph ${number}`,
  button: (/** @type {number} */ number, /** @type {string} */ text) => `${number}. ${text}`,
};

register('place', {
  words: (value) => (value === NOWHERE ? WORDS.nowhere : WORDS.after(String(value).slice(AFTER.length))),
  create({ name, item, give }) {
    const blocks = blocksOf(item.answer ?? '');
    const places = blocks.map((block, at) => ({
      value: `${AFTER}${at + 1}`, title: WORDS.button(at + 1, shorten(plain(block), SHORT)),
      key: at < MOST_KEYS ? String(at + 1) : '', definition: `${WORDS.after(String(at + 1))}: ${shorten(plain(block), LONG)}`,
    }));
    const nowhere = { value: NOWHERE, title: WORDS.nowhere, key: '0', definition: WORDS.nowhereDefinition };
    const row = buttons({ name, labels: [...places, nowhere], layout: 'wrap places', pick: (label) => give(label.value, true) });
    // Where there is little room the number alone is shown: it stands beside the paragraph as well.
    for (const [at, block] of blocks.entries()) {
      row.element.children[at].firstElementChild?.replaceChildren(h('b', {}, at + 1), h('span', { class: 'place-words' }, `. ${shorten(plain(block), SHORT)}`));
    }
    return { ...row, show: (given) => row.show((label) => given !== null && given.value === label.value) };
  },
});
