/** The adjudicator's top line: which study, how many disputes are settled, whether it is saved. */

import { button, clockTime, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';
import { WORDS } from './text.js';

/** @typedef {'none' | 'saving' | 'saved' | 'kept' | 'offline' | 'trouble' | 'refused' | 'signed-out'} SavedState */

export class TopLine {
  /** @param {{home: string, project: string}} options @param {(action: string) => void} act */
  constructor({ home, project }, act) {
    this.act = act;
    this.study = h('span', { class: 'soft study', dir: 'auto' });
    this.fill = h('i', {});
    this.bar = h('div', { class: 'bar', role: 'progressbar', 'aria-valuemin': 0 }, this.fill);
    this.count = h('span', { class: 'count', 'data-testid': 'progress' });
    this.saved = h('span', { class: 'saved', role: 'status', 'data-testid': 'saved', 'data-state': 'none' });
    this.buttons = h('span', { class: 'header-buttons' });
    this.person = h('span', { class: 'soft person', dir: 'auto' });
    this.element = h('header', { class: 'top' }, h('a', { class: 'project', href: home, title: TEXT.home, dir: 'auto' }, project),
      this.study, this.bar, this.count, h('span', { class: 'grow' }), this.saved, this.buttons, this.person);
  }

  /** @param {Disputes} queue @param {import('../shared/keys.js').Keys} keys */
  show(queue, keys) {
    this.study.textContent = WORDS.title(queue.study.protocol.title);
    this.study.title = queue.study.name;
    this.person.textContent = queue.person.name;
    const open = (/** @type {string} */ action, /** @type {string} */ title) => button(title, () => this.act(action), { key: keys.of(action), class: 'plain', testid: `${action}-button` });
    this.buttons.replaceChildren(open('guidelines', TEXT.guidelines), open('keys', TEXT.keys));
  }

  /** @param {number} done @param {number} of */
  progress(done, of) {
    this.fill.style.width = `${of ? Math.min(100, (done / of) * 100) : 0}%`;
    this.bar.setAttribute('aria-valuemax', String(of));
    this.bar.setAttribute('aria-valuenow', String(done));
    this.bar.setAttribute('aria-label', WORDS.progress(done, of));
    this.count.replaceChildren(String(done), h('span', { class: 'soft' }, ` ${WORDS.of(of)}`));
    this.count.title = WORDS.progress(done, of);
  }

  /** @param {SavedState} state @param {{time?: Date | null, waiting?: number, refused?: number}} facts */
  state(state, { time, waiting = 0, refused = 0 }) {
    const at = clockTime(time ?? new Date());
    const words = {
      none: '', saving: TEXT.saving, saved: TEXT.saved(at), kept: WORDS.kept(at), offline: TEXT.notSaved, trouble: TEXT.notSavedTrouble,
      refused: TEXT.refusedState(refused), 'signed-out': TEXT.signedOutState,
    }[state];
    if (this.saved.textContent !== words) this.saved.textContent = words;
    this.saved.dataset.state = state;
    this.saved.title = waiting && state !== 'saving' ? WORDS.notSavedTitle(waiting) : '';
  }
}
