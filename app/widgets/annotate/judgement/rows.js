/** The rows of the judgement panel: one control for one decision, alone or under what it is about. */

import { attribute, button, h, keepFocus } from '../../shared/dom.js';
import { drawnPlain } from '../../texts/draw.js';
import { kindOf } from '../../criteria/kinds.js';
import { supportNotes } from '../../viewer/places.js';
import { cellTitle, targetName, thingOf } from '../../shared/targets.js';
import { scoredTitle, scoreOf } from '../../reading/score_value.js';
import { TEXT } from '../../shared/text.js';

/** @typedef {import('../sheet.js').Sheet} Sheet */
/**
 * @typedef {object} Panel what rows ask of the panel they are in
 * @property {Sheet} sheet
 * @property {boolean} facing what is judged stands opposite
 * @property {Markable} answer
 * @property {(cell: Cell, value: Value | null, done: boolean) => void} give
 * @property {(cells: Cell[], value: Value) => void} giveAll
 * @property {import('../../shared/keys.js').Keys} keys
 * @property {(rest: import('./rest.js').Rest) => void} giveRest
 * @property {() => void} undoRest
 * @property {(cell: Cell) => void} pick the annotator points at a row
 * @property {(cell: Cell) => void} comment
 * @property {(cell: Cell) => void} clear
 * @property {(cell: Cell, reason: string) => void} cannotJudge
 */

/** Title, help and "optional" of a criterion, with the score that it is about. @param {Criterion} criterion @param {Presentation} item */
export function rowTitle(criterion, item) {
  const { aside } = criterion;
  if (aside) return h('div', { class: 'c-title' }, h('span', { dir: 'auto' }, aside.title));
  const score = scoreOf(item, criterion);
  if (score) return scoredTitle(criterion, score);
  return h('div', { class: 'c-title' }, h('span', { dir: 'auto' }, criterion.title),
    criterion.required === false ? h('i', { class: 'optional' }, TEXT.optional) : null,
    criterion.help ? h('small', { dir: 'auto' }, criterion.help) : null);
}

/** One decision: its title, its control, and notes beneath. */
export class Row {
  /**
   * @param {Cell} cell
   * @param {Panel} panel
   * @param {HTMLElement} title
   * @param {string} [shape] an extra class
   */
  constructor(cell, panel, title, shape = 'c') {
    this.cell = cell;
    this.panel = panel;
    const { item } = panel.sheet;
    this.kind = kindOf(cell.criterion);
    const score = scoreOf(item, cell.criterion);
    const name = score ? `${cellTitle(cell, item)}: ${score.words}` : cellTitle(cell, item);
    this.input = this.kind.create({
      criterion: cell.criterion, name, item, answer: panel.answer,
      give: (value, done) => panel.give(this.cell, value, done),
    });
    this.notes = h('div', { class: 'notes' });
    /** What is suggested where there is no value to judge. @type {HTMLElement | null} */
    this.suggestion = score?.value === null ? h('div', { class: 'no-value' }, button(TEXT.noValueJudge,
      () => panel.cannotJudge(cell, TEXT.noValueReason(score.words)), { class: 'btn small', testid: 'no-value' })) : null;
    // A group of labels says its name itself; a field's row says it, as the row has the focus before one types.
    const named = this.input.element.hasAttribute('role');
    this.element = h('div', {
      class: shape, tabindex: '-1', role: named ? null : 'group', 'aria-label': named ? null : name, 'data-testid': 'criterion',
      'data-criterion': cell.criterion.name, 'data-target': cell.target,
      onclick: (/** @type {Event} */ event) => {
        // A click on a control speaks for itself; anywhere else it makes this row the current one.
        if (event.target instanceof Element && !event.target.closest('button, input, textarea, .seg')) panel.pick(this.cell);
      },
    }, title, this.suggestion, this.input.element, this.notes);
  }

  /** Draws what is given now. */
  refresh() {
    const { sheet } = this.panel;
    const given = sheet.of(this.cell);
    this.element.hidden = !sheet.asked(this.cell);
    this.input.show(given);
    this.element.classList.toggle('answered', sheet.answered(this.cell));
    if (this.cell.criterion.aside) return; // what is said of the label stands with it
    if (this.suggestion) this.suggestion.hidden = sheet.answered(this.cell);
    const problem = sheet.problem(this.cell);
    const proposed = this.#markSuggestion();
    const clear = (/** @type {Event} */ event) => {
      event.stopPropagation();
      this.panel.clear(this.cell);
    };
    const comment = (/** @type {Event} */ event) => {
      event.stopPropagation();
      this.panel.comment(this.cell);
    };
    this.notes.replaceChildren(...[
      given.cannot_judge ? h('span', { class: 'note warn', dir: 'auto', 'data-testid': 'cannot-judge-note' }, TEXT.cannotJudgeNote(given.reason ?? ''), h('button', {
        type: 'button', class: 'mini', 'aria-label': TEXT.discard, onclick: clear, onmousedown: keepFocus,
      }, '×')) : null,
      given.comment ? h('button', {
        type: 'button', class: 'note', dir: 'auto', onclick: comment, onmousedown: keepFocus,
      }, TEXT.commentNote(given.comment)) : null,
      ...supportNotes(given.rationale),
      proposed ? h('span', { class: 'note suggested-note', dir: 'auto', 'data-testid': 'suggestion' }, proposed) : null,
      problem && !this.kind.typed ? h('span', { class: 'note warn' }, problem) : null,
    ].filter((note) => note !== null));
  }

  /** Marks the labels that a model proposes; the words to say beneath, where a mark does not say it. @returns {string | null} */
  #markSuggestion() {
    const { sheet } = this.panel;
    const suggestion = sheet.suggestion(this.cell);
    const values = suggestion ? [suggestion.value].flat().map(String) : [];
    const labels = [...this.input.element.querySelectorAll('[data-testid=label]')];
    for (const label of labels) {
      const marked = values.includes(label.getAttribute('data-value') ?? '');
      label.classList.toggle('suggested', marked);
      label.querySelector('.suggests')?.remove();
      if (marked) label.append(h('span', { class: 'unseen suggests' }, TEXT.isSuggested));
    }
    if (!suggestion) return null;
    const { value, cannot_judge } = sheet.of(this.cell);
    const differs = cannot_judge || (value !== null && JSON.stringify([value].flat().map(String)) !== JSON.stringify(values));
    return differs || !labels.length ? TEXT.suggested(this.kind.words(suggestion.value, this.cell.criterion)) : null;
  }

  /** Makes the row about another target of its criterion. @param {Cell} cell */
  turnTo(cell) {
    this.cell = cell;
    this.element.dataset.target = cell.target;
    this.input.element.setAttribute('aria-label', cellTitle(cell, this.panel.sheet.item));
  }

  /** @param {boolean} on */
  select(on) {
    this.element.classList.toggle('cur', on);
    attribute(this.element, 'aria-current', on ? 'true' : null);
  }

  focus() {
    if (this.input.enter) this.element.focus({ preventScroll: true });
    else this.input.focus();
  }
}

/** The title of a row that is about one target: its key, and a line that shows it when clicked; a claim is there in full. @param {string} target @param {Presentation} item */
export function targetTitle(target, item) {
  const said = target.startsWith('claim:'); // what it is held against is what the criterion says
  const { key, title, place } = targetName(said ? thingOf(target) : target, item);
  return h('div', { class: said ? 'e-title said' : 'e-title' }, h('i', {}, key), h('p', { dir: 'auto', title: said ? null : title }, ...drawnPlain(title)), place ? h('small', {}, place) : null);
}
