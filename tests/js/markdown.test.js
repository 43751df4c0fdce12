/** Markdown as a tree: what each piece of a text is taken for, in a table of texts, with every place that of the raw text. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.js';
import { isPlain, parse } from '../../app/widgets/texts/markdown.js';

/** A text as it was taken: `em(…)` for what is emphasised, each node with the characters of its range. @param {string} raw */
function outline(raw) {
  const of = (range) => raw.slice(...range);
  const inner = (nodes) => nodes.map(one).join('');
  const blocks = (nodes) => nodes.map(one).join(' ');
  const one = (node) => {
    switch (node.type) {
      case 'text': return node.ranges.map(of).join('').replaceAll('\n', '⏎');
      case 'char': return `char(${node.text})`;
      case 'code': return `code(${node.ranges.map(of).join('')})`;
      case 'formula': return `${node.display ? 'display' : 'formula'}(${node.tex})`;
      case 'break': case 'place': case 'rule': return node.type;
      case 'link': case 'picture': return `${node.type}(${inner(node.children)}→${node.address ? of(node.address) : ''})`;
      case 'paragraph': return `p(${inner(node.children)})`;
      case 'heading': return `h${node.level}(${inner(node.children)})`;
      case 'quote': return `quote(${blocks(node.children)})`;
      case 'fence': return `fence(${node.about ? `${of(node.about)}: ` : ''}${node.ranges.map(of).join('').replaceAll('\n', '⏎')})`;
      case 'list': return `${node.ordered ? 'ol' : 'ul'}(${node.entries.map((entry) => `${entry.marker ? of(entry.marker) : '-'} ${blocks(entry.children)}`).join(', ')})`;
      case 'table': return `table(${node.rows.map((row) => row.map((cell) => [cell.heading ? '!' : '', inner(cell.children), cell.align ? `@${cell.align}` : '', cell.columns > 1 ? `c${cell.columns}` : '', cell.rows > 1 ? `r${cell.rows}` : ''].join('')).join(' | ')).join(' / ')})`;
      default: return `${node.type}(${inner(node.children)})`;
    }
  };
  return blocks(parse(raw));
}

const TEXTS = {
  paragraphs: [
    ['', ''], ['a', 'p(a)'], ['a\nb', 'p(a⏎b)'], ['a\r\nb', 'p(a⏎b)'], ['a\r\r# b', 'p(a) h1(b)'], ['a\n\n \t\nb', 'p(a) p(b)'], ['    a', 'p(    a)'],
    ['a\n---', 'p(a) rule'], ['a\n===', 'p(a⏎===)'],
  ],
  headings: [
    ['# a', 'h1(a)'], ['   ###### a', 'h6(a)'], ['####### a', 'p(####### a)'], ['#a', 'p(#a)'], ['    # a', 'p(    # a)'], ['## a ##', 'h2(a)'], ['## a#', 'h2(a#)'],
    ['## a # ', 'h2(a)'], ['#', 'h1()'], ['# #', 'h1()'], ['a\n# b\nc', 'p(a) h1(b) p(c)'],
  ],
  rules: [
    ['---', 'rule'], ['--', 'p(--)'], ['* * *', 'rule'], ['_ _\t_ _', 'rule'], ['-*-', 'p(-*-)'], ['   ---', 'rule'], ['    ---', 'p(    ---)'], ['===', 'p(===)'], ['--- a', 'p(--- a)'],
  ],
  quotes: [
    ['> a\n>b', 'quote(p(a⏎b))'], ['> a\nb', 'quote(p(a)) p(b)'], ['> > a', 'quote(quote(p(a)))'], ['> - a\n> - b', 'quote(ul(- p(a), - p(b)))'], ['    > a', 'p(    > a)'],
  ],
  fences: [
    ['```\na\n\n b\n```\nc', 'fence(a⏎⏎ b) p(c)'], ['```js\na\n```', 'fence(js: a)'], ['~~~\na\n```\n~~~', 'fence(a⏎```)'], ['````\n```\n````', 'fence(```)'], ['```\na', 'fence(a)'],
    ['``\na``', 'p(code(\na))'], ['  ```\n    a\n  b\n```', 'fence(  a⏎b)'], ['```\n~~~\n```', 'fence(~~~)'], ['a\n```\nb\n```', 'p(a) fence(b)'], ['```\n```', 'fence()'], ['``` a`b', 'p(``` a`b)'],
  ],
  lists: [
    ['- a\n- b', 'ul(- p(a), - p(b))'], ['1. a\n2) b', 'ol(1. p(a), 2) p(b))'], ['- a\n\n- b', 'ul(- p(a), - p(b))'], ['- a\n  - b\n- c', 'ul(- p(a) ul(- p(b)), - p(c))'],
    ['- a\n - b', 'ul(- p(a), - p(b))'], ['- a\nb', 'ul(- p(a⏎b))'], ['- a\n\nb', 'ul(- p(a)) p(b)'], ['- a\n\n  b', 'ul(- p(a) p(b))'], ['- a\n1. b', 'ul(- p(a)) ol(1. p(b))'],
    ['-a', 'p(-a)'], ['-', 'ul(- )'], ['-\n- b', 'ul(- , - p(b))'], ['-\n\n  b', 'ul(- p(b))'], ['1.5 m', 'p(1.5 m)'], ['1234567890. a', 'p(1234567890. a)'], ['a\n- b', 'p(a) ul(- p(b))'], ['a\n1. b', 'p(a) ol(1. p(b))'], ['a\n2. b', 'p(a⏎2. b)'], ['a\n-', 'p(a⏎-)'],
    ['- a\n# b', 'ul(- p(a)) h1(b)'], ['- a\n   > b', 'ul(- p(a) quote(p(b)))'], ['-     a', 'ul(- p(    a))'], ['-    a\n     b', 'ul(- p(a⏎b))'], ['\t- a', 'ul(- p(a))'], ['- - a', 'ul(- ul(- p(a)))'], ['- a\n---', 'ul(- p(a)) rule'],
    ['10. a\n    b', 'ol(10. p(a⏎b))'], ['1. a\n\n  b', 'ol(1. p(a) p(b))'], ['1. a\n\n b', 'ol(1. p(a)) p( b)'], ['- a\n\n\n- b', 'ul(- p(a), - p(b))'], ['* a\n+ b', 'ul(- p(a), - p(b))'],
  ],
  tables: [
    ['|a|b|\n|-|-|\n|1|2|', 'table(!a | !b / 1 | 2)'], ['a | b\n:-- | --:\n1 | 2', 'table(!a@start | !b@end / 1@start | 2@end)'], ['|a|\n|:-:|', 'table(!a@center)'], ['a | b\n--- | c', 'p(a | b⏎--- | c)'], ['a\n-|-', 'p(a⏎-|-)'], ['a|b\n--', 'p(a|b⏎--)'],
    ['|a|b|\n|-|-|\n|1\\|2|*x*|\nend', 'table(!a | !b / 1|2 | em(x)) p(end)'], ['|a|b|\n|-|-|\n||2|', 'table(!a | !b /  | 2)'], ['|a|\n|-|\n|1|\n\n|2|', 'table(!a / 1) p(|2|)'], ['|a|\n|-|\n# |b', 'table(!a) h1(|b)'], ['x\n|a|\n|-|\n|1|', 'p(x) table(!a / 1)'], ['|a|b|\n|-|-|\n|1|2|3|', 'table(!a | !b / 1 | 2 | 3)'], ['| a |\n |:- |', 'table(!a@start)'],
  ],
  'tables of HTML': [
    ['<table><tr><th>a</th><td>b</td></tr></table>', 'table(!a | b)'], ['<TABLE class="x"><thead><tr><td>a</td></tr></thead><tbody><tr><td> *b* </td></tr></tbody></TABLE>', 'table(!a / em(b))'],
    ['<table><tr><td colspan="2" rowspan=3>a</td></tr></table>', 'table(ac2r3)'], ['<table><tr><td colspan="0">a</td></tr></table>', 'table(a)'], ['<table><tr><td colspan="999">a</td></tr></table>', 'table(ac100)'], ['a <table><td>b</table> c', 'p(a ) table(b) p( c)'], ['<table>x<tr><td>b</td></tr></table>', 'p(<table>x<tr><td>b</td></tr></table>)'],
    ['<table><tr><td>a', 'p(<table><tr><td>a)'], ['<table></table>', 'p(<table></table>)'], ['<table><tr></tr><tr><td>a</td></tr></table>', 'table(a)'], ['<table><td>a<td>b<tr><td>c</table>', 'table(a | b / c)'], ['<table><td><table><td>a</table></table>', 'p(<table><td><table><td>a</table></table>)'], ['<table>\n<tr>\n<td>a</td>\n</tr>\n</table>\nb', 'table(a) p(b)'], ['<table>\n<td>a</td></table> b\n# c', 'table(a) p( b) h1(c)'], ['<table><td>a < b</td></table>', 'table(a < b)'],
  ],
  emphasis: [
    ['*a* _b_ **c** __d__ ~~e~~', 'p(em(a) em(b) strong(c) strong(d) del(e))'], ['***a***', 'p(em(strong(a)))'], ['**a*b*c**', 'p(strong(a*b*c))'], ['* a *', 'ul(- p(a *))'], ['a * b * c', 'p(a * b * c)'], ['2*3*4', 'p(2*3*4)'], ['a_b_c', 'p(a_b_c)'], ['~a~', 'p(~a~)'], ['x ~~~a~~~ b', 'p(x ~~~a~~~ b)'], ['~~~a~~~ b', 'fence(a~~~ b: )'],
    ['*a', 'p(*a)'], ['a*', 'p(a*)'], ['**a*', 'p(*em(a))'], ['*a**', 'p(em(a)*)'], ['*a ** b*', 'p(em(a ** b))'], ['*a ** b', 'p(*a ** b)'], ['*a _b* c_', 'p(em(a _b) c_)'], ['这是**重点**。', 'p(这是strong(重点)。)'], ['**“a”**b', 'p(**“a”**b)'], ['*(a)*', 'p(em((a)))'], ['_(a)_b', 'p(_(a)_b)'], ['*a\nb*', 'p(em(a⏎b))'], ['\\*a\\*', 'p(*a*)'], ['*a*b*', 'p(em(a*b))'], ['**a** **b**', 'p(strong(a) strong(b))'], ['*a **b***', 'p(em(a strong(b)))'], ['𝑎*b*', 'p(𝑎em(b))'],
  ],
  code: [
    ['`a`', 'p(code(a))'], ['`` a`b ``', 'p(code(a`b))'], ['` `', 'p(code( ))'], ['` a `', 'p(code(a))'], ['`a', 'p(`a)'], ['``a`', 'p(``a`)'], ['`*a*` *b*', 'p(code(*a*) em(b))'], ['`a` `b`', 'p(code(a) code(b))'], ['`a ``b` c``', 'p(code(a ``b) c``)'], ['` a`', 'p(code( a))'],
  ],
  links: [
    ['[a](b)', 'p(link(a→b))'], ['![a](b.png)', 'p(picture(a→b.png))'], ['[a](<b c> "t")', 'p(link(a→b c))'], ['[a](b(c)d)', 'p(link(a→b(c)d))'], ['[a]()', 'p(link(a→))'], ['[a] (b)', 'p([a] (b))'], ['[a][b]', 'p([a][b])'], ['[*a*](b)', 'p(link(em(a)→b))'], ['[a [b]](c)', 'p(link(a [b]→c))'], ['!a', 'p(!a)'], ['a](b)', 'p(a](b))'], ['[a](b c)', 'p([a](b c))'], ['*[a*](b)', 'p(*link(a*→b))'], ['[a](b)[c](d)', 'p(link(a→b)link(c→d))'],
  ],
  formulas: [
    ['$x^2$', 'p(formula(x^2))'], ['$$x = y$$', 'p(display(x = y))'], ['\\(x^2\\)', 'p(formula(x^2))'], ['\\[x = y\\]', 'p(display(x = y))'], ['$5 and $6', 'p($5 and $6)'], ['a$x^2$', 'p(a$x^2$)'], ['$x^2$b', 'p($x^2$b)'], ['$ x^2$', 'p($ x^2$)'], ['$x^2 $', 'p($x^2 $)'], ['$x^\\$2$', 'p(formula(x^\\$2))'], ['$x^2$$', 'p($x^2$$)'], ['$$', 'p($$)'],
    ['$$\nx = y\n$$', 'p(display(\nx = y\n))'], ['\\begin{align}\na &= b\n\\end{align}', 'p(display(\\begin{align}\na &= b\n\\end{align}))'], ['\\begin{align}a\\end{gather}', 'p(\\begin{align}a\\end{gather})'], ['(\\$5)', 'p(($5))'], ['$x^2$ *a*', 'p(formula(x^2) em(a))'], ['$$x = y\n- z$$', 'p(display(x = y\n- z))'], ['$a$', 'p(formula(a))'],
  ],
  'entities and tags': [
    ['&amp;&lt;', 'p(char(&)char(<))'], ['&#65;&#x41;&#X42;', 'p(char(A)char(A)char(B))'], ['&Alpha;&alpha;&omega;&Omega;&nbsp;&yuml;', 'p(char(Α)char(α)char(ω)char(Ω)char(\u00a0)char(ÿ))'], ['&nothing; &amp', 'p(&nothing; &amp)'], ['&#0;&#31;&#32;&#126;&#127;&#159;&#160;', 'p(&#0;&#31;char( )char(~)&#127;&#159;char(\u00a0))'], ['&#xd7ff;&#xd800;&#xdfff;&#xe000;&#x10ffff;&#x110000;', 'p(char(\ud7ff)&#xd800;&#xdfff;char(\ue000)char(\u{10ffff})&#x110000;)'],
    ['a<br>b<BR />c', 'p(abreakbbreakc)'], ['a <PIC> b <pic>', 'p(a place b <pic>)'], ['H<sub>2</sub>O x<SUP>2</SUP>', 'p(Hsub(2)O xsup(2))'], ['<sub>a</sup>', 'p(<sub>a</sup>)'], ['</sub>', 'p(</sub>)'], ['<sub>[a</sub>', 'p(sub([a))'], ['<b>a</b>', 'p(<b>a</b>)'], ['a\\\nb', 'p(a⏎b)'], ['\\a\\', 'p(\\a\\)'],
  ],
};
for (const [what, texts] of Object.entries(TEXTS)) {
  test(`${what}: what each text is taken for`, () => {
    for (const [raw, taken] of texts) assert.equal(outline(raw), taken, JSON.stringify(raw));
  });
}

test('a text is plain when it is lines of text and nothing else', () => {
  for (const [raw, plain] of [['a\n\nb c', true], ['', true], ['*a*', false], ['a &amp; b', false], ['- a', false], ['\\*a', false], ['2 * 3', true], ['# ', false], ['> a', false], ['[a]', true]]) {
    assert.equal(isPlain(raw, parse(raw)), plain, raw);
  }
});

test('what nobody writes is shown as it is: too long, too deep, too much', () => {
  assert.equal(parse('a'.repeat(400_001)), null);
  assert.notEqual(parse('a'.repeat(400_000)), null);
  assert.equal(parse(`${'*a '.repeat(3001)}`), null, 'nodes of one paragraph');
  assert.equal(parse('#\n'.repeat(4001)), null, 'blocks');
  assert.notEqual(parse('#\n'.repeat(4000)), null);
  const deep = (n) => parse(`${'> '.repeat(n)}a`);
  assert.deepEqual([deep(10), deep(12)].map((blocks) => blocks?.length), [1, 1], 'deeper quotes are text');
  const emphasis = (n) => (n ? `${'*_'[n % 2]}a ${emphasis(n - 1)} a${'*_'[n % 2]}` : 'a');
  const bold = (n) => (n ? `**a ${'*_'[n % 2]}a ${bold(n - 1)} a${'*_'[n % 2]} a**` : 'a');
  assert.deepEqual([emphasis(12), emphasis(13), bold(6), bold(7)].map((raw) => parse(raw) !== null), [true, false, true, false]);
  const row = (n) => `${'|a'.repeat(n)}|\n${'|-'.repeat(n)}|`;
  assert.deepEqual([parse(row(100))[0].type, parse(row(101))?.[0].type ?? null], ['table', null]);
  const cells = (n) => parse(`<table>${'<tr><td>a</td></tr>'.repeat(n)}</table>`)?.[0].type ?? null;
  const wide = (n) => parse(`<table><tr>${'<td>a</td>'.repeat(n)}</tr></table>`)?.[0].type ?? null;
  assert.deepEqual([cells(3000), cells(3001), wide(200), wide(201)], ['table', null, 'table', null]);
});
