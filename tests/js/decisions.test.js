/** The adjudicator's decisions about one item: what the votes say, what has to be decided, what needs a reason, what is sent. */

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { Decisions, HalfDecisions } from '../../app/widgets/adjudicate/decisions.js';
import { about, division, isOdd, outcomeWords, unitsOf } from '../../app/widgets/adjudicate/units.js';

before(loadKinds);
beforeEach(() => localStorage.clear());

const label = (value, key) => ({ value, title: value.toUpperCase(), key, definition: '' });
const CRITERIA = [
  { kind: 'choice', name: 'stance', title: 'Stance', target: 'item', labels: [label('yes', '1'), label('no', '2')] },
  { kind: 'text', name: 'why', title: 'Why', target: 'item' },
  { kind: 'choice', name: 'harm', title: 'Harm', target: 'item', labels: [label('some', '1'), label('none', '2')], when: { criterion: 'stance', values: ['no'] } },
  { kind: 'order', name: 'order', title: 'Order', target: 'item' },
];
const vote = (rater, value, more = {}) => ({ rater, value, cannot_judge: false, reason: null, comment: null, rationale: null, ...more });

/** A unit with its votes, as the server sends it. */
function sent(criterion, votes, { outcome = 'open', value = null, majority = null, needs = true, target = 'item', decided = null } = {}) {
  const counts = {};
  for (const one of votes.filter((each) => !each.cannot_judge)) counts[JSON.stringify(one.value)] = (counts[JSON.stringify(one.value)] ?? 0) + 1;
  return { criterion, target, votes, counts, outcome, value, majority, needs_decision: needs, decided };
}

const STANCE = sent('stance', [vote('R1', 'yes'), vote('R2', 'yes'), vote('R3', 'no')], { majority: 'yes' });
const IMAGES = [{ key: 'I1' }, { key: 'I2' }, { key: 'I3' }];
const TARGETS = { 'image:zz': 'image:I1', 'image:aa': 'image:I2', 'image:mm': 'image:I3' };

function dispute(units, { images, targets = {} } = {}) {
  return { study_item_id: 5, presentation: { targets, images }, units, raters: ['R1', 'R2', 'R3'], comments: {}, flags: {}, annotations: {}, state: 'disputed', allowed: null };
}

const decisions = (units, more = {}, { again = false, kept = null } = {}) => new Decisions(dispute(units, more), { criteria: CRITERIA }, again, kept);
const names = (units) => units.map(({ criterion }) => criterion.name);

test('what nobody was asked is there from the decision on that makes it asked', () => {
  const made = decisions([STANCE, sent('harm', [], { needs: false })]);
  const [stance, harm] = made.units;
  assert.equal(made.unasked(harm), true);
  assert.deepEqual(names(made.missing()), ['stance']);
  made.set(stance, { value: 'no', reason: 'so it is' });
  assert.equal(made.unasked(harm), false);
  assert.deepEqual(names(made.missing()), ['harm']);
  made.set(stance, { value: 'yes' });
  assert.equal(made.unasked(harm), true);
  assert.deepEqual(made.missing(), []);
});

test('units come in the order of the protocol and of the item’s parts', () => {
  const pages = ['page:a.pdf:10', 'page:a.pdf:9'].map((target) => sent('stance', [vote('R1', 'yes')], { target }));
  const found = unitsOf(dispute([sent('why', []), ...pages]), { criteria: CRITERIA });
  assert.deepEqual(found.map(({ target }) => target), ['page:a.pdf:9', 'page:a.pdf:10', 'item']);
});

test('pages are decided hop by hop, in the order of the hops', () => {
  const units = ['page:a:2|hop:b', 'page:a:10|hop:z', 'page:a:1|hop:b', 'page:a:9|hop:z'].map((target) => sent('stance', [], { target }));
  const found = dispute(units);
  found.presentation.hops = [{ key: 'z' }, { key: 'b' }];
  assert.deepEqual(unitsOf(found, { criteria: CRITERIA }).map(({ target }) => target), ['page:a:9|hop:z', 'page:a:10|hop:z', 'page:a:1|hop:b', 'page:a:2|hop:b']);
});

test('how annotators stand to each other, and who is the odd one out', () => {
  const [unit] = unitsOf(dispute([STANCE]), { criteria: CRITERIA });
  assert.equal(division(unit, 4), '2 against 1, asked of 3 of 4');
  assert.deepEqual(unit.votes.map((one) => isOdd(one, unit)), [false, false, true]);
  const differ = (votes) => unitsOf(dispute([sent('stance', votes)]), { criteria: CRITERIA })[0];
  const all = differ([vote('R1', 'a'), vote('R2', 'b'), vote('R3', 'c')]);
  assert.deepEqual([division(all, 3), isOdd(all.votes[0], all)], ['all differ', false]);
  assert.equal(division(differ([vote('R1', 'a'), vote('R2', null, { cannot_judge: true })]), 2), '1 cannot judge');
  assert.equal(division(unitsOf(dispute([sent('why', [vote('R1', 'x'), vote('R2', 'y')])]), { criteria: CRITERIA })[0], 2), '');
});

test('what the votes settled in words', () => {
  const settled = (votes, outcome) => outcomeWords(unitsOf(dispute([sent('stance', votes, { outcome, value: 'yes', needs: false })]), { criteria: CRITERIA })[0]);
  assert.equal(settled([vote('R1', 'yes')], 'unanimous'), 'YES, unanimous');
  assert.equal(settled([vote('R1', 'yes'), vote('R2', 'no')], 'unanimous'), 'YES, close enough to agree');
  assert.equal(settled([vote('R1', 'yes'), vote('R2', 'no')], 'majority'), 'YES, by majority');
});

test('what a unit is about, in words', () => {
  const item = { documents: [{ key: 'a.pdf', title: 'A' }, { key: 'b.pdf', title: 'B' }], hops: [{ key: 'h1' }, { key: 'h2' }], claims: [{ key: 'c1', text: 'It rained.' }], evidence: [{ key: 'E1', kind: 'passage', title: 'Rain', pages: [4] }] };
  assert.deepEqual(about('page:b.pdf:7|hop:h2', item), { key: 'p. 7', title: 'Hop 2, B', place: '' });
  assert.deepEqual(about('claim:c1|evidence:E1', item), { key: 'C1, E1', title: 'It rained.', place: '', beside: 'Rain' });
  assert.deepEqual(about('evidence:E1', item), { key: 'E1', title: 'Rain', place: 'p. 4' });
});

test('a dispute has to be decided; a text is each annotator’s own', () => {
  const made = decisions([STANCE, sent('why', [vote('R1', 'a'), vote('R2', 'b')], { needs: false })]);
  const [stance, why] = made.units;
  assert.deepEqual([made.decidable(stance), made.decidable(why), names(made.missing())], [true, false, ['stance']]);
  made.set(stance, { value: 'yes' });
  assert.deepEqual([made.missing(), made.overrules(stance), made.next(null)], [[], false, null]);
});

test('going against the majority needs a reason that says something', () => {
  const made = decisions([STANCE]);
  const [stance] = made.units;
  made.set(stance, { value: 'no' });
  assert.deepEqual([made.overrules(stance), made.lacksReason(stance), names(made.unreasoned()), made.next(null)], [true, true, ['stance'], null]);
  made.set(stance, { reason: '  ' });
  assert.equal(made.lacksReason(stance), true);
  made.set(stance, { reason: ' The caption says so. ' });
  assert.deepEqual(made.missing(), []);
  assert.deepEqual(made.settlement().decisions, [{ criterion: 'stance', target: 'item', value: 'no', reason: 'The caption says so.' }]);
});

const EVIDENCE = ['E1', 'E2', 'E3', 'E4'].map((key) => `evidence:${key}`);
const GROUNDS = [
  sent('stance', [vote('R1', 'yes'), vote('R2', 'yes'), vote('R3', 'no')], { majority: 'yes', target: EVIDENCE[0] }),
  sent('stance', [vote('R1', 'no'), vote('R2', 'yes'), vote('R3', 'no')], { majority: 'no', target: EVIDENCE[1] }),
  sent('stance', [vote('R1', 'no'), vote('R2', 'yes'), vote('R3', null, { cannot_judge: true })], { target: EVIDENCE[2] }),
  sent('stance', [vote('R1', 'yes'), vote('R2', 'yes'), vote('R3', 'yes')], { outcome: 'unanimous', value: 'yes', needs: false, target: EVIDENCE[3] }),
];

test('the rest is decided as one annotator said, with one reason for what goes against the majority', () => {
  const made = decisions([...GROUNDS, sent('harm', [vote('R1', 'some')])]);
  const [first] = made.units;
  const rest = (rater) => made.rest(first.criterion, rater).map(({ unit, value, against }) => [unit.target, value, against]);
  assert.deepEqual(rest('R1'), [[EVIDENCE[0], 'yes', false], [EVIDENCE[1], 'no', false], [EVIDENCE[2], 'no', false]]);
  assert.deepEqual(rest('R3'), [[EVIDENCE[0], 'no', true], [EVIDENCE[1], 'no', false]]); // who cannot judge decides nothing
  assert.deepEqual(rest(null), [[EVIDENCE[0], 'yes', false], [EVIDENCE[1], 'no', false]]); // a tie has no majority
  made.set(first, { value: 'yes' });
  assert.deepEqual(rest('R3'), [[EVIDENCE[1], 'no', false]]); // what is decided stays
  made.clear(first);
  made.takeRest(first.criterion, 'R3', 'The caption says so.');
  assert.deepEqual(made.settlement().decisions, [
    { criterion: 'stance', target: EVIDENCE[0], value: 'no', reason: 'The caption says so.' },
    { criterion: 'stance', target: EVIDENCE[1], value: 'no', reason: null },
  ]);
  assert.deepEqual(made.missing().map(({ target }) => target), [EVIDENCE[2], 'item']);
});

test('what was decided at once is taken back at once, until anything else is decided', () => {
  const made = decisions(GROUNDS);
  const [first, second, third] = made.units;
  made.set(third, { value: 'yes' });
  made.takeRest(first.criterion, null, '');
  assert.deepEqual([made.undoRest(), made.of(first).value, made.of(second).value, made.of(third).value], [2, null, null, 'yes']);
  made.takeRest(first.criterion, null, '');
  made.set(third, { value: 'no' });
  assert.deepEqual([made.undoRest(), made.of(first).value], [0, 'yes']);
});

test('much is to be decided from six units on', () => {
  const units = (n) => Array.from({ length: n }, (_, at) => sent('stance', [vote('R1', 'yes'), vote('R2', 'no')], { target: `evidence:E${at + 1}` }));
  assert.deepEqual([decisions([...units(5), GROUNDS[3]]).many, decisions(units(6)).many], [false, true]);
});

test('a settled unit is open once the adjudicator wants to decide it, and settled again once they take that back', () => {
  const made = decisions([sent('stance', [vote('R1', 'yes')], { outcome: 'unanimous', value: 'yes', needs: false })]);
  const [stance] = made.units;
  assert.deepEqual([made.open(stance), made.needed(stance)], [false, false]);
  made.opened.add(stance.id);
  assert.deepEqual([made.open(stance), made.missing()], [true, []]);
  made.clear(stance);
  assert.equal(made.open(stance), false);
});

test('what a decision makes asked has to be decided too, and only then', () => {
  const made = decisions([STANCE, sent('harm', [vote('R3', 'some')], { needs: false })]);
  const [stance, harm] = made.units;
  assert.deepEqual([made.open(harm), names(made.missing())], [false, ['stance']]);
  made.set(stance, { value: 'no', reason: 'Read on.' });
  assert.deepEqual([made.open(harm), names(made.missing()), made.next(stance).id], [true, ['harm'], 'harm item']);
  made.set(stance, { value: 'yes' });
  assert.deepEqual([made.open(harm), made.missing()], [false, []]);
});

test('an order is shown by the keys on the page and stored by the item’s own', () => {
  const order = sent('order', [vote('R1', ['aa', 'zz', 'mm']), vote('R2', ['mm', 'zz', 'aa'])]);
  const made = decisions([order], { images: IMAGES, targets: TARGETS });
  const [unit] = made.units;
  assert.deepEqual(unit.votes.map(({ value }) => value), [['I2', 'I1', 'I3'], ['I3', 'I1', 'I2']]);
  made.set(unit, { value: ['I3', 'I2'] });
  assert.deepEqual(names(made.missing()), ['order']); // not every image has a place
  made.set(unit, { value: ['I3', 'I2', 'I1'] });
  assert.deepEqual(made.settlement().decisions[0].value, ['mm', 'aa', 'zz']);
  const again = decisions([order], { images: IMAGES, targets: TARGETS }, { kept: made.kept() });
  assert.deepEqual(again.of(again.units[0]).value, ['I3', 'I2', 'I1']);
});

test('where images cannot be told by their keys, one of the given orders is decided on and stored as it was given', () => {
  const order = sent('order', [vote('R1', ['aa', 'zz']), vote('R2', ['zz', 'aa']), vote('R3', ['aa', 'zz'])], { majority: ['aa', 'zz'] });
  const made = decisions([order], { images: IMAGES });
  const [unit] = made.units;
  assert.deepEqual(unit.criterion.labels.map(({ title }) => title), ['aa, zz', 'zz, aa']);
  made.set(unit, { value: ['aa', 'zz'] });
  assert.deepEqual([made.overrules(unit), made.missing()], [false, []]);
  made.set(unit, { value: ['zz', 'aa'] });
  assert.equal(made.overrules(unit), true);
  assert.deepEqual(made.settlement().decisions[0].value, ['zz', 'aa']);
});

test('an item that was settled opens with its decisions, and is sent as settled again', () => {
  const made = decisions([{ ...STANCE, decided: 'no' }], {}, { again: true });
  assert.deepEqual([made.of(made.units[0]).value, made.settlement().again], ['no', true]);
});

test('half a decision is kept for a month, for the person and study that it belongs to', async () => {
  const made = decisions([STANCE]);
  made.set(made.units[0], { value: 'no', reason: 'Half' });
  const half = new HalfDecisions('7', 2);
  half.keep(made);
  assert.deepEqual(new HalfDecisions('7', 2).of(5).decisions, [{ criterion: 'stance', target: 'item', value: 'no', reason: 'Half' }]);
  assert.deepEqual([new HalfDecisions('8', 2).of(5), new HalfDecisions('7', 3).of(5)], [null, null]);
  await pass(30 * 24 * 3_600_000);
  assert.notEqual(new HalfDecisions('7', 2).of(5), null);
  await pass(1);
  assert.equal(new HalfDecisions('7', 2).of(5), null);
  half.keep(made);
  half.drop(5);
  assert.equal(half.of(5), null);
});

test('what is taken up again is sent under the id that it had, so that it is stored once; another decision has another', () => {
  const half = new HalfDecisions('7', 2);
  const made = decisions([STANCE]);
  made.set(made.units[0], { value: 'no', reason: 'So it is', cause: 'slip', note: ' more ' });
  half.keep(made);
  const later = decisions([STANCE], {}, { kept: half.of(5) });
  assert.deepEqual(later.settlement(), made.settlement());
  assert.deepEqual(later.settlement().decisions, [{ criterion: 'stance', target: 'item', value: 'no', reason: 'So it is', cause: 'slip', note: 'more' }]);
  half.keep(later);
  assert.deepEqual([later.uid, half.of(5).uid, later.kept().uid], [made.uid, made.uid, made.uid]);
  assert.notEqual(decisions([STANCE]).uid, made.uid);
});
