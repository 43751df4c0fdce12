/** What is put to the annotator around the items: the consent, and questions that the desk draws like criteria. */

import { button, h } from '../shared/dom.js';
import { freshId } from '../shared/outbox.js';
import { markdown } from '../texts/draw.js';
import { Sheet } from './sheet.js';
import { TEXT } from '../shared/text.js';

/** What of the desk's actions is about items, and nothing of questions. */
const OF_ITEMS = new Set(['skip', 'cannot_judge', 'comment', 'flag', 'flag_reason', 'rest', 'back']);

export class Phase {
  /** @param {OpenPhase} open @param {(agreed: boolean) => void} consent */
  constructor(open, consent) {
    this.open = open;
    this.name = open.phase;
    /** So that answers that are sent again are stored once. */
    this.uid = freshId();
    this.consent = open.phase === 'consent' ? new Consent(open.text, consent) : null;
    /** The questions as the desk's protocol. @type {Protocol | null} */
    this.protocol = open.phase === 'consent' ? null : open.protocol;
    this.sheet = open.phase === 'consent' ? null : new Sheet(asItem(open.phase, open.protocol), open.protocol);
  }

  /** Whether an action of the page is none here. @param {string} action */
  lacks(action) {
    return OF_ITEMS.has(action);
  }

  /** The answers by question. @returns {Record<string, unknown>} */
  answers() {
    return Object.fromEntries((this.sheet?.labels() ?? []).map(({ criterion, value }) => [criterion, value]));
  }
}

/** The questions as the one step of an item that shows nothing. @param {'before' | 'after'} name @param {Protocol} protocol @returns {Presentation} */
function asItem(name, protocol) {
  const units = Object.fromEntries(protocol.criteria.map((criterion) => [criterion.name, ['item']]));
  return { assignment: 0, sitting: 1, step: 0, units, committed: [], previous: [], draft: null, questions: name };
}

/** A text over the whole page that is agreed to, or declined, before anything else. */
class Consent {
  /**
   * @param {string} text Markdown
   * @param {(agreed: boolean) => void} say
   */
  constructor(text, say) {
    this.agree = button(TEXT.agree, () => say(true), { class: 'btn pri', testid: 'consent-agree' });
    this.decline = button(TEXT.decline, () => this.#ask(), { class: 'btn', testid: 'consent-decline' });
    this.sure = button(TEXT.declineYes, () => say(false), { class: 'btn', testid: 'consent-sure' });
    this.back = button(TEXT.declineNo, () => this.#offer(), { class: 'btn pri', testid: 'consent-back' });
    this.words = h('span', { class: 'soft grow', role: 'status', 'data-testid': 'consent-words' });
    this.footer = h('footer', {});
    this.text = h('div', { class: 'guidelines-text', tabindex: '0' }, h('div', { class: 'rendered' }, ...markdown(text)));
    this.element = h('section', { class: 'guidelines unread', 'aria-label': TEXT.consent, 'data-testid': 'consent' },
      h('header', {}, h('h1', {}, TEXT.consent)), this.text, this.footer);
    this.#offer();
  }

  focus() {
    this.text.focus({ preventScroll: true });
  }

  /** @param {string} words */
  say(words) {
    this.words.textContent = words;
  }

  /** @param {boolean} busy */
  setBusy(busy) {
    this.footer.toggleAttribute('inert', busy);
  }

  #offer() {
    this.footer.replaceChildren(this.words, this.decline, this.agree);
    this.say(TEXT.consentAsked);
    if (this.element.isConnected) this.focus();
  }

  #ask() {
    this.footer.replaceChildren(this.words, this.sure, this.back);
    this.say(TEXT.declineSure);
    this.back.focus();
  }
}
