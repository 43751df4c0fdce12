/**
 * A page that carries a whole full-screen app: with a body, shadow roots, and a server whose answers a test gives. What is
 * drawn has no size, and no browser's own behaviour is there: that stays with tests/e2e.
 */

import './page.js';
import { readFileSync } from 'node:fs';
import { pass } from './browser.js';

/** What the server sends to the desks, with the keys of each (tests/app/server/test_desks.py holds it to that). */
export const DESKS = JSON.parse(readFileSync(new URL('../data/desks.json', import.meta.url), 'utf8'));

class ShadowRoot extends Element {
  get activeElement() {
    return this.contains(document.activeElement) ? document.activeElement : null;
  }

  getRootNode() {
    return this;
  }

  elementFromPoint() {
    return null;
  }
}

class Image extends Element {
  constructor() {
    super('img');
  }
}

/** What watches sizes, changes or what is in view; a test says that something happened: `watcher.told(…)`. */
class Watcher {
  watched = new Set();

  constructor(told) {
    this.told = told;
  }

  observe(element) {
    this.watched.add(element);
  }

  unobserve(element) {
    this.watched.delete(element);
  }

  disconnect() {
    this.watched.clear();
  }
}

const NOWHERE = { x: 0, y: 0, top: 0, left: 0, right: 0, bottom: 0, width: 0, height: 0 };
const SIZES = ['scrollTop', 'scrollLeft', 'scrollHeight', 'clientHeight', 'clientWidth', 'offsetTop', 'offsetLeft', 'offsetHeight', 'offsetWidth'];

Object.assign(Element.prototype, {
  attachShadow() {
    const root = new ShadowRoot('shadow');
    root.host = this;
    root.parentElement = this;
    this.shadowRoot = root;
    return root;
  },
  getBoundingClientRect: () => NOWHERE,
  decode: async () => undefined,
  select() {},
  setSelectionRange() {},
  showModal() {
    this.open = true;
  },
  close() {
    if (!this.open) return;
    this.open = false;
    this.dispatchEvent(new Event('close'));
  },
  scrollIntoView() {},
  scrollTo() {},
  setPointerCapture() {},
  prepend(...nodes) {
    this.replaceChildren(...nodes, ...this.children);
  },
  before(...nodes) {
    this.replaceWith(...nodes, this);
  },
  after(...nodes) {
    this.replaceWith(this, ...nodes);
  },
  ...Object.fromEntries(SIZES.map((name) => [name, 0])),
});
Object.defineProperty(Element.prototype, 'isConnected', { get() {
  return this === document.documentElement || !!this.parentElement?.isConnected;
} });
document.documentElement = new Element('html');
document.body = new Element('body');
document.documentElement.append(document.body);
document.activeElement = null;
document.getSelection = () => null;
const media = () => Object.assign(new EventTarget(), { matches: false });
const painted = (task) => setTimeout(task, 16);
const intervals = new Map();
Object.assign(globalThis, {
  Image, ShadowRoot, ResizeObserver: Watcher, IntersectionObserver: Watcher, MutationObserver: Watcher,
  requestAnimationFrame: painted, cancelAnimationFrame: clearTimeout, devicePixelRatio: 1, getSelection: () => null,
  WheelEvent: { DOM_DELTA_LINE: 1 },
  getComputedStyle: () => ({ getPropertyValue: () => '', lineHeight: '20px', direction: 'ltr' }),
});
Object.assign(window, {
  matchMedia: media, requestAnimationFrame: painted, cancelAnimationFrame: clearTimeout, devicePixelRatio: 1,
  innerWidth: 1366, innerHeight: 768, getSelection: () => null, confirm: () => true,
  setInterval: (task) => (intervals.set(intervals.size + 1, task), intervals.size),
});
globalThis.clearInterval = window.clearInterval = (number) => void intervals.delete(number);

/** What the page does every so often, done once. */
export const tick = () => [...intervals.values()].forEach((task) => task());

/** Presses a key on the page, as somebody does who is in no field. @param {string} key */
export async function press(key, more = {}) {
  const event = Object.assign(new Event('keydown', { cancelable: true }), {
    key, code: key, getModifierState: () => false, composedPath: () => [document.body], ...more,
  });
  window.dispatchEvent(event);
  await pass(20);
  return event;
}

/** What an answer is to who asked: a body, a refusal, or an error where nothing came. */
const answered = (answer) => (answer instanceof Error ? Promise.reject(answer) : {
  ok: !answer.http, status: answer.http ?? 200, json: async () => structuredClone(answer), headers: new Map(),
});

/** A refusal of the server. @param {number} status @param {string} [message] */
export const refusal = (status, message = '') => ({ http: status, error: message, kind: 'conflict' });

/** A server by the last word of its addresses: `on` has what each answers, in turn, the last one for good. */
export class Server {
  /** @param {Record<string, unknown>} on */
  constructor(on) {
    this.on = on;
    /** @type {{to: string, url: string, body: any}[]} */
    this.asked = [];
    globalThis.fetch = async (url, { body } = {}) => {
      const to = String(url).split('/').pop() ?? '';
      this.asked.push({ to, url: String(url), body: body ? JSON.parse(body) : null });
      const known = this.on[to];
      if (known === undefined) throw new TypeError(`nothing answers ${url}`);
      return answered(Array.isArray(known) ? (known.length > 1 ? known.shift() : known[0]) : known);
    };
  }

  /** What was sent to an address. @param {string} to */
  sent(to) {
    return this.asked.filter((one) => one.to === to).map((one) => one.body);
  }
}

/** What the app of a test listens to on window and document; the next one begins without. @type {(() => void)[]} */
const heard = [];
for (const target of [window, document]) {
  const listen = target.addEventListener.bind(target);
  target.addEventListener = (type, listener, options) => {
    listen(type, listener, options);
    heard.push(() => target.removeEventListener(type, listener, options));
  };
}

/** Ends what an app listens to, as when its window is closed. */
export function leave() {
  for (const end of heard.splice(0)) end();
}

/** Puts an app up, in place of the last test's, and lets it load. @template T @param {T} app @returns {Promise<T>} */
export async function up(app) {
  const main = new Element('main');
  document.body.replaceChildren(main);
  app.attach(main);
  await app.load();
  await pass(700);
  return app;
}
