/** Which pages hold a picture and words: those in sight, always sharp, and their neighbours. */

import { unturned } from './layout.js';
import { PageView } from './page_view.js';

const BESIDE = 1; // rows above and below the view that are loaded as well
const SETTLED = 120; // milliseconds without movement until a sharper picture is fetched
const READ = 200; // milliseconds without movement until the words of the pages in sight are fetched
const REST = 700; // milliseconds without movement until neighbours are loaded that the annotator is not heading for

export class Holding {
  /** @param {import('./pages.js').Pages} pages */
  constructor(pages) {
    this.pages = pages;
    /** @type {Map<number, PageView>} */
    this.views = new Map();
    this.heading = 0; // 1 or -1: towards later or earlier pages; 0 after a jump
    this.top = 0; // where the view was scrolled to when that was noted last
    this.settling = 0;
    this.reading = 0;
    this.resting = 0;
  }

  /** Notes where the annotator is heading, and where the view is. @param {number} heading */
  head(heading) {
    this.heading = heading;
    this.top = this.pages.element.scrollTop;
  }

  /** The view was scrolled, if it was: that is where the annotator is heading. */
  scrolled() {
    const moved = this.pages.element.scrollTop - this.top;
    if (moved) this.head(Math.sign(moved));
  }

  /** Holds exactly the pages in sight and their neighbours; what is in sight is asked for first. */
  paint() {
    const { layout, doc, element } = this.pages;
    if (!doc || !layout.numbers.length) return;
    const top = element.scrollTop;
    const inSight = layout.between(top, top + layout.view.height);
    const near = layout.between(top, top + layout.view.height, BESIDE);
    for (const [page, view] of this.views) {
      if (page >= near[0] && page <= near[near.length - 1]) continue;
      view.drop();
      this.views.delete(page);
    }
    for (const page of inSight) this.#load(page, true);
    // What is in view comes first, alone; then the page the annotator is heading for, the other neighbours last.
    const waiting = inSight.some((page) => !this.views.get(page)?.image && !this.views.get(page)?.again);
    const beside = waiting ? [] : near.filter((page) => !inSight.includes(page));
    const next = beside.filter((page) => (page - inSight[0]) * this.heading > 0);
    for (const page of next) this.#load(page, false);
    this.#stop();
    this.resting = window.setTimeout(() => beside.forEach((page) => this.#load(page, false)), REST);
    this.settling = window.setTimeout(() => this.#sharpen(), SETTLED);
    this.reading = window.setTimeout(() => this.#read(), READ);
  }

  /** Paints once nothing moves any more. */
  paintLater() {
    clearTimeout(this.settling);
    this.settling = window.setTimeout(() => this.paint(), SETTLED);
  }

  /** Puts the pages where the layout says. */
  place() {
    for (const view of this.views.values()) view.place(this.pages.layout);
  }

  /** Draws boxes and highlights. */
  draw() {
    for (const view of this.views.values()) this.#draw(view);
  }

  /** Tries again what could not be loaded. */
  retry() {
    for (const view of this.views.values()) view.retry(this.#pixels(view.page));
  }

  /** Holds nothing any more. */
  clear() {
    this.#stop();
    for (const view of this.views.values()) view.drop();
    this.views.clear();
  }

  #stop() {
    clearTimeout(this.settling);
    clearTimeout(this.reading);
    clearTimeout(this.resting);
  }

  /** Device pixels that a page is wide. @param {number} page */
  #pixels(page) {
    return this.pages.layout.imageWidth(page) * window.devicePixelRatio;
  }

  /** @param {number} page @param {boolean} urgent it is in view */
  #load(page, urgent) {
    (this.views.get(page) ?? this.#view(page)).load(this.#pixels(page), urgent);
  }

  /** Tiles for what is in sight where the pages' own pictures are too small. */
  #sharpen() {
    const { layout, element, enlarged } = this.pages;
    const { width, height } = layout.view;
    const [x, y] = [element.scrollLeft, element.scrollTop];
    const inSight = layout.between(y, y + height);
    for (const [page, view] of this.views) {
      const { left, right, top, bottom } = layout.rect(page);
      const share = (/** @type {number} */ value, /** @type {number} */ from, /** @type {number} */ to) => Math.max(0, Math.min(1, (value - from) / (to - from)));
      const seen = unturned([share(x, left, right), share(y, top, bottom), share(x + width, left, right), share(y + height, top, bottom)], layout.turn);
      if (inSight.includes(page) && seen[2] > seen[0] && seen[3] > seen[1]) {
        view.sharpen(this.#pixels(page), seen, enlarged?.whole && enlarged.page === page ? enlarged.box : null);
      } else view.tiles.clear();
      if (!inSight.includes(page)) continue;
      view.load(this.#pixels(page));
    }
  }

  /** The words of the pages in sight. */
  #read() {
    const { layout, element } = this.pages;
    const top = element.scrollTop;
    for (const page of layout.between(top, top + layout.view.height)) void this.views.get(page)?.read();
  }

  /** @param {number} page @returns {PageView} */
  #view(page) {
    const { pages } = this;
    const view = new PageView(page, /** @type {Doc} */ (pages.doc), {
      loaded: (loaded, ratio) => {
        if (this.views.get(page) !== loaded) return;
        pages.learn(page, ratio);
        pages.soon();
        pages.on.pictured();
      },
    });
    this.views.set(page, view);
    view.place(pages.layout);
    this.#draw(view);
    const thumbnail = pages.on.thumbnail(page);
    if (thumbnail) view.preview(thumbnail);
    pages.surface.append(view.element);
    return view;
  }

  /** @param {PageView} view */
  #draw(view) {
    const { pages } = this;
    view.draw(pages.drawn, pages.layout.turn, {
      unit: (key) => pages.on.unit(key),
      enlarge: (unit) => unit.box && pages.enlarge(unit.pages[0], unit.box),
    });
  }
}
