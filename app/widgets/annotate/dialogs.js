/** What opens over the page: the guidelines beside the item, and the sheet of keys. */

import { button, h, keyName } from './dom.js';
import { markdown } from './markdown.js';
import { TEXT } from './text.js';

/** @typedef {import('./types.js').Protocol} Protocol */

/** The guidelines: they lie over the viewer, and the keys go on giving labels. */
export class Guidelines {
  /** @param {Protocol} protocol @param {() => void} close */
  constructor(protocol, close) {
    this.element = h('section', {
      class: 'guidelines', 'aria-label': TEXT.guidelines, tabindex: '-1', hidden: true, 'data-testid': 'guidelines',
    },
    h('header', {}, h('h1', { dir: 'auto' }, protocol.title), button(TEXT.close, close, { class: 'btn small', key: 'Escape' })),
    h('div', { class: 'guidelines-text', tabindex: '0' },
      protocol.summary ? h('p', { class: 'soft', dir: 'auto' }, protocol.summary) : null,
      markdown(protocol.guidelines), definitions(protocol)));
  }

  get open() {
    return !this.element.hidden;
  }

  toggle() {
    this.element.hidden = this.open;
  }
}

/** Every label and what it means. @param {Protocol} protocol */
function definitions(protocol) {
  const defined = protocol.criteria.filter((criterion) => criterion.labels?.some((label) => label.definition));
  return h('div', {}, defined.length ? h('h2', {}, TEXT.labelsOf) : null, ...defined.map((criterion) => h('section', {},
    h('h3', { dir: 'auto' }, criterion.title),
    h('dl', { class: 'definitions' }, ...(criterion.labels ?? []).flatMap((label) => [
      h('dt', { dir: 'auto' }, label.title), h('dd', { dir: 'auto' }, label.definition),
    ])))));
}

const VIEWER_ACTIONS = new Set([
  'previous_page', 'next_page', 'zoom_in', 'zoom_out', 'fit_width', 'fit_page', 'rotate', 'previous_evidence', 'next_evidence',
]);
const FIXED = new Set(['close', 'previous_criterion', 'next_criterion', 'previous_label', 'next_label']);

/** All keys; choosing one changes it. */
export class KeySheet {
  /**
   * @param {import('./keys.js').Keys} keys
   * @param {(changed: boolean) => void} onclose whether any key was changed
   * @param {string} [heading] of the labels
   */
  constructor(keys, onclose, heading = TEXT.keysLabels) {
    this.heading = heading;
    this.keys = keys;
    this.onclose = onclose;
    this.element = h('dialog', { class: 'sheet', 'aria-label': TEXT.keysTitle, 'data-testid': 'key-sheet' });
    this.element.addEventListener('close', () => this.onclose(this.changed));
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close();
    });
    /** @type {string | null} the action whose new key is awaited */
    this.waiting = null;
    this.changed = false;
    /** @type {{key: string, title: string, of: string}[]} */
    this.labels = [];
    this.words = h('p', { class: 'warn-text', role: 'alert' });
  }

  get open() {
    return this.element.open;
  }

  /** @param {{key: string, title: string, of: string}[]} labels the label keys of the step */
  show(labels) {
    this.labels = labels;
    this.changed = false;
    this.waiting = null;
    this.#draw();
    this.element.showModal();
  }

  /** A key while the sheet is open. @param {string} key @returns {boolean} */
  key(key) {
    if (this.waiting) {
      const action = this.waiting;
      this.waiting = null;
      const holder = key === 'Escape' || key === 'Tab' ? null : this.keys.change(action, key, this.labels);
      this.changed ||= holder === null;
      this.#draw();
      this.words.textContent = holder === null ? '' : TEXT.keysTaken(keyName(key), holder);
      return true;
    }
    if (key === 'Escape' || key === this.keys.of('keys')) {
      this.element.close();
      return true;
    }
    return false;
  }

  #draw() {
    const names = Object.keys(this.keys.actions);
    const row = (/** @type {string} */ name) => [
      h('dt', {}, h('button', {
        type: 'button', class: `k ${this.waiting === name ? 'waiting' : ''}`, disabled: FIXED.has(name), 'data-action': name,
        onclick: () => {
          this.waiting = name;
          this.#draw();
        },
      }, this.waiting === name ? TEXT.keysPress : keyName(this.keys.of(name)))),
      h('dd', {}, this.keys.title(name)),
    ];
    const fixed = (/** @type {string} */ key, /** @type {string} */ title) => [h('dt', {}, h('kbd', { class: 'k' }, key)), h('dd', { dir: 'auto' }, title)];
    const groups = grouped(this.labels);
    this.element.replaceChildren(
      h('header', {}, h('h1', {}, TEXT.keysTitle), button(TEXT.close, () => this.element.close(), { class: 'btn small', key: 'Escape' })),
      h('div', { class: 'columns' },
        h('section', {}, h('h2', {}, TEXT.keysPage), h('dl', {}, ...names.filter((name) => !VIEWER_ACTIONS.has(name)).flatMap(row),
          ...fixed(TEXT.space, TEXT.spaceAction))),
        h('section', {}, h('h2', {}, TEXT.keysViewer), h('dl', {}, ...names.filter((name) => VIEWER_ACTIONS.has(name)).flatMap(row),
          ...fixed(TEXT.pageKeys, TEXT.pageKeysAction))),
        h('section', {}, h('h2', {}, this.heading), ...[...groups].flatMap(([of, labels]) => [
          h('h3', { dir: 'auto' }, of), h('dl', {}, ...labels.flatMap((label) => fixed(label.key, label.title))),
        ]))),
      this.words,
      h('p', { class: 'soft' }, `${TEXT.keysNote} ${TEXT.keysChange} `, button(TEXT.keysReset, () => {
        this.keys.reset();
        this.changed = true;
        this.#draw();
      }, { class: 'btn small' })),
    );
  }
}

/** Labels by their criterion. @param {{key: string, title: string, of: string}[]} labels */
function grouped(labels) {
  /** @type {Map<string, {key: string, title: string, of: string}[]>} */
  const groups = new Map();
  for (const label of labels) groups.set(label.of, [...(groups.get(label.of) ?? []), label]);
  return groups;
}
