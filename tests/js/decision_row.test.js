/** A row of the adjudicator's table: the votes side by side, the control where it is needed, and what is said of a decision. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type } from './page.js';
import { loadKinds } from './browser.js';

const { Decisions } = await import('../../app/widgets/adjudicate/decisions.js');
const { Fold, Row } = await import('../../app/widgets/adjudicate/row.js');
const { Table } = await import('../../app/widgets/adjudicate/table.js');

before(loadKinds);

const label = (value, key) => ({ value, title: value.toUpperCase(), key, definition: '' });
const CRITERIA = [
  { kind: 'choice', name: 'stance', title: 'Stance', help: 'Look.', target: 'item', labels: [label('yes', '1'), label('no', '2')] },
  { kind: 'text', name: 'why', title: 'Why', target: 'item' },
];
const vote = (rater, value, more = {}) => ({ rater, value, cannot_judge: false, reason: null, comment: null, rationale: null, ...more });

/** A unit with these votes as the server sends it. */
function sentUnit(votes, { criterion = 'stance', outcome = 'open', value = null, majority = null, needs = true, rounds = [], target = 'item' } = {}) {
  const counts = {};
  for (const one of votes.filter((each) => !each.cannot_judge)) counts[JSON.stringify(one.value)] = (counts[JSON.stringify(one.value)] ?? 0) + 1;
  return { criterion, target, votes, counts, outcome, value, majority, needs_decision: needs, decided: null, rounds };
}

/** A dispute of these units as the server sends it. */
const disputeOf = (units, presentation, raters = ['R1', 'R2', 'R3']) => (
  { study_item_id: 5, presentation: { targets: {}, ...presentation }, units, raters, comments: {}, flags: {}, annotations: {}, state: 'disputed', allowed: null });

/** The row of a unit with these votes, and what was done in it. */
function row(votes, { above = null, raters, evidence, ...sent } = {}) {
  const decisions = new Decisions(disputeOf([sentUnit(votes, sent)], { evidence }, raters), { criteria: CRITERIA }, false, null);
  const did = [];
  const panel = {
    decisions, reasonKey: 'r', give: (of, given, done) => did.push(['give', given, done]), reason: (of, words) => did.push(['reason', words]),
    said: (of, words) => did.push(['said', words]), pick: () => did.push(['pick']), open: () => did.push(['open']), done: () => did.push(['done']),
  };
  const made = new Row(decisions.units[0], panel, above);
  made.refresh();
  return { made, did, decisions, unit: decisions.units[0] };
}
const SPLIT = [vote('R1', 'yes'), vote('R2', 'yes'), vote('R3', 'no')];

test('the votes stand in the order of the annotators, the odd one out marked; who was not asked has a dash', () => {
  const { made } = row([vote('R3', 'no', { reason: 'Because.', rationale: [{ page: 1, text: 'pier' }, { page: 2, box: [0, 0, 1, 1] }] }), vote('R1', 'yes'), vote('R2', 'yes', { comment: 'Hm.' })]);
  const cells = made.element.querySelectorAll('.given');
  assert.deepEqual(cells.map((cell) => cell.getAttribute('data-rater')), ['R1', 'R2', 'R3']);
  assert.deepEqual(cells.map((cell) => cell.querySelectorAll('odd').length), [0, 0, 1]);
  assert.deepEqual(cells.map((cell) => cell.querySelectorAll('p').length), [0, 1, 2]);
  assert.match(cells[2].querySelector('.quote').textContent, /pier/);
  const { made: two } = row([vote('R1', 'yes'), vote('R3', null, { cannot_judge: true, reason: 'Cut.' })]);
  assert.deepEqual(two.element.querySelectorAll('.given').map((cell) => cell.getAttribute('data-rater')), ['R1', null, 'R3']);
  assert.equal(two.element.querySelectorAll('.vote')[1].className, 'vote cannot');
});

test('a disputed unit has its control, which gives and shows the decision', () => {
  const { made, did, decisions, unit } = row(SPLIT, { majority: 'yes' });
  assert.deepEqual([made.element.classList.contains('disputed'), made.input !== null, made.otherwise], [true, true, null]);
  made.input.key('2');
  assert.deepEqual(did, [['give', 'no', true]]);
  assert.notEqual(made.hint.textContent, '', 'what it takes to overrule is said before');
  decisions.set(unit, { value: 'yes' });
  made.refresh();
  assert.deepEqual([made.element.classList.contains('decided'), made.reasonPart.hidden, made.aboutPart.hidden, made.hint.textContent], [true, true, false, '']);
  assert.deepEqual(made.element.querySelectorAll('[data-testid=label]').map((one) => one.getAttribute('aria-checked')), ['true', 'false']);
});

test('going against the majority asks for a reason, which is wanted until it says something', () => {
  const { made, did, decisions, unit } = row(SPLIT, { majority: 'yes' });
  decisions.set(unit, { value: 'no' });
  made.refresh();
  const state = () => [made.reasonPart.hidden, made.reasonField.getAttribute('aria-required'), made.reasonField.getAttribute('aria-invalid'), made.element.classList.contains('decided'), made.reasonLabel.classList.contains('warn-text')];
  assert.deepEqual(state(), [false, 'true', 'true', false, true]);
  assert.match(made.reasonLabel.textContent, /YES/);
  type(made.reasonField, 'So it is');
  assert.deepEqual(did, [['reason', 'So it is']]);
  decisions.set(unit, { reason: 'So it is' });
  made.refresh();
  assert.deepEqual(state(), [false, 'true', null, true, false]);
  made.reasonField.value = 'So it is ';
  made.refresh();
  assert.equal(made.reasonField.value, 'So it is ', 'a space that is being typed stays');
  decisions.set(unit, { value: 'yes', reason: '' });
  made.refresh();
  assert.deepEqual([state(), made.reasonField.value], [[true, null, null, true, false], '']);
});

test('a reason may be written of one’s own accord, and what the disagreement came from said', () => {
  const { made, did, decisions, unit } = row(SPLIT);
  made.writeReason();
  assert.deepEqual([made.reasonPart.hidden, document.activeElement], [false, made.reasonField]);
  decisions.set(unit, { value: 'yes' });
  made.refresh();
  assert.deepEqual([made.note.hidden, made.aboutPart.classList.contains('said')], [true, false]);
  made.cause.select.value = 'guideline_gap';
  made.cause.select.dispatchEvent(new Event('change'));
  made.confidence.select.value = '';
  made.confidence.select.dispatchEvent(new Event('change'));
  type(made.note, 'Say more.');
  assert.deepEqual(did, [['said', { cause: 'guideline_gap' }], ['said', { confidence: null }], ['said', { note: 'Say more.' }]]);
  decisions.set(unit, { cause: 'guideline_gap' });
  made.refresh();
  assert.deepEqual([made.note.hidden, made.aboutPart.classList.contains('said'), made.cause.select.value], [false, true, 'guideline_gap']);
  decisions.set(unit, { cause: 'slip' });
  made.refresh();
  assert.equal(made.note.hidden, true);
  decisions.set(unit, { note: 'Kept' });
  made.refresh();
  assert.deepEqual([made.note.hidden, made.note.value], [false, 'Kept']);
});

test('a settled unit says how, and can be decided otherwise; the way there is reached by the keyboard where one is', () => {
  const { made, did, decisions, unit } = row([vote('R1', 'yes'), vote('R2', 'yes'), vote('R3', 'no')], { outcome: 'majority', value: 'yes', majority: 'yes', needs: false });
  assert.deepEqual([made.input, made.element.classList.contains('settled'), made.otherwise.tabIndex], [null, true, -1]);
  assert.match(made.cell.textContent, /YES/);
  made.select(true);
  assert.deepEqual([made.otherwise.tabIndex, made.element.getAttribute('aria-current'), made.element.classList.contains('cur')], [0, 'true', true]);
  made.select(false);
  assert.deepEqual([made.otherwise.tabIndex, made.element.getAttribute('aria-current')], [-1, null]);
  made.otherwise.click();
  assert.deepEqual(did, [['open']]);
  made.writeReason();
  assert.equal(document.activeElement === made.reasonField, false, 'there is no reason to write yet');
  decisions.opened.add(unit.id);
  made.refresh();
  assert.notEqual(made.input, null);
  made.focus();
  assert.notEqual(document.activeElement, made.element);
  decisions.clear(unit);
  made.refresh();
  assert.deepEqual([made.input, made.otherwise !== null], [null, true]);
  made.focus();
  assert.equal(document.activeElement, made.element);
});

test('what two decided alike, and texts, cannot be decided otherwise', () => {
  const alike = row(SPLIT, { outcome: 'alike', value: 'no', needs: false, rounds: [{ by: 'A', value: 'no', reason: null }] }).made;
  assert.deepEqual([alike.input, alike.otherwise, alike.rounds], [null, null, null]);
  assert.match(alike.cell.textContent, /NO/);
  const text = row([vote('R1', 'In short')], { criterion: 'why', needs: false }).made;
  assert.deepEqual([text.input, text.otherwise], [null, null]);
  assert.equal(text.element.querySelector('.given').children[0].className, 'words');
});

test('what two adjudicators decided blind to each other stands with the control', () => {
  const rounds = [{ by: 'Ada', value: 'no', reason: 'So.' }, { by: null, value: null, reason: null }];
  const { made } = row(SPLIT, { rounds });
  const lines = made.element.querySelector('rounds').children;
  assert.deepEqual(lines.map((line) => line.querySelectorAll('p').length), [1, 0]);
  assert.match(lines[0].textContent, /Ada.*NO.*So\./);
  assert.equal(row(SPLIT, { rounds: [{ by: 'Ada', value: null, reason: null }] }).made.rounds, null);
});

test('a row under its criterion is called by what it is about, another by its criterion', () => {
  const evidence = [{ key: 'E1', title: 'Unit', pages: [2], kind: 'passage' }];
  assert.match(row(SPLIT, { above: '', target: 'evidence:E1', evidence }).made.element.querySelector('.unit-head').textContent, /^E1Unit/);
  assert.match(row(SPLIT).made.element.querySelector('.unit-head').textContent, /^Stance/);
});

test('what all claims are held against stands once, above them; where it differs it stands in each row', () => {
  const unit = (target) => ({ ...sentUnit(SPLIT), target });
  const rowsOf = (...targets) => {
    const claims = [{ key: 'C1', text: 'It ran.' }, { key: 'C2', text: 'It sank.' }];
    const table = new Table({ decisions: new Decisions(disputeOf(targets.map(unit), { claims }), { criteria: CRITERIA }, false, null) }, false);
    return [table.element.querySelector('.group-head').textContent, ...table.rows.map((one) => one.element.querySelector('.e-title').textContent)];
  };
  assert.deepEqual(rowsOf('claim:C1|answer', 'claim:C2|answer'), ['Stanceagainst the answer2 of 2 disputed', 'C1It ran.', 'C2It sank.']);
  assert.deepEqual(rowsOf('claim:C1|answer', 'claim:C2|reference').slice(1), ['C1It ran.against the answer', 'C2It sank.against the reference']);
});

test('settled units of one criterion are one line, opened on demand, which names up to twelve', () => {
  const settled = (n, value = 'yes') => row([vote('R1', value), vote('R2', value)], { outcome: 'unanimous', value, needs: false, above: '', target: `evidence:E${n}`, evidence: [{ key: `E${n}`, title: '', pages: [], kind: 'passage' }] }).made;
  const rows = [1, 2].map((n) => settled(n));
  const fold = new Fold(rows, 4);
  assert.deepEqual([fold.open, rows.map((one) => one.element.hidden), fold.button.getAttribute('aria-expanded')], [false, [true, true], 'false']);
  assert.match(fold.element.textContent, /E1, E2 .*YES/);
  fold.button.click();
  assert.deepEqual([fold.open, rows.map((one) => one.element.hidden), fold.button.getAttribute('aria-expanded')], [true, [false, false], 'true']);
  assert.doesNotMatch(new Fold([settled(1), settled(2, 'no')], 4).element.textContent, /E1/, 'settled otherwise each');
  const many = (n) => new Fold(Array.from({ length: n }, (_, at) => settled(at)), 4).element.textContent;
  assert.match(many(12), /E11/);
  assert.doesNotMatch(many(13), /E11/);
});
