/** The places that an annotator marked as the support of a label: as they are stored, drawn, and listed at the label. */

import { h, keepFocus, shorten } from '../shared/dom.js';
import { boxesOf, textOf, wordsIn } from './pages/text_layer.js';
import { WORDS } from '../shared/viewer_text.js';

/** @typedef {{number: number, remove: boolean}} SupportAct what the annotator wants with one of the places */

export const MOST = 100; // places that a label can have
const LONGEST = 4000; // characters of a text
const MOST_LINES = 100;

/** A box without what lies beside the page. @param {Box} box */
const onPage = (box) => /** @type {Box} */ (box.map((edge) => Math.max(0, Math.min(1, edge))));

/** @param {Doc} doc @param {number} page @param {Box} box @returns {Place} */
export const boxPlace = (doc, page, box) => ({ document: doc.key, page, box });

/** Selected words as a place. @param {Doc} doc @param {number} page @param {Word[]} words @returns {Place} */
export const textPlace = (doc, page, words) => ({
  document: doc.key, page, text: textOf(words).slice(0, LONGEST), boxes: boxesOf(words).map(onPage).filter(([x0, y0, x1, y1]) => x0 < x1 && y0 < y1).slice(0, MOST_LINES),
});

/** The words in a box as a place; null when there are none. @param {Doc} doc @param {number} page @param {Box} box @param {Word[]} words */
export function enclosedPlace(doc, page, box, words) {
  const inside = wordsIn(words, box);
  return inside.length ? textPlace(doc, page, inside) : null;
}

/** @param {Place} place */
export const placeBoxes = (place) => place.boxes ?? (place.box ? [place.box] : []);

/** A place in words. @param {Place} place */
export function placeWords(place) {
  return place.text ? WORDS.supportText(shorten(place.text, 60), place.page) : WORDS.supportBox(place.page ?? 0);
}

/**
 * What supports a label, listed in its row: each can be shown and taken away. The row says so by the event `support`.
 *
 * @param {Place[] | null} places
 * @returns {HTMLElement[]}
 */
export function supportNotes(places) {
  return (places ?? []).map((place, number) => {
    const words = placeWords(place);
    const say = (/** @type {boolean} */ remove) => (/** @type {Event} */ event) => {
      event.stopPropagation();
      /** @type {HTMLElement} */ (event.currentTarget).dispatchEvent(new CustomEvent('support', { bubbles: true, detail: { number, remove } }));
    };
    return h('span', { class: 'note support-note', 'data-testid': 'support-note' },
      h('button', { type: 'button', class: 'link', dir: 'auto', onclick: say(false), onmousedown: keepFocus }, `${WORDS.supportNote} ${words}`),
      h('button', { type: 'button', class: 'mini', 'aria-label': WORDS.unmarkNamed(words), 'data-testid': 'remove-support', onclick: say(true), onmousedown: keepFocus }, '×'));
  });
}
