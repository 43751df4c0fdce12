/** Why an item waits for its reviser, and what saving it would do: each study by its titles, what falls, what stays. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type } from './page.js';

const { Why } = await import('../../app/widgets/revise/why.js');
const { Edits } = await import('../../app/widgets/revise/edits.js');

const failing = (title, more = {}) => ({ title, target: '', votes: [['No', 2, true]], final: 'No', decided: null, said: [], notes: [], ...more });
const study = (id, more = {}) => ({ study_id: id, study: `Study ${id}`, version: 1, failing: [], remarks: [], hidden: false, titles: { right: 'Right', clear: 'Clear' }, fresh: 1, team: 3, ...more });

/** The right side for an item in these studies, and what was done with it. */
function side(studies, more = {}) {
  const did = [];
  const why = new Why({ of: (action) => action, title: (action) => action }, { change: () => did.push('change'), action: (name) => did.push(name) });
  const edits = new Edits({ item_id: 7, version: 2, written: { answer: 'A' }, studies, documents: [], evidence: [], why_not: null, ...more }, null);
  why.show(edits);
  return { why, edits, did };
}
const lines = (why, which) => why.effects.querySelectorAll(which)[0]?.children.map((line) => line.textContent) ?? null;
const plan = (...effects) => ({ effects: effects.map(([id, annotations, falls, stays]) => ({ study_id: id, study: `Study ${id}`, annotations, falls, stays })), verdicts: 0 });

test('each unit that fails stands with its votes, what was settled where that is not plain, and what was said', () => {
  const said = Array.from({ length: 8 }, (_, at) => [`R${at}`, `remark ${at}`]);
  const { why } = side([study(1, { failing: [failing('Right'), failing('Clear', { target: 'E1', votes: [['No', 2, true], ['Yes', 1, false]], said, decided: 'So.', notes: ['Say it.'] })], remarks: [['R9', 'of the item']] }), study(2)]);
  const [plain, full] = why.reasons.querySelectorAll('failing');
  assert.deepEqual([plain.querySelectorAll('.vote').map((one) => one.className), plain.querySelectorAll('small').length], [['vote odd'], 0]);
  assert.deepEqual(full.querySelectorAll('.vote').map((one) => [one.textContent, one.className]), [['No 2', 'vote odd'], ['Yes 1', 'vote']]);
  assert.equal(full.querySelectorAll('.remark').length, 6 + 2, 'six remarks, the adjudicator’s reason and the note');
  assert.match(why.reasons.textContent, /of the item/);
  assert.match(why.reasons.textContent, /Study 1/);
  assert.doesNotMatch(why.reasons.textContent, /Study 2/);
  const decided = side([study(1, { failing: [failing('Right', { decided: 'So.' })] })]).why.reasons;
  assert.match(decided.querySelector('failing').textContent, /So\./);
});

test('where nothing fails that is said, and so is what a study hides', () => {
  const [none, fine, hidden] = [side([]), side([study(1)]), side([study(1, { hidden: true })])].map(({ why }) => why.reasons.textContent);
  assert.notEqual(none, fine);
  assert.match(hidden, /Study 1/);
});

test('what falls and what stays is listed by the titles of its study, which is named where there are several', () => {
  const { why } = side([study(1), study(2, { titles: {} })]);
  why.planned(plan([1, 4, ['right'], ['clear']]));
  assert.deepEqual([lines(why, 'falls').length, lines(why, 'stays').length], [1, 1]);
  assert.match(lines(why, 'falls')[0], /^↺Right.*4/);
  assert.doesNotMatch(lines(why, 'falls')[0], /Study/);
  assert.match(lines(why, 'stays')[0], /^✓Clear/);
  why.planned(plan([1, 4, ['right'], []], [2, 1, ['right'], []]));
  assert.match(lines(why, 'falls')[0], /Right.*Study 1/);
  assert.match(lines(why, 'falls')[1], /^↺right.*Study 2/, 'a criterion without a title goes by its name');
  assert.equal(lines(why, 'stays'), null);
});

test('who could judge anew is said of the studies in which something falls, and of no other', () => {
  const { why } = side([study(1), study(2), study(3)]);
  why.planned(plan([1, 4, ['right'], []], [2, 4, [], ['right']], [3, 0, ['right'], []]));
  const soft = why.effects.querySelectorAll('p').map((line) => line.textContent);
  assert.deepEqual(['Study 1', 'Study 2', 'Study 3'].map((name) => soft.some((words) => words.includes(name))), [true, false, false]);
});

test('where nobody has labelled, or nothing falls, that is said; verdicts that fall are counted', () => {
  const { why } = side([study(1)]);
  why.planned(plan([1, 0, ['right'], []]));
  assert.deepEqual([lines(why, 'falls'), why.effects.querySelectorAll('p').length], [null, 1]);
  why.planned(plan([1, 2, [], ['right']]));
  assert.deepEqual([lines(why, 'falls'), lines(why, 'stays').length], [[], 1]);
  why.planned({ ...plan([1, 2, [], ['right']]), verdicts: 3 });
  assert.match(why.effects.querySelector('verdicts').textContent, /3/);
  why.planned(null, 'No connection.');
  assert.deepEqual(why.effects.querySelectorAll('p').map((line) => [line.textContent, line.className]), [['No connection.', 'warn-text']]);
  why.planned(null);
  assert.equal(why.effects.querySelector('p').className, 'soft');
});

test('who may not revise the item can press nothing, and is told why; a reason is taken as it is typed', () => {
  const { why, edits, did } = side([study(1)]);
  assert.deepEqual([why.save.disabled, why.field.disabled, why.notice.textContent], [false, false, '']);
  type(why.field, 'Because');
  why.save.click();
  assert.deepEqual([edits.reason, did], ['Because', ['change', 'save']]);
  const other = side([study(1)], { why_not: 'you judged it' }).why;
  assert.deepEqual([other.save.disabled, other.keep.disabled, other.field.disabled, other.ends.map((one) => one.disabled)], [true, true, true, [true, true]]);
  assert.match(other.notice.textContent, /you judged it/);
});
