/** Texts that are longer than the screen: set a little smaller, and folded so that what comes after them is in reach. */

import { attribute, button } from '../shared/dom.js';
import { TEXT } from '../shared/text.js';

const LONG = 1600; // characters of a text that is long

/** Gives the long texts among what is read a way to fold them. @param {HTMLElement} root */
export function foldLong(root) {
  for (const text of root.querySelectorAll('.q, .a')) {
    const heading = text.closest('.part')?.querySelector('h2');
    if (!heading || (text.textContent?.length ?? 0) < LONG) continue;
    text.classList.add('long');
    const fold = button(TEXT.fold, () => {
      const folded = text.classList.toggle('folded');
      attribute(fold, 'aria-expanded', String(!folded));
      /** @type {HTMLElement} */ (fold.firstElementChild).textContent = folded ? TEXT.unfold : TEXT.fold;
      if (folded) heading.scrollIntoView({ block: 'nearest' });
    }, { class: 'mini', testid: 'fold-text' });
    attribute(fold, 'aria-expanded', 'true');
    heading.append(fold);
  }
}
