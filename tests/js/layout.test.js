/** Where pages, boxes and words lie: sizes, zoom, turns, and what was marked as support. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.js';
import { around, Layout, Looks, PAD, turned, unturned } from '../../app/widgets/viewer/pages/layout.js';
import { boxesOf, linesOf, textOf, wordsIn } from '../../app/widgets/viewer/pages/text_layer.js';
import { boxPlace, enclosedPlace, placeBoxes, placeWords, textPlace } from '../../app/widgets/viewer/places.js';

/** Pages of two shapes in a view of 828 × 600: a page is 800 wide. */
function layout(numbers = [1, 2, 3, 4], { columns = 1, view = { width: 828, height: 600 } } = {}) {
  const made = new Layout();
  made.view = view;
  made.columns = columns;
  made.open(numbers, [[100, 200], [100, 50], [100, 200], [100, 200]]);
  return made;
}

const close = (one, other) => assert.ok(one.every((edge, at) => Math.abs(edge - other[at]) < 1e-9), `${one} is not ${other}`);

test('pages lie one below the other, each in its own shape', () => {
  const made = layout();
  assert.deepEqual([made.width, made.topOf(1), made.topOf(2), made.topOf(3)], [800, 14, 14 + 1600 + 14, 14 + 1600 + 14 + 400 + 14]);
  assert.equal(made.height, 14 + 3 * 1600 + 400 + 3 * 14 + 14);
  assert.deepEqual(made.rect(2), { left: PAD, right: 814, top: 1628, bottom: 2028 });
});

test('two pages beside each other share a row, as high as the higher one', () => {
  const made = layout([1, 2, 3, 4], { columns: 2 });
  assert.deepEqual([made.topOf(1), made.topOf(2)], [14, 14]);
  assert.equal(made.topOf(3), 14 + made.width * 2 + 14);
  assert.ok(made.leftOf(2) > made.leftOf(1) + made.width);
  assert.deepEqual([made.beside(1, 1), made.beside(2, 1), made.beside(4, -1), made.beside(3, 1)], [3, 3, 1, 3]);
});

test('of a document of which some pages may be seen, only they are laid out', () => {
  const made = layout([2, 4]);
  assert.deepEqual([made.placeOf(2), made.placeOf(4), made.placeOf(1)], [0, 1, -1]);
  assert.deepEqual([made.nearest(1), made.nearest(3), made.nearest(9), made.beside(2, 1), made.beside(4, 1)], [2, 2, 4, 4, 4]);
  assert.equal(made.ratio(2), 0.5);
});

test('the page at a height, and the pages that a stretch touches', () => {
  const made = layout();
  assert.deepEqual([0, 20, 1627, 1629, 99_999].map((y) => made.pageAt(y)), [1, 1, 1, 2, 4]);
  assert.deepEqual(made.between(1620, 2050), [2, 3]);
  assert.deepEqual(made.between(1640, 1700), [2]);
  assert.deepEqual(made.between(1640, 1700, 1), [1, 2, 3]);
  const beside = layout([1, 2, 3, 4], { columns: 2 });
  assert.deepEqual([beside.pageAt(20, 10), beside.pageAt(20, 500)], [1, 2]);
});

test('zoom has its bounds, and a page or a box can fill the view', () => {
  const made = layout();
  for (const [asked, got] of [[0.01, 0.15], [99, 10], [2, 2]]) {
    made.setZoom(asked);
    assert.equal(made.zoom, got);
  }
  assert.equal(made.width, 1600);
  made.setZoom(made.wholeZoom(1));
  const { top, bottom } = made.rect(1);
  assert.ok(Math.abs(bottom - top - (600 - 2 * PAD)) < 1e-6);
  assert.equal(made.wholeZoom(2), 1); // never wider than the view
  made.setZoom(made.boxZoom(1, [0.2, 0.1, 0.6, 0.2]));
  const box = made.rect(1, [0.2, 0.1, 0.6, 0.2]);
  assert.ok(box.right - box.left <= 828 && box.bottom - box.top <= 600);
  assert.ok(box.right - box.left > 828 * 0.9 || box.bottom - box.top > 600 * 0.9);
});

test('each document is shown as it was left, and another as the one before it is fitted', () => {
  const looks = new Looks();
  const large = { zoom: 2.5, fit: 'free', columns: 1, turn: 90 };
  looks.keep(1, large);
  assert.deepEqual(looks.of(1, { zoom: 1, fit: 'width', columns: 2, turn: 0 }), large);
  assert.deepEqual(looks.of(2, large), { zoom: 1, fit: 'width', columns: 1, turn: 0 });
  assert.deepEqual(looks.of(2, { zoom: 0.6, fit: 'page', columns: 2, turn: 180 }), { zoom: 0.6, fit: 'page', columns: 2, turn: 0 });
});

test('a shape that was not known is taken over when it is', () => {
  const made = new Layout();
  made.view = { width: 828, height: 600 };
  made.open([1, 2], null);
  assert.deepEqual([made.knows(1), made.ratio(1)], [false, Math.SQRT2]);
  made.learn(1, 0.5);
  assert.deepEqual([made.knows(1), made.ratio(1), made.topOf(2)], [true, 0.5, 14 + 400 + 14]);
});

test('a box goes round with its page and comes back', () => {
  const box = [0.1, 0.2, 0.3, 0.6];
  close(turned(box, 90), [0.4, 0.1, 0.8, 0.3]);
  close(turned(box, 180), [0.7, 0.4, 0.9, 0.8]);
  close(turned(box, 270), [0.2, 0.7, 0.6, 0.9]);
  for (const turn of [0, 90, 180, 270]) close(unturned(turned(box, turn), turn), box);
  const made = layout();
  made.turn = 90;
  made.compute();
  assert.equal(made.ratio(1), 0.5);
  assert.equal(made.imageWidth(1), 400);
});

test('the box around others', () => {
  assert.deepEqual(around([[0.2, 0.3, 0.4, 0.5], [0.1, 0.4, 0.3, 0.9]]), [0.1, 0.3, 0.4, 0.9]);
});

const word = (x, y, text, line) => [x, y, x + 0.08, y + 0.02, text, line];
const WORDS = [word(0.1, 0.1, 'Water', 0), word(0.2, 0.1, 'falls', 0), word(0.1, 0.2, 'below', 1), word(0.2, 0.2, '62 %', 1)];

test('words are lines of text, a box a line', () => {
  assert.equal(textOf(WORDS), 'Water falls\nbelow 62 %');
  const boxes = boxesOf(WORDS);
  assert.equal(boxes.length, 2);
  close(boxes[0], [0.1, 0.1, 0.28, 0.12]);
});

test('a line from the right that the document has from the left is turned round', () => {
  const visual = [word(0.1, 0.1, 'الثاني', 0), word(0.2, 0.1, 'الأول', 0)];
  assert.equal(textOf(visual), 'الأول الثاني');
  assert.equal(textOf([...visual].reverse()), 'الأول الثاني');
  assert.deepEqual(linesOf([word(0.1, 0.1, 'one', 0), word(0.2, 0.1, 'واحد', 0)]).flat().map((one) => one[4]), ['one', 'واحد']);
});

test('the words in a box are those whose middle is in it', () => {
  assert.deepEqual(wordsIn(WORDS, [0.05, 0.05, 0.25, 0.15]).map((one) => one[4]), ['Water', 'falls']);
  assert.deepEqual(wordsIn(WORDS, [0.05, 0.05, 0.22, 0.3]).map((one) => one[4]), ['Water', 'below']);
});

test('support is a box, or words with a box a line, cut to the page and to what a label can have', () => {
  const doc = { id: 3, key: 'a.pdf' };
  assert.deepEqual(boxPlace(doc, 2, [0, 0, 1, 1]), { document: 'a.pdf', page: 2, box: [0, 0, 1, 1] });
  const place = textPlace(doc, 2, [...WORDS, [1.01, 0.3, 1.2, 0.32, 'beside', 2]]);
  assert.deepEqual([place.text, place.boxes.length, place.page], ['Water falls\nbelow 62 %\nbeside', 2, 2]);
  const long = textPlace(doc, 1, Array.from({ length: 300 }, (_, line) => word(0.1, line / 400, 'x'.repeat(40), line)));
  assert.deepEqual([long.text.length, long.boxes.length], [4000, 100]);
  assert.equal(enclosedPlace(doc, 1, [0.9, 0.9, 1, 1], WORDS), null);
  assert.equal(enclosedPlace(doc, 1, [0, 0, 1, 0.15], WORDS).text, 'Water falls');
});

test('support in words, with what of it is drawn', () => {
  assert.equal(placeWords({ page: 2, box: [0, 0, 1, 1] }), 'box, p. 2');
  assert.equal(placeWords({ page: 2, text: 'Water falls' }), '“Water falls”, p. 2');
  assert.equal(placeWords({ text: `${'long '.repeat(30)}` }).length, 62);
  assert.deepEqual([placeBoxes({ box: [0, 0, 1, 1] }), placeBoxes({ boxes: [[0, 0, 1, 1]] }), placeBoxes({})], [[[0, 0, 1, 1]], [[0, 0, 1, 1]], []]);
});
