/** The annotator's answers to one step: what is asked, what is given, what is missing, what comes next. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { loadKinds } from './browser.js';
import { Sheet } from '../../app/widgets/annotate/sheet.js';
import { missingWords } from '../../app/widgets/annotate/judgement/criteria.js';

before(loadKinds);

const label = (value, key) => ({ value, title: value, key, definition: '' });
const yesNo = { kind: 'choice', labels: [label('yes', '1'), label('no', '2')] };
const CRITERIA = [
  { ...yesNo, name: 'clear', title: 'Clear', target: 'item' },
  { kind: 'text', name: 'why', title: 'Why', target: 'item', max_words: 3, when: { criterion: 'clear', values: ['no'] } },
  { ...yesNo, name: 'relevant', title: 'Relevant', target: 'evidence' },
  { ...yesNo, name: 'used', title: 'Used', target: 'evidence', required: false, when: { criterion: 'relevant', values: ['yes'] } },
  { kind: 'text', name: 'note', title: 'Note', target: 'item', required: false },
];

/** A sheet of an item with two passages; `more` of the item. */
function sheet(more = {}, criteria = CRITERIA, steps = [{ criteria: criteria.map(({ name }) => name) }]) {
  const targets = { item: ['item'], evidence: ['evidence:E1', 'evidence:E2'] };
  const units = Object.fromEntries(criteria.map(({ name, target }) => [name, targets[target]]));
  return new Sheet({ assignment: 1, sitting: 1, step: 0, units, committed: [], previous: [], draft: null, ...more }, { name: 'p', criteria, steps });
}

const given = (criterion, target, value) => ({ criterion, target, value, cannot_judge: false, reason: null, comment: null, rationale: null });
const ids = (cells) => cells.map(({ id }) => id);
const cell = (made, id) => made.cellById.get(id);

test('neighbours about the same kind of thing are asked thing by thing', () => {
  assert.deepEqual(ids(sheet().cells), ['clear item', 'why item', 'relevant evidence:E1', 'used evidence:E1', 'relevant evidence:E2', 'used evidence:E2', 'note item']);
});

test('a condition asks and withdraws, and what was given while it held is not sent', () => {
  const made = sheet();
  assert.deepEqual(ids(made.visible()), ['clear item', 'relevant evidence:E1', 'relevant evidence:E2', 'note item']);
  made.give(cell(made, 'clear item'), 'no');
  made.give(cell(made, 'why item'), 'It is short.');
  assert.ok(ids(made.visible()).includes('why item'));
  made.give(cell(made, 'clear item'), 'yes');
  assert.ok(!ids(made.visible()).includes('why item'));
  assert.deepEqual(made.labels().map(({ criterion }) => criterion), ['clear']);
  assert.equal(made.content().labels.length, 2); // a draft keeps it
});

test('what a model suggests is no label until it is given', () => {
  const suggestions = [{ criterion: 'clear', target: 'item', value: 'yes', source: 'flags' }];
  const made = sheet({ suggestions });
  assert.equal(made.suggestion(cell(made, 'clear item')).value, 'yes');
  assert.equal(made.suggestion(cell(made, 'relevant evidence:E1')), null);
  assert.equal(made.answered(cell(made, 'clear item')), false);
  assert.deepEqual(made.labels(), []);
  assert.equal(made.next(null).id, 'clear item');
});

test('a condition of a part looks at that part only', () => {
  const made = sheet();
  made.give(cell(made, 'relevant evidence:E2'), 'yes');
  assert.deepEqual(ids(made.visible()).filter((id) => id.startsWith('used')), ['used evidence:E2']);
});

test('what depends on something that is itself not asked is not asked', () => {
  const chain = [CRITERIA[0], { ...yesNo, name: 'b', target: 'item', when: { criterion: 'clear', values: ['no'] } }, { ...yesNo, name: 'c', target: 'item', when: { criterion: 'b', values: ['yes'] } }];
  const made = sheet({}, chain);
  made.give(cell(made, 'clear item'), 'no');
  made.give(cell(made, 'b item'), 'yes');
  assert.deepEqual(ids(made.visible()), ['clear item', 'b item', 'c item']);
  made.give(cell(made, 'clear item'), 'yes');
  assert.deepEqual(ids(made.visible()), ['clear item']);
});

test('a condition may look at a label of an earlier step', () => {
  const steps = [{ criteria: ['clear'] }, { criteria: ['why'] }];
  const second = (value) => sheet({ step: 1, units: { why: ['item'] }, committed: [given('clear', 'item', value)] }, CRITERIA, steps);
  assert.deepEqual(ids(second('no').visible()), ['why item']);
  assert.deepEqual(ids(second('yes').visible()), []);
});

test('missing is what is required and asked, has a problem, or has support without a label', () => {
  const made = sheet();
  assert.deepEqual(ids(made.missing()), ['clear item', 'relevant evidence:E1', 'relevant evidence:E2']);
  for (const id of ['relevant evidence:E1', 'relevant evidence:E2']) made.give(cell(made, id), 'no');
  made.give(cell(made, 'clear item'), 'no');
  assert.deepEqual(ids(made.missing()), ['why item']);
  assert.equal(missingWords(made, made.missing()), 'Still to answer: Why');
  made.give(cell(made, 'why item'), 'Too many words here');
  assert.equal(missingWords(made, made.missing()), 'Why has 4 words; at most 3 are allowed');
  made.give(cell(made, 'why item'), 'Too short.');
  assert.deepEqual(made.missing(), []);
  made.set(cell(made, 'note item'), { rationale: [{ page: 1 }] });
  assert.deepEqual(ids(made.missing()), ['note item']);
});

test('missing units of a criterion are named together', () => {
  const made = sheet();
  assert.equal(missingWords(made, made.missing()), 'Still to answer: Clear; Relevant (E1, E2)');
});

test('the next decision is the next one below without a label, and never a text that may stay empty', () => {
  const made = sheet();
  const next = (id) => made.next(id === null ? null : cell(made, id))?.id;
  assert.equal(next(null), 'clear item');
  made.give(cell(made, 'relevant evidence:E1'), 'yes');
  assert.equal(next('relevant evidence:E1'), 'used evidence:E1');
  made.give(cell(made, 'used evidence:E1'), 'no');
  made.give(cell(made, 'relevant evidence:E2'), 'no');
  assert.equal(next('relevant evidence:E2'), 'clear item'); // back to what was left out
  made.give(cell(made, 'clear item'), 'yes');
  assert.equal(next('clear item'), undefined);
});

test('"cannot judge" takes the place of a label, needs a reason, and is withdrawn by a label', () => {
  const made = sheet();
  const clear = cell(made, 'clear item');
  made.give(clear, 'yes');
  made.cannotJudge(clear, 'The page is torn.');
  assert.deepEqual([made.of(clear).value, made.answered(clear)], [null, true]);
  assert.deepEqual(made.labels().map(({ cannot_judge: cannot, reason }) => [cannot, reason]), [[true, 'The page is torn.']]);
  made.give(clear, 'no');
  assert.deepEqual([made.of(clear).cannot_judge, made.of(clear).reason], [false, null]);
  made.set(clear, { value: null, cannot_judge: true, reason: null });
  assert.equal(made.answered(clear), false);
});

test('a label that is taken back leaves nothing behind, a comment on it stays', () => {
  const made = sheet();
  const clear = cell(made, 'clear item');
  made.give(clear, 'yes');
  made.give(clear, null);
  assert.equal(made.given.size, 0);
  made.set(clear, { comment: 'Hm.' });
  assert.deepEqual(made.labels().map(({ value, comment }) => [value, comment]), [[null, 'Hm.']]);
  assert.deepEqual(ids(made.missing()).includes('clear item'), true);
});

test('a draft takes the place of what was given before, with the flag and its reason', () => {
  const made = sheet({ previous: [given('clear', 'item', 'yes')] });
  assert.equal(made.of(cell(made, 'clear item')).value, 'yes');
  made.restore({ labels: [given('clear', 'item', 'no')], comment: 'Odd.', flag: 'Broken' });
  assert.deepEqual([made.of(cell(made, 'clear item')).value, made.comment, made.flag, made.touched], ['no', 'Odd.', 'Broken', false]);
  made.restore({ labels: [], comment: null, flag: true });
  assert.deepEqual([made.flagged, made.flag, made.given.size], [true, true, 0]);
  made.restore({ labels: [], comment: null, flag: false });
  assert.equal(made.flag, false);
});

test('claims are asked claim by claim, also where they are held against something', () => {
  const units = { form: ['claim:C1', 'claim:C2'], verdict: ['claim:C1|evidence:E1', 'claim:C1|evidence:E2', 'claim:C2|evidence:E1', 'claim:C2|evidence:E2'] };
  const criteria = [{ ...yesNo, name: 'form', title: 'Form', target: 'claim' }, { ...yesNo, name: 'verdict', title: 'Verdict', target: 'claim_evidence' }];
  assert.deepEqual(ids(sheet({ units }, criteria).cells), [
    'form claim:C1', 'verdict claim:C1|evidence:E1', 'verdict claim:C1|evidence:E2',
    'form claim:C2', 'verdict claim:C2|evidence:E1', 'verdict claim:C2|evidence:E2',
  ]);
});

test('a label that cannot stand beside another one is named with its sentence, and nothing is changed', () => {
  const rule = { when: { criterion: 'clear', values: ['no'] }, then: { criterion: 'relevant', values: ['no'] }, sentence: 'It cannot be.' };
  const made = new Sheet(sheet().item, { name: 'p', criteria: CRITERIA, steps: [{ criteria: CRITERIA.map(({ name }) => name) }], consequences: [rule] });
  made.give(cell(made, 'relevant evidence:E2'), 'yes');
  assert.equal(made.broken(), null);
  made.give(cell(made, 'clear item'), 'no');
  assert.deepEqual([made.broken().cell.id, made.broken().sentence], ['relevant evidence:E2', 'It cannot be.']);
  assert.equal(made.of(cell(made, 'relevant evidence:E2')).value, 'yes');
  made.cannotJudge(cell(made, 'relevant evidence:E2'), 'blurred');
  assert.equal(made.broken(), null);
});

test('what is asked beside a label follows it, goes with it, and is sent in its fields', () => {
  const levels = { kind: 'grade', labels: [label('low', '1'), label('high', '2')] };
  const aside = (field) => ({ ...levels, name: `clear.${field}`, title: `Clear: ${field}`, target: 'item', aside: { of: 'clear', field, title: field } });
  const criteria = [CRITERIA[0], aside('confidence'), aside('same'), CRITERIA[1], CRITERIA[4]];
  const made = sheet({}, criteria);
  const [clear, sure, same] = ['clear item', 'clear.confidence item', 'clear.same item'].map((id) => cell(made, id));
  assert.deepEqual(ids(made.visible()), ['clear item', 'note item'], 'nothing is asked before the label');
  made.give(clear, 'no');
  assert.deepEqual(ids(made.visible()), ['clear item', 'clear.confidence item', 'clear.same item', 'why item', 'note item']);
  assert.equal(made.next(clear), sure);
  made.give(sure, 'high');
  assert.equal(made.next(sure), same);
  made.give(same, 'low');
  made.set(same, { comment: 'on the label' });
  assert.deepEqual(made.labels(), [{ ...given('clear', 'item', 'no'), comment: 'on the label', confidence: 'high', same: 'low' }]);
  const again = sheet({}, criteria);
  again.restore(made.content());
  assert.equal(again.of(cell(again, 'clear.confidence item')).value, 'high');
  made.give(clear, 'yes');
  assert.deepEqual(ids(made.missing()), ['clear.confidence item', 'clear.same item'], 'another label is another confidence');
  made.cannotJudge(same, 'The page is missing.');
  assert.deepEqual(made.labels().map(({ criterion, cannot_judge }) => [criterion, cannot_judge]), [['clear', true]]);
  assert.deepEqual(ids(made.missing()), []);
});
