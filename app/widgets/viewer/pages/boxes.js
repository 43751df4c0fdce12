/** What is drawn on a page beside its picture: boxes of evidence units, what was marked as support, and highlights. */

import { button, h, keepFocus } from '../../shared/dom.js';
import { turned } from './layout.js';
import { TEXT } from '../../shared/text.js';
import { WORDS } from '../../shared/viewer_text.js';

/** @typedef {{document: number, page: number, boxes: Box[], name: string, title: string, colour: string}} PageMark a box that somebody drew */
/** @typedef {{page: number, boxes: Box[], title: string, remove: () => void}} PageSupport a place that supports the label at hand */
/** @typedef {{page: number, boxes: Box[], of: 'answer' | 'reference' | 'search', title: string, on?: boolean}} PageHit where a phrase was found */
/** @typedef {{unit: string, page: number, boxes: Box[]}} Located */
/**
 * @typedef {object} OnPages what is drawn on the pages of one document
 * @property {Unit[]} units
 * @property {Located[]} located where passages without a box were found
 * @property {string | null} active the unit at hand
 * @property {PageMark[]} marks
 * @property {PageSupport[]} supports
 * @property {PageHit[]} hits
 */

// Shares of the page's width in which text begins that has the page's margin before it; in a narrow one the tag is short.
const MARGIN = { from: 0.07, wide: 0.12, to: 0.3 };
const DRAWN_LARGER = new Set(['table', 'figure']);

/** @param {Box} box @param {number} [turn] */
function styleOf(box, turn = 0) {
  const [x0, y0, x1, y1] = turned(box, turn);
  return `left:${x0 * 100}%;top:${y0 * 100}%;width:${(x1 - x0) * 100}%;height:${(y1 - y0) * 100}%`;
}

/**
 * Where a unit's tag hides no word: in the margin before one of its lines, or in the one behind it. There is none for
 * what begins and ends within the text: that tag stands above, and is short.
 *
 * @param {Box[]} lines of the unit, on the page as it is turned
 * @returns {{line: number, place: string}} which line, and the classes that place the tag
 */
function placeOfTag(lines) {
  const before = lines.map(([x0]) => x0), behind = lines.map(([, , x1]) => 1 - x1);
  for (const [place, margins] of /** @type {[string, number[]][]} */ ([['before', before], ['behind', behind]])) {
    const line = margins.findIndex((margin) => margin > MARGIN.from && margin < MARGIN.to);
    if (line >= 0) return { line, place: margins[line] < MARGIN.wide ? `${place} narrow` : place };
  }
  return { line: 0, place: 'above' };
}

/**
 * The highlights of a page, on the page as it is unturned: what is blended with its picture, and the frames over that.
 *
 * @param {OnPages} drawn
 * @param {number} page
 */
export function highlights({ hits, located, active }, page) {
  const places = [
    ...located.filter((place) => place.page === page).flatMap(({ unit, boxes: lines }) => lines.map(
      (box) => ({ box, kind: `found ${unit === active ? 'on' : ''}`, rest: { 'data-unit': unit } }),
    )),
    ...hits.filter((hit) => hit.page === page).flatMap((hit) => hit.boxes.map(
      (box) => ({ box, kind: `${hit.of} ${hit.on ? 'on' : ''}`, rest: { 'data-testid': `hit-${hit.of}`, title: hit.title } }),
    )),
  ];
  return {
    lights: places.map(({ box, kind, rest }) => h('i', { class: `hl ${kind}`, style: styleOf(box), ...rest })),
    frames: places.map(({ box, kind }) => h('i', { class: `frame ${kind}`, style: styleOf(box) })),
  };
}

/**
 * The boxes of a page, on the page as it is turned.
 *
 * @param {OnPages} drawn
 * @param {number} page
 * @param {number} turn
 * @param {object} on
 * @param {(unit: string) => void} on.unit
 * @param {(unit: Unit) => void} on.enlarge
 */
export function boxes({ units, located, active, marks, supports }, page, turn, on) {
  const own = units.filter((unit) => unit.pages.includes(page));
  const placed = own.filter((unit) => unit.box && unit.pages[0] === page);
  const found = located.flatMap((place) => {
    const unit = place.page === page ? units.find((unit) => unit.key === place.unit) : null;
    return unit ? [{ unit, lines: place.boxes }] : [];
  });
  const whole = own.filter((unit) => !placed.includes(unit) && !found.some((place) => place.unit === unit));
  const state = (/** @type {Unit} */ unit) => (unit.key === active ? 'on' : '');
  const tag = (/** @type {Unit} */ unit) => h('em', {
    class: state(unit), 'data-unit': unit.key, onclick: () => on.unit(unit.key),
  }, unit.key, h('span', { class: 'kind' }, TEXT.kinds[unit.kind] ?? unit.kind), unit.box && DRAWN_LARGER.has(unit.kind) ? h('button', {
    type: 'button', class: 'enlarge', title: WORDS.enlargeTitle, 'aria-label': `${WORDS.enlargeTitle}: ${unit.key}`, 'data-testid': 'enlarge', tabindex: '-1',
    onmousedown: keepFocus,
    onclick: (/** @type {Event} */ event) => {
      event.stopPropagation();
      on.enlarge(unit);
    },
  }, '⤢') : null);
  return [
    ...placed.map((unit) => {
      const box = /** @type {Box} */ (unit.box);
      const { place } = placeOfTag([turned(box, turn)]);
      return h('div', { class: `ev ${place} ${state(unit)}`, 'data-unit': unit.key, 'data-testid': 'evidence-box', style: styleOf(box, turn) }, tag(unit));
    }),
    ...found.map(({ unit, lines }) => {
      const { line, place } = placeOfTag(lines.map((box) => turned(box, turn)));
      return h('div', {
        class: `ev text ${place} ${state(unit)}`, 'data-unit': unit.key, 'data-testid': 'evidence-place', style: styleOf(lines[line], turn),
      }, tag(unit));
    }),
    whole.length ? h('div', { class: `ev whole ${whole.some((unit) => unit.key === active) ? 'on' : ''}` }) : '',
    whole.length ? h('div', { class: 'tags' }, ...whole.map(tag)) : '',
    ...marks.filter((mark) => mark.page === page).flatMap((mark) => mark.boxes.map((box, number) => h('div', {
      class: 'ev mark', title: mark.title, 'data-testid': 'mark-box', style: `${styleOf(box, turn)};--mark-colour:${mark.colour}`,
    }, number ? null : h('em', {}, mark.name)))),
    ...supports.filter((support) => support.page === page).flatMap((support) => support.boxes.map((box, number) => h('div', {
      class: 'ev support', title: support.title, 'data-testid': 'support-box', style: styleOf(box, turn),
    }, number ? null : button('×', support.remove, { class: 'unmark', name: WORDS.unmark, hint: WORDS.unmark, testid: 'unmark' })))),
  ];
}

/**
 * The unit with the smallest box around a point of a page.
 *
 * @param {OnPages} drawn
 * @param {import('./marker.js').Point} point
 * @param {number} turn
 */
export function unitAt({ units, located }, point, turn) {
  const size = (/** @type {Box} */ [x0, y0, x1, y1]) => (x1 - x0) * (y1 - y0);
  const under = units.flatMap((unit) => {
    const own = unit.box ? (unit.pages[0] === point.page ? [unit.box] : [])
      : located.filter((place) => place.unit === unit.key && place.page === point.page).flatMap((place) => place.boxes);
    const box = own.map((box) => turned(box, turn)).find(([x0, y0, x1, y1]) => point.x >= x0 && point.x <= x1 && point.y >= y0 && point.y <= y1);
    return box ? [{ unit, box }] : [];
  });
  return under.sort((first, second) => size(first.box) - size(second.box))[0]?.unit ?? null;
}
