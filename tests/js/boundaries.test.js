/** Exactly at a limit and just beside it; failure, success, failure; every kind of thing that a list names. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass, settled } from './browser.js';
import { Queue as Disputes } from '../../app/widgets/adjudicate/queue.js';
import { Clock, whenBack } from '../../app/widgets/annotate/clock.js';
import { Worked } from '../../app/widgets/annotate/breaks.js';
import { Queue } from '../../app/widgets/annotate/queue.js';
import { Refused, Unreachable } from '../../app/widgets/shared/ask.js';
import { freshId, Outbox } from '../../app/widgets/shared/outbox.js';
import { cellTitle, targetKeys, targetName, thingOf, unitTitle } from '../../app/widgets/shared/targets.js';
import { WordCursor } from '../../app/widgets/criteria/word_cursor.js';
import { brokenBy, isAsked } from '../../app/widgets/criteria/when.js';

beforeEach(() => localStorage.clear());

// Targets -------------------------------------------------------------------------------------------------------------

const shown = {
  answer: 'One.\n\n> **Two** `x`',
  claims: [{ key: 'a', text: 'It ran.' }, { key: 'b', text: 'It was late.' }],
  evidence: [{ key: 'E1', kind: 'passage', title: 'Runs', text: 'A passage.', pages: [3, 4] }, { key: 'E2', kind: 'figure', pages: [] }],
  images: [{ key: 'm1', caption: 'Ana' }, { key: 'm2' }],
  hops: [{ key: 'h1' }, { key: 'h2' }],
};

test('the keys in every kind of target', () => {
  assert.deepEqual(targetKeys('item'), {});
  assert.deepEqual(targetKeys('pair'), {});
  assert.deepEqual(targetKeys('page:a:b:12'), { document: 'a:b', page: 12, hop: undefined });
  assert.deepEqual(targetKeys('page:doc:2|hop:h|2'), { document: 'doc', page: 2, hop: 'h|2' });
  assert.deepEqual(targetKeys('claim:a|evidence:E2'), { claim: 'a', evidence: 'E2' });
  assert.deepEqual(targetKeys('image:m:1'), { image: 'm:1' });
  assert.deepEqual(targetKeys('block:10'), { block: 10 });
  assert.deepEqual(['claim:a|evidence:E2', 'claim:a', 'image:m1|x'].map(thingOf), ['claim:a', 'claim:a', 'image:m1|x']);
});

test('every kind of target has a name, also where the part is gone', () => {
  assert.deepEqual(targetName('page:d:7', shown), { key: '7', title: 'Page 7' });
  assert.equal(targetName('evidence:E1', shown).title, 'Runs');
  assert.match(targetName('evidence:E1', shown).place, /3.*4/);
  assert.equal(targetName('evidence:E2', shown).place, '');
  assert.deepEqual(targetName('evidence:E9', shown), { key: 'E9', title: '', place: '' });
  assert.deepEqual([targetName('claim:b', shown).key, targetName('claim:b', shown).title], ['C2', 'It was late.']);
  assert.deepEqual([targetName('claim:z', shown).key, targetName('claim:z', shown).title], ['C0', 'z']);
  assert.deepEqual(targetName('block:2', shown), { key: '¶2', title: 'Two x' });
  assert.equal(targetName('block:1', shown).title, 'One.');
  assert.equal(targetName('image:m1', shown).title, 'Ana');
  assert.notEqual(targetName('image:m1', shown).key, targetName('image:m2', shown).key);
  assert.equal(targetName('image:m2', shown).title, '');
  assert.deepEqual(targetName('item', shown), { key: '', title: '' });
});

test('a decision is called by its criterion and what it is about', () => {
  const of = (target) => cellTitle({ criterion: { title: 'Right' }, target }, shown);
  assert.equal(of('item'), 'Right');
  assert.equal(of('page:d:7'), 'Right (Page 7)');
  assert.match(of('page:d:7|hop:h2'), /^Right \(.*2.*, Page 7\)$/);
  assert.equal(of('page:d:7|hop:gone'), 'Right (Page 7)');
  assert.equal(of('claim:b|evidence:E1'), 'Right (C2, E1)');
  assert.equal(of('evidence:E1'), 'Right (E1)');
});

test('a unit is called by its title, else by its text, else by what it is', () => {
  assert.equal(unitTitle({ title: 'T', text: 'x', kind: 'table' }), 'T');
  assert.equal(unitTitle({ text: 'x', kind: 'table' }), 'x');
  const table = unitTitle({ kind: 'table' });
  assert.ok(table && table !== unitTitle({ kind: 'passage' }));
  assert.equal(unitTitle({ kind: 'of their own' }), 'of their own');
});

// Asked only when -----------------------------------------------------------------------------------------------------

test('a condition looks at the target and at the item, and at labels only', () => {
  const given = new Map();
  const to = (criterion, target) => given.get(`${criterion} ${target}`);
  const criterion = { when: { criterion: 'a', values: ['yes', 3] } };
  assert.equal(isAsked({}, 'item', to), true);
  assert.equal(isAsked(criterion, 'claim:c', to), false);
  for (const [value, asked] of [['yes', true], ['no', false], [3, true], ['3', true], [['no', 'yes'], true], [[{ label: 'yes' }], true], [[], false], [null, false]]) {
    given.set('a claim:c', { value });
    assert.equal(isAsked(criterion, 'claim:c', to), asked, JSON.stringify(value));
  }
  given.set('a claim:c', { value: 'yes', cannot_judge: true });
  assert.equal(isAsked(criterion, 'claim:c', to), false);
  given.set('a item', { value: 'yes' });
  assert.equal(isAsked(criterion, 'claim:c', to), true);
  assert.equal(isAsked(criterion, 'claim:d', to), true);
});

test('a rule is broken by a label that is there, beside what it speaks of', () => {
  const rules = [
    { when: { criterion: 'a', values: ['no'] }, then: { criterion: 'b', values: ['x'] }, sentence: 'first' },
    { when: { criterion: 'a', values: ['yes'] }, then: { criterion: 'c', values: ['x'] }, sentence: 'other' },
    { when: { criterion: 'a', values: ['yes'] }, then: { criterion: 'b', values: ['x', 'y'] }, sentence: 'second' },
  ];
  const broken = (a, b) => brokenBy(rules, 'b', 'item', (criterion) => ({ a, b })[criterion])?.sentence ?? null;
  assert.equal(broken({ value: 'yes' }, { value: 'z' }), 'second');
  assert.equal(broken({ value: 'no' }, { value: 'y' }), 'first');
  assert.equal(broken({ value: 'yes' }, { value: 'y' }), null);
  assert.equal(broken(null, { value: 'z' }), null);
  assert.equal(broken({ value: 'yes' }, null), null);
  assert.equal(broken({ value: 'yes' }, { value: null }), null);
  assert.equal(broken({ value: 'yes' }, { value: 'z', cannot_judge: true }), null);
});

// Queues --------------------------------------------------------------------------------------------------------------

test('fifty items are remembered, not fifty-one, and one that is shown again is the youngest', () => {
  const queue = new Queue();
  for (let n = 1; n <= 50; n += 1) queue.put({ assignment: n, step: 0 });
  queue.put({ assignment: 1, step: 0 });
  queue.put({ assignment: 51, step: 1 });
  assert.equal(queue.find(1, 0)?.assignment, 1);
  assert.equal(queue.find(2, 0), null);
  assert.equal(queue.find(3, 0)?.assignment, 3);
  assert.equal(queue.find(51, 0), null, 'of another step');
});

test('what was left for a correction comes back once, and only what was not itself one', () => {
  const queue = new Queue();
  queue.refill([1, 2, 3].map((assignment) => ({ assignment, step: 0 })), []);
  queue.take();
  queue.interrupt({ assignment: 1, step: 1 }, false);
  assert.deepEqual(queue.have, [1, 2, 3], 'the same item is nothing else');
  queue.interrupt({ assignment: 9, step: 0 }, true);
  queue.interrupt({ assignment: 8, step: 0 }, true);
  assert.deepEqual(queue.have, [8, 1, 2, 3]);
  queue.refill([{ assignment: 8, kept: true }, { assignment: 1, kept: true }, { assignment: 3, kept: true }], [3]);
  assert.deepEqual(queue.have, [8, 1, 1], 'what is under way is not ahead');
  assert.equal(queue.take().assignment, 1);
  assert.deepEqual(queue.have, [1]);
});

test('thirty settled disputes can be opened again, and one settled twice stands at its last place', () => {
  const queue = new Disputes('ana', 1);
  for (let n = 1; n <= 31; n += 1) queue.done({ study_item: n });
  queue.done({ study_item: 5 });
  assert.equal(queue.settled.length, 30);
  assert.deepEqual([queue.settled[0].study_item, queue.settled.at(-1).study_item], [2, 5]);
  assert.equal(new Disputes('ana', 1).settled.length, 30);
  assert.deepEqual([new Disputes('ana', 2).settled, new Disputes('ben', 1).settled], [[], []], 'of this study and person');
  queue.current = 2;
  assert.equal(queue.before(), null, 'before the first there is none');
  queue.current = 5;
  assert.equal(queue.before().study_item, 31);
});

test('a dispute is put off only for another one, and comes after what was put off before', () => {
  const queue = new Disputes('ana', 1);
  queue.refill([1], []);
  assert.equal(queue.putOff(), false);
  queue.take();
  assert.equal(queue.putOff(), false);
  queue.refill([1, 2, 3], []);
  assert.equal(queue.length, 2);
  for (const expected of [2, 3, 1, 2]) {
    assert.equal(queue.putOff(), true);
    assert.equal(queue.take(), expected);
  }
  assert.deepEqual(queue.next(1), [3]);
  queue.interrupt(3);
  assert.deepEqual([queue.next(9), queue.length], [[2, 1], 1]);
  assert.equal(queue.take(), 2);
});

// Time ----------------------------------------------------------------------------------------------------------------

test('five quiet minutes count in full, and no second more; time goes on with the next sign', async () => {
  const clock = new Clock();
  const end = new AbortController();
  clock.watch(end.signal);
  clock.start();
  await pass(300_000);
  assert.equal(clock.seconds, 300);
  await pass(1);
  assert.equal(clock.seconds, 300);
  for (const sign of ['keydown', 'pointerdown', 'pointermove', 'wheel', 'scroll', 'touchstart']) {
    const before = clock.seconds;
    window.dispatchEvent(new Event(sign));
    assert.equal(clock.quiet, 0, sign);
    await pass(2000);
    assert.equal(clock.seconds - before, 2, sign);
    await pass(400_000);
    assert.equal(clock.seconds - before, 300, sign);
  }
  end.abort();
  window.dispatchEvent(new Event('keydown'));
  assert.ok(clock.quiet > 0);
});

test('somebody was away after more than a minute, by whatever they left, and each time anew', async () => {
  const end = new AbortController();
  let back = 0;
  whenBack(end.signal, () => { back += 1; });
  window.dispatchEvent(new Event('blur'));
  await pass(60_000);
  window.dispatchEvent(new Event('focus'));
  assert.equal(back, 0);
  window.dispatchEvent(new Event('blur'));
  await pass(30_000);
  document.hidden = true;
  document.dispatchEvent(new Event('visibilitychange'));
  await pass(30_001);
  document.hidden = false;
  document.dispatchEvent(new Event('visibilitychange'));
  assert.equal(back, 1, 'from the first leave on');
  window.dispatchEvent(new Event('focus'));
  assert.equal(back, 1, 'once');
  end.abort();
});

test('a break is due at the minute, a rest is one at five minutes', () => {
  const worked = new Worked('w');
  const begin = 1_000_000;
  assert.equal(worked.until(begin), true, 'nobody has worked yet');
  assert.equal(worked.until(begin + 299_999), false);
  assert.equal(worked.kept.worked, 299_999);
  worked.until(begin + 299_999 + 200_001);
  assert.equal(worked.kept.worked, 500_000);
  assert.deepEqual([worked.due(0), worked.due(8), worked.due(9)], [false, true, false]);
  worked.until(begin + 500_000 + 100_000);
  assert.equal(worked.due(10), true, 'exactly ten minutes');
  worked.later();
  assert.equal(worked.due(10), false);
  for (const more of [200_000, 400_000, 599_999]) worked.until(begin + 600_000 + more);
  assert.equal(worked.due(10), false);
  worked.until(begin + 1_200_000);
  assert.equal(worked.due(10), true, 'ten minutes later it is said again');
  assert.equal(worked.until(begin + 1_500_000), true, 'five minutes are a rest');
  assert.deepEqual([worked.kept.worked, worked.kept.again], [0, 0]);
});

// Outbox --------------------------------------------------------------------------------------------------------------

/** An outbox whose server answers as it is told, and when it asked. */
function box(name, answers) {
  const asked = [];
  const outbox = Outbox.of(name, 1, {
    submit: async (body) => {
      asked.push([performance.now(), body.uid]);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer ?? { status: 'done' };
    },
  });
  return { outbox, asked };
}

test('a success begins the waits anew, and a refusal is no failure', async () => {
  const failed = () => new Unreachable('gone', 0);
  const { outbox, asked } = box('turns', [failed(), failed(), failed(), { status: 'done' }, failed()]);
  outbox.add({ uid: 'a' }, 'A');
  await pass(20_000);
  const waits = asked.slice(1).map(([at], place) => at - asked[place][0]);
  assert.equal(asked.length, 4);
  for (const [place, base] of [1000, 2000, 4000].entries()) assert.ok(waits[place] >= 0.75 * base && waits[place] <= 1.25 * base + 1, `${waits[place]}`);
  assert.deepEqual([outbox.failures, outbox.state, outbox.trouble], [0, 'empty', null]);
  outbox.add({ uid: 'b' }, 'B');
  await settled();
  assert.deepEqual([outbox.failures, outbox.trouble !== null, outbox.has('b'), outbox.has('a')], [1, true, true, false]);
  await pass(1300);
  assert.equal(asked.at(-1)[1], 'b');
  assert.equal(asked.length, 6, 'the first wait again');
  assert.deepEqual([outbox.waiting, outbox.state], [0, 'empty']);
});

test('two that are refused are told one by one, and only the one that is given up goes', async () => {
  const { outbox } = box('refused', [new Refused('no', 409), new Refused('never', 422)]);
  const told = [];
  const end = outbox.listen({ changed: () => {}, acknowledged: (entry) => told.push([entry.body.uid, 'ok']), refused: (entry) => told.push([entry.body.uid, entry.refused]) });
  for (const uid of ['a', 'b', 'c']) outbox.add({ uid }, uid);
  await settled();
  await pass(10);
  assert.deepEqual(told, [['a', 'no'], ['b', 'never'], ['c', 'ok']]);
  assert.deepEqual([outbox.waiting, outbox.refused.map((entry) => entry.refused), outbox.state], [0, ['no', 'never'], 'empty']);
  outbox.discard(outbox.refused[0]);
  assert.deepEqual(outbox.entries.map((entry) => entry.body.uid), ['b']);
  end();
  outbox.add({ uid: 'd' }, 'd');
  await settled();
  assert.equal(told.length, 3, 'who has gone is told nothing');
  outbox.discard(outbox.refused[0]);
});

test('ids have the shape of a random UUID where the browser makes none itself', () => {
  const { randomUUID } = crypto;
  Object.defineProperty(crypto, 'randomUUID', { value: undefined, configurable: true });
  try {
    const made = Array.from({ length: 50 }, freshId);
    for (const id of made) assert.match(id, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.equal(new Set(made).size, 50);
  } finally {
    Object.defineProperty(crypto, 'randomUUID', { value: randomUUID, configurable: true });
  }
});

// Words ---------------------------------------------------------------------------------------------------------------

test('what is pointed at stays where it was in another text, and is nothing where there is nothing', () => {
  const cursor = new WordCursor();
  cursor.read([[0, 3], [4, 7], [8, 9]], []);
  assert.deepEqual([cursor.select(3, 4), cursor.range], [false, null], 'between two words');
  assert.deepEqual([cursor.select(2, 5), cursor.range], [true, [0, 7]]);
  cursor.read([[1, 5], [5, 8]], []);
  assert.deepEqual(cursor.range, [1, 8]);
  cursor.read([[20, 22]], []);
  assert.equal(cursor.range, null);
});
