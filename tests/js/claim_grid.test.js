/** Claims as a grid: which cells there are, what stands in them, how it is walked, and the control of the one at hand. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import './page.js';
import { loadKinds } from './browser.js';

const { Sheet } = await import('../../app/widgets/annotate/sheet.js');
const { ClaimGrid } = await import('../../app/widgets/annotate/judgement/claim_grid.js');

before(loadKinds);

const label = (value, key, title = value) => ({ value, title, key });
const HOLDS = { kind: 'choice', name: 'holds', title: 'Holds', target: 'claim_evidence', labels: [label('yes', '1'), label('no', '2')], rest: 'no' };
const FORM = { kind: 'choice', name: 'form', title: 'Good form', help: 'Look.', target: 'claim', labels: [label('short', '1'), label('sound', '2')] };
const EVIDENCE = ['E1', 'E2', 'E3'].map((key) => ({ key, title: `Unit ${key}`, pages: [3], kind: 'passage' }));

/** A grid of two claims against E1 and E2 (the second against E2 alone), and what was picked. */
function grid(criteria = [HOLDS, FORM], more = {}) {
  const units = { holds: ['claim:c1|evidence:E1', 'claim:c1|evidence:E2', 'claim:c2|evidence:E2'], form: ['claim:c1', 'claim:c2'] };
  const item = { step: 0, units, evidence: EVIDENCE, claims: [{ key: 'c1', text: 'One.' }, { key: 'c2', text: 'Two.' }], ...more };
  const sheet = new Sheet(item, { criteria, steps: [{ criteria: criteria.map(({ name }) => name) }] });
  const picked = [];
  const panel = { sheet, keys: { of: (action) => action, title: (action) => action }, pick: (cell) => picked.push(cell.id), give: () => undefined };
  const made = new ClaimGrid(criteria, sheet.cells, panel);
  made.refresh();
  return { made, sheet, picked, cell: (id) => sheet.cellById.get(id) };
}
const marks = ({ made }) => made.grid.map((line) => line.map((cell) => (cell ? made.buttons.get(cell.id).textContent : null)));
const looks = ({ made }) => made.grid.flat().map((cell) => cell && made.buttons.get(cell.id).className);

test('labels on claims and on each against units make a grid; texts, and claims alone, make none', () => {
  assert.deepEqual([ClaimGrid.suits([HOLDS]), ClaimGrid.suits([FORM, HOLDS]), ClaimGrid.suits([FORM]), ClaimGrid.suits([HOLDS, { ...FORM, kind: 'text' }]), ClaimGrid.suits([HOLDS, { ...FORM, labels: [] }]), ClaimGrid.suits([HOLDS, { ...FORM, target: 'evidence' }])],
    [true, true, false, false, false, false]);
});

test('a row a claim, a column a unit that is asked about, and the criteria of claims by their first word', () => {
  const { made } = grid();
  assert.deepEqual(made.heads.map((head) => [head.textContent, head.getAttribute('title')]), [['E1', 'Holds · Unit E1 · p. 3'], ['E2', 'Holds · Unit E2 · p. 3'], ['Good', 'Good form']]);
  assert.deepEqual(made.lines.map((line) => [line.getAttribute('data-claim'), line.querySelector('.claim-text').textContent]), [['C1', 'One.'], ['C2', 'Two.']]);
  assert.deepEqual(made.grid.map((line) => line.map((cell) => cell?.id ?? null)), [['holds claim:c1|evidence:E1', 'holds claim:c1|evidence:E2', 'form claim:c1'], [null, 'holds claim:c2|evidence:E2', 'form claim:c2']]);
});

test('each label is its first letter where that tells them apart, else its key or its number', () => {
  const one = grid();
  for (const [id, value] of [['holds claim:c1|evidence:E1', 'yes'], ['form claim:c1', 'sound'], ['form claim:c2', 'short']]) one.sheet.give(one.cell(id), value);
  one.sheet.cannotJudge(one.cell('holds claim:c2|evidence:E2'), 'Cut.');
  one.made.refresh();
  assert.deepEqual(marks(one), [['Y', '', '2'], [null, '?', '1']]);
  assert.deepEqual(looks(one), ['page-chip given given-1', 'page-chip open', 'page-chip given given-2', null, 'page-chip cannot', 'page-chip given given-1']);
  const bare = grid([{ ...HOLDS, labels: [label('yes', '', 'so'), label('no', '', 'so not')] }, FORM]);
  bare.sheet.give(bare.cell('holds claim:c1|evidence:E1'), 'no');
  bare.made.refresh();
  assert.equal(marks(bare)[0][0], '2');
});

test('a cell says in words what it is about, what is given and what is suggested', () => {
  const suggestions = [{ criterion: 'holds', target: 'claim:c1|evidence:E1', value: 'no' }, { criterion: 'form', target: 'claim:c1', value: 'short' }, { criterion: 'form', target: 'claim:c2', value: 'gone' }];
  const one = grid(undefined, { suggestions });
  const at = (id) => one.made.buttons.get(id);
  assert.deepEqual(['holds claim:c1|evidence:E1', 'form claim:c1', 'form claim:c2'].map((id) => [at(id).textContent, at(id).classList.contains('suggested')]), [['N', true], ['1', true], ['', false]]);
  one.sheet.give(one.cell('holds claim:c1|evidence:E1'), 'yes');
  one.sheet.give(one.cell('form claim:c1'), 'short');
  one.made.refresh();
  assert.deepEqual(['holds claim:c1|evidence:E1', 'form claim:c1'].map((id) => [at(id).textContent, at(id).classList.contains('suggested')]), [['Y', false], ['1', true]]);
  assert.match(at('holds claim:c1|evidence:E1').getAttribute('aria-label'), /C1.*E1.*: yes\..*no/);
  assert.match(at('form claim:c2').getAttribute('aria-label'), /^C2, Good form: [^.]*$/);
  assert.deepEqual([at('holds claim:c1|evidence:E1').getAttribute('title') !== null, at('form claim:c2').getAttribute('title')], [true, null]);
});

test('it is walked with the arrows over what is there and asked, and ends at its edges', () => {
  const one = grid([HOLDS, { ...FORM, when: { criterion: 'holds', values: ['yes'] } }]);
  const walk = (from, ...ways) => {
    one.made.select(one.cell(from));
    return ways.map((way) => one.made.beside(way)?.id ?? null);
  };
  assert.deepEqual(walk('holds claim:c1|evidence:E1', 'right', 'left', 'above', 'below'), ['holds claim:c1|evidence:E2', null, null, null]);
  assert.deepEqual(walk('holds claim:c2|evidence:E2', 'left', 'above', 'right', 'below'), [null, 'holds claim:c1|evidence:E2', null, null]);
  const all = grid();
  all.made.select(all.cell('form claim:c1'));
  assert.deepEqual([all.made.beside('left')?.id, all.made.beside('below')?.id, all.made.beside('right')], ['holds claim:c1|evidence:E2', 'form claim:c2', null]);
});

test('the control of the criterion at hand is there for the cell at hand, and no other', () => {
  const one = grid();
  const controls = () => [...one.made.controls.values()].map((row) => [row.cell.id, row.element.hidden, row.element.classList.contains('cur')]);
  assert.deepEqual(controls(), [['holds claim:c1|evidence:E1', false, false], ['form claim:c1', true, false]]);
  one.made.select(one.cell('form claim:c2'));
  assert.deepEqual(controls(), [['holds claim:c1|evidence:E1', true, false], ['form claim:c2', false, true]]);
  assert.equal(one.made.name.textContent, 'C2, Good form');
  assert.deepEqual([one.made.lines.map((line) => line.classList.contains('cur')), one.made.heads.map((head) => head.classList.contains('cur'))], [[false, true], [false, false, true]]);
  assert.deepEqual([...one.made.buttons].filter(([, mark]) => mark.getAttribute('aria-current')).map(([id]) => id), ['form claim:c2']);
  assert.equal(one.made.shown, one.made.lines[1]);
  one.made.select(null);
  assert.deepEqual([one.made.lines.some((line) => line.classList.contains('cur')), [...one.made.buttons.values()].some((mark) => mark.getAttribute('aria-current'))], [false, false]);
});

test('what is done is counted among what is asked; the rest is that of the claim at hand', () => {
  const one = grid();
  one.sheet.give(one.cell('form claim:c1'), 'short');
  one.made.refresh();
  assert.match(one.made.count.textContent, /1\D+5/);
  const [rest] = one.made.rests;
  assert.deepEqual(rest.cells().map(({ id }) => id), ['holds claim:c1|evidence:E1', 'holds claim:c1|evidence:E2']);
  one.made.select(one.cell('form claim:c2'));
  assert.deepEqual(rest.cells().map(({ id }) => id), ['holds claim:c2|evidence:E2']);
  one.made.buttons.get('form claim:c1').click();
  one.made.lines[1].click();
  assert.deepEqual(one.picked, ['form claim:c1', 'holds claim:c2|evidence:E2']);
});
