/** What a reviser writes: only what differs is kept, over whatever version the item is in by then. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import './browser.js';
import { Edits, KeptEdits, Queue } from '../../app/widgets/revise/edits.js';

const item = (version = 1, written = {}) => ({
  item_id: 7, version, roles: ['gold', 'retrieved'], evidence: [], documents: [], studies: [],
  written: { question: 'Q', answer: 'A', evidence: [{ key: 'e1', role: 'gold' }, { key: 'e2', role: 'gold' }], ...written },
});

test('what is written as it was is no change, in whatever order its names stand', () => {
  const edits = new Edits(item(), null);
  edits.set('answer', 'B');
  assert.deepEqual(edits.written(), { answer: 'B' });
  edits.set('answer', 'A');
  edits.set('evidence', [{ role: 'gold', key: 'e1' }, { key: 'e2', role: 'gold' }]);
  assert.deepEqual(edits.written(), {});
  assert.equal(edits.touched, false);
});

test('a part is changed, left out and put back where it was; a page is added under a key of its own', () => {
  const edits = new Edits(item(), null);
  edits.setPart('evidence', 'e1', null);
  assert.deepEqual(edits.parts('evidence').map(({ key }) => key), ['e2']);
  assert.equal(edits.addPage('report.pdf', 4), 'e3');
  edits.setPart('evidence', 'e1', null);
  assert.deepEqual(edits.parts('evidence').map(({ key }) => key), ['e1', 'e2', 'e3']);
  edits.setPart('evidence', 'e1', { role: null });
  assert.deepEqual(edits.parts('evidence')[0], { key: 'e1' });
  edits.setPart('evidence', 'e3', null);
  edits.setPart('evidence', 'e1', { role: 'gold' });
  assert.equal(edits.touched, false);
});

test('a box or a passage that was marked is a unit of evidence, or an image, under a key of its own', () => {
  const documents = [{ id: 4, key: 'report.pdf', title: 'Report' }];
  const edits = new Edits({ ...item(1, { images: [] }), documents }, null);
  assert.equal(edits.addPlace({ document: 'report.pdf', page: 3, box: [0.1, 0.2, 0.5, 0.4] }), 'e3');
  assert.deepEqual(edits.parts('evidence')[2], { key: 'e3', kind: 'figure', role: 'gold', document: 'report.pdf', pages: [3], box: [0.1, 0.2, 0.5, 0.4] });
  const boxes = [[0.1, 0.1, 0.9, 0.15], [0.1, 0.15, 0.4, 0.2]];
  assert.equal(edits.addPlace({ document: 'report.pdf', page: 2, text: 'Two lines.', boxes }), 'e4');
  assert.deepEqual(edits.parts('evidence')[3], { key: 'e4', kind: 'passage', role: 'gold', document: 'report.pdf', pages: [2], box: [0.1, 0.1, 0.9, 0.2], text: 'Two lines.' });
  const shown = edits.units().map(({ key, document, pages, box }) => ({ key, document, pages, box }));
  assert.deepEqual(shown[2], { key: 'e3', document: 4, pages: [3], box: [0.1, 0.2, 0.5, 0.4] });
  assert.equal(edits.addImage({ document: 'report.pdf', page: 1, box: [0, 0, 1, 0.5] }), 'i1');
  assert.deepEqual(edits.written().images, [{ key: 'i1', document: 'report.pdf', page: 1, box: [0, 0, 1, 0.5] }]);
  edits.setPart('evidence', 'e3', null);
  assert.deepEqual(edits.units().map(({ key }) => key), ['e1', 'e2', 'e4']);
});

test('what is kept stands over a later version, and says from which one it began', () => {
  const kept = new KeptEdits('1');
  const edits = new Edits(item(), null);
  edits.set('answer', 'B');
  edits.reason = 'why';
  kept.keep(edits);
  const later = new Edits(item(2, { question: 'Q?' }), kept.of(7));
  assert.deepEqual([later.written(), later.reason, later.begunFrom, later.text('question')], [{ answer: 'B' }, 'why', 1, 'Q?']);
  kept.keep(later);
  assert.equal(kept.of(7).version, 1);
  later.rebase(item(3, { answer: 'B' }));
  assert.deepEqual([later.written(), later.begunFrom], [{}, 2]);
  later.reason = '';
  kept.keep(later);
  assert.equal(kept.of(7), null);
});

test('items are put off to the end, and those that are done can be gone back to', () => {
  const queue = new Queue();
  queue.refill([1, 2, 3]);
  assert.equal(queue.take(), 1);
  assert.equal(queue.putOff(), true);
  assert.equal(queue.take(), 2);
  queue.finish();
  assert.equal(queue.take(), 3);
  assert.equal(queue.back(), 2);
  queue.finish();
  assert.deepEqual([queue.take(), queue.take(), queue.take(), queue.done], [3, 1, null, [2]]);
});
