/** Texts on a page of the host: what stands in elements marked `data-assay-text` is rendered where it stands. */

import { h } from '../shared/dom.js';
import { takesTyping } from '../shared/keys.js';
import { Preferences } from '../shared/preferences.js';
import { Texts } from './texts.js';

/** @typedef {{person: string, key: string, preferences: Record<string, unknown>}} Options */

const MARKED = '[data-assay-text]:not(.item-text)';

/**
 * What the host page calls; the choice between rendered and raw is put where the component is.
 *
 * @param {{data: Options, parentElement: Element | ShadowRoot}} component
 * @returns {() => void} removes every listener
 */
export function mount({ data, parentElement }) {
  const texts = new Texts(new Preferences(data.person, data.preferences), data.key);
  const ended = new AbortController();
  const styles = new URL('texts.css', import.meta.url).href;
  for (const place of new Set([parentElement, document.head])) {
    if (!place.querySelector(`link[href="${styles}"]`)) place.append(h('link', { rel: 'stylesheet', href: styles }));
  }
  const bar = h('div', { class: 'text-bar' });
  parentElement.append(bar);
  texts.roots = [document.body, bar];
  const draw = () => {
    /** @type {NodeListOf<HTMLElement>} */
    const found = document.querySelectorAll(MARKED);
    const raws = [...found].map((element) => element.textContent ?? '');
    found.forEach((element, number) => texts.fill(element, raws[number]));
    if (bar.childElementCount) return;
    const choice = texts.choice(...raws);
    if (choice) bar.append(choice);
  };
  const watcher = new MutationObserver(draw);
  watcher.observe(document.body, { childList: true, subtree: true });
  document.addEventListener('keydown', (event) => {
    const [target] = event.composedPath();
    const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.repeat;
    if (event.key === data.key && plain && bar.childElementCount && !takesTyping(target)) texts.toggle();
  }, { signal: ended.signal });
  draw();
  return () => {
    ended.abort();
    watcher.disconnect();
    bar.remove();
  };
}
