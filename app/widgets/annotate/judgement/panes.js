/** Where a person has put the dividers of the annotator's page; kept with the account. */

import { Divider } from './divider.js';
import { TEXT } from '../../shared/text.js';

/** @typedef {'side' | 'reading' | 'references'} Place percent of the width that the left side has; of the height that what is read has above the criteria, beside evidence and where the answer stands opposite */

const NAME = 'panes'; // of the preference
const LEAST = { left: 320, right: 380 }; // pixels that a side keeps, as in frame.css

export class Panes {
  /** @param {import('../../shared/preferences.js').Preferences} preferences */
  constructor(preferences) {
    this.preferences = preferences;
  }

  /** @param {Place} place @returns {number | null} null: where the program has it */
  get(place) {
    return this.#all()[place] ?? null;
  }

  /** @param {Place} place @param {number | null} value */
  set(place, value) {
    const all = { ...this.#all() };
    if (value === null) delete all[place];
    else all[place] = value;
    this.preferences.set(NAME, Object.keys(all).length ? all : null);
  }

  /** @returns {Partial<Record<Place, number>>} */
  #all() {
    return /** @type {Partial<Record<Place, number>> | null} */ (this.preferences.get(NAME)) ?? {};
  }
}

/** The divider between what is looked at and what is decided. */
export class PaneDivider extends Divider {
  /** @param {HTMLElement} stage @param {Panes} panes */
  constructor(stage, panes) {
    const move = (/** @type {number | null} */ value) => {
      if (value === null) stage.style.removeProperty('--left');
      else stage.style.setProperty('--left', `${value}%`);
    };
    super({
      name: TEXT.panesDivider, testid: 'panes-divider', upright: true, move,
      whole: () => stage.getBoundingClientRect(),
      where: () => {
        const all = Math.max(1, stage.clientWidth);
        const left = this.element.offsetLeft;
        return { value: (left / all) * 100, least: (LEAST.left / all) * 100, most: ((all - LEAST.right) / all) * 100 };
      },
      keep: (value) => panes.set('side', value),
    });
    move(panes.get('side'));
  }
}
