/** `place`: the blocks of an answer as the server has them, values in words, and the control by keys. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { loadKinds } from './browser.js';
import { kindOf, valueWords } from '../../app/widgets/criteria/kinds.js';
import { blocksOf, placedBlocks } from '../../app/widgets/shared/blocks.js';

before(loadKinds);

for (const { why, answer, blocks } of JSON.parse(readFileSync(new URL('../data/blocks.json', import.meta.url), 'utf8'))) {
  test(`blocks: ${why}`, () => assert.deepEqual(blocksOf(answer), blocks));
}

test('a place is said in words', () => {
  assert.equal(valueWords('block:12', { kind: 'place' }), 'After paragraph 12');
  assert.equal(valueWords('nowhere', { kind: 'place' }), 'Nowhere');
  assert.equal(valueWords(null, { kind: 'place' }), '');
});

test('a place is complete once it is given, compared, and names no other part of the item', () => {
  const kind = kindOf({ kind: 'place' });
  assert.deepEqual([kind.complete('nowhere', {}, {}), kind.complete(null, {}, {})], [true, false]);
  assert.deepEqual([kind.compared, kind.typed, kind.rekeyed('block:1', () => 'other')], [true, false, 'block:1']);
});

test('each paragraph says where it begins in the answer, whatever stands before it', () => {
  const answer = '\n\na\nb\n \n![x](y)\n\nc';
  const placed = placedBlocks(answer);
  assert.deepEqual(placed.map(({ text, start }) => [text, answer.slice(start, start + text.length)]), [['a\nb', 'a\nb'], ['c', 'c']]);
  assert.deepEqual(placed.map(({ start }) => start), [2, 17]);
});
