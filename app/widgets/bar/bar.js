/** The two lines of the top bar: the groups of pages, and the pages of the open group. */

import { h } from '../shared/dom.js';
import { keepTyped } from './typed.js';

/**
 * @typedef {object} Place a page that the bar leads to
 * @property {string} name its address
 * @property {string} title
 * @property {string} href
 * @property {string} current what `aria-current` says of it: `page`, `true`, or nothing
 * @property {number} [waiting] how much waits there
 * @property {string} [waits] the same in words
 */

/** @typedef {{groups: Place[], pages: Place[], aside: Place[], words: Record<string, string>}} Options */

const dusk = window.matchMedia('(prefers-color-scheme: dark)');

/**
 * What the host page calls, again and again: draws the bar as the page that is open needs it.
 *
 * A plain click goes to the page within this session; any other (with a modifier, with the middle button) is the
 * browser's own, since every link has its address.
 *
 * @param {{data: Options, parentElement: Element | ShadowRoot,
 *   setTriggerValue: (name: string, value: string) => void}} component what the host page hands over
 */
export function mount({ data, parentElement, setTriggerValue }) {
  keepTyped(document);
  // The host page changes its own colours then; menus and plots are drawn by the server, which has to hear of it.
  dusk.onchange = () => setTimeout(() => setTriggerValue('theme', dusk.matches ? 'dark' : 'light'), 50);
  const focused = document.activeElement?.getAttribute('data-place');
  const link = (/** @type {Place} */ place, /** @type {string} */ line) =>
    h(
      'a',
      {
        href: place.href,
        'data-place': `${line}-${place.name}`,
        'aria-current': place.current || null,
        onclick: (/** @type {MouseEvent} */ event) => {
          if (event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
          setTriggerValue('go', place.name);
          event.preventDefault(); // last: without the host page's answer the link is an ordinary one
        },
      },
      place.title,
      place.waiting ? h('span', { class: 'assay-waits', title: place.waits }, place.waiting.toLocaleString('en')) : null,
    );
  const line = (/** @type {'groups' | 'pages' | 'aside'} */ name) =>
    data[name].length
      ? h('nav', { class: `assay-${name}`, 'aria-label': data.words[name] }, data[name].map((place) => link(place, name)))
      : null;
  const bar = h('div', { class: 'assay-lines' }, line('groups'), line('aside'), line('pages'));
  const before = parentElement.querySelector('.assay-lines');
  if (before) before.replaceWith(bar);
  else parentElement.append(bar);
  if (focused) /** @type {HTMLElement | null} */ (bar.querySelector(`[data-place="${focused}"]`))?.focus();
}
