/** The right side: what was judged, the table of labels and decisions, remarks, and the footer. */

import { attribute, button, h, shorten } from '../shared/dom.js';
import { foundIn } from '../reading/counted_phrases.js';
import { MarkableAnswer } from '../reading/markable.js';
import { namesParagraphs } from '../reading/paragraphs.js';
import { foldLong, markClaim, markImage, reading } from '../reading/reading.js';
import { targetKeys } from '../shared/targets.js';
import { otherScores } from '../reading/score_value.js';
import { Side } from '../reading/side.js';
import { TEXT } from '../shared/text.js';
import { unitTitle } from './row.js';
import { Table } from './table.js';
import { WORDS } from './text.js';

/** @typedef {import('./decisions.js').Decisions} Decisions */

const NAMED = 4; // units that are named when something is missing
const FEW = 2; // undecided units of a criterion, from which on they can be decided at once
const WHOLE = new Set(['item', 'pair']); // targets that are no part of an item

/** @extends {Side<VotedUnit>} */
export class Panel extends Side {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {object} on
   * @param {() => void} on.change something was decided
   * @param {(unit: VotedUnit) => void} on.current another unit is the current one
   * @param {(action: string) => void} on.action a button of the footer
   * @param {import('../texts/texts.js').Texts} texts
   */
  constructor(keys, on, texts) {
    super({ name: WORDS.decisions, testid: 'dispute', keys, act: on.action, texts, shape: 'decisions', placeShape: 'units-place', partsShape: 'units-parts' });
    this.on = on;
    /** @type {Decisions | null} */
    this.decisions = null;
    /** @type {Table | null} */
    this.table = null;
    /** @type {VotedUnit | null} */
    this.unit = null;
    this.actions = { reason: () => this.writeReason(), rest: () => this.takeRest() };
    const action = (/** @type {string} */ name, /** @type {string} */ title) => button(title, () => on.action(name),
      { key: keys.of(name), testid: name, hint: keys.title(name) });
    this.settle = button(WORDS.settle, () => on.action('settle'), { key: keys.of('settle'), class: 'btn pri', testid: 'settle' });
    this.giveBack = action('return', WORDS.giveBack);
    this.rest = action('rest', WORDS.rest);
    this.undo = button(TEXT.undo, () => this.undoRest(), { key: keys.of('back'), testid: 'rest-undo' });
    this.footer.append(action('back', WORDS.back), action('later', WORDS.later), this.giveBack, this.rest, this.undo, h('span', { class: 'grow' }), this.settle);
  }

  /** @param {Decisions} decisions @param {boolean} coloured annotators have boxes on the pages */
  show(decisions, coloured) {
    this.decisions = decisions;
    this.unit = null;
    this.say('');
    this.tip.hide();
    if (this.dock.open) this.dock.close();
    const { dispute } = decisions;
    const both = decisions.units.flatMap(({ rounds }) => rounds.map(({ by }) => by));
    const differ = dispute.stage === 'final' && both.length && !decisions.again && !dispute.allowed;
    attribute(this.element, 'data-study-item', dispute.study_item_id);
    this.settle.disabled = dispute.allowed !== null;
    this.text.replaceChildren(
      ...(dispute.allowed ? [h('div', { class: 'banner', role: 'alert', 'data-testid': 'not-allowed' }, h('span', {}, WORDS.notAllowed(dispute.allowed)))] : []),
      ...(differ ? [h('div', { class: 'banner', 'data-testid': 'differ' }, h('span', {}, both.includes(null) ? WORDS.together : WORDS.differ))] : []),
      ...(decisions.again ? [h('div', { class: 'banner' }, h('span', {}, WORDS.again), button(WORDS.leaveAsIs, () => this.on.action('leave'), { class: 'btn small', testid: 'leave' }))] : []),
      ...reading(dispute.presentation, this.texts, this.keys, namesParagraphs(decisions.units.map(({ criterion }) => criterion))),
    );
    foldLong(this.text);
    this.area.legend.replaceChildren(...(foundIn(this.text)?.legend() ?? []));
    this.reading.scrollTop = 0;
    this.table = new Table({
      decisions,
      answer: new MarkableAnswer(() => this.text.querySelector('.a')),
      give: (unit, value, done) => this.#give(unit, value, done),
      reason: (unit, reason) => {
        decisions.set(unit, { reason });
        this.#changed();
      },
      said: (unit, said) => {
        decisions.set(unit, said);
        this.#changed();
      },
      pick: (unit) => this.go(unit),
      open: (unit) => this.#open(unit),
      done: (unit) => this.#reasoned(unit),
      reasonKey: this.keys.of('reason'),
    }, coloured);
    this.parts.replaceChildren(...[this.table.element, otherScores(dispute.presentation)].filter((part) => part !== null), ...this.#remarks());
    this.place.scrollTop = 0;
    this.place.scrollLeft = 0;
    this.element.classList.toggle('refused', dispute.allowed !== null);
    for (const row of this.table.rows) row.cell.toggleAttribute('inert', dispute.allowed !== null);
    this.refresh();
    this.share();
    this.go(decisions.next(null) ?? decisions.units.find((unit) => unit.disputed) ?? decisions.units[0] ?? null);
  }

  /** Makes a unit the current one. @param {VotedUnit | null} unit */
  go(unit) {
    this.#select(unit);
    const row = this.row;
    if (!row) return;
    this.reveal();
    this.focus();
  }

  /** Draws everything that depends on what is decided. */
  refresh() {
    const { decisions } = this;
    if (!decisions) return;
    this.table?.refresh();
    this.#refreshRest();
    const ready = decisions.missing().length === 0;
    this.settle.classList.toggle('ready', ready && !this.settle.disabled);
    if (ready) this.say('');
  }

  /** A key of a label of the current unit. @param {string} key @returns {boolean} */
  key(key) {
    const row = this.row;
    if (!row || !this.decisions || this.decisions.dispute.allowed) return false;
    if (key === 'Space' && row.input?.enter) {
      row.input.enter();
      return true;
    }
    if (key === 'Space' && row.otherwise) {
      this.#open(row.unit);
      return true;
    }
    return row.input?.key(key) ?? false;
  }

  get ways() {
    return { all: this.table?.visible() ?? [], at: this.unit };
  }

  /** @param {VotedUnit} unit */
  goTo(unit) {
    this.go(unit);
  }

  /** Takes the current decision back. */
  clear() {
    const { unit, decisions } = this;
    if (!unit || !decisions || decisions.dispute.allowed) return;
    decisions.clear(unit);
    const row = this.row;
    if (row) row.wantsReason = false;
    this.#changed();
    this.go(unit);
  }

  /** Opens the reason of the current decision. */
  writeReason() {
    const row = this.row;
    if (this.decisions?.dispute.allowed) return;
    if (row && !row.input && row.otherwise) this.#open(row.unit);
    row?.writeReason();
    if (row?.input) this.reveal();
  }

  /** Asks whose labels are to be those of all units of the current criterion that are left. */
  takeRest() {
    const { decisions, unit } = this;
    if (!decisions || !unit || decisions.dispute.allowed) return;
    const { criterion } = unit;
    const choices = new Map([...decisions.dispute.raters, null].flatMap((rater) => {
      const rest = decisions.rest(criterion, rater);
      const against = rest.filter((one) => one.against).length;
      return rest.length ? [[WORDS.takeOf(rater, rest.length, against), { rater, against }]] : [];
    }));
    if (!choices.size) {
      this.say(WORDS.nothingToTake);
      return;
    }
    this.dock.choose(WORDS.takeWhose(criterion.title, this.#left(criterion)), [...choices.keys()], (choice) => {
      const { rater, against } = /** @type {{rater: string | null, against: number}} */ (choices.get(choice));
      if (rater !== null && against) this.dock.ask(WORDS.whyRest(rater, against), [], '', (reason) => this.#take(criterion, rater, reason));
      else this.#take(criterion, rater, '');
    });
  }

  /** Takes back what was decided at once; false when nothing was. */
  undoRest() {
    const unit = this.decisions?.taken[0];
    if (!unit || !this.decisions?.undoRest()) return false;
    this.say('');
    this.#changed();
    this.go(unit);
    return true;
  }

  /** Goes to the first thing that is missing and says in words what is; false when nothing is. */
  pointAtMissing() {
    const { decisions } = this;
    const missing = decisions?.missing() ?? [];
    if (!decisions || !missing.length) return false;
    const first = decisions.next(null) ?? missing[0];
    this.go(first);
    const problem = decisions.problem(first);
    const title = unitTitle(first, decisions.item);
    if (problem) this.say(TEXT.wrong(title, problem));
    else if (decisions.lacksReason(first)) {
      this.writeReason();
      this.say(WORDS.reasonMissing(title));
    } else {
      const undecided = missing.filter((unit) => !decisions.decided(unit));
      const named = undecided.slice(0, NAMED).map((unit) => unitTitle(unit, decisions.item));
      if (undecided.length > NAMED) named.push(TEXT.andMore(undecided.length - NAMED));
      this.say(WORDS.missing(named.join('; ')));
    }
    return true;
  }

  /** Makes the row about an evidence unit the current one, if there is one. @param {string} evidence */
  goToUnit(evidence) {
    const about = (/** @type {VotedUnit} */ unit) => targetKeys(unit.target).evidence === evidence;
    if (!this.decisions || (this.unit && about(this.unit))) return;
    const claim = this.unit ? targetKeys(this.unit.target).claim : undefined;
    const units = this.decisions.units.filter(about);
    const unit = units.find((unit) => targetKeys(unit.target).claim === claim) ?? units.find((unit) => unit.disputed) ?? units[0];
    if (unit) this.go(unit);
  }

  /** @param {VotedUnit | null} unit */
  #select(unit) {
    const before = this.unit;
    this.unit = unit;
    this.table?.select(unit);
    this.#refreshRest();
    this.share();
    if (!unit || !this.decisions || before === unit) return;
    this.markClaim();
    this.on.current(unit);
  }

  /** Marks what of the answer the current unit is about: a claim, or an image. */
  markClaim() {
    const { claim, image } = targetKeys(this.unit?.target ?? '');
    markImage(this.reading, image ?? null);
    markClaim(this.reading, this.decisions?.item.claims?.find(({ key, of }) => key === claim && of === 'answer')?.text ?? null);
  }

  /** @returns {import('./row.js').Row | null} */
  get row() {
    return this.unit ? this.table?.rowOf.get(this.unit) ?? null : null;
  }

  /** @param {VotedUnit} unit @param {Value | null} value @param {boolean} done */
  #give(unit, value, done) {
    const { decisions } = this;
    if (!decisions) return;
    decisions.set(unit, { value });
    if (this.unit !== unit) this.#select(unit);
    this.#changed();
    if (!done) return;
    this.#advance(unit);
  }

  /** @param {VotedUnit} unit */
  #open(unit) {
    if (!this.decisions || this.decisions.dispute.allowed) return;
    this.decisions.opened.add(unit.id);
    this.refresh();
    this.go(unit);
  }

  /**
   * Goes on to the next decision. A reason that this one wants is asked for where it stands; the focus goes there only
   * when the adjudicator does, so that the next key decides the next unit.
   *
   * @param {VotedUnit} unit
   */
  #advance(unit) {
    const { decisions } = this;
    const next = decisions?.next(unit) ?? null;
    this.go(next ?? unit);
    const unreasoned = decisions?.unreasoned().length ?? 0;
    if (!next && unreasoned) this.say(WORDS.reasonsLeft(unreasoned, this.keys.of('settle')));
  }

  /** The reason of a decision is written: on to what is missing, and when nothing is, the item is settled. @param {VotedUnit} unit */
  #reasoned(unit) {
    const { decisions } = this;
    if (!decisions) return;
    if (decisions.lacksReason(unit)) this.say(WORDS.reasonMissing(unitTitle(unit, decisions.item)));
    else if (decisions.next(unit)) this.#advance(unit);
    else this.on.action('settle');
  }

  /** @param {Criterion} criterion @param {string | null} rater @param {string} reason */
  #take(criterion, rater, reason) {
    const { decisions, unit } = this;
    if (!decisions || !unit) return;
    decisions.takeRest(criterion, rater, reason);
    const n = decisions.taken.length;
    this.#changed();
    this.go(decisions.next(unit) ?? unit);
    this.say(WORDS.taken(rater, n, this.keys.of('back')));
  }

  /** How many units of a criterion are still to be decided. @param {Criterion} criterion */
  #left(criterion) {
    const { decisions } = this;
    return decisions?.missing().filter((unit) => unit.criterion.name === criterion.name && !decisions.decided(unit)).length ?? 0;
  }

  #refreshRest() {
    const { decisions, unit } = this;
    this.undo.hidden = !decisions?.taken.length;
    this.rest.hidden = !unit || !!decisions?.dispute.allowed || this.#left(unit.criterion) < FEW;
  }

  #changed() {
    this.refresh();
    this.on.change();
  }

  /** What the annotators said about the whole item. @returns {HTMLElement[]} */
  #remarks() {
    const { comments, flags, raters } = /** @type {Decisions} */ (this.decisions).dispute;
    const said = raters.flatMap((rater) => [
      rater in flags ? { rater, words: flags[rater], flag: true } : null, comments[rater] ? { rater, words: comments[rater], flag: false } : null,
    ]).filter((remark) => remark !== null);
    if (!said.length) return [];
    return [h('section', { class: 'remarks', 'data-testid': 'remarks' }, h('h2', {}, WORDS.remarks), ...said.map(({ rater, words, flag }) => h('p', {},
      h('b', { dir: 'auto' }, rater), flag ? h('span', { class: 'note warn' }, WORDS.flagged) : null, h('span', { class: 'said', dir: 'auto' }, words))))];
  }

  /** The row that got the focus becomes the current one. @param {HTMLElement} target */
  focused(target) {
    const row = this.table?.rows.find((row) => row.element.contains(target));
    if (row && row.unit !== this.unit) this.#select(row.unit);
  }

  /** Among many units that are parts of an item, its texts scroll in less; while all of it is decided on they are read. */
  get mostReading() {
    return this.decisions?.many && this.unit && !WHOLE.has(this.unit.target) ? 0.3 : super.mostReading;
  }

  /** The head of the table stays where it is. */
  get covered() {
    return this.table?.head.offsetHeight ?? 0;
  }
}

/** A short name of an item, for messages about it. @param {Presentation} item */
export function itemName(item) {
  return shorten(item.question ?? item.answer ?? '', 80);
}
