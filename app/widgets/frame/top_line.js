/** The top line: where one is, how far, whether it is saved. */

import { button, clockTime, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

/** @typedef {'none' | 'saving' | 'saved' | 'draft' | 'offline' | 'trouble' | 'refused' | 'signed-out'} SavedState */

export class Header {
  /** @param {string} home @param {(action: string) => void} act */
  constructor(home, act) {
    this.act = act;
    this.project = h('a', { class: 'project', href: home, title: TEXT.home, dir: 'auto' });
    this.study = h('h1', { class: 'soft study', dir: 'auto' });
    this.fill = h('i', {});
    this.bar = h('div', { class: 'bar', role: 'progressbar', 'aria-valuemin': 0 }, this.fill);
    this.count = h('span', { class: 'count', 'data-testid': 'progress' });
    this.today = h('span', { class: 'soft today', title: TEXT.todayTitle });
    this.saved = h('span', { class: 'saved', role: 'status', 'data-testid': 'saved', 'data-state': 'none' });
    this.buttons = h('span', { class: 'header-buttons' });
    this.person = h('span', { class: 'soft person', dir: 'auto' });
    this.element = h('header', { class: 'top' }, this.project, this.study, this.bar, this.count, this.today,
      h('span', { class: 'grow' }), this.saved, this.buttons, this.person);
  }

  /** @param {Work} work @param {import('../shared/keys.js').Keys} keys */
  show(work, keys) {
    this.project.textContent = work.study.project;
    this.study.textContent = work.study.name;
    this.study.title = work.study.protocol.title;
    this.person.textContent = work.person.name;
    this.buttons.replaceChildren(
      button(TEXT.guidelines, () => this.act('guidelines'), { key: keys.of('guidelines'), class: 'plain', testid: 'guidelines-button' }),
      button(TEXT.keys, () => this.act('keys'), { key: keys.of('keys'), class: 'plain', testid: 'keys-button' }),
    );
  }

  /** @param {number} done @param {number} of @param {number} seconds of today */
  progress(done, of, seconds) {
    this.fill.style.width = `${of ? Math.min(100, (done / of) * 100) : 0}%`;
    this.bar.setAttribute('aria-valuemax', String(of));
    this.bar.setAttribute('aria-valuenow', String(done));
    this.bar.setAttribute('aria-label', TEXT.progress(done, of));
    this.count.replaceChildren(String(done), h('span', { class: 'soft' }, ` ${TEXT.of(of)}`));
    this.count.title = TEXT.progress(done, of);
    this.today.textContent = TEXT.today(Math.floor(seconds / 60));
  }

  /** @param {SavedState} state @param {{time?: Date | null, waiting?: number, refused?: number}} facts */
  state(state, { time, waiting = 0, refused = 0 }) {
    const words = {
      none: '',
      saving: TEXT.saving,
      saved: TEXT.saved(clockTime(time ?? new Date())),
      draft: TEXT.draftSaved(clockTime(time ?? new Date())),
      offline: TEXT.notSaved,
      trouble: TEXT.notSavedTrouble,
      refused: TEXT.refusedState(refused),
      'signed-out': TEXT.signedOutState,
    }[state];
    if (this.saved.textContent !== words) this.saved.textContent = words;
    this.saved.dataset.state = state;
    this.saved.title = waiting && state !== 'saving' ? TEXT.notSavedTitle(waiting) : '';
  }
}
