/** Pages that are judged one by one, hop by hop: where one goes on, what is said of them, and the chain of what was found. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import './page.js';
import { loadKinds } from './browser.js';

globalThis.IntersectionObserver = class {
  observe() {}

  unobserve() {}

  disconnect() {}
};
globalThis.requestAnimationFrame = () => 0;

const { Sheet } = await import('../../app/widgets/annotate/sheet.js');
const { PageGroup } = await import('../../app/widgets/annotate/judgement/page_group.js');
const { feedbackParts, feedbackTitle } = await import('../../app/widgets/annotate/feedback.js');

before(loadKinds);

const LABELS = [['yes', 'Evidence'], ['no', 'Not evidence']].map(([value, title], at) => ({ value, title, key: String(at + 1) }));
const HOPS = [{ key: 'h1', question: 'First?' }, { key: 'h2', question: 'Second?' }];

/** Pages 1 to 3 of a document, for each hop. */
function group({ hops = HOPS, criterion = {}, more = {}, documents = [{ id: 1, key: 'd', title: 'Doc', supplied: false }] } = {}) {
  const asked = { kind: 'choice', name: 'page', title: 'Page', target: 'page', labels: LABELS, rest: 'no', ...criterion };
  const targets = (hops.length ? hops.map(({ key }) => `|hop:${key}`) : ['']).flatMap((hop) => [1, 2, 3].map((page) => `page:d:${page}${hop}`));
  const item = { step: 0, question: 'Whole?', hops, documents, units: { page: targets }, ...more };
  const sheet = new Sheet(item, { criteria: [asked], steps: [{ criteria: ['page'] }] });
  const picked = [];
  const panel = { sheet, keys: { of: (action) => action, title: (action) => action }, pick: (cell) => picked.push(cell.target), give: () => undefined, giveAll: (cells, value) => picked.push([cells.map(({ target }) => target), value]), giveRest: () => undefined, undoRest: () => undefined };
  const made = new PageGroup(sheet.cells, panel);
  made.refresh();
  const cell = (page, hop = hops[0]?.key) => sheet.cellById.get(`page page:d:${page}${hop ? `|hop:${hop}` : ''}`);
  const give = (page, value, hop) => (sheet.give(cell(page, hop), value), made.refresh());
  return { made, sheet, cell, give, picked };
}
const chain = ({ made }) => made.chain.querySelectorAll('chain-link').map((link) => link.textContent);

test('one goes on to the next open page of the hop, then to those before, then to the next hop', () => {
  const one = group();
  assert.equal(one.made.next(one.cell(1)).target, 'page:d:2|hop:h1');
  one.give(3, 'no', 'h1');
  assert.equal(one.made.next(one.cell(2)).target, 'page:d:1|hop:h1');
  assert.equal(one.made.hopToGoOnWith, null);
  one.give(1, 'yes', 'h1'), one.give(2, 'no', 'h1');
  assert.deepEqual([one.made.next(one.cell(2)), one.made.hopToGoOnWith], [null, 2]);
  one.give(1, 'no', 'h2');
  assert.equal(one.made.nextHop.target, 'page:d:2|hop:h2', 'the first that is open');
  one.made.select(one.cell(2, 'h2'));
  assert.equal(one.made.nextHop.target, 'page:d:2|hop:h1', 'the one at hand where none is open');
  one.give(2, 'yes', 'h2'), one.give(3, 'yes', 'h2');
  assert.equal(one.made.hopToGoOnWith, null);
});

test('a page is that of the hop at hand', () => {
  const one = group();
  assert.equal(one.made.at('d', 2).target, 'page:d:2|hop:h1');
  one.made.select(one.cell(1, 'h2'));
  assert.deepEqual([one.made.at('d', 2).target, one.made.at('d', 9), one.made.at('e', 1)], ['page:d:2|hop:h2', null, null]);
});

test('what was found stands in the chain, hop by hop, with the one at hand', () => {
  const one = group();
  one.give(1, 'yes', 'h1'), one.give(3, 'yes', 'h1'), one.give(2, 'no', 'h2');
  const [first, second] = chain(one);
  assert.match(first, /1.*3/);
  assert.doesNotMatch(second, /p\. 2/);
  assert.deepEqual(one.made.chain.querySelectorAll('chain-link').map((link) => link.getAttribute('aria-current')), ['true', null]);
  one.made.chain.querySelectorAll('chain-link')[1].click();
  assert.deepEqual(one.picked, ['page:d:1|hop:h2']);
  assert.equal(group({ criterion: { rest: undefined } }).made.chain.hidden, true);
  assert.deepEqual(group({ hops: [] }).made.chain.querySelectorAll('chain-link').map((link) => link.getAttribute('aria-current')), [null]);
});

test('how far the hop is, which page is at hand and what is asked of it', () => {
  const one = group();
  one.give(1, 'yes', 'h1');
  assert.match(one.made.count.textContent, /1\D+3/);
  assert.equal(one.made.progress.style.width, `${(1 / 3) * 100}%`);
  assert.deepEqual([one.made.asks.textContent, one.made.name.textContent], ['First?', 'Page 1']);
  assert.match(one.made.hopText.textContent, /First\?$/);
  assert.match(one.made.where.textContent, /Doc/, 'a document whose pages nobody sees is named');
  one.made.select(one.cell(3, 'h2'));
  assert.deepEqual([one.made.asks.textContent, one.made.name.textContent], ['Second?', 'Page 3']);
  const plain = group({ hops: [], documents: [{ id: 1, key: 'd', title: 'Doc', supplied: false }] });
  assert.deepEqual([plain.made.asks.textContent, plain.made.hopText.textContent, plain.made.tabs.hidden, plain.made.head], ['Whole?', '', true, null]);
});

test('tabs say which hop is at hand and which is done', () => {
  const one = group();
  for (const page of [1, 2, 3]) one.give(page, 'no', 'h2');
  const tabs = one.made.tabs.querySelectorAll('[data-hop]');
  assert.deepEqual(tabs.map((tab) => [tab.firstElementChild.textContent, tab.getAttribute('aria-current'), tab.getAttribute('title')]), [['', 'true', 'First?'], ['✓ ', null, 'Second?']]);
  assert.equal(one.made.tabs.hidden, false);
});

test('each page looks as it was judged in this hop, and says in which others it was found', () => {
  const suggestions = [{ criterion: 'page', target: 'page:d:3|hop:h1', value: 'yes' }, { criterion: 'page', target: 'page:d:2|hop:h1', value: 'no' }];
  const one = group({ more: { suggestions, page_labels: ['page:d:1|hop:h1'] } });
  const look = (page) => one.made.grid.look({ document: 'd', page });
  one.give(1, 'yes', 'h1'), one.give(1, 'yes', 'h2'), one.give(2, 'no', 'h1');
  one.sheet.cannotJudge(one.cell(3), 'Dark.');
  one.made.refresh();
  assert.deepEqual([1, 2, 3, 4].map((page) => [look(page).state, look(page).sign, look(page).hops, look(page).shown]),
    [['sought given-1', '✓', '2', true], ['other', '', '', true], ['cannot', '?', '', true], ['open', '', '', false]]);
  assert.deepEqual([1, 2, 3].map((page) => look(page).marks.length), [1, 0, 1], 'imported, or suggested to be evidence');
  assert.deepEqual(look(1).words[0], 'Evidence');
  const many = group({ criterion: { labels: [...LABELS, { value: 'part', title: 'Partly', key: '3' }] } });
  many.give(2, 'part', 'h1');
  assert.deepEqual([many.made.grid.look({ document: 'd', page: 2 }).sign, many.made.grid.look({ document: 'd', page: 2 }).state], ['P', 'sought given-3']);
});

test('the signs are explained: each label, what is open, and other hops where there are any', () => {
  const states = (one) => one.made.element.querySelectorAll('.page-sign').map((sign) => sign.getAttribute('data-state'));
  assert.deepEqual([states(group()), states(group({ hops: [] }))], [['sought given-1', 'other', 'open', 'of-hop'], ['sought given-1', 'other', 'open']]);
  assert.equal(group().made.element.querySelector('.imported-legend'), null);
  assert.notEqual(group({ more: { page_labels: ['page:d:1|hop:h1'] } }).made.element.querySelector('.imported-legend'), null);
});

test('without a label for the rest the others can be labelled at once, once one is and several are left', () => {
  const one = group({ hops: [], criterion: { rest: undefined } });
  assert.equal(one.made.rest.hidden, true);
  one.give(2, 'no');
  assert.equal(one.made.rest.hidden, false);
  one.made.rest.querySelectorAll('label-rest')[1].click();
  assert.deepEqual(one.picked, [[['page:d:1', 'page:d:3'], 'no']]);
  one.give(1, 'no');
  assert.equal(one.made.rest.hidden, true);
});

// What is told of a qualification -------------------------------------------------------------------------------------

test('what was not right is told first, with what is and why', () => {
  const units = [{ title: 'A', target: '', is_right: true, right: 'Yes', given: 'Yes' }, { title: 'B', target: 'E1', is_right: false, right: 'No', given: null, explanation: 'Look.' }];
  const [list] = feedbackParts({ units });
  assert.deepEqual(list.children.map((line) => [line.className, line.querySelector('b').textContent, line.querySelectorAll('p').length]), [['wrong', '✗ B (E1)', 1], ['right', '✓ A', 0]]);
  assert.match(feedbackTitle({ units }), /1\D+2/);
  assert.equal(units[0].title, 'A', 'what was given stays in its order');
});

test('questions stand as texts are drawn, in one line', () => {
  const one = group({ hops: [{ key: 'h1', question: 'Is &lt;b&gt; bold &amp; safe?' }, { key: 'h2', question: 'x' }] });
  assert.equal(one.made.hopText.textContent, 'Hop 1: Is <b> bold & safe?');
  assert.equal(one.made.asks.textContent, 'Is <b> bold & safe?');
  const whole = group({ hops: [], more: { question: 'AT&amp;T?' } });
  assert.equal(whole.made.asks.textContent, 'AT&T?');
});
