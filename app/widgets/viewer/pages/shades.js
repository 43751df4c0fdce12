/** How light a page is around a box: where it is light, the box's frame needs no white line, which would cut the text beside it. */

const ACROSS = 96; // points that the page is looked at in, from left to right
const LIGHT = 0.65; // brightness from which on a blended line is seen by itself (contrast at least 3 : 1)
const POINTS = 24; // that are looked at on each side of a box
const BESIDE = 0.006; // shares of the page's width that they lie outside of it

export class Shades {
  /** @param {HTMLImageElement} image of the whole page */
  constructor(image) {
    this.width = ACROSS;
    this.height = Math.max(1, Math.round((ACROSS * image.naturalHeight) / image.naturalWidth));
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [this.width, this.height];
    const context = canvas.getContext('2d', { willReadFrequently: true });
    context?.drawImage(image, 0, 0, this.width, this.height);
    /** Red, green, blue and opacity of each point. @type {Uint8ClampedArray | null} */
    this.points = context?.getImageData(0, 0, this.width, this.height).data ?? null;
  }

  /** Whether the page is light on all sides of a box. @param {Box} box on the unturned page */
  lightAround([x0, y0, x1, y1]) {
    const down = (BESIDE * this.width) / this.height;
    const along = Array.from({ length: POINTS }, (_, at) => (at + 0.5) / POINTS);
    const across = along.map((share) => x0 + share * (x1 - x0)), tall = along.map((share) => y0 + share * (y1 - y0));
    return [
      across.map((x) => this.#brightness(x, y0 - down)), across.map((x) => this.#brightness(x, y1 + down)),
      tall.map((y) => this.#brightness(x0 - BESIDE, y)), tall.map((y) => this.#brightness(x1 + BESIDE, y)),
    ].every((side) => side.reduce((sum, light) => sum + light, 0) / POINTS >= LIGHT);
  }

  /** From 0 to 1. @param {number} x @param {number} y shares of the page */
  #brightness(x, y) {
    const { points, width, height } = this;
    if (!points) return 0;
    const [column, row] = [Math.floor(x * width), Math.floor(y * height)];
    const at = 4 * (Math.max(0, Math.min(height - 1, row)) * width + Math.max(0, Math.min(width - 1, column)));
    return (0.2126 * points[at] + 0.7152 * points[at + 1] + 0.0722 * points[at + 2]) / 255;
  }
}
