/** Parts of the desks that draw little: the bar above the pages, the box that is drawn by keys, tips, drafts of a model. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass } from './browser.js';
import './whole_page.js';
import { isFormula } from '../../app/widgets/texts/formula_source.js';
import { DraftPanel } from '../../app/widgets/revise/drafts.js';
import { Marker } from '../../app/widgets/viewer/pages/marker.js';
import { TEXT } from '../../app/widgets/shared/text.js';
import { Tip } from '../../app/widgets/shared/tip.js';
import { WORDS } from '../../app/widgets/revise/text.js';

beforeEach(() => localStorage.clear());

test('what is a formula, of every pair of signs, and what is money, prose or too much', () => {
  const cases = [
    ['x', '$', true], ['xx yy', '$', false], ['5 and 6', '$', false], ['x_1', '$', true], ['"x"', '$', false], ['x', '(', true],
    ['the whole sum', '$', false], ['the whole sum', '$$', false], ['ab', '$$', true], ['a b', '$$', true], ['[1]', '[', false], ['a = b', '[', true], ['1', '[', false],
    ['x_1', '[', true], ['ab cd', '(', false], ['anything at all here', 'begin', true], ['', '$', false], ['  ', '$$', false],
    ['a\n\nb', '$$', false], ['\\href{x}{y}', '$$', false], ['{a', '$', false], ['a}', '$', false], ['}{', 'begin', false], ['\\{', '$', true],
    [`${'{'.repeat(30)}x${'}'.repeat(30)}`, '$', true], [`${'{'.repeat(31)}x${'}'.repeat(31)}`, '$', false],
    ['a'.repeat(2000), '$$', false], [`x_{${'1'.repeat(1995)}}`, '$', true], [`x_{${'1'.repeat(1997)}}`, '$', false],
    [`a${'&a'.repeat(300)}`, 'begin', true], [`a${'&a'.repeat(301)}`, 'begin', false], [`a${'\\\\a'.repeat(301)}`, 'begin', false],
    ['\\text{when it rains often here} x', '$', true], ['when_1 that_1 this_1 with_1 them', '$', false], ['when_1 that_1 this_1 with_1', '$', true],
  ];
  for (const [tex, sign, is] of cases) assert.equal(isFormula(tex, sign), is, `${sign} ${tex.slice(0, 40)}`);
});

/** What a marker needs of the pages: one page of a ratio, whose middle it begins at. */
const pages = (ratio = 1) => {
  const found = [];
  const page = document.createElement('div');
  return {
    found, page, element: document.createElement('div'), layout: { ratio: () => ratio, turn: 0 },
    middle: () => ({ page: 1, x: 0.5, y: 0.5 }), reveal() {}, elementOf: () => page, on: {},
  };
};

const marker = (ratio) => {
  const of = pages(ratio);
  const made = new Marker(of, { marked: (...marked) => of.found.push(marked), changed: () => undefined });
  return { of, made };
};

test('arrows move the crosshair from the middle, fast while they are held, and never off the page', () => {
  const { made } = marker(2);
  assert.equal(made.key('ArrowRight', false), false, 'not while nothing is drawn');
  made.set(true);
  made.key('ArrowRight', false);
  const step = made.at.x - 0.5;
  made.key('ArrowRight', true);
  const fast = made.at.x - 0.5 - step;
  assert.ok(step > 0 && fast > 2 * step, `${step} ${fast}`);
  made.key('ArrowDown', false);
  assert.ok(Math.abs((made.at.y - 0.5) * 2 - step) < 1e-9, 'as far down as to the right, on the screen');
  for (let times = 0; times < 200; times += 1) made.key('ArrowLeft', true);
  assert.equal(made.at.x, 0);
  assert.equal(made.key('k', false), false);
});

test('Enter begins a box and ends it, Space ends it as text, and one that is too small is none', () => {
  for (const [end, asText] of [['Enter', false], ['Space', true]]) {
    const { of, made } = marker();
    made.set(true);
    made.key('Enter', false);
    for (let times = 0; times < 5; times += 1) {
      made.key('ArrowRight', true);
      made.key('ArrowDown', true);
    }
    made.key(end, false);
    assert.equal(of.found.length, 1);
    const [page, [x0, y0, x1, y1], text] = of.found[0];
    assert.deepEqual([page, x0, y0, text], [1, 0.5, 0.5, asText]);
    assert.ok(x1 > 0.5 && y1 > 0.5);
    assert.equal(made.on, false, 'a box ends the drawing');
  }
  const { of, made } = marker();
  made.set(true);
  made.key('Enter', false);
  made.key('Enter', false);
  assert.deepEqual([of.found, made.on], [[], true]);
  made.key('Enter', false);
  made.key('Escape', false);
  assert.deepEqual([made.start, made.on], [null, true], 'first the box that was begun');
  made.key('Escape', false);
  assert.equal(made.on, false);
});

test('a tip comes after a moment, with its key, and goes with the pointer', async () => {
  const [panel, scope] = [document.createElement('div'), document.createElement('div')];
  document.body.replaceChildren(panel, scope);
  const label = document.createElement('button');
  label.setAttribute('data-tip', 'Says yes');
  scope.append(label);
  const tip = new Tip(panel, scope);
  tip.show(label);
  await pass(300);
  assert.equal(tip.element.hidden, true);
  await pass(100);
  assert.deepEqual([tip.element.hidden, tip.element.textContent], [false, 'Says yes']);
  scope.dispatchEvent(new Event('pointerout'));
  assert.equal(tip.element.hidden, true);
  tip.show(label);
  scope.dispatchEvent(new Event('focusout'));
  await pass(400);
  assert.equal(tip.element.hidden, false, 'the focus is followed only where that is asked for');
  const followed = new Tip(panel, scope, true);
  followed.show(label);
  scope.dispatchEvent(new Event('focusout'));
  await pass(400);
  assert.equal(followed.element.hidden, true);
});

/** A panel of a draft with a model, whose answers come in turn. */
async function drafting(outcomes, plan = { leaves: 'The question.', tokens: 40, cost: null }) {
  const said = { taken: [], closed: 0, asked: [] };
  const edits = { item: { item_id: 3, drafting: { writers: [{ model: 'm', server: 's' }], prompts: { answer: ['p@1'] } } }, text: (name) => `the ${name}` };
  const api = {
    draftPlan: async (item, wanted) => (said.asked.push(wanted), plan), draft: async () => 9, drafted: async () => outcomes.shift(),
  };
  const panel = new DraftPanel(edits, 'answer', api, { take: (...taken) => said.taken.push(taken), close: () => (said.closed += 1) });
  document.body.replaceChildren(panel.element);
  panel.writer.value = '0';
  await pass(10);
  return { panel, said, press: async (testid) => (panel.element.querySelector(testid).click(), await pass(2000)) };
}
const draft = (texts, more = {}) => ({ state: 'done', problem: null, job: 9, draft: { texts, none: null, model: 'm', prompt: { name: 'p', version: 1 }, ...more } });

test('a draft is asked for only when it was said what leaves, shown when it came, and taken or left', async () => {
  const { panel, said, press } = await drafting([{ state: 'running' }, { state: 'waiting' }, draft(['One.', 'Two.'])]);
  assert.deepEqual([said.asked[0].writes, said.asked[0].answer], ['answer', 'the answer']);
  assert.match(panel.said.textContent, /The question\./);
  await press('draft-ask');
  assert.deepEqual([panel.text.hidden, panel.text.textContent], [false, 'One.\nTwo.']);
  await press('draft-take');
  assert.deepEqual([said.taken, said.closed, panel.closed, panel.element.isConnected], [[['One.\nTwo.', 9]], 1, true, false]);
});

test('a draft that is none says why and can be asked for again', async () => {
  for (const [outcome, words] of [
    [{ state: 'failed', problem: 'The budget is spent.', job: 9, draft: null }, 'The budget is spent.'],
    [draft([], { none: 'Nothing is missing.' }), 'Nothing is missing.'],
    [draft([]), WORDS.draftNothing.slice(0, 10)],
  ]) {
    const { panel, said, press } = await drafting([outcome]);
    await press('draft-ask');
    assert.ok(panel.said.textContent.includes(words), panel.said.textContent);
    assert.equal(panel.text.hidden, true);
    await press('draft-again');
    assert.deepEqual([said.asked.length, said.taken.length, said.closed], [2, 0, 0]);
  }
});

test('a panel that was closed takes nothing of what still comes', async () => {
  const { panel, said, press } = await drafting([{ state: 'running' }, draft(['One.'])]);
  panel.element.querySelector('draft-ask').click();
  panel.close();
  await pass(3000);
  assert.deepEqual([panel.text.hidden, said.closed, said.taken], [true, 1, []]);
  assert.ok(press);
});

test('of a document that was not supplied it is said whether there is a text in its place', async () => {
  const { Passages } = await import('../../app/widgets/viewer/passages.js');
  const doc = { id: 4, key: 'a.pdf', title: '', supplied: false, n_pages: 9 };
  const unit = (text, document = 4) => ({ key: 'E1', kind: 'passage', document, pages: [2], text, title: '' });
  const texts = { choice: () => null, fill: (element, text) => (element.append(text), element) };
  for (const [units, words] of [
    [[unit('It ran.'), unit(null)], TEXT.notSuppliedText], [[unit(''), unit(null)], TEXT.notSuppliedNothing], [[unit('It ran.', 5)], null],
  ]) {
    const passages = new Passages(() => undefined, texts);
    passages.open(units, [doc]);
    const said = passages.element.querySelector('not-supplied').textContent;
    assert.deepEqual([TEXT.notSuppliedText, TEXT.notSuppliedNothing].filter((one) => said.includes(one)), words ? [words] : []);
    assert.equal(passages.element.querySelectorAll('passage').filter((card) => card.textContent.includes(TEXT.noText)).length, units.filter((one) => !one.text).length);
  }
});
