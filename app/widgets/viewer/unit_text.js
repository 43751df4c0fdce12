/** The text of an evidence unit beneath its page. */

import { button, h } from '../shared/dom.js';
import { unitFacts } from './passages.js';
import { TEXT } from '../shared/text.js';

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
