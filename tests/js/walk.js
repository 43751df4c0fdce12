/**
 * A walk through a whole desk: what each thing that somebody does there changes on the page, in the focus, in what is sent
 * and in what is kept, line by line, as it stands in a file of tests/data/walks. A change that is wanted is written there by
 * `ASSAY_WRITE=1 node --test tests/js/walks_….test.js`; look at what differs.
 */

import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pass } from './browser.js';
import { leave, press, Server } from './whole_page.js';

const FOLDER = new URL('../data/walks/', import.meta.url);
const SAID = ['value', 'title', 'src', 'href', 'alt', 'disabled', 'checked', 'selected', 'placeholder', 'scrollTop', 'open'];

/** What differs from time to time and says nothing: the time of day, ids, the address that the files are served from. */
const settled = (text) => text.replace(/\b\d\d:\d\d( [AP]M)?\b/g, 'hh:mm').replace(/\b0*17\d{11}\b/g, 'now').replace(/file:[^ "\]]*\/app\/widgets\//g, '').replaceAll('\n', '⏎').replaceAll('\0', '␀');

/** An element as one line: its tag, what it is called, its classes, and what else it has. */
function line(element) {
  const { tag } = element;
  const attributes = new Map(element.attributes);
  const testid = attributes.get('data-testid');
  const classes = [...element.classList.on].sort().map((name) => `.${name}`).join('');
  const style = Object.entries(element.style).filter(([, value]) => typeof value === 'string' && value).map(([name, value]) => `${name}:${value}`);
  for (const name of ['data-testid', 'class', 'data-drawn']) attributes.delete(name);
  if (tag === 'button' && attributes.get('type') === 'button') attributes.delete('type'); // one that submits is written down
  else if (tag === 'button') attributes.set('type', attributes.get('type') ?? 'none');
  const said = SAID.filter((name) => Object.hasOwn(element, name) && element[name] !== '' && element[name] !== false && element[name] !== 0).map((name) => `.${name}=${element[name]}`);
  const more = [...[...attributes].map(([name, value]) => (value === '' ? name : `${name}=${value}`)), ...said, ...style];
  return `${tag}${testid ? `#${testid}` : ''}${classes}${more.length ? ` [${more.join(' | ').replaceAll('aria-', '@').replaceAll('@keyshortcuts', '@key')}]` : ''}`;
}

/** All that stands on the page, an element a line; of what is hidden only that it is. */
function outline(element, depth = 0) {
  const indent = ' '.repeat(depth);
  const own = `${indent}${line(element)}`;
  if (element.hidden) return [own];
  const { elements } = element;
  const text = element.children.map((child) => (elements.includes(child) ? '' : child.textContent)).filter(Boolean);
  if (!elements.length) return [settled(text.length ? `${own} “${text.join('')}”` : own)];
  return [settled(own), ...element.children.flatMap((child) => (elements.includes(child)
    ? outline(child, depth + 1) : child.textContent ? [settled(`${indent} “${child.textContent}”`)] : []))];
}

const depthOf = (text) => text.length - text.trimStart().length;

/** What has gone from some lines and what has come, in order. @param {string[]} before @param {string[]} after */
function differing(before, after) {
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let [end, last] = [before.length, after.length];
  while (end > start && last > start && before[end - 1] === after[last - 1]) [end, last] = [end - 1, last - 1];
  const [old, fresh] = [before.slice(start, end), after.slice(start, last)];
  const length = Array.from({ length: old.length + 1 }, () => new Uint16Array(fresh.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = fresh.length - 1; j >= 0; j -= 1) length[i][j] = old[i] === fresh[j] ? length[i + 1][j + 1] + 1 : Math.max(length[i + 1][j], length[i][j + 1]);
  }
  const found = [];
  let gone = 0; // the depth of what has gone last
  for (let [i, j] = [0, 0]; i < old.length || j < fresh.length;) {
    if (i < old.length && j < fresh.length && old[i] === fresh[j]) [i, j] = [i + 1, j + 1];
    else if (j >= fresh.length || (i < old.length && length[i + 1][j] >= length[i][j + 1])) {
      // With what goes, all goes that is in it.
      if (!(i > 0 && found.at(-1)?.startsWith('-') && depthOf(old[i]) > gone)) found.push(`- ${old[i]}`), gone = depthOf(old[i]);
      i += 1;
    }
    else found.push(`+ ${fresh[j]}`), j += 1;
  }
  return found;
}

let uids = 0;
globalThis.crypto.randomUUID = () => `uid-${(uids += 1)}`;
Math.random = () => 0.5;
globalThis.CSS ??= { escape: (text) => text, supports: () => false };

/** What is shown and scrolled since the last step. @type {string[]} */
const moved = [];
const called = (element) => element.getAttribute('data-testid') ?? (element.getAttribute('class') || element.tag);
for (const name of ['scrollIntoView', 'scrollTo', 'scrollBy', 'select']) {
  Element.prototype[name] = function scrolled(more) {
    moved.push(`${name} ${called(this)}${more ? ` ${JSON.stringify(more)}` : ''}`);
  };
}

/** What stands on the page when another walk begins, as its file has it. @param {string} name */
function beginning(name) {
  const lines = readFileSync(new URL(`${name}.txt`, FOLDER), 'utf8').split('\n').slice(1);
  return lines.slice(0, lines.findIndex((one) => !one.startsWith('+ '))).map((one) => one.slice(2));
}

export class Walk {
  /**
   * @param {string} name of its file
   * @param {Record<string, unknown>} on what the server answers (whole_page.js)
   * @param {string} [like] another walk of the desk: of what is there at first only what differs from that one is written down
   */
  constructor(name, on, like = name) {
    leave();
    localStorage.clear();
    sessionStorage.clear();
    uids = 0;
    this.file = new URL(`${name}.txt`, FOLDER);
    this.server = new Server(on);
    this.lines = [];
    this.before = like === name ? [] : beginning(like);
    this.kept = new Map();
    window.open = (...to) => void this.lines.push(`opened ${to.join(' ')}`);
    window.confirm = (words) => (this.lines.push(`confirmed ${words}`), true);
    document.activeElement = null;
    document.hidden = false;
  }

  /** Puts an app up and lets it load. @param {any} app */
  async up(app) {
    this.app = app;
    const main = document.createElement('main');
    document.body.replaceChildren(main);
    await this.step('begin', async () => {
      app.attach(main);
      await app.load();
      await pass(700);
    });
  }

  /** Does something, and writes down what it changed. @param {string} name @param {() => unknown} act @param {number} [time] that passes afterwards */
  async step(name, act, time = 60) {
    this.lines.push(`# ${name}`);
    const asked = this.server.asked.length;
    moved.length = 0;
    await act();
    await pass(time);
    const now = outline(this.app.shell.root);
    this.lines.push(...differing(this.before, now), ...[...new Set(moved)]);
    this.before = now;
    for (const { url, body } of this.server.asked.slice(asked)) this.lines.push(settled(`> ${url}${body ? ` ${JSON.stringify(body)}` : ''}`));
    const { activeElement: at } = document;
    const focus = at ? settled(`focus ${line(at)}${at.isConnected ? '' : ' (gone)'}`) : 'focus nowhere';
    if (focus !== this.focus) this.lines.push(focus);
    this.focus = focus;
    for (const [key, value] of localStorage.kept) if (this.kept.get(key) !== value) this.lines.push(settled(`kept ${key} ${value}`));
    for (const key of this.kept.keys()) if (!localStorage.kept.has(key)) this.lines.push(settled(`forgot ${key}`));
    this.kept = new Map(localStorage.kept);
  }

  /** Presses keys, each a step: as on the page, where the focus is or in no field. @param {...string} keys */
  async press(...keys) {
    for (const key of keys) {
      const at = document.activeElement ?? document.body;
      await this.step(`press ${key}`, () => press(key, { code: /^[a-z]$/i.test(key) ? `Key${key.toUpperCase()}` : key, composedPath: () => [at] }));
    }
  }

  /** Presses what is called so; `number` of several. @param {string} wanted @param {number} [number] */
  async click(wanted, number = 0) {
    const found = this.find(wanted, number);
    await this.step(`click ${wanted}${number ? ` ${number}` : ''}`, () => found.click());
  }

  /** Gives an action or a label another key, in the sheet of keys. @param {string} action @param {string} key */
  async rekey(action, key) {
    await this.press('?');
    await this.click(`[data-action="${action}"]`);
    await this.press(key, 'Escape');
  }

  /** Types into a field. @param {string} wanted @param {string} text @param {number} [number] */
  async type(wanted, text, number = 0) {
    const field = this.find(wanted, number);
    await this.step(`type ${text} into ${wanted}${number ? ` ${number}` : ''}`, () => {
      field.focus();
      field.value = text;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
  }

  /** Chooses from a list. @param {string} wanted @param {string} value @param {number} [number] */
  async choose(wanted, value, number = 0) {
    const field = this.find(wanted, number);
    await this.step(`choose ${value} of ${wanted}`, () => {
      field.value = value;
      field.dispatchEvent(new Event('change', { bubbles: true }));
    });
  }

  /** @param {string} wanted @param {number} [number] */
  find(wanted, number = 0) {
    const found = this.app.shell.root.querySelectorAll(wanted)[number];
    if (!found && process.env.ASSAY_WRITE) console.error(this.lines.join('\n'));
    assert.ok(found, `${wanted} is not on the page, or not ${number + 1} of them`);
    return found;
  }

  /** Takes the app down, and holds the walk to its file. */
  async end() {
    this.app.detach(() => undefined);
    leave();
    await pass(6000);
    if (process.env.ASSAY_WRITE) writeFileSync(this.file, `${this.lines.join('\n')}\n`);
    assert.ok(existsSync(this.file), `${this.file} is not there: ASSAY_WRITE=1 writes it`);
    const kept = readFileSync(this.file, 'utf8').slice(0, -1).split('\n');
    const at = this.lines.findIndex((one, place) => one !== kept[place]);
    if (at < 0 && kept.length === this.lines.length) return;
    // Of the whole only where it begins to differ: all of it at once would take minutes to be compared and nobody would read it.
    const from = at < 0 ? this.lines.length : at;
    const step = this.lines.slice(0, from + 1).findLast((one) => one.startsWith('# '));
    assert.fail([`${this.file.href.split('/').pop()} line ${from + 1}, at “${step}”`, 'is', ...this.lines.slice(from, from + 6), 'and was', ...kept.slice(from, from + 6)].join('\n'));
  }
}
