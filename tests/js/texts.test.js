/** Texts: where words that are looked for stand in the raw text, whatever is between them, and what belongs to a selection. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.js';
import { Drawn } from '../../app/widgets/texts/drawn.js';
import { isFormula } from '../../app/widgets/texts/formula_source.js';

/** A text as it is drawn from these parts: words as they are, `{show}` for what is shown otherwise than written, `null` between blocks. */
function drawn(raw, ...parts) {
  const made = new Drawn(null, raw);
  let [at, block] = [0, 0];
  for (const part of parts) {
    if (part === null) block += 1;
    else {
      const written = typeof part === 'string' ? part : part.written;
      const start = raw.indexOf(written, at);
      assert.ok(start >= 0, written);
      at = start + written.length;
      made.pieces.push({ node: null, start, end: at, exact: typeof part === 'string', text: typeof part === 'string' ? part : part.show, block });
    }
  }
  return made;
}

const RAW = 'The reservoir falls **below** 62 % of its\n*usable*   volume.\n\n| 2 | Restricted |\nA &amp; B cost $x^2$.';
const TEXT = () => drawn(RAW, 'The reservoir falls ', 'below', ' 62 % of its\n', 'usable', '   volume.', null, '2', null, 'Restricted', null, 'A ', { written: '&amp;', show: '&' }, ' B cost ', { written: '$x^2$', show: '$x^2$' }, '.');
const found = (words, most) => TEXT().find(words, most).map(([start, end]) => RAW.slice(start, end));

test('words are found across emphasis, ends of lines and cells, in any case', () => {
  assert.deepEqual(found('falls BELOW  62 %'), ['falls **below** 62 %']);
  assert.deepEqual(found('of its usable volume'), ['of its\n*usable*   volume']);
  assert.deepEqual(found('2 restricted'), ['2 | Restricted']);
  assert.deepEqual(found('the'), ['The'], 'at the very beginning');
});

test('what is shown otherwise than written is found as it is read, and is in a place as a whole', () => {
  assert.deepEqual(found('a & b'), ['A &amp; B']);
  assert.deepEqual(found('x^'), ['$x^2$']);
});

test('every place is found, or as many as are asked for; of nothing there is none', () => {
  assert.deepEqual(found('e'), [...RAW.replaceAll('&amp;', '').matchAll(/e/gi)].map(([sign]) => sign));
  assert.equal(found('e', 2).length, 2);
  assert.deepEqual([found('  '), found('hosepipe')], [[], []]);
});

test('a letter that is two in lower case stays where it is', () => {
  const raw = 'İstanbul falls below';
  assert.deepEqual(drawn(raw, raw).find('falls'), [[9, 14]]);
});

test('the signs around what is wholly selected belong to it', () => {
  const text = TEXT();
  const [start, end] = [RAW.indexOf('below'), RAW.indexOf('below') + 5];
  text.wrappings = [{ outer: [start - 2, end + 2], inner: [start, end] }];
  for (const piece of text.pieces) piece.node = {};
  const over = (first, last) => ({
    intersectsNode: (node) => text.pieces.findIndex((one) => one.node === node) >= first && text.pieces.findIndex((one) => one.node === node) <= last,
  });
  assert.equal(text.rawText(over(1, 1)), '**below**');
  assert.equal(text.rawText(over(0, 2)), 'The reservoir falls **below** 62 % of its\n');
  assert.equal(text.rawText({ intersectsNode: () => false }), '');
  const begins = { ...over(1, 2), startContainer: text.pieces[1].node, startOffset: 1, endContainer: text.pieces[2].node, endOffset: 3 };
  assert.equal(text.rawText(begins), 'elow** 62');
});

for (const [tex, sign, yes] of [
  ['x^2', '$', true], ['n = 5', '$', true], ['5 to ', '$', false], ['', '$', false], ['1', '[', false], ['x = y', '[', true],
  ['\\href{javascript:alert(1)}{x}', '$', false], [`${'{'.repeat(31)}x${'}'.repeat(31)}`, '$', false], ['}{', '$$', false], ['x'.repeat(2001), '$$', false],
  ['and of course they said so', '$', false], ['some words = other words', '[', false], ['some words', '$$', false],
  ['\\alpha of two words', '$$', true], ['five long words stand here \\alpha', '$$', false], ['a & b \\\\ c', 'begin', true], [`${'&'.repeat(301)}`, 'begin', false],
]) {
  test(`${tex.slice(0, 30)} between ${sign} is ${yes ? 'a formula' : 'none'}`, () => assert.equal(isFormula(tex, sign), yes));
}
