/** One page on the surface: its picture, ever sharp, with highlights, words and boxes over it. */

import { h } from '../../shared/dom.js';
import { imageOf, needsTiles, pageUrl, rung } from './images.js';
import { boxes, highlights } from './boxes.js';
import { unturned } from './layout.js';
import { Shades } from './shades.js';
import { TextLayer, wordsOf } from './text_layer.js';
import { TEXT } from '../../shared/text.js';
import { WORDS } from '../../shared/viewer_text.js';
import { Tiles } from './tiles.js';

/** @typedef {import('./layout.js').Layout} Layout */

const SMALL = 520; // pixels that a page is wide, below which tags on it are short
const UNLIKE = 0.05; // difference of shapes above which a picture is not stretched to the page
const FRAMES = '.ev:not(.text, .whole, .support)';
const LATER = 60; // milliseconds after which a page that is shown is looked at
const AGAIN = 5000; // milliseconds until a sharper image that failed is tried again

export class PageView {
  /**
   * @param {number} page
   * @param {Doc} doc
   * @param {object} on
   * @param {(view: PageView, ratio: number) => void} on.loaded a picture is there; height ÷ width of it
   */
  constructor(page, doc, on) {
    this.page = page;
    this.doc = doc;
    this.on = on;
    this.gone = false;
    /** @type {HTMLImageElement | null} */
    this.image = null;
    /** @type {HTMLImageElement | null} */
    this.coming = null;
    this.width = 0; // of the image that is shown, in pixels
    this.wanted = 0; // of the image that is coming
    this.again = 0; // the moment before which nothing is asked for
    this.across = 0; // pixels that the page is wide on the screen, as it is unturned
    this.tall = 0; // height ÷ width of the page as the document has it; 0: not known
    this.ratio = 0; // height ÷ width of the picture
    this.picture = h('div', { class: 'picture' });
    this.tiles = new Tiles();
    this.lights = h('div', { class: 'lights' });
    this.frames = h('div', { class: 'frames' });
    /** @type {TextLayer | null} */
    this.text = null;
    this.asked = false; // for the words
    this.note = h('div', { class: 'page-note' });
    this.boxes = h('div', { class: 'boxes' });
    this.turn = 0;
    /** @type {Shades | null} */
    this.shades = null;
    // Without a size of its own: when the page's size changes, no word has to be laid out anew.
    this.wordsPlace = h('div', { class: 'page-words-place' });
    this.leaf = h('div', { class: 'leaf' }, this.picture, this.tiles.element, this.lights, this.frames, this.wordsPlace);
    this.element = h('div', { class: 'page', 'data-page': page, 'data-testid': 'page' }, this.leaf, this.boxes, this.note);
  }

  /** The address of its picture; null while that is coming, empty where it did not come. @returns {string | null} */
  get address() {
    if (this.image) return this.image.src;
    return this.again ? '' : null;
  }

  /** Puts the page where the layout says. @param {Layout} layout */
  place(layout) {
    const { turn } = layout;
    const { left, right, top, bottom } = layout.rect(this.page);
    const [width, height] = [right - left, bottom - top];
    Object.assign(this.element.style, { left: `${left}px`, top: `${top}px`, width: `${width}px`, height: `${height}px` });
    const [across, down] = turn % 180 ? [height, width] : [width, height];
    Object.assign(this.leaf.style, {
      width: `${across}px`, height: `${down}px`, left: `${(width - across) / 2}px`, top: `${(height - down) / 2}px`,
      transform: turn ? `rotate(${turn}deg)` : '',
    });
    this.across = across;
    this.tall = layout.knows(this.page) ? down / across : 0;
    this.text?.scale(across);
    this.element.classList.toggle('small', width < SMALL);
  }

  /** Draws highlights and boxes. @param {import('./boxes.js').OnPages} drawn @param {number} turn @param {Parameters<typeof boxes>[3]} on */
  draw(drawn, turn, on) {
    const { lights, frames } = highlights(drawn, this.page);
    this.lights.replaceChildren(...lights);
    this.frames.replaceChildren(...frames);
    this.boxes.replaceChildren(...boxes(drawn, this.page, turn, on));
    this.turn = turn;
    this.#lighten();
  }

  /** Says of each frame whether the page is light around it; looked at once, when the page has been shown. */
  #lighten() {
    const frames = /** @type {NodeListOf<HTMLElement>} */ (this.boxes.querySelectorAll(FRAMES));
    if (!frames.length || !this.image) return;
    if (!this.shades) {
      setTimeout(() => {
        if (this.gone || this.shades || !this.image) return;
        this.shades = new Shades(this.image);
        this.#lighten();
      }, LATER);
      return;
    }
    for (const { style, classList } of frames) {
      const [left, top, width, height] = [style.left, style.top, style.width, style.height].map((share) => parseFloat(share) / 100);
      classList.toggle('light', this.shades.lightAround(unturned([left, top, left + width, top + height], this.turn)));
    }
  }

  /** Fetches a sharper picture if one is needed; the old one stays until the new one is ready. @param {number} pixels device pixels that the page is wide @param {boolean} [urgent] it is in view */
  load(pixels, urgent = true) {
    const wanted = rung(pixels);
    if (Math.max(this.width, this.wanted) >= wanted || performance.now() < this.again) return;
    this.wanted = wanted;
    const image = imageOf(pageUrl(this.doc, this.page, wanted), urgent);
    image.alt = TEXT.pageOf(this.page, this.doc.title || this.doc.key);
    image.draggable = false;
    if (this.image && this.coming && !this.coming.complete) this.coming.src = ''; // a smaller one that nobody needs any more
    this.coming = image;
    const ready = () => {
      if (this.gone || wanted < this.width) return;
      this.image = image;
      this.width = wanted;
      this.again = 0;
      this.ratio = image.naturalHeight / image.naturalWidth;
      // The picture of a failure has a shape of its own.
      this.element.classList.toggle('other-shape', this.tall > 0 && Math.abs(this.ratio / this.tall - 1) > UNLIKE);
      this.picture.replaceChildren(image);
      this.picture.style.backgroundImage = '';
      this.element.dataset.loaded = String(wanted);
      this.note.replaceChildren();
      this.on.loaded(this, this.ratio);
      this.#lighten();
    };
    if (image.complete && image.naturalWidth) {
      ready();
      return;
    }
    image.decode().then(ready, () => {
      if (this.gone || this.coming !== image) return;
      this.wanted = this.width;
      // Without any image the annotator decides when to try again; a blurred one is replaced when there is another reason.
      this.again = this.image ? performance.now() + AGAIN : Infinity;
      if (!this.image) this.#showFailure(pixels);
    });
  }

  /** Shows the thumbnail until there is a picture. @param {string} thumbnail its address */
  preview(thumbnail) {
    if (!this.image) this.picture.style.backgroundImage = `url("${thumbnail}")`;
  }

  /**
   * Lays tiles over the picture where it is too small to be sharp.
   *
   * @param {number} pixels device pixels that the page is wide
   * @param {Box} seen the part of it that is seen
   * @param {Box | null} whole a part that was opened and is drawn in one piece
   */
  sharpen(pixels, seen, whole) {
    if (this.image && needsTiles(pixels)) this.tiles.show(this.doc, this.page, { pixels, ratio: this.ratio, seen, whole });
    else if (this.tiles.tiles.size) this.tiles.clear();
  }

  /** Lays the words over the picture, once. */
  async read() {
    if (this.asked || !this.image) return;
    this.asked = true;
    const words = await wordsOf(this.doc, this.page);
    if (this.gone) return;
    if (!words) {
      this.asked = false;
      return;
    }
    this.text = new TextLayer(words, this.ratio);
    this.text.scale(this.across);
    this.wordsPlace.append(this.text.element);
    if (words.ocr) this.element.append(h('span', { class: 'ocr', title: WORDS.ocrTitle }, WORDS.ocr));
    if (!words.words.length && words.reason && this.image) this.image.alt = `${this.image.alt}. ${words.reason}`;
  }

  /** Tries again what could not be loaded. @param {number} pixels */
  retry(pixels) {
    if (!this.again) return;
    this.again = 0;
    this.note.replaceChildren();
    this.load(pixels);
  }

  /** Takes the page off the surface and stops its downloads. */
  drop() {
    this.gone = true;
    this.element.remove();
    this.tiles.clear();
    if (this.coming && !this.coming.complete) this.coming.src = '';
  }

  /** @param {number} pixels */
  #showFailure(pixels) {
    this.note.replaceChildren(h('p', { role: 'alert' }, TEXT.pageFailed(this.page)), h('button', {
      type: 'button', class: 'btn', 'data-testid': 'retry-page', onclick: () => this.retry(pixels),
    }, TEXT.retry));
  }
}
