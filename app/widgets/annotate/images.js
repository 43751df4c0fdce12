/** Page images: which width is sharp enough, their addresses, and those that are fetched ahead. */

/** @typedef {import('./types.js').Doc} Doc */

/** Widths that the server renders; a page is fetched in the first that is sharp. */
export const LADDER = [800, 1200, 1600, 2400, 3600];
export const THUMBNAIL = 160;
const KEPT_AHEAD = 12;

/** The smallest width of the ladder that is sharp at `pixels` device pixels. @param {number} pixels */
export function rung(pixels) {
  return LADDER.find((width) => width >= pixels * 0.98) ?? LADDER[LADDER.length - 1];
}

/** @param {Doc} doc @param {number} page @param {number} width */
export function pageUrl(doc, page, width) {
  return doc.url.replace('{page}', String(page)).replace('{width}', String(width));
}

/** @type {Map<string, HTMLImageElement>} */
const ahead = new Map();

/** Fetches and decodes an image before it is needed. @param {string} url */
export function fetchAhead(url) {
  if (ahead.has(url)) return;
  const image = new Image();
  image.src = url;
  image.decode().catch(() => ahead.delete(url));
  ahead.set(url, image);
  for (const old of ahead.keys()) {
    if (ahead.size <= KEPT_AHEAD) break;
    ahead.delete(old);
  }
}

/** An image element for an address: the one fetched ahead, or a new one. @param {string} url */
export function imageOf(url) {
  const known = ahead.get(url);
  ahead.delete(url);
  if (known) return known;
  const image = new Image();
  image.src = url;
  return image;
}

/** The pages of a document that may be seen: the listed ones, else all, as far as their number is known. @param {Doc} doc @param {number[]} [mentioned] */
export function pageNumbers(doc, mentioned = []) {
  return doc.pages ?? Array.from({ length: doc.n_pages ?? doc.sizes?.length ?? Math.max(1, ...mentioned) }, (_, at) => at + 1);
}
