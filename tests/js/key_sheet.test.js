/** The sheet of keys: what it lists, how a key is changed on it, and what it says when that cannot be. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadKinds } from './browser.js';
import './whole_page.js';
import { KeySheet } from '../../app/widgets/frame/key_sheet.js';
import { Keys } from '../../app/widgets/shared/keys.js';
import { TEXT } from '../../app/widgets/shared/text.js';

before(loadKinds);

const ACTIONS = { submit: ['Enter', 'Submit'], skip: ['s', 'Skip'], keys: ['?', 'Keys'], close: ['Escape', 'Close'], rotate: ['r', 'Turn the page'] };
const label = (value, key) => ({ value, title: value.toUpperCase(), key, definition: '' });

function sheet(more = null) {
  const criteria = [{ kind: 'choice', name: 'a', title: 'Right', labels: [label('yes', '1'), label('no', '')] }, { kind: 'spans', name: 'b', title: 'Faults', labels: [label('bad', '2')] }];
  const closed = [];
  const keys = new Keys(ACTIONS, { name: 'p', criteria }, new Map(), 'keys');
  const made = new KeySheet(keys, (changed) => closed.push(changed), 'Labels', more);
  made.element.close = () => {
    made.element.open = false;
    made.element.dispatchEvent(new Event('close'));
  };
  document.body.replaceChildren(made.element);
  made.show(criteria);
  const choose = (name) => made.element.querySelector(`[data-action="${name}"]`).click();
  return { made, keys, closed, choose, said: () => [made.words.textContent, made.words.classList.contains('warn-text')] };
}

test('keys are listed for the page, the viewer and the labels that have one; those that are fixed cannot be chosen', () => {
  const { made } = sheet();
  const lists = made.element.querySelectorAll('section').map((section) => section.querySelectorAll('dd').map((name) => name.textContent));
  assert.deepEqual([lists[0].slice(0, 4), lists[1][0], lists[2].slice(0, 2)], [['Submit', 'Skip', 'Keys', 'Close'], 'Turn the page', ['YES', 'BAD']]);
  assert.deepEqual(lists[2].length > 2, true, 'marking has keys of its own');
  assert.deepEqual(made.element.querySelectorAll('[data-action]').map((key) => key.getAttribute('data-action')).filter((name) => name !== 'submit'), ['skip', 'keys', 'rotate', 'a/yes', 'b/bad']);
  assert.deepEqual(made.element.querySelectorAll('h3').map((title) => title.textContent), ['Right', 'Faults', 'Faults']);
});

test('a key is changed by choosing it and pressing another, which is said; a key that is taken is refused in words', () => {
  const one = sheet();
  one.choose('skip');
  assert.deepEqual(one.said(), [TEXT.keysWaiting('Skip'), false]);
  assert.equal(one.made.element.querySelector('.waiting').textContent, TEXT.keysPress);
  for (const silent of ['Shift', 'CapsLock', 'Dead']) assert.equal(one.made.key(silent), true);
  assert.equal(one.made.waiting.name, 'skip', 'on the way to another key');
  one.made.key('k');
  assert.deepEqual([one.keys.of('skip'), one.said(), one.made.waiting, one.made.changed], ['k', [TEXT.keysNow('Skip', 'k'), false], null, true]);
  const other = sheet();
  other.choose('skip');
  other.made.key('r');
  assert.deepEqual([other.keys.of('skip'), other.said()[1], other.made.changed], ['s', true, false]);
  assert.match(other.said()[0], /Turn the page/);
});

test('Escape and Tab leave a key as it is; then Escape, or the key of the sheet, closes it and says whether anything changed', () => {
  for (const leave of ['Escape', 'Tab']) {
    const one = sheet();
    one.choose('a/yes');
    assert.equal(one.made.key(leave), true);
    assert.deepEqual([one.made.open, one.made.waiting, one.made.changed, one.closed], [true, null, false, []], leave);
  }
  for (const [close, change] of [['Escape', false], ['?', true]]) {
    const one = sheet();
    if (change) {
      one.choose('a/yes');
      one.made.key('q');
    }
    assert.equal(one.made.key('x'), false);
    assert.equal(one.made.key(close), true);
    assert.deepEqual([one.made.open, one.closed], [false, [change]]);
  }
});

test('all is set back by its button, and opened again the sheet says nothing and waits for nothing', () => {
  const one = sheet();
  one.choose('skip');
  one.made.key('k');
  one.choose('rotate');
  one.made.element.querySelector('keys-reset').click();
  assert.deepEqual([one.keys.of('skip'), one.made.changed, one.made.waiting, one.said()], ['s', true, null, [TEXT.keysResetDone, false]]);
  one.choose('rotate');
  one.made.show([]);
  assert.deepEqual([one.made.waiting, one.made.changed, one.said(), one.made.element.querySelectorAll('h3')], [null, false, ['', false], []]);
});

test('what the server does not take is said on the open sheet as a problem, and the key is back', () => {
  const one = sheet();
  one.choose('skip');
  one.made.key('k');
  one.keys.preferences.delete('keys');
  one.keys.preferences.onrefused('Not taken.');
  assert.deepEqual([one.said(), one.made.element.querySelector('[data-action="skip"]').textContent], [['Not taken.', true], 's']);
  one.made.show([]);
  one.made.element.close();
  one.keys.preferences.onrefused('Not taken.');
  assert.deepEqual(one.said(), ['', false], 'nobody sees it');
});

test('a press beside the sheet closes it, one on it does not', () => {
  const one = sheet();
  const inside = Object.defineProperty(new Event('click'), 'target', { value: one.made.words });
  one.made.element.dispatchEvent(inside);
  assert.equal(one.made.open, true);
  one.made.element.dispatchEvent(new Event('click'));
  assert.equal(one.made.open, false);
});

test('the key that is being changed keeps the focus, however often the sheet is drawn', () => {
  const { made, choose } = sheet();
  globalThis.CSS ??= { escape: (text) => text };
  made.element.querySelector('[data-action="skip"]').focus();
  choose('skip');
  assert.deepEqual([document.activeElement.isConnected, document.activeElement.getAttribute('data-action'), document.activeElement.textContent], [true, 'skip', TEXT.keysPress]);
  made.key('k');
  assert.deepEqual([document.activeElement.isConnected, document.activeElement.textContent], [true, 'k']);
});
