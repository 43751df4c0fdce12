/** What a key press does: labels first, then the actions of the page; nothing while somebody types. */

import { takesTyping } from '../shared/keys.js';

const SCROLLING = '.pages, .passages, .reading, .guidelines-text, .drawer, .table-box, .fence pre'; // what arrow keys scroll when it has the focus
const ROVING = '.strip'; // in which arrows, Home and End go from one thing to the next
const LABEL = '[role=radio], [role=checkbox], [data-testid=label]';
const SPACE = new Set(['Space', 'Shift+Space']);
const BROWSER = /^(Arrow|Home|End|Space|Shift\+Space)/; // keys by which the browser scrolls what has the focus
const REPEATS = /^(Arrow|Space|Shift\+Space|[+\-=_[\]{}.,])/;

/**
 * @typedef {object} Panel where labels are given
 * @property {boolean} quiet the page put the focus where it is
 * @property {import('../shared/dock.js').Dock} dock
 * @property {(key: string) => boolean} key gives the label with this key
 * @property {(where: 'above' | 'below' | 'left' | 'right') => void} move
 * @property {() => void} focus
 */
/**
 * @typedef {object} Page what the keys act on
 * @property {import('../shared/keys.js').Keys | null} keys
 * @property {Panel | null} judgement
 * @property {import('../viewer/viewer.js').Viewer | null} viewer
 * @property {import('./guidelines.js').Guidelines | null} guidelines
 * @property {import('./key_sheet.js').KeySheet | null} keySheet
 * @property {boolean} live an item is on the screen and can be answered
 * @property {(action: string) => void} act
 */

/**
 * Does what a key means; false leaves it to the browser.
 *
 * @param {Page} page
 * @param {EventTarget} target where the focus is
 * @param {string[]} meanings the keys it may mean, best first
 * @param {boolean} repeat the key is held down
 * @returns {boolean}
 */
export function press(page, target, meanings, repeat) {
  const { judgement, keys, keySheet, live } = page;
  const key = meanings[0].replace(/^Shift\+(?=Arrow)/, ''); // with Shift an arrow is another key for controls alone
  const element = target instanceof Element ? target : null;
  if (keySheet?.open) return keySheet.key(key);
  if (page.guidelines?.unread && live) return page.guidelines.key(key, target, repeat);
  if (page.viewer?.key(key, target, repeat)) return true;
  if (takesTyping(target)) return key === 'Escape' && escape(page);
  if (key === 'Escape') return escape(page);
  if (element?.closest(ROVING) && /^(Arrow|Home$|End$)/.test(key)) return false;
  if (element?.matches('[role=separator]')) return false; // moved by keys of its own
  const control = element?.closest('button, a, summary') ?? null;
  // The page put the focus on a label, and nobody meant it: Space is not for that label.
  const resting = !!judgement?.quiet && !!control?.matches(LABEL);
  // A button that was reached with Tab answers to Enter and Space itself; the labels leave Enter to the page.
  if (control && ((SPACE.has(key) && !resting) || (key === 'Enter' && !control.matches(LABEL)))) return false;
  if (judgement?.dock.asking) return judgement.dock.key(key);
  if (live && (key === 'PageDown' || key === 'PageUp')) {
    if (page.viewer?.element.isConnected) page.viewer.scrollBy(key === 'PageDown' ? 1 : -1);
    else page.act(key === 'PageDown' ? 'read_on' : 'read_back');
    return true;
  }
  for (const meaning of meanings) {
    if (live && (!repeat || meaning.includes('Arrow')) && judgement?.key(meaning)) return true;
    const action = keys?.action(meaning);
    if (action && action !== 'close') {
      if (BROWSER.test(key) && element?.matches(SCROLLING)) return false;
      if (!repeat || REPEATS.test(key)) page.act(action);
      return true;
    }
  }
  if (key === 'Space' && resting) {
    judgement?.move('right'); // shows the label in focus; the next Space gives it
    return true;
  }
  return false;
}

/** Closes what is open, or goes back to the labels. @param {Page} page */
function escape(page) {
  const { judgement, guidelines, live } = page;
  if (judgement?.dock.open) judgement.dock.close();
  else if (guidelines?.open) page.act('guidelines');
  else if (!page.viewer?.escape() && live) judgement?.focus();
  return true;
}
