/** What a key does by where the focus is and what is open: labels first, then actions; nothing while somebody types. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import './page.js';
import { press } from '../../app/widgets/frame/keyboard.js';
import { Guidelines } from '../../app/widgets/frame/guidelines.js';
import { h } from '../../app/widgets/shared/dom.js';
import { TEXT } from '../../app/widgets/shared/text.js';

let did;
beforeEach(() => {
  did = [];
});

const ACTIONS = { s: 'skip', Enter: 'submit', ArrowDown: 'next', ArrowRight: 'right', Home: 'read_start', Space: 'read_on', 'Shift+Space': 'read_back', Escape: 'close', '+': 'zoom_in', ']': 'next_page', S: 'skip' };
/** A page with everything closed, whose panel knows the label 1 and the arrow to the right. */
const page = (more = {}) => ({
  live: true, act: (action) => did.push(action), keySheet: { open: false, key: (key) => (did.push(`sheet ${key}`), true) }, keys: { action: (key) => ACTIONS[key] ?? null },
  guidelines: { unread: false, open: false, key: (...what) => (did.push(['guidelines', what[0], what[2]]), true) },
  viewer: { key: () => false, escape: () => false, element: { isConnected: false }, scrollBy: (by) => did.push(`scroll ${by}`) }, ...more,
  judgement: { quiet: false, dock: { open: false, asking: false, close: () => did.push('dock closed'), key: (key) => (did.push(`dock ${key}`), true) }, key: (key) => (key === '1' || key === 'ArrowLeft') && !!did.push(`label ${key}`), move: (where) => did.push(`move ${where}`), focus: () => did.push('focus'), ...more.judgement },
});
const key = (of, name, target = document.createElement('div'), repeat = false, ...others) => [press(of, target, [name, ...others], repeat), did.splice(0)];
const inside = (around, element) => (around.append(element), element);

test('labels come before actions, the second meaning after the first, and what is neither is the browser’s', () => {
  for (const [names, expected] of [
    [['1'], [true, ['label 1']]], [['s'], [true, ['skip']]], [['Enter'], [true, ['submit']]], [['x'], [false, []]], [['ä', '1'], [true, ['label 1']]], [['ä', 's'], [true, ['skip']]],
    [['Shift+ArrowDown', 'ArrowDown'], [true, ['next']]], [['ArrowLeft'], [true, ['label ArrowLeft']]], [['Escape'], [true, ['focus']]], [['Space'], [true, ['read_on']]],
  ]) assert.deepEqual(key(page(), names[0], undefined, false, ...names.slice(1)), expected, names.join());
});

test('a key that is held gives no label twice and acts only where it scrolls, turns or zooms', () => {
  const held = (name) => key(page(), name, undefined, true);
  assert.deepEqual([held('1'), held('s'), held('ArrowLeft'), held('ArrowDown'), held('Space'), held('Shift+Space'), held('+'), held(']'), held('Home')],
    [[false, []], [true, []], [true, ['label ArrowLeft']], [true, ['next']], [true, ['read_on']], [true, ['read_back']], [true, ['zoom_in']], [true, ['next_page']], [true, []]]);
});

test('the sheet of keys, unread guidelines, the viewer and a dock that asks have the keys before the page', () => {
  assert.deepEqual(key(page({ keySheet: { open: true, key: (name) => (did.push(`sheet ${name}`), true) } }), 'Shift+ArrowUp'), [true, ['sheet ArrowUp']]);
  const unread = (live) => page({ live, guidelines: { unread: true, key: (...what) => (did.push(['guidelines', what[0], what[2]]), true) } });
  assert.deepEqual(key(unread(true), '1', undefined, true), [true, [['guidelines', '1', true]]]);
  assert.deepEqual(key(unread(false), 's'), [true, ['skip']]);
  assert.deepEqual(key(page({ viewer: { key: (...what) => (did.push(['viewer', what[0], what[2]]), true) } }), 's', undefined, true), [true, [['viewer', 's', true]]]);
  assert.deepEqual(key(page({ judgement: { dock: { asking: true, key: (name) => (did.push(`dock ${name}`), false) } } }), '1'), [false, ['dock 1']]);
  assert.deepEqual(key(page({ keySheet: null, guidelines: null, viewer: null }), 's'), [true, ['skip']]);
  assert.deepEqual(press({ ...page(), judgement: null, keys: null }, document.body ?? document.createElement('p'), ['s'], false), false);
});

test('while somebody types no key is the page’s but Escape', () => {
  const field = document.createElement('textarea');
  for (const name of ['1', 's', 'Enter', 'ArrowDown', 'PageDown', 'Space']) assert.deepEqual(key(page(), name, field), [false, []], name);
  assert.deepEqual(key(page(), 'Escape', field), [true, ['focus']]);
});

test('Escape closes the dock, then the guidelines, then what the viewer has open, and goes back to the labels', () => {
  const viewer = (open) => ({ key: () => false, escape: () => (did.push('viewer'), open), element: { isConnected: true } });
  const dock = { open: true, close: () => did.push('dock closed') };
  assert.deepEqual(key(page({ judgement: { dock }, guidelines: { unread: false, open: true } }), 'Escape'), [true, ['dock closed']]);
  assert.deepEqual(key(page({ guidelines: { unread: false, open: true } }), 'Escape'), [true, ['guidelines']]);
  assert.deepEqual(key(page({ viewer: viewer(true) }), 'Escape'), [true, ['viewer']]);
  assert.deepEqual(key(page({ viewer: viewer(false) }), 'Escape'), [true, ['viewer', 'focus']]);
  assert.deepEqual(key(page({ viewer: viewer(false), live: false }), 'Escape'), [true, ['viewer']]);
});

test('a button that was reached with Tab answers to Enter and Space itself; a label leaves Enter to the page', () => {
  for (const [element, quiet, enter, space] of [
    [h('button', {}), false, [false, []], [false, []]], [h('a', {}), false, [false, []], [false, []]], [h('summary', {}), false, [false, []], [false, []]], [inside(h('button', {}), h('span', {})), false, [false, []], [false, []]],
    [h('button', { role: 'radio' }), false, [true, ['submit']], [false, []]], [h('button', { role: 'checkbox' }), false, [true, ['submit']], [false, []]], [h('button', { 'data-testid': 'label' }), false, [true, ['submit']], [false, []]],
    [h('button', { role: 'radio' }), true, [true, ['submit']], [true, ['read_on']]], [h('button', {}), true, [false, []], [false, []]], [h('p', {}), false, [true, ['submit']], [true, ['read_on']]],
  ]) {
    const of = () => page({ judgement: { quiet } });
    assert.deepEqual([key(of(), 'Enter', element), key(of(), 'Space', element), key(of(), 'Shift+Space', element)[0]], [enter, space, space[0]], `${element.tag} ${quiet}`);
  }
  const idle = page({ judgement: { quiet: true } });
  idle.keys = { action: () => null };
  assert.deepEqual(key(idle, 'Space', h('button', { role: 'radio' })), [true, ['move right']], 'shows the label in focus');
});

test('what has arrows of its own keeps them: a strip, a bar, and what is scrolled', () => {
  const thumb = inside(h('nav', { class: 'strip' }), h('button', {}));
  for (const name of ['ArrowDown', 'Home', 'End']) assert.deepEqual(key(page(), name, thumb), [false, []]);
  assert.deepEqual(key(page(), 's', thumb), [true, ['skip']]);
  for (const name of ['ArrowRight', 's']) assert.deepEqual(key(page(), name, h('div', { role: 'separator' })), [false, []]);
  for (const kind of ['pages', 'passages', 'reading', 'guidelines-text', 'drawer', 'table-box']) {
    assert.deepEqual([key(page(), 'ArrowDown', h('div', { class: kind })), key(page(), 'Home', h('div', { class: kind })), key(page(), 's', h('div', { class: kind }))], [[false, []], [false, []], [true, ['skip']]], kind);
  }
  assert.deepEqual(key(page(), 'ArrowDown', inside(h('div', { class: 'fence' }), h('pre', {}))), [false, []]);
});

test('the page keys scroll the pages where they are on the screen, else what is read; and nothing where there is no item', () => {
  const beside = { key: () => false, escape: () => false, element: { isConnected: true }, scrollBy: (by) => did.push(`scroll ${by}`) };
  assert.deepEqual([key(page({ viewer: beside }), 'PageDown'), key(page({ viewer: beside }), 'PageUp'), key(page(), 'PageDown'), key(page(), 'PageUp'), key(page({ live: false }), 'PageDown')],
    [[true, ['scroll 1']], [true, ['scroll -1']], [true, ['read_on']], [true, ['read_back']], [false, []]]);
});

// Guidelines that are to be read ---------------------------------------------------------------------------------------

test('guidelines that are to be read are scrolled by keys, and read by Enter once their end is seen', () => {
  const made = new Guidelines({ title: 'T', summary: '', guidelines: 'G.', criteria: [] }, () => did.push('closed'));
  Object.assign(made.text, { clientHeight: 200, scrollHeight: 1000, scrollTop: 0, scrollBy: ({ top }) => did.push(top) });
  let now = 0;
  const clock = performance.now;
  performance.now = () => now;
  made.ask(() => did.push('read'));
  const says = (name, target = made.text, repeat = false) => [made.key(name, target, repeat), did.splice(0)];
  assert.deepEqual([made.open, made.unread, made.hint.textContent, made.closing.hidden, made.first.hidden, made.asking.hidden, made.element.classList.contains('unread')],
    [true, true, TEXT.guidelinesScroll, true, false, false, true]);
  for (const [name, by] of [['ArrowDown', 48], ['ArrowUp', -48], ['PageDown', 152], ['PageUp', -152], ['Space', 152], ['Shift+Space', -152], ['Home', -1000], ['End', 1000]]) assert.deepEqual(says(name), [true, [by]], name);
  assert.deepEqual([says('1'), says('Tab'), says('Enter', made.read), says('Space', made.read)], [[true, []], [false, []], [false, []], [false, []]]);
  now = 600;
  assert.deepEqual(says('Enter'), [true, []], 'it belongs to what was there before');
  now = 601;
  assert.deepEqual([says('Enter', made.text, true), says('Enter')], [[true, []], [true, [152]]]);
  made.toggle();
  assert.equal(made.open, true);
  made.text.scrollTop = 795;
  made.text.dispatchEvent(new Event('scroll'));
  assert.equal(made.hint.textContent, TEXT.guidelinesScroll);
  made.text.scrollTop = 796;
  made.text.dispatchEvent(new Event('scroll'));
  assert.equal(made.hint.textContent, TEXT.guidelinesOnce);
  made.ask(() => did.push('read'));
  assert.deepEqual(says('Enter'), [true, ['read']], 'asked again it is not new');
  assert.deepEqual([made.open, made.unread, made.closing.hidden, made.first.hidden, made.asking.hidden, made.element.classList.contains('unread')], [false, false, false, true, true, false]);
  made.text.clientHeight = 60;
  made.ask(() => did.push('read again'));
  assert.deepEqual(says('PageDown'), [true, [48]]);
  made.read.click();
  assert.deepEqual(did.splice(0), ['read again']);
  made.toggle();
  assert.equal(made.open, true);
  made.closing.click();
  assert.deepEqual(did, ['closed']);
  performance.now = clock;
});

test('guidelines say what each label means that is defined', () => {
  const label = (title, definition) => ({ value: title, title, key: '', definition });
  const { text } = new Guidelines({ title: 'T', summary: 'In short.', guidelines: 'G.', criteria: [{ title: 'Right', labels: [label('Yes', 'It is.'), label('No', '')] }, { title: 'Clear', labels: [label('Yes', '')] }, { title: 'Said' }] }, () => undefined);
  assert.deepEqual([text.querySelector('.soft').textContent, text.querySelectorAll('h2').map((one) => one.textContent), text.querySelectorAll('h3').map((one) => one.textContent), text.querySelectorAll('dd').map((one) => one.textContent)],
    ['In short.', [TEXT.labelsOf], ['Right'], ['It is.', '']]);
  const bare = new Guidelines({ title: 'T', summary: '', guidelines: '', criteria: [] }, () => undefined);
  assert.deepEqual([bare.text.querySelector('.soft'), bare.text.querySelector('h2')], [null, null]);
});
