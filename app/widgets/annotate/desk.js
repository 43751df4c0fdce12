/** What is on the screen while an item is: viewer, judgement, guidelines and the sheet of keys, working together. */

import { attribute } from '../shared/dom.js';
import { isFacing, Judgement } from './judgement/judgement.js';
import { Desk as Common } from '../frame/desk.js';
import { PaneDivider, Panes } from './judgement/divider.js';
import { MOST, placeWords } from '../viewer/places.js';
import { cellTitle, targetKeys } from '../shared/targets.js';
import { hasEvidence, Viewer } from '../viewer/viewer.js';
import { WORDS } from '../shared/viewer_text.js';

/** @typedef {import('./sheet.js').Sheet} Sheet */

/** @extends {Common<Judgement>} */
export class Desk extends Common {
  /**
   * @param {import('../frame/shell.js').Shell} shell
   * @param {import('../shared/keys.js').Keys} keys
   * @param {Protocol} protocol
   * @param {object} on
   * @param {(action: string) => void} on.act
   * @param {() => void} on.change something was given
   * @param {string} [on.study] address of the study, where there is one
   * @param {boolean} [on.brought] what is found on an item's pages comes with it
   * @param {() => void} on.keys a key was changed: the desk has to be built again
   * @param {() => boolean} on.unread the annotator has yet to read the guidelines
   * @param {() => void} on.read they have read them
   * @param {() => void} on.complete the last label that was missing was given
   * @param {HTMLElement} settings other settings, shown beneath the keys
   * @param {Protocol} [guided] whose guidelines are shown, if another protocol's
   */
  constructor(shell, keys, protocol, on, settings, guided = protocol) {
    super(shell, keys, protocol, on.keys, { settings, guided });
    this.on = on;
    /** @type {Sheet | null} what the viewer shows; null while another one is being put on the screen */
    this.sheet = null;
    this.viewer = new Viewer(keys, {
      unit: (unit) => this.judgement.goToUnit(unit),
      page: (document, page) => this.judgement.goToPage(document, page),
      support: (place) => this.#support(place),
      marked: () => this.judgement.remarkPages(),
      picture: (document, page) => this.judgement.pagePicture(document, page),
      done: () => this.judgement.focus(),
      study: on.study,
      brought: on.brought,
    }, this.texts);
    const panes = new Panes(keys.preferences);
    this.divider = new PaneDivider(shell.stage, panes);
    this.judgement = new Judgement(keys, panes, {
      change: () => {
        this.#drawSupports();
        on.change();
      },
      current: (cell) => {
        this.look(this.sheet?.item, cell.target);
        this.#setClaim(cell);
        this.#drawSupports();
      },
      action: on.act,
      complete: on.complete,
      say: (words) => shell.announce(words),
    }, this.texts);
    this.texts.roots = [this.judgement.facing.text, this.judgement.text, this.viewer.element];
    this.texts.onchange = () => {
      this.judgement.placeCards();
      this.judgement.markClaim();
      this.judgement.refresh();
    };
    this.judgement.element.addEventListener('enlarge', (event) => {
      const { document, page, box } = /** @type {CustomEvent} */ (event).detail;
      this.viewer.showPart(document, page, box);
    });
    this.judgement.element.addEventListener('support', (event) => this.#supportOfRow(/** @type {CustomEvent} */ (event)));
    // The page may be scrolled as a whole, and what a hidden tab shows nobody sees.
    this.listening = new AbortController();
    const look = () => this.sheet && this.judgement.areas.forEach((area) => area.look());
    const { signal } = this.listening;
    shell.root.addEventListener('scroll', look, { signal, passive: true });
    document.addEventListener('visibilitychange', look, { signal });
  }

  /** Puts a sheet and its item on the screen. @param {Sheet} sheet @param {boolean} correcting it was submitted before */
  put(sheet, correcting) {
    const { judgement, viewer, guidelines, shell } = this;
    const { item } = sheet;
    const evidence = hasEvidence(item);
    this.sheet = null;
    judgement.setBusy(false);
    const left = evidence ? viewer.element : isFacing(item) && judgement.beside;
    shell.fill(...(left ? [left, this.divider.element] : []), judgement.element, guidelines.element);
    shell.stage.classList.toggle('alone', !left);
    shell.stage.classList.toggle('divided', !!left);
    shell.stage.classList.toggle('paired', left === judgement.beside && !!item.answers?.length);
    this.#askToRead();
    judgement.show(sheet, this.protocol, correcting);
    viewer.asked.replaceChildren(...judgement.pageGroups.map((group) => group.bar));
    viewer.stripless = judgement.pageGroups.length > 0;
    shell.stage.classList.toggle('paged', viewer.stripless);
    this.sheet = sheet;
    const target = judgement.cell?.target ?? '';
    if (evidence) viewer.show(item, targetKeys(target).evidence ?? null);
    judgement.setPageMarks((document, page) => viewer.marks(document, page));
    if (targetKeys(target).page) this.look(item, target);
    if (judgement.cell) this.#setClaim(judgement.cell);
    this.#drawSupports();
    // Once it is painted: the keys work without it, and the browser would lay the page out for it now.
    requestAnimationFrame(() => setTimeout(() => {
      if (this.sheet !== sheet || judgement.dock.open || guidelines.unread) return;
      judgement.reveal();
      judgement.focus();
    }));
  }

  /** Lays the guidelines before an item that cannot be judged until they are read. */
  #askToRead() {
    const { guidelines, viewer, judgement, on } = this;
    const unread = on.unread();
    for (const side of [viewer.element, judgement.beside, judgement.element]) attribute(side, 'inert', unread);
    if (!unread) return;
    guidelines.ask(() => {
      on.read();
      this.#askToRead();
      judgement.reveal();
      judgement.focus();
    });
  }

  showKeys() {
    this.keySheet.show(this.sheet?.criteria ?? []);
  }

  dispose() {
    super.dispose();
    this.listening.abort();
  }

  /** The claim that is judged now, for its places on the pages. @param {Cell} cell */
  #setClaim(cell) {
    const { claim } = targetKeys(cell.target);
    this.viewer.setClaim(this.sheet?.item.claims?.find(({ key }) => key === claim)?.text ?? '');
  }

  /** The places that support the label at hand, on the pages. */
  #drawSupports() {
    const { sheet, judgement, viewer } = this;
    const { cell } = judgement;
    if (sheet) viewer.setSupports(cell ? sheet.of(cell).rationale : null, (number) => cell && this.#unsupport(cell, number));
  }

  /** Adds a place to the support of the label at hand. @param {Place} place */
  #support(place) {
    const { sheet, judgement } = this;
    const { cell } = judgement;
    if (!sheet || !cell) {
      judgement.say(WORDS.markFirst);
      return;
    }
    const places = sheet.of(cell).rationale ?? [];
    if (places.length >= MOST) {
      judgement.say(WORDS.markMost(MOST));
      return;
    }
    sheet.set(cell, { rationale: [...places, place] });
    this.#supportChanged(WORDS.marked(placeWords(place), cellTitle(cell, sheet.item)));
  }

  /** @param {Cell} cell @param {number} number */
  #unsupport(cell, number) {
    const places = this.sheet?.of(cell).rationale ?? [];
    if (!places[number]) return;
    const left = places.filter((_, at) => at !== number);
    this.sheet?.set(cell, { rationale: left.length ? left : null });
    this.#supportChanged(WORDS.unmarked(placeWords(places[number])));
  }

  /** @param {string} words */
  #supportChanged(words) {
    this.judgement.refresh();
    this.judgement.focus();
    this.#drawSupports();
    this.shell.announce(words);
    this.on.change();
  }

  /** A place listed in a row is shown or taken away. @param {CustomEvent<import('../viewer/places.js').SupportAct>} event */
  #supportOfRow(event) {
    const { judgement, sheet } = this;
    const row = event.target instanceof Element ? event.target.closest('[data-criterion]') : null;
    const cell = sheet?.cells.find((cell) => cell.criterion.name === row?.getAttribute('data-criterion') && cell.target === row?.getAttribute('data-target'));
    if (!sheet || !cell) return;
    if (judgement.cell !== cell) judgement.go(cell, false);
    const { number, remove } = event.detail;
    const place = sheet.of(cell).rationale?.[number];
    if (remove) this.#unsupport(cell, number);
    else if (place) this.viewer.showPlace(place);
  }
}
