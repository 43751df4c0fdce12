/**
 * What a browser has and node has not, as far as the parts need it that draw nothing: a window and a document that send
 * events, two stores, and a clock that only tests move. Imported before what is tested.
 */

import { readdirSync } from 'node:fs';

export const WIDGETS = new URL('../../app/widgets/', import.meta.url);

class Store {
  kept = new Map();

  get length() {
    return this.kept.size;
  }

  key(number) {
    return [...this.kept.keys()][number] ?? null;
  }

  getItem(key) {
    return this.kept.get(key) ?? null;
  }

  setItem(key, value) {
    this.kept.set(key, String(value));
  }

  removeItem(key) {
    this.kept.delete(key);
  }

  clear() {
    this.kept.clear();
  }
}

const own = { setImmediate: globalThis.setImmediate };
const BEGAN = Date.parse('2026-03-02T09:00:00Z');
const clock = { now: 0, number: 0, waiting: new Map() };
const timers = {
  setTimeout(task, delay = 0) {
    clock.number += 1;
    clock.waiting.set(clock.number, { task, at: clock.now + Math.max(1, Math.ceil(delay)) });
    return clock.number;
  },
  clearTimeout: (number) => void clock.waiting.delete(number),
};

globalThis.localStorage = new Store();
globalThis.sessionStorage = new Store();
globalThis.window = Object.assign(new EventTarget(), timers);
globalThis.document = Object.assign(new EventTarget(), { hidden: false, createElement: () => ({ getContext: () => null }) });
Object.assign(globalThis, timers);
globalThis.HTMLElement = class {};
globalThis.HTMLInputElement = class {};
performance.now = () => clock.now;
Date.now = () => BEGAN + clock.now;

/** Until every answer that is on its way has been worked through. */
export async function settled() {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((done) => own.setImmediate(done));
}

/** Lets time go by. @param {number} milliseconds */
export async function pass(milliseconds) {
  await settled();
  const end = clock.now + milliseconds;
  for (;;) {
    const next = [...clock.waiting].filter(([, { at }]) => at <= end).sort(([, one], [, other]) => one.at - other.at)[0];
    if (!next) break;
    clock.waiting.delete(next[0]);
    clock.now = Math.max(clock.now, next[1].at);
    next[1].task();
    await settled();
  }
  clock.now = end;
}

/** Every kind of criterion, as the server's list of them imports them. */
export async function loadKinds() {
  for (const name of readdirSync(new URL('criteria/', WIDGETS)).filter((one) => one.endsWith('.js'))) {
    await import(new URL(`criteria/${name}`, WIDGETS));
  }
}
