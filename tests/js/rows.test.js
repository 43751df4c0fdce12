/** The rows of a step: which group each criterion makes, what stands at a row, which are hidden, and what is missing in words. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import './page.js';
import { loadKinds } from './browser.js';

const { Sheet } = await import('../../app/widgets/annotate/sheet.js');
const { buildCriteria, hideUnasked, missingWords } = await import('../../app/widgets/annotate/judgement/criteria.js');
const { Row, rowTitle, targetTitle } = await import('../../app/widgets/annotate/judgement/rows.js');

before(loadKinds);

const LABELS = [{ value: 'yes', title: 'Yes', key: '1' }, { value: 'no', title: 'No', key: '2' }];
const asked = (name, target, more = {}) => ({ kind: 'choice', labels: LABELS, name, title: name.toUpperCase(), target, ...more });
const ITEM = {
  step: 0, question: 'Q',
  evidence: ['E1', 'E2'].map((key) => ({ key, title: `Unit ${key}`, pages: [3], kind: 'passage' })),
  claims: [{ key: 'c1', text: 'One.' }, { key: 'c2', text: 'Two.' }],
  images: [{ key: 'I1', caption: 'Bridge' }, { key: 'I2', caption: '' }],
};
const TARGETS = {
  item: ['item'], pair: ['pair'], evidence: ['evidence:E1', 'evidence:E2'], claim: ['claim:c1', 'claim:c2'], image: ['image:I1', 'image:I2'],
  claim_evidence: ['claim:c1|evidence:E1', 'claim:c1|evidence:E2', 'claim:c2|evidence:E1', 'claim:c2|evidence:E2'],
};

/** The panel of a step in which these are asked; `more` of the item, `units` of a criterion otherwise than all. */
function panel(criteria, more = {}, units = {}) {
  const item = { ...ITEM, units: { ...Object.fromEntries(criteria.map(({ name, target }) => [name, TARGETS[target]])), ...units }, ...more };
  const acts = [];
  const act = (name) => (...given) => acts.push([name, ...given]);
  const sheet = new Sheet(item, { criteria, steps: [{ criteria: criteria.map(({ name }) => name) }] });
  return {
    sheet, acts, facing: false, keys: { of: (action) => action, title: (action) => action },
    pick: act('pick'), clear: act('clear'), comment: act('comment'), cannotJudge: act('cannotJudge'), give: act('give'),
  };
}
const cellOf = (of, id) => of.sheet.cellById.get(id);
const titles = (root) => root.querySelectorAll('.c-title').map((title) => title.textContent);
const shapes = (built) => built.elements.map((element) => element.className);

// Groups --------------------------------------------------------------------------------------------------------------

const GROUPS = [
  ['what is asked of the item is a row of its own, an aside is set apart',
    [asked('a', 'item'), asked('b', 'item', { aside: { of: 'a', field: 'confidence', title: 'How sure?' } })], ['c', 'c aside'], []],
  ['what is asked of a pair is a row of its own', [asked('a', 'pair')], ['c'], []],
  ['one criterion on each unit is a list', [asked('a', 'evidence')], ['group'], []],
  ['two on each unit are things, with what is asked of each', [asked('a', 'evidence'), asked('b', 'evidence')], ['group'], ['thing', 'thing']],
  ['texts on claims against units are things, as no grid can hold them', [asked('a', 'claim_evidence', { kind: 'text' })], ['group'], ['thing', 'thing']],
  ['labels on claims against units are a grid', [asked('a', 'claim_evidence')], ['group claims'], []],
  ['claims by themselves are a list', [asked('a', 'claim')], ['group'], []],
];
for (const [why, criteria, outer, things] of GROUPS) {
  test(why, () => {
    const built = buildCriteria(panel(criteria));
    assert.deepEqual(shapes(built), outer);
    assert.deepEqual(built.elements.flatMap((element) => element.querySelectorAll('.thing')).map((thing) => thing.className), things);
  });
}

test('a list has its criterion once, how many units it has, and a row a unit with its title', () => {
  const made = panel([asked('a', 'evidence')]);
  const { elements: [group], rows } = buildCriteria(made);
  assert.equal(group.querySelector('.group-title').textContent, 'A2 units');
  assert.deepEqual(group.querySelectorAll('criterion').map((row) => [row.className, row.getAttribute('data-target'), row.querySelector('.e-title').textContent]),
    [['e', 'evidence:E1', 'E1Unit E1p. 3'], ['e', 'evidence:E2', 'E2Unit E2p. 3']]);
  assert.deepEqual([...rows.keys()], ['a evidence:E1', 'a evidence:E2']);
  assert.equal(group.getAttribute('data-cells'), 'a evidence:E1\na evidence:E2');
});

test('of two criteria on units each row says which it is; the unit stands above both and is gone to by a click', () => {
  const made = panel([asked('a', 'evidence'), asked('b', 'evidence')]);
  const { elements: [group] } = buildCriteria(made);
  const [first, second] = group.querySelectorAll('.thing');
  assert.deepEqual([titles(first), first.querySelector('.thing-title').textContent], [['A', 'B'], 'E1Unit E1p. 3']);
  assert.deepEqual(first.querySelectorAll('criterion').map((row) => row.className), ['c in', 'c in']);
  assert.equal(second.getAttribute('data-cells'), 'a evidence:E2\nb evidence:E2');
  second.querySelector('.thing-title').click();
  assert.deepEqual(made.acts.map(([name, cell]) => [name, cell.id]), [['pick', 'a evidence:E2']]);
});

test('a claim’s rows say the unit, and the criterion as well where there are several; one criterion is said at the claim', () => {
  const text = (name) => asked(name, 'claim_evidence', { kind: 'text' });
  const [one] = buildCriteria(panel([text('a')])).elements[0].querySelectorAll('.thing');
  assert.equal(one.querySelector('.thing-title').textContent, 'C1One.A');
  assert.deepEqual(one.querySelectorAll('criterion').map((row) => [row.className, row.children[0].textContent]), [['e', 'E1Unit E1p. 3'], ['e', 'E2Unit E2p. 3']]);
  const [both] = buildCriteria(panel([text('a'), text('b')])).elements[0].querySelectorAll('.thing');
  assert.equal(both.querySelector('.thing-title').textContent, 'C1One.');
  assert.deepEqual(both.querySelectorAll('criterion').map((row) => row.children[0].textContent), ['E1Unit E1p. 3A', 'E1Unit E1p. 3B', 'E2Unit E2p. 3A', 'E2Unit E2p. 3B']);
});

test('neighbours of another kind, and pages, are groups of their own, in the order of the step', () => {
  const built = buildCriteria(panel([asked('a', 'item'), asked('b', 'evidence'), asked('c', 'claim'), asked('d', 'claim_evidence'), asked('e', 'item')]));
  assert.deepEqual(shapes(built), ['c', 'group', 'group claims', 'c']);
  assert.equal(built.groups.length, 1);
});

test('a criterion of which nothing is asked leaves no trace; where nothing at all is, that is said', () => {
  const some = buildCriteria(panel([asked('a', 'item'), asked('b', 'evidence')], {}, { b: [] }));
  assert.deepEqual([shapes(some), some.elements.some((one) => one.matches('nothing-asked'))], [['c'], false]);
  const none = buildCriteria(panel([asked('b', 'evidence')], {}, { b: [] }));
  assert.deepEqual(none.elements.map((one) => one.getAttribute('data-testid')), ['nothing-asked']);
});

test('units that are left out are counted once where two criteria leave the same out, and above their group', () => {
  const criteria = [asked('a', 'evidence'), asked('b', 'evidence'), asked('c', 'item')];
  const said = (left_out) => buildCriteria(panel(criteria, { left_out })).elements.filter((one) => one.matches('left-out-units')).map((one) => one.textContent);
  assert.deepEqual(said({ a: [2, 5], b: [2, 5] }), ['Judged are 2 of 5 units of evidence; 3 are left out.']);
  assert.deepEqual(said({ a: [1, 2], b: [2, 5] }), ['Judged is 1 of 2 units of evidence; 1 is left out.', 'Judged are 2 of 5 units of evidence; 3 are left out.']);
  assert.deepEqual([said({}), said(undefined), said({ z: [1, 2] })], [[], [], []]);
});

test('the line for the rest stands with its group, and in the grid with its control', () => {
  const list = buildCriteria(panel([asked('a', 'evidence', { rest: 'no' })]));
  assert.deepEqual([list.rests.length, list.elements[0].querySelectorAll('rest').length], [1, 1]);
  const grid = buildCriteria(panel([asked('a', 'claim_evidence', { rest: 'no' })]));
  assert.deepEqual([grid.rests.length, grid.elements[0].querySelectorAll('rest').length], [1, 1]);
  assert.equal(buildCriteria(panel([asked('a', 'evidence')])).rests.length, 0);
});

test('images of an answer that stands opposite are cards; without an answer each is shown at its rows', () => {
  const criteria = [asked('a', 'image'), asked('b', 'image')];
  const facing = (answer, one) => buildCriteria({ ...panel(one ?? criteria, { answer }), facing: true });
  assert.deepEqual([facing('See.').cards.length, facing(undefined).cards.length, facing('See.', criteria.slice(0, 1)).cards.length], [1, 0, 0]);
  const beside = buildCriteria(panel(criteria, { answer: 'See.' }));
  assert.equal(beside.cards.length, 0);
});

// Hidden --------------------------------------------------------------------------------------------------------------

test('a group is hidden while nothing in it is asked, each by itself', () => {
  const criteria = [asked('a', 'evidence'), asked('b', 'evidence', { when: { criterion: 'a', values: ['yes'] } }), asked('c', 'item'), asked('d', 'claim', { when: { criterion: 'c', values: ['no'] } })];
  const made = panel(criteria);
  const root = document.createElement('div');
  root.append(...buildCriteria(made).elements);
  const hidden = () => (hideUnasked(root, made.sheet), root.querySelectorAll('[data-cells]').map((part) => part.hidden));
  assert.deepEqual(hidden(), [false, false, false, true]);
  made.sheet.give(cellOf(made, 'c item'), 'no');
  assert.deepEqual(hidden(), [false, false, false, false]);
});

// Rows ----------------------------------------------------------------------------------------------------------------

test('a title has its help, and says what may stay open; an aside says its own', () => {
  assert.equal(rowTitle(asked('a', 'item', { help: 'Look.', required: false }), ITEM).textContent, 'AoptionalLook.');
  assert.equal(rowTitle(asked('a', 'item', { required: true }), ITEM).textContent, 'A');
  assert.equal(rowTitle(asked('a', 'item', { aside: { title: 'How sure?' } }), ITEM).textContent, 'How sure?');
  assert.equal(rowTitle(asked('a', 'item'), { ...ITEM, scores: [{ criterion: 'a', title: 'F1', words: '0.5', value: 0.5 }] }).textContent, 'AF10.5');
});

test('the title of a claim is the claim, in full and without a tip, whatever it is held against', () => {
  const claim = targetTitle('claim:c2|evidence:E1', ITEM);
  assert.deepEqual([claim.textContent, claim.className, claim.querySelector('p').getAttribute('title')], ['C2Two.', 'e-title said', null]);
  const unit = targetTitle('evidence:E2', ITEM);
  assert.deepEqual([unit.className, unit.querySelector('p').getAttribute('title')], ['e-title', 'Unit E2']);
});

/** A row with the panel it is in. */
function drawnRow(criterion, more = {}) {
  const made = panel([criterion], more);
  const one = new Row(made.sheet.cells[0], made, rowTitle(criterion, made.sheet.item));
  one.refresh();
  return { ...made, row: one, cell: made.sheet.cells[0] };
}
const notes = ({ row: one }) => one.notes.children.map((note) => note.textContent);

test('what is given shows at the row: answered, a comment, "cannot judge" with its reason and the way back', () => {
  const made = drawnRow(asked('a', 'item'));
  assert.deepEqual([made.row.element.classList.contains('answered'), notes(made), made.row.element.hidden], [false, [], false]);
  made.sheet.give(made.cell, 'yes');
  made.sheet.set(made.cell, { comment: 'Hm.' });
  made.row.refresh();
  assert.deepEqual([made.row.element.classList.contains('answered'), notes(made).length], [true, 1]);
  assert.match(notes(made)[0], /Hm\./);
  made.row.notes.children[0].click();
  made.sheet.cannotJudge(made.cell, 'It is cut.');
  made.row.refresh();
  assert.equal(notes(made).length, 2);
  assert.match(notes(made)[0], /It is cut\./);
  made.row.notes.querySelector('.mini').click();
  assert.deepEqual(made.acts.map(([name, cell]) => [name, cell.id]), [['comment', 'a item'], ['clear', 'a item']]);
});

test('a label that is suggested is marked; it is said beneath once another one is given', () => {
  const made = drawnRow(asked('a', 'item'), { suggestions: [{ criterion: 'a', target: 'item', value: 'yes' }] });
  const marked = () => made.row.element.querySelectorAll('[data-testid=label]').map((label) => [label.classList.contains('suggested'), label.querySelectorAll('.suggests').length]);
  assert.deepEqual([marked(), notes(made)], [[[true, 1], [false, 0]], []]);
  made.sheet.give(made.cell, 'yes');
  made.row.refresh();
  assert.deepEqual([marked(), notes(made)], [[[true, 1], [false, 0]], []], 'marked once however often it is drawn');
  made.sheet.give(made.cell, 'no');
  made.row.refresh();
  assert.deepEqual(notes(made).map((note) => /Yes/.test(note)), [true]);
  made.sheet.cannotJudge(made.cell, 'Cut.');
  made.row.refresh();
  assert.equal(notes(made).filter((note) => /Yes/.test(note)).length, 1);
});

test('a suggestion that no label can show is said in words from the beginning', () => {
  const made = drawnRow(asked('a', 'item', { kind: 'text', labels: undefined }), { suggestions: [{ criterion: 'a', target: 'item', value: 'In short' }] });
  assert.deepEqual(notes(made).map((note) => /In short/.test(note)), [true]);
});

test('what is wrong with a value is said at the row, unless it is being typed', () => {
  const number = drawnRow(asked('a', 'item', { kind: 'number', labels: undefined, maximum: 30 }));
  number.sheet.give(number.cell, 31);
  number.row.refresh();
  assert.deepEqual([notes(number).length, number.row.element.classList.contains('answered')], [1, false]);
  const text = drawnRow(asked('a', 'item', { kind: 'text', labels: undefined, max_words: 1 }));
  text.sheet.give(text.cell, 'two words');
  text.row.refresh();
  assert.deepEqual(notes(text), []);
});

test('where there is no value to judge, "cannot judge" is one press away until it is answered', () => {
  const scores = [{ criterion: 'a', title: 'F1', words: 'unscored', value: null }];
  const made = drawnRow(asked('a', 'item'), { scores });
  const press = made.row.element.querySelector('no-value');
  press.click();
  assert.deepEqual(made.acts.map(([name, cell, reason]) => [name, cell.id, /unscored/.test(reason)]), [['cannotJudge', 'a item', true]]);
  assert.equal(made.row.suggestion.hidden, false);
  made.sheet.give(made.cell, 'no');
  made.row.refresh();
  assert.equal(made.row.suggestion.hidden, true);
  assert.equal(drawnRow(asked('a', 'item'), { scores: [{ ...scores[0], value: 0 }] }).row.suggestion, null);
});

test('a row that is not asked now is hidden, and the one at hand is said to be it', () => {
  const made = panel([asked('a', 'item'), asked('b', 'item', { when: { criterion: 'a', values: ['yes'] } })]);
  const second = new Row(cellOf(made, 'b item'), made, document.createElement('div'));
  second.refresh();
  assert.equal(second.element.hidden, true);
  made.sheet.give(cellOf(made, 'a item'), 'yes');
  second.refresh();
  assert.equal(second.element.hidden, false);
  second.select(true);
  assert.deepEqual([second.element.classList.contains('cur'), second.element.getAttribute('aria-current')], [true, 'true']);
  second.select(false);
  assert.deepEqual([second.element.classList.contains('cur'), second.element.getAttribute('aria-current')], [false, null]);
});

// What is missing -----------------------------------------------------------------------------------------------------

/** What is said of a step in which nothing is given of these. */
const missing = (criteria, more, units) => {
  const { sheet } = panel(criteria, more, units);
  return missingWords(sheet, sheet.missing());
};
const many = (n) => Array.from({ length: n }, (_, at) => ({ key: `E${at + 1}`, title: '', pages: [], kind: 'passage' }));

test('what is missing is named, each criterion once with the keys of its units, four at most of each', () => {
  assert.equal(missing([asked('a', 'item')]), 'Still to answer: A');
  assert.equal(missing([asked('a', 'item'), asked('b', 'evidence')]), 'Still to answer: A; B (E1, E2)');
  const units = (n) => ({ b: many(n).map(({ key }) => `evidence:${key}`) });
  assert.equal(missing([asked('b', 'evidence')], { evidence: many(4) }, units(4)), 'Still to answer: B (E1, E2, E3, E4)');
  assert.equal(missing([asked('b', 'evidence')], { evidence: many(6) }, units(6)), 'Still to answer: B (E1, E2, E3, E4, and 2 more)');
  const held = { c: ['claim:c1|evidence:E1', 'claim:c1|evidence:E2', 'claim:c2|evidence:E1'] };
  assert.equal(missing([asked('c', 'claim_evidence')], { evidence: many(2), claims: [{ key: 'c1', text: 'One.', of: 'answer' }, { key: 'c2', text: 'Two.', of: 'answer' }] }, held),
    'Still to answer: C (C1 against E1, C1 against E2, C2 against E1)');
  const items = (n) => 'abcdef'.slice(0, n).split('').map((name) => asked(name, 'item'));
  assert.equal(missing(items(4)), 'Still to answer: A; B; C; D');
  assert.equal(missing(items(6)), 'Still to answer: A; B; C; D; and 2 more');
});

test('what is wrong comes before what is missing, with what it is about', () => {
  const number = asked('n', 'evidence', { kind: 'number', labels: undefined, maximum: 3 });
  const { sheet } = panel([number, asked('a', 'item')]);
  sheet.give(sheet.cellById.get('n evidence:E1'), 7);
  assert.match(missingWords(sheet, sheet.missing()), /^N \(E1\) 7 is not allowed/);
});
