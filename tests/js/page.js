/** A small page: elements with attributes, children and listeners, for the parts that draw and measure nothing. */

import './browser.js';

class Node extends EventTarget {
  parentElement = null;

  /** An event that bubbles is heard by everything around, from the inside out, until somebody stops it. */
  dispatchEvent(event) {
    if (!event.bubbles) return super.dispatchEvent(event);
    Object.defineProperty(event, 'target', { value: this, configurable: true });
    for (let node = this; node && !event.cancelBubble; node = node.parentElement) EventTarget.prototype.dispatchEvent.call(node, event);
    return !event.defaultPrevented;
  }

  remove() {
    const siblings = this.parentElement?.children;
    if (siblings?.includes(this)) siblings.splice(siblings.indexOf(this), 1);
    this.parentElement = null;
  }

  replaceWith(...nodes) {
    const parent = this.parentElement;
    const after = parent.children.slice(parent.children.indexOf(this) + 1).find((node) => !nodes.includes(node));
    for (const node of [this, ...nodes]) node.remove();
    parent.children.splice(after ? parent.children.indexOf(after) : parent.children.length, 0, ...nodes);
    for (const node of nodes) node.parentElement = parent;
  }

  get nextSibling() {
    const siblings = this.parentElement?.children ?? [];
    return siblings[siblings.indexOf(this) + 1] ?? null;
  }

  get childNodes() {
    return [...this.children];
  }

  get firstChild() {
    return this.children[0] ?? null;
  }
}

class Text extends Node {
  children = [];

  constructor(text) {
    super();
    this.data = text;
  }

  get textContent() {
    return this.data;
  }

  appendData(more) {
    this.data += more;
  }

  splitText(at) {
    const rest = new Text(this.data.slice(at));
    this.data = this.data.slice(0, at);
    const siblings = this.parentElement?.children;
    rest.parentElement = this.parentElement;
    siblings?.splice(siblings.indexOf(this) + 1, 0, rest);
    return rest;
  }
}

const SIMPLE = /^(?:\.([\w-]+)|\[([\w-]+)(?:="?([^"\]]*)"?)?\]|:not\((.+?)\)|:(focus)|:has\((.+?)\)|(:scope)|([\w-]+))/;

/**
 * Whether an element fits tags, classes, attributes, `:not(…)`, `:has(…)`, `:scope` and `:focus` that are written together.
 *
 * @param {Element} element @param {string} wanted @param {Element | null} scope
 */
function fits(element, wanted, scope) {
  const [all, name, attribute, value, not, focus, has, scoped, word] = SIMPLE.exec(wanted) ?? [];
  if (!all) return wanted === '' || wanted === '*';
  const fit = name ? element.classList.contains(name) : attribute ? element.hasAttribute(attribute) && (value === undefined || element.getAttribute(attribute) === value)
    : not ? !element.matches(not) : focus ? document.activeElement === element : has ? !!element.querySelector(has) : scoped ? element === scope
      : element.tag === word || element.getAttribute('data-testid') === word;
  return fit && fits(element, wanted.slice(all.length), scope);
}

/** Whether an element fits the last of some selectors, and those around it the ones before. @param {Element} element @param {string[]} wanted @param {Element | null} scope */
function chained(element, wanted, scope) {
  const before = wanted.slice(0, -1);
  if (!fits(element, wanted.at(-1), scope)) return false;
  if (before.at(-1) === '>') return !!element.parentElement && chained(element.parentElement, before.slice(0, -1), scope);
  for (let around = element.parentElement; before.length && around; around = around.parentElement) if (chained(around, before, scope)) return true;
  return !before.length;
}

class Element extends Node {
  children = [];
  attributes = new Map();
  style = { setProperty: (name, value) => void (this.style[name] = value), removeProperty: (name) => void delete this.style[name] };
  dataset = new Proxy({}, { get: (_, name) => this.getAttribute(`data-${name}`) ?? undefined, set: (_, name, value) => !this.setAttribute(`data-${name}`, value), deleteProperty: (_, name) => !this.removeAttribute(`data-${name}`) });
  value = '';

  constructor(tag) {
    super();
    this.tag = tag;
  }

  get hidden() {
    return this.attributes.has('hidden');
  }

  set hidden(on) {
    this.toggleAttribute('hidden', on);
  }

  get textContent() {
    return this.children.map((child) => child.textContent).join('');
  }

  set textContent(text) {
    this.replaceChildren(...(text === '' ? [] : [text]));
  }

  append(...nodes) {
    for (const node of nodes) {
      const child = node instanceof Node ? node : new Text(String(node));
      child.remove();
      child.parentElement = this;
      this.children.push(child);
    }
  }

  replaceChildren(...nodes) {
    for (const child of [...this.children]) child.remove();
    this.append(...nodes);
  }

  get elements() {
    return this.children.filter((child) => child instanceof Element);
  }

  get childElementCount() {
    return this.elements.length;
  }

  get firstElementChild() {
    return this.elements[0] ?? null;
  }

  get tagName() {
    return this.tag.toUpperCase();
  }

  get dir() {
    return this.getAttribute('dir') ?? '';
  }

  set dir(direction) {
    this.setAttribute('dir', direction);
  }

  get className() {
    return this.getAttribute('class') ?? '';
  }

  set className(names) {
    this.setAttribute('class', names);
  }

  hasAttribute(name) {
    return this.attributes.has(name);
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  toggleAttribute(name, on) {
    if (on) this.attributes.set(name, '');
    else this.attributes.delete(name);
  }

  /** Any of some selectors: see `fits`; a word by itself is a tag or a test id. @param {string} wanted */
  matches(wanted, scope = null) {
    return wanted.split(/,\s*(?![^(]*\))/).some((one) => chained(this, one.trim().split(/\s+(?![^(]*\))/), scope));
  }

  querySelectorAll(wanted, scope = this) {
    return this.elements.flatMap((child) => [...(child.matches(wanted, scope) ? [child] : []), ...child.querySelectorAll(wanted, scope)]);
  }

  querySelector(wanted) {
    return this.querySelectorAll(wanted)[0] ?? null;
  }

  closest(wanted) {
    return this.matches(wanted) ? this : this.parentElement?.closest(wanted) ?? null;
  }

  contains(node) {
    return node === this || this.children.some((child) => child === node || (child instanceof Element && child.contains(node)));
  }

  get classList() {
    const names = new Set(this.className.split(' ').filter(Boolean));
    const write = () => this.setAttribute('class', [...names].join(' '));
    return {
      get on() {
        return names;
      },
      contains: (name) => names.has(name),
      add: (...added) => void (added.forEach((name) => names.add(name)), write()),
      remove: (...gone) => void (gone.forEach((name) => names.delete(name)), write()),
      toggle: (name, on = !names.has(name)) => (on ? names.add(name) : names.delete(name), write(), !!on),
    };
  }

  get tabIndex() {
    return Number(this.getAttribute('tabindex') ?? -1);
  }

  set tabIndex(place) {
    this.setAttribute('tabindex', place);
  }

  cloneNode(deep) {
    const copy = document.createElement(this.tag);
    for (const [name, value] of this.attributes) copy.setAttribute(name, value);
    if (deep) copy.append(...this.children.map((child) => (child instanceof Text ? new Text(child.data) : child.cloneNode(true))));
    return copy;
  }

  getRootNode() {
    return this.parentElement?.getRootNode() ?? document;
  }

  focus() {
    if (document.activeElement === this) return;
    document.activeElement?.blur();
    document.activeElement = this;
    this.dispatchEvent(new Event('focus'));
    this.dispatchEvent(new Event('focusin', { bubbles: true }));
  }

  blur() {
    if (document.activeElement !== this) return;
    document.activeElement = null;
    this.dispatchEvent(new Event('blur'));
    this.dispatchEvent(new Event('focusout', { bubbles: true }));
  }

  click() {
    this.dispatchEvent(new Event('click', { bubbles: true }));
  }
}

class KeyboardEvent extends Event {
  constructor(kind, { key = '', code = key, repeat = false, shiftKey = false, ctrlKey = false, metaKey = false, altKey = false, isComposing = false, ...init } = {}) {
    super(kind, { bubbles: true, cancelable: true, ...init });
    Object.assign(this, { key, code, repeat, shiftKey, ctrlKey, metaKey, altKey, isComposing, getModifierState: () => false });
  }
}

globalThis.Node = Node;
globalThis.Text = Text;
globalThis.Element = Element;
globalThis.HTMLElement = Element;
globalThis.HTMLInputElement = class extends Element {};
Object.assign(globalThis, { KeyboardEvent, MouseEvent: class extends Event {} });
document.createElement = (tag) => (tag === 'canvas' ? { getContext: () => null } : new Element(tag));
document.createTextNode = (text) => new Text(String(text));
document.createElementNS = (_, tag) => new Element(tag);

/** Presses a key in an element. @param {string} key */
export const keydown = (element, key, more = {}) => {
  const event = new KeyboardEvent('keydown', { key, ...more });
  element.dispatchEvent(event);
  return event;
};

/** Types into a field what stands there from then on. @param {string} value */
export function type(field, value) {
  field.value = value;
  field.dispatchEvent(new Event('input'));
}
