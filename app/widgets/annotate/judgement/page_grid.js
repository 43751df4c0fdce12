/** The pages of an item's documents as a grid of thumbnails, each drawn as it stands, walked with the arrows. */

import { attribute, h, isStacked, keepFocus } from '../../shared/dom.js';
import { TEXT } from '../../shared/text.js';
import { thumbnailsOf } from '../../viewer/thumbnails.js';

/** @typedef {import('../../viewer/strip.js').Mark} Mark */
/** @typedef {{document: string, page: number}} Place */
/** @typedef {{place: Place, element: HTMLElement, dots: HTMLElement, sign: HTMLElement, hops: HTMLElement}} Thumb */
/** @typedef {{state: string, sign: string, words: string[], hops: string, marks: Mark[], shown: boolean}} Look what a thumbnail says */

const AROUND = { above: [0, -1], below: [0, 1], left: [-1, 0], right: [1, 0] };
const AT_ONCE = 60; // thumbnails in one request
const FEW = 32; // pages for which there is room to be larger
const UPRIGHT = 0.75; // width to height of a page whose size is not known
const MOST_MARKS = 3; // on a thumbnail; its name has them all

/** @param {Place} place */
const idOf = ({ document, page }) => `${page} ${document}`;

export class PageGrid {
  /**
   * @param {Place[]} places in order, those of a document after one another
   * @param {Doc[]} docs
   * @param {string} name what a screen reader calls it
   * @param {(place: Place) => void} pick
   */
  constructor(places, docs, name, pick) {
    this.places = places;
    this.docs = docs;
    this.pick = pick;
    /** @type {Map<string, Thumb>} */
    this.thumbs = new Map();
    /** The pictures of each document that has any. @type {Map<string, import('../../viewer/thumbnails.js').Thumbnails>} */
    this.pictures = new Map(docs.filter((doc) => doc.supplied).map((doc) => [doc.key, thumbnailsOf(doc, (page) => this.#picture({ document: doc.key, page }))]));
    this.element = h('div', { class: 'page-grid', role: 'group', 'aria-label': name, 'data-testid': 'page-grid' });
    /** Pictures are fetched when they come into view. */
    this.seen = new IntersectionObserver((entries) => this.#seen(entries.filter((entry) => entry.isIntersecting).map(({ target }) => target)));
    /** @type {Place | null} */
    this.at = null;
    /** How each page stands, by who asked last to draw it. @type {(place: Place) => Look} */
    this.look = () => ({ state: 'open', sign: '', words: [], hops: '', marks: [], shown: true });
    this.gone = false;
    // The question and the page that is shown large are painted first: they are what is read.
    requestAnimationFrame(() => setTimeout(() => {
      if (!this.gone) this.#build();
    }));
  }

  /** Draws how each page stands now. @param {(place: Place) => Look} look */
  refresh(look) {
    this.look = look;
    for (const { place, element, dots, sign, hops } of this.thumbs.values()) {
      const { state, sign: signed, words, hops: own, marks, shown } = look(place);
      const name = [TEXT.page(place.page), ...words, ...marks.map((mark) => mark.title)].join(', ');
      const drawn = `${state}|${own}|${shown}|${name}`;
      if (element.dataset.drawn === drawn) continue; // most pages stand as they stood
      element.dataset.drawn = drawn;
      element.dataset.state = state;
      element.hidden = !shown;
      element.title = name;
      element.setAttribute('aria-label', name);
      sign.textContent = signed;
      hops.textContent = own;
      dots.replaceChildren(...marks.slice(0, MOST_MARKS).map((mark) => h('i', { class: `dot ${mark.class}` })));
    }
  }

  /** @param {Place | null} place */
  select(place) {
    attribute(this.current, 'aria-current', null);
    this.at = place;
    if (place && this.#of(place)) attribute(this.current, 'aria-current', 'true');
  }

  /** The thumbnail of the page at hand. @returns {HTMLElement} */
  get current() {
    return (this.at && this.#of(this.at)?.element) ?? this.element;
  }

  /** The page beside one: the next or the one before, or the nearest one in the next row; null at the edge. @param {Place} place @param {keyof typeof AROUND} where @returns {Place | null} */
  beside(place, where) {
    const all = [...this.thumbs.values()].filter(({ element }) => !element.hidden);
    const own = this.#of(place);
    if (!own) return null;
    const [across, down] = AROUND[where];
    if (across) return all[all.indexOf(own) + across]?.place ?? null;
    const [x, y] = [own.element.offsetLeft, own.element.offsetTop];
    const beyond = all.filter(({ element }) => (element.offsetTop - y) * down > 0);
    const row = Math.min(...beyond.map(({ element }) => Math.abs(element.offsetTop - y)));
    const [nearest] = beyond.filter(({ element }) => Math.abs(element.offsetTop - y) === row)
      .sort((a, b) => Math.abs(a.element.offsetLeft - x) - Math.abs(b.element.offsetLeft - x));
    return nearest?.place ?? null;
  }

  /** The address of a thumbnail that has come; else empty. @param {Place} place */
  picture(place) {
    return this.pictures.get(place.document)?.of(place.page) ?? '';
  }

  dispose() {
    this.gone = true;
    this.seen.disconnect();
  }

  #build() {
    const { places, docs } = this;
    this.thumbs = new Map(places.map((place) => [idOf(place), thumb(place, this.pick)]));
    const keys = [...new Set(places.map(({ document }) => document))];
    for (const key of keys) {
      const doc = docs.find((other) => other.key === key);
      const own = [...this.thumbs.values()].filter(({ place }) => place.document === key);
      if (keys.length > 1) this.element.append(h('h3', { dir: 'auto' }, doc?.title || key));
      const [width, height] = doc?.sizes?.[0] ?? [UPRIGHT, 1];
      this.element.append(h('div', {
        class: `pages-of ${own.length <= FEW ? 'few' : ''}`, style: `--ratio:${(width / height).toFixed(3)}`,
      }, ...own.map(({ element }) => element)));
      for (const { element, place } of own) {
        if (!this.pictures.has(key)) element.classList.add('unsupplied');
        else if (this.picture(place)) this.#picture(place);
        else this.seen.observe(element);
      }
    }
    this.refresh(this.look);
    this.select(this.at);
    if (this.at && !isStacked()) this.current.scrollIntoView({ block: 'nearest' });
  }

  /** @param {Place} place @returns {Thumb | undefined} */
  #of(place) {
    return this.thumbs.get(idOf(place));
  }

  /** @param {Element[]} elements that came into view */
  #seen(elements) {
    /** @type {Map<string, number[]>} */
    const wanted = new Map();
    for (const element of elements) {
      this.seen.unobserve(element);
      const { document = '', page } = /** @type {HTMLElement} */ (element).dataset;
      wanted.set(document, [...(wanted.get(document) ?? []), Number(page)]);
    }
    for (const [document, pages] of wanted) void this.#fetch(/** @type {import('../../viewer/thumbnails.js').Thumbnails} */ (this.pictures.get(document)), pages.sort((a, b) => a - b));
  }

  /** @param {import('../../viewer/thumbnails.js').Thumbnails} pictures @param {number[]} pages */
  async #fetch(pictures, pages) {
    for (let at = 0; at < pages.length; at += AT_ONCE) await pictures.fetch(pages.slice(at, at + AT_ONCE));
  }

  /** @param {Place} place */
  #picture(place) {
    const url = this.picture(place);
    const element = this.#of(place)?.element;
    if (url && element && !element.querySelector('img')) element.prepend(h('img', { fetchpriority: 'low', src: url, alt: '', draggable: 'false', decoding: 'async' }));
  }
}

/** @param {Place} place @param {(place: Place) => void} pick @returns {Thumb} */
function thumb(place, pick) {
  const dots = h('span', { class: 'dots' });
  const sign = h('span', { class: 'sign', 'aria-hidden': 'true' });
  const hops = h('span', { class: 'of-hops', 'aria-hidden': 'true' });
  const element = h('button', {
    type: 'button', class: 'page-thumb', tabindex: '-1', 'data-testid': 'page-thumb', 'data-page': place.page, 'data-document': place.document,
    onclick: () => pick(place), onmousedown: keepFocus,
  }, dots, sign, hops, h('span', { class: 'th-number' }, String(place.page)));
  return { place, element, dots, sign, hops };
}
