/** "The rest": one label for all units of a criterion that have none, and the way back from it. */

import { button, h } from '../../shared/dom.js';
import { TEXT } from '../../shared/text.js';

/** @typedef {import('./rows.js').Panel} Panel */

const FEW = 3; // units that are left, from which on they can be labelled at once

/**
 * What was given at once, until anything else is given.
 * @typedef {{rest: Rest | null, cells: Cell[]}} Given
 */

export class Rest {
  /**
   * The line of a criterion that names a label for the rest; null for one that names none.
   *
   * @param {Criterion} criterion
   * @param {() => Cell[]} cells its units that are at hand
   * @param {Panel} panel
   */
  static of(criterion, cells, panel) {
    const label = criterion.rest === undefined ? null
      : criterion.labels?.find((label) => String(label.value) === String(criterion.rest)) ?? null;
    return label && new Rest(criterion, label, cells, panel);
  }

  /** @param {Criterion} criterion @param {Label} label @param {() => Cell[]} cells @param {Panel} panel */
  constructor(criterion, label, cells, panel) {
    this.criterion = criterion;
    this.label = label;
    this.cells = cells;
    this.panel = panel;
    this.words = h('small', { role: 'status', 'data-testid': 'rest-words' });
    this.give = button(TEXT.restGive(label.title), () => panel.giveRest(this),
      { class: 'btn small', key: panel.keys.of('rest'), testid: 'rest', name: `${criterion.title}: ${TEXT.restGive(label.title)}`, hint: panel.keys.title('rest') });
    this.undo = button(TEXT.undo, () => panel.undoRest(), { class: 'btn small', key: panel.keys.of('back'), testid: 'rest-undo' });
    this.element = h('div', { class: 'rest at-once' }, this.words, this.give, this.undo);
  }

  /** The units that have no label and are asked now. */
  get left() {
    const { sheet } = this.panel;
    return this.cells().filter((cell) => sheet.asked(cell) && !sheet.answered(cell));
  }

  /** Whether so many are left that labelling them at once is worth a button. */
  get possible() {
    return this.left.length >= FEW;
  }

  /** @param {Given | null} given what can be taken back now @param {Rest | null} next the one that the key would do */
  refresh(given, next) {
    const { left } = this;
    const mine = given?.rest === this ? given.cells.length : 0;
    this.element.hidden = !mine && left.length < FEW;
    this.undo.hidden = !mine;
    this.give.hidden = left.length < FEW;
    this.give.querySelector('kbd')?.toggleAttribute('hidden', next !== this);
    const words = mine ? TEXT.restGiven(mine, this.label.title) : TEXT.restLeft(left.length);
    if (this.words.textContent !== words) this.words.textContent = words;
  }
}
