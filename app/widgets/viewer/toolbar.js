/** The tools above the pages: turning, jumping, documents, search, zoom, fit, rotation, marking, and the way to the passages. */

import { called, h, keepFocus, keycap } from '../shared/dom.js';
import { icon } from './icons.js';
import { TEXT } from '../shared/text.js';
import { WORDS } from '../shared/viewer_text.js';

export class Toolbar {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {object} on
   * @param {(action: string) => void} on.act
   * @param {(page: number) => void} on.page a page number was typed
   * @param {(id: string) => void} on.document another document was chosen
   * @param {() => void} on.passages
   * @param {boolean} on.marks whether support can be marked
   * @param {string} [on.markTitle] what it is called, where not support of a label is marked
   */
  constructor(keys, on) {
    const tool = (/** @type {string} */ action, /** @type {string} */ title) => toolButton(action, title, keys, () => on.act(action));
    const turn = (/** @type {string} */ action, /** @type {string} */ title) => toolButton(action, title, keys, () => on.act(action), true);
    this.number = '1';
    this.jump = h('input', {
      type: 'text', inputmode: 'numeric', class: 'jump', 'aria-label': TEXT.pageNumber, 'data-testid': 'page-number', autocomplete: 'off',
      onfocus: () => this.jump.select(),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === 'Enter') this.jump.blur();
      },
      onchange: () => {
        const page = Number(this.jump.value);
        if (Number.isInteger(page)) on.page(page);
        this.jump.value = this.number;
      },
    });
    this.of = h('span', {});
    this.select = h('select', {
      class: 'documents', 'aria-label': TEXT.document, 'data-testid': 'document',
      onchange: () => {
        on.document(this.select.value);
        this.select.blur();
      },
    });
    this.name = h('span', { class: 'document-name', dir: 'auto' });
    this.percent = h('span', { class: 'percent', title: TEXT.zoomTitle, 'data-testid': 'zoom' });
    this.width = tool('fit_width', TEXT.fitWidth);
    this.whole = tool('fit_page', TEXT.fitPage);
    this.two = tool('two_pages', WORDS.twoPagesTitle);
    this.mark = tool('mark', on.markTitle ?? WORDS.markTitle);
    this.mark.hidden = !on.marks;
    this.passages = toolButton('passages', TEXT.passagesTitle, keys, on.passages);
    /** What has a meaning only while pages are shown. */
    this.ofPages = [
      tool('zoom_out', TEXT.zoomOut), this.percent, tool('zoom_in', TEXT.zoomIn), this.width, this.whole, this.two,
      tool('rotate', TEXT.rotate), this.mark,
    ];
    this.element = h('div', { class: 'tools', role: 'toolbar', 'aria-label': TEXT.tools },
      turn('previous_page', TEXT.pageBefore), h('label', { class: 'tool page-of' }, h('span', {}, TEXT.pageNumber), this.jump, this.of),
      turn('next_page', TEXT.pageAfter), this.select, this.name, h('span', { class: 'grow' }),
      tool('search', WORDS.searchTitle), ...this.ofPages, this.passages);
  }

  /** @param {Doc[]} supplied */
  documents(supplied) {
    this.select.replaceChildren(...supplied.map((doc) => h('option', { value: doc.id }, doc.title || doc.key)));
    this.select.hidden = supplied.length < 2;
    this.name.hidden = supplied.length > 1;
  }

  /** @param {Doc} doc */
  document(doc) {
    this.select.value = String(doc.id);
    this.name.textContent = doc.title || doc.key;
    this.name.title = doc.key;
  }

  /** @param {number} page @param {number} count of the document's pages @param {number} shown how many of them may be seen */
  page(page, count, shown) {
    this.number = String(page);
    this.jump.value = this.number;
    this.of.textContent = TEXT.ofPages(count);
    this.of.title = shown < count ? TEXT.someShown(shown) : '';
  }

  /** @param {number} zoom 1 is the width of the view @param {string} fit @param {number} columns pages beside each other */
  zoom(zoom, fit, columns) {
    this.percent.textContent = TEXT.percent(Math.round(zoom * 100));
    this.width.setAttribute('aria-pressed', String(fit === 'width'));
    this.whole.setAttribute('aria-pressed', String(fit === 'page'));
    this.two.setAttribute('aria-pressed', String(columns === 2));
  }

  /** @param {boolean} on a box is being drawn */
  marking(on) {
    this.mark.setAttribute('aria-pressed', String(on));
  }

  /** @param {'pages' | 'passages'} mode @param {boolean} pages there are pages @param {boolean} passages there are passages */
  mode(mode, pages, passages) {
    this.element.hidden = !pages;
    for (const element of this.ofPages) element.classList.toggle('off', mode === 'passages');
    this.passages.hidden = !passages;
    this.passages.setAttribute('aria-pressed', String(mode === 'passages'));
  }
}

/**
 * A tool of the viewer: its sign, with its name and key in a tip. What turns shows its key instead, where there are keys.
 *
 * @param {string} action
 * @param {string} title
 * @param {import('../shared/keys.js').Keys} keys
 * @param {() => void} onclick
 * @param {boolean} [turns]
 */
export function toolButton(action, title, keys, onclick, turns = false) {
  const key = keys.of(action);
  return h('button', {
    type: 'button', class: turns ? 'tool key' : 'tool icon-tool', 'aria-label': turns ? null : title, 'aria-keyshortcuts': key || null, 'data-tip': title,
    'data-tip-key': key || null, 'data-testid': action, onclick, onmousedown: keepFocus,
  }, turns ? [...called(title), keycap(key), icon(action, 'touch')] : icon(action));
}
