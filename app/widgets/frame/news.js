/** A line under the top line: what happened to an item that is not on the screen. */

import { button, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

const STAYS = 12_000; // milliseconds a message stays that needs no answer

export class News {
  constructor() {
    this.words = h('div', { class: 'grow' });
    this.element = h('div', { class: 'news', hidden: true, 'data-testid': 'news' },
      this.words, button(TEXT.close, () => this.close(), { class: 'btn small' }));
    this.timer = 0;
  }

  /** Says something until it is closed. @param {string} words */
  say(words) {
    clearTimeout(this.timer);
    this.element.hidden = false;
    this.words.replaceChildren(h('span', { role: 'alert', dir: 'auto' }, words));
  }

  /** Says something for a while. @param {string} words */
  mention(words) {
    this.say(words);
    this.timer = window.setTimeout(() => this.close(), STAYS);
  }

  close() {
    this.element.hidden = true;
  }
}
