/** The decisions about one item: what is given, what is needed, what goes against a majority, what is still missing. */

import { kindOf } from '../criteria/kinds.js';
import { isAsked } from '../criteria/when.js';
import { freshId } from '../shared/outbox.js';
import { keys, read, remove, write } from '../shared/storage.js';
import { ballot, imageKeys, rekeyed, unitsOf } from './units.js';

/** @typedef {{value: Value | null, reason: string} & AboutDecision} Decision */
/** @typedef {{uid: string, decisions: {criterion: string, target: string, value: Value | null, reason: string | null, cause?: string | null, confidence?: string | null, note?: string | null}[]}} Kept */

const UNSAID = { value: null, reason: '', cause: null, confidence: null, note: null };
const PREFIX = 'assay.adjudication.1';
const MANY = 6; // units to decide that are many
const KEPT = 30 * 24 * 3600_000; // milliseconds a half decision is kept

export class Decisions {
  /**
   * @param {Dispute} dispute
   * @param {Protocol} protocol
   * @param {boolean} again it was settled before
   * @param {Kept | null} kept what was decided so far
   */
  constructor(dispute, protocol, again, kept) {
    this.dispute = dispute;
    this.item = dispute.presentation;
    this.again = again;
    this.uid = kept?.uid ?? freshId();
    this.units = unitsOf(dispute, protocol);
    this.byId = new Map(this.units.map((unit) => [unit.id, unit]));
    this.images = imageKeys(dispute);
    this.touched = false;
    /** What was decided at once last, until anything else is. @type {VotedUnit[]} */
    this.taken = [];
    /** @type {Map<string, Decision>} */
    this.given = new Map();
    /** Units that the votes settled and the adjudicator decides all the same. @type {Set<string>} */
    this.opened = new Set();
    if (again && !kept) {
      for (const unit of this.units) {
        if (unit.decided !== null) this.given.set(unit.id, { ...UNSAID, value: unit.decided });
      }
    }
    for (const { criterion, target, value, reason, cause = null, confidence = null, note = null } of kept?.decisions ?? []) {
      const unit = this.byId.get(`${criterion} ${target}`);
      if (unit) this.given.set(unit.id, { value: rekeyed(value, unit.criterion, this.images), reason: reason ?? '', cause, confidence, note });
    }
    for (const id of this.given.keys()) {
      if (!this.byId.get(id)?.disputed) this.opened.add(id);
    }
    /** Whether so much is to be decided that rows are low and texts make room for them. */
    this.many = this.units.filter((unit) => this.open(unit)).length >= MANY;
  }

  /** @param {VotedUnit} unit @returns {Decision} */
  of(unit) {
    return this.given.get(unit.id) ?? UNSAID;
  }

  /** @param {VotedUnit} unit @param {Partial<Decision>} change */
  set(unit, change) {
    this.touched = true;
    this.taken = [];
    const decision = { ...this.of(unit), ...change };
    if (decision.value === null && !decision.reason) this.given.delete(unit.id);
    else this.given.set(unit.id, decision);
  }

  /** Takes a decision back; a settled unit is settled by its votes again. @param {VotedUnit} unit */
  clear(unit) {
    this.touched = true;
    this.taken = [];
    this.given.delete(unit.id);
    this.opened.delete(unit.id);
  }

  /** Whether it can be decided at all: texts are each annotator's own, and what two decided alike is final. @param {VotedUnit} unit */
  decidable(unit) {
    return kindOf(unit.criterion).compared && unit.outcome !== 'alike';
  }

  /** Whether the control is there: the unit is disputed, or the adjudicator wants to decide it. @param {VotedUnit} unit */
  open(unit) {
    return this.decidable(unit) && (unit.disputed || this.opened.has(unit.id) || this.#askedNow(unit));
  }

  /** Whether the item cannot be settled without a decision on it. @param {VotedUnit} unit */
  needed(unit) {
    return this.decidable(unit) && (unit.disputed || this.#askedNow(unit));
  }

  /** Whether nobody was asked it, and no decision makes it asked: there is nothing to show. @param {VotedUnit} unit */
  unasked(unit) {
    return !unit.votes.length && !this.open(unit);
  }

  /** Whether the decision goes against what most annotators said. @param {VotedUnit} unit */
  overrules(unit) {
    const { value } = this.of(unit);
    return value !== null && unit.majority !== null && ballot(value) !== ballot(unit.majority);
  }

  /** What is wrong with a value, in words, or null. @param {VotedUnit} unit */
  problem(unit) {
    return kindOf(unit.criterion).problem(this.of(unit).value, unit.criterion);
  }

  /** Whether there is a valid value. @param {VotedUnit} unit */
  decided(unit) {
    return kindOf(unit.criterion).complete(this.of(unit).value, unit.criterion, this.item) && this.problem(unit) === null;
  }

  /** Whether a reason is needed and not there. @param {VotedUnit} unit */
  lacksReason(unit) {
    return this.overrules(unit) && !this.of(unit).reason.trim();
  }

  /** What keeps the item from being settled. */
  missing() {
    return this.units.filter((unit) => (this.needed(unit) && !this.decided(unit)) ||
      (this.open(unit) && this.of(unit).value !== null && (!this.decided(unit) || this.lacksReason(unit))));
  }

  /** The decisions that are made and only want a reason. */
  unreasoned() {
    return this.missing().filter((unit) => this.decided(unit));
  }

  /** The unit to go to after this one: the next below it without a decision, else the first; null when only reasons are missing, or nothing. @param {VotedUnit | null} unit */
  next(unit) {
    const missing = this.missing().filter((left) => !this.decided(left));
    const from = unit ? this.units.indexOf(unit) : -1;
    return missing.find((other) => this.units.indexOf(other) > from) ?? missing[0] ?? null;
  }

  /**
   * What one annotator said of the units of a criterion that are still to be decided, where they said something that can
   * be a decision; of no annotator, what most of them said.
   *
   * @param {Criterion} criterion
   * @param {string | null} rater
   * @returns {{unit: VotedUnit, value: Value, against: boolean}[]} `against`: it overrules the majority
   */
  rest(criterion, rater) {
    const kind = kindOf(criterion);
    return this.missing().filter((unit) => unit.criterion.name === criterion.name && !this.decided(unit)).flatMap((unit) => {
      const vote = unit.votes.find((one) => one.rater === rater);
      const value = rater === null ? unit.majority : vote && !vote.cannot_judge ? vote.value : null;
      if (value === null || !kind.complete(value, unit.criterion, this.item) || kind.problem(value, unit.criterion) !== null) return [];
      return [{ unit, value, against: unit.majority !== null && ballot(value) !== ballot(unit.majority) }];
    });
  }

  /** Decides the rest as an annotator said, or as most did; the reason is that of every one against the majority. @param {Criterion} criterion @param {string | null} rater @param {string} reason */
  takeRest(criterion, rater, reason) {
    const rest = this.rest(criterion, rater);
    for (const { unit, value, against } of rest) this.set(unit, { value, reason: against ? reason : this.of(unit).reason });
    this.taken = rest.map(({ unit }) => unit);
  }

  /** Takes back what was decided at once last; how many units that were. */
  undoRest() {
    const { taken } = this;
    for (const unit of taken) this.clear(unit);
    return taken.length;
  }

  /** @returns {Settlement} */
  settlement() {
    const decisions = this.#written().filter((decision) => decision.value !== null);
    return { uid: this.uid, study_item: this.dispute.study_item_id, decisions: /** @type {SentDecision[]} */ (decisions), again: this.again };
  }

  /** @returns {Kept} */
  kept() {
    return { uid: this.uid, decisions: this.#written() };
  }

  #written() {
    const stored = new Map([...this.images ?? []].map(([key, shown]) => [shown, key]));
    return this.units.filter((unit) => this.given.has(unit.id)).map((unit) => {
      const { value, reason, cause, confidence, note } = this.of(unit);
      const said = Object.fromEntries(Object.entries({ cause, confidence, note: note?.trim() }).filter(([, words]) => words));
      return { criterion: unit.criterion.name, target: unit.stored, reason: reason.trim() || null, value: rekeyed(value, unit.criterion, stored), ...said };
    });
  }

  /** Whether the adjudicator's own decision on its condition makes a unit asked that only a few were asked. @param {VotedUnit} unit @returns {boolean} */
  #askedNow(unit) {
    return !!unit.criterion.when && unit.outcome === 'open' && isAsked(unit.criterion, unit.stored, (criterion, target) => {
      const other = this.byId.get(`${criterion} ${target}`);
      return other && this.decided(other) ? { value: this.of(other).value, cannot_judge: false } : null;
    });
  }
}

/** Half decisions, kept in this browser until they are settled. */
export class HalfDecisions {
  /** @param {string} person @param {number} study */
  constructor(person, study) {
    this.prefix = `${PREFIX}/${person}/${study}/`;
    for (const key of keys(PREFIX)) {
      const kept = /** @type {{at?: number} | null} */ (read(key));
      if (Date.now() - (kept?.at ?? 0) > KEPT) remove(key);
    }
  }

  /** @param {Decisions} decisions */
  keep(decisions) {
    write(this.#key(decisions.dispute.study_item_id), { ...decisions.kept(), at: Date.now() });
  }

  /** @param {number} studyItem @returns {Kept | null} */
  of(studyItem) {
    return /** @type {Kept | null} */ (read(this.#key(studyItem)));
  }

  /** @param {number} studyItem */
  drop(studyItem) {
    remove(this.#key(studyItem));
  }

  /** @param {number} studyItem */
  #key(studyItem) {
    return `${this.prefix}${studyItem}`;
  }
}
