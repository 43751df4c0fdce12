/** `spans`: places in code points, marking over other marks, the words of a text, and pointing at them by keys. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadKinds } from './browser.js';
import { kindOf, valueWords } from '../../app/widgets/criteria/kinds.js';
import { CodePoints, withStretch } from '../../app/widgets/criteria/spans.js';
import { WordCursor } from '../../app/widgets/criteria/word_cursor.js';
import { sentencesOf, wordsOf } from '../../app/widgets/texts/words.js';
import { ballot } from '../../app/widgets/adjudicate/units.js';

before(loadKinds);

const piece = (text, start, more = {}) => ({ text, start, end: start + text.length, exact: true, block: 0, ...more });
const TEXT = 'The pier is old. The mill turns!';
const WORDS = wordsOf([piece(TEXT, 0)]);
const said = (text, range) => range && text.slice(...range);

test('places count code points where the browser counts UTF-16 units', () => {
  const points = new CodePoints('a𝄞 b👩‍🔬c');
  assert.deepEqual(points.units, [0, 1, 3, 4, 5, 7, 8, 10, 11]);
  assert.deepEqual([0, 1, 2, 3, 4, 11].map((unit) => points.at(unit)), [0, 1, 1, 2, 3, 8]);
  assert.deepEqual(points.stretch(1, 3, 'x'), { start: 1, end: 2, label: 'x', text: '𝄞' });
  assert.equal(points.stretch(2, 3, 'x'), null);
});

test('what is marked lies over what was marked, and joins what it touches with the same label', () => {
  const points = new CodePoints('abcd efgh ijkl');
  const mark = (stretches, start, end, label) => withStretch(stretches, points.stretch(start, end, label), points);
  const one = mark([], 0, 9, 'x');
  assert.deepEqual(mark(one, 5, 9, 'y').map(({ start, end, label }) => [start, end, label]), [[0, 4, 'x'], [5, 9, 'y']]);
  assert.deepEqual(mark(one, 2, 3, 'y').map(({ text, label }) => [text, label]), [['ab', 'x'], ['c', 'y'], ['d efgh', 'x']]);
  assert.deepEqual(mark(one, 8, 14, 'x'), [{ start: 0, end: 14, label: 'x', text: 'abcd efgh ijkl' }]);
  assert.deepEqual(mark(one, 0, 14, 'y').map(({ label }) => label), ['y']);
  assert.deepEqual(mark(one, 10, 14, 'x').map(({ text }) => text), ['abcd efgh', 'ijkl']);
});

test('words are those of the language, across emphasis, and a formula is one', () => {
  assert.deepEqual(WORDS.map((range) => said(TEXT, range)), ['The', 'pier', 'is', 'old', 'The', 'mill', 'turns']);
  const raw = '**un**believable $x^2 + 1$ &amp; so';
  const pieces = [piece('un', 2), piece('believable ', 6), piece('$x^2 + 1$', 17, { exact: false, whole: true }),
    piece(' ', 26), { text: '&', start: 27, end: 32, exact: false, block: 0 }, piece(' so', 32)];
  assert.deepEqual(wordsOf(pieces).map((range) => said(raw, range)), ['un**believable', '$x^2 + 1$', 'so']);
  const arabic = 'بُني الرصيف عام ١٩٠٤.';
  assert.deepEqual(wordsOf([piece(arabic, 0)]).map((range) => said(arabic, range)), ['بُني', 'الرصيف', 'عام', '١٩٠٤']);
  assert.ok(wordsOf([piece('桥建于一九零四年', 0)]).length > 1);
});

test('a heading is a sentence of its own, and a sentence has no space at its ends', () => {
  const raw = '# Walk\nThe pier.  The mill.';
  const ranges = sentencesOf([piece('Walk', 2, { block: 1 }), piece('The pier.  The mill.', 7, { block: 2 })]);
  assert.deepEqual(ranges.map((range) => said(raw, range)), ['Walk', 'The pier.', 'The mill.']);
});

function pointing() {
  const cursor = new WordCursor();
  cursor.read(WORDS, sentencesOf([piece(TEXT, 0)]));
  return cursor;
}

test('words are pointed at one by one, and more of them with Shift', () => {
  const cursor = pointing();
  assert.equal(cursor.range, null);
  for (const [by, more, words] of [[1, false, 'The'], [1, false, 'pier'], [1, true, 'pier is'], [-1, true, 'pier'],
    [-1, true, 'The pier'], [1, false, 'pier'], [-1, false, 'The'], [-1, false, 'The']]) {
    assert.ok(cursor.byWord(by, more));
    assert.equal(said(TEXT, cursor.range), words);
  }
});

test('sentences are gone through, and selected as a whole with Shift', () => {
  const cursor = pointing();
  assert.equal(cursor.bySentence(-1, false), false);
  for (const [by, more, words] of [[1, false, 'The'], [1, true, 'The pier is old'], [1, true, TEXT.slice(0, -1)],
    [1, false, undefined]]) {
    assert.equal(cursor.bySentence(by, more), words !== undefined);
    if (words) assert.equal(said(TEXT, cursor.range), words);
  }
  cursor.select(17, 18);
  assert.equal(said(TEXT, cursor.range), 'The');
  assert.ok(cursor.bySentence(1, true));
  assert.equal(said(TEXT, cursor.range), 'The mill turns');
  assert.ok(cursor.bySentence(-1, false));
  assert.equal(cursor.range[0], 0);
});

test('the mouse selects whole words, and nothing where there are none', () => {
  const cursor = pointing();
  assert.ok(cursor.select(6, 10));
  assert.equal(said(TEXT, cursor.range), 'pier is');
  assert.equal(cursor.select(15, 16), false);
  assert.equal(said(TEXT, cursor.range), 'pier is');
  const empty = new WordCursor();
  assert.deepEqual([empty.byWord(1, false), empty.bySentence(1, false), empty.select(0, 9)], [false, false, false]);
});

test('a value is said in words, is complete when it is empty, and counts as the same vote in any order of fields', () => {
  const criterion = { kind: 'spans', labels: [{ value: 'bad', title: 'Unsupported' }] };
  const value = [{ start: 0, end: 3, label: 'bad', text: 'The' }, { start: 4, end: 8, label: 'odd', text: '<b>' }];
  assert.equal(valueWords(value, criterion), '“The” (Unsupported); “<b>” (odd)');
  assert.equal(valueWords([], criterion), 'None');
  const kind = kindOf(criterion);
  assert.deepEqual([kind.complete([], criterion, {}), kind.complete(null, criterion, {})], [true, false]);
  assert.ok(kind.keys.some(([key]) => key === '⇧← ⇧→'));
  assert.equal(ballot(value.slice(0, 1)), ballot([{ text: 'The', label: 'bad', end: 3, start: 0 }]));
});
