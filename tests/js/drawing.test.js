/** Texts on the screen: what each piece of a text becomes, which characters it shows, and marks over them that go again. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import './page.js';

const { draw, drawnPlain, markdown } = await import('../../app/widgets/texts/draw.js');
const { h } = await import('../../app/widgets/shared/dom.js');

/** What is drawn: tags with their classes around what they show. */
const html = (node) => (node.tag ? `<${[node.tag, ...node.className.split(' ').filter(Boolean)].join('.')}>${node.children.map(html).join('')}</>` : node.data);
const drawn = (raw, rendered = true, figures = undefined) => {
  const element = h('div');
  return { ...draw(element, raw, rendered, figures), drawn: draw(element, raw, rendered, figures), element };
};
const shown = (raw, figures) => drawn(raw, true, figures).element.children.map(html).join('');

for (const [raw, made] of [
  ['# A', '<h3.head.head-1>A</>'], ['##### A', '<h6.head.head-5>A</>'], ['*a* **b**', '<div.para><em>a</> <strong>b</></>'],
  ['- a', '<ul.list><li><div.entry><div.para>a</></></></>'], ['2. a', '<ol.list><li><span.marker>2.</><div.entry><div.para>a</></></></>'],
  ['> a', '<blockquote><div.para>a</></>'], ['---', '<hr></>'], ['`a`', '<div.para><code>a</></>'], ['a<br>b', '<div.para>a<br></>b</>'],
  ['```js\na\n```', '<div.fence><div.about>js</><pre><code>a</></></>'], ['```\na\n```', '<div.fence><pre><code>a</></></>'],
  ['|a|\n|-|\n|b|', '<div.table-box><table><thead><tr><th>a</></></><tbody><tr><td>b</></></></></>'],
  ['<table><td>b</td></table>', '<div.table-box><table><tbody><tr><td>b</></></></></>'],
  ['<table><th>a</th></table>', '<div.table-box><table><thead><tr><th>a</></></><tbody></></></>'],
  ['|a|\n|:-:|', '<div.table-box><table><thead><tr><th.aligned-center>a</></></><tbody></></></>'],
  ['[a](b)', '<div.para><span.hyperlink>a<bdi.address.behind>b</></></>'], ['[](b)', '<div.para><span.hyperlink><bdi.address>b</></></>'],
  ['![a](b)', '<div.para><span.no-picture>a<bdi.address.behind>b</></></>'], ['a &amp; b', '<div.para>a & b</>'], ['a &rlm; *b*', '<div.para>a <span.directing>\u200f</> <em>b</></>'],
  ['*a* \u202eb', '<div.para><em>a</> <span.directing.override>\u202e</>b</>'], ['*a* <PIC>', '<div.para><em>a</> <PIC></>'],
  ['$x^2$ and $$y = 2$$', '<div.para><span.formula>$x^2$</> and <span.formula.display>$$y = 2$$</></>'],
  ['$$y = 2$$\nb', '<div.para><span.formula.display>$$y = 2$$</><span.line-end>\n</>b</>'],
]) {
  test(`${JSON.stringify(raw)} is drawn as ${made}`, () => assert.equal(shown(raw), made));
}

test('a text without markup, or not rendered, is its characters; what turns its direction is marked in any', () => {
  for (const [raw, rendered] of [['a\nb', true], ['*a*', false]]) {
    const { element } = drawn(raw, rendered);
    assert.deepEqual([element.children.map(html).join(''), element.classList.contains('rendered'), element.dir], [raw, false, 'auto']);
  }
  assert.equal(drawn('*a*').element.classList.contains('rendered'), true);
  assert.deepEqual(drawnPlain('a\u202eb*').map(html), ['a', '<span.directing.override>\u202e</>', 'b*']);
  assert.deepEqual(markdown('# A\n\nb').map(html), ['<h2.head.head-1>A</>', '<div.para>b</>']);
});

test('the direction is that of the first letter that is read, whatever the markup; code and addresses say nothing', () => {
  for (const [raw, dir] of [['*a*', 'ltr'], ['*جدار*', 'rtl'], ['`a` *جدار*', 'rtl'], ['- 1\n- جدار', 'rtl'], ['|1|\n|-|\n|جدار|', 'rtl'], ['> **a** جدار', 'ltr'], ['*1*', 'auto']]) {
    assert.equal(drawn(raw).element.dir, dir, raw);
  }
});

test('images stand at their places, by address or in order, and the rest at the end', () => {
  const figures = (named) => () => ({
    place: (address) => (address === null || address in named ? h('figure', { class: address ?? 'next' }) : null), rest: () => [h('figure', { class: 'rest' })],
  });
  assert.equal(shown('*a* <PIC> ![x](p) ![y](q)', figures({ p: 1 })),
    '<div.para><em>a</> <figure.next></> <figure.p></> <span.no-picture>y<bdi.address.behind>q</></></><figure.rest></>');
});

// Marks ---------------------------------------------------------------------------------------------------------------

const RAW = 'The **old** pier &amp; the $x^2$ mill.';
const marks = (one) => one.element.querySelectorAll('mark').map((mark) => [mark.className, mark.textContent]);
const whole = (one) => one.element.textContent;

test('characters are marked across emphasis and entities, and the marks leave nothing behind', () => {
  const one = drawn(RAW).drawn;
  const before = html(one.element);
  const pieces = one.pieces.map(({ start, end, text }) => [start, end, text]);
  for (const [start, end, texts] of [[4, 11, ['old']], [0, 5, ['The ']], [1, 2, ['h']], [6, 16, ['old', ' pier']], [12, 23, ['pier ', '&', ' ']], [28, 29, ['$x^2$']], [0, RAW.length, ['The ', 'old', ' pier ', '&', ' the ', '$x^2$', ' mill.']]]) {
    const made = one.mark(start, end, 'found');
    assert.deepEqual(made.map((mark) => mark.textContent), texts, `${start} ${end}`);
    assert.equal(whole(one), 'The old pier & the $x^2$ mill.');
    assert.equal(one.pieces.map(({ text }) => text).join(''), 'The old pier & the $x^2$ mill.');
    for (const piece of one.pieces.filter(({ exact }) => exact)) assert.equal(RAW.slice(piece.start, piece.end), piece.text);
    one.unmark('found');
    assert.deepEqual([html(one.element), one.pieces.map(({ start: from, end: to, text }) => [from, to, text]), one.marks], [before, pieces, []]);
  }
});

test('marks of one kind go, those of another stay', () => {
  const one = drawn(RAW).drawn;
  one.mark(0, 3, 'found');
  one.mark(12, 16, 'pointed');
  one.unmark('found');
  assert.deepEqual(marks(one), [['pointed', 'pier']]);
  one.unmark('found');
  one.unmark('pointed');
  assert.equal(html(one.element), html(drawn(RAW).element));
});

test('what a selection covers is said in places of the raw text; a formula whose edge is touched is not in it', () => {
  const one = drawn(RAW).drawn;
  const nodes = one.pieces.map(({ node }) => node);
  const over = (first, startOffset, last, endOffset) => one.within({
    startContainer: nodes[first], startOffset, endContainer: nodes[last].children?.[0] ?? nodes[last], endOffset,
    intersectsNode: (node) => nodes.indexOf(node) >= first && nodes.indexOf(node) <= last,
  });
  assert.deepEqual(over(0, 1, 2, 3), [1, 14]);
  assert.deepEqual(over(0, 0, 0, 3), [0, 3]);
  assert.equal(over(0, 2, 0, 2), null);
  assert.equal(over(0, 4, 1, 0), null);
  assert.deepEqual(over(4, 0, 5, 0).map((at) => RAW.slice(at)), [' the $x^2$ mill.', '$x^2$ mill.']);
  assert.deepEqual(over(4, 0, 5, 2).map((at) => RAW.slice(at)), [' the $x^2$ mill.', ' mill.']);
});

test('words are found as they are read, also where the text stands there with its signs', () => {
  const raw = drawn('a **b** c', false).drawn;
  assert.deepEqual(raw.find('a b c'), [[0, 9]]);
});
