/** A criterion on every page: one control for the current page, a number for each page, and a way to label the rest. */

import { attribute, button, h, keepFocus } from '../../shared/dom.js';
import { Rest } from './rest.js';
import { Row, rowTitle } from './rows.js';
import { targetKeys } from '../../shared/targets.js';
import { TEXT } from '../../shared/text.js';

export class PageGroup {
  /**
   * @param {Cell[]} cells all of one criterion, in order
   * @param {import('./rows.js').Panel} panel
   */
  constructor(cells, panel) {
    this.cells = cells;
    this.panel = panel;
    this.cell = cells[0];
    const { item } = panel.sheet;
    /** The cells of each hop; without hops there is one list, under null. @type {Map<string | null, Cell[]>} */
    this.byHop = new Map();
    /** @type {Map<string, Cell>} */
    this.byPage = new Map();
    for (const cell of cells) {
      const { document, page } = targetKeys(cell.target);
      const hop = this.#hop(cell);
      if (!this.byHop.get(hop)?.push(cell)) this.byHop.set(hop, [cell]);
      this.byPage.set(`${hop} ${document} ${page}`, cell);
    }
    this.hops = [...this.byHop.keys()];
    this.count = h('small', { class: 'soft' });
    this.name = h('b', {});
    this.row = new Row(this.cell, panel, h('div', { class: 'e-title' }, this.name), 'e page-row');
    this.chips = h('div', { class: 'page-chips', role: 'group', 'aria-label': cells[0].criterion.title });
    this.tabs = h('div', { class: 'hop-tabs', hidden: this.hops.length < 2 }, ...this.hops.map((hop, number) => h('button', {
      type: 'button', class: 'chip', 'data-hop': hop ?? '', title: item.hops?.find((step) => step.key === hop)?.question,
      onclick: () => panel.pick(this.#cellsOf(hop).find((cell) => !panel.sheet.answered(cell)) ?? this.#cellsOf(hop)[0]), onmousedown: keepFocus,
    }, TEXT.hop(number + 1))));
    this.hopText = h('p', { class: 'hop-text', dir: 'auto' });
    this.imported = h('small', { class: 'soft imported-legend', hidden: !item.page_labels }, h('i', { class: 'imported-dot' }), ` ${TEXT.importedEvidence}`);
    this.rest = h('div', { class: 'rest' });
    this.labelRest = Rest.of(cells[0].criterion, () => this.#cellsOf(this.#hop(this.cell)), panel);
    this.element = h('div', { class: 'group' },
      h('div', { class: 'group-title' }, rowTitle(cells[0].criterion, panel.sheet.item), this.count),
      this.tabs, this.hopText, this.row.element, this.chips, this.imported, this.labelRest?.element ?? this.rest);
    this.drawn = /** @type {string | null | undefined} */ (undefined);
  }

  refresh() {
    const { sheet } = this.panel;
    const hop = this.#hop(this.cell);
    const cells = this.#cellsOf(hop);
    this.element.hidden = !sheet.asked(this.cell);
    this.row.refresh();
    if (this.drawn !== hop) {
      this.chips.replaceChildren(...cells.map((cell) => h('button', {
        type: 'button', class: 'page-chip', 'data-cell': cell.id, onclick: () => this.panel.pick(cell), onmousedown: keepFocus,
      }, String(targetKeys(cell.target).page))));
      this.drawn = hop;
    }
    const labels = cells[0].criterion.labels ?? [];
    cells.forEach((cell, at) => {
      const chip = /** @type {HTMLElement} */ (this.chips.children[at]);
      const given = sheet.of(cell);
      const number = labels.findIndex((label) => String(label.value) === String(given.value));
      const imported = !!sheet.item.page_labels?.includes(cell.target);
      chip.className = `page-chip ${given.cannot_judge ? 'cannot' : number >= 0 ? `given given-${number + 1}` : ''}${imported ? ' imported' : ''}`;
      chip.title = `${TEXT.page(targetKeys(cell.target).page ?? 0)}${number >= 0 ? `: ${labels[number].title}` : ''}${imported ? `, ${TEXT.importedEvidence}` : ''}`;
      attribute(chip, 'aria-current', cell.id === this.cell.id ? 'true' : null);
    });
    const left = cells.filter((cell) => !sheet.answered(cell));
    this.count.textContent = TEXT.labelled(this.cells.filter((cell) => sheet.answered(cell)).length, this.cells.length);
    this.name.textContent = TEXT.page(targetKeys(this.cell.target).page ?? 0);
    const number = this.hops.indexOf(hop);
    for (const tab of this.tabs.children) attribute(tab, 'aria-current', tab.getAttribute('data-hop') === (hop ?? '') ? 'true' : null);
    const question = this.panel.sheet.item.hops?.find((step) => step.key === hop)?.question;
    this.hopText.textContent = question ? `${TEXT.hop(number + 1)}: ${question}` : '';
    this.rest.hidden = left.length < 2 || left.length === cells.length || !labels.length;
    this.rest.replaceChildren(h('small', {}, TEXT.rest(left.length)),
      ...labels.map((label) => button(label.title, () => this.panel.giveAll(left, label.value), { class: 'btn small', testid: 'label-rest' })));
  }

  /** @param {Cell | null} cell */
  select(cell) {
    const own = cell !== null && this.cells.includes(cell);
    if (own) {
      this.cell = cell;
      this.row.turnTo(cell);
      this.refresh();
      this.chips.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
    }
    this.row.select(own);
  }

  /** What is scrolled to. */
  get shown() {
    return this.row.element;
  }

  /** The cell of a page: in the hop at hand when there are hops. @param {string} document @param {number} page */
  at(document, page) {
    return this.byPage.get(`${this.#hop(this.cell)} ${document} ${page}`) ?? null;
  }

  /** @param {Cell} cell @returns {string | null} */
  #hop(cell) {
    return targetKeys(cell.target).hop ?? null;
  }

  /** @param {string | null} hop */
  #cellsOf(hop) {
    return this.byHop.get(hop) ?? [];
  }
}
