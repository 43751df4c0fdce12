/** The guidelines: beside the item on demand, and before everything else until the annotator has read them. */

import { button, h } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';
import { markdown } from '../texts/draw.js';

const BLINK = 600; // milliseconds in which an Enter belongs to what was on the screen before
const END = 4; // pixels that the end may be out of sight
const LINE = 48; // pixels that an arrow key scrolls

export class Guidelines {
  /** @param {Protocol} protocol @param {() => void} close */
  constructor(protocol, close) {
    this.text = h('div', { class: 'guidelines-text', tabindex: '0' },
      protocol.summary ? h('p', { class: 'soft', dir: 'auto' }, protocol.summary) : null,
      h('div', { class: 'rendered' }, ...markdown(protocol.guidelines)), definitions(protocol));
    this.closing = button(TEXT.close, close, { class: 'btn small', key: 'Escape' });
    this.read = button(TEXT.guidelinesRead, () => this.#said(), { class: 'btn pri', key: 'Enter', testid: 'guidelines-read' });
    this.hint = h('small', { class: 'soft grow', 'data-testid': 'guidelines-hint' });
    this.first = h('span', { class: 'soft grow', hidden: true }, TEXT.guidelinesFirst);
    this.asking = h('footer', { hidden: true }, this.hint, this.read);
    this.element = h('section', {
      class: 'guidelines', 'aria-label': TEXT.guidelines, tabindex: '-1', hidden: true, 'data-testid': 'guidelines',
    }, h('header', {}, h('h1', { dir: 'auto' }, protocol.title), this.first, this.closing), this.text, this.asking);
    this.text.addEventListener('scroll', () => this.#mark(), { passive: true });
    this.shownAt = 0;
    /** What happens once they are read; null while nobody is asked. @type {(() => void) | null} */
    this.done = null;
  }

  get open() {
    return !this.element.hidden;
  }

  /** Whether they lie before everything else, so that the keys are theirs. */
  get unread() {
    return this.done !== null;
  }

  toggle() {
    if (!this.unread) this.element.hidden = this.open;
  }

  /** Lays them over the whole page until the annotator says that they have read them. @param {() => void} done */
  ask(done) {
    if (!this.unread) this.shownAt = performance.now();
    this.done = done;
    this.element.hidden = false;
    this.#arrange(true);
    this.#mark();
    this.text.focus({ preventScroll: true });
  }

  /**
   * A key while they are to be read: those that scroll do, `Enter` says that they are read once the end is seen, and no
   * other one does anything.
   *
   * @param {string} key
   * @param {EventTarget} target where the focus is
   * @param {boolean} repeat the key is held down
   * @returns {boolean} whether it is done; false leaves it to the browser
   */
  key(key, target, repeat) {
    if (key === 'Tab' || (target === this.read && (key === 'Enter' || key === 'Space'))) return false;
    const { text } = this;
    const screen = Math.max(LINE, text.clientHeight - LINE);
    const by = /** @type {Record<string, number>} */ ({
      ArrowDown: LINE, ArrowUp: -LINE, PageDown: screen, PageUp: -screen, Space: screen, 'Shift+Space': -screen, Home: -text.scrollHeight, End: text.scrollHeight,
    })[key];
    if (by !== undefined) text.scrollBy({ top: by });
    else if (key === 'Enter' && !repeat && performance.now() - this.shownAt > BLINK) {
      if (this.#atEnd) this.#said();
      else text.scrollBy({ top: screen });
    }
    return true;
  }

  get #atEnd() {
    const { text } = this;
    return text.scrollTop + text.clientHeight >= text.scrollHeight - END;
  }

  /** Says what Enter does now. */
  #mark() {
    if (this.unread) this.hint.textContent = this.#atEnd ? TEXT.guidelinesOnce : TEXT.guidelinesScroll;
  }

  #said() {
    const { done } = this;
    this.done = null;
    this.element.hidden = true;
    this.#arrange(false);
    done?.();
  }

  /** @param {boolean} unread */
  #arrange(unread) {
    this.element.classList.toggle('unread', unread);
    this.closing.hidden = unread;
    this.first.hidden = !unread;
    this.asking.hidden = !unread;
  }
}

/** Every label and what it means. @param {Protocol} protocol */
function definitions(protocol) {
  const defined = protocol.criteria.filter((criterion) => criterion.labels?.some((label) => label.definition));
  return h('div', {}, defined.length ? h('h2', {}, TEXT.labelsOf) : null, ...defined.map((criterion) => h('section', {},
    h('h3', { dir: 'auto' }, criterion.title),
    h('dl', { class: 'definitions' }, ...(criterion.labels ?? []).flatMap((label) => [
      h('dt', { dir: 'auto' }, label.title), h('dd', { dir: 'auto' }, label.definition),
    ])))));
}
