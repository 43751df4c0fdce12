/** The middle: what the item says, in fields, with what differs beneath each. */

import { button, h, shorten } from '../shared/dom.js';
import { DRAFTED, DraftPanel } from './drafts.js';
import { WORDS } from './text.js';

/** @typedef {import('./edits.js').Edits} Edits */

const TEXTS = ['question', 'answer', 'references', 'answer_claims', 'reference_claims'];
const ACTION = /** @type {Record<string, string>} */ ({
  question: 'edit_question', answer: 'edit_answer', references: 'edit_references', answer_claims: 'edit_claims',
  evidence: 'edit_evidence', images: 'edit_images', others: 'edit_others',
});

/** @param {unknown} value */
const words = (value) => (value === null || value === undefined ? '' : String(value));

export class Fields {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {object} on
   * @param {() => void} on.change something is written
   * @param {(key: string) => void} on.unit an evidence unit is the current one
   * @param {(action: string) => void} on.action
   * @param {import('./api.js').Api} on.api
   */
  constructor(keys, on) {
    this.keys = keys;
    this.on = on;
    /** @type {Edits | null} */
    this.edits = null;
    /** The field that was written in last. @type {string | null} */
    this.last = null;
    this.showsDifferences = true;
    /** @type {RevisionPlan | null} */
    this.plan = null;
    /** @type {Map<string, {section: HTMLElement, state: HTMLElement, area: HTMLTextAreaElement | null, difference: HTMLElement, rows: HTMLElement | null}>} */
    this.sections = new Map();
    /** Evidence units whose text is open. @type {Set<string>} */
    this.open = new Set();
    /** Drafts that are being asked for, by field. @type {Map<string, DraftPanel>} */
    this.drafts = new Map();
    this.foot = h('p', { class: 'soft fields-foot', 'data-testid': 'fields-foot' });
    this.element = h('div', { class: 'fields', tabindex: '-1', role: 'group', 'aria-label': WORDS.fields, 'data-testid': 'fields' });
    this.sizes = new ResizeObserver(() => this.#fit());
    this.sizes.observe(this.element);
  }

  /** @param {Edits} edits */
  show(edits) {
    this.edits = edits;
    this.plan = null;
    this.last = null;
    this.open.clear();
    for (const draft of [...this.drafts.values()]) draft.close();
    this.sections.clear();
    const others = edits.text('others');
    const shown = [...TEXTS.filter((name) => name !== 'reference_claims' || edits.text(name) || edits.item.written[name]), 'evidence', 'images', 'others'];
    this.element.replaceChildren(...shown.map((name) => this.#section(name)), this.foot);
    const last = this.sections.get('others');
    if (last) last.section.hidden = others === '{}' && !edits.values.has('others') && !('documents' in edits.item);
    this.refresh();
    this.element.scrollTop = 0;
    this.#fit();
  }

  /** What saving would do, with what differs; null: nothing does, or it cannot be told. @param {RevisionPlan | null} plan */
  planned(plan) {
    this.plan = plan;
    this.refresh();
  }

  /** Draws everything that depends on what is written. */
  refresh() {
    const { edits } = this;
    if (!edits) return;
    for (const [name, { section, state, difference, rows }] of this.sections) {
      const changed = edits.values.has(name);
      section.classList.toggle('changed', changed);
      const n = rows ? this.#partsChanged(name) : 0;
      state.textContent = !changed ? WORDS.unchanged : rows ? WORDS.nChanged(n) : WORDS.changed;
      if (rows) rows.replaceChildren(...this.#rows(name));
      const parts = changed && this.showsDifferences ? this.plan?.differences[name] ?? null : null;
      difference.hidden = !parts;
      if (parts && this.plan) difference.replaceChildren(h('small', { class: 'soft' }, `${edits.item.version} → ${this.plan.version}`), h('span', { dir: 'auto' }, ...differing(parts)));
    }
    const n = edits.values.size;
    this.foot.textContent = WORDS.fields_differ(n, edits.item.version);
  }

  /** Begins to edit something. @param {string} action @returns {boolean} whether it is an action of the fields */
  act(action) {
    const name = Object.keys(ACTION).find((name) => ACTION[name] === action);
    if (name) {
      this.edit(name);
      return true;
    }
    if (action === 'undo') this.#undo();
    else if (action === 'differences') {
      this.showsDifferences = !this.showsDifferences;
      this.refresh();
    } else return false;
    return true;
  }

  /** Puts the keyboard where something is written. @param {string} name */
  edit(name) {
    const found = this.sections.get(name);
    if (!found || !this.edits) return;
    found.section.hidden = false;
    const target = found.area ?? /** @type {HTMLElement | null} */ (found.rows?.querySelector('[data-key]')) ?? found.section;
    target.focus();
    if (found.area) found.area.setSelectionRange(found.area.value.length, found.area.value.length);
    found.section.scrollIntoView({ block: 'nearest' });
  }

  /** Moves among rows of parts, or among the roles of one. @param {'above' | 'below' | 'left' | 'right'} where */
  move(where) {
    const rows = /** @type {HTMLElement[]} */ ([...this.element.querySelectorAll('[data-key]')]);
    const root = /** @type {ShadowRoot} */ (this.element.getRootNode());
    const at = rows.findIndex((row) => row.contains(root.activeElement));
    if (where === 'above' || where === 'below') {
      rows[at < 0 ? 0 : Math.max(0, Math.min(rows.length - 1, at + (where === 'below' ? 1 : -1)))]?.focus();
      return;
    }
    const { key, part } = rows[at]?.dataset ?? {};
    const { edits } = this;
    if (!edits || !key || part !== 'evidence') return;
    const roles = [...edits.item.roles, null];
    const unit = edits.parts('evidence').find((unit) => unit.key === key);
    if (!unit) return;
    const next = roles.indexOf(/** @type {string | null} */ (unit.role ?? null)) + (where === 'right' ? 1 : -1);
    this.#setRole(key, roles[Math.max(0, Math.min(roles.length - 1, next))]);
  }

  /** Gives the focus back to what was edited last, without typing in it. */
  focus() {
    this.element.focus({ preventScroll: true });
  }

  /** Writes words where somebody wrote last; false when nobody did. @param {string} text */
  quote(text) {
    const found = this.last ? this.sections.get(this.last) : null;
    const area = found?.area;
    if (!area || !this.last || !this.edits) return false;
    const before = area.value.slice(0, area.selectionStart);
    const space = before && !/\s$/.test(before) ? ' ' : '';
    area.setRangeText(`${space}${text}`, area.selectionStart, area.selectionEnd, 'end');
    this.edits.set(this.last, area.value);
    area.focus();
    this.#written();
    return true;
  }

  /** Writes a whole text. @param {string} name @param {string} text */
  write(name, text) {
    const area = this.sections.get(name)?.area;
    if (!area || !this.edits) return;
    area.value = text;
    this.last = name;
    this.edits.set(name, text);
    this.#written();
  }

  dispose() {
    this.sizes.disconnect();
  }

  #undo() {
    const { edits, last } = this;
    if (!edits || !last || !edits.values.has(last)) return;
    edits.set(last, edits.item.written[last]);
    const area = this.sections.get(last)?.area;
    if (area) area.value = edits.text(last);
    this.#written();
  }

  #written() {
    this.#fit();
    this.refresh();
    this.on.change();
  }

  /** @param {string} name */
  #section(name) {
    const { keys } = this;
    const edits = /** @type {Edits} */ (this.edits);
    const isText = typeof edits.item.written[name] === 'string';
    const state = h('span', { class: 'soft state' });
    const title = WORDS.names[name];
    const action = ACTION[name];
    const more = name === 'answer_claims' ? button(WORDS.split, () => this.on.action('split'), { key: keys.of('split'), class: 'plain', testid: 'split' })
      : name === 'evidence' ? button(WORDS.addPage, () => this.on.action('add_page'), { key: keys.of('add_page'), class: 'plain', testid: 'add-page' }) : null;
    const draft = name in DRAFTED && edits.item.drafting.writers.length
      ? button(WORDS.suggest, () => this.#draft(name), { class: 'plain', testid: `have-drafted-${name}`, name: WORDS.draftOf(title) }) : null;
    const area = isText ? this.#area(name, title) : null;
    const difference = h('p', { class: 'difference', hidden: true, 'data-testid': `difference-${name}` });
    const rows = isText ? null : h('div', { class: 'parts' });
    const head = h('header', {}, h('h2', {}, title), state, h('span', { class: 'grow' }), draft, more,
      action ? button(WORDS.edit, () => this.edit(name), { key: keys.of(action), class: 'plain', name: `${WORDS.edit}: ${title}` }) : null);
    const answers = name === 'answer' && edits.item.answers.length ? h('p', { class: 'soft standing' }, WORDS.ambiguous, ' ',
      ...edits.item.answers.map((answer) => button(answer, () => this.write('answer', answer), { class: 'btn small' }))) : null;
    const section = h('section', { class: 'field-part', 'data-field': name, tabindex: rows ? '-1' : null }, head, area, answers, rows,
      WORDS.hints[name] ? h('small', { class: 'soft' }, WORDS.hints[name]) : null, difference);
    this.sections.set(name, { section, state, area, difference, rows });
    return section;
  }

  /** Opens the draft of a field, or closes it. @param {string} name */
  #draft(name) {
    const { edits } = this;
    const section = this.sections.get(name)?.section;
    const open = this.drafts.get(name);
    if (open) open.close();
    if (open || !edits || !section) return;
    const panel = new DraftPanel(edits, name, this.on.api, {
      take: (text, job) => {
        edits.drafts.set(name, job);
        this.write(name, text);
        this.edit(name);
      },
      close: () => this.drafts.delete(name),
    });
    this.drafts.set(name, panel);
    section.append(panel.element);
    panel.element.scrollIntoView({ block: 'nearest' });
  }

  /** @param {string} name @param {string} title */
  #area(name, title) {
    const edits = /** @type {Edits} */ (this.edits);
    const area = h('textarea', {
      class: `field${name === 'others' ? ' code' : ''}`, rows: 1, dir: 'auto', 'aria-label': title, placeholder: WORDS.none, 'data-testid': `field-${name}`, spellcheck: name === 'others' ? 'false' : null,
      onfocus: () => {
        this.last = name;
      },
      oninput: () => {
        edits.set(name, area.value);
        this.#written();
      },
    });
    area.value = edits.text(name);
    return area;
  }

  /** Fields are as high as what is written in them. */
  #fit() {
    for (const { area } of this.sections.values()) {
      if (!area) continue;
      area.style.height = 'auto';
      area.style.height = `${Math.min(area.scrollHeight + 2, area.classList.contains('code') ? 240 : 420)}px`;
    }
  }

  /** How many parts are otherwise than they were. @param {string} name */
  #partsChanged(name) {
    const edits = /** @type {Edits} */ (this.edits);
    const before = new Map(edits.before(name).map((part) => [part.key, JSON.stringify(part)]));
    const now = edits.parts(name);
    const changed = now.filter((part) => before.get(part.key) !== JSON.stringify(part)).length;
    return changed + edits.before(name).filter((part) => !now.some(({ key }) => key === part.key)).length;
  }

  /** A row a part: those of the item, left out or not, then those that were added. @param {string} name @returns {HTMLElement[]} */
  #rows(name) {
    const edits = /** @type {Edits} */ (this.edits);
    const root = this.element.getRootNode();
    const active = root instanceof ShadowRoot ? root.activeElement : null;
    const now = edits.parts(name);
    const before = edits.before(name);
    const all = [...before, ...now.filter(({ key }) => !before.some((part) => part.key === key))];
    if (!all.length) return [h('p', { class: 'soft' }, WORDS.noParts[name])];
    const held = active?.closest('[data-key]')?.getAttribute('data-key');
    const typing = active?.matches('textarea, input') ? active.getAttribute('data-testid') : null;
    const rows = all.map((part) => {
      const key = String(part.key);
      const unit = now.find((other) => other.key === part.key) ?? null;
      return this.#row(name, key, unit, before.find((other) => other.key === part.key) ?? null);
    });
    // What had the focus keeps it: the rows are drawn anew with every change.
    queueMicrotask(() => {
      const row = rows.find((row) => row.getAttribute('data-key') === held);
      if (!row || !held) return;
      const field = typing ? /** @type {HTMLTextAreaElement | null} */ (row.querySelector(`[data-testid="${typing}"]`)) : null;
      (field ?? row).focus({ preventScroll: true });
    });
    return rows;
  }

  /** @param {string} name @param {string} key @param {Record<string, unknown> | null} unit as it is now @param {Record<string, unknown> | null} before */
  #row(name, key, unit, before) {
    const edits = /** @type {Edits} */ (this.edits);
    const part = unit ?? before ?? {};
    const pages = /** @type {number[]} */ (part.pages ?? (part.page ? [part.page] : []));
    const where = [part.document && pages.length ? WORDS.page(pages) : '', words(part.caption && name === 'images' ? '' : part.kind)].filter(Boolean).join(', ');
    const toggle = button(unit ? WORDS.leaveOut : WORDS.putBack, () => {
      edits.setPart(name, key, null);
      this.#written();
    }, { class: 'mini', testid: 'leave-out', hint: WORDS.deleteKey, name: `${unit ? WORDS.leaveOut : WORDS.putBack}: ${key}` });
    const row = h('div', {
      class: `part-row${unit ? '' : ' out'}`, tabindex: '0', role: 'group', 'aria-label': key, 'data-key': key, 'data-part': name,
      onfocusin: () => name === 'evidence' && this.on.unit(key),
      onkeydown: (/** @type {Event} */ event) => {
        if (!(event instanceof KeyboardEvent) || event.key !== 'Delete' || event.target !== row) return;
        event.preventDefault();
        toggle.click();
      },
    }, h('b', { dir: 'auto', title: key }, shorten(key, 14)), h('span', { class: 'about grow', dir: 'auto' }, name === 'images' ? '' : shorten(words(part.text) || words(part.document), 90), h('small', { class: 'soft' }, ` ${where}`)),
    before ? null : h('span', { class: 'new' }, WORDS.added), unit ? null : h('span', { class: 'gone' }, WORDS.out));
    if (name === 'evidence' && unit) row.append(...this.#roles(key, unit, before));
    if (name === 'evidence' && unit && unit.text !== undefined) {
      row.append(button(WORDS.text, () => {
        if (!this.open.delete(key)) this.open.add(key);
        this.refresh();
      }, { class: 'mini', testid: 'open-text', name: WORDS.textOf(key) }));
    }
    row.append(toggle);
    if (unit && (name === 'images' || this.open.has(key))) row.append(this.#partField(name, key, unit, name === 'images' ? 'caption' : 'text'));
    return row;
  }

  /** @param {string} key @param {Record<string, unknown>} unit @param {Record<string, unknown> | null} before */
  #roles(key, unit, before) {
    const edits = /** @type {Edits} */ (this.edits);
    const role = unit.role ?? null;
    const was = before?.role ?? null;
    const seg = h('span', { class: 'seg', role: 'radiogroup', 'aria-label': `${WORDS.role}: ${key}` }, ...[...edits.item.roles, null].map((name) => h('button', {
      type: 'button', role: 'radio', tabindex: '-1', 'aria-checked': String(name === role), class: name === role ? 'sel' : null, onclick: () => this.#setRole(key, name),
    }, name ?? WORDS.noRole)));
    const moved = before && was !== role && this.showsDifferences
      ? h('span', { class: 'moved' }, h('del', {}, words(was) || WORDS.noRole), ' → ', h('ins', {}, words(role) || WORDS.noRole)) : null;
    return [moved, seg].filter((element) => element !== null);
  }

  /** @param {string} key @param {string | null} role */
  #setRole(key, role) {
    this.edits?.setPart('evidence', key, { role });
    this.last = 'evidence';
    this.#written();
  }

  /** @param {string} name @param {string} key @param {Record<string, unknown>} unit @param {'caption' | 'text'} what */
  #partField(name, key, unit, what) {
    const area = h('textarea', {
      class: 'field', rows: what === 'text' ? 4 : 1, dir: 'auto', 'data-testid': `${what}-${key}`, 'aria-label': what === 'text' ? WORDS.textOf(key) : WORDS.captionOf(key),
      onchange: () => {
        this.edits?.setPart(name, key, { [what]: area.value });
        this.last = name;
        this.#written();
      },
      oninput: () => {
        // The rows are not drawn anew while somebody types in one of them.
        this.edits?.setPart(name, key, { [what]: area.value });
        this.last = name;
        this.on.change();
      },
    });
    area.value = words(unit[what]);
    return area;
  }
}

/** @param {[string, string][]} parts @returns {(Node | string)[]} */
function differing(parts) {
  return parts.map(([kind, text]) => (kind === 'del' ? h('del', {}, text) : kind === 'ins' ? h('ins', {}, text) : text));
}
