/** The sheet of keys: every key of the page and of its labels, each changed by choosing it and pressing another. */

import { kindOf } from '../criteria/kinds.js';
import { button, h, keyName } from '../shared/dom.js';
import { FIXED } from '../shared/keys.js';
import { TEXT } from '../shared/text.js';

/** @typedef {import('../shared/keys.js').LabelKey} LabelKey */
/** @typedef {{name: string, title: string, change: (key: string) => string | null}} Entry a key that is being changed */

const VIEWER_ACTIONS = new Set([
  'previous_page', 'next_page', 'zoom_in', 'zoom_out', 'fit_width', 'fit_page', 'rotate', 'two_pages', 'enlarge',
  'search', 'previous_hit', 'next_hit', 'mark', 'previous_evidence', 'next_evidence',
]);
const SILENT = new Set(['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock', 'Dead', 'Process', 'Unidentified']); // pressed on the way to another

export class KeySheet {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {(changed: boolean) => void} onclose whether any key was changed
   * @param {string} [heading] of the labels
   * @param {HTMLElement | null} [more] other settings, beneath
   */
  constructor(keys, onclose, heading = TEXT.keysLabels, more = null) {
    this.heading = heading;
    this.more = more;
    this.keys = keys;
    this.onclose = onclose;
    this.element = h('dialog', { class: 'sheet', 'aria-label': TEXT.keysTitle, 'data-testid': 'key-sheet' });
    this.element.addEventListener('close', () => this.onclose(this.changed));
    this.element.addEventListener('click', (event) => {
      if (event.target === this.element) this.element.close();
    });
    /** @type {Entry | null} */
    this.waiting = null;
    this.changed = false;
    /** @type {Criterion[]} */
    this.criteria = [];
    this.words = h('p', { class: 'key-words', role: 'status', 'data-testid': 'key-words' });
    keys.preferences.onrefused = (words) => {
      keys.settle();
      if (!this.open) return;
      this.#draw();
      this.#say(words, true);
    };
  }

  get open() {
    return this.element.open;
  }

  /** @param {Criterion[]} criteria whose labels are listed */
  show(criteria) {
    this.criteria = criteria;
    this.changed = false;
    this.waiting = null;
    this.#draw();
    this.#say('');
    this.element.showModal();
  }

  /** A key while the sheet is open. @param {string} key @returns {boolean} */
  key(key) {
    const { waiting } = this;
    if (waiting) {
      if (SILENT.has(key)) return true;
      this.waiting = null;
      const problem = key === 'Escape' || key === 'Tab' ? '' : waiting.change(key);
      this.changed ||= problem === null;
      this.#draw();
      this.#say(problem ?? TEXT.keysNow(waiting.title, keyName(key)), !!problem);
      return true;
    }
    if (key === 'Escape' || (key === this.keys.of('keys') && !this.#typing())) {
      this.element.close();
      return true;
    }
    return false;
  }

  #typing() {
    return this.more?.matches(':focus-within') ?? false;
  }

  /** @param {string} words @param {boolean} [problem] */
  #say(words, problem = false) {
    this.words.textContent = words;
    this.words.classList.toggle('warn-text', problem);
  }

  #draw() {
    const { keys } = this;
    const names = Object.keys(keys.actions);
    const row = (/** @type {string} */ name) => this.#row(
      { name, title: keys.title(name), change: (key) => keys.change(name, key) }, keys.of(name), FIXED.has(name));
    const choice = (/** @type {LabelKey} */ label) => this.#row(
      { name: `${label.criterion}/${label.value}`, title: label.title, change: (key) => keys.changeLabel(label, key) }, label.key);
    const fixed = (/** @type {string} */ key, /** @type {string} */ title) => [h('dt', {}, h('kbd', { class: 'k' }, key)), h('dd', { dir: 'auto' }, title)];
    const held = this.element.querySelector(':focus')?.getAttribute('data-action');
    this.element.replaceChildren(
      h('header', {}, h('h1', {}, TEXT.keysTitle), button(TEXT.close, () => this.element.close(), { class: 'btn small', key: 'Escape' })),
      h('p', { class: 'soft' }, TEXT.keysChange),
      this.words,
      h('div', { class: 'columns' },
        h('section', {}, h('h2', {}, TEXT.keysPage), h('dl', {}, ...names.filter((name) => !VIEWER_ACTIONS.has(name)).flatMap(row),
          ...fixed(TEXT.space, TEXT.spaceAction))),
        h('section', {}, h('h2', {}, TEXT.keysViewer), h('dl', {}, ...names.filter((name) => VIEWER_ACTIONS.has(name)).flatMap(row),
          ...fixed(TEXT.pageKeys, TEXT.pageKeysAction))),
        h('section', {}, h('h2', {}, this.heading), ...[...grouped(keys.labels(this.criteria))].flatMap(([of, labels]) => [
          h('h3', { dir: 'auto' }, of), h('dl', {}, ...labels.flatMap(choice)),
        ]), ...this.criteria.filter((criterion) => kindOf(criterion).keys.length).flatMap((criterion) => [
          h('h3', { dir: 'auto' }, criterion.title), h('dl', {}, ...kindOf(criterion).keys.flatMap(([key, title]) => fixed(key, title))),
        ]))),
      h('p', { class: 'soft' }, `${TEXT.keysNote} `, button(TEXT.keysReset, () => {
        keys.reset();
        this.changed = true;
        this.waiting = null;
        this.#draw();
        this.#say(TEXT.keysResetDone);
      }, { class: 'btn small', testid: 'keys-reset' })),
      ...(this.more ? [this.more] : []),
    );
    if (held) /** @type {HTMLElement | null} */ (this.element.querySelector(`[data-action="${CSS.escape(held)}"]`))?.focus();
  }

  /** One key with what it does; choosing it waits for another. @param {Entry} entry @param {string} key @param {boolean} [fixed] @returns {HTMLElement[]} */
  #row(entry, key, fixed = false) {
    const waiting = this.waiting?.name === entry.name;
    const name = h('dd', { dir: 'auto' }, entry.title);
    if (fixed) return [h('dt', {}, h('kbd', { class: 'k' }, keyName(key))), name];
    return [h('dt', {}, h('button', {
      type: 'button', class: `k ${waiting ? 'waiting' : ''}`, 'data-action': entry.name, 'aria-label': TEXT.keysOne(entry.title, keyName(key)),
      onclick: () => {
        this.waiting = entry;
        this.#draw();
        this.#say(TEXT.keysWaiting(entry.title));
      },
    }, waiting ? TEXT.keysPress : keyName(key))), name];
  }
}

/** Labels by their criterion. @param {LabelKey[]} labels */
function grouped(labels) {
  /** @type {Map<string, LabelKey[]>} */
  const groups = new Map();
  for (const label of labels) groups.set(label.of, [...(groups.get(label.of) ?? []), label]);
  return groups;
}
