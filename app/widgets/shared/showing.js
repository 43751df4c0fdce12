/** Which item is being drawn: one that stopped the page is known when the page is loaded again. */

import { read, remove, write } from './storage.js';

const SHOWING = 'assay-showing';
const LONG_AGO = 3_600_000; // milliseconds after which nobody remembers
const SHOWN_BY = 1000; // milliseconds until an item counts as drawn where nobody looks

/**
 * Whether an item is on the screen once `put` has put it there. Where it cannot be drawn one can go on all the same; where it
 * stopped the page when it was drawn last, so that somebody had to load the page again, its texts are plain.
 *
 * @param {number | string} name the assignment, or what else no other page calls an item
 * @param {{ plain: boolean }} texts
 * @param {() => void} put
 * @param {object} on
 * @param {() => void} on.unshown it cannot be drawn
 * @param {() => void} on.stopped it is drawn, and stopped the page before
 */
export function putOnScreen(name, texts, put, on) {
  const stopped = beginsShowing(name);
  texts.plain = stopped;
  try {
    put();
  } catch (error) {
    console.error(error);
    endsShowing();
    on.unshown();
    return false;
  }
  requestAnimationFrame(() => setTimeout(endsShowing));
  setTimeout(endsShowing, SHOWN_BY); // a hidden page draws nothing
  if (stopped) on.stopped();
  return true;
}

/** From here on an item is being drawn; whether it was before, and the page never came to the end of it. @param {number | string} assignment */
export function beginsShowing(assignment) {
  const before = /** @type {{assignment?: number | string, at?: number} | null} */ (read(SHOWING));
  write(SHOWING, { assignment, at: Date.now() });
  return before?.assignment === assignment && Date.now() - (before.at ?? 0) < LONG_AGO;
}

/** It is on the screen, or cannot be. */
export const endsShowing = () => remove(SHOWING);
