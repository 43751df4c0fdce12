/** The table of all units: criteria down, annotators across, the decision last. */

import { h } from '../shared/dom.js';
import { targetKeys } from '../shared/targets.js';
import { TEXT } from '../shared/text.js';
import { colourOf } from './rationales.js';
import { Fold, Row } from './row.js';
import { WORDS } from './text.js';
import { about } from './units.js';

const FOLDED = 2; // settled units of one criterion, one below the other, from which on they are folded into one row

export class Table {
  /** @param {import('./row.js').Panel} panel @param {boolean} coloured annotators have colours on the pages */
  constructor(panel, coloured) {
    this.panel = panel;
    const { raters } = panel.decisions.dispute;
    this.columns = raters.length + 2;
    /** @type {Row[]} */
    this.rows = [];
    /** @type {Fold[]} */
    this.folds = [];
    const heads = raters.map((rater) => h('th', { scope: 'col', dir: 'auto', title: rater },
      coloured ? h('i', { class: 'swatch', style: `background:${colourOf(rater, raters)}` }) : null, rater));
    this.head = h('thead', {}, h('tr', {}, h('th', { scope: 'col' }, h('span', { class: 'unseen' }, WORDS.criterion)), ...heads, h('th', { scope: 'col' }, WORDS.decision)));
    this.element = h('table', { class: 'units', 'aria-label': WORDS.table, style: `--raters:${raters.length}` },
      h('colgroup', {}, h('col', { class: 'col-title' }), ...raters.map(() => h('col')), h('col', { class: 'col-decision' })),
      this.head, h('tbody', {}, ...this.#parts()));
    this.rowOf = new Map(this.rows.map((row) => [row.unit, row]));
  }

  refresh() {
    for (const row of this.rows) row.refresh();
  }

  /** Marks the current row and shows it if it is folded away. @param {VotedUnit | null} unit */
  select(unit) {
    for (const row of this.rows) row.select(row.unit === unit);
    for (const fold of this.folds) {
      if (!fold.open && fold.rows.some((row) => row.unit === unit)) fold.set(true);
    }
  }

  /** The units that are not folded away. */
  visible() {
    return this.rows.filter((row) => !row.element.hidden).map((row) => row.unit);
  }

  #parts() {
    const { units } = this.panel.decisions;
    return [...new Set(units.map((unit) => unit.criterion.name))].flatMap((criterion) => {
      const own = units.filter((unit) => unit.criterion.name === criterion);
      if (['item', 'pair'].includes(own[0].target)) return this.#rows(own, null);
      const place = commonPlace(own, this.panel.decisions.item);
      const hops = [...new Set(own.map((unit) => targetKeys(unit.target).hop))];
      if (hops.length < 2) return [this.#heading(own, place), ...this.#rows(own, place)];
      return [this.#heading(own, place), ...hops.flatMap((hop) => {
        const ofHop = own.filter((unit) => targetKeys(unit.target).hop === hop);
        return [this.#hopHeading(hop ?? '', ofHop), ...this.#rows(ofHop, place)];
      })];
    });
  }

  /** Rows of one criterion, and of one hop of it; what is calm is folded. @param {VotedUnit[]} units @param {string | null} above the place that is said with their criterion above them; null: that is not named @returns {HTMLElement[]} */
  #rows(units, above) {
    const rows = units.map((unit) => new Row(unit, this.panel, above));
    this.rows.push(...rows);
    const parts = [];
    for (let at = 0; at < rows.length;) {
      const end = rows.findIndex((row, number) => number >= at && !this.#calm(row.unit));
      const calm = rows.slice(at, end < 0 ? rows.length : end);
      if (calm.length >= FOLDED) {
        const fold = new Fold(calm, this.columns);
        this.folds.push(fold);
        parts.push(fold.element);
      }
      parts.push(...calm.map((row) => row.element));
      if (end >= 0) parts.push(rows[end].element);
      at += calm.length + (end >= 0 ? 1 : 0);
    }
    return parts;
  }

  /** Whether the votes settled a unit and nobody had anything to say about it. @param {VotedUnit} unit */
  #calm(unit) {
    return !['open', 'alike'].includes(unit.outcome) && !this.panel.decisions.open(unit) &&
      unit.votes.every((vote) => !vote.cannot_judge && !vote.comment && !vote.rationale);
  }

  /** The name of a criterion that has a row for each thing it is about. @param {VotedUnit[]} own @param {string} place that all have */
  #heading(own, place) {
    const [{ criterion }] = own;
    const disputed = own.filter((unit) => unit.disputed).length;
    return h('tr', { class: 'group-head' }, h('th', { scope: 'rowgroup', colspan: this.columns },
      h('span', { dir: 'auto', title: criterion.help || null }, criterion.title),
      place ? h('small', { class: 'soft', dir: 'auto' }, place) : null, h('small', { class: 'soft' }, WORDS.disputedOf(disputed, own.length))));
  }

  /** A hop of the pages of a criterion, with what it asks. @param {string} hop @param {VotedUnit[]} own */
  #hopHeading(hop, own) {
    const { hops = [] } = this.panel.decisions.item;
    const number = hops.findIndex(({ key }) => key === hop);
    const disputed = own.filter((unit) => unit.disputed).length;
    return h('tr', { class: 'hop-head', 'data-testid': 'hop-head' }, h('th', { scope: 'rowgroup', colspan: this.columns }, h('div', {},
      h('b', {}, TEXT.hop(number + 1)), h('span', { dir: 'auto', title: hops[number]?.question ?? null }, hops[number]?.question ?? ''),
      h('small', { class: 'soft' }, WORDS.disputedOf(disputed, own.length)))));
  }
}

/** The place that all of several units have, such as what claims are held against; else none. @param {VotedUnit[]} units @param {Presentation} item */
function commonPlace(units, item) {
  const places = new Set(units.map((unit) => about(unit.target, item).place));
  return places.size === 1 ? [...places][0] : '';
}
