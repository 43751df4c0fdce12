/** Keys: what a press means, which key does what, and which changes of a person hold together. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.js';
import { Keys, meant } from '../../app/widgets/shared/keys.js';

const ACTIONS = {
  submit: ['Enter', 'Submit'], skip: ['s', 'Skip this item'], flag: ['f', 'Flag it'], comment: ['c', 'Comment'], cannot_judge: ['x', 'Cannot judge'],
  zoom_in: ['+', 'Zoom in'], next_criterion: ['ArrowDown', 'Next criterion'], close: ['Escape', 'Close'],
};

const label = (value, key) => ({ value, title: value[0].toUpperCase() + value.slice(1), key, definition: '' });

/** The keys of somebody with these preferences; and what of them is set. */
function made(preferences = {}) {
  const kept = new Map(Object.entries(preferences));
  const protocol = {
    name: 'qa',
    criteria: [
      { name: 'clear', title: 'Clear', labels: [label('true', '1'), label('false', '2')] },
      { name: 'why', title: 'Why', kind: 'text' },
      { name: 'stance', title: 'Stance', labels: [label('for', '1'), label('against', '2')] },
    ],
  };
  const keys = new Keys(ACTIONS, protocol, { get: (name) => kept.get(name) ?? null, set: (name, value) => void kept.set(name, value) }, 'keys');
  return { keys, kept, labels: () => protocol.criteria.map((criterion) => (criterion.labels ?? []).map((one) => one.key)) };
}

test('every action has its key and its name', () => {
  const { keys } = made();
  assert.deepEqual([keys.of('skip'), keys.title('skip'), keys.action('s'), keys.action('q'), keys.of('dance')], ['s', 'Skip this item', 'skip', null, '']);
  assert.equal(keys.action('='), 'zoom_in'); // the same key without Shift
});

test('a changed key holds at once, and the one it had does nothing any more', () => {
  const { keys, kept } = made();
  assert.equal(keys.change('skip', 'k'), null);
  assert.deepEqual([keys.of('skip'), keys.action('k'), keys.action('s'), kept.get('keys')], ['k', 'skip', null, { skip: 'k' }]);
  assert.equal(keys.change('skip', 's'), null); // back to its own
  assert.deepEqual([keys.of('skip'), kept.get('keys')], ['s', null]);
});

for (const [key, reason] of [
  ['x', 'x is the key of “Cannot judge”'], ['=', '= is the key of “Zoom in”'], ['3', 'digits give labels'], ['0', 'digits give labels'], ['9', 'digits give labels'], ['ArrowUp', 'ArrowUp cannot be used'],
  ['Space', 'Space cannot be used'], ['F5', 'F5 cannot be used'],
]) {
  test(`${key} is refused in words and nothing changes`, () => {
    const { keys, kept } = made();
    const words = keys.change('flag', key);
    assert.ok(words.includes(reason) && words.includes('Nothing was changed'), words);
    assert.deepEqual([keys.of('flag'), kept.size], ['f', 0]);
  });
}

test('a key that shows nothing but has a name can be that of an action, and of no label', () => {
  const { keys } = made();
  for (const key of ['Backspace', 'Delete', 'Insert', 'Home', 'End', 'F2', 'F9']) {
    assert.equal(keys.change('flag', key), null, key);
    assert.deepEqual([keys.of('flag'), keys.action(key)], [key, 'flag']);
    assert.match(keys.changeLabel({ criterion: 'clear', value: 'true' }, key), /cannot be the key of a label/, key);
  }
  assert.equal(keys.change('next_criterion', 'ArrowDown'), null, 'its own');
});

test('a label gets a key of one’s own, which no action and no label beside it can have', () => {
  const { keys, kept, labels } = made();
  assert.equal(keys.changeLabel({ criterion: 'clear', value: 'true' }, 'y'), null);
  assert.match(keys.changeLabel({ criterion: 'clear', value: 'false' }, 'y'), /y gives the label “True”/);
  assert.match(keys.changeLabel({ criterion: 'clear', value: 'false' }, 'x'), /x is the key of “Cannot judge”/);
  assert.match(keys.changeLabel({ criterion: 'clear', value: 'false' }, 'Enter'), /cannot be the key of a label/);
  assert.equal(keys.changeLabel({ criterion: 'clear', value: 'false' }, 'n'), null);
  assert.match(keys.change('comment', 'n'), /n gives the label “False”/);
  assert.deepEqual([labels(), kept.get('label_keys')], [[['y', 'n'], [], ['1', '2']], { qa: { clear: { true: 'y', false: 'n' } } }]);
  keys.reset();
  assert.deepEqual([labels(), kept.get('label_keys')], [[['1', '2'], [], ['1', '2']], null]);
});

test('taking back the changes of one protocol leaves those of another', () => {
  const { keys, kept } = made({ label_keys: { qa: { clear: { true: 'y', false: '2' } }, other: { clear: { true: 'q' } } } });
  keys.reset();
  assert.deepEqual(kept.get('label_keys'), { other: { clear: { true: 'q' } } });
});

test('a change made for another protocol gives way to the labels of this one, and every action keeps a key', () => {
  // Two actions changed places; one of them cannot hold here, so neither does.
  const { keys, labels } = made({ keys: { skip: 'q', flag: 's', comment: 'y' }, label_keys: { qa: { clear: { true: 'q', false: '2' } } } });
  assert.deepEqual(['skip', 'flag', 'comment'].map((action) => keys.of(action)), ['s', 'f', 'y']);
  assert.deepEqual(labels()[0], ['q', '2']);
});

test('two labels with one key, or a fixed action with another, are as they were', () => {
  const { keys, labels } = made({ keys: { close: 'q', next_criterion: 'w', gone: 'e' }, label_keys: { qa: { clear: { true: 'q', false: 'q' } } } });
  assert.deepEqual([keys.of('close'), keys.of('next_criterion'), keys.of('gone'), labels()[0]], ['Escape', 'ArrowDown', '', ['1', '2']]);
});

test('the sheet lists the labels that have a key', () => {
  const { keys } = made();
  assert.deepEqual(keys.labels(keys.protocol.criteria).map(({ key, title, of }) => [key, title, of]), [
    ['1', 'True', 'Clear'], ['2', 'False', 'Clear'], ['1', 'For', 'Stance'], ['2', 'Against', 'Stance'],
  ]);
});

const press = (key, more = {}) => ({ key, code: '', getModifierState: () => false, ...more });

test('a press means its character, then the letter in the other case, and on other keyboards the Latin letter', () => {
  assert.deepEqual(meant(press('s')), ['s', 'S']);
  assert.deepEqual(meant(press('S')), ['S', 's']);
  assert.deepEqual(meant(press('ы', { code: 'KeyS' })), ['ы', 's', 'S']);
  assert.deepEqual(meant(press('Ы', { code: 'KeyS', shiftKey: true })), ['Ы', 'S', 's']);
  assert.deepEqual(meant(press('?')), ['?']);
  assert.deepEqual(meant(press('ArrowUp', { shiftKey: true })), ['Shift+ArrowUp', 'ArrowUp']);
  assert.deepEqual(meant(press('ArrowUp')), ['ArrowUp']);
  assert.deepEqual(meant(press('Home', { shiftKey: true })), ['Home']);
  assert.deepEqual(meant(press('ArrowUp')), ['ArrowUp']);
  assert.deepEqual([meant(press(' ')), meant(press(' ', { shiftKey: true }))], [['Space'], ['Shift+Space']]);
});

test('with Ctrl, Meta or Alt, or while a sign is composed, a press is not ours; AltGr types', () => {
  for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }, { isComposing: true }]) assert.deepEqual(meant(press('s', more)), []);
  assert.deepEqual(meant(press('[', { ctrlKey: true, altKey: true, getModifierState: (name) => name === 'AltGraph' })), ['[']);
});
