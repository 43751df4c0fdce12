/** What a label is about: the keys in a target, and what it is called. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cellTitle, targetKeys, targetName } from '../../app/widgets/shared/targets.js';

const item = {
  answer: 'One.\n\n<PIC>\n\n## Two, which is said at more length',
  claims: [{ key: 'C1', text: 'It ran.', of: 'answer' }, { key: 'C2', text: 'It was late.', of: 'reference' }],
  evidence: [{ key: 'E1', kind: 'passage', text: 'A passage.', pages: [3] }],
};

test('a claim against a text or all evidence has the key of the claim, and says what it is held against', () => {
  assert.deepEqual(targetKeys('claim:C2|answer'), { claim: 'C2' });
  assert.deepEqual(targetName('claim:C2|answer', item), { key: 'C2', title: 'It was late.', place: 'against the answer' });
  assert.equal(targetName('claim:C1|context', item).place, 'against all evidence');
  assert.equal(targetName('claim:C1', item).place, undefined);
  assert.equal(cellTitle({ criterion: { title: 'Label' }, target: 'claim:C1|reference' }, item), 'Label (C1)');
  assert.equal(cellTitle({ criterion: { title: 'Label' }, target: 'claim:C1|evidence:E1' }, item), 'Label (C1, E1)');
});

test('a paragraph is called by its number, and says how it begins', () => {
  assert.deepEqual(targetKeys('block:2'), { block: 2 });
  assert.deepEqual(targetName('block:2', item), { key: '¶2', title: 'Two, which is said at more length' });
  assert.equal(targetName('block:9', item).title, '');
});
