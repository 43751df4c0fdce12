/** A row of label buttons, each with its key: what choices, grades, small numbers and sets are made of. */

import { attribute, h, keepFocus, keycap } from '../shared/dom.js';

/**
 * @param {object} options
 * @param {string} options.name what a screen reader calls the group
 * @param {Label[]} options.labels
 * @param {boolean} [options.multiple] several labels can be on at once
 * @param {string} [options.layout] an extra class
 * @param {(label: Label) => void} options.pick
 */
export function buttons({ name, labels, multiple = false, layout = '', pick }) {
  const elements = labels.map((label, number) => h('button', {
    type: 'button', role: multiple ? 'checkbox' : 'radio', 'aria-checked': 'false', tabindex: number === 0 ? 0 : -1,
    'aria-keyshortcuts': label.key || null, 'aria-description': label.definition || null,
    'data-testid': 'label', 'data-value': label.value, 'data-tip': label.definition || null, dir: 'auto',
    onclick: () => pick(label), onmousedown: keepFocus,
  }, h('span', {}, label.title || String(label.value)), label.key && label.key !== label.title ? keycap(label.key) : null));
  const element = h('div', {
    class: `seg ${layout}`, role: multiple ? 'group' : 'radiogroup', 'aria-label': name,
  }, ...elements);

  /** @param {number} number */
  const rove = (number) => elements.forEach((option, other) => attribute(option, 'tabindex', other === number ? 0 : -1));

  return {
    element,
    /** Shows which labels are on. @param {(label: Label) => boolean} on */
    show(on) {
      const states = labels.map(on);
      elements.forEach((option, number) => {
        option.setAttribute('aria-checked', String(states[number]));
        option.classList.toggle('sel', states[number]);
      });
      rove(Math.max(0, states.indexOf(true)));
    },
    /** @param {string} key */
    key(key) {
      const label = labels.find((label) => label.key === key);
      if (label) pick(label);
      return !!label;
    },
    focus() {
      (elements.find((option) => option.tabIndex === 0) ?? elements[0])?.focus({ preventScroll: true });
    },
    /** @param {number} by */
    move(by) {
      const root = /** @type {ShadowRoot | Document} */ (element.getRootNode());
      const at = elements.findIndex((option) => option === root.activeElement);
      const number = at < 0 ? 0 : (at + by + elements.length) % elements.length;
      rove(number);
      elements[at]?.blur(); // so that a focus that stays is still an event
      elements[number]?.focus({ preventScroll: true });
    },
  };
}
