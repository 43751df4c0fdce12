/** What of the texts of an item has been on the screen: kept through steps, a re-draw and a reload of the same item. */

import { TEXT } from '../../shared/text.js';

/** @typedef {import('../../reading/placed_words.js').Span} Span */
/** @typedef {{spans: Record<string, Span[]>, said: Record<string, number>}} Record_ text → the parts of it that were seen, from 0 to 1; text → the step in which it was said that some was not */

const PLACE = 'assay.seen.1';
const ITEMS = 20; // of the items last worked on
const NOTHING = 0.005; // a share that is not worth a word

class Seen {
  constructor() {
    /** Item → what was seen of it, the one at hand last. @type {Map<string, Record_>} */
    this.items = new Map(kept());
    window.addEventListener('pagehide', () => this.#keep());
  }

  /** Adds words that are on the screen. @param {string} item @param {string} text @param {Span[]} words @param {number} count of all words of the text */
  add(item, text, words, count) {
    const { spans } = this.#of(item);
    // Shares, not words: the same text may be set out otherwise the next time, and has other words then.
    spans[text] = merged([...(spans[text] ?? []), ...words.map(([from, to]) => /** @type {Span} */ ([from / count, to / count]))]);
  }

  /** The share of a text that was never on the screen. @param {string} item @param {string} text */
  unseen(item, text) {
    const share = 1 - (this.items.get(item)?.spans[text] ?? []).reduce((sum, [from, to]) => sum + to - from, 0);
    return share < NOTHING ? 0 : share;
  }

  /**
   * What was not seen, in words; empty when nothing is to be said. Each text is spoken of in one step only.
   *
   * @param {string} item
   * @param {number} step
   * @param {string[]} texts
   */
  note(item, step, texts) {
    const { said } = this.#of(item);
    const shares = texts.map((text) => ({ text, share: this.unseen(item, text) })).filter(({ text, share }) => share > 0 && (said[text] ?? step) === step);
    for (const { text } of shares) said[text] = step;
    return shares.length ? TEXT.notSeen(shares.map(({ text, share }) => TEXT.shareOf(Math.max(1, Math.round(share * 100)), text))) : '';
  }

  /** @param {string} item */
  #of(item) {
    const record = this.items.get(item) ?? { spans: {}, said: {} };
    this.items.delete(item);
    this.items.set(item, record);
    if (this.items.size > ITEMS) this.items.delete(/** @type {string} */ (this.items.keys().next().value));
    return record;
  }

  #keep() {
    try {
      sessionStorage.setItem(PLACE, JSON.stringify([...this.items]));
    } catch {
      // Without a store it is forgotten with the page.
    }
  }
}

/** @returns {[string, Record_][]} */
function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(PLACE) ?? '[]');
  } catch {
    return [];
  }
}

/** Spans in order, those that touch made one. @param {Span[]} spans */
function merged(spans) {
  /** @type {Span[]} */
  const whole = [];
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    const last = whole.at(-1);
    if (last && from <= last[1] + 1e-9) last[1] = Math.max(last[1], to);
    else whole.push([from, to]);
  }
  return whole;
}

export const SEEN = new Seen();
