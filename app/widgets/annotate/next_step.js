/** When the next step of an item comes: by the key of submit, or for who wants that with the last label of the one before. */

import { h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

const SETTING = 'next_step';
const AT_ONCE = 'at_once';

export class NextStep {
  /** @param {import('../shared/preferences.js').Preferences} preferences */
  constructor(preferences) {
    this.preferences = preferences;
    this.box = h('input', { type: 'checkbox', 'data-testid': 'next-step', onchange: () => preferences.set(SETTING, this.box.checked ? AT_ONCE : null) });
    this.box.checked = this.atOnce;
    this.setting = h('label', {}, this.box, h('span', {}, TEXT.nextStepSetting));
  }

  /** Whether a step that is not the last is submitted by its last label. */
  get atOnce() {
    return this.preferences.get(SETTING) === AT_ONCE;
  }
}
