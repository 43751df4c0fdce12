/** Texts that would stop a page: each is within every single limit, and what it comes to in all is not. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.js';
import { parse } from '../../app/widgets/texts/markdown.js';
import { beginsShowing, endsShowing } from '../../app/widgets/shared/showing.js';

const cells = (n, attributes = '') => `<td${attributes}>x</td>`.repeat(n);
const table = (rows, n, attributes) => `<table>${`<tr>${cells(n, attributes)}</tr>`.repeat(rows)}</table>`;

for (const [name, raw] of [
  ['cells that reach over a hundred columns and rows each', table(15, 190, ' colspan=100 rowspan=100')],
  ['a cell a row, each over a hundred rows and columns', table(20, 1, ' colspan=100 rowspan=100')],
  ['many small tables of wide cells', table(1, 2, ' colspan=100 rowspan=20').concat('\n\n').repeat(20)],
  ['a row of wide cells', table(1, 3, ' colspan=100')],
  ['emphasis in many paragraphs', `${'*a* '.repeat(40)}\n\n`.repeat(500)],
  ['formulas in many cells', `| a | b |\n|---|---|\n${`| ${'$x$ '.repeat(30)}| ${'$y$ '.repeat(30)}|\n`.repeat(400)}`],
]) {
  test(`${name} show as they were written`, () => {
    assert.ok(raw.length < 400_000);
    assert.equal(parse(raw), null);
  });
}

test('tables that people write are drawn', () => {
  const wide = `<table><tr><th colspan=8>Title</th></tr>${`<tr><td rowspan=2>a</td>${cells(7)}</tr><tr>${cells(7)}</tr>`.repeat(100)}</table>`;
  assert.deepEqual(parse(wide)?.map((block) => block.type), ['table']);
  assert.deepEqual(parse(table(30, 100))?.map((block) => block.type), ['table']);
  assert.ok((parse(`A *word* and **another**, $x$.\n\n`.repeat(1000))?.length ?? 0) === 1000);
});

test('an item that stopped the page is known when the page is loaded again, and no other is', () => {
  assert.equal(beginsShowing(7), false);
  assert.equal(beginsShowing(7), true);
  endsShowing();
  assert.equal(beginsShowing(7), false);
  assert.equal(beginsShowing(8), false);
  endsShowing();
});
