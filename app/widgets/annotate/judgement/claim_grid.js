/** Claims and what each is held against, as a grid that is walked with the arrows: a row a claim, a column a unit. */

import { attribute, h, keepFocus } from '../../shared/dom.js';
import { drawnPlain } from '../../texts/draw.js';
import { kindOf } from '../../criteria/kinds.js';
import { Rest } from './rest.js';
import { Row } from './rows.js';
import { targetKeys, targetName, thingOf } from '../../shared/targets.js';
import { TEXT } from '../../shared/text.js';

/** @typedef {{criterion: Criterion, unit: string | null, title: string, tip: string}} Column */

const AROUND = { above: [-1, 0], below: [1, 0], left: [0, -1], right: [0, 1] };

export class ClaimGrid {
  /**
   * Whether these criteria, asked together, make a grid: claims by themselves or against texts, and against each unit.
   *
   * @param {Criterion[]} criteria
   */
  static suits(criteria) {
    return criteria.some(({ target }) => target === 'claim_evidence') &&
      criteria.every((criterion) => criterion.target.startsWith('claim') && criterion.labels?.length && !kindOf(criterion).typed);
  }

  /** @param {Criterion[]} criteria @param {Cell[]} cells claim by claim @param {import('./rows.js').Panel} panel */
  constructor(criteria, cells, panel) {
    this.cells = cells;
    this.panel = panel;
    this.cell = cells[0];
    const { item } = panel.sheet;
    this.claims = [...new Set(cells.map(({ target }) => thingOf(target)))];
    this.columns = criteria.flatMap((criterion) => columnsOf(criterion, cells, item));
    /** @type {(Cell | null)[][]} */
    this.grid = this.claims.map((claim) => this.columns.map(({ criterion, unit }) => cells.find((cell) => (
      cell.criterion === criterion && thingOf(cell.target) === claim && (targetKeys(cell.target).evidence ?? null) === unit)) ?? null));
    /** The control of each criterion, for whichever cell is the current one. @type {Map<Criterion, Row>} */
    this.controls = new Map(criteria.map((criterion) => {
      const first = cells.find((cell) => cell.criterion === criterion) ?? cells[0];
      return [criterion, new Row(first, panel, h('small', { class: 'soft', dir: 'auto' }, criterion.help), 'c')];
    }));
    this.marks = letters(criteria);
    this.count = h('small', { class: 'soft', 'data-testid': 'grid-count' });
    this.name = h('b', { 'data-testid': 'grid-at' });
    /** @type {Rest[]} */
    this.rests = criteria.flatMap((criterion) => Rest.of(criterion, () => (criterion.target === 'claim_evidence'
      ? this.#ofClaim(this.cell) : this.cells).filter((cell) => cell.criterion === criterion), panel) ?? []);
    /** @type {Map<string, HTMLElement>} */
    this.buttons = new Map();
    this.lines = this.grid.map((line, at) => this.#line(line, at));
    const head = h('tr', {}, h('th', { scope: 'col', colspan: 2 }, TEXT.claim), ...this.columns.map(({ title, tip }) => h('th', { scope: 'col', title: tip }, title)));
    this.heads = [...head.children].slice(1);
    this.table = h('table', { class: 'claim-grid', 'data-testid': 'claim-grid' }, h('thead', {}, head), h('tbody', {}, ...this.lines));
    this.element = h('div', { class: 'group claims', 'data-cells': cells.map((cell) => cell.id).join('\n') }, this.table,
      h('div', { class: 'at-once claim-control' }, h('div', { class: 'claim-at' }, this.name, this.count),
        ...[...this.controls.values()].map((row) => row.element)));
    for (const rest of this.rests) this.controls.get(rest.criterion)?.element.append(rest.element);
  }

  /** The control of the current cell. */
  get row() {
    return /** @type {Row} */ (this.controls.get(this.cell.criterion));
  }

  /** What is scrolled to: the line of the current cell. @returns {HTMLElement} */
  get shown() {
    return this.lines[this.claims.indexOf(thingOf(this.cell.target))];
  }

  /** The cell beside the current one that is asked; null at the edge. @param {keyof typeof AROUND} where @returns {Cell | null} */
  beside(where) {
    const [down, across] = AROUND[where];
    let line = this.claims.indexOf(thingOf(this.cell.target));
    let column = this.grid[line].indexOf(this.cell);
    for (;;) {
      line += down;
      column += across;
      const cell = this.grid[line]?.[column];
      if (cell === undefined) return null;
      if (cell && this.panel.sheet.asked(cell)) return cell;
    }
  }

  refresh() {
    const { sheet } = this.panel;
    for (const cell of this.cells) {
      const mark = this.buttons.get(cell.id);
      if (mark) this.#refreshMark(mark, cell);
    }
    const asked = this.cells.filter((cell) => sheet.asked(cell));
    this.count.textContent = TEXT.cellsDone(asked.filter((cell) => sheet.answered(cell)).length, asked.length);
    for (const row of this.controls.values()) {
      row.refresh();
      row.element.hidden = row !== this.row;
    }
  }

  /** @param {Cell | null} cell */
  select(cell) {
    const own = cell !== null && this.cells.includes(cell);
    if (own) {
      this.cell = cell;
      this.row.turnTo(cell);
      this.name.textContent = this.#words(cell);
      this.refresh();
    }
    const column = own ? this.#columnOf(cell) : -1;
    this.heads.forEach((head, at) => head.classList.toggle('cur', at === column));
    this.lines.forEach((line, at) => line.classList.toggle('cur', own && this.claims[at] === thingOf(cell.target)));
    for (const [id, mark] of this.buttons) attribute(mark, 'aria-current', own && id === cell.id ? 'true' : null);
    for (const row of this.controls.values()) row.select(own && row === this.row);
  }

  /** No cell of a grid is about a page. @returns {Cell | null} */
  at() {
    return null;
  }

  /** @param {(Cell | null)[]} line @param {number} at */
  #line(line, at) {
    const { item } = this.panel.sheet;
    const { key, title } = targetName(this.claims[at], item);
    const first = /** @type {Cell} */ (line.find((cell) => cell !== null));
    return h('tr', { 'data-claim': key, onclick: () => this.panel.pick(first) }, h('th', { scope: 'row' }, key), h('td', { class: 'claim-text', dir: 'auto', title }, h('span', {}, ...drawnPlain(title))),
      ...line.map((cell) => h('td', {}, cell && this.#mark(cell))));
  }

  /** @param {Cell} cell */
  #mark(cell) {
    const mark = h('button', {
      type: 'button', class: 'page-chip', tabindex: '-1', 'data-testid': 'grid-cell', 'data-criterion-of': cell.criterion.name, 'data-target-of': cell.target,
      onmousedown: keepFocus,
      onclick: (/** @type {Event} */ event) => {
        event.stopPropagation();
        this.panel.pick(cell);
      },
    });
    this.buttons.set(cell.id, mark);
    return mark;
  }

  /** @param {HTMLElement} mark @param {Cell} cell */
  #refreshMark(mark, cell) {
    const { sheet } = this.panel;
    const given = sheet.of(cell);
    const labels = cell.criterion.labels ?? [];
    const numberOf = (/** @type {unknown} */ value) => labels.findIndex((label) => String(label.value) === String(value));
    const number = numberOf(given.value);
    const words = given.cannot_judge ? TEXT.cannotJudge : number >= 0 ? labels[number].title : TEXT.notYet;
    const open = !given.cannot_judge && number < 0;
    const proposed = sheet.suggestion(cell);
    const suggested = proposed ? numberOf(proposed.value) : -1;
    const says = suggested >= 0 ? TEXT.suggested(labels[suggested].title) : null;
    mark.hidden = !sheet.asked(cell);
    mark.className = `page-chip ${given.cannot_judge ? 'cannot' : open ? 'open' : `given given-${number + 1}`}`;
    // An open cell has the letter that is suggested, in a dashed frame; one with another label says it in its tip.
    mark.classList.toggle('suggested', suggested >= 0 && (open || suggested === number));
    mark.textContent = given.cannot_judge ? '?' : this.marks.get(cell.criterion)?.[open ? suggested : number] ?? '';
    attribute(mark, 'title', says);
    attribute(mark, 'aria-label', [`${this.#words(cell)}: ${words}`, says].filter(Boolean).join('. '));
  }

  /** "C6 against E3", or "C6, Form". @param {Cell} cell */
  #words(cell) {
    const { item } = this.panel.sheet;
    const claim = targetName(thingOf(cell.target), item).key;
    const { evidence } = targetKeys(cell.target);
    return evidence ? TEXT.claimAgainst(claim, evidence) : `${claim}, ${cell.criterion.title}`;
  }

  /** @param {Cell} cell */
  #columnOf(cell) {
    return this.grid[this.claims.indexOf(thingOf(cell.target))].indexOf(cell);
  }

  /** @param {Cell} cell */
  #ofClaim(cell) {
    return this.cells.filter(({ target }) => thingOf(target) === thingOf(cell.target));
  }
}

/** @param {Criterion} criterion @param {Cell[]} cells @param {Presentation} item @returns {Column[]} */
function columnsOf(criterion, cells, item) {
  if (criterion.target !== 'claim_evidence') return [{ criterion, unit: null, title: criterion.title.split(' ')[0], tip: criterion.title }];
  const asked = new Set(cells.filter((cell) => cell.criterion === criterion).map((cell) => targetKeys(cell.target).evidence));
  return (item.evidence ?? []).filter((unit) => asked.has(unit.key)).map((unit) => {
    const { title, place } = targetName(`evidence:${unit.key}`, item);
    return { criterion, unit: unit.key, title: unit.key, tip: [criterion.title, title, place].filter(Boolean).join(' · ') };
  });
}

/** What stands in a cell for each label: its first letter where that tells labels apart, else its key. @param {Criterion[]} criteria @returns {Map<Criterion, string[]>} */
function letters(criteria) {
  return new Map(criteria.map((criterion) => {
    const labels = criterion.labels ?? [];
    const first = labels.map((label) => [...label.title][0]?.toUpperCase() ?? '');
    return [criterion, new Set(first).size === labels.length ? first : labels.map((label, at) => label.key || String(at + 1))];
  }));
}
