/** The whole page of revisers: what is written is kept, saved with its reason, and never lost to what others do. */

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS, leave, refusal, Server, up } from './whole_page.js';

await loadKinds();
const { App } = await import('../../app/widgets/revise/app.js');
const { WORDS } = await import('../../app/widgets/revise/text.js');

const revision = (number, more = {}) => ({
  ...DESKS.revision, item_id: number, item: `i${number}`, written: { ...DESKS.revision.written, answer: `Answer ${number}.` }, ...more,
});
const waiting = (numbers, more = {}) => ({
  ...DESKS.revisions, held: [], waiting: numbers.map((number) => ({ item_id: number, item: `i${number}`, fails: [] })), ...more,
});
const PLAN = { version: 2, edited: ['answer'], differences: {}, effects: [], verdicts: 0 };

let app;
let server;

/** A server of items by their numbers: what each is asked to do ends its address, so that the item itself is `revision`. */
async function begin(on, more = {}) {
  server = new Server({
    take: { mine: true, by: 'me', state: 'in_revision' }, leave: { left: 1 }, plan: { plan: PLAN }, revise: { revised: { to: 2 } },
    end: { ended: 1 }, ...on,
  });
  app = await up(new App({ project: 1, person: '7', item: null, home: '/', sign_in: '/', keys: DESKS.keys.revise, ...more }));
}

const down = () => {
  app?.detach(() => undefined);
  leave();
};
const shows = (testid) => app.shell.root.querySelector(testid);
const write = async (text) => {
  app.judgement.fields.write('answer', text);
  app.edits.reason = 'It was wrong.';
  await pass(300);
};
const save = async () => {
  app.act('save');
  await pass(700);
};

beforeEach(() => {
  down();
  localStorage.clear();
});
after(down);

test('what is written is saved with its reason and the version that it was begun from; the next one comes', async () => {
  await begin({ revisions: waiting([1, 2]), revision: [revision(1), revision(2)] });
  assert.equal(app.edits.item.item, 'i1');
  await write('Better.');
  assert.equal(server.sent('plan').at(-1).written.answer, 'Better.');
  await save();
  assert.deepEqual(server.sent('revise').map(({ written, reason, from_version: from }) => [written.answer, reason, from]), [['Better.', 'It was wrong.', 1]]);
  assert.equal(app.edits.item.item, 'i2');
  assert.match(app.shell.top.textContent, /i1/, 'what was saved is said');
});

test('without a change or without a reason nothing is sent, and the page says which is missing', async () => {
  await begin({ revisions: waiting([1]), revision: revision(1) });
  await save();
  assert.match(app.shell.stage.textContent, new RegExp(WORDS.nothingDiffers.slice(0, 12)));
  await write('Better.');
  app.edits.reason = '  ';
  await save();
  assert.match(app.shell.stage.textContent, new RegExp(WORDS.reasonMissing.slice(0, 12)));
  assert.equal(server.sent('revise').length, 0);
});

test('a save that does not reach the server leaves what was written, and can be tried again', async () => {
  await begin({ revisions: waiting([1]), revision: revision(1), revise: [new TypeError('no'), { revised: { to: 2 } }] });
  await write('Better.');
  await save();
  assert.deepEqual([app.busy, app.edits.text('answer')], [false, 'Better.']);
  assert.match(app.shell.stage.textContent, new RegExp(WORDS.notSaved.slice(0, 12)));
  await save();
  assert.equal(server.sent('revise').length, 2);
});

test('where somebody else was faster, what was written stands on the new version', async () => {
  await begin({ revisions: waiting([1]), revision: [revision(1), revision(1, { version: 3 })], revise: refusal(409, 'It is at version 3.') });
  await write('Better.');
  await save();
  assert.deepEqual([app.edits.item.version, app.edits.text('answer'), app.busy], [3, 'Better.', false]);
});

test('where the answer got lost, what was saved is done with', async () => {
  const saved = revision(1, { version: 2, written: { ...DESKS.revision.written, answer: 'Better.' } });
  await begin({ revisions: [waiting([1]), waiting([])], revision: [revision(1), saved], revise: refusal(409, 'It is at version 2.') });
  await write('Better.');
  await save();
  assert.equal(app.edits, null);
  assert.ok(shows('finished'));
});

test('what was written is there again when the page is', async () => {
  await begin({ revisions: waiting([1]), revision: revision(1) });
  await write('Better.');
  down();
  app = await up(new App(app.options));
  assert.equal(app.edits.text('answer'), 'Better.');
});

test('an item that somebody else has is passed over; one with something written stays, and it is said', async () => {
  await begin({ revisions: waiting([1, 2]), revision: [revision(1), revision(2)], take: [{ mine: false, by: 'rob', state: 'in_revision' }, { mine: true, by: 'me', state: 'in_revision' }] });
  assert.equal(app.edits.item.item, 'i2');
  assert.match(app.shell.top.textContent, /rob/);
  server.on.take = { mine: false, by: 'rob', state: 'in_revision' };
  await write('Better.');
  await pass(61_000);
  await write('Better still.');
  assert.equal(app.edits.item.item, 'i2');
  assert.match(app.shell.top.textContent, /rob/);
});

test('an item that is revised by now is passed over', async () => {
  await begin({ revisions: waiting([1, 2]), revision: [revision(1, { state: 'in_study' }), revision(2)] });
  assert.equal(app.edits.item.item, 'i2');
  assert.match(app.shell.top.textContent, new RegExp(WORDS.gone.slice(0, 12)));
});

test('an item is put off behind the others, and others may have it; the only one stays', async () => {
  await begin({ revisions: waiting([1, 2]), revision: [revision(1), revision(2)] });
  app.act('later');
  await pass(50);
  assert.deepEqual([app.edits.item.item, server.sent('leave').length], ['i2', 1]);
  await begin({ revisions: waiting([1]), revision: revision(1) });
  app.act('later');
  assert.match(app.shell.stage.textContent, new RegExp(WORDS.onlyOne.slice(0, 12)));
});

test('an item is ended by hand with a reason', async () => {
  await begin({ revisions: [waiting([1]), waiting([])], revision: revision(1) });
  app.act('reject');
  assert.equal(server.sent('end').length, 0, 'first one says why');
  app.judgement.dock.element.querySelector('textarea').value = 'No question.';
  app.judgement.dock.element.querySelectorAll('button').at(-1).click();
  await pass(700);
  assert.deepEqual(server.sent('end'), [{ state: 'rejected', reason: 'No question.' }]);
  assert.equal(app.edits, null);
});

test('who only revises neither ends an item nor sees its history', async () => {
  const opened = [];
  window.open = (...to) => opened.push(to);
  await begin({ revisions: waiting([1]), revision: revision(1, { only_revises: true }) });
  app.act('reject');
  app.act('history');
  assert.deepEqual([app.judgement.dock.open, opened, shows('history-button')], [false, [], null]);
});

test('who may not revise an item reads why, and nothing is saved or kept from others', async () => {
  await begin({ revision: revision(1, { why_not: 'You wrote this item.' }) }, { item: 1 });
  await save();
  assert.deepEqual([server.sent('revise').length, server.sent('take').length], [0, 0]);
  assert.match(app.shell.root.textContent, /You wrote this item\./);
});

test('of one item the page says which version there is now, and where to go on', async () => {
  await begin({ revision: revision(1) }, { item: 1 });
  await write('Better.');
  await save();
  assert.match(shows('finished').textContent, new RegExp(WORDS.doneOne(2).slice(0, 12)));
});

test('without a connection the page says so, and loads when it is there; signed out, it is covered', async () => {
  await begin({ revisions: [new TypeError('no'), waiting([1])], revision: revision(1) });
  assert.ok(shows('offline'));
  await pass(3100);
  assert.equal(app.edits.item.item, 'i1');
  server.on.revise = refusal(401);
  await write('Better.');
  await save();
  assert.deepEqual([app.shell.cover.hidden, app.live], [false, false]);
});
