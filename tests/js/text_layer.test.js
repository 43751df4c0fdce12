/** The words over a picture of a page: where each lies, from which side, upright or turned, and which a selection covers. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from './browser.js';
import './page.js';

const { TextLayer, linesOf, wordsIn, wordsOf } = await import('../../app/widgets/viewer/pages/text_layer.js');

const word = (x0, y0, x1, y1, text, line = 0) => [x0, y0, x1, y1, text, line];
const layer = (words, { ratio = 2, ocr = false } = {}) => new TextLayer({ words, ocr }, ratio);
const spans = (made) => made.element.querySelectorAll('span');

test('a word lies where it stands on the page, as wide and as high', () => {
  const made = layer([word(0.1, 0.25, 0.3, 0.3, 'Wall')]);
  const [span] = spans(made);
  const { style } = span;
  // y in widths of the page: 0.25 · 2 = 0.5; high: 0.05 · 2 = 0.1; four letters are 2 fonts wide, so 0.2 / (2 · 0.1) = 1
  assert.deepEqual([style.left, style.right, style.top, style.fontSize, style.transform, style.transformOrigin],
    ['100.00px', undefined, '500.00px', '100.00px', 'scaleX(1.0000)', 'top left']);
  assert.equal(span.getAttribute('dir'), null);
  assert.deepEqual([made.element.getAttribute('style'), made.element.getAttribute('data-ocr')], ['width:1000px;height:2000px', null]);
  made.scale(250);
  assert.equal(made.element.style.transform, 'scale(0.25)');
});

test('a word from the right is placed and stretched from its right side', () => {
  const [span] = spans(layer([word(0.1, 0.25, 0.3, 0.3, 'جدار')]));
  const { style } = span;
  assert.deepEqual([style.left, style.right, style.transformOrigin, style.transform, span.getAttribute('dir')], [undefined, '700.00px', 'top right', 'scaleX(1.0000)', 'rtl']);
});

test('a long word that is much higher than wide is written upwards, or downwards where its line goes down', () => {
  const tall = (y0, text) => word(0.1, y0, 0.15, y0 + 0.1, text);
  const turned = (words) => spans(layer(words, { ratio: 1 })).map(({ style }) => [style.writingMode, style.fontSize, /rotate/.test(style.transform ?? '')]);
  assert.deepEqual(turned([tall(0.1, 'Axis')]), [['vertical-rl', '50.00px', true]]);
  assert.deepEqual(turned([tall(0.3, 'Axis'), tall(0.1, 'label')]).map(([, , up]) => up), [true, true]);
  assert.deepEqual(turned([tall(0.1, 'Axis'), tall(0.3, 'label')]).map(([, , up]) => up), [false, false]);
  assert.deepEqual(turned([tall(0.1, 'ii')]), [[undefined, '100.00px', false]], 'two letters may be as high as that');
  assert.deepEqual(turned([word(0.1, 0.1, 0.2, 0.28, 'Axis')])[0][0], undefined, 'not much higher than wide');
  const { style } = spans(layer([tall(0.1, 'Axis')], { ratio: 1 }))[0];
  assert.match(style.transform, /^translate\(50\.00px, 100\.00px\) rotate\(180deg\) scaleY\(1\.0000\)$/);
});

test('words of a line are apart by a space, lines by a break, and words that were read off a picture are said to be', () => {
  const made = layer([word(0, 0, 0.1, 0.1, 'a'), word(0.2, 0, 0.3, 0.1, 'b'), word(0, 0.2, 0.1, 0.3, 'c', 1)], { ocr: true });
  assert.deepEqual(made.element.children.map((one) => one.tag ?? one.textContent), ['span', 'span', 'br', 'span', '', 'div']);
  assert.deepEqual(spans(made).map((span) => span.textContent), ['a ', 'b', 'c']);
  assert.equal(made.element.getAttribute('data-ocr'), 'true');
});

test('a line of mostly words from the right is turned round only where the document has it from the left', () => {
  const line = (...texts) => texts.map((text, at) => word(at / 10, 0, at / 10 + 0.05, 0.1, text));
  const read = (words) => linesOf(words)[0].map((one) => one[4]);
  assert.deepEqual(read(line('ب', 'ا')), ['ا', 'ب']);
  assert.deepEqual(read(line('ب', 'ا').reverse()), ['ا', 'ب']);
  assert.deepEqual(read(line('ب', 'ا', 'one')), ['one', 'ا', 'ب'], 'two of three');
  assert.deepEqual(read(line('ب', 'one')), ['ب', 'one'], 'half of them');
  assert.deepEqual(read(line('ب')), ['ب']);
  const words = line('ب', 'ا');
  linesOf(words);
  assert.equal(words[0][4], 'ب', 'what was given stays');
});

test('a selection that only touches the edge of a word does not mean it', () => {
  const made = layer([word(0, 0, 0.1, 0.1, 'one'), word(0.2, 0, 0.3, 0.1, 'two'), word(0.4, 0, 0.5, 0.1, 'six')]);
  const [one, two, six] = spans(made);
  for (const span of [one, two, six]) Object.defineProperty(span, 'firstChild', { get: () => span.children[0] });
  const covered = (from, startOffset, to, endOffset, touched) => made.within({
    startContainer: from.children[0], startOffset, endContainer: to.children[0], endOffset, intersectsNode: (node) => touched.includes(node),
  }).map((found) => found[4]);
  assert.deepEqual(covered(one, 0, six, 3, [one, two, six]), ['one', 'two', 'six']);
  assert.deepEqual(covered(one, 3, six, 0, [one, two, six]), ['two']);
  assert.deepEqual(covered(one, 2, six, 1, [one, two, six]), ['one', 'two', 'six']);
  assert.deepEqual(covered(two, 0, two, 3, [two]), ['two']);
});

test('a word belongs to a box by its middle, and not where that lies on the edge', () => {
  const words = [word(0.25, 0.25, 0.75, 0.75, 'w')];
  for (const [box, n] of [[[0.4, 0.4, 0.6, 0.6], 1], [[0, 0, 0.5, 1], 0], [[0.5, 0, 1, 1], 0], [[0, 0.5, 1, 1], 0], [[0, 0, 1, 0.5], 0]]) assert.equal(wordsIn(words, box).length, n, box.join());
});

test('words are asked for once, sixty pages of them are kept, and what could not be had is asked for again after a while', async () => {
  const asked = [];
  let there = true;
  globalThis.fetch = async (url) => {
    asked.push(String(url));
    if (!there) throw new TypeError('offline');
    return new Response(JSON.stringify({ words: [], ocr: false }), { headers: { 'content-type': 'application/json' } });
  };
  const doc = { id: 1, key: 'a', version: 'v', supplied: true };
  await wordsOf(doc, 1);
  await wordsOf(doc, 1);
  assert.equal(asked.length, 1);
  for (let page = 2; page <= 60; page += 1) await wordsOf(doc, page);
  await wordsOf(doc, 1);
  assert.equal(asked.length, 60);
  await wordsOf(doc, 61);
  await wordsOf(doc, 1);
  assert.equal(asked.length, 62, 'the oldest made room');
  there = false;
  assert.equal(await wordsOf(doc, 99), null);
  assert.equal(await wordsOf(doc, 99), null);
  assert.equal(asked.length, 63);
  there = true;
  await pass(20_000);
  assert.deepEqual([await wordsOf(doc, 99), asked.length], [{ words: [], ocr: false }, 64]);
});
