/** The criteria of a step as rows and groups of rows, and what is missing in words. */

import { h } from '../../shared/dom.js';
import { ClaimGrid } from './claim_grid.js';
import { ImageCards } from './image_cards.js';
import { PageGroup } from './page_group.js';
import { figure } from '../../reading/reading.js';
import { Rest } from './rest.js';
import { Row, rowTitle, targetTitle } from './rows.js';
import { cellTitle, targetKeys, targetName, thingOf } from '../../shared/targets.js';
import { otherScores } from '../../reading/score_value.js';
import { TEXT } from '../../shared/text.js';

/** @typedef {import('./rows.js').Panel} Panel */
/** @typedef {import('../sheet.js').Sheet} Sheet */
/** @typedef {{elements: HTMLElement[], rows: Map<string, Row>, groups: (PageGroup | ClaimGrid)[], cards: ImageCards[], rests: Rest[]}} Built */

const NAMED = 4; // decisions that are named when a step is not complete

/** @param {Panel} panel @returns {Built} */
export function buildCriteria(panel) {
  /** @type {Built} */
  const built = { elements: [], rows: new Map(), groups: [], cards: [], rests: [] };
  const row = (/** @type {Cell} */ cell, /** @type {HTMLElement} */ title, /** @type {string} */ shape) => {
    const made = new Row(cell, panel, title, shape);
    built.rows.set(cell.id, made);
    return made.element;
  };
  for (const criteria of panel.sheet.groups) {
    const [{ target }] = criteria;
    const cells = panel.sheet.cells.filter((cell) => criteria.includes(cell.criterion));
    if (!cells.length) continue;
    built.elements.push(...leftOut(criteria, panel.sheet.item));
    if (target === 'item' || target === 'pair') built.elements.push(...cells.map((cell) => row(cell, rowTitle(cell.criterion, panel.sheet.item), cell.criterion.aside ? 'c aside' : 'c')));
    else if (target === 'page') {
      const group = new PageGroup(cells, panel);
      built.groups.push(group);
      built.elements.push(group.element);
      if (group.labelRest) built.rests.push(group.labelRest);
    } else if (ClaimGrid.suits(criteria)) {
      const grid = new ClaimGrid(criteria, cells, panel);
      built.groups.push(grid);
      built.elements.push(grid.element);
      built.rests.push(...grid.rests);
    } else {
      const cards = ImageCards.suits(criteria, panel) ? new ImageCards(criteria, cells, panel, row) : null;
      const group = cards?.element ?? (criteria.length > 1 || target === 'claim_evidence' ? byThing(criteria, cells, panel, row) : list(cells, panel, row));
      if (cards) built.cards.push(cards);
      const rests = criteria.flatMap((criterion) => Rest.of(criterion, () => cells.filter((cell) => cell.criterion === criterion), panel) ?? []);
      group.append(...rests.map((rest) => rest.element));
      built.rests.push(...rests);
      built.elements.push(group);
    }
  }
  if (!panel.sheet.cells.length) built.elements.push(h('p', { class: 'nothing-asked', 'data-testid': 'nothing-asked' }, TEXT.nothingAsked));
  const others = otherScores(panel.sheet.item);
  if (others) built.elements.push(others);
  return built;
}

/** How many units of evidence criteria leave out that are about some of them only. @param {Criterion[]} criteria @param {Presentation} item */
function leftOut(criteria, item) {
  const counts = new Map(criteria.flatMap(({ name }) => (item.left_out?.[name] ? [[item.left_out[name].join(), item.left_out[name]]] : [])));
  return [...counts.values()].map(([n, of]) => h('p', { class: 'soft left-out', 'data-testid': 'left-out-units' }, TEXT.leftOut(n, of)));
}

/** @typedef {(cell: Cell, title: HTMLElement, shape: string) => HTMLElement} MakeRow */

/** One criterion, a row for each target. @param {Cell[]} cells @param {Panel} panel @param {MakeRow} row */
function list(cells, panel, row) {
  const { item } = panel.sheet;
  return h('div', { class: 'group', 'data-cells': idsOf(cells) },
    h('div', { class: 'group-title' }, rowTitle(cells[0].criterion, item), h('small', { class: 'soft' }, TEXT.units(cells.length))),
    ...cells.map((cell) => row(cell, targetTitle(cell.target, item), 'e')));
}

/** Several criteria on the same things, or a claim's evidence: the thing, then what is asked about it. @param {Criterion[]} criteria @param {Cell[]} cells @param {Panel} panel @param {MakeRow} row */
function byThing(criteria, cells, panel, row) {
  const { item } = panel.sheet;
  return h('div', { class: 'group', 'data-cells': idsOf(cells) }, ...[...new Set(cells.map((cell) => thingOf(cell.target)))].map((thing) => {
    const about = cells.filter((cell) => thingOf(cell.target) === thing);
    const number = item.images?.findIndex((image) => `image:${image.key}` === thing) ?? -1;
    const pairs = about.some((cell) => cell.target !== thing && targetKeys(cell.target).evidence);
    const title = (/** @type {Cell} */ cell) => {
      const { evidence } = targetKeys(cell.target);
      const unit = pairs && evidence ? targetTitle(`evidence:${evidence}`, item) : null;
      return unit && criteria.length > 1 ? h('div', {}, unit, rowTitle(cell.criterion, item)) : unit ?? rowTitle(cell.criterion, item);
    };
    return h('div', { class: 'thing', 'data-cells': idsOf(about) },
      h('div', { class: 'thing-title', onclick: () => panel.pick(about[0]) }, targetTitle(thing, item),
        item.images && number >= 0 && item.answer === undefined ? figure(item.images[number], number + 1, item) : null,
        pairs && criteria.length === 1 ? h('small', { class: 'soft' }, criteria[0].title) : null),
      ...about.map((cell) => row(cell, title(cell), pairs ? 'e' : 'c in')));
  }));
}

/** @param {Cell[]} cells */
function idsOf(cells) {
  return cells.map((cell) => cell.id).join('\n');
}

/** Hides groups in which nothing is asked now. @param {HTMLElement} root @param {Sheet} sheet */
export function hideUnasked(root, sheet) {
  for (const part of root.querySelectorAll('[data-cells]')) {
    const cells = (part.getAttribute('data-cells') ?? '').split('\n').map((id) => sheet.cellById.get(id));
    /** @type {HTMLElement} */ (part).hidden = !cells.some((cell) => cell && sheet.asked(cell));
  }
}

/** What keeps a step from being submitted, in words. @param {Sheet} sheet @param {Cell[]} missing not empty */
export function missingWords(sheet, missing) {
  const { item } = sheet;
  const [first] = missing;
  const problem = sheet.problem(first);
  if (problem) return TEXT.wrong(cellTitle(first, item), problem);
  /** @type {Map<string, string[]>} */
  const named = new Map();
  for (const cell of missing) {
    const { claim, evidence } = targetKeys(cell.target);
    const { key } = targetName(claim ? thingOf(cell.target) : cell.target, item);
    const unit = claim && evidence ? TEXT.claimAgainst(key, evidence) : key;
    named.set(cell.criterion.title, [...(named.get(cell.criterion.title) ?? []), ...(unit ? [unit] : [])]);
  }
  const words = [...named].slice(0, NAMED).map(([title, keys]) => {
    const more = keys.length > NAMED ? [...keys.slice(0, NAMED), TEXT.andMore(keys.length - NAMED)] : keys;
    return more.length ? `${title} (${more.join(', ')})` : title;
  });
  if (named.size > NAMED) words.push(TEXT.andMore(named.size - NAMED));
  return TEXT.missing(words.join('; '));
}
