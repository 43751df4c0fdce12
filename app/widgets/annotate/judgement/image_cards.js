/** What is asked about each image of an answer, on a card beside it, where the answer stands opposite. */

import { h } from '../../shared/dom.js';
import { targetKeys, targetName, thingOf } from '../../shared/targets.js';
import { TEXT } from '../../shared/text.js';

/** @typedef {import('./rows.js').Panel} Panel */
/** @typedef {{key: string, cells: Cell[], element: HTMLElement, state: HTMLElement}} Card */

export class ImageCards {
  /** Whether these criteria, asked together, are about images of an answer. @param {Criterion[]} criteria @param {Panel} panel */
  static suits(criteria, panel) {
    return panel.facing && criteria.length > 1 && criteria.every(({ target }) => target === 'image') && panel.sheet.item.answer !== undefined;
  }

  /**
   * @param {Criterion[]} criteria
   * @param {Cell[]} cells image by image
   * @param {Panel} panel
   * @param {(cell: Cell, title: HTMLElement, shape: string) => HTMLElement} row
   */
  constructor(criteria, cells, panel, row) {
    this.panel = panel;
    /** @type {Card[]} */
    this.cards = [...new Set(cells.map((cell) => thingOf(cell.target)))].map((thing) => {
      const own = cells.filter((cell) => cell.target === thing);
      const state = h('small', { class: 'soft' });
      const element = h('div', { class: 'image-card', dir: 'ltr', 'data-testid': 'image-card' },
        h('div', { class: 'card-title', onclick: () => panel.pick(own[0]) }, h('b', {}, targetName(thing, panel.sheet.item).key), state),
        ...own.map((cell) => row(cell, h('div', { class: 'c-title', dir: 'auto', title: cell.criterion.help }, cell.criterion.title), 'c in')));
      return { key: targetKeys(thing).image ?? '', cells: own, element, state };
    });
    this.progress = h('i', {});
    this.count = h('span', { 'data-testid': 'images-count' });
    this.element = h('div', { class: 'group images-group' },
      h('dl', {}, ...criteria.filter(({ help }) => help).flatMap(({ title, help }) => [h('dt', { dir: 'auto' }, title), h('dd', { dir: 'auto' }, help)])),
      h('div', { class: 'page-progress' }, h('span', { class: 'bar' }, this.progress), this.count));
  }

  /** Puts each card beside its image: where it comes first in a text; one whose image is nowhere stays with the group. @param {HTMLElement} root */
  place(root) {
    for (const { key, element } of this.cards) {
      const figure = root.querySelector(`.a figure[data-image="${CSS.escape(key)}"]`);
      figure?.classList.add('with-card');
      if (element.parentElement !== (figure ?? this.element)) (figure ?? this.element).append(element);
    }
  }

  refresh() {
    const { sheet } = this.panel;
    const judged = this.cards.filter(({ cells, state }) => {
      const whole = cells.filter((cell) => sheet.asked(cell)).every((cell) => sheet.answered(cell));
      state.textContent = whole ? TEXT.imageJudged : '';
      return whole;
    }).length;
    this.count.textContent = TEXT.imagesJudged(judged, this.cards.length);
    this.progress.style.width = `${(judged / Math.max(1, this.cards.length)) * 100}%`;
  }

  /** @param {boolean} busy */
  setBusy(busy) {
    for (const { element } of this.cards) element.toggleAttribute('inert', busy);
  }
}
