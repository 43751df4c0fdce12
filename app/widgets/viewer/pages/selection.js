/** Text that is selected on the pages, and the button beside it that makes it the support of the label at hand. */

import { button, h } from '../../shared/dom.js';
import { WORDS } from '../../shared/viewer_text.js';

/** @typedef {import('./pages.js').Pages} Pages */
/** @typedef {{page: number, words: Word[], range: Range}} SelectedWords */

/** The selection of the tree that the pages are in. @param {Pages} pages */
function selectionOf(pages) {
  const root = /** @type {ShadowRoot & {getSelection?: () => Selection | null}} */ (pages.element.getRootNode());
  return root.getSelection?.() ?? document.getSelection();
}

/** The words that are selected, and the page that they are on. @param {Pages} pages @returns {SelectedWords | null} */
export function selectedWords(pages) {
  const selection = selectionOf(pages);
  if (!selection || selection.isCollapsed || !selection.rangeCount) return null;
  const range = selection.getRangeAt(0);
  for (const view of pages.views.values()) {
    const words = view.text && range.intersectsNode(view.text.element) ? view.text.within(range) : [];
    if (words.length) return { page: view.page, words, range };
  }
  return null;
}

/** @param {Pages} pages */
export function clearSelection(pages) {
  selectionOf(pages)?.removeAllRanges();
}

/** Keeps a selection that is being drawn at the words: what lies between them goes along with its end. @param {Pages} pages */
export function holdSelection(pages) {
  const selection = selectionOf(pages);
  const { focusNode } = selection ?? {};
  const span = focusNode?.parentElement;
  const layer = [...pages.views.values()].find((view) => view.text && view.text.element === span?.parentElement)?.text;
  if (!selection?.rangeCount || !layer || !span || span === layer.end) return;
  const range = selection.getRangeAt(0);
  const backwards = range.startContainer === focusNode && range.startOffset === selection.focusOffset && !range.collapsed;
  if (backwards) span.before(layer.end);
  else span.after(layer.end);
}

const HEIGHT = 34; // pixels of the button with its distance from the text

export class UseSelection {
  /** @param {import('../../shared/keys.js').Keys} keys @param {() => void} use @param {string} [words] what the selection is used as */
  constructor(keys, use, words = WORDS.useSelection) {
    this.element = h('div', { class: 'use-selection', hidden: true },
      button(words, use, { class: 'btn small', key: keys.of('mark'), testid: 'use-selection' }));
  }

  /** @param {SelectedWords | null} selected @param {HTMLElement} view what the button lies in */
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
