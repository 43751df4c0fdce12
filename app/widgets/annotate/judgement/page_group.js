/** A criterion on every page: its control beside the page that is shown large, the pages as a grid, hop by hop, and their chain. */

import { attribute, button, called, h, keepFocus, keycap } from '../../shared/dom.js';
import { PageGrid } from './page_grid.js';
import { Rest } from './rest.js';
import { Row } from './rows.js';
import { targetKeys } from '../../shared/targets.js';
import { draw } from '../../texts/draw.js';
import { TEXT } from '../../shared/text.js';

/** @typedef {import('./page_grid.js').Place} Place */
/** @typedef {import('../../viewer/strip.js').Mark} Mark */

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
    const [{ criterion }] = cells;
    /** The cells of each hop; without hops there is one list, under null. @type {Map<string | null, Cell[]>} */
    this.byHop = new Map();
    /** @type {Map<string, Cell>} */
    this.byPage = new Map();
    for (const cell of cells) {
      const { document, page } = placeOf(cell);
      const hop = hopOf(cell);
      if (!this.byHop.get(hop)?.push(cell)) this.byHop.set(hop, [cell]);
      this.byPage.set(`${hop} ${document} ${page}`, cell);
    }
    this.hops = [...this.byHop.keys()];
    /** What else the thumbnail of a page says, such as that something was found there. @type {(place: Place) => Mark[]} */
    this.marks = () => [];
    /** The labels that are not the one for the rest: a page that has one belongs to its hop. */
    this.sought = new Set((criterion.labels ?? []).map((label) => String(label.value)).filter((value) => value !== String(criterion.rest)));

    this.name = h('b', {});
    this.where = h('small', { class: 'soft', dir: 'auto' });
    this.row = new Row(this.cell, panel, h('div', { class: 'e-title' }, this.name, this.where), 'e page-row');
    /** Stands with the page that is judged; what it is judged for is there too where the screen is low. */
    this.asks = h('p', { class: 'page-asks', dir: 'auto', lang: item.language });
    this.bar = h('div', { class: 'page-bar', 'data-testid': 'page-bar' }, this.row.element, this.asks);

    const pages = new Map(cells.map((cell) => [`${placeOf(cell).page} ${placeOf(cell).document}`, placeOf(cell)]));
    this.grid = new PageGrid([...pages.values()], item.documents ?? [], criterion.title, (place) => this.#pick(place));
    this.tabs = h('div', { class: 'hop-tabs', hidden: this.hops.length < 2 }, ...this.hops.map((hop) => this.#tab(hop)),
      h('button', {
        type: 'button', class: 'plain', title: panel.keys.title('next_hop'), 'aria-keyshortcuts': panel.keys.of('next_hop'),
        'data-testid': 'next-hop', onclick: () => panel.pick(this.nextHop), onmousedown: keepFocus,
      }, called(panel.keys.title('next_hop')), keycap(panel.keys.of('next_hop'))));
    this.hopText = h('p', { class: 'hop-text', dir: 'auto', lang: item.language });
    const head = h('div', { class: 'page-head' }, this.tabs, this.hopText);
    this.head = this.hops.length > 1 ? head : null;
    this.progress = h('i', {});
    this.count = h('span', { 'data-testid': 'pages-count' });
    this.chain = h('div', { class: 'chain', 'data-testid': 'chain' });
    this.rest = h('div', { class: 'rest' });
    this.labelRest = Rest.of(criterion, () => this.#asked(hopOf(this.cell)), panel);
    this.element = h('div', { class: 'group pages-group' }, this.head, this.grid.element, this.#legend(item),
      h('div', { class: 'at-once page-foot' },
        h('div', { class: 'page-progress' }, h('span', { class: 'bar' }, this.progress), this.count, this.labelRest?.element ?? this.rest), this.chain));
  }

  refresh() {
    const { sheet } = this.panel;
    const hop = hopOf(this.cell);
    this.element.hidden = this.bar.hidden = !this.cells.some((cell) => sheet.asked(cell));
    this.row.refresh();
    this.grid.refresh((place) => this.#look(place, hop));
    const asked = this.#asked(hop);
    const left = asked.filter((cell) => !sheet.answered(cell));
    const of = this.hops.length > 1 ? TEXT.hop(this.hops.indexOf(hop) + 1) : '';
    const done = asked.length - left.length;
    this.progress.style.width = `${(done / Math.max(1, asked.length)) * 100}%`;
    this.count.textContent = TEXT.pagesJudged(done, asked.length, of);
    this.name.textContent = TEXT.page(placeOf(this.cell).page);
    this.where.textContent = this.#whereWords(of);
    const question = this.#question(hop);
    draw(this.asks, question || (this.panel.sheet.item.question ?? ''), true);
    this.hopText.replaceChildren(...(question ? [h('span', { class: 'soft' }, `${of}: `), drawn(h('span'), question)] : []));
    for (const [at, tab] of [...this.tabs.querySelectorAll('[data-hop]')].entries()) {
      const own = this.hops[at];
      attribute(tab, 'aria-current', own === hop ? 'true' : null);
      /** @type {HTMLElement} */ (tab.firstElementChild).textContent = this.#isDone(own) ? '✓ ' : '';
    }
    this.#drawChain();
    const labels = this.cell.criterion.labels ?? [];
    this.rest.hidden = left.length < 2 || left.length === asked.length || !labels.length;
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
    }
    this.grid.select(own ? placeOf(cell) : null);
    this.row.select(own);
  }

  /** What is scrolled to. */
  get shown() {
    return this.grid.current;
  }

  /** The question of a hop as it was written. @param {string | null} hop */
  #question(hop) {
    return this.panel.sheet.item.hops?.find(({ key }) => key === hop)?.question;
  }

  /** The same in one line, as texts are drawn. @param {string | null} hop */
  #title(hop) {
    return drawn(h('span'), this.#question(hop) ?? '').textContent || null;
  }

  /** The cell of a page: in the hop at hand when there are hops. @param {string} document @param {number} page */
  at(document, page) {
    return this.#cellAt({ document, page }, hopOf(this.cell));
  }

  /** The cell beside the current one, in its hop. @param {'above' | 'below' | 'left' | 'right'} where @returns {Cell | null} */
  beside(where) {
    const place = this.grid.beside(placeOf(this.cell), where);
    return place && this.#cellAt(place, hopOf(this.cell));
  }

  /** Where to go on after a page: to the next one of its hop that is open; null once the hop is done. @param {Cell} cell @returns {Cell | null} */
  next(cell) {
    const { sheet } = this.panel;
    const open = this.#asked(hopOf(cell)).filter((other) => !sheet.answered(other));
    return open.find((other) => this.cells.indexOf(other) > this.cells.indexOf(cell)) ?? open[0] ?? null;
  }

  /** The number of the next hop with open pages, once all pages of the one at hand are judged; else null. */
  get hopToGoOnWith() {
    if (!this.#isDone(hopOf(this.cell))) return null;
    const at = this.hops.indexOf(hopOf(this.cell));
    const order = [...this.hops.slice(at + 1), ...this.hops.slice(0, at)];
    const next = order.find((hop) => !this.#isDone(hop));
    return next === undefined ? null : this.hops.indexOf(next) + 1;
  }

  /** The page of a hop to begin with: the first that is open, else the one at hand. @param {string | null} hop @returns {Cell} */
  entry(hop) {
    const cells = this.byHop.get(hop) ?? [];
    return cells.find((cell) => this.panel.sheet.asked(cell) && !this.panel.sheet.answered(cell)) ??
      this.#cellAt(placeOf(this.cell), hop) ?? cells[0];
  }

  /** The page to begin the next hop with, from the last again the first. */
  get nextHop() {
    return this.entry(this.hops[(this.hops.indexOf(hopOf(this.cell)) + 1) % this.hops.length]);
  }

  dispose() {
    this.grid.dispose();
  }

  /** @param {Place} place @param {string | null} hop */
  #cellAt({ document, page }, hop) {
    return this.byPage.get(`${hop} ${document} ${page}`) ?? null;
  }

  /** @param {Place} place */
  #pick(place) {
    const cell = this.#cellAt(place, hopOf(this.cell));
    if (cell) this.panel.pick(cell);
  }

  /** The cells of a hop that are asked now. @param {string | null} hop */
  #asked(hop) {
    return (this.byHop.get(hop) ?? []).filter((cell) => this.panel.sheet.asked(cell));
  }

  /** @param {string | null} hop */
  #isDone(hop) {
    return this.#asked(hop).every((cell) => this.panel.sheet.answered(cell));
  }

  /** @param {string | null} hop */
  #tab(hop) {
    return h('button', {
      type: 'button', class: 'hop-tab', 'data-hop': hop ?? '', 'data-testid': 'hop-tab', title: this.#title(hop), onmousedown: keepFocus,
      onclick: () => this.panel.pick(this.entry(hop)),
    }, h('span', { class: 'done' }), TEXT.hop(this.hops.indexOf(hop) + 1));
  }

  /** "for hop 2", and of which document where that is not plain. @param {string} of */
  #whereWords(of) {
    const { documents } = this.panel.sheet.item;
    const doc = documents?.find(({ key }) => key === placeOf(this.cell).document);
    const name = doc && ((documents?.length ?? 0) > 1 || !doc.supplied) ? doc.title || doc.key : '';
    return [of && TEXT.forHop(of), name].filter(Boolean).join(' · ');
  }

  /** How a page stands in a hop. @param {Place} place @param {string | null} hop @returns {import('./page_grid.js').Look} */
  #look(place, hop) {
    const { sheet } = this.panel;
    const cell = this.#cellAt(place, hop);
    if (!cell || !sheet.asked(cell)) return { state: 'open', sign: '', words: [], hops: '', marks: [], shown: false };
    const given = sheet.of(cell);
    const labels = cell.criterion.labels ?? [];
    const number = labels.findIndex((label) => String(label.value) === String(given.value));
    const others = this.hops.filter((other) => other !== hop && this.#isOf(this.#cellAt(place, other))).map((other) => this.hops.indexOf(other) + 1);
    const suggested = sheet.suggestion(cell);
    const imported = sheet.item.page_labels?.includes(cell.target) || (suggested !== null && this.sought.has(String(suggested.value)));
    return {
      state: given.cannot_judge ? 'cannot' : number < 0 ? 'open' : this.#isOf(cell) ? `sought given-${number + 1}` : 'other',
      sign: given.cannot_judge ? '?' : this.#isOf(cell) ? (this.sought.size > 1 ? labels[number].title.slice(0, 1) : '✓') : '',
      words: [given.cannot_judge ? TEXT.cannotJudge : labels[number]?.title ?? TEXT.notYet, ...(others.length ? [TEXT.alsoOf(others)] : [])],
      hops: others.join(' '),
      marks: [...(imported ? [{ class: 'imported', title: TEXT.importedEvidence }] : []), ...this.marks(place)],
      shown: true,
    };
  }

  /** Whether a page was given a label that makes it one of its hop. @param {Cell | null} cell */
  #isOf(cell) {
    const given = cell && this.panel.sheet.of(cell);
    return !!given && !given.cannot_judge && given.value !== null && cell.criterion.rest !== undefined && this.sought.has(String(given.value));
  }

  /** What was found so far, hop by hop: the sets that the labels make. */
  #drawChain() {
    this.chain.hidden = this.cell.criterion.rest === undefined;
    if (this.chain.hidden) return;
    const links = this.hops.map((hop, at) => {
      const asked = this.#asked(hop);
      const pages = asked.filter((cell) => this.#isOf(cell)).map((cell) => placeOf(cell).page);
      const begun = asked.some((cell) => this.panel.sheet.answered(cell));
      const words = TEXT.pagesFound(pages, this.#isDone(hop), begun);
      return h('button', {
        type: 'button', class: 'chain-link', 'data-testid': 'chain-link', 'aria-current': this.hops.length > 1 && hop === hopOf(this.cell) ? 'true' : null,
        title: this.#title(hop), onmousedown: keepFocus, onclick: () => this.panel.pick(this.entry(hop)),
      }, this.hops.length > 1 ? `${TEXT.hop(at + 1)}: ` : '', h('b', {}, words));
    });
    this.chain.replaceChildren(h('span', { class: 'soft' }, this.hops.length > 1 ? TEXT.chain : TEXT.pages),
      ...links.flatMap((link, at) => (at ? [h('span', { class: 'soft', 'aria-hidden': 'true' }, '→'), link] : [link])));
  }

  /** What the signs mean. @param {Presentation} item */
  #legend(item) {
    const { labels = [], rest } = this.cell.criterion;
    const entry = (/** @type {string} */ state, /** @type {string} */ words) => h('span', {}, h('i', { class: 'page-sign', 'data-state': state }), words);
    return h('p', { class: 'page-legend soft' },
      ...labels.map((label, at) => entry(String(label.value) === String(rest) ? 'other' : `sought given-${at + 1}`, label.title)),
      entry('open', TEXT.notJudged), this.hops.length > 1 ? entry('of-hop', TEXT.ofOtherHop) : null,
      item.page_labels || item.suggestions?.some(({ criterion }) => criterion === this.cell.criterion.name) ? h('span', { class: 'imported-legend' }, h('i', { class: 'imported-dot' }), TEXT.importedEvidence) : null);
  }
}

/** @param {Cell} cell @returns {Place} */
function placeOf(cell) {
  const { document = '', page = 0 } = targetKeys(cell.target);
  return { document, page };
}

/** @param {Cell} cell @returns {string | null} */
function hopOf(cell) {
  return targetKeys(cell.target).hop ?? null;
}

/** The element with the text drawn in it. @param {HTMLElement} element @param {string} raw */
function drawn(element, raw) {
  draw(element, raw, true);
  return element;
}
