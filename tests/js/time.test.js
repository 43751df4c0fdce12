/** Time on an item, a suggested break, and what of a text has been on the screen. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass } from './browser.js';
import { Worked } from '../../app/widgets/annotate/breaks.js';
import { Clock } from '../../app/widgets/annotate/clock.js';
import { SEEN } from '../../app/widgets/annotate/judgement/seen.js';

const MINUTE = 60_000;

beforeEach(() => localStorage.clear());

const sign = () => window.dispatchEvent(new Event('keydown'));

function hide(hidden) {
  document.hidden = hidden;
  document.dispatchEvent(new Event('visibilitychange'));
}

function started() {
  const clock = new Clock();
  const ended = new AbortController();
  clock.watch(ended.signal);
  clock.start();
  return { clock, ended };
}

test('time on an item stands still while the tab is hidden', async () => {
  const { clock, ended } = started();
  await pass(MINUTE);
  hide(true);
  await pass(120 * MINUTE);
  hide(false);
  await pass(MINUTE / 2);
  assert.equal(clock.seconds, 90);
  ended.abort();
});

test('an hour without a sign of life counts as five minutes', async () => {
  const { clock, ended } = started();
  await pass(MINUTE);
  sign();
  await pass(60 * MINUTE);
  assert.equal(clock.seconds, 360);
  sign();
  await pass(10_000);
  assert.deepEqual([clock.seconds, clock.quiet], [370, 10_000]);
  ended.abort();
});

test('a step goes on with the seconds it had, and stands still when it is left', async () => {
  const { clock, ended } = started();
  clock.start(12.5);
  await pass(1000);
  clock.stop();
  await pass(MINUTE);
  assert.equal(clock.seconds, 13.5);
  ended.abort();
});

/** Works with a sign of life every four minutes. */
async function work(worked, minutes) {
  for (let minute = 0; minute < minutes; minute += 4) {
    await pass(4 * MINUTE);
    worked.until(Date.now());
  }
}

test('a break is due after so many minutes of work, and said again after ten more', async () => {
  const worked = new Worked('a');
  worked.until(Date.now());
  await work(worked, 48);
  assert.deepEqual([worked.due(50), worked.due(25), worked.due(0)], [false, true, false]);
  await work(worked, 4);
  assert.equal(worked.due(50), true);
  worked.later();
  assert.equal(worked.due(50), false);
  await work(worked, 8);
  assert.equal(worked.due(50), false);
  await work(worked, 4);
  assert.equal(worked.due(50), true);
  assert.equal(new Worked('a').due(50), true); // it is kept in the browser
  assert.equal(new Worked('b').due(50), false);
});

test('a rest of five minutes is a break', async () => {
  const worked = new Worked('a');
  worked.until(Date.now());
  await work(worked, 20);
  await pass(6 * MINUTE);
  assert.equal(worked.until(Date.now()), true);
  await work(worked, 8);
  assert.equal(worked.due(25), false);
  await work(worked, 20);
  assert.equal(worked.due(25), true);
});

test('a look that finds no newer sign of life counts nothing', async () => {
  const worked = new Worked('a');
  worked.until(Date.now());
  await pass(3 * MINUTE);
  assert.equal(worked.until(Date.now() - 3 * MINUTE), false);
  assert.equal(worked.kept.worked, 0);
});

test('what was seen of a text adds up in whatever order, and is counted once', () => {
  SEEN.add('1', 'the answer', [[0, 40], [80, 100]], 200);
  SEEN.add('1', 'the answer', [[30, 60]], 200);
  assert.ok(Math.abs(SEEN.unseen('1', 'the answer') - 0.6) < 1e-9);
  SEEN.add('1', 'the answer', [[0, 400]], 400); // set out otherwise
  assert.equal(SEEN.unseen('1', 'the answer'), 0);
  assert.equal(SEEN.unseen('2', 'the answer'), 1);
});

test('less than half a hundredth is not worth a word', () => {
  SEEN.add('3', 'the question', [[0, 996]], 1000);
  assert.equal(SEEN.unseen('3', 'the question'), 0);
  assert.equal(SEEN.note('3', 0, ['the question']), '');
});

test('what was not seen is said in words, each text in one step only', () => {
  SEEN.add('4', 'the question', [[0, 75]], 100);
  assert.equal(SEEN.note('4', 0, ['the question', 'the answer']), '25 % of the question and 100 % of the answer have not been on your screen yet.');
  assert.equal(SEEN.note('4', 0, ['the question']), '25 % of the question has not been on your screen yet.');
  assert.equal(SEEN.note('4', 1, ['the question']), '');
});

test('it is kept for the twenty items last worked on, and with the tab', () => {
  for (let item = 100; item < 121; item += 1) SEEN.add(String(item), 'the answer', [[0, 1]], 1);
  assert.deepEqual([SEEN.unseen('100', 'the answer'), SEEN.unseen('101', 'the answer')], [1, 0]);
  window.dispatchEvent(new Event('pagehide'));
  assert.equal(JSON.parse(sessionStorage.getItem('assay.seen.1')).length, 20);
});
