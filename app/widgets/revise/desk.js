/** What is on the screen while an item is: evidence, fields, why it is here, guidelines and the sheet of keys. */

import { Desk as Common } from '../frame/desk.js';
import { Dock } from '../shared/dock.js';
import { h } from '../shared/dom.js';
import { hasEvidence, Viewer } from '../viewer/viewer.js';
import { selectedWords } from '../viewer/pages/selection.js';
import { Fields } from './fields.js';
import { WORDS } from './text.js';
import { Why } from './why.js';

/** @typedef {import('./edits.js').Edits} Edits */

/** The fields with what stands beside them, as the keyboard knows a place where something is given. */
export class Panel {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {object} on
   * @param {() => void} on.change
   * @param {(key: string) => void} on.unit
   * @param {(action: string) => void} on.action
   * @param {import('./api.js').Api} on.api
   */
  constructor(keys, on) {
    this.fields = new Fields(keys, on);
    this.why = new Why(keys, on);
    this.dock = new Dock(() => this.focus());
    this.quiet = false;
    this.side = h('aside', { class: 'judgement revision-side', 'aria-label': WORDS.side, 'data-testid': 'revision' },
      ...this.why.parts, this.dock.element, this.why.footer);
    for (const part of [this.fields.element, this.side]) {
      part.addEventListener('keydown', (event) => {
        if (!(event instanceof KeyboardEvent) || event.key !== 'Enter' || event.isComposing) return;
        const reason = event.target === this.why.field && !event.shiftKey; // Enter is OK in a reason, here as everywhere
        if (!reason && !event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        on.action('save');
      });
    }
  }

  /** @param {Edits} edits */
  show(edits) {
    this.side.setAttribute('data-item', String(edits.item.item_id));
    if (this.dock.open) this.dock.close();
    this.fields.show(edits);
    this.why.show(edits);
    this.fields.element.toggleAttribute('inert', edits.item.why_not !== null);
  }

  /** No label is given here. @param {string} _key */
  key(_key) {
    return false;
  }

  /** @param {'above' | 'below' | 'left' | 'right'} where */
  move(where) {
    this.fields.move(where);
  }

  /** Does what an action says; false when it is none of these. @param {string} action */
  act(action) {
    const moves = /** @type {Record<string, 'above' | 'below' | 'left' | 'right'>} */ (
      { previous_criterion: 'above', next_criterion: 'below', previous_label: 'left', next_label: 'right' });
    if (action in moves) this.move(moves[action]);
    else if (action === 'reason') this.why.field.focus();
    else return this.fields.act(action);
    return true;
  }

  focus() {
    this.fields.focus();
  }

  /** @param {string} words */
  say(words) {
    this.why.say(words);
  }

  /** Locks everything while something is on its way. @param {boolean} busy */
  setBusy(busy) {
    for (const part of [this.fields.element, this.side]) {
      part.toggleAttribute('inert', busy);
      part.classList.toggle('busy', busy);
    }
  }

  dispose() {
    this.fields.dispose();
  }
}

/** @extends {Common<Panel>} */
export class Desk extends Common {
  /**
   * @param {import('../frame/shell.js').Shell} shell
   * @param {import('../shared/keys.js').Keys} keys
   * @param {Protocol} protocol
   * @param {object} on
   * @param {(action: string) => void} on.act
   * @param {() => void} on.change something is written
   * @param {(place: Place) => void} on.place a passage or box was marked on a page
   * @param {import('./api.js').Api} on.api
   * @param {() => void} on.keys a key was changed: the desk has to be built again
   */
  constructor(shell, keys, protocol, on) {
    super(shell, keys, protocol, on.keys, { heading: WORDS.labelKeys });
    this.viewer = new Viewer(keys, { unit: () => undefined, page: () => undefined, support: on.place, words: WORDS.marking }, this.texts);
    this.viewer.stripless = true;
    this.judgement = new Panel(keys, { change: on.change, unit: (key) => this.viewer.showUnit(key), action: on.act, api: on.api });
    this.texts.roots = [this.viewer.element];
  }

  /** Puts an item on the screen. @param {Edits} edits */
  put(edits) {
    const { judgement, viewer, guidelines, shell } = this;
    const item = { ...presentation(edits.item), evidence: edits.units() };
    const evidence = hasEvidence(item) && (item.evidence.length > 0 || edits.item.documents.length > 0);
    judgement.setBusy(false);
    shell.fill(...(evidence ? [viewer.element] : []), judgement.fields.element, judgement.side, guidelines.element);
    shell.stage.classList.toggle('alone', !evidence);
    shell.stage.classList.add('revising');
    if (evidence) viewer.show(item, null);
    viewer.pages.setMarks(edits.imageMarks());
    judgement.show(edits);
    judgement.focus();
  }

  /** Evidence and images stand on the pages as they are written. @param {Edits} edits */
  redraw(edits) {
    this.viewer.setUnits(edits.units());
    this.viewer.pages.setMarks(edits.imageMarks());
  }

  /** The words that are selected on a page or in a passage. */
  selected() {
    const found = selectedWords(this.viewer.pages);
    if (found) return found.words.map((word) => word[4]).join(' ');
    const root = /** @type {ShadowRoot & {getSelection?: () => Selection | null}} */ (this.shell.root.getRootNode());
    return (root.getSelection?.() ?? document.getSelection())?.toString().trim() ?? '';
  }

  /** The page in view. @returns {{document: string, page: number} | null} */
  get page() {
    const { doc, pages } = this.viewer;
    return doc ? { document: doc.key, page: pages.page } : null;
  }

  showKeys() {
    this.keySheet.show(this.protocol.criteria);
  }
}

/** What the viewer needs to know of an item. @param {ItemToRevise} item @returns {Presentation} */
export function presentation(item) {
  const { evidence, documents } = item;
  return {
    assignment: 0, sitting: 0, step: 0, shown: ['documents', 'evidence'], evidence, documents, units: {}, committed: [], previous: [], draft: null,
  };
}
