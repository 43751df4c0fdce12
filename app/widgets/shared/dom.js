/** Small helpers that build DOM nodes; text only ever enters as text nodes. */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * An element. Attributes that begin with `on` are listeners; false, null and undefined leave an attribute out.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on') && typeof value === 'function') {
      element.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  for (const child of children.flat()) {
    if (child !== null && child !== undefined && child !== false) element.append(child instanceof Node ? child : String(child));
  }
  return element;
}

/**
 * Sets or removes an attribute.
 *
 * @param {Element} element
 * @param {string} name
 * @param {string | number | boolean | null | undefined} value
 */
export function attribute(element, name, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else element.setAttribute(name, value === true ? '' : String(value));
}

/**
 * A key as it is drawn on a button.
 *
 * @param {string} key as `KeyboardEvent.key` gives it
 */
export function keycap(key) {
  return h('kbd', { class: 'k', 'aria-hidden': 'true' }, keyName(key));
}

/** @type {Record<string, string>} */
const KEY_NAMES = { ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', Backspace: '⌫', Escape: 'Esc', 'Shift+Space': '⇧Space' };

/** What people call a key. @param {string} key */
export const keyName = (key) => KEY_NAMES[key] ?? key;

/**
 * A button with its key on it. Pressing it with the mouse leaves the focus where it is, so that the next key still goes
 * to the labels.
 *
 * @param {string} title
 * @param {(event: Event) => void} onclick
 * @param {{key?: string, class?: string, testid?: string, name?: string, hint?: string}} [options]
 */
export function button(title, onclick, options = {}) {
  return h('button', {
    type: 'button', class: options.class ?? 'btn', 'data-testid': options.testid,
    title: options.hint, 'aria-keyshortcuts': options.key, onclick, onmousedown: keepFocus,
  }, ...(options.name ? called(options.name, title) : [h('span', {}, title)]), options.key ? keycap(options.key) : null);
}

/**
 * What stands on a control that is called more, or otherwise, than it shows. It is text, and no aria-label: the key
 * beside it, which nobody would say to a machine that listens, is then no part of what is compared with the name.
 *
 * @param {string} name
 * @param {Child} [shown]
 */
export function called(name, shown = null) {
  return [h('span', { class: 'unseen' }, name), shown === null ? null : h('span', { 'aria-hidden': 'true' }, shown)];
}

/** Keeps a press of the mouse from moving the focus. @param {Event} event */
export function keepFocus(event) {
  event.preventDefault();
}

/**
 * The text cut to about `length` characters.
 *
 * @param {string} text
 * @param {number} length
 */
export function shorten(text, length) {
  const line = text.replace(/\s+/g, ' ').trim();
  return line.length <= length ? line : `${line.slice(0, length - 1).trimEnd()}…`;
}

/** Whether all is one column, scrolled as a whole, as frame.css has it. */
export const isStacked = () => window.matchMedia('(max-width: 900px)').matches;

/** Hours and minutes of a moment, local. @param {Date} moment */
export function clockTime(moment) {
  return `${String(moment.getHours()).padStart(2, '0')}:${String(moment.getMinutes()).padStart(2, '0')}`;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Whether something in a text is written from the right. @param {string} text */
export const fromTheRight = (text) => RIGHT_TO_LEFT.test(text);
