/** The answers to one step of one item: which decisions there are, what was given, what is missing, what comes next. */

import { kindOf } from '../criteria/kinds.js';
import { brokenBy, isAsked } from '../criteria/when.js';
import { thingOf } from '../shared/targets.js';

/** @param {string} criterion @param {string} target */
const cellId = (criterion, target) => `${criterion} ${target}`;

const ALONE = new Set(['item', 'pair', 'page']); // targets whose criteria are asked one after the other

/** The kind of thing that a criterion is about: a claim also where it is held against something. @param {Criterion} criterion */
const thingKind = ({ target }) => (target.startsWith('claim') ? 'claim' : target);

export class Sheet {
  /** @param {Presentation} item @param {Protocol} protocol */
  constructor(item, protocol) {
    this.item = item;
    const named = new Map(protocol.criteria.map((criterion) => [criterion.name, criterion]));
    this.consequences = protocol.consequences ?? [];
    this.criteria = protocol.steps[item.step].criteria.flatMap((name) => named.get(name) ?? []);
    /** Criteria that are asked together, thing by thing: neighbours that are about the same kind of thing. @type {Criterion[][]} */
    this.groups = [];
    for (const criterion of this.criteria) {
      const last = this.groups.at(-1);
      if (last && !ALONE.has(criterion.target) && thingKind(last[0]) === thingKind(criterion)) last.push(criterion);
      else this.groups.push([criterion]);
    }
    const unitsOf = (/** @type {Criterion} */ { name, aside }) => item.units[aside?.of ?? name] ?? [];
    /** Every decision of this step, in the order it is asked. @type {Cell[]} */
    this.cells = this.groups.flatMap((group) => byThing(group.flatMap(unitsOf)).flatMap(
      (target) => group.filter((criterion) => unitsOf(criterion).includes(target)).map(
        (criterion) => ({ id: cellId(criterion.name, target), criterion, target }),
      ),
    ));
    this.cellById = new Map(this.cells.map((cell) => [cell.id, cell]));
    /** @type {Map<string, Given>} */
    this.committed = byCell(item.committed);
    /** @type {Map<string, Given>} */
    this.given = byCell(item.previous);
    /** What a model proposes, by decision; it is no label until it is given. @type {Map<string, Suggestion>} */
    this.suggested = new Map((item.suggestions ?? []).map((suggestion) => [cellId(suggestion.criterion, suggestion.target), suggestion]));
    /** @type {string | null} */
    this.comment = null;
    this.flagged = false;
    this.why = ''; // it is flagged; kept while the flag is down
    this.touched = false;
  }

  /** Puts a draft in place of what was given. @param {Content} content */
  restore(content) {
    this.given = byCell(content.labels);
    this.comment = content.comment;
    this.flagged = content.flag !== false;
    this.why = typeof content.flag === 'string' ? content.flag : '';
  }

  /** Whether anything was given here or in an earlier draft. */
  get begun() {
    return this.touched || this.given.size > 0 || !!this.comment || this.flagged;
  }

  /** Everything that was given, hidden or not: what a draft keeps. @returns {Content} */
  content() {
    return { labels: [...this.given.values()], comment: this.comment, flag: this.flag };
  }

  /** Whether the item is flagged for the researcher, or why. @returns {Flag} */
  get flag() {
    return this.flagged && (this.why || true);
  }

  /** What is submitted: the labels of what is asked, and comments and support without a label. @returns {Given[]} */
  labels() {
    return this.visible().flatMap((cell) => {
      const given = this.given.get(cell.id);
      if (!given || cell.criterion.aside) return [];
      const value = this.#filled(cell) && !given.cannot_judge ? given.value : null;
      return value !== null || given.cannot_judge || given.comment || given.rationale?.length ? [{ ...given, value }] : [];
    });
  }

  /** The decision whose label a cell is asked beside, or itself. @param {Cell} cell @returns {Cell} */
  #labelled(cell) {
    const { aside } = cell.criterion;
    return (aside && this.cellById.get(cellId(aside.of, cell.target))) ?? cell;
  }

  /** What is given; beside a label what was said there, with the label's comment and support. @param {Cell} cell @returns {Given} */
  of(cell) {
    const { aside } = cell.criterion;
    if (aside) return { ...this.of(this.#labelled(cell)), value: this.given.get(this.#labelled(cell).id)?.[aside.field] ?? null, cannot_judge: false, reason: null };
    return this.given.get(cell.id) ?? {
      criterion: cell.criterion.name, target: cell.target, value: null, cannot_judge: false, reason: null,
      comment: null, rationale: null,
    };
  }

  /** What was said beside a label goes with it when it changes. @param {Cell} about @param {Partial<Given>} change */
  set(about, change) {
    this.touched = true;
    const cell = this.#labelled(about);
    const before = this.of(cell);
    const given = { ...before, ...change };
    if (String(given.value) !== String(before.value)) {
      delete given.confidence;
      delete given.same;
    }
    if (given.value === null && !given.cannot_judge && !given.comment && !given.rationale?.length) this.given.delete(cell.id);
    else this.given.set(cell.id, given);
  }

  /** Gives a label; it takes the place of "cannot judge". @param {Cell} cell @param {Value | null} value */
  give(cell, value) {
    const { aside } = cell.criterion;
    this.set(cell, aside ? { [aside.field]: value } : { value, cannot_judge: false, reason: null });
  }

  /** @param {Cell} cell @param {string} reason */
  cannotJudge(cell, reason) {
    this.set(cell, { value: null, cannot_judge: true, reason });
  }

  /** What a model proposes for a decision, or null. @param {Cell} cell @returns {Suggestion | null} */
  suggestion(cell) {
    return this.suggested.get(cell.id) ?? null;
  }

  /** Whether the cell is asked, as its condition stands now. @param {Cell} cell @returns {boolean} */
  asked(cell) {
    const labelled = this.#labelled(cell);
    if (labelled !== cell) return this.asked(labelled) && this.answered(labelled) && !this.of(labelled).cannot_judge;
    return isAsked(cell.criterion, cell.target, (criterion, target) => this.#standing(criterion, target));
  }

  /** The first label that cannot stand beside the others, and the sentence that says so. @returns {{cell: Cell, sentence: string} | null} */
  broken() {
    for (const cell of this.visible()) {
      const rule = brokenBy(this.consequences, cell.criterion.name, cell.target, (criterion, target) => this.#standing(criterion, target));
      if (rule) return { cell, sentence: rule.sentence };
    }
    return null;
  }

  /** What is given now, as far as it is asked, or was committed. @param {string} criterion @param {string} target */
  #standing(criterion, target) {
    const id = cellId(criterion, target);
    const other = this.cellById.get(id);
    return other ? (this.asked(other) ? this.given.get(id) : null) : this.committed.get(id);
  }

  /** The cells that are asked now. */
  visible() {
    return this.cells.filter((cell) => this.asked(cell));
  }

  /** Whether the cell has a valid label, or "cannot judge" with a reason. @param {Cell} cell */
  answered(cell) {
    const given = this.of(cell);
    return given.cannot_judge ? !!given.reason : this.#filled(cell) && this.problem(cell) === null;
  }

  /** What is wrong with what was given, in words, or null. @param {Cell} cell */
  problem(cell) {
    const given = this.of(cell);
    return given.cannot_judge ? null : kindOf(cell.criterion).problem(given.value, cell.criterion);
  }

  /** What keeps the step from being submitted; a place can only support a label that is given. */
  missing() {
    return this.visible().filter((cell) => this.problem(cell) !== null ||
      ((cell.criterion.required !== false || !!this.of(cell).rationale?.length) && !this.answered(cell)));
  }

  /**
   * The cell to go to after `cell`: the next unanswered one below it, else the first one that is missing, else null.
   * A text that may stay empty is passed over.
   *
   * @param {Cell | null} cell
   * @returns {Cell | null}
   */
  next(cell) {
    const visible = this.visible();
    const from = cell ? visible.findIndex((other) => other.id === cell.id) + 1 : 0;
    const open = (/** @type {Cell} */ other) => !this.answered(other) &&
      (other.criterion.required !== false || !kindOf(other.criterion).typed);
    return visible.slice(from).find(open) ?? this.missing()[0] ?? null;
  }

  /** @param {Cell} cell */
  #filled(cell) {
    return kindOf(cell.criterion).complete(this.of(cell).value, cell.criterion, this.item);
  }
}

/** The targets, each once, those of one thing after one another. @param {string[]} targets */
function byThing(targets) {
  const all = [...new Set(targets)];
  return [...new Set(all.map(thingOf))].flatMap((thing) => all.filter((target) => thingOf(target) === thing));
}

/** @param {Given[] | undefined} labels @returns {Map<string, Given>} */
function byCell(labels) {
  return new Map((labels ?? []).map((given) => [cellId(given.criterion, given.target), given]));
}
