/** Text that is selected on the pages. */

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
