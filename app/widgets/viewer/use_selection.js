/** The button beside selected text that makes it the support of the label at hand. */

import { button, h } from '../shared/dom.js';
import { WORDS } from '../shared/viewer_text.js';

const HEIGHT = 34; // pixels of the button with its distance from the text

export class UseSelection {
  /** @param {import('../shared/keys.js').Keys} keys @param {() => void} use */
  constructor(keys, use) {
    this.element = h('div', { class: 'use-selection', hidden: true },
      button(WORDS.useSelection, use, { class: 'btn small', key: keys.of('mark'), testid: 'use-selection' }));
  }

  /** @param {import('./pages/selection.js').SelectedWords | null} selected @param {HTMLElement} view what the button lies in */
  show(selected, view) {
    this.element.hidden = !selected;
    if (!selected) return;
    const [place, text] = [view.getBoundingClientRect(), selected.range.getBoundingClientRect()];
    const below = text.bottom - place.top + 6;
    this.element.style.left = `${Math.max(8, Math.min(place.width - 180, text.left - place.left))}px`;
    this.element.style.top = `${below + HEIGHT < place.height ? below : Math.max(8, text.top - place.top - HEIGHT)}px`;
  }

  hide() {
    this.element.hidden = true;
  }
}
