/** The small pictures of a document's pages: fetched together, one by one where none came, kept until they are dropped. */

import { pageUrl, THUMBNAIL, thumbnails } from './pages/images.js';

const DOCUMENTS = 4; // whose thumbnails stay when another item is shown: several questions are about one document

/** @type {Map<string, Thumbnails>} */
const kept = new Map();

/** The pictures of a document, those that came for an earlier item included. @param {Doc} doc @param {(page: number) => void} arrived */
export function thumbnailsOf(doc, arrived) {
  const pictures = kept.get(doc.url) ?? new Thumbnails(doc, arrived);
  pictures.arrived = arrived;
  kept.delete(doc.url);
  kept.set(doc.url, pictures);
  for (const [url, old] of kept) {
    if (kept.size <= DOCUMENTS) break;
    old.forget();
    kept.delete(url);
  }
  return pictures;
}

export class Thumbnails {
  /** @param {Doc} doc @param {(page: number) => void} arrived the picture of a page can be shown */
  constructor(doc, arrived) {
    this.doc = doc;
    this.arrived = arrived;
    /** Their addresses, the oldest first. @type {Map<number, string>} */
    this.pictures = new Map();
    this.request = new AbortController();
  }

  /** @param {number} page @returns {string | undefined} its address, if it has come */
  of(page) {
    return this.pictures.get(page);
  }

  /** Takes a picture of a page from elsewhere. @param {number} page @param {string} url */
  take(page, url) {
    this.drop(page);
    this.pictures.set(page, url);
    this.arrived(page);
  }

  /**
   * Fetches those of these pages that are not there, unless others are asked for in the meantime.
   *
   * A server with much to do draws some of them at a time: the rest is asked for as long as more of them come. Sixty
   * requests for one picture each would be what it needs least then.
   *
   * @param {number[]} pages in order
   */
  async fetch(pages) {
    let missing = pages.filter((page) => !this.pictures.has(page));
    if (!missing.length) return;
    this.request.abort();
    const request = new AbortController();
    this.request = request;
    while (missing.length) {
      const found = await thumbnails(this.doc, missing[0], missing[missing.length - 1], request.signal);
      if (!found || request.signal.aborted) return;
      for (const [page, url] of found) {
        if (missing.includes(page)) this.take(page, url);
        else URL.revokeObjectURL(url);
      }
      const left = missing.filter((page) => !found.has(page));
      if (left.length === missing.length) {
        for (const page of left) this.take(page, pageUrl(this.doc, page, THUMBNAIL));
        return;
      }
      missing = left;
    }
  }

  /** @param {number} page */
  drop(page) {
    URL.revokeObjectURL(this.pictures.get(page) ?? '');
    this.pictures.delete(page);
  }

  /** Nothing of it is needed any more. */
  forget() {
    this.request.abort();
    for (const page of [...this.pictures.keys()]) this.drop(page);
  }
}
