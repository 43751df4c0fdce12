/** The kinds of criterion and "asked only when": what a value says, whether it will do, and when it is asked for. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { loadKinds } from './browser.js';
import { kindOf, register, valueWords } from '../../app/widgets/criteria/kinds.js';
import { isAsked } from '../../app/widgets/criteria/when.js';

before(loadKinds);

const labels = [['yes', 'Yes'], ['no', 'No'], ['2', 'Two']].map(([value, title], at) => ({ value, title, key: String(at + 1), definition: '' }));
const item = { images: [{ key: 'I1' }, { key: 'I2' }, { key: 'I3' }] };
const complete = (criterion, value) => kindOf(criterion).complete(value, criterion, item);
const problem = (criterion, value) => kindOf(criterion).problem(value, criterion);

const CASES = JSON.parse(readFileSync(new URL('../data/asked_when.json', import.meta.url), 'utf8'));

for (const { why, when, target, decided, asked } of CASES) {
  test(`asked only when: ${why}`, () => {
    const given = new Map(decided.map(([criterion, place, value, cannotJudge = value === null]) => [`${criterion} ${place}`, { value, cannot_judge: cannotJudge }]));
    assert.equal(isAsked({ when }, target, (criterion, place) => given.get(`${criterion} ${place}`)), asked);
  });
}

test('a kind that is not there is named with those that are, and none is registered twice', () => {
  assert.throws(() => kindOf({ kind: 'guess' }), /"guess".*choice.*text/);
  assert.throws(() => register('choice', { create: () => undefined }), /two kinds.*"choice"/);
});

test('values are said in the titles of their labels', () => {
  assert.equal(valueWords('no', { kind: 'choice', labels }), 'No');
  assert.equal(valueWords(2, { kind: 'grade', labels }), 'Two');
  assert.equal(valueWords('other', { kind: 'choice', labels }), 'other');
  assert.equal(valueWords(7, { kind: 'number' }), '7');
  assert.equal(valueWords(['yes', '2'], { kind: 'several', labels }), 'Yes, Two');
  assert.equal(valueWords([], { kind: 'several', labels }), 'None');
  assert.equal(valueWords(['I3', 'I1', 'I2'], { kind: 'order' }), 'Images 3, 1, 2');
  assert.equal(valueWords('In short.', { kind: 'text' }), 'In short.');
  assert.equal(valueWords(null, { kind: 'choice', labels }), '');
});

test('a label, a grade and a set are complete once they are given; no label of a set is one', () => {
  for (const kind of ['choice', 'grade']) assert.deepEqual([complete({ kind }, 'yes'), complete({ kind }, null)], [true, false]);
  assert.deepEqual([complete({ kind: 'several' }, []), complete({ kind: 'several' }, null)], [true, false]);
});

test('an order is complete when every image has its place', () => {
  assert.equal(complete({ kind: 'order' }, ['I2', 'I1']), false);
  assert.equal(complete({ kind: 'order' }, ['I2', 'I1', 'I3']), true);
});

test('a number has to lie in its range and on a step', () => {
  const number = { kind: 'number', minimum: 0, maximum: 2, step: 0.25 };
  for (const value of [0, 2, 1.75, null]) assert.equal(problem(number, value), null);
  for (const value of [-0.25, 2.25, 0.3, 'many']) assert.match(problem(number, value), /give a number from 0 to 2 in steps of 0.25/);
  assert.match(problem({ kind: 'number' }, 11), /give a number from 0 to 10$/);
  assert.deepEqual([complete(number, 1), complete(number, '1'), complete(number, null)], [true, false, false]);
});

test('a text has words, and at most so many', () => {
  const text = { kind: 'text', max_words: 3 };
  assert.deepEqual([complete(text, ' '), complete(text, 'a b c'), complete(text, null)], [false, true, false]);
  assert.equal(problem(text, ' a  b\nc '), null);
  assert.match(problem(text, 'a b c d'), /has 4 words; at most 3/);
  assert.equal(problem({ kind: 'text' }, 'a '.repeat(900)), null);
});

test('only texts are each annotator’s own, and only they are typed into a field', () => {
  for (const kind of ['choice', 'grade', 'number', 'several', 'order', 'text']) {
    assert.deepEqual([kindOf({ kind }).compared, kindOf({ kind }).typed], [kind !== 'text', kind === 'text']);
  }
});

test('only an order names parts of the item, by keys that can be others', () => {
  const keyOf = (key) => ({ I1: 'zz', I2: 'aa' })[key] ?? key;
  assert.deepEqual(kindOf({ kind: 'order' }).rekeyed(['I2', 'I1', 'I3'], keyOf), ['aa', 'zz', 'I3']);
  assert.deepEqual(kindOf({ kind: 'several' }).rekeyed(['I2'], keyOf), ['I2']);
});

test('where images cannot be told apart, one of the orders that were given is chosen', () => {
  const criterion = { name: 'order', kind: 'order' };
  const votes = [['b', 'a'], ['a', 'b'], ['b', 'a'], null].map((value) => ({ value }));
  const among = kindOf(criterion).among(criterion, votes);
  assert.deepEqual(among.labels.map(({ value, title, key }) => [JSON.parse(value), title, key]), [[['b', 'a'], 'b, a', '1'], [['a', 'b'], 'a, b', '2']]);
  assert.deepEqual([complete(among, ['b', 'a']), complete(among, null), valueWords(['b', 'a'], among)], [true, false, 'Images b, a']);
});
