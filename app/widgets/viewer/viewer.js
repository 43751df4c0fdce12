/** The left side: documents and their pages, thumbnails, passages, what was found on them, the line of evidence units. */

import { h } from '../shared/dom.js';
import { EvidenceLine } from './evidence_line.js';
import { fetchAhead, pageNumbers, pageUrl, rung } from './pages/images.js';
import { around } from './pages/layout.js';
import { Brought, Lookups } from './lookups.js';
import { Pages } from './pages/pages.js';
import { wordsOf } from './pages/text_layer.js';
import { Passages, UnitText } from './passages.js';
import { Phrases } from './phrases.js';
import { boxPlace, enclosedPlace, placeBoxes, placeWords, textPlace } from './places.js';
import { Search } from './search.js';
import { clearSelection, selectedWords, UseSelection } from './pages/selection.js';
import { Strip } from './strip.js';
import { TEXT } from '../shared/text.js';
import { Tip } from '../shared/tip.js';
import { Toolbar } from './toolbar.js';
import { WORDS } from '../shared/viewer_text.js';

/** @typedef {import('./strip.js').Mark} Mark */

const ZOOM_STEP = 1.2;

/**
 * Whether a presentation has something for the left side. Documents that are known only because pictures are cut out of
 * their pages have not: the pictures stand in what is read.
 *
 * @param {Presentation} item
 */
export function hasEvidence(item) {
  return item.evidence !== undefined || (item.documents !== undefined && (item.shown ?? ['documents']).includes('documents'));
}

export class Viewer {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {object} on
   * @param {(unit: string) => void} on.unit the annotator chose an evidence unit
   * @param {(document: string, page: number) => void} on.page the annotator turned to a page of the document with this key
   * @param {(place: Place) => void} [on.support] a place was marked as the support of a label; without it none can be marked
   * @param {{tool: string, use: string, bar: string}} [on.words] what marking is called, where it is not about a label
   * @param {() => void} [on.marked] what the thumbnails of pages say is otherwise now
   * @param {(document: string, page: number) => string} [on.picture] the address of a thumbnail that is there besides the strip's
   * @param {() => void} [on.done] the annotator is done with a tool that had the keyboard
   * @param {string} [on.study] address of the study, where phrases and passages are asked for
   * @param {boolean} [on.brought] phrases and passages come with the item
   * @param {import('../texts/texts.js').Texts} texts
   */
  constructor(keys, on, texts) {
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
    /** Pages are chosen elsewhere on the page: there is no strip of thumbnails. */
    this.stripless = false;
    this.claim = ''; // the one that is judged now, in small letters
    /** Where passages were found. @type {{unit: string, document: number, page: number, boxes: Box[]}[]} */
    this.located = [];
    /** @type {{places: Place[], remove: (number: number) => void}} */
    this.supports = { places: [], remove: () => undefined };
    this.lookups = on.study ? new Lookups(on.study) : on.brought ? new Brought() : null;
    /** @type {Pages} */
    this.pages = new Pages({
      page: (page, byScrolling) => {
        this.#pageChanged();
        if (byScrolling && this.doc) this.on.page(this.doc.key, page);
      },
      zoom: () => this.#zoomChanged(),
      unit: (key) => this.choose(key),
      selected: () => {
        const selected = selectedWords(this.pages);
        this.pages.element.classList.toggle('selected', !!selected);
        this.selection.show(this.on.support ? selected : null, this.view);
      },
      marked: (page, box, asText) => void this.#marked(page, box, asText),
      drawing: () => this.tools.marking(this.pages.marker.on),
      pictured: () => this.strip.draw(),
      thumbnail: (page) => this.strip.thumbnail(page) || (this.doc && on.picture?.(this.doc.key, page)) || '',
    });
    this.pages.element.addEventListener('scroll', () => this.selection.hide(), { passive: true });
    /** @type {Strip} */
    this.strip = new Strip((page) => this.goTo(page), (page) => this.pages.picture(page));
    this.passages = new Passages((key) => this.choose(key), texts);
    this.passages.element.hidden = true;
    this.selection = new UseSelection(keys, () => this.act('mark'), on.words?.use);
    this.tools = new Toolbar(keys, {
      act: (action) => this.act(action),
      page: (page) => this.goTo(page),
      document: (id) => {
        const doc = this.docs.find((doc) => String(doc.id) === id);
        if (!doc) return;
        this.#open(doc);
        this.#setMode('pages');
      },
      passages: () => {
        this.#setMode(this.mode === 'pages' ? 'passages' : 'pages');
        this.#drawText();
      },
      marks: !!on.support,
      markTitle: on.words?.tool,
    });
    if (on.words) this.pages.marker.words(on.words.bar);
    this.search = new Search(keys, {
      changed: () => this.#drawHits(),
      go: (hit) => this.#goToPlace(this.doc, hit.page, hit.boxes),
      closed: () => this.on.done?.(),
      page: () => this.pages.page,
    });
    this.phrases = new Phrases(keys, {
      changed: () => this.#drawHits(),
      go: (hit) => this.#goToPlace(this.docs.find((doc) => doc.id === hit.document) ?? null, hit.page, hit.boxes),
      act: (action) => this.act(action),
      place: () => ({ document: this.doc?.id ?? 0, page: this.pages.page }),
    });
    this.text = new UnitText((unit) => this.#enlarge(unit), texts);
    this.line = new EvidenceLine(keys, {
      act: (action) => this.act(action),
      unit: (key) => this.choose(key),
      text: () => {
        this.text.wanted = !this.text.open;
        this.#drawText();
      },
    });
    this.empty = h('div', { class: 'nothing' }, h('b', {}, TEXT.noEvidence), h('p', {}, TEXT.noEvidenceMore));
    this.live = h('span', { class: 'unseen', 'aria-live': 'polite' });
    /** What is asked about the page in view. */
    this.asked = h('div', {});
    this.asked.addEventListener('focusin', (event) => event.stopPropagation()); // the page moves the focus there: no tip follows it
    this.view = h('div', { class: 'view' }, this.tools.element, this.asked, this.search.element, this.pages.marker.bar, this.pages.element,
      this.passages.element, this.empty, this.text.element, this.phrases.element, this.line.element, this.selection.element, this.live);
    this.tip = new Tip(this.view, this.view, true);
    this.view.append(this.tip.element);
    this.element = h('section', { class: 'viewer', 'aria-label': TEXT.viewer }, this.strip.element, this.view);
  }

  /** @param {Presentation} item @param {string | null} first the unit to begin with */
  show(item, first) {
    this.claim = '';
    this.units = item.evidence ?? [];
    this.docs = item.documents ?? [];
    this.unit = null;
    this.located = [];
    this.supports.places = [];
    const supplied = this.docs.filter((doc) => doc.supplied);
    const unit = this.units.find((unit) => unit.key === first) ?? this.units[0] ?? null;
    const doc = supplied.find((doc) => doc.id === unit?.document) ?? supplied[0] ?? null;
    this.passages.open(this.units, this.docs);
    this.line.open(this.units, this.docs);
    this.tools.documents(supplied);
    this.empty.hidden = this.units.length + this.docs.length > 0;
    this.phrases.begin(this.lookups !== null && supplied.length > 0 && (item.answer !== undefined || !!item.references?.length));
    if (this.search.open) this.search.close();
    if (doc) this.#open(doc);
    else this.doc = null;
    this.#setMode(doc && (!unit || unit.document === doc.id) ? 'pages' : 'passages');
    if (unit) this.showUnit(unit.key);
    else this.#drawText();
    this.lookups?.follow(item, (found) => this.phrases.show(found, supplied.map(({ id }) => id)), (found) => this.#locate(found));
  }

  /** The units of the item are others now; the place in the document stays. @param {Unit[]} units */
  setUnits(units) {
    this.units = units;
    if (this.unit) this.unit = units.find(({ key }) => key === this.unit?.key) ?? null;
    this.passages.open(units, this.docs);
    this.line.open(units, this.docs);
    this.line.mark(this.unit?.key ?? '');
    const { doc } = this;
    if (!doc) return;
    this.pages.set({ units: units.filter((unit) => unit.document === doc.id), active: this.unit?.key ?? null });
    this.strip.remark();
  }

  /** Shows a unit on its page, or its passage. @param {string} key */
  showUnit(key) {
    const unit = this.units.find((unit) => unit.key === key);
    if (!unit) return;
    this.unit = unit;
    const doc = this.docs.find((doc) => doc.id === unit.document && doc.supplied);
    if (doc && (unit.pages.length || this.located.some((place) => place.unit === key))) {
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
    const doc = this.docs.find((doc) => doc.key === key);
    if (!doc?.supplied) {
      this.#setMode('passages');
      this.passages.showMissing(key, page);
      return;
    }
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

  /** What was found on a page, and which units stand on it. @param {string} key of its document @param {number} page @returns {Mark[]} */
  marks(key, page) {
    const doc = this.docs.find((doc) => doc.key === key);
    return doc ? this.#marksOf(doc, page) : [];
  }

  /** The places that support the label at hand. @param {Place[] | null} places @param {(number: number) => void} remove */
  setSupports(places, remove) {
    if (!places?.length && !this.supports.places.length) return;
    this.supports = { places: places ?? [], remove };
    this.#drawSupports();
  }

  /** Shows a place that was marked. @param {Place} place */
  showPlace(place) {
    const doc = this.docs.find((doc) => doc.supplied && (doc.key === place.document || doc.id === place.document)) ?? null;
    if (place.page) this.#goToPlace(doc, place.page, placeBoxes(place));
  }

  /** Opens a part of a page enlarged. @param {number} document its id @param {number} page @param {Box} box */
  showPart(document, page, box) {
    const doc = this.docs.find((doc) => doc.supplied && doc.id === document);
    if (!doc || !this.element.isConnected) return;
    this.#setMode('pages');
    if (doc !== this.doc) this.#open(doc);
    this.pages.enlarge(page, box);
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
      two_pages: () => this.pages.twoPages(),
      enlarge: () => (this.pages.closeEnlarged() ? undefined : this.unit && this.#enlarge(this.unit)),
      search: () => {
        this.#setMode('pages');
        if (this.doc) this.search.show(this.doc);
      },
      previous_hit: () => this.#walkHits(-1),
      next_hit: () => this.#walkHits(1),
      mark: () => this.#mark(),
      previous_evidence: () => this.walk(-1),
      next_evidence: () => this.walk(1),
    });
    if (!actions[action]) return false;
    if (this.doc || action.endsWith('evidence')) actions[action]();
    return true;
  }

  /** A key that is the viewer's while a box is drawn or the search has the keyboard. @param {string} key @param {EventTarget} target @param {boolean} repeat */
  key(key, target, repeat) {
    const inField = target instanceof Node && this.search.element.contains(target);
    if (key === 'Escape' && inField) {
      this.search.close();
      return true;
    }
    const typing = target instanceof Element && target.matches('input, textarea, select');
    return !typing && this.pages.marker.key(key, repeat);
  }

  /** Closes what is open last; false when nothing is. */
  escape() {
    if (this.pages.closeEnlarged()) return true;
    if (this.search.open) {
      this.search.close();
      return true;
    }
    if (!selectedWords(this.pages)) return false;
    clearSelection(this.pages);
    this.selection.hide();
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
      const unit = item.evidence?.find((unit) => item.documents?.some((doc) => doc.id === unit.document && doc.supplied));
      const doc = item.documents?.find((doc) => doc.supplied && (!unit || doc.id === unit.document));
      if (doc) fetchAhead(pageUrl(doc, unit?.pages[0] ?? pageNumbers(doc)[0] ?? 1, width));
    }
    this.lookups?.ahead(items);
  }

  dispose() {
    this.pages.dispose();
    this.strip.dispose();
    this.lookups?.stop();
    this.search.close();
    this.tip.hide();
  }

  /** @param {Doc} doc */
  #open(doc) {
    this.doc = doc;
    this.selection.hide();
    this.pages.open(doc, this.units);
    this.strip.open(doc, this.pages.numbers, (page) => this.#marksOf(doc, page));
    this.tools.document(doc);
    this.#pageChanged();
    this.#zoomChanged();
    this.#drawLocated();
    this.#drawSupports();
    this.#drawHits();
    this.search.in(doc);
  }

  /** What the thumbnail of a page says. @param {Doc} doc @param {number} page @returns {Mark[]} */
  #marksOf(doc, page) {
    const hits = doc === this.doc ? this.search.hits.filter((hit) => hit.page === page).length : 0;
    const units = this.units.filter((unit) => unit.document === doc.id && unit.pages.includes(page)).map((unit) => ({
      class: unit.role ?? 'has',
      title: `${unit.key}${unit.role ? ` ${TEXT.roles[unit.role] ?? unit.role}` : ''}`,
    }));
    const phrases = this.phrases.shown ? this.phrases.hits.filter((hit) => hit.document === doc.id && hit.page === page) : [];
    return [
      ...(hits ? [{ class: 'hit', title: WORDS.hits(hits), words: String(hits) }] : []), ...units,
      ...[...new Set(phrases.map((hit) => hit.phrase.of))].map((of) => ({
        class: of, title: [...new Set(phrases.filter((hit) => hit.phrase.of === of).map((hit) => `“${hit.phrase.text}”`))].slice(0, 4).join(', '),
      })),
    ];
  }

  /** @param {'pages' | 'passages'} mode */
  #setMode(mode) {
    this.mode = this.doc ? mode : 'passages';
    const pages = this.mode === 'pages';
    this.pages.element.hidden = !pages;
    this.passages.element.hidden = pages || !this.empty.hidden;
    this.strip.element.hidden = !this.doc || this.stripless;
    this.tools.mode(this.mode, !!this.doc, this.units.length > 0);
    this.element.classList.toggle('no-strip', !this.doc || this.stripless);
  }

  /** The text of the unit beneath its page. */
  #drawText() {
    const { unit } = this;
    const placed = !!unit?.box || this.located.some((place) => place.unit === unit?.key);
    const onPages = this.mode === 'pages' && !!unit;
    this.text.show(onPages ? unit : null, this.docs.find((doc) => doc.id === unit?.document), placed);
    this.line.textState(this.text.open, onPages);
  }

  /** @param {LocatedPassages} found */
  #locate(found) {
    this.located = found.passages.flatMap(({ evidence, document, page, boxes }) => (
      document && page && boxes?.length ? [{ unit: evidence, document, page, boxes }] : []));
    this.#drawLocated();
    const { unit } = this;
    // Unless the annotator has gone on already, the passage is shown as if its place had been known.
    if (unit && !unit.box && this.pages.at === unit.key && this.mode === 'pages' && this.located.some((place) => place.unit === unit.key)) this.pages.showUnit(unit);
  }

  #drawLocated() {
    const located = this.located.filter((place) => place.document === this.doc?.id);
    if (located.length || this.pages.drawn.located.length) this.pages.set({ located });
  }

  #drawSupports() {
    const { places, remove } = this.supports;
    const supports = places.flatMap((place, number) => (place.page && (place.document === this.doc?.key || place.document === this.doc?.id)
      ? [{ page: place.page, boxes: placeBoxes(place), title: placeWords(place), remove: () => remove(number) }] : []));
    if (supports.length || this.pages.drawn.supports.length) this.pages.set({ supports });
  }

  /** Sets off the phrases that a claim has: its candidate places. @param {string} claim empty: none */
  setClaim(claim) {
    const words = claim.toLowerCase();
    if (words === this.claim) return;
    this.claim = words;
    this.#drawHits();
  }

  /** Draws what was found on the pages, and on the thumbnails. */
  #drawHits() {
    const at = this.search.hits[this.search.at];
    const searched = this.search.hits.map((hit) => ({ page: hit.page, boxes: hit.boxes, of: /** @type {const} */ ('search'), title: '', on: hit === at }));
    const phrases = this.phrases.shown ? this.phrases.hits.filter((hit) => hit.document === this.doc?.id).map((hit) => ({
      page: hit.page, boxes: hit.boxes, of: hit.phrase.of, title: hit.phrase.text,
      on: !searched.length && (hit === this.phrases.at || this.claim.includes(hit.phrase.text.toLowerCase())),
    })) : [];
    const hits = [...phrases, ...searched];
    if (!hits.length && !this.pages.drawn.hits.length) return;
    this.pages.set({ hits });
    this.strip.remark();
    this.on.marked?.();
  }

  /** @param {number} by */
  #walkHits(by) {
    this.#setMode('pages');
    if (this.search.hits.length) this.search.walk(by);
    else this.phrases.walk(by);
  }

  /** @param {Doc | null} doc @param {number} page @param {Box[]} boxes */
  #goToPlace(doc, page, boxes) {
    if (!doc) return;
    this.#setMode('pages');
    if (doc !== this.doc) this.#open(doc);
    this.pages.bring(page, boxes.length ? around(boxes) : null);
    this.on.page(doc.key, page);
  }

  /** @param {Unit} unit */
  #enlarge(unit) {
    const place = this.located.find((place) => place.unit === unit.key);
    if (unit.box && unit.pages.length) this.pages.enlarge(unit.pages[0], unit.box);
    else if (place) this.pages.enlarge(place.page, around(place.boxes));
  }

  /** Marks the selected text, or begins to draw a box. */
  #mark() {
    if (!this.on.support || !this.doc) return;
    const selected = selectedWords(this.pages);
    this.#setMode('pages');
    if (!selected) {
      this.pages.marker.set(!this.pages.marker.on);
      return;
    }
    this.on.support(textPlace(this.doc, selected.page, selected.words));
    clearSelection(this.pages);
    this.selection.hide();
  }

  /** @param {number} page @param {Box} box @param {boolean} asText */
  async #marked(page, box, asText) {
    const { doc } = this;
    if (!doc) return;
    const words = asText ? await wordsOf(doc, page) : null;
    this.on.support?.((words && enclosedPlace(doc, page, box, words.words)) ?? boxPlace(doc, page, box));
  }

  #pageChanged() {
    const { numbers, page } = this.pages;
    this.tools.page(page, this.doc?.n_pages ?? numbers[numbers.length - 1] ?? 1, numbers.length);
    this.strip.select(this.pages.page);
  }

  #zoomChanged() {
    this.tools.zoom(this.pages.zoom, this.pages.fit, this.pages.layout.columns);
  }
}
