/** One row of the table: what is decided, the labels of all annotators side by side, and the decision. */

import { onEnter } from '../shared/dock.js';
import { attribute, button, called, h, keepFocus, keycap } from '../shared/dom.js';
import { kindOf, valueWords } from '../criteria/kinds.js';
import { cellTitle } from '../shared/targets.js';
import { scoreOf, scoreParts } from '../reading/score_value.js';
import { WORDS } from './text.js';
import { about, division, isOdd, outcomeWords } from './units.js';

const NAMED = 12; // folded units that are named
const NOTE = 2000; // characters of a note, as the server takes them

/**
 * @typedef {object} Panel what rows ask of the panel they are in
 * @property {import('./decisions.js').Decisions} decisions
 * @property {Markable} answer
 * @property {(unit: VotedUnit, value: Value | null, done: boolean) => void} give
 * @property {(unit: VotedUnit, reason: string) => void} reason
 * @property {(unit: VotedUnit, said: Partial<AboutDecision>) => void} said what one says of a decision of one's own accord
 * @property {(unit: VotedUnit) => void} pick the adjudicator points at a row
 * @property {(unit: VotedUnit) => void} open the adjudicator wants to decide a settled unit
 * @property {(unit: VotedUnit) => void} done a reason is written
 * @property {string} reasonKey the key that goes to the reason
 */

/** A unit in words: its criterion and, in brackets, what it is about. @param {VotedUnit} unit @param {Presentation} item */
export const unitTitle = (unit, item) => cellTitle({ id: unit.id, criterion: unit.criterion, target: unit.target }, item);

export class Row {
  /** @param {VotedUnit} unit @param {Panel} panel @param {string | null} above the place that is said above, with its criterion; null: it names both itself */
  constructor(unit, panel, above) {
    const grouped = above !== null;
    this.unit = unit;
    this.panel = panel;
    const { decisions } = panel;
    const { raters } = decisions.dispute;
    this.name = unitTitle(unit, decisions.item);
    /** The control, while the unit is to be decided. @type {Input | null} */
    this.input = null;
    /** The button that brings the control, while it is not there. @type {HTMLButtonElement | null} */
    this.otherwise = null;
    this.wantsReason = false;
    this.hint = h('p', { class: 'hint' });
    this.reasonLabel = h('span', { dir: 'auto' });
    this.reasonField = h('textarea', {
      class: 'field', rows: 2, dir: 'auto', title: WORDS.reasonKeys, 'data-testid': 'reason-for',
      oninput: () => panel.reason(unit, this.reasonField.value),
      onkeydown: onEnter(() => panel.done(unit)),
    });
    this.reasonPart = h('label', { class: 'reason-part' }, this.reasonLabel, keycap(panel.reasonKey), this.reasonField);
    this.cause = choice(WORDS.cause, WORDS.causeMore, WORDS.causes, 'cause', (cause) => panel.said(unit, { cause }));
    this.confidence = choice(WORDS.confidence, WORDS.confidenceMore, WORDS.confidences, 'confidence', (confidence) => panel.said(unit, { confidence }));
    this.note = h('textarea', {
      class: 'field', rows: 2, dir: 'auto', maxlength: NOTE, 'aria-label': WORDS.note, placeholder: WORDS.note, 'data-testid': 'note',
      oninput: () => panel.said(unit, { note: this.note.value }),
    });
    this.aboutPart = h('div', { class: 'about-part' }, this.cause.element, this.confidence.element, this.note);
    this.cell = h('td', { class: 'decision' });
    this.rounds = unit.rounds.some((round) => round.value !== null) && unit.outcome !== 'alike' ? roundsPart(unit) : null;
    const words = division(unit, raters.length);
    this.element = h('tr', {
      class: `unit ${unit.disputed ? 'disputed' : 'settled'}`, tabindex: '-1', 'data-testid': 'decision-row',
      'data-criterion': unit.criterion.name, 'data-target': unit.target,
      onclick: (/** @type {Event} */ event) => {
        // A click on a control speaks for itself; anywhere else it makes this row the current one.
        if (event.target instanceof Element && !event.target.closest('button, input, textarea, select, .seg')) panel.pick(unit);
      },
    },
    h('th', { scope: 'row' }, h('div', { class: 'unit-head' }, grouped
      ? aboutNode(unit, decisions.item, above)
      : h('span', { dir: 'auto', title: unit.criterion.help || null }, unit.criterion.title),
    grouped ? null : scoreNote(unit, decisions.item),
    words ? h('p', { class: 'division', 'data-testid': 'division' }, words) : null)),
    ...raters.map((rater) => votes(unit, unit.votes.find((vote) => vote.rater === rater))), this.cell);
    this.#buildCell();
  }

  /** Draws what is decided now. */
  refresh() {
    const { unit, panel: { decisions } } = this;
    if (decisions.open(unit) !== !!this.input) this.#buildCell();
    if (decisions.unasked(unit)) this.element.hidden = true;
    else if (!unit.votes.length) this.element.hidden = false;
    const { value, reason, cause, confidence, note } = decisions.of(unit);
    const overrules = decisions.overrules(unit);
    const lacks = decisions.lacksReason(unit);
    this.element.classList.toggle('decided', decisions.decided(unit) && !lacks);
    if (!this.input) return;
    this.input.show({ criterion: unit.criterion.name, target: unit.target, value, cannot_judge: false, reason: null, comment: null, rationale: null });
    const problem = decisions.problem(unit);
    this.hint.textContent = problem ?? (unit.majority !== null && value === null ? WORDS.overruleHint : '');
    this.hint.classList.toggle('warn-text', problem !== null);
    this.reasonPart.hidden = !(overrules || this.wantsReason || reason !== '');
    this.reasonLabel.textContent = overrules ? WORDS.reasonOver(valueWords(unit.majority, unit.criterion)) : WORDS.reason;
    this.reasonField.placeholder = this.reasonLabel.textContent; // where the row is not the current one
    this.reasonLabel.classList.toggle('warn-text', lacks);
    // What is being typed stays as it is, spaces at its end included.
    if (this.reasonField.value.trim() !== reason.trim()) this.reasonField.value = reason;
    this.aboutPart.hidden = value === null;
    this.aboutPart.classList.toggle('said', !!(cause || confidence || note));
    this.cause.select.value = cause ?? '';
    this.confidence.select.value = confidence ?? '';
    this.note.hidden = cause !== 'guideline_gap' && !note;
    if (this.note.value.trim() !== (note ?? '').trim()) this.note.value = note ?? '';
    attribute(this.reasonField, 'aria-required', overrules ? 'true' : null);
    attribute(this.reasonField, 'aria-invalid', lacks ? 'true' : null);
  }

  /** @param {boolean} on */
  select(on) {
    this.element.classList.toggle('cur', on);
    attribute(this.element, 'aria-current', on ? 'true' : null);
    if (this.otherwise) this.otherwise.tabIndex = on ? 0 : -1;
  }

  /** Puts the keyboard's focus on the decision without starting to type. */
  focus() {
    if (this.input && !this.input.enter && !this.cell.inert) this.input.focus();
    else this.element.focus({ preventScroll: true });
  }

  /** Starts to write the reason. */
  writeReason() {
    if (!this.input) return;
    this.wantsReason = true;
    this.refresh();
    this.reasonField.focus({ preventScroll: true });
  }

  /** The control of a unit that is to be decided, or what the votes settled. */
  #buildCell() {
    const { unit, panel } = this;
    const { decisions } = panel;
    this.input = null;
    this.otherwise = null;
    if (decisions.open(unit)) {
      this.input = kindOf(unit.criterion).create({
        criterion: unit.criterion, name: `${WORDS.decision}: ${this.name}`, item: decisions.item, answer: panel.answer, votes: unit.votes,
        give: (value, done) => panel.give(unit, value, done),
      });
      this.cell.replaceChildren(...(this.rounds ? [this.rounds] : []), this.input.element, this.hint, this.reasonPart, this.aboutPart);
      return;
    }
    const undecided = unit.outcome === 'open';
    if (decisions.decidable(unit)) {
      const title = undecided ? WORDS.decide : WORDS.otherwise;
      this.otherwise = h('button', {
        type: 'button', class: 'mini', tabindex: '-1', 'data-testid': 'otherwise', 'aria-keyshortcuts': 'Space',
        onclick: () => panel.open(unit), onmousedown: keepFocus,
      }, called(`${title}: ${this.name}`, title), keycap(WORDS.space));
    }
    const words = unit.outcome === 'alike' || (this.otherwise && !undecided) ? outcomeWords(unit) : this.otherwise ? WORDS.onlyIf : WORDS.ownWords;
    this.cell.replaceChildren(h('span', { class: 'soft', dir: 'auto' }, words), ...(this.otherwise ? [this.otherwise] : []));
  }
}

/**
 * Something one may say in a word, or not.
 *
 * @param {string} title @param {string} more @param {Record<string, string>} words @param {string} testid
 * @param {(said: string | null) => void} say
 */
function choice(title, more, words, testid, say) {
  const select = h('select', { 'data-testid': testid, title: more, onchange: () => say(select.value || null) },
    h('option', { value: '' }, '–'), ...Object.entries(words).map(([value, word]) => h('option', { value }, word)));
  return { select, element: h('label', {}, h('span', {}, title), select) };
}

/** What two adjudicators decided blind to each other. @param {VotedUnit} unit */
function roundsPart(unit) {
  return h('ul', { class: 'rounds', 'aria-label': WORDS.roundsName, 'data-testid': 'rounds' }, ...unit.rounds.map(({ by, value, reason }) => h('li', {},
    h('span', { class: 'soft', dir: 'auto' }, by ?? WORDS.you), h('b', { dir: 'auto' }, value === null ? WORDS.leftToVotes : valueWords(value, unit.criterion)),
    reason ? h('p', { dir: 'auto' }, reason) : null)));
}

/** The score that a criterion is about, with what it means. @param {VotedUnit} unit @param {Presentation} item */
function scoreNote(unit, item) {
  const score = scoreOf(item, unit.criterion);
  return score && h('p', { class: 'score-note' }, ...scoreParts(unit.criterion, score), score.meaning ? h('small', { dir: 'auto' }, score.meaning) : null);
}

/** What a unit is about, in the first column, but for the place that is said above it. @param {VotedUnit} unit @param {Presentation} item @param {string} above */
function aboutNode(unit, item, above) {
  const { key, title, place, beside } = about(unit.target, item);
  return h('div', { class: 'e-title' }, h('i', {}, key), title ? h('p', { dir: 'auto', title }, title) : null, place && place !== above ? h('small', { dir: 'auto', title: place }, place) : null,
    beside ? h('small', { class: 'beside', dir: 'auto', title: beside }, beside) : null);
}

/** One annotator's label with what they said about it. @param {VotedUnit} unit @param {Vote | undefined} vote */
function votes(unit, vote) {
  if (!vote) return h('td', { class: 'given soft' }, h('span', { role: 'img', 'aria-label': WORDS.notAsked, title: WORDS.notAsked }, '–'));
  const odd = isOdd(vote, unit);
  const words = vote.cannot_judge ? WORDS.cannotJudge : valueWords(vote.value, unit.criterion);
  const shape = kindOf(unit.criterion).compared ? `vote ${vote.cannot_judge ? 'cannot' : odd ? 'odd' : ''}` : 'words';
  return h('td', { class: 'given', 'data-rater': vote.rater },
    words ? h('b', { class: shape, dir: 'auto', 'data-testid': odd ? 'odd' : null }, words, odd ? h('span', { class: 'unseen' }, ` (${WORDS.differs})`) : null) : '–',
    ...[vote.reason, vote.comment].filter(Boolean).map((said) => h('p', { dir: 'auto' }, said)),
    ...(vote.rationale ?? []).filter((place) => place.text).map((place) => h('p', { class: 'quote', dir: 'auto' }, WORDS.quoted(place.text ?? ''))));
}

/** Several settled units of one criterion in one row, opened on demand. */
export class Fold {
  /** @param {Row[]} rows @param {number} columns */
  constructor(rows, columns) {
    this.rows = rows;
    this.button = button(WORDS.show, () => this.set(!this.open), { class: 'mini', testid: 'fold' });
    this.element = h('tr', { class: 'fold' }, h('th', { scope: 'row', colspan: columns }, ...foldTitle(rows), this.button));
    this.set(false);
  }

  get open() {
    return !this.rows[0].element.hidden;
  }

  /** @param {boolean} open */
  set(open) {
    for (const row of this.rows) row.element.hidden = !open;
    this.button.textContent = open ? WORDS.hide : WORDS.show;
    attribute(this.button, 'aria-expanded', String(open));
  }
}

/** What is folded: the keys and what all of them are settled as, or only how many there are. @param {Row[]} rows */
function foldTitle(rows) {
  const [first] = rows;
  const outcomes = new Set(rows.map((row) => outcomeWords(row.unit)));
  const keys = rows.map((row) => about(row.unit.target, first.panel.decisions.item).key);
  if (outcomes.size > 1 || keys.length > NAMED) return [h('span', { class: 'soft' }, WORDS.settledUnits(rows.length))];
  return [h('b', {}, keys.join(keys[0].includes(',') ? '; ' : ', ')), ' ', h('span', { class: 'soft', dir: 'auto' }, outcomeWords(first.unit))];
}
