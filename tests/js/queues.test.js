/** What comes next: the annotator's items and the adjudicator's disputes, with the way back and what is put off. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import './browser.js';
import { Queue } from '../../app/widgets/annotate/queue.js';
import { Queue as Disputes } from '../../app/widgets/adjudicate/queue.js';

beforeEach(() => localStorage.clear());

const item = (assignment, step = 0) => ({ assignment, step });
const numbers = (items) => items.map(({ assignment }) => assignment);

test('items are taken in the server’s order; what is on the screen or under way is not ahead', () => {
  const queue = new Queue();
  queue.refill([item(1), item(2), item(3), item(4)], [2]);
  assert.equal(queue.take().assignment, 1);
  assert.deepEqual(numbers(queue.ahead), [3, 4]);
  queue.refill([item(1), item(3), item(5)], []);
  assert.deepEqual([numbers(queue.ahead), queue.have], [[3, 5], [1, 3, 5]]);
});

test('of what we have the server sends stubs, which change nothing', () => {
  const queue = new Queue();
  queue.refill([{ ...item(1), question: 'Why?' }, { ...item(2), question: 'How?' }], []);
  queue.take();
  queue.refill([{ assignment: 1, kept: true }, { assignment: 2, kept: true }, { assignment: 9, kept: true }], []);
  assert.deepEqual(queue.ahead.map(({ question }) => question), ['How?']);
});

test('where the study gives nothing any more, nothing that was only looked ahead at comes up', () => {
  const queue = new Queue();
  queue.refill([item(1), item(2), item(3)], []);
  queue.take();
  queue.interrupt(item(9), true);
  queue.submitted();
  assert.equal(queue.take().assignment, 1);
  queue.halt();
  assert.equal(queue.take(), null);
  assert.deepEqual([queue.have, queue.history], [[], [9]]);
});

test('going back opens what was submitted last, then the one before it, and the item that was left comes again', () => {
  const queue = new Queue();
  queue.refill([1, 2, 3].map((one) => item(one)), []);
  for (const expected of [1, 2]) {
    assert.equal(queue.take().assignment, expected);
    queue.submitted();
  }
  queue.take();
  assert.equal(queue.before(7), 2);
  queue.interrupt(item(2), true);
  assert.equal(queue.correcting, true);
  assert.equal(queue.before(7), 1);
  queue.interrupt(item(1), true);
  assert.equal(queue.before(7), null);
  queue.submitted();
  assert.equal(queue.take().assignment, 3);
  assert.equal(queue.correcting, false);
  assert.deepEqual(queue.history, [2, 1]);
});

test('without anything submitted here, what the server knows of earlier visits is opened', () => {
  const queue = new Queue();
  queue.refill([item(4)], []);
  queue.take();
  assert.deepEqual([queue.before(null), queue.before(3)], [null, 3]);
});

test('a step that was refused is found again, of the last fifty items', () => {
  const queue = new Queue();
  for (let one = 1; one <= 60; one += 1) queue.put(item(one, 1));
  assert.equal(queue.find(60, 1).assignment, 60);
  assert.equal(queue.find(11, 1).assignment, 11);
  assert.deepEqual([queue.find(10, 1), queue.find(60, 0)], [null, null]);
});

const settlement = (studyItem) => ({ uid: `u${studyItem}`, study_item: studyItem, decisions: [], again: false });

test('disputes that are put off come last, in the order they were put off', () => {
  const queue = new Disputes('3', 1);
  queue.refill([10, 11, 12], []);
  assert.equal(queue.take(), 10);
  assert.equal(queue.putOff(), true);
  assert.equal(queue.take(), 11);
  queue.putOff();
  queue.refill([10, 11, 12, 13], []);
  assert.deepEqual([queue.next(9), queue.length], [[12, 13, 10, 11], 4]);
  assert.deepEqual([queue.take(), queue.take(), queue.take(), queue.take(), queue.take()], [12, 13, 10, 11, null]);
  queue.refill([14], []);
  queue.take();
  assert.equal(queue.putOff(), false);
});

test('settled disputes are opened again from the last one, also after a reload, and undone ones are not', () => {
  const queue = new Disputes('3', 1);
  queue.refill([10, 11, 12], []);
  for (const one of [10, 11]) {
    queue.take();
    queue.done(settlement(one));
  }
  const again = new Disputes('3', 1);
  assert.equal(again.before().study_item, 11);
  assert.equal(new Disputes('4', 1).before(), null);
  queue.take();
  queue.interrupt(11);
  assert.deepEqual([queue.before().study_item, queue.interrupted], [10, 12]);
  queue.undone(10);
  assert.equal(queue.before(), null);
  assert.equal(queue.take(), 12);
});

test('disputes whose decision is under way are not shown again', () => {
  const queue = new Disputes('3', 2);
  queue.refill([10, 11], [10]);
  assert.deepEqual([queue.take(), queue.take()], [11, null]);
});
