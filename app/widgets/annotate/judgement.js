/** The right side: what is judged, the criteria with their labels, and the footer. */

import { attribute, button, h, keepFocus, shorten } from './dom.js';
import { Dock } from './dock.js';
import { PageGroup } from './page_group.js';
import { committedLabels, figure, markClaim, reading } from './reading.js';
import { cellTitle, criterionTitle, Row, targetKeys, targetName, targetTitle } from './rows.js';
import { TEXT } from './text.js';

/** @typedef {import('./types.js').Cell} Cell */
/** @typedef {import('./types.js').Value} Value */
/** @typedef {import('./types.js').Protocol} Protocol */
/** @typedef {import('./sheet.js').Sheet} Sheet */

const MISSING_NAMED = 4; // decisions that are named when a step is not complete

export class Judgement {
  /**
   * @param {import('./keys.js').Keys} keys
   * @param {object} on
   * @param {() => void} on.change something was given
   * @param {(cell: Cell) => void} on.current another decision is the current one
   * @param {(action: string) => void} on.action a button of the footer
   */
  constructor(keys, on) {
    this.keys = keys;
    this.on = on;
    /** @type {Sheet | null} */
    this.sheet = null;
    /** @type {Cell | null} */
    this.cell = null;
    /** @type {Map<string, Row>} */
    this.rows = new Map();
    /** @type {PageGroup[]} */
    this.groups = [];
    this.dock = new Dock(() => this.focus());
    this.notice = h('div', { class: 'notice', role: 'alert', 'data-testid': 'notice' });
    this.text = h('div', {});
    this.reading = h('div', { class: 'reading', tabindex: '0', role: 'region', 'aria-label': TEXT.question }, this.text);
    this.parts = h('div', {});
    this.criteria = h('div', { class: 'criteria' }, this.parts);
    this.body = h('div', { class: 'body' }, this.reading, this.criteria);
    this.footer = h('footer', {});
    this.element = h('aside', { class: 'judgement', 'aria-label': TEXT.judgement, 'data-testid': 'item' }, this.body, this.notice, this.dock.element, this.footer);
    this.criteria.addEventListener('focusin', (event) => this.#focused(event));
    this.criteria.addEventListener('pointerover', (event) => this.#tip(event));
    this.criteria.addEventListener('pointerout', () => this.#hideTip());
    this.criteria.addEventListener('scroll', () => this.#hideTip(), { passive: true });
    this.tip = h('div', { class: 'tip', role: 'tooltip', hidden: true, dir: 'auto' });
    this.element.append(this.tip);
    this.tipTimer = 0;
    this.moving = false; // the focus is being moved by the page, not by the annotator
    this.resizes = new ResizeObserver(() => this.#share());
    for (const part of [this.body, this.text, this.parts]) this.resizes.observe(part);
  }

  /** @param {Sheet} sheet @param {Protocol} protocol @param {boolean} correcting a submitted item is open again */
  show(sheet, protocol, correcting) {
    this.sheet = sheet;
    this.rows.clear();
    this.groups = [];
    this.cell = null;
    this.say('');
    this.#hideTip();
    if (this.dock.open) this.dock.close();
    const { item } = sheet;
    const steps = protocol.steps.length;
    attribute(this.element, 'data-assignment', item.assignment);
    attribute(this.element, 'data-step', item.step);
    this.text.replaceChildren(
      ...(correcting ? [h('div', { class: 'banner' }, h('span', {}, TEXT.correcting), button(TEXT.leaveAsIs, () => this.on.action('leave'), { class: 'btn small', testid: 'leave' }))] : []),
      ...(steps > 1 ? [this.#steps(protocol)] : []),
      ...reading(item),
      ...(item.step < steps - 1 ? [h('p', { class: 'soft later' }, TEXT.moreLater)] : []),
    );
    this.reading.scrollTop = 0;
    this.flagNote = h('p', { class: 'note warn', hidden: true, 'data-testid': 'flag-note' }, TEXT.flagNote);
    this.itemComment = h('button', { type: 'button', class: 'note', dir: 'auto', hidden: true, onclick: () => this.comment(), onmousedown: keepFocus });
    this.parts.replaceChildren(...this.#parts(), h('div', { class: 'notes item-notes' }, this.flagNote, this.itemComment));
    this.criteria.scrollTop = 0;
    this.#buildFooter(item.step < steps - 1);
    this.refresh();
    this.#share();
    this.go(sheet.next(null) ?? sheet.visible()[0] ?? null, false);
  }

  /** Makes a decision the current one. @param {Cell | null} cell @param {boolean} [typing] begin to type if it is a text */
  go(cell, typing = true) {
    this.#select(cell);
    const row = this.#row();
    if (!row) return;
    this.#reveal(row.element);
    if (typing && row.kind.typed && row.input.enter) row.input.enter();
    else this.focus();
  }

  /** Gives the focus back to the current decision; its row shows where it is. */
  focus() {
    this.moving = true;
    this.#row()?.focus();
    this.moving = false;
    this.quiet = true;
  }

  /** Whether the page put the focus where it is: the label that has it is then not singled out. */
  get quiet() {
    return this.element.classList.contains('quiet');
  }

  set quiet(quiet) {
    this.element.classList.toggle('quiet', quiet);
  }

  /** Draws everything that depends on what is given. */
  refresh() {
    const { sheet } = this;
    if (!sheet) return;
    for (const row of this.rows.values()) row.refresh();
    for (const group of this.groups) group.refresh();
    for (const part of this.criteria.querySelectorAll('[data-cells]')) {
      const cells = (part.getAttribute('data-cells') ?? '').split('\n');
      /** @type {HTMLElement} */ (part).hidden = !cells.some((id) => sheet.asked(/** @type {Cell} */ (sheet.cellById.get(id))));
    }
    const ready = sheet.missing().length === 0;
    this.submitButton?.classList.toggle('ready', ready);
    if (ready) this.say('');
    if (this.flagNote) this.flagNote.hidden = !sheet.flag;
    this.flagButton?.setAttribute('aria-pressed', String(sheet.flag));
    if (this.itemComment) {
      this.itemComment.hidden = !sheet.comment;
      this.itemComment.textContent = sheet.comment ? `${TEXT.commentItem}: ${sheet.comment}` : '';
    }
  }

  /** A key of a label of the current decision. @param {string} key @returns {boolean} */
  key(key) {
    const row = this.#row();
    if (key === ' ' && row?.input.enter) {
      row.input.enter();
      return true;
    }
    return row?.input.key(key) ?? false;
  }

  /** Moves among decisions, or among the labels of one. @param {'above' | 'below' | 'left' | 'right'} where */
  move(where) {
    if (where === 'left' || where === 'right') {
      // The first press shows which label has the focus.
      const by = this.quiet ? 0 : (where === 'right' ? 1 : -1);
      this.quiet = false;
      this.#row()?.input.move?.(by);
      return;
    }
    const cells = this.sheet?.visible() ?? [];
    const at = cells.findIndex((cell) => cell === this.cell);
    const next = cells[Math.max(0, Math.min(cells.length - 1, at + (where === 'below' ? 1 : -1)))];
    if (next) this.go(next, false);
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
    this.dock.ask(TEXT.cannotTitle(cellTitle(cell, sheet.item)), TEXT.cannotReasons, sheet.of(cell).reason ?? '', (reason) => {
      sheet.cannotJudge(cell, reason);
      this.#changed();
      this.#advance(cell);
    });
  }

  /** Turns the flag for the researcher on or off. */
  flag() {
    if (!this.sheet) return;
    this.sheet.flag = !this.sheet.flag;
    this.sheet.touched = true;
    this.#changed();
  }

  /** Goes to the first thing that is missing and says in words what is; false when nothing is. */
  pointAtMissing() {
    const { sheet } = this;
    const missing = sheet?.missing() ?? [];
    if (!sheet || !missing.length) return false;
    const [first] = missing;
    this.go(first);
    const problem = sheet.problem(first);
    if (problem) {
      this.say(TEXT.wrong(cellTitle(first, sheet.item), problem));
      return true;
    }
    /** @type {Map<string, string[]>} */
    const named = new Map();
    for (const cell of missing) {
      const { key } = targetName(cell.target, sheet.item);
      named.set(cell.criterion.title, [...(named.get(cell.criterion.title) ?? []), key]);
    }
    const words = [...named].slice(0, MISSING_NAMED).map(([title, keys]) => {
      const own = keys.filter(Boolean);
      const more = own.length > MISSING_NAMED ? [...own.slice(0, MISSING_NAMED), TEXT.andMore(own.length - MISSING_NAMED)] : own;
      return own.length ? `${title} (${more.join(', ')})` : title;
    });
    if (named.size > MISSING_NAMED) words.push(TEXT.andMore(named.size - MISSING_NAMED));
    this.say(TEXT.missing(words.join('; ')));
    return true;
  }

  /** Makes the decision about a unit the current one, if there is one. @param {string} unit */
  goToUnit(unit) {
    const about = (/** @type {Cell} */ cell) => targetKeys(cell.target).evidence === unit;
    if (!this.sheet || (this.cell && about(this.cell))) return;
    const claim = this.cell ? targetKeys(this.cell.target).claim : undefined;
    const cells = this.sheet.visible().filter(about);
    const cell = cells.find((one) => targetKeys(one.target).claim === claim) ?? cells[0];
    if (cell) this.go(cell, false);
  }

  /** Makes the decision about a page the current one, if pages are being labelled. @param {string} document @param {number} page */
  goToPage(document, page) {
    const group = this.groups.find((one) => one.cells.includes(/** @type {Cell} */ (this.cell)));
    const cell = group?.at(document, page);
    if (cell && cell !== this.cell) this.go(cell, false);
  }

  /** What was given to a page, for its thumbnail. @param {string} document @param {number} page @returns {{class: string, title: string}[]} */
  pageMarks(document, page) {
    const { sheet } = this;
    return this.groups.flatMap((group) => {
      const cell = group.at(document, page);
      const given = cell && sheet?.of(cell);
      const labels = cell?.criterion.labels ?? [];
      const number = labels.findIndex((label) => String(label.value) === String(given?.value));
      return number < 0 ? [] : [{ class: `given-${number + 1}`, title: labels[number].title }];
    });
  }

  /** Says something above the footer. @param {string} words */
  say(words) {
    this.notice.textContent = words;
  }

  /** Locks the panel while a step is on its way. @param {boolean} busy */
  setBusy(busy) {
    this.element.toggleAttribute('inert', busy);
    this.element.classList.toggle('busy', busy);
  }

  dispose() {
    this.resizes.disconnect();
    clearTimeout(this.tipTimer);
  }

  /** @param {Cell | null} cell */
  #select(cell) {
    const before = this.cell;
    this.cell = cell;
    for (const row of this.rows.values()) row.select(row.cell === cell);
    for (const group of this.groups) group.select(cell);
    if (!cell || !this.sheet || before === cell) return;
    const { claim } = targetKeys(cell.target);
    markClaim(this.reading, this.sheet.item.claims?.find((one) => one.key === claim && one.of === 'answer')?.text ?? null);
    this.on.current(cell);
  }

  #row() {
    const { cell } = this;
    return cell ? this.rows.get(cell.id) ?? this.groups.find((group) => group.cells.includes(cell))?.row ?? null : null;
  }

  /** @param {Cell} cell @param {Value | null} value @param {boolean} done */
  #give(cell, value, done) {
    this.sheet?.give(cell, value);
    if (this.cell !== cell) this.#select(cell);
    this.#changed();
    if (done) this.#advance(cell);
  }

  /** @param {Cell} cell */
  #advance(cell) {
    const next = this.sheet?.next(cell) ?? null;
    if (next && next !== cell) this.go(next);
    else this.focus();
  }

  /** @param {Cell} cell */
  #clear(cell) {
    this.sheet?.give(cell, null);
    this.#changed();
    this.go(cell, false);
  }

  #changed() {
    this.refresh();
    this.on.change();
  }

  /** The criteria of this step as rows and groups. @returns {HTMLElement[]} */
  #parts() {
    const sheet = /** @type {Sheet} */ (this.sheet);
    /** @type {import('./rows.js').Panel} */
    const panel = {
      sheet,
      give: (cell, value, done) => this.#give(cell, value, done),
      pick: (cell) => this.go(cell, false),
      clear: (cell) => this.#clear(cell),
      comment: (cell) => {
        this.#select(cell);
        this.comment();
      },
    };
    const parts = [];
    const { criteria } = sheet;
    for (let at = 0; at < criteria.length; at += 1) {
      const criterion = criteria[at];
      const cells = sheet.cells.filter((cell) => cell.criterion === criterion);
      if (!cells.length) continue;
      if (['item', 'pair'].includes(criterion.target)) {
        parts.push(...cells.map((cell) => this.#add(new Row(cell, panel, criterionTitle(criterion))).element));
      } else if (criterion.target === 'page') {
        const group = new PageGroup(cells, panel, (left, value) => {
          for (const cell of left) sheet.give(cell, value);
          this.#changed();
          this.#advance(left[0]);
        });
        this.groups.push(group);
        parts.push(group.element);
      } else {
        // Neighbours that are about the same things are asked together, thing by thing.
        const together = [criterion];
        while (criteria[at + 1]?.target === criterion.target) together.push(criteria[at += 1]);
        parts.push(together.length > 1 || criterion.target === 'claim_evidence' ? this.#byThing(together, panel) : this.#list(cells, panel));
      }
    }
    return parts;
  }

  /** One criterion, a row for each target. @param {Cell[]} cells @param {import('./rows.js').Panel} panel */
  #list(cells, panel) {
    const { item } = panel.sheet;
    const rows = cells.map((cell) => this.#add(new Row(cell, panel, targetTitle(cell.target, item), 'e')).element);
    return h('div', { class: 'group', 'data-cells': cells.map((cell) => cell.id).join('\n') },
      h('div', { class: 'group-title' }, criterionTitle(cells[0].criterion), h('small', { class: 'soft' }, TEXT.units(cells.length))), ...rows);
  }

  /** Several criteria on the same targets: the target, then its criteria. @param {import('./types.js').Criterion[]} criteria @param {import('./rows.js').Panel} panel */
  #byThing(criteria, panel) {
    const { cells, item } = panel.sheet;
    const own = cells.filter((cell) => criteria.includes(cell.criterion));
    const pairs = criteria[0].target === 'claim_evidence';
    const things = [...new Set(own.map((cell) => (pairs ? cell.target.split('|')[0] : cell.target)))];
    return h('div', { class: 'group', 'data-cells': own.map((cell) => cell.id).join('\n') }, ...things.map((thing) => {
      const about = own.filter((cell) => (pairs ? cell.target.split('|')[0] : cell.target) === thing);
      const picture = item.images?.find((one) => `image:${one.key}` === thing);
      return h('div', { class: 'thing', 'data-cells': about.map((cell) => cell.id).join('\n') },
        h('div', { class: 'thing-title', onclick: () => panel.pick(about[0]) }, targetTitle(thing, item),
          picture && item.answer === undefined ? figure(picture, (item.images ?? []).indexOf(picture) + 1, item) : null,
          pairs && criteria.length === 1 ? h('small', { class: 'soft' }, criteria[0].title) : null),
        ...about.map((cell) => this.#add(new Row(cell, panel, pairs && criteria.length === 1
          ? targetTitle(`evidence:${targetKeys(cell.target).evidence}`, item) : criterionTitle(cell.criterion), pairs ? 'e' : 'c in')).element));
    }));
  }

  /** @param {Row} row */
  #add(row) {
    this.rows.set(row.cell.id, row);
    return row;
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

  /** @param {boolean} more another step follows */
  #buildFooter(more) {
    const action = (/** @type {string} */ name, /** @type {string} */ title) => button(title, () => this.on.action(name),
      { key: this.keys.of(name), testid: name, hint: this.keys.title(name) });
    this.flagButton = action('flag', TEXT.flag);
    this.submitButton = button(more ? TEXT.submitStep : TEXT.submit, () => this.on.action('submit'), { key: this.keys.of('submit'), class: 'btn pri', testid: 'submit' });
    this.footer.replaceChildren(action('back', TEXT.back), action('skip', TEXT.skip), action('cannot_judge', TEXT.cannotJudge),
      action('comment', TEXT.comment), this.flagButton, this.submitButton);
  }

  /** The row that got the focus becomes the current one. @param {FocusEvent} event */
  #focused(event) {
    const { target } = event;
    if (!(target instanceof HTMLElement)) return;
    if (this.moving) return;
    this.quiet = false;
    const row = [...this.rows.values(), ...this.groups.map((group) => group.row)].find((one) => one.element.contains(target));
    if (row && row.cell !== this.cell) this.#select(row.cell);
    if (target.matches(':focus-visible')) this.#tip(event);
  }

  /** The definition of the label under the pointer or in focus. @param {Event} event */
  #tip(event) {
    this.#hideTip();
    const label = event.target instanceof Element ? event.target.closest('[data-tip]') : null;
    if (!(label instanceof HTMLElement)) return;
    this.tipTimer = window.setTimeout(() => {
      if (!label.isConnected) return;
      this.tip.textContent = label.dataset.tip ?? '';
      this.tip.hidden = false;
      const panel = this.element.getBoundingClientRect();
      const place = label.getBoundingClientRect();
      const left = Math.max(8, Math.min(place.left - panel.left, panel.width - this.tip.offsetWidth - 8));
      const above = place.top - panel.top - this.tip.offsetHeight - 6;
      this.tip.style.left = `${left}px`;
      this.tip.style.top = `${above > 4 ? above : place.bottom - panel.top + 6}px`;
    }, 350);
  }

  #hideTip() {
    clearTimeout(this.tipTimer);
    this.tip.hidden = true;
  }

  /** Scrolls the criteria, or the whole page where it is one column, so far that a row is seen. @param {HTMLElement} row */
  #reveal(row) {
    const { criteria } = this;
    if (criteria.scrollHeight <= criteria.clientHeight) {
      row.scrollIntoView({ block: 'nearest' });
      return;
    }
    const [view, place] = [criteria.getBoundingClientRect(), row.getBoundingClientRect()];
    if (place.top < view.top) criteria.scrollTop -= view.top - place.top + 8;
    else if (place.bottom > view.bottom) criteria.scrollTop += Math.min(place.bottom - view.bottom + 40, place.top - view.top);
  }

  /** Shares the height: all of it when it is enough, else the reading scrolls and the criteria keep at least half. */
  #share() {
    const all = this.body.clientHeight;
    const [text, needed] = [this.text.offsetHeight + 18, this.parts.offsetHeight + 14];
    const forReading = text + needed <= all ? text : Math.max(all - needed, Math.min(text, all * 0.45));
    this.body.style.setProperty('--reading', `${Math.round(forReading)}px`);
  }
}

/** A short name of an item, for messages about it. @param {import('./types.js').Presentation} item */
export function itemName(item) {
  return shorten(item.question, 56);
}
