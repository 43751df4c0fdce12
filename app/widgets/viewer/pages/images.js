/** Page images: which width is sharp enough, their addresses, and those that are fetched ahead. */

/** Widths that whole pages are fetched in; beyond the last one tiles are laid over the page. */
export const LADDER = [480, 800, 1200, 1600];
export const THUMBNAIL = 160;
/** Widths that parts of pages are fetched in. */
const PARTS = [480, 800, 1200, 1600, 2400, 3600];
const ENOUGH = 0.98; // an image this much smaller than needed is still sharp
const KEPT_AHEAD = 12;

/** The smallest width of the ladder that is sharp at `pixels` device pixels. @param {number} pixels */
export function rung(pixels) {
  return LADDER.find((width) => width >= pixels * ENOUGH) ?? LADDER[LADDER.length - 1];
}

/** Whether a whole page of the widest kind is blurred at `pixels` device pixels. @param {number} pixels */
export function needsTiles(pixels) {
  return pixels * ENOUGH > LADDER[LADDER.length - 1];
}

/** @param {Doc} doc @param {number | string} page @param {number} width */
export function pageUrl(doc, page, width) {
  return doc.url.replace('{page}', String(page)).replace('{width}', String(width));
}

/**
 * The thumbnails of several pages in one request, as far as the server can draw them soon; null when none can be had now.
 *
 * @param {Doc} doc
 * @param {number} first
 * @param {number} last
 * @param {AbortSignal} signal
 * @returns {Promise<Map<number, string> | null>} page → an address to be revoked when it is no longer needed
 */
export async function thumbnails(doc, first, last, signal) {
  let data;
  try {
    const response = await fetch(pageUrl(doc, `${first}-${last}`, THUMBNAIL), { credentials: 'same-origin', priority: 'low', signal });
    if (!response.ok) return null;
    data = new DataView(await response.arrayBuffer());
  } catch {
    return null;
  }
  /** @type {Map<number, string>} */
  const found = new Map();
  // Each picture comes behind its page and its length, four bytes each.
  for (let at = 0; at < data.byteLength;) {
    const [page, size] = [data.getUint32(at), data.getUint32(at + 4)];
    found.set(page, URL.createObjectURL(new Blob([data.buffer.slice(at + 8, at + 8 + size)])));
    at += 8 + size;
  }
  return found;
}

/**
 * A part of a page, drawn for itself.
 *
 * @param {Doc} doc
 * @param {number} page
 * @param {Box} box
 * @param {number} width of the part, in pixels
 */
export function partUrl(doc, page, box, width) {
  const names = ['x0', 'y0', 'x1', 'y1'];
  return `${pageUrl(doc, page, width)}${box.map((edge, at) => `&${names[at]}=${Number(edge.toFixed(4))}`).join('')}`;
}

/** The width in which a part of a page is sharp at `pixels` device pixels. @param {number} pixels */
export function partWidth(pixels) {
  return PARTS.find((width) => width >= pixels * ENOUGH) ?? PARTS[PARTS.length - 1];
}

/** The address of what else is known of a document's pages, such as their words. @param {Doc} doc @param {string} what @param {number} [page] */
export function besideUrl(doc, what, page) {
  const version = /[?&]v=([^&]*)/.exec(doc.url)?.[1];
  return `/${what}/${doc.id}${page === undefined ? '' : `/${page}`}${version ? `?v=${version}` : '?'}`;
}

/** @type {Map<string, HTMLImageElement>} */
const ahead = new Map();

/** Fetches and decodes an image before it is needed. @param {string} url */
export function fetchAhead(url) {
  if (ahead.has(url)) return;
  const image = new Image();
  image.fetchPriority = 'low';
  image.src = url;
  image.decode().catch(() => ahead.delete(url));
  ahead.set(url, image);
  for (const old of ahead.keys()) {
    if (ahead.size <= KEPT_AHEAD) break;
    ahead.delete(old);
  }
}

/** An image element for an address: the one fetched ahead, or a new one. @param {string} url @param {boolean} [urgent] it is in view */
export function imageOf(url, urgent = true) {
  const known = ahead.get(url);
  ahead.delete(url);
  if (known) return known;
  const image = new Image();
  image.fetchPriority = urgent ? 'high' : 'low';
  image.src = url;
  return image;
}

/** The pages of a document that may be seen: the listed ones, else all, as far as their number is known. @param {Doc} doc @param {number[]} [mentioned] */
export function pageNumbers(doc, mentioned = []) {
  return doc.pages ?? Array.from({ length: doc.n_pages ?? doc.sizes?.length ?? Math.max(1, ...mentioned) }, (_, at) => at + 1);
}
