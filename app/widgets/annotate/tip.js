/** The definition of a label, shown while the pointer or the keyboard's focus is on it. */

import { h } from './dom.js';

const DELAY = 350; // milliseconds

export class Tip {
  /** @param {HTMLElement} panel what it lies over @param {HTMLElement} scope whose elements with `data-tip` have one */
  constructor(panel, scope) {
    this.panel = panel;
    this.element = h('div', { class: 'tip', role: 'tooltip', hidden: true, dir: 'auto' });
    this.timer = 0;
    scope.addEventListener('pointerover', (event) => this.show(event.target));
    scope.addEventListener('pointerout', () => this.hide());
    scope.addEventListener('scroll', () => this.hide(), { passive: true });
  }

  /** @param {EventTarget | null} target */
  show(target) {
    this.hide();
    const label = target instanceof Element ? target.closest('[data-tip]') : null;
    if (!(label instanceof HTMLElement)) return;
    this.timer = window.setTimeout(() => {
      if (!label.isConnected) return;
      const { element } = this;
      element.textContent = label.dataset.tip ?? '';
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
