/** The full-screen frame over the host page: its root, its theme, its messages; everything else is put into it. */

import { h } from '../shared/dom.js';

const OVER_EVERYTHING = '2147483000'; // the host page's own header and dialogs lie below

export class Shell {
  /** @param {string} styles address of the style sheet @param {string} [name] of the page */
  constructor(styles, name = 'annotate') {
    this.host = h('div', { 'data-testid': name, style: `position:fixed;inset:0;z-index:${OVER_EVERYTHING}` });
    const shadow = this.host.attachShadow({ mode: 'open' });
    const link = h('link', { rel: 'stylesheet', href: styles });
    /** Resolves when the style sheet is there, or is not coming. */
    this.styled = new Promise((resolve) => {
      link.addEventListener('load', resolve);
      link.addEventListener('error', resolve);
    });
    this.alerts = h('div', { class: 'alerts', 'data-testid': 'alerts' });
    this.stage = h('main', { class: 'stage' });
    this.live = h('div', { class: 'unseen', 'aria-live': 'polite', 'data-testid': 'live' });
    this.top = h('div', { class: 'top-place' });
    this.cover = h('div', { class: 'cover', hidden: true });
    this.root = h('div', { class: 'assay' }, this.top, this.alerts, this.stage, this.cover, this.live);
    shadow.append(link, this.root);
    // What is typed here is not the host page's business: it has keys of its own.
    for (const type of ['keydown', 'keypress', 'keyup']) this.host.addEventListener(type, (event) => event.stopPropagation());
    /** @type {HTMLElement | null} */
    this.behind = null;
    /** @type {Element | null} */
    this.inside = null;
  }

  /** Lies over the page that `parent` is in; what is below can neither be clicked nor focused. @param {Element | ShadowRoot} parent */
  attach(parent) {
    const inside = parent instanceof ShadowRoot ? parent.host : parent;
    if (!this.host.isConnected) document.body.append(this.host);
    this.behind?.removeAttribute('inert');
    this.behind = [...document.body.children].find(
      /** @returns {element is HTMLElement} */ (element) => element !== this.host && element.contains(inside),
    ) ?? null;
    this.behind?.setAttribute('inert', '');
    this.inside = inside;
    this.theme();
  }

  detach() {
    this.behind?.removeAttribute('inert');
    this.behind = null;
    this.host.remove();
  }

  /** Light or dark, as the host page's background is. */
  theme() {
    const background = this.inside ? getComputedStyle(this.inside).getPropertyValue('--st-background-color').trim() : '';
    const luminance = background ? luminanceOf(background) : null;
    const dark = luminance === null ? window.matchMedia('(prefers-color-scheme: dark)').matches : luminance < 0.4;
    this.root.dataset.theme = dark ? 'dark' : 'light';
  }

  /** Fills the page with the item, or with something else. @param {...Node} nodes */
  fill(...nodes) {
    if (nodes.length === this.stage.childNodes.length && nodes.every((node, at) => node === this.stage.childNodes[at])) return;
    this.stage.replaceChildren(...nodes);
  }

  /** Says something to a screen reader. @param {string} words */
  announce(words) {
    this.live.textContent = words;
  }
}

/** Relative luminance (0 to 1) of a CSS colour; null if it is none. @param {string} colour */
function luminanceOf(colour) {
  const context = document.createElement('canvas').getContext('2d');
  if (!context || !CSS.supports('color', colour)) return null;
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((value) => value / 255);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
