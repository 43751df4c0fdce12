/** The right side: what is judged, the criteria with their labels, and the footer. */

import { ClaimGrid } from './claim_grid.js';
import { buildCriteria, hideUnasked, missingWords } from './criteria.js';
import { attribute, button, h, isStacked, keepFocus, shorten } from '../../shared/dom.js';
import { Divider } from './divider.js';
import { foundIn } from '../../reading/counted_phrases.js';
import { MarkableAnswer } from '../../reading/markable.js';
import { PageGroup } from './page_group.js';
import { ReadingArea } from '../../reading/reading_area.js';
import { PAIR_MARKS, pairMarksIn } from '../../reading/pairs/marks.js';
import { namesParagraphs } from '../../reading/paragraphs.js';
import { committedLabels, foldLong, markClaim, markImage, reading } from '../../reading/reading.js';
import { cellTitle, targetKeys } from '../../shared/targets.js';
import { scoreOf } from '../../reading/score_value.js';
import { SEEN } from './seen.js';
import { LEAST, Side } from '../../reading/side.js';
import { TEXT } from '../../shared/text.js';
import { Tip } from '../../shared/tip.js';
import { hasEvidence } from '../../viewer/viewer.js';

/** @typedef {import('../sheet.js').Sheet} Sheet */
/** @typedef {import('./divider.js').Panes} Panes */

const ABOVE = 0.3; // of the height of the reading: where a claim is brought
const BELOW = 0.35; // what of it fades out, or is too near to that

/** @extends {Side<Cell>} */
export class Judgement extends Side {
  /**
   * @param {import('../../shared/keys.js').Keys} keys
   * @param {Panes} panes where the person has put the dividers
   * @param {object} on
   * @param {() => void} on.change something was given
   * @param {(cell: Cell) => void} on.current another decision is the current one
   * @param {(action: string) => void} on.action a button of the footer
   * @param {() => void} on.complete the last label that was missing was given
   * @param {(words: string) => void} on.say something for a screen reader
   * @param {import('../../texts/texts.js').Texts} texts
   */
  constructor(keys, panes, on, texts) {
    super({ name: TEXT.judgement, testid: 'item', keys, act: on.action, texts });
    this.panes = panes;
    this.on = on;
    /** @type {Sheet | null} */
    this.sheet = null;
    /** @type {Cell | null} */
    this.cell = null;
    /** @type {Map<string, import('./rows.js').Row>} */
    this.rows = new Map();
    /** @type {(import('./page_group.js').PageGroup | import('./claim_grid.js').ClaimGrid)[]} */
    this.groups = [];
    /** @type {import('./image_cards.js').ImageCards[]} */
    this.cards = [];
    /** @type {import('./rest.js').Rest[]} */
    this.rests = [];
    /** What was given at once and can be taken back. @type {import('./rest.js').Given | null} */
    this.atOnce = null;
    /** What is judged, on the side that evidence would have. */
    this.facing = new ReadingArea({ name: TEXT.judged, keys, act: on.action, looked: () => this.looked() });
    this.beside = h('div', { class: 'facing', 'data-testid': 'facing' }, this.facing.element);
    const tip = new Tip(this.beside, this.facing.scroller);
    this.beside.append(tip.element);
    this.watch(this.facing.text, tip);
    for (const area of [this.facing, this.area]) {
      area.seen = (name, words, count) => {
        if (this.sheet) SEEN.add(String(this.sheet.item.assignment), name, words, count);
      };
    }
    this.notSeen = h('p', { class: 'not-seen', hidden: true, 'data-testid': 'not-seen' }, h('span', {}));
    this.divider = new Divider({
      name: TEXT.criteriaDivider, testid: 'criteria-divider', upright: false,
      whole: () => this.body.getBoundingClientRect(),
      where: () => {
        const all = Math.max(1, this.body.clientHeight);
        return { value: (this.area.element.offsetHeight / all) * 100, least: (LEAST / all) * 100, most: ((all - LEAST) / all) * 100 };
      },
      move: (value) => {
        this.chosen = value;
        this.share();
      },
      keep: (value) => panes.set(this.paneName, value),
    });
    this.area.element.after(this.divider.element);
    this.said = ''; // of what was not seen
    this.submitWords = TEXT.submit;
    this.actions = {
      cannot_judge: () => this.cannotJudge(), comment: () => this.comment(), flag: () => this.flag(), flag_reason: () => this.flagReason(), rest: () => this.rest(), next_hop: () => this.nextHop(),
      pair_marks: () => this.areas.forEach((area) => pairMarksIn(area.text)?.toggle()),
      references: () => this.areas.forEach((area) => area.text.querySelector('[data-testid="fold-references"]')?.dispatchEvent(new MouseEvent('click'))),
    };
  }

  /** What was on, of what one can switch off, since the item came up. */
  get aids() {
    return this.areas.some((area) => pairMarksIn(area.text)?.seen) ? [PAIR_MARKS] : [];
  }

  /** @returns {ReadingArea[]} */
  get areas() {
    return this.beside.isConnected ? [this.facing, this.area] : [this.area];
  }

  /** Which of the divider’s places is meant: it has one beside evidence, and one where the answer stands opposite. @returns {import('./divider.js').Place} */
  get paneName() {
    return this.beside.isConnected ? 'references' : 'reading';
  }

  /** @param {Sheet} sheet @param {Protocol} protocol @param {boolean} correcting a submitted item is open again */
  show(sheet, protocol, correcting) {
    // Before anything is changed: afterwards the browser would lay the page out to scroll it.
    for (const area of [this.facing, this.area]) area.scroller.scrollTop = 0;
    this.place.scrollTop = 0;
    this.sheet = sheet;
    this.cell = null;
    this.atOnce = null;
    this.say('');
    this.tip.hide();
    if (this.dock.open) this.dock.close();
    const { item } = sheet;
    const steps = protocol.steps.length;
    attribute(this.element, 'data-assignment', item.assignment);
    attribute(this.element, 'data-step', item.step);
    // Hops that are judged one after the other are named where that is done.
    const hopwise = sheet.criteria.some(({ target, per_hop: perHop }) => target === 'page' && perHop);
    const parts = reading(item, this.texts, this.keys, namesParagraphs(sheet.criteria)).filter((part) => !hopwise || !part.querySelector('.hops'));
    for (const group of this.pageGroups) group.dispose();
    const judged = this.beside.isConnected ? parts.filter((part) => !!item.answers || part.querySelector('.q, .hops, .a')) : [];
    this.facing.text.replaceChildren(...judged);
    this.text.replaceChildren(
      ...(correcting ? [h('div', { class: 'banner' }, h('span', {}, item.suggestions?.length ? TEXT.comparing : TEXT.correcting), button(TEXT.leaveAsIs, () => this.on.action('leave'), { class: 'btn small', testid: 'leave' }))] : []),
      ...(item.returned && !correcting ? [h('div', { class: 'banner', 'data-testid': 'returned' }, h('span', { dir: 'auto' }, TEXT.returned(item.returned)))] : []),
      ...(item.questions ? [h('h2', { class: 'questions-title' }, TEXT.questions[item.questions]), h('p', { class: 'soft' }, TEXT.questionsMore)] : []),
      ...(item.qualifying ? [h('p', { class: 'soft suggestions-legend', 'data-testid': 'qualifying' }, TEXT.qualifying(item.qualifying))] : []),
      ...(item.suggestions?.length && !correcting ? [h('p', { class: 'soft suggestions-legend', 'data-testid': 'suggestions' }, h('i', { class: 'suggested-sign' }), TEXT.suggestions)] : []),
      ...(steps > 1 ? [this.#steps(protocol)] : []),
      ...parts.filter((part) => !judged.includes(part)),
      ...(item.step < steps - 1 ? [h('p', { class: 'soft later' }, TEXT.moreLater)] : []),
    );
    for (const area of [this.facing, this.area]) {
      foldLong(area.text);
      area.legend.replaceChildren(...(foundIn(area.text)?.legend() ?? []));
    }
    this.element.classList.toggle('unread', !this.text.childElementCount);
    this.chosen = this.panes.get(this.paneName);
    this.fillsUp = this.beside.isConnected;
    this.notSeen.hidden = true;
    this.said = '';
    this.flagWords = h('span', { dir: 'auto' });
    this.flagWhy = button('', () => this.flagReason(), { class: 'mini', key: this.keys.of('flag_reason'), testid: 'flag_reason' });
    this.flagNote = h('p', { class: 'note warn', hidden: true, 'data-testid': 'flag-note' }, this.flagWords, this.flagWhy);
    this.itemComment = h('button', { type: 'button', class: 'note', dir: 'auto', hidden: true, onclick: () => this.comment(), onmousedown: keepFocus });
    const { elements, rows, groups, cards, rests } = buildCriteria(this.#panel(sheet));
    this.rows = rows;
    this.cards = cards;
    this.groups = groups;
    this.rests = rests;
    this.parts.replaceChildren(...elements, h('div', { class: 'notes item-notes' }, this.flagNote, this.itemComment));
    this.placeCards();
    this.#buildFooter(item.step < steps - 1, !!item.questions);
    this.refresh();
    this.#select(sheet.next(null) ?? sheet.visible()[0] ?? null);
  }

  /** Makes a decision the current one. @param {Cell | null} cell @param {boolean} [typing] begin to type if it is a text */
  go(cell, typing = true) {
    this.#select(cell);
    const row = this.row;
    if (!row) return;
    this.reveal();
    if (typing && row.kind.typed && row.input.enter) row.input.enter();
    else this.focus();
  }

  /** Puts what is asked about images beside them; again when the answer was drawn anew. */
  placeCards() {
    for (const cards of this.cards) cards.place(this.facing.text);
  }

  /** Brings the current row into view, also where it stands in the answer. */
  reveal() {
    const { row, group } = this;
    // In one column the thumbnails are far below the page that is judged and its labels.
    if (group instanceof PageGroup && isStacked()) group.bar.closest('.viewer')?.scrollIntoView({ block: 'start' });
    else if (row && this.facing.text.contains(row.element)) row.element.scrollIntoView({ block: 'nearest' });
    else super.reveal();
  }

  /** Draws everything that depends on what is given. */
  refresh() {
    const { sheet } = this;
    if (!sheet) return;
    for (const row of this.rows.values()) row.refresh();
    for (const group of [...this.groups, ...this.cards]) group.refresh();
    this.#refreshRests();
    hideUnasked(this.parts, sheet);
    const ready = sheet.missing().length === 0 && !sheet.broken();
    this.submitButton?.classList.toggle('ready', ready);
    this.#refreshSubmit();
    if (ready) this.say('');
    if (this.flagNote) this.flagNote.hidden = !sheet.flagged;
    if (this.flagWords) this.flagWords.textContent = TEXT.flagNote(sheet.why);
    this.flagWhy?.querySelector('span')?.replaceChildren(sheet.why ? TEXT.flagChange : TEXT.flagWhy);
    this.flagButton?.setAttribute('aria-pressed', String(sheet.flagged));
    if (this.itemComment) {
      this.itemComment.hidden = !sheet.comment;
      this.itemComment.textContent = sheet.comment ? `${TEXT.commentItem}: ${sheet.comment}` : '';
    }
    for (const area of this.areas) area.look(); // what lay over a text may be gone
  }

  /** Says what of the texts has not been on the screen, once a label is given: before that nobody has had the time. */
  looked() {
    super.looked();
    const { sheet, notSeen, areas } = this;
    if (!sheet || !areas.every((area) => area.measured)) return;
    // The line has its place from the start, so that no label moves away from under a pointer when it comes.
    if (areas.some((area) => area.overflows)) notSeen.hidden = false;
    const { assignment, step } = sheet.item;
    const words = sheet.touched ? SEEN.note(String(assignment), step, areas.flatMap((area) => area.names)) : '';
    const line = /** @type {HTMLElement} */ (notSeen.firstElementChild);
    if (line.textContent === words) return;
    line.textContent = words;
    if (words) notSeen.hidden = false;
    if (words && !this.said) this.on.say(words);
    this.said ||= words;
  }

  /** @param {boolean} busy */
  setBusy(busy) {
    super.setBusy(busy);
    for (const { bar } of this.pageGroups) bar.toggleAttribute('inert', busy);
    for (const cards of this.cards) cards.setBusy(busy);
  }

  dispose() {
    super.dispose();
    for (const group of this.pageGroups) group.dispose();
    this.facing.dispose();
  }

  /** A key of a label of the current decision. @param {string} key @returns {boolean} */
  key(key) {
    const row = this.row;
    if (key === 'Space' && row?.input.enter) {
      row.input.enter();
      return true;
    }
    return row?.input.key(key) ?? false;
  }

  /** Moves among decisions or labels; in a grid among its cells, and at its upper and lower edge out of it. @param {'above' | 'below' | 'left' | 'right'} where */
  move(where) {
    const { cell, group } = this;
    if (!cell || !group) {
      super.move(where);
      return;
    }
    const visible = this.sheet?.visible() ?? [];
    const outside = where === 'below' ? visible.find((other, at) => at > visible.indexOf(group.cells[group.cells.length - 1]) && !group.cells.includes(other))
      : where === 'above' ? visible.slice(0, visible.indexOf(group.cells[0])).at(-1) : null;
    const next = group.beside(where) ?? outside;
    if (next) this.go(next, false);
  }

  /** The group of decisions that the current one is in, if it has a control in common with others. */
  get group() {
    const { cell } = this;
    return cell ? this.groups.find((group) => group.cells.includes(cell)) ?? null : null;
  }

  /** The criteria about pages, whose controls stand with the page that is shown large. @returns {PageGroup[]} */
  get pageGroups() {
    return this.groups.filter((group) => group instanceof PageGroup);
  }

  /** A grid is walked with all that is in it in view. */
  get mostReading() {
    return this.groups.length ? 0.28 : super.mostReading;
  }

  /** The hop at hand stays above its pages. */
  get covered() {
    return this.group instanceof PageGroup ? this.group.head?.offsetHeight ?? 0 : 0;
  }

  get revealed() {
    return this.group?.shown ?? super.revealed;
  }

  get ways() {
    return { all: this.sheet?.visible() ?? [], at: this.cell };
  }

  /** @param {Cell} cell */
  goTo(cell) {
    this.go(cell, false);
  }

  /** Takes the current label back. */
  clear() {
    if (this.cell) this.#clear(this.cell);
  }

  /** Opens the comment of the current decision and of the item. */
  comment() {
    const { cell, sheet } = this;
    if (!sheet) return;
    const whole = {
      title: TEXT.commentItem, value: sheet.comment ?? '',
      change: (/** @type {string} */ text) => {
        sheet.comment = text.trim() || null;
        sheet.touched = true;
        this.#changed();
      },
    };
    this.dock.comment(cell ? [{
      title: TEXT.commentOn(cellTitle(cell, sheet.item)), value: sheet.of(cell).comment ?? '',
      change: (text) => {
        sheet.set(cell, { comment: text.trim() || null });
        this.#changed();
      },
    }, whole] : [whole]);
  }

  /** Asks why the current decision cannot be made. */
  cannotJudge() {
    const { cell, sheet } = this;
    if (!cell || !sheet) return;
    const score = scoreOf(sheet.item, cell.criterion);
    const noValue = score?.value === null ? [TEXT.noValueReason(score.words)] : [];
    this.dock.ask(TEXT.cannotTitle(cellTitle(cell, sheet.item)), [...noValue, ...TEXT.cannotReasons], sheet.of(cell).reason ?? '',
      (reason) => this.#cannotJudge(cell, reason));
  }

  /** @param {Cell} cell @param {string} reason */
  #cannotJudge(cell, reason) {
    this.sheet?.cannotJudge(cell, reason);
    this.#changed();
    this.#advance(cell);
  }

  /** Turns the flag for the researcher on or off. */
  flag() {
    if (!this.sheet) return;
    this.sheet.flagged = !this.sheet.flagged;
    this.sheet.touched = true;
    this.#changed();
  }

  /** Raises the flag and asks why, which need not be said. */
  flagReason() {
    const { sheet } = this;
    if (!sheet) return;
    if (!sheet.flagged) this.flag();
    this.dock.ask(TEXT.flagTitle, TEXT.flagReasons, sheet.why, (why) => {
      sheet.why = why;
      sheet.touched = true;
      this.#changed();
    }, false);
  }

  /** Gives every unit of the criterion at hand, or of the first that can, the label that it has for the rest. */
  rest() {
    const next = this.#nextRest();
    if (next) this.#giveRest(next);
    else this.say(TEXT.restNone);
  }

  /** Takes back what was given at once, if nothing was given since; false when there is nothing to take back. */
  undoRest() {
    const { atOnce, sheet } = this;
    if (!atOnce || !sheet) return false;
    for (const cell of atOnce.cells) sheet.give(cell, null);
    this.#changed();
    this.go(atOnce.cells[0], false);
    return true;
  }

  /** Goes to the next hop of the pages that are judged. */
  nextHop() {
    const group = this.group instanceof PageGroup ? this.group : this.pageGroups[0];
    if (group && group.hops.length > 1) this.go(group.nextHop, false);
  }

  /** Goes on to a hop with open pages, once those of the hop at hand are judged; false when there is none. */
  goOn() {
    const { group } = this;
    const hop = group instanceof PageGroup ? group.hopToGoOnWith : null;
    if (!(group instanceof PageGroup) || hop === null) return false;
    this.go(group.entry(group.hops[hop - 1]), false);
    return true;
  }

  /** Goes to the first thing that is missing, or that breaks a rule, and says in words what is; false when nothing is. */
  pointAtMissing() {
    const { sheet } = this;
    const missing = sheet?.missing() ?? [];
    const broken = sheet?.broken();
    if (sheet && broken && !missing.length) {
      this.go(broken.cell);
      this.say(broken.sentence);
      return true;
    }
    if (!sheet || !missing.length) return false;
    this.go(missing[0]);
    this.say(missingWords(sheet, missing));
    return true;
  }

  /** Makes the decision about a unit the current one, if there is one. @param {string} unit */
  goToUnit(unit) {
    const about = (/** @type {Cell} */ cell) => targetKeys(cell.target).evidence === unit;
    if (!this.sheet || (this.cell && about(this.cell))) return;
    const claim = this.cell ? targetKeys(this.cell.target).claim : undefined;
    const cells = this.sheet.visible().filter(about);
    const cell = cells.find((cell) => targetKeys(cell.target).claim === claim) ?? cells[0];
    if (cell) this.go(cell, false);
  }

  /** Makes the decision about a page the current one, if pages are being labelled. @param {string} document @param {number} page */
  goToPage(document, page) {
    const cell = this.group?.at(document, page);
    if (cell && cell !== this.cell) this.go(cell, false);
  }

  /** What the thumbnails of pages say besides their labels. @param {(document: string, page: number) => import('../../viewer/strip.js').Mark[]} marks */
  setPageMarks(marks) {
    for (const group of this.pageGroups) group.marks = ({ document, page }) => marks(document, page);
    this.remarkPages();
  }

  /** Draws again what thumbnails say. */
  remarkPages() {
    for (const group of this.pageGroups) group.refresh();
  }

  /** The address of a thumbnail that is there; else empty. @param {string} document @param {number} page */
  pagePicture(document, page) {
    return this.pageGroups.map((group) => group.grid.picture({ document, page })).find(Boolean) ?? '';
  }

  /** @param {Cell | null} cell */
  #select(cell) {
    const before = this.cell;
    this.cell = cell;
    for (const row of this.rows.values()) row.select(row.cell === cell);
    for (const group of this.groups) group.select(cell);
    this.#refreshRests();
    this.#refreshSubmit();
    if (!cell || !this.sheet || before === cell) return;
    this.markClaim();
    this.on.current(cell);
  }

  /** Marks what of the answer the current decision is about: a claim, or an image. */
  markClaim() {
    const { claim, image } = targetKeys(this.cell?.target ?? '');
    const { scroller } = this.areas[0];
    markImage(scroller, image ?? null);
    const mark = markClaim(scroller, this.sheet?.item.claims?.find(({ key, of }) => key === claim && of === 'answer')?.text ?? null);
    if (!mark || !(this.group instanceof ClaimGrid)) return;
    // Little of the answer is in view beside a grid: what is judged is brought there.
    const [view, own] = [scroller.getBoundingClientRect(), mark.getBoundingClientRect()];
    if (own.top < view.top || own.bottom > view.bottom - view.height * BELOW) scroller.scrollTop += own.top - view.top - view.height * ABOVE;
  }

  /** @returns {import('./rows.js').Row | null} */
  get row() {
    const { cell } = this;
    return cell ? this.rows.get(cell.id) ?? this.group?.row ?? null : null;
  }

  /** @param {Cell} cell @param {Value | null} value @param {boolean} done */
  #give(cell, value, done) {
    const corrected = this.sheet?.answered(cell);
    this.sheet?.give(cell, value);
    if (this.cell !== cell) this.#select(cell);
    this.#changed();
    if (done) this.#advance(cell, corrected);
  }

  /** @param {Cell} cell @param {boolean} [corrected] it had been answered before */
  #advance(cell, corrected = false) {
    const { group } = this;
    const pages = group instanceof PageGroup ? group : null;
    // A page that is corrected in a hop that is done stays in view.
    const next = pages?.next(cell) ?? (pages && corrected ? null : this.sheet?.next(cell) ?? null);
    if (next && next !== cell) this.go(next);
    else this.focus();
    if (!next && !this.sheet?.broken()) this.on.complete();
  }

  /** @param {Cell} cell */
  #clear(cell) {
    this.sheet?.give(cell, null);
    this.#changed();
    this.go(cell, false);
  }

  /** @param {import('./rest.js').Given | null} [atOnce] what was given at once; any other change ends the way back from it */
  #changed(atOnce = null) {
    this.atOnce = atOnce;
    this.refresh();
    this.on.change();
  }

  /** @param {import('./rest.js').Rest} rest */
  #giveRest(rest) {
    const { sheet } = this;
    const cells = rest.left;
    if (!sheet || !cells.length) return;
    for (const cell of cells) sheet.give(cell, rest.label.value);
    this.#changed({ rest, cells });
    this.#advance(cells[0]);
  }

  /** What the key for the rest does now: the criterion at hand comes first. */
  #nextRest() {
    const possible = this.rests.filter((rest) => rest.possible);
    return possible.find((rest) => rest.criterion === this.cell?.criterion) ?? possible[0] ?? null;
  }

  #refreshRests() {
    const next = this.#nextRest();
    for (const rest of this.rests) rest.refresh(this.atOnce, next);
    // The key of going back takes back first, and says so.
    if (this.backButton) this.backButton.firstElementChild?.replaceChildren(this.atOnce ? TEXT.undo : TEXT.back);
    if (this.backButton) this.backButton.title = this.atOnce ? TEXT.undo : this.keys.title('back');
  }

  /** What Enter does now: it submits, or goes on with another hop. */
  #refreshSubmit() {
    const hop = this.group instanceof PageGroup ? this.group.hopToGoOnWith : null;
    this.submitButton?.firstElementChild?.replaceChildren(hop ? TEXT.toHop(hop) : this.submitWords);
  }

  /** @param {Sheet} sheet @returns {import('./rows.js').Panel} */
  #panel(sheet) {
    return {
      sheet,
      facing: this.beside.isConnected,
      answer: new MarkableAnswer(() => this.areas[0].text.querySelector('.a')),
      give: (cell, value, done) => this.#give(cell, value, done),
      giveAll: (cells, value) => {
        for (const cell of cells) sheet.give(cell, value);
        this.#changed({ rest: null, cells });
        this.#advance(cells[0]);
      },
      keys: this.keys,
      giveRest: (rest) => this.#giveRest(rest),
      undoRest: () => this.undoRest(),
      pick: (cell) => this.go(cell, false),
      clear: (cell) => this.#clear(cell),
      cannotJudge: (cell, reason) => {
        this.#select(cell);
        this.#cannotJudge(cell, reason);
      },
      comment: (cell) => {
        this.#select(cell);
        this.comment();
      },
    };
  }

  /** @param {Protocol} protocol */
  #steps(protocol) {
    const { item } = /** @type {Sheet} */ (this.sheet);
    const chips = h('div', { class: 'steps' });
    const earlier = h('div', {});
    protocol.steps.forEach((step, number) => {
      if (number >= item.step) {
        chips.append(h('span', { class: number === item.step ? 'now' : '', 'aria-current': number === item.step ? 'step' : null, dir: 'auto' }, step.title));
        return;
      }
      const chip = h('button', {
        type: 'button', class: 'done', title: TEXT.stepsDone(step.title), 'aria-expanded': 'false', 'data-testid': 'step-done', onmousedown: keepFocus,
        onclick: () => {
          const open = chip.getAttribute('aria-expanded') === 'true';
          chip.setAttribute('aria-expanded', String(!open));
          earlier.replaceChildren(...(open ? [] : [committedLabels(item, protocol, number)]));
        },
      }, `✓ ${step.title}`);
      chips.append(chip);
    });
    return h('div', {}, chips, earlier);
  }

  /** @param {boolean} more another step follows @param {boolean} questions they are no item's */
  #buildFooter(more, questions) {
    const action = (/** @type {string} */ name, /** @type {string} */ title) => button(title, () => this.on.action(name),
      { key: this.keys.of(name), testid: name, hint: this.keys.title(name) });
    this.flagButton = action('flag', TEXT.flag);
    this.submitWords = questions ? TEXT.submitAnswers : more ? TEXT.submitStep : TEXT.submit;
    this.submitButton = button(this.submitWords, () => this.on.action('submit'), { key: this.keys.of('submit'), class: 'btn pri', testid: 'submit' });
    this.backButton = action('back', TEXT.back);
    const ofItems = [this.backButton, action('skip', TEXT.skip), action('cannot_judge', TEXT.cannotJudge), action('comment', TEXT.comment), this.flagButton];
    this.footer.replaceChildren(this.notSeen, ...(questions ? [] : ofItems), this.submitButton);
  }

  /** The row that got the focus becomes the current one. @param {HTMLElement} target */
  focused(target) {
    const row = [...this.rows.values(), ...this.groups.map((group) => group.row)].find((row) => row.element.contains(target));
    if (row && row.cell !== this.cell) this.#select(row.cell);
  }
}

/** Whether what is judged stands on a side of its own: there is an answer, and no evidence that needs the place. @param {Presentation} item */
export function isFacing(item) {
  return !hasEvidence(item) && (item.answer !== undefined || !!item.answers?.length);
}

/** A short name of an item, for messages about it. @param {Presentation} item */
export function itemName(item) {
  return shorten(item.question ?? item.answer ?? '', 56);
}
