/** The whole page of annotators, from work to submission, with the keyboard: what follows what, whatever the server says. */

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS, leave, press, refusal, Server, up } from './whole_page.js';

await loadKinds();
const { App } = await import('../../app/widgets/annotate/app.js');
const { TEXT } = await import('../../app/widgets/shared/text.js');

const LABELS = [{ value: 'yes', title: 'Yes', key: '1', definition: '' }, { value: 'no', title: 'No', key: '2', definition: '' }];
const right = { kind: 'choice', name: 'right', title: 'Right', help: '', target: 'item', required: true, per_hop: false, when: null, labels: LABELS, scale: 'nominal' };
const clear = { ...right, name: 'clear', title: 'Clear', labels: LABELS.map((label, n) => ({ ...label, key: '34'[n] })) };

const study = (steps) => ({
  id: 1, name: 'study', project: 'project', protocol_hash: 'h', guidelines_read: true,
  protocol: {
    name: 'tiny', version: 1, title: 'Tiny', summary: '', guidelines: 'Say.', consequences: [], criteria: [right, clear].slice(0, steps.length),
    steps: steps.map((criterion) => ({ name: criterion, title: criterion, criteria: [criterion] })),
  },
});
const item = (assignment, more = {}) => ({
  shown: ['answer', 'question'], language: null, question: `Question ${assignment}?`, answer: `Answer ${assignment}.`,
  units: { right: ['item'], clear: ['item'] }, assignment, sitting: 1, step: 0, returned: null, committed: [], previous: [], draft: null, ...more,
});
const STATE = { progress: { done: 0, of: 3, seconds_today: 0 }, finished: false, halted: null, enough: null, phase: null };
const work = (items, more = {}) => ({ items, ...STATE, study: study(['right']), keys: DESKS.keys.annotate, person: { id: 7, name: 'ada' }, last: null, ...more });
const done = (items = [], more = {}) => ({ saved_at: '2026-03-02T09:00:00Z', status: 'done', items, ...STATE, ...more });

let app;
let server;
let numbers = 0;
const down = () => {
  app?.detach(() => undefined);
  leave();
};

async function begin(on) {
  numbers += 1; // an outbox belongs to a person and a study
  server = new Server({ draft: { saved_at: 'now' }, guidelines: { saved_at: 'now' }, ...on });
  app = await up(new App({ study: numbers, person: '7' }));
}

const seen = () => app.shell.stage.textContent;
const shows = (testid) => app.shell.root.querySelector(testid);

beforeEach(() => {
  down();
  localStorage.clear();
});
after(down);

test('a label and Enter submit the item, once, and the next one is there at once', async () => {
  await begin({ work: work([item(1), item(2)]), submit: done([], { progress: { done: 1, of: 3, seconds_today: 9 } }) });
  assert.match(seen(), /Question 1\?/);
  await press('1');
  await press('Enter');
  assert.match(seen(), /Question 2\?/);
  await press('Enter'); // a second one belongs to the item before
  const [sent, ...more] = server.sent('submit');
  assert.deepEqual([more.length, sent.assignment, sent.step, sent.labels.map(({ criterion, target, value }) => [criterion, target, value])],
    [0, 1, 0, [['right', 'item', 'yes']]]);
  assert.match(app.shell.live.textContent, /^Next item/);
});

test('what is still to answer is not submitted, and the page points at it', async () => {
  await begin({ work: work([item(1)]) });
  await pass(1000);
  await press('Enter');
  assert.equal(server.sent('submit').length, 0);
  assert.match(app.judgement.element.textContent, /Still to answer/);
});

test('the second step comes with the answer to the first, and nothing can be done meanwhile', async () => {
  const first = item(1, { study: null });
  await begin({
    work: work([first], { study: study(['right', 'clear']) }),
    submit: [done([], { status: 'step', item: item(1, { step: 1 }) }), done()],
  });
  await press('1');
  app.act('submit');
  assert.deepEqual([app.busy, app.live], [true, false]);
  await press('2');
  await pass(50);
  assert.deepEqual([app.busy, app.sheet.item.step], [false, 1]);
  assert.match(app.shell.live.textContent, /clear/);
  await press('4');
  await press('Enter');
  assert.deepEqual(server.sent('submit').map((one) => [one.step, one.labels[0].criterion, one.labels[0].value]), [[0, 'right', 'yes'], [1, 'clear', 'no']]);
});

test('an item is skipped with a reason, and the next one comes', async () => {
  await begin({ work: work([item(1), item(2)]), skip: done([item(2)]) });
  await press('s');
  assert.equal(app.judgement.dock.open, true);
  assert.equal(server.sent('skip').length, 0, 'first one says why');
  app.judgement.dock.element.querySelectorAll('button').find((one) => one.textContent.includes(TEXT.skipReasons[0])).click();
  await pass(700);
  assert.deepEqual(server.sent('skip').map((one) => [one.assignment, one.reason]), [[1, TEXT.skipReasons[0]]]);
  assert.match(seen(), /Question 2\?/);
});

test('a skip that does not reach the server leaves the item, and says so', async () => {
  await begin({ work: work([item(1), item(2)]), skip: new TypeError('no') });
  await press('s');
  app.judgement.dock.element.querySelectorAll('button').find((one) => one.textContent.includes(TEXT.skipReasons[0])).click();
  await pass(700);
  assert.match(seen(), /Question 1\?/);
  assert.match(app.judgement.element.textContent, new RegExp(TEXT.notSkipped.slice(0, 20)));
  assert.deepEqual([app.busy, app.live], [false, true]);
});

test('an item of the qualification cannot be skipped', async () => {
  await begin({ work: work([item(1, { qualifying: { number: 1, of: 2 } })]) });
  await press('s');
  assert.equal(app.judgement.dock.open, false);
  assert.match(app.judgement.element.textContent, new RegExp(TEXT.notSkippable.slice(0, 20)));
});

test('a refused submission stands above the page with the server’s words, and its item comes back with its labels', async () => {
  await begin({
    work: work([item(1), item(2)]), submit: [refusal(409, 'It was submitted in another window.'), done()],
    reopen: { item: item(1, { sitting: 2 }) },
  });
  await press('2');
  await press('Enter');
  await pass(50);
  const alert = shows('refused');
  assert.match(alert.textContent, /It was submitted in another window\./);
  assert.match(seen(), /Question 2\?/, 'what is at hand stays');
  alert.querySelector('return').click();
  await pass(50);
  assert.equal(shows('refused'), null);
  assert.deepEqual([app.sheet.item.assignment, app.sheet.item.sitting, app.sheet.labels()[0].value], [1, 2, 'no']);
  await pass(700);
  await press('Enter');
  assert.deepEqual(server.sent('submit').at(-1).sitting, 2);
});

test('a refused submission can be discarded', async () => {
  await begin({ work: work([item(1), item(2)]), submit: refusal(409, 'No.') });
  await press('1');
  await press('Enter');
  await pass(50);
  shows('refused').querySelector('discard').click();
  assert.equal(shows('refused'), null);
  assert.equal(app.outbox.refused.length, 0);
});

test('the item before is opened again, corrected, or left as it was', async () => {
  await begin({ work: work([item(1), item(2)], { last: 9 }), reopen: { item: item(9, { sitting: 2, previous: [{ criterion: 'right', target: 'item', value: 'no' }] }) } });
  await press('z');
  await pass(50);
  assert.deepEqual([server.sent('reopen')[0].assignment, app.sheet.item.assignment, app.queue.correcting], [9, 9, true]);
  app.act('leave');
  await pass(50);
  assert.match(seen(), /Question 1\?/, 'the item at hand is there again');
});

test('where nothing was submitted there is nothing to go back to', async () => {
  await begin({ work: work([item(1)]) });
  await press('z');
  assert.equal(server.sent('reopen').length, 0);
  assert.match(app.judgement.element.textContent, new RegExp(TEXT.nothingBack.slice(0, 15)));
});

test('a step that waits for the server is sent when it is back, and the draft of it is gone', async () => {
  await begin({ work: work([item(1), item(2)]), submit: [new TypeError('no'), done()] });
  await press('1');
  await press('Enter');
  await pass(50);
  assert.match(seen(), /Question 2\?/, 'one goes on');
  assert.equal(app.outbox.waiting, 1);
  await pass(60_000);
  assert.equal(app.outbox.waiting, 0);
  assert.equal(app.drafts.restore(item(1)), null);
});

test('when all is done the page says so, and offers the way home and back', async () => {
  await begin({ work: work([item(1)]), submit: done([], { finished: true, progress: { done: 1, of: 1, seconds_today: 3 } }) });
  await press('1');
  await press('Enter');
  await pass(50);
  const finished = shows('finished');
  assert.match(finished.textContent, new RegExp(TEXT.finished));
  assert.ok(finished.querySelector('back'));
  assert.deepEqual([app.sheet, app.live], [null, false]);
});

test('what a study says that gives nothing stands in the place of an item, and is looked at again', async () => {
  await begin({ work: [work([], { halted: 'The study is paused.' }), work([item(4)])] });
  assert.match(shows('halted').textContent, /The study is paused\./);
  await pass(31_000);
  assert.match(seen(), /Question 4\?/);
});

test('an item that nobody began goes when the study stops; one that was begun stays', async () => {
  for (const [begun, left] of [[false, /The study is paused/], [true, /Question 2\?/]]) {
    await begin({ work: work([item(1), item(2)]), submit: [done([], { halted: 'The study is paused.' })] });
    let answer;
    const { submit } = app.api;
    app.api.submit = async (body) => (await new Promise((ready) => (answer = ready)), submit.call(app.api, body));
    await press('1');
    await press('Enter');
    if (begun) await press('2');
    answer();
    await pass(50);
    assert.match(seen(), left);
    down();
  }
});

test('without a connection at the start the page says so, and loads when it is there', async () => {
  await begin({ work: [new TypeError('no'), work([item(1)])] });
  assert.ok(shows('offline'));
  await pass(3100);
  assert.match(seen(), /Question 1\?/);
});

test('what the server does not allow is said in its words', async () => {
  await begin({ work: refusal(403, 'You are not an annotator of this study.') });
  assert.match(shows('error').textContent, /You are not an annotator of this study\./);
});

test('signed out, the page is covered and takes nothing until somebody is signed in', async () => {
  await begin({ work: [work([item(1), item(2)]), work([item(1), item(2)])], submit: refusal(401) });
  await press('1');
  await press('Enter');
  await pass(50);
  assert.deepEqual([app.shell.cover.hidden, app.live], [false, false]);
  app.act('skip');
  assert.equal(app.judgement.dock.open, false);
  server.on.submit = done();
  window.dispatchEvent(new Event('focus'));
  await pass(700);
  assert.deepEqual([app.shell.cover.hidden, app.outbox.waiting], [true, 0]);
});

test('what was gone on with at another computer replaces what is on the screen when one is back', async () => {
  const elsewhere = item(1, { sitting: 2, draft: null });
  await begin({ work: [work([item(1)]), work([elsewhere])] });
  document.hidden = true;
  document.dispatchEvent(new Event('visibilitychange'));
  await pass(61_000);
  document.hidden = false;
  document.dispatchEvent(new Event('visibilitychange'));
  await pass(700);
  assert.equal(app.sheet.item.sitting, 2);
});

test('the draft of an item is kept as it is given, and there again after a reload', async () => {
  await begin({ work: work([item(1)]) });
  await press('2');
  await pass(5000);
  assert.deepEqual(server.sent('draft').at(-1).content.labels.map((one) => one.value), ['no']);
  const { study: number } = app.options;
  down();
  app = await up(new App({ study: number, person: '7' }));
  assert.deepEqual(app.sheet.labels().map((one) => one.value), ['no']);
});

test('an item that was asked for by its address is opened once', async () => {
  numbers += 1;
  server = new Server({ work: work([item(1)]), reopen: { item: item(5, { sitting: 2 }) }, draft: { saved_at: 'now' } });
  app = await up(new App({ study: numbers, person: '7', assignment: 5 }));
  assert.equal(app.sheet.item.assignment, 5);
  await app.load();
  assert.equal(server.sent('reopen').length, 1);
});
