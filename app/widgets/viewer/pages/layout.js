/** Where the pages of a document lie, one below the other or two beside each other: sizes, zoom, rotation, boxes. Pixels; no DOM. */

export const PAD = 14; // around the stack
const GAP = 14; // between pages
const A4 = Math.SQRT2; // height ÷ width of a page whose size is not known
const SMALLEST = 0.15;
const LARGEST = 10;

/** @typedef {'width' | 'page' | 'free'} Fit */
/** @typedef {{zoom: number, fit: Fit, columns: number, turn: number}} Look how the pages of a document are looked at */

/** How each document was looked at last: a scan that needs twice its size does not make the report beside it larger. */
export class Looks {
  constructor() {
    /** By the id of the document. @type {Map<number, Look>} */
    this.kept = new Map();
  }

  /** @param {number} id @param {Look} look */
  keep(id, look) {
    this.kept.set(id, look);
  }

  /** How a document is shown: as it was left, else fitted as the one before it, which stood as `now`. @param {number} id @param {Look} now @returns {Look} */
  of(id, now) {
    return this.kept.get(id) ?? { ...now, turn: 0, ...(now.fit === 'free' ? { fit: 'width', zoom: 1 } : {}) };
  }
}

export class Layout {
  constructor() {
    /** The view that the stack is scrolled in. */
    this.view = { width: 0, height: 0 };
    this.zoom = 1; // 1: a page is as wide as the view
    this.turn = 0; // degrees clockwise
    this.columns = 1; // pages beside each other: 1 or 2
    /** The pages that are shown, by their numbers in the document. @type {number[]} */
    this.numbers = [];
    /** Height ÷ width of each of them, unrotated; 0 where it is not known. @type {number[]} */
    this.ratios = [];
    /** @type {number[]} */
    this.tops = [];
    this.height = 0;
  }

  /** @param {number[]} numbers of the pages, in order @param {[number, number][] | null} sizes of all pages of the document */
  open(numbers, sizes) {
    this.numbers = numbers;
    this.ratios = numbers.map((number) => {
      const size = sizes?.[number - 1];
      return size && size[0] > 0 ? size[1] / size[0] : 0;
    });
    this.turn = 0;
    this.compute();
  }

  /** Places the pages anew. */
  compute() {
    let top = PAD;
    this.tops = [];
    for (let place = 0; place < this.numbers.length; place += this.columns) {
      const row = this.numbers.slice(place, place + this.columns);
      const own = top;
      this.tops.push(...row.map(() => own));
      top += Math.max(...row.map((page) => this.width * this.ratio(page))) + GAP;
    }
    this.height = top - GAP + PAD;
  }

  /** @param {number} zoom */
  setZoom(zoom) {
    this.zoom = Math.max(SMALLEST, Math.min(LARGEST, zoom));
    this.compute();
  }

  /** The place of a page in the stack, from 0; -1 if it is not shown. @param {number} page */
  placeOf(page) {
    // Most documents are shown from the first page to the last.
    return this.numbers[page - 1] === page ? page - 1 : this.numbers.indexOf(page);
  }

  /** The shown page that is nearest to a number. @param {number} page */
  nearest(page) {
    return this.numbers.reduce((best, number) => (Math.abs(number - page) < Math.abs(best - page) ? number : best), this.numbers[0] ?? 1);
  }

  /** The shown page before or after another; where two lie beside each other, of the row before or after. @param {number} page @param {number} by */
  beside(page, by) {
    const place = this.placeOf(page);
    const wanted = this.columns === 1 ? place + by : place - (place % this.columns) + by * this.columns;
    return wanted >= 0 && wanted < this.numbers.length ? this.numbers[wanted] : page;
  }

  /** Takes over the shape of a page that was not known. @param {number} page @param {number} ratio height ÷ width */
  learn(page, ratio) {
    this.ratios[this.placeOf(page)] = ratio;
    this.compute();
  }

  /** Whether the shape of a page is known. @param {number} page */
  knows(page) {
    return this.ratios[this.placeOf(page)] > 0;
  }

  /** Where a page begins. @param {number} page */
  topOf(page) {
    return this.tops[this.placeOf(page)] ?? 0;
  }

  /** The width of a page at zoom 1. */
  get fullWidth() {
    return Math.max(120, (this.view.width - 2 * PAD - (this.columns - 1) * GAP) / this.columns);
  }

  get width() {
    return this.fullWidth * this.zoom;
  }

  /** The width of all pages that lie beside each other. */
  get across() {
    return this.columns * this.width + (this.columns - 1) * GAP;
  }

  /** Where a page begins from the left. @param {number} page */
  leftOf(page) {
    const column = Math.max(0, this.placeOf(page)) % this.columns;
    return Math.max(PAD, (this.view.width - this.across) / 2) + column * (this.width + GAP);
  }

  /** Height ÷ width of a page as it is turned. @param {number} page */
  ratio(page) {
    const ratio = this.ratios[this.placeOf(page)] || this.ratios.find((known) => known > 0) || A4;
    return this.turn % 180 ? 1 / ratio : ratio;
  }

  /** The width that the page's image has on the screen, whichever way it is turned. @param {number} page */
  imageWidth(page) {
    return this.width * (this.turn % 180 ? this.ratio(page) : 1);
  }

  /** The zoom at which a whole page is seen. @param {number} page */
  wholeZoom(page) {
    return Math.min(1, (this.view.height - 2 * PAD) / (this.fullWidth * this.ratio(page)));
  }

  /** The zoom at which a box fills the view. @param {number} page @param {Box} box */
  boxZoom(page, box) {
    const [x0, y0, x1, y1] = turned(box, this.turn);
    return 0.94 * Math.min(this.view.width / ((x1 - x0) * this.fullWidth), this.view.height / ((y1 - y0) * this.fullWidth * this.ratio(page)));
  }

  /** Where a page, or a box on it, lies. @param {number} page @param {Box | null} [box] */
  rect(page, box = null) {
    const { width } = this;
    const left = this.leftOf(page);
    const height = width * this.ratio(page);
    const [x0, y0, x1, y1] = box ? turned(box, this.turn) : [0, 0, 1, 1];
    const top = this.topOf(page);
    return { left: left + x0 * width, right: left + x1 * width, top: top + y0 * height, bottom: top + y1 * height };
  }

  /** The first page at a height of the stack; with `x`, the one at that point. @param {number} y @param {number} [x] */
  pageAt(y, x = 0) {
    const below = this.#firstBelow(y);
    const place = Math.max(0, (below < 0 ? this.tops.length : below) - 1);
    const first = place - (place % this.columns);
    const beyond = this.columns > 1 && first + 1 < this.numbers.length && x >= this.leftOf(this.numbers[first + 1]);
    return this.numbers[first + (beyond ? 1 : 0)] ?? 1;
  }

  /** The pages that a stretch of the stack touches by more than a pixel, with `more` rows above and below. @param {number} top @param {number} bottom @param {number} [more] */
  between(top, bottom, more = 0) {
    const first = this.placeOf(this.pageAt(top + GAP + 1)) - more * this.columns;
    const last = this.placeOf(this.pageAt(bottom - 1)) + (more + 1) * this.columns;
    return this.numbers.slice(Math.max(0, first), Math.max(0, last));
  }

  /** The place of the first page that begins below a height; -1 when none does. @param {number} y */
  #firstBelow(y) {
    let [low, high] = [0, this.tops.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.tops[middle] > y) high = middle;
      else low = middle + 1;
    }
    return low < this.tops.length ? low : -1;
  }
}

/** A box after its page was turned clockwise. @param {Box} box @param {number} turn @returns {Box} */
export function turned([x0, y0, x1, y1], turn) {
  if (turn === 90) return [1 - y1, x0, 1 - y0, x1];
  if (turn === 180) return [1 - x1, 1 - y1, 1 - x0, 1 - y0];
  if (turn === 270) return [y0, 1 - x1, y1, 1 - x0];
  return [x0, y0, x1, y1];
}

/** A box as it lies on the unturned page, from one on the page as it is turned. @param {Box} box @param {number} turn @returns {Box} */
export function unturned(box, turn) {
  return turned(box, (360 - turn) % 360);
}

/** The smallest box around others. @param {Box[]} boxes @returns {Box} */
export function around(boxes) {
  return [
    Math.min(...boxes.map((box) => box[0])), Math.min(...boxes.map((box) => box[1])),
    Math.max(...boxes.map((box) => box[2])), Math.max(...boxes.map((box) => box[3])),
  ];
}
