/** Which item is being drawn: one that stopped the page is known when the page is loaded again. */

import { read, remove, write } from './storage.js';

const SHOWING = 'assay-showing';
const LONG_AGO = 3_600_000; // milliseconds after which nobody remembers

/** From here on an item is being drawn; whether it was before, and the page never came to the end of it. @param {number} assignment */
export function beginsShowing(assignment) {
  const before = /** @type {{assignment?: number, at?: number} | null} */ (read(SHOWING));
  write(SHOWING, { assignment, at: Date.now() });
  return before?.assignment === assignment && Date.now() - (before.at ?? 0) < LONG_AGO;
}

/** It is on the screen, or cannot be. */
export const endsShowing = () => remove(SHOWING);
