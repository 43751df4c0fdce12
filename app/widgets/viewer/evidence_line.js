/** The line under the pages: every evidence unit by its key, and whether its text is shown. */

import { attribute, button, h, keepFocus } from '../shared/dom.js';
import { unitFacts } from './passages.js';
import { TEXT } from '../shared/text.js';
import { toolButton } from './toolbar.js';

export class EvidenceLine {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {object} on
   * @param {(action: string) => void} on.act
   * @param {(unit: string) => void} on.unit
   * @param {() => void} on.text
   */
  constructor(keys, on) {
    this.on = on;
    const walk = (/** @type {string} */ action, /** @type {string} */ title) => toolButton(action, title, keys, () => on.act(action));
    this.row = h('div', { class: 'chips' });
    this.text = button(TEXT.textOf, on.text, { class: 'tool', testid: 'toggle-text', hint: TEXT.textTitle });
    this.element = h('div', { class: 'legend', role: 'toolbar', 'aria-label': TEXT.evidenceLine },
      walk('previous_evidence', TEXT.unitBefore), this.row, walk('next_evidence', TEXT.unitAfter), this.text);
    /** @type {Map<string, HTMLElement>} */
    this.chips = new Map();
  }

  /** @param {Unit[]} units @param {Doc[]} docs */
  open(units, docs) {
    this.chips = new Map(units.map((unit) => {
      const facts = unitFacts(unit, docs.find((doc) => doc.id === unit.document));
      const words = [
        TEXT.kinds[unit.kind] ?? unit.kind, unit.pages.length ? TEXT.onPages(unit.pages) : '', unit.role ? TEXT.roles[unit.role] ?? unit.role : '',
      ].filter(Boolean).join(' ');
      return [unit.key, h('button', {
        type: 'button', class: 'chip', title: facts.join(' · '), 'data-testid': 'unit-chip', onclick: () => this.on.unit(unit.key), onmousedown: keepFocus,
      }, h('b', {}, unit.key), ` ${words}`)];
    }));
    this.row.replaceChildren(...this.chips.values());
    this.element.hidden = !units.length;
  }

  /** @param {string | null} unit */
  mark(unit) {
    for (const [key, chip] of this.chips) attribute(chip, 'aria-current', key === unit ? 'true' : null);
    const chip = unit ? this.chips.get(unit) : null;
    if (!chip) return;
    const { row } = this;
    if (chip.offsetLeft < row.scrollLeft || chip.offsetLeft + chip.offsetWidth > row.scrollLeft + row.clientWidth) {
      row.scrollLeft = chip.offsetLeft - row.clientWidth / 3;
    }
  }

  /** @param {boolean} open @param {boolean} possible */
  textState(open, possible) {
    this.text.setAttribute('aria-pressed', String(open));
    this.text.hidden = !possible;
  }
}
