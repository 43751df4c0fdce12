/** What a reviser writes: only what differs is kept, over whatever version the item is in by then. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from './browser.js';
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

test('only what the item has can be written, and what is read is what is written, or else the item’s', () => {
  const edits = new Edits(item(), null);
  edits.set('colour', 'red');
  assert.deepEqual(edits.written(), {});
  edits.set('answer', '');
  assert.deepEqual([edits.text('answer'), edits.text('question'), edits.written()], ['', 'Q', { answer: '' }]);
  edits.set('answer', 'A');
  edits.reason = 'why';
  assert.equal(edits.touched, true, 'a reason is something written');
});

test('what is empty in a part is left out of it, and nothing else is: not 0, not an empty list', () => {
  const edits = new Edits(item(), null);
  edits.setPart('evidence', 'e2', { text: '', title: null, page: 0, pages: [], flag: false, caption: 'C' });
  assert.deepEqual(edits.parts('evidence'), [{ key: 'e1', role: 'gold' }, { key: 'e2', role: 'gold', page: 0, pages: [], flag: false, caption: 'C' }]);
});

test('lists are the same only in the same order, and so are the values within', () => {
  const edits = new Edits(item(1, { claims: [{ key: 'a', of: { x: 1, y: [1, 2] } }] }), null);
  edits.set('claims', [{ of: { y: [1, 2], x: 1 }, key: 'a' }]);
  assert.equal(edits.touched, false);
  edits.set('claims', [{ of: { y: [2, 1], x: 1 }, key: 'a' }]);
  assert.equal(edits.touched, true);
  edits.set('claims', [{ key: 'a', of: null }]);
  assert.equal(edits.touched, true);
});

test('parts that were left out come back to their places, and a key that was left out is given to nothing else', () => {
  const edits = new Edits(item(1, { evidence: ['e1', 'e2', 'e3'].map((key) => ({ key })) }), null);
  const keys = () => edits.parts('evidence').map(({ key }) => key);
  edits.setPart('evidence', 'e3', null);
  assert.equal(edits.addPage('a.pdf', 1), 'e4');
  edits.setPart('evidence', 'e1', null);
  edits.setPart('evidence', 'e3', null);
  assert.deepEqual(keys(), ['e2', 'e3', 'e4']);
  edits.setPart('evidence', 'e1', null);
  assert.deepEqual(keys(), ['e1', 'e2', 'e3', 'e4']);
  edits.setPart('evidence', 'nobody', null);
  assert.deepEqual(keys(), ['e1', 'e2', 'e3', 'e4']);
});

test('a place that was marked has the smallest box around its lines, on page 1 where it says none, and no box without any', () => {
  const edits = new Edits(item(1, { evidence: [], images: [] }), null);
  edits.addPlace({ document: 'd', page: 2, text: 'T', boxes: [[0.5, 0.1, 0.9, 0.2], [0.1, 0.2, 0.4, 0.3]] });
  edits.addPlace({ document: 'd', boxes: [] });
  edits.addPlace({ document: 'd', page: 3, box: [0, 0, 1, 1], boxes: [[0.5, 0.5, 0.6, 0.6]] });
  assert.deepEqual(edits.parts('evidence'), [
    { key: 'e1', kind: 'passage', role: 'gold', document: 'd', pages: [2], box: [0.1, 0.1, 0.9, 0.3], text: 'T' },
    { key: 'e2', kind: 'figure', role: 'gold', document: 'd', pages: [1] },
    { key: 'e3', kind: 'figure', role: 'gold', document: 'd', pages: [3], box: [0, 0, 1, 1] },
  ]);
  edits.addImage({ document: 'd', boxes: [[0.5, 0.1, 0.9, 0.2], [0.1, 0.2, 0.4, 0.3]] });
  edits.addImage({ document: 'd', page: 4 });
  assert.deepEqual(edits.parts('images'), [{ key: 'i1', document: 'd', page: 1, box: [0.1, 0.1, 0.9, 0.3] }, { key: 'i2', document: 'd', page: 4 }]);
});

test('evidence is shown as it is written, with what the item says of it; images are marks where they are a part of a page', () => {
  const documents = [{ id: 4, key: 'a.pdf' }];
  const evidence = [{ key: 'e1', kind: 'table', title: 'Rents', document: 4, pages: [9], box: null, text: 'old' }];
  const images = [
    { key: 'i1', document: 'a.pdf', page: 2, box: [0, 0, 1, 1], caption: 'Bridge' }, { key: 'i2', document: 'a.pdf', page: 2 },
    { key: 'i3', document: 'gone.pdf', box: [0, 0, 1, 1] }, { key: 'i4', document: 'a.pdf', box: [0, 0, 1, 1] },
  ];
  const written = { evidence: [{ key: 'e1', document: 'a.pdf', pages: [1], text: 'new' }, { key: 'e7', kind: 'page', document: 'gone.pdf' }], images };
  const edits = new Edits({ ...item(1, written), documents, evidence }, null);
  assert.deepEqual(edits.units(), [
    { title: 'Rents', key: 'e1', kind: 'passage', document: 4, pages: [1], box: null, text: 'new' },
    { title: '', key: 'e7', kind: 'page', document: null, pages: [], box: null, text: null },
  ]);
  assert.deepEqual(edits.imageMarks().map(({ document, page, boxes, name, title }) => [document, page, boxes, name, title]),
    [[4, 2, [[0, 0, 1, 1]], 'i1', 'Bridge'], [4, 1, [[0, 0, 1, 1]], 'i4', 'i4']]);
});

test('what was drafted is said of what is still written, and of nothing else', () => {
  const edits = new Edits(item(), { version: 1, values: { answer: 'B' }, reason: '', at: 0, drafts: { answer: 7, question: 8 } });
  assert.deepEqual(edits.drafted(), { answer: 7 });
  edits.set('answer', 'A');
  assert.deepEqual(edits.drafted(), {});
});

test('edits began from another version only where something is written of it, and that is kept over a reload', () => {
  const kept = { version: 1, values: { answer: 'B' }, reason: '', at: 0 };
  assert.equal(new Edits(item(1), kept).begunFrom, null);
  assert.equal(new Edits(item(2), kept).begunFrom, 1);
  assert.equal(new Edits(item(2, { answer: 'B' }), kept).begunFrom, null, 'somebody wrote the same meanwhile');
  const edits = new Edits(item(2), kept);
  edits.rebase(item(2));
  assert.equal(edits.begunFrom, 1, 'the same version again changes nothing');
});

test('unsaved edits are kept for ninety days, for the person whose they are, and not without any', async () => {
  const kept = new KeptEdits('1');
  const edits = new Edits(item(), null);
  edits.set('answer', 'B');
  kept.keep(edits);
  await pass(90 * 24 * 3600_000);
  assert.equal(new KeptEdits('2').of(7), null);
  assert.deepEqual(new KeptEdits('1').of(7).values, { answer: 'B' });
  await pass(1);
  assert.equal(new KeptEdits('2').of(7), null);
  assert.equal(new KeptEdits('1').of(7), null);
  kept.keep(edits);
  kept.drop(7);
  assert.equal(kept.of(7), null);
});

test('what waits is refilled without what is on the screen, what was put off stays at the end, and one alone is not put off', () => {
  const queue = new Queue();
  queue.refill([1, 2, 3]);
  queue.take();
  queue.putOff();
  queue.take();
  queue.refill([1, 2, 3, 4]);
  assert.deepEqual([queue.current, queue.ahead, queue.later, queue.length, queue.next()], [2, [3, 4], [1], 3, 3]);
  queue.refill([2]);
  assert.deepEqual([queue.length, queue.next(), queue.putOff(), queue.current], [0, null, false, 2], 'what is done elsewhere is put off no longer');
  queue.finish();
  assert.deepEqual([queue.take(), queue.putOff(), queue.back(), queue.back()], [null, false, 2, null]);
});

test('going back goes from the last one done to the ones before it; what was begun comes next, what was done does not', () => {
  const queue = new Queue();
  queue.refill([1, 2, 3]);
  for (let n = 0; n < 2; n += 1) queue.take(), queue.finish();
  queue.take();
  assert.deepEqual([queue.back(), queue.back(), queue.back(), queue.current], [2, 1, null, 1]);
  assert.deepEqual([queue.ahead, queue.done], [[3], [1, 2]]);
  queue.finish();
  assert.deepEqual([queue.done, queue.take()], [[2, 1], 3]);
});
