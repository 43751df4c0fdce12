/** A protocol on an item, before there is a study: the annotator's page as it will be, step by step, of which nothing is kept. */

import '../criteria/all.js';
import { button, h } from '../shared/dom.js';
import { Desk } from './desk.js';
import { Keys } from '../shared/keys.js';
import { mounting } from '../frame/mount.js';
import { Page } from '../frame/page.js';
import { Preferences } from '../shared/preferences.js';
import { Sheet } from './sheet.js';
import { Shell } from '../frame/shell.js';
import { TEXT } from '../shared/text.js';

/**
 * @typedef {object} Options
 * @property {string} place the same for calls that show the same
 * @property {Protocol} protocol
 * @property {Record<string, [string, string]>} keys
 * @property {Presentation[]} steps what each step shows
 * @property {string} item what the item is called
 * @property {boolean} labelling right labels are given, and handed over at the end
 */

/** Settings that last as long as the page. */
class Unkept extends Preferences {
  constructor() {
    super('', {});
    this.unsent = {};
  }

  /** @param {string} name @param {unknown} value */
  set(name, value) {
    this.known[name] = value;
  }

  async send() {
    // There is nothing to send.
  }
}

/** @extends {Page<Desk>} */
export class Preview extends Page {
  /** @param {Options} options @param {() => void} close @param {(steps: {step: number, labels: Given[]}[]) => void} labelled */
  constructor(options, close, labelled) {
    super(new Shell(new URL('../frame/frame.css', import.meta.url).href, 'preview'), new Unkept());
    this.options = options;
    this.labelled = labelled;
    this.step = 0;
    /** The answers to each step that was opened. @type {Map<number, Sheet>} */
    this.sheets = new Map();
    const { protocol, item, labelling } = options;
    this.keys = new Keys(options.keys, protocol, this.preferences, 'keys');
    this.chips = protocol.steps.map(({ title }, number) => h('button', {
      type: 'button', class: 'chip', 'data-testid': 'preview-step', onclick: () => this.#show(number),
    }, h('span', { dir: 'auto' }, protocol.steps.length > 1 ? `${number + 1} ${title}` : title)));
    const open = (/** @type {string} */ action, /** @type {string} */ name) => button(name, () => this.act(action), { key: this.keys?.of(action), class: 'plain', testid: `${action}-button` });
    this.closing = button(labelling ? TEXT.labellingClose : TEXT.previewClose, close, { class: labelling ? 'btn small' : 'btn small pri', testid: 'preview-close' });
    this.shell.top.append(h('header', { class: 'top preview-line' },
      h('b', { class: 'preview-badge', role: 'status' }, labelling ? TEXT.labelling : TEXT.preview), h('h1', { class: 'soft study', dir: 'auto', title: item }, `${protocol.title}: ${item}`),
      h('span', { class: 'preview-steps', role: 'group', 'aria-label': TEXT.previewSteps }, ...this.chips), h('span', { class: 'grow' }),
      h('span', { class: 'header-buttons' }, open('guidelines', TEXT.guidelines), open('keys', TEXT.keys)), this.closing));
  }

  get live() {
    return this.desk !== null;
  }

  get signedOut() {
    return false;
  }

  listen() {
    // Nothing comes from outside.
  }

  async load() {
    this.#build();
  }

  /** @param {string} action */
  act(action) {
    const { judgement } = this;
    if (!judgement) return;
    if (action === 'guidelines') this.desk?.toggleGuidelines();
    else if (action === 'keys') this.desk?.showKeys();
    else if (action === 'back') {
      if (!judgement.undoRest()) this.#show(Math.max(0, this.step - 1));
    }
    else if (action === 'submit') this.#submit();
    else if (action === 'skip') judgement.say(TEXT.previewNoSkip);
    else if (!judgement.act(action)) this.viewer?.act(action);
  }

  /** Builds the desk; again after keys were changed. */
  #build() {
    this.desk?.dispose();
    const keys = /** @type {Keys} */ (this.keys);
    this.desk = new Desk(this.shell, keys, this.options.protocol, {
      act: (action) => this.act(action), change: () => undefined, keys: () => this.#build(), unread: () => false, read: () => undefined, complete: () => undefined, brought: true,
    }, h('span', {}));
    this.#show(this.step);
  }

  /** Shows a step, with what was answered in it. @param {number} number */
  #show(number) {
    const { protocol, steps } = this.options;
    this.step = number;
    const before = [...this.sheets].filter(([step]) => step < number).flatMap(([, sheet]) => sheet.labels());
    const sheet = new Sheet({ ...steps[number], committed: before }, protocol);
    const known = this.sheets.get(number);
    if (known) sheet.restore(known.content());
    this.sheets.set(number, sheet);
    this.chips.forEach((chip, at) => (at === number ? chip.setAttribute('aria-current', 'step') : chip.removeAttribute('aria-current')));
    this.desk?.put(sheet, false);
    this.shell.announce(TEXT.nextStep(protocol.steps[number].title));
  }

  #submit() {
    const { judgement } = this;
    if (!judgement || judgement.goOn() || judgement.pointAtMissing()) return;
    if (this.step + 1 < this.options.steps.length) this.#show(this.step + 1);
    else if (this.options.labelling) this.#handOver();
    else judgement.say(TEXT.previewEnd);
  }

  /** Hands the labels of all steps over; a step that was passed over is shown instead. */
  #handOver() {
    const { steps } = this.options;
    const open = steps.findIndex((_, number) => (this.sheets.get(number)?.missing().length ?? 1) > 0);
    if (open === -1) {
      // What is said of the whole item explains each label that has no explanation of its own.
      this.labelled([...this.sheets].map(([step, sheet]) => ({
        step, labels: sheet.labels().map((label) => ({ ...label, comment: label.comment ?? sheet.comment })),
      })));
    } else {
      this.#show(open);
      this.judgement?.pointAtMissing();
    }
  }
}

/** What the host page hands over at the latest call. @type {{setTriggerValue: (name: string, value: unknown) => void} | null} */
let host = null;

const put = mounting(
  (/** @type {Options} */ { place }) => place,
  (options) => new Preview(options, () => host?.setTriggerValue('closed', true), (steps) => host?.setTriggerValue('labelled', steps)),
);

/** @param {{data: Options, parentElement: Element | ShadowRoot, setTriggerValue: (name: string, value: unknown) => void}} component */
export function mount(component) {
  host = component;
  return put(component);
}
