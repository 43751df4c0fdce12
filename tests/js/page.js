/** A small page: elements with attributes, children and listeners, for the parts that draw and measure nothing. */

import './browser.js';

class Node extends EventTarget {
  parent = null;
}

class Text extends Node {
  constructor(text) {
    super();
    this.textContent = text;
  }
}

class Element extends Node {
  children = [];
  attributes = new Map();
  style = {};

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
    for (const node of nodes) this.children.push(node instanceof Node ? node : new Text(String(node)));
  }

  replaceChildren(...nodes) {
    this.children = [];
    this.append(...nodes);
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

  /** The first of a tag, or with a test id. @param {string} wanted */
  querySelector(wanted) {
    for (const child of this.children.filter((one) => one instanceof Element)) {
      const found = child.tag === wanted || child.getAttribute('data-testid') === wanted ? child : child.querySelector(wanted);
      if (found) return found;
    }
    return null;
  }

  /** Classes beside those of the attribute. */
  classList = { on: new Set(), toggle: (name, on) => void (on ? this.classList.on.add(name) : this.classList.on.delete(name)) };

  get tabIndex() {
    return Number(this.getAttribute('tabindex') ?? -1);
  }

  getRootNode() {
    return document;
  }

  focus() {
    document.activeElement = this;
  }

  blur() {
    if (document.activeElement === this) document.activeElement = null;
  }

  click() {
    this.dispatchEvent(new Event('click'));
  }
}

globalThis.Node = Node;
document.createElement = (tag) => (tag === 'canvas' ? { getContext: () => null } : new Element(tag));
