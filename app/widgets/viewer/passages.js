/** Evidence as text that can be selected: the list of all units, and the text of one beneath its page. */

import { button, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

/** Kind, place and disclosed facts of a unit, in words. @param {Unit} unit @param {Doc | undefined} doc */
export function unitFacts(unit, doc) {
  return [
    TEXT.kinds[unit.kind] ?? unit.kind,
    doc ? doc.title || doc.key : null,
    unit.pages.length ? TEXT.onPages(unit.pages) : null,
    unit.role ? TEXT.roles[unit.role] ?? unit.role : null,
    typeof unit.used === 'boolean' ? (unit.used ? TEXT.used : TEXT.notUsed) : null,
  ].filter((fact) => fact !== null);
}

export class Passages {
  /** @param {(unit: string) => void} onpick @param {import('../texts/texts.js').Texts} texts */
  constructor(onpick, texts) {
    this.onpick = onpick;
    this.texts = texts;
    this.element = h('div', { class: 'passages', tabindex: '0', role: 'region', 'aria-label': TEXT.passages });
    /** @type {Map<string, HTMLElement>} */
    this.cards = new Map();
    /** Where a page of a document that was not supplied is named, by the document's key. @type {Map<string, {doc: Doc, page: HTMLElement}>} */
    this.missing = new Map();
  }

  /** @param {Unit[]} units @param {Doc[]} docs */
  open(units, docs) {
    this.cards.clear();
    this.missing.clear();
    const missing = docs.filter((doc) => !doc.supplied);
    /** @type {HTMLElement[]} */
    const nodes = missing.map((doc) => {
      const page = h('p', { class: 'missing-page', 'data-testid': 'missing-page', hidden: true });
      this.missing.set(doc.key, { doc, page });
      return h('div', { class: 'missing-doc', 'data-testid': 'not-supplied' },
        h('b', { dir: 'auto' }, doc.title || doc.key), page, h('p', {}, TEXT.notSupplied,
          units.some((unit) => unit.document === doc.id) ? `. ${units.some((unit) => unit.document === doc.id && unit.text) ? TEXT.notSuppliedText : TEXT.notSuppliedNothing}` : '.'));
    });
    for (const unit of units) {
      const doc = docs.find((doc) => doc.id === unit.document);
      const card = h('article', {
        class: 'card', 'data-unit': unit.key, 'data-testid': 'passage',
        onclick: () => {
          if (!String(window.getSelection() ?? '')) this.onpick(unit.key);
        },
      },
      h('header', {}, h('b', {}, unit.key), h('span', { class: 'grow' }, unitFacts(unit, doc).join(' · ')), this.texts.choice(unit.text)),
      unit.title ? h('h3', { dir: 'auto' }, unit.title) : null,
      unit.text ? this.texts.fill(h('div', { class: 'passage' }), unit.text) : h('p', { class: 'passage soft' }, TEXT.noText));
      this.cards.set(unit.key, card);
      nodes.push(card);
    }
    this.element.replaceChildren(...nodes);
    if (!this.element.hidden) this.element.scrollTop = 0;
  }

  /** Marks a unit and brings it into view. @param {string} key */
  showUnit(key) {
    for (const [other, card] of this.cards) card.classList.toggle('on', other === key);
    const card = this.cards.get(key);
    if (!card || this.element.hidden) return;
    const view = this.element;
    const [top, bottom] = [card.offsetTop, card.offsetTop + card.offsetHeight];
    if (top < view.scrollTop || bottom > view.scrollTop + view.clientHeight) view.scrollTop = top - 12;
  }

  /** Names a page of a document that was not supplied, in its place. @param {string} key of the document @param {number} page */
  showMissing(key, page) {
    for (const [other, { doc, page: named }] of this.missing) {
      named.hidden = other !== key;
      named.textContent = [TEXT.page(page), doc.n_pages ? TEXT.ofPages(doc.n_pages) : ''].join(' ').trim();
      if (other === key) named.parentElement?.scrollIntoView({ block: 'nearest' });
    }
  }

  /** @param {number} screens */
  scrollBy(screens) {
    this.element.scrollTop += screens * this.element.clientHeight * 0.9;
  }
}

/** The text of a unit beneath its page. */
export class UnitText {
  /** @param {(unit: Unit) => void} enlarge @param {import('../texts/texts.js').Texts} texts */
  constructor(enlarge, texts) {
    this.enlarge = enlarge;
    this.texts = texts;
    /** @type {boolean | null} null: the text shows by itself when a unit has no place on a page */
    this.wanted = null;
    this.element = h('div', { class: 'drawer', 'data-testid': 'unit-text', tabindex: '0', role: 'region', 'aria-label': TEXT.textOf, hidden: true });
  }

  get open() {
    return !this.element.hidden;
  }

  /** @param {Unit | null} unit @param {Doc | undefined} doc @param {boolean} placed it is marked on its page */
  show(unit, doc, placed) {
    const open = !!unit && (this.wanted ?? (!placed && !!unit.text));
    this.element.hidden = !open;
    if (!open || !unit) return;
    this.element.replaceChildren(
      h('header', {}, h('b', {}, unit.key), h('span', { class: 'grow' }, unitFacts(unit, doc).join(' · ')),
        this.texts.choice(unit.text) ?? '', unit.box ? button(TEXT.enlarge, () => this.enlarge(unit), { class: 'tool' }) : null),
      unit.title ? h('h3', { dir: 'auto' }, unit.title) : '',
      unit.text ? this.texts.fill(h('div', { class: 'passage' }), unit.text) : h('p', { class: 'passage soft' }, TEXT.noText),
    );
    this.element.scrollTop = 0;
  }
}
