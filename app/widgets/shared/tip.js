/** What a label or a tool is, shown while the pointer or the keyboard's focus is on it. */

import { h, keycap } from './dom.js';

const DELAY = 350; // milliseconds

export class Tip {
  /**
   * @param {HTMLElement} panel what it lies over
   * @param {HTMLElement} scope whose elements with `data-tip` have one; `data-tip-key` adds a key
   * @param {boolean} [focus] the focus is never moved by the page, so that it can be followed
   */
  constructor(panel, scope, focus = false) {
    this.panel = panel;
    this.element = h('div', { class: 'tip', role: 'tooltip', hidden: true, dir: 'auto' });
    this.timer = 0;
    scope.addEventListener('pointerover', (event) => this.show(event.target));
    scope.addEventListener('pointerout', () => this.hide());
    scope.addEventListener('scroll', () => this.hide(), { passive: true });
    scope.addEventListener('pointerdown', () => this.hide());
    if (!focus) return;
    scope.addEventListener('focusin', (event) => {
      if (event.target instanceof Element && event.target.matches(':focus-visible')) this.show(event.target);
    });
    scope.addEventListener('focusout', () => this.hide());
  }

  /** @param {EventTarget | null} target */
  show(target) {
    this.hide();
    const label = target instanceof Element ? target.closest('[data-tip]') : null;
    if (!(label instanceof HTMLElement)) return;
    this.timer = window.setTimeout(() => {
      if (!label.isConnected) return;
      const { element } = this;
      const { tip = '', tipKey } = label.dataset;
      element.replaceChildren(tip, ...(tipKey ? [' ', keycap(tipKey)] : []));
      element.hidden = false;
      const panel = this.panel.getBoundingClientRect();
      const place = label.getBoundingClientRect();
      const above = place.top - panel.top - element.offsetHeight - 6;
      element.style.left = `${Math.max(8, Math.min(place.left - panel.left, panel.width - element.offsetWidth - 8))}px`;
      element.style.top = `${above > 4 ? above : place.bottom - panel.top + 6}px`;
    }, DELAY);
  }

  hide() {
    clearTimeout(this.timer);
    if (!this.element.hidden) this.element.hidden = true;
  }
}
