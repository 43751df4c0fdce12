/** The whole page of adjudicators: from the queue to the decision, whatever the server and the others do. */

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS, leave, press, refusal, Server, up } from './whole_page.js';

await loadKinds();
const { App } = await import('../../app/widgets/adjudicate/app.js');
const { WORDS } = await import('../../app/widgets/adjudicate/text.js');

const dispute = (number, more = {}) => ({
  ...DESKS.dispute, study_item_id: number, presentation: { ...DESKS.dispute.presentation, question: `Question ${number}?` }, ...more,
});
const disputes = (numbers, more = {}) => ({
  ...DESKS.disputes, counts: { ...DESKS.disputes.counts, disputed: numbers.length }, held: [],
  queue: numbers.map((number) => ({ ...DESKS.disputes.queue[0], study_item_id: number })), ...more,
});
const decided = { adjudication: { state: 'adjudicated', final: 1 } };
const MINE = { mine: true, by: 'me', state: 'disputed' };

let app;
let server;
let numbers = 0;

async function begin(on) {
  numbers += 1;
  const items = Object.fromEntries([1, 2, 3].map((number) => [number, dispute(number)]));
  server = new Server({ take: MINE, leave: { left: 1 }, adjudicate: decided, ...items, ...on });
  app = await up(new App({ study: numbers, person: '7', project: 'project', home: '/', sign_in: '/', keys: DESKS.keys.adjudicate }));
}

const down = () => {
  app?.detach(() => undefined);
  leave();
};
const seen = () => app.shell.stage.textContent;
const shows = (testid) => app.shell.root.querySelector(testid);

beforeEach(() => {
  down();
  localStorage.clear();
});
after(down);

test('a decision and Enter settle the item, once, and the next one is there at once', async () => {
  await begin({ disputes: disputes([1, 2]) });
  assert.match(seen(), /Question 1\?/);
  await press('1');
  await press('Enter');
  await pass(50);
  const [sent, ...more] = server.sent('adjudicate');
  assert.equal(more.length, 0);
  assert.deepEqual([sent.again, sent.decisions.map(({ criterion, target, value }) => [criterion, target, value])], [false, [['right', 'item', 'yes']]]);
  assert.match(seen(), /Question 2\?/);
  await press('Enter');
  assert.equal(server.sent('adjudicate').length, 1, 'a second Enter belongs to the item before');
});

test('what is still to decide is not settled, and the page says what is missing', async () => {
  await begin({ disputes: disputes([1]) });
  await pass(1000);
  await press('Enter');
  assert.equal(server.sent('adjudicate').length, 0);
  assert.match(app.judgement.element.textContent, /right|Right/);
});

test('after the last one the queue is asked for again, and the page says that all is done', async () => {
  await begin({ disputes: [disputes([1]), disputes([], { counts: { adjudicated: 1, disputed: 0, others: 0 } })] });
  await press('1');
  await press('Enter');
  await pass(700);
  assert.equal(server.asked.filter(({ to }) => to === 'disputes').length, 2, 'others may have sent something meanwhile');
  assert.ok(shows('finished'));
});

test('a queue that is as the server had it is not asked for again and again', async () => {
  await begin({ disputes: disputes([]) });
  await pass(60_000);
  assert.equal(server.asked.filter(({ to }) => to === 'disputes').length, 1);
  assert.ok(shows('nothing'));
});

test('what others have is said by name, and looked at again', async () => {
  await begin({ disputes: [disputes([], { held: [{ study_item_id: 1, by: 'dora' }] }), disputes([2])] });
  assert.match(seen(), /dora/);
  await pass(16_000);
  assert.match(seen(), /Question 2\?/);
});

test('an item that somebody else has is passed over, and said so; one that was decided on stays', async () => {
  await begin({ disputes: disputes([1, 2]), take: [{ mine: false, by: 'dora', state: 'disputed' }, MINE] });
  assert.match(seen(), /Question 2\?/);
  assert.match(app.shell.top.textContent, /dora/);
});

test('an item that was settled since it was listed is passed over, and said so', async () => {
  await begin({ disputes: disputes([1, 2]), 1: dispute(1, { state: 'adjudicated' }) });
  assert.match(seen(), /Question 2\?/);
  assert.match(app.shell.top.textContent, new RegExp(WORDS.gone('adjudicated').slice(0, 12)));
});

test('an item is put off behind the others, and the last one stays', async () => {
  await begin({ disputes: disputes([1, 2]) });
  app.act('later');
  await pass(50);
  assert.match(seen(), /Question 2\?/);
  assert.equal(server.sent('leave').length, 1, 'others may have it');
  await begin({ disputes: disputes([1]) });
  app.act('later');
  assert.match(app.judgement.element.textContent, new RegExp(WORDS.onlyOne.slice(0, 12)));
});

test('an item goes back to one of its raters with a reason', async () => {
  await begin({ disputes: disputes([1, 2]), return: { returned: 1 } });
  app.act('return');
  const pick = (words) => app.judgement.dock.element.querySelectorAll('button').find((one) => one.textContent.includes(words)).click();
  pick('R2');
  pick(WORDS.returnReasons[0]);
  await pass(700);
  assert.deepEqual(server.sent('return'), [{ annotation: DESKS.dispute.annotations.R2, reason: WORDS.returnReasons[0] }]);
  assert.match(seen(), /Question 2\?/);
});

test('who may not decide reads why, and nothing is sent', async () => {
  await begin({ disputes: disputes([1]), 1: dispute(1, { allowed: 'You judged this item yourself.' }) });
  await press('1');
  await pass(1000);
  await press('Enter');
  assert.equal(server.sent('adjudicate').length, 0);
  assert.equal(server.sent('take').length, 0, 'nor is it kept from others');
  assert.match(app.shell.root.textContent, /You judged this item yourself\./);
});

test('a refused decision stands above the page, and its item comes back with what was decided', async () => {
  await begin({ disputes: disputes([1, 2]), adjudicate: [refusal(422, 'Nobody may decide so.'), decided] });
  await press('2');
  await press('Enter');
  await pass(50);
  assert.match(shows('refused').textContent, /Nobody may decide so\./);
  shows('refused').querySelector('return').click();
  await pass(700);
  assert.match(seen(), /Question 1\?/);
  assert.equal(app.decisions.settlement().decisions[0].value, 'no');
});

test('where somebody else was faster it is said, and the item is not counted as done here', async () => {
  await begin({ disputes: [disputes([1, 2]), disputes([2])], adjudicate: refusal(409, 'It was settled by dora.') });
  await press('2');
  await press('Enter');
  await pass(700);
  assert.match(app.shell.top.textContent, /It was settled by dora\./);
  assert.deepEqual([shows('refused'), app.queue.before(), /Question 2\?/.test(seen())], [null, null, true]);
});

test('a decision waits for the server, and one goes on meanwhile', async () => {
  await begin({ disputes: disputes([1, 2]), adjudicate: [new TypeError('no'), decided] });
  await press('1');
  await press('Enter');
  await pass(50);
  assert.deepEqual([app.outbox.waiting, /Question 2\?/.test(seen())], [1, true]);
  await pass(60_000);
  assert.equal(app.outbox.waiting, 0);
});

test('signed out, the page is covered and settles nothing', async () => {
  await begin({ disputes: disputes([1, 2]), adjudicate: refusal(401) });
  await press('1');
  await press('Enter');
  await pass(50);
  assert.deepEqual([app.shell.cover.hidden, app.live], [false, false]);
});

test('half a decision is kept in this browser until the page is there again', async () => {
  const both = DESKS.dispute.units.map((unit) => ({ ...unit, needs_decision: true }));
  await begin({ disputes: disputes([1]), 1: dispute(1, { units: both }) });
  await press('2');
  const { study } = app.options;
  down();
  app = await up(new App({ ...app.options, study }));
  assert.equal(app.decisions.missing().length, 1);
});
