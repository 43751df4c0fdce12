/** The left side: documents and their pages, thumbnails, passages, the line of evidence units. */

import { button, h } from './dom.js';
import { EvidenceLine } from './evidence_line.js';
import { fetchAhead, pageNumbers, pageUrl, rung } from './images.js';
import { Pages } from './pages.js';
import { Passages, unitFacts } from './passages.js';
import { Strip } from './strip.js';
import { TEXT } from './text.js';
import { Toolbar } from './toolbar.js';

/** @typedef {import('./types.js').Doc} Doc */
/** @typedef {import('./types.js').Unit} Unit */
/** @typedef {import('./types.js').Presentation} Presentation */
/** @typedef {import('./strip.js').Mark} Mark */

const ZOOM_STEP = 1.2;

/** Whether a presentation has something for the left side. @param {Presentation} item */
export function hasEvidence(item) {
  return item.evidence !== undefined || item.documents !== undefined;
}

export class Viewer {
  /**
   * @param {import('./keys.js').Keys} keys
   * @param {object} on
   * @param {(unit: string) => void} on.unit the annotator chose an evidence unit
   * @param {(document: string, page: number) => void} on.page the annotator turned to a page of the document with this key
   */
  constructor(keys, on) {
    this.on = on;
    /** @type {Unit[]} */
    this.units = [];
    /** @type {Doc[]} */
    this.docs = [];
    /** @type {Doc | null} */
    this.doc = null;
    /** @type {Unit | null} */
    this.unit = null;
    /** @type {'pages' | 'passages'} */
    this.mode = 'pages';
    /** @type {boolean | null} null: the text shows by itself when a unit has no place on a page */
    this.textOpen = null;
    /** @type {(document: string, page: number) => Mark[]} */
    this.labelMarks = () => [];
    this.pages = new Pages({
      page: (page, byScrolling) => {
        this.#pageChanged();
        if (byScrolling && this.doc) this.on.page(this.doc.key, page);
      },
      zoom: () => this.#zoomChanged(),
      unit: (key) => this.choose(key),
    });
    this.strip = new Strip((page) => this.goTo(page));
    this.passages = new Passages((key) => this.choose(key));
    this.passages.element.hidden = true;
    this.tools = new Toolbar(keys, {
      act: (action) => this.act(action),
      page: (page) => this.goTo(page),
      document: (id) => {
        const doc = this.docs.find((one) => String(one.id) === id);
        if (!doc) return;
        this.#open(doc);
        this.#setMode('pages');
      },
      passages: () => {
        this.#setMode(this.mode === 'pages' ? 'passages' : 'pages');
        this.#drawText();
      },
    });
    this.text = h('div', { class: 'drawer', 'data-testid': 'unit-text', tabindex: '0', hidden: true });
    this.line = new EvidenceLine(keys, {
      act: (action) => this.act(action),
      unit: (key) => this.choose(key),
      text: () => {
        this.textOpen = this.text.hidden;
        this.#drawText();
      },
    });
    this.empty = h('div', { class: 'nothing' }, h('b', {}, TEXT.noEvidence), h('p', {}, TEXT.noEvidenceMore));
    this.view = h('div', { class: 'view' }, this.tools.element, this.pages.element, this.passages.element, this.empty, this.text, this.line.element);
    this.element = h('section', { class: 'viewer', 'aria-label': TEXT.viewer }, this.strip.element, this.view);
  }

  /** @param {Presentation} item @param {string | null} first the unit to begin with */
  show(item, first) {
    this.units = item.evidence ?? [];
    this.docs = item.documents ?? [];
    this.unit = null;
    const supplied = this.docs.filter((doc) => doc.supplied);
    const unit = this.units.find((one) => one.key === first) ?? this.units[0] ?? null;
    const doc = supplied.find((one) => one.id === unit?.document) ?? supplied[0] ?? null;
    this.passages.open(this.units, this.docs);
    this.line.open(this.units, this.docs);
    this.tools.documents(supplied);
    this.empty.hidden = this.units.length + this.docs.length > 0;
    if (doc) this.#open(doc);
    else this.doc = null;
    this.#setMode(doc && (!unit || unit.document === doc.id) ? 'pages' : 'passages');
    if (unit) this.showUnit(unit.key);
    else this.#drawText();
  }

  /** Shows a unit on its page, or its passage. @param {string} key */
  showUnit(key) {
    const unit = this.units.find((one) => one.key === key);
    if (!unit) return;
    this.unit = unit;
    const doc = this.docs.find((one) => one.id === unit.document && one.supplied);
    if (doc && unit.pages.length) {
      this.#setMode('pages');
      if (doc !== this.doc) this.#open(doc);
      this.#drawText();
      this.pages.showUnit(unit);
    } else {
      this.#setMode('passages');
      this.#drawText();
    }
    this.passages.showUnit(key);
    this.line.mark(key);
  }

  /** The annotator points at a unit. @param {string} key */
  choose(key) {
    this.showUnit(key);
    this.on.unit(key);
  }

  /** @param {number} by 1 or -1 */
  walk(by) {
    if (!this.units.length) return;
    const at = this.unit ? this.units.indexOf(this.unit) : -1;
    this.choose(this.units[(at + by + this.units.length) % this.units.length].key);
  }

  /** Shows a page without saying so: the judgement asked for it. @param {string} key of the document @param {number} page */
  showPage(key, page) {
    const doc = this.docs.find((one) => one.key === key && one.supplied);
    if (!doc) return;
    this.#setMode('pages');
    if (doc !== this.doc) this.#open(doc);
    if (this.pages.page !== page) this.pages.goTo(page);
  }

  /** @param {number} page */
  goTo(page) {
    this.#setMode('pages');
    this.pages.goTo(page);
    if (this.doc) this.on.page(this.doc.key, this.pages.page);
  }

  /** @param {number} by 1 or -1 */
  #turn(by) {
    this.#setMode('pages');
    this.pages.turn(by);
    if (this.doc) this.on.page(this.doc.key, this.pages.page);
  }

  /** Marks for pages that were labelled. @param {(document: string, page: number) => Mark[]} marks */
  setLabelMarks(marks) {
    this.labelMarks = marks;
    this.strip.remark();
  }

  /** Does what a key of the viewer says. @param {string} action @returns {boolean} */
  act(action) {
    const actions = /** @type {Record<string, () => void>} */ ({
      previous_page: () => this.#turn(-1),
      next_page: () => this.#turn(1),
      zoom_in: () => this.pages.zoomBy(ZOOM_STEP),
      zoom_out: () => this.pages.zoomBy(1 / ZOOM_STEP),
      fit_width: () => this.pages.fitWidth(),
      fit_page: () => this.pages.fitPage(),
      rotate: () => this.pages.rotate(),
      previous_evidence: () => this.walk(-1),
      next_evidence: () => this.walk(1),
    });
    if (!actions[action]) return false;
    if (this.doc || action.endsWith('evidence')) actions[action]();
    return true;
  }

  /** @param {number} screens */
  scrollBy(screens) {
    (this.mode === 'pages' ? this.pages : this.passages).scrollBy(screens);
  }

  /** Fetches what the next items show first; only what they were sent with. @param {Presentation[]} items */
  fetchAhead(items) {
    const shown = this.pages.element.clientWidth || window.innerWidth / 2;
    const width = rung((shown - 28) * window.devicePixelRatio);
    for (const item of items) {
      const unit = item.evidence?.find((one) => item.documents?.some((doc) => doc.id === one.document && doc.supplied));
      const doc = item.documents?.find((one) => one.supplied && (!unit || one.id === unit.document));
      if (doc) fetchAhead(pageUrl(doc, unit?.pages[0] ?? pageNumbers(doc)[0] ?? 1, width));
    }
  }

  dispose() {
    this.pages.dispose();
    this.strip.dispose();
  }

  /** @param {Doc} doc */
  #open(doc) {
    this.doc = doc;
    this.pages.open(doc, this.units);
    this.strip.open(doc, this.pages.numbers, (page) => [...this.#evidenceMarks(page), ...this.labelMarks(doc.key, page)]);
    this.tools.document(doc);
    this.#pageChanged();
    this.#zoomChanged();
  }

  /** @param {number} page @returns {Mark[]} */
  #evidenceMarks(page) {
    return this.units.filter((unit) => unit.document === this.doc?.id && unit.pages.includes(page)).map((unit) => ({
      class: unit.role ?? 'has',
      title: `${unit.key}${unit.role ? ` ${TEXT.roles[unit.role] ?? unit.role}` : ''}`,
    }));
  }

  /** @param {'pages' | 'passages'} mode */
  #setMode(mode) {
    this.mode = this.doc ? mode : 'passages';
    const pages = this.mode === 'pages';
    this.pages.element.hidden = !pages;
    this.passages.element.hidden = pages || !this.empty.hidden;
    this.strip.element.hidden = !this.doc;
    this.tools.mode(this.mode, !!this.doc, this.units.length > 0);
    this.element.classList.toggle('no-strip', !this.doc);
  }

  /** The text of the unit beneath its page. */
  #drawText() {
    const { unit } = this;
    const placed = !!unit?.box;
    const wanted = this.textOpen ?? (!placed && !!unit?.text);
    const open = this.mode === 'pages' && !!unit && wanted;
    this.text.hidden = !open;
    this.line.textState(open, this.mode === 'pages' && !!unit);
    if (!open || !unit) return;
    const doc = this.docs.find((one) => one.id === unit.document);
    this.text.replaceChildren(
      h('header', {}, h('b', {}, unit.key), h('span', { class: 'grow' }, unitFacts(unit, doc).join(' · ')),
        unit.box ? button(TEXT.enlarge, () => this.pages.enlarge(unit), { class: 'tool' }) : null),
      unit.title ? h('h3', { dir: 'auto' }, unit.title) : '',
      h('p', { class: unit.text ? 'passage' : 'passage soft', dir: 'auto' }, unit.text || TEXT.noText),
    );
    this.text.scrollTop = 0;
  }

  #pageChanged() {
    const { numbers, page } = this.pages;
    this.tools.page(page, this.doc?.n_pages ?? numbers[numbers.length - 1] ?? 1, numbers.length);
    this.strip.select(this.pages.page);
  }

  #zoomChanged() {
    this.tools.zoom(this.pages.zoom, this.pages.fit);
  }
}
