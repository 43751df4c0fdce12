/** What stands on pages of the host: the bar, addresses that are copied, texts that are rendered, how a full page goes up. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass, settled } from './browser.js';
import './whole_page.js';

document.head = document.createElement('head');
document.documentElement.append(document.head);
document.querySelectorAll = (wanted) => document.documentElement.querySelectorAll(wanted);
document.getElementById = (id) => document.documentElement.querySelector(`[id="${id}"]`);
const dusk = Object.assign(new EventTarget(), { matches: true });
const { matchMedia } = window;
window.matchMedia = () => dusk;
const bar = await import('../../app/widgets/bar/bar.js');
window.matchMedia = matchMedia;
const { keepTyped } = await import('../../app/widgets/bar/typed.js');
const copying = await import('../../app/widgets/copying/copy.js');
const texts = await import('../../app/widgets/texts/page.js');
const { mounting } = await import('../../app/widgets/frame/mount.js');
const { h } = await import('../../app/widgets/shared/dom.js');

let parent;
beforeEach(() => {
  parent = document.createElement('div');
  document.body.replaceChildren(parent);
  document.activeElement = null;
});

// The bar -------------------------------------------------------------------------------------------------------------

const place = (name, more = {}) => ({ name, title: `The ${name}`, href: `/${name}`, current: '', ...more });
const WORDS = { groups: 'Groups', pages: 'Pages', aside: 'More' };
const DATA = { groups: [place('home', { current: 'true' }), place('data')], pages: [place('items', { current: 'page', waiting: 1200, waits: '1,200 wait' })], aside: [], words: WORDS };

test('the bar has a line for each of what it is given, with what is open and what waits', () => {
  bar.mount({ data: DATA, parentElement: parent, setTriggerValue: () => undefined });
  const lines = parent.querySelector('.assay-lines').elements;
  assert.deepEqual(lines.map((line) => [line.tag, line.getAttribute('class'), line.getAttribute('aria-label')]), [['nav', 'assay-groups', 'Groups'], ['nav', 'assay-pages', 'Pages']]);
  assert.deepEqual(parent.querySelectorAll('a').map((link) => [link.getAttribute('href'), link.getAttribute('data-place'), link.getAttribute('aria-current'), link.textContent]), [
    ['/home', 'groups-home', 'true', 'The home'], ['/data', 'groups-data', null, 'The data'], ['/items', 'pages-items', 'page', 'The items1,200'],
  ]);
  assert.equal(parent.querySelector('.assay-waits').getAttribute('title'), '1,200 wait');
});

test('a plain click goes within the session, any other is the browser’s; drawn anew, the bar is there once and keeps its focus', async () => {
  const told = [];
  const draw = (data = DATA) => bar.mount({ data, parentElement: parent, setTriggerValue: (...what) => told.push(what) });
  draw();
  const click = (more = {}) => {
    const event = Object.assign(new Event('click', { cancelable: true }), more);
    parent.querySelectorAll('a')[1].dispatchEvent(event);
    return event.defaultPrevented;
  };
  for (const more of [{ button: 1 }, { metaKey: true }, { ctrlKey: true }, { shiftKey: true }, { altKey: true }]) assert.equal(click(more), false);
  assert.deepEqual([told, click(), told], [[], true, [['go', 'data']]].map((one, at) => (at === 0 ? told : one)));
  parent.querySelectorAll('a')[1].focus();
  draw({ ...DATA, aside: [place('help')] });
  assert.equal(parent.querySelectorAll('.assay-lines').length, 1);
  assert.deepEqual([document.activeElement.getAttribute('data-place'), document.activeElement.isConnected], ['groups-data', true]);
  told.length = 0;
  dusk.onchange();
  await pass(60);
  dusk.matches = false;
  dusk.onchange();
  await pass(60);
  assert.deepEqual(told, [['theme', 'dark'], ['theme', 'light']]);
});

test('what is typed wholly into a box of values is taken when Tab leaves it, and nothing else', () => {
  const page = Object.assign(new EventTarget(), { documentElement: document.createElement('html') });
  keepTyped(page);
  keepTyped(page);
  const clicked = [];
  const option = (words, more = {}) => h('li', { role: 'option', onclick: () => clicked.push(words), ...more }, words);
  const list = (...options) => document.body.replaceChildren(h('ul', { id: 'list' }, ...options));
  const input = (more = {}) => Object.assign(new HTMLInputElement('input'), { value: 'red' }, more);
  const leave = (target, key = 'Tab', controls = 'list', role = 'combobox') => {
    if (role) target.setAttribute('role', role);
    if (controls) target.setAttribute('aria-controls', controls);
    const event = Object.assign(new Event('keydown'), { key });
    Object.defineProperty(event, 'target', { value: target });
    page.dispatchEvent(event);
    return clicked.splice(0);
  };
  list(option('blue'), option('red'));
  assert.deepEqual(leave(input()), ['red']);
  assert.deepEqual([leave(input({ value: 'gre' })), leave(input(), 'Enter'), leave(input(), 'Tab', 'other'), leave(input(), 'Tab', 'list', 'textbox'), leave(input({ value: ' ' })), leave(document.createElement('p'))], [[], [], [], [], [], []]);
  list(option('red'), option('Add: red', { 'data-key': '__creatable__' }));
  assert.deepEqual(leave(input()), ['Add: red']);
});

// Addresses -----------------------------------------------------------------------------------------------------------

const ROWS = [{ name: 'Ada', address: 'https://a' }, { name: 'Bob', address: 'https://b' }];
const clipboard = (writeText) => Object.defineProperty(globalThis, 'navigator', { configurable: true, value: { clipboard: { writeText } } });

test('an address is copied by its button, all by theirs, and what cannot be copied stays selected', async () => {
  const written = [];
  clipboard(async (text) => void written.push(text));
  const down = copying.mount({ data: { rows: ROWS }, parentElement: parent });
  copying.mount({ data: { rows: ROWS }, parentElement: parent });
  assert.equal(parent.elements.length, 1, 'called again');
  const buttons = parent.querySelectorAll('button');
  assert.deepEqual(buttons.map((one) => [one.textContent, one.getAttribute('aria-label'), one.type]), [
    ['Copy', 'Copy the address of Ada', 'button'], ['Copy', 'Copy the address of Bob', 'button'], ['Copy all', 'Copy all names and addresses', 'button'],
  ]);
  assert.deepEqual(parent.querySelectorAll('.line').map((line) => [line.querySelector('b').textContent, line.querySelector('input').value, line.querySelector('input').readOnly, line.querySelector('input').getAttribute('aria-label')]), [
    ['Ada', 'https://a', true, 'Sign-in address of Ada'], ['Bob', 'https://b', true, 'Sign-in address of Bob'],
  ]);
  const field = parent.querySelector('textarea');
  assert.deepEqual([field.value, field.readOnly, field.tabIndex, field.getAttribute('aria-label')], ['Ada\thttps://a\nBob\thttps://b', true, -1, 'All names and addresses']);
  buttons[1].click();
  await settled();
  assert.deepEqual([written, buttons[1].textContent], [['https://b'], 'Copied']);
  await pass(2400);
  assert.equal(buttons[1].textContent, 'Copied');
  await pass(200);
  assert.equal(buttons[1].textContent, 'Copy');
  buttons[2].click();
  await settled();
  assert.equal(written[1], field.value);
  clipboard(async () => Promise.reject(new Error('no')));
  const selected = [];
  for (const one of [...parent.querySelectorAll('input'), field]) one.select = () => selected.push(one.value);
  const tried = [];
  document.execCommand = (what) => (tried.push(what), tried.length > 1);
  buttons[0].click();
  await settled();
  assert.deepEqual([buttons[0].textContent, selected.includes('https://a'), tried, document.activeElement.value], ['Selected: press Ctrl+C', true, ['copy'], 'https://a']);
  buttons[2].click();
  await settled();
  assert.deepEqual([buttons[2].textContent, selected.at(-1)], ['Copied', field.value]);
  down();
  assert.equal(parent.elements.length, 1, 'the first call has nothing there any more');
  copying.mount({ data: { rows: ROWS.slice(0, 1) }, parentElement: parent })();
  assert.equal(parent.elements.length, 0);
  copying.mount({ data: { rows: ROWS.slice(0, 1) }, parentElement: parent });
  assert.equal(parent.querySelector('.all'), null, 'one address is all');
});

// Texts ---------------------------------------------------------------------------------------------------------------

test('texts of the host page are rendered where they stand, with one choice for all and its key, until the page goes', async () => {
  const preferences = new Map();
  globalThis.fetch = async (_, { body }) => (preferences.set('sent', JSON.parse(body)), { ok: true, status: 200, json: async () => ({}), headers: new Map() });
  const text = (raw) => h('p', { 'data-assay-text': true }, raw);
  const [first, second, plain] = [text('It is *old*.'), text('So.'), h('p', {}, '*No*')];
  document.body.append(first, second, plain);
  const watchers = [];
  const { MutationObserver } = globalThis;
  globalThis.MutationObserver = class extends MutationObserver {
    constructor(told) {
      super(told);
      watchers.push(this);
    }
  };
  const down = texts.mount({ data: { person: '7', key: 'm', preferences: {} }, parentElement: parent });
  globalThis.MutationObserver = MutationObserver;
  assert.deepEqual([first, second, plain].map((one) => one.textContent), ['It is old.', 'So.', '*No*']);
  assert.equal(parent.querySelectorAll('link').length + document.head.querySelectorAll('link').length, 2);
  const choice = parent.querySelector('.text-bar').querySelector('text-view');
  assert.ok(choice);
  const key = (name, more = {}, target = document.body) => document.dispatchEvent(Object.assign(new Event('keydown'), { key: name, composedPath: () => [target], ...more }));
  key('x');
  for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { repeat: true }]) key('m', more);
  key('m', {}, document.createElement('textarea'));
  assert.equal(first.textContent, 'It is old.');
  key('m');
  assert.equal(first.textContent, 'It is *old*.');
  assert.deepEqual(choice.children.map((one) => one.getAttribute('aria-pressed')), ['false', 'true']);
  key('m');
  assert.equal(first.textContent, 'It is old.');
  const later = text('And **new**.');
  document.body.append(later);
  watchers[0].told();
  assert.equal(later.textContent, 'And new.');
  assert.equal(parent.querySelectorAll('text-view').length, 1);
  assert.ok(watchers[0].watched.has(document.body));
  const other = texts.mount({ data: { person: '7', key: 'm', preferences: {} }, parentElement: parent });
  assert.equal(parent.querySelectorAll('link').length, 1, 'once');
  other();
  down();
  key('m');
  assert.deepEqual([first.textContent, parent.querySelector('.text-bar'), watchers[0].watched.size], ['It is old.', null, 0]);
  await pass(1000);
});

test('a page without any markup has no choice and no key', () => {
  document.body.append(h('p', { 'data-assay-text': true }, 'Plain.'));
  const down = texts.mount({ data: { person: '7', key: 'm', preferences: {} }, parentElement: parent });
  assert.equal(parent.querySelector('text-view'), null);
  document.dispatchEvent(Object.assign(new Event('keydown'), { key: 'm', composedPath: () => [document.body] }));
  assert.equal(localStorage.length, 0);
  down();
});

// How a full page goes up ---------------------------------------------------------------------------------------------

test('a page that is called for again goes on as it is, and goes down with the last call for it', async () => {
  const made = [];
  const mount = mounting(({ place: where }) => where, (options) => {
    const page = { options, attached: [], loads: 0, detached: 0, shell: { styled: Promise.resolve() }, attach: (where) => page.attached.push(where), load: () => (page.loads += 1), detach: (forget) => (page.detached += 1, page.forget = forget) };
    made.push(page);
    return page;
  });
  const first = await mount({ data: { place: 'a' }, parentElement: parent });
  const second = await mount({ data: { place: 'a', more: 1 }, parentElement: document.body });
  const other = await mount({ data: { place: 'b' }, parentElement: parent });
  assert.deepEqual(made.map((page) => [page.options.place, page.loads, page.attached.length]), [['a', 1, 2], ['b', 1, 1]]);
  first();
  assert.equal(made[0].detached, 0);
  second();
  other();
  assert.deepEqual(made.map((page) => page.detached), [1, 1]);
  await mount({ data: { place: 'a' }, parentElement: parent });
  assert.equal(made.length, 2, 'soon again: as it was');
  made[0].forget();
  await mount({ data: { place: 'a' }, parentElement: parent });
  assert.deepEqual([made.length, made[2].loads], [3, 1]);
});
