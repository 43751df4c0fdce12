/** Sharp parts of a page at high zoom: a grid of pictures over the page's own, only where it is seen. */

import { h } from '../../shared/dom.js';
import { imageOf, partUrl, partWidth } from './images.js';

/** @typedef {{image: HTMLImageElement, grid: string, ready: boolean}} Tile */

const SIDE = 800; // pixels that a tile is wide
const GRIDS = [3, 4, 6, 8, 11, 16, 24]; // tiles across a page; few, so that pictures are met again
const KEPT = 40; // tiles of a page that stay when they are out of sight

export class Tiles {
  constructor() {
    this.element = h('div', { class: 'tiles', 'aria-hidden': 'true' });
    /** @type {Map<string, Tile>} by address, the oldest first */
    this.tiles = new Map();
    this.grid = '';
  }

  /**
   * Shows the tiles that a view needs; those of another sharpness stay until these are there.
   *
   * @param {Doc} doc
   * @param {number} page
   * @param {object} view
   * @param {number} view.pixels device pixels that the whole page is wide
   * @param {number} view.ratio height ÷ width of the page
   * @param {Box} view.seen the part of the page that is seen
   * @param {Box | null} view.whole a part to be drawn in one piece, if one was opened
   */
  show(doc, page, { pixels, ratio, seen, whole }) {
    /** @type {[string, Box][]} */
    let wanted;
    if (whole) {
      this.grid = whole.join(' ');
      wanted = [[partUrl(doc, page, whole, partWidth(pixels * (whole[2] - whole[0]))), whole]];
    } else {
      const columns = GRIDS.find((grid) => grid * SIDE >= pixels * 0.98) ?? GRIDS[GRIDS.length - 1];
      const rows = Math.max(1, Math.round(columns * ratio));
      this.grid = String(columns);
      wanted = places(seen, columns, rows).map((box) => [partUrl(doc, page, box, SIDE), box]);
    }
    for (const [url, box] of wanted) this.#want(url, box);
    this.#settle();
  }

  /** Takes all of them away. */
  clear() {
    for (const { image } of this.tiles.values()) {
      if (!image.complete) image.src = '';
    }
    this.tiles.clear();
    this.grid = '';
    this.element.replaceChildren();
    delete this.element.dataset.grid;
  }

  /** @param {string} url @param {Box} box */
  #want(url, box) {
    const known = this.tiles.get(url);
    if (known) {
      known.grid = this.grid;
      this.tiles.delete(url);
      this.tiles.set(url, known);
      return;
    }
    const image = imageOf(url);
    image.alt = '';
    image.draggable = false;
    const [x0, y0, x1, y1] = box;
    Object.assign(image.style, { left: `${x0 * 100}%`, top: `${y0 * 100}%`, width: `${(x1 - x0) * 100}%`, height: `${(y1 - y0) * 100}%` });
    const tile = { image, grid: this.grid, ready: false };
    this.tiles.set(url, tile);
    image.decode().then(() => {
      if (this.tiles.get(url) !== tile) return;
      tile.ready = true;
      this.element.append(image);
      this.#settle();
    }, () => {
      if (this.tiles.get(url) === tile) this.tiles.delete(url); // asked for again when the view moves
    });
  }

  /** Once everything of this sharpness is there, the others go; and so do those that were not seen for long. */
  #settle() {
    const own = [...this.tiles.values()].filter((tile) => tile.grid === this.grid);
    const ready = own.length > 0 && own.every((tile) => tile.ready);
    for (const [url, tile] of this.tiles) {
      const surplus = tile.grid === this.grid && this.tiles.size > KEPT && tile.ready;
      if (!surplus && (tile.grid === this.grid || !ready)) continue;
      if (!tile.ready) tile.image.src = '';
      tile.image.remove();
      this.tiles.delete(url);
    }
    if (ready) this.element.dataset.grid = this.grid;
  }
}

/** As exact as a part of a page can be asked for. @param {number} share */
const rounded = (share) => Math.round(share * 1e4) / 1e4;

/** The places of a grid that a part of the page touches. @param {Box} seen @param {number} columns @param {number} rows @returns {Box[]} */
function places([x0, y0, x1, y1], columns, rows) {
  /** @type {Box[]} */
  const found = [];
  const last = (/** @type {number} */ end, /** @type {number} */ of) => Math.min(of - 1, Math.ceil(end * of) - 1);
  for (let row = Math.max(0, Math.floor(y0 * rows)); row <= last(y1, rows); row += 1) {
    for (let column = Math.max(0, Math.floor(x0 * columns)); column <= last(x1, columns); column += 1) {
      found.push(/** @type {Box} */ ([column / columns, row / rows, (column + 1) / columns, (row + 1) / rows].map(rounded)));
    }
  }
  return found;
}
