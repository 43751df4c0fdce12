/** Drafts and preferences: kept here at once, on the server a moment later, the newest wins whatever any clock says. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass, settled } from './browser.js';
import { Drafts } from '../../app/widgets/annotate/drafts.js';
import { Refused, SignedOut, Unreachable } from '../../app/widgets/shared/ask.js';
import { Preferences } from '../../app/widgets/shared/preferences.js';

beforeEach(() => localStorage.clear());

const ITEM = { assignment: 4, sitting: 1, step: 0, draft: null };
const content = (comment) => ({ labels: [], comment, flag: false });

function made(...answers) {
  const sent = [];
  const states = [];
  const drafts = new Drafts('7', 1, {
    draft: async (draft) => {
      sent.push(draft);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return { saved_at: 'now' };
    },
  }, (state) => states.push(state));
  return { drafts, sent, states };
}

test('a change is kept at once and sent when nothing changed for a moment', async () => {
  const { drafts, sent, states } = made();
  drafts.keep(ITEM, content('a'), 3);
  await pass(700);
  drafts.keep(ITEM, content('b'), 4);
  await pass(700);
  assert.deepEqual([sent.length, drafts.restore(ITEM).content.comment], [0, 'b']);
  await pass(200);
  assert.deepEqual([sent.map((one) => one.content.comment), sent[0].seconds, states], [['b'], 4, ['saved']]);
});

test('without a connection it is sent later, and its state says why it is not', async () => {
  const { drafts, sent, states } = made(new Unreachable('no answer'), new Unreachable('HTTP 503', { answered: true, seconds: 30 }), new SignedOut());
  drafts.keep(ITEM, content('a'), 3);
  await pass(900);
  await pass(5000);
  assert.deepEqual([sent.length, states], [2, ['offline', 'trouble']]);
  await pass(20_000);
  assert.equal(sent.length, 2);
  await pass(11_000);
  await pass(5000);
  assert.deepEqual([sent.length, states], [4, ['offline', 'trouble', 'signed-out', 'saved']]);
});

test('what could not be saved is trouble exactly as long as it waits', async () => {
  const { drafts, states } = made(new Unreachable('no answer'), { saved_at: 'now' }, new Unreachable('no answer'), new Refused('gone', 404, 'NotFound'), new Unreachable('no answer'));
  assert.equal(drafts.trouble, null);
  drafts.keep(ITEM, content('a'), 3);
  await pass(900);
  assert.equal(drafts.trouble, 'offline');
  await pass(5000);
  assert.deepEqual([drafts.trouble, states], [null, ['offline', 'saved']]);
  drafts.keep(ITEM, content('b'), 3);
  await pass(900);
  assert.equal(drafts.trouble, 'offline');
  await pass(5000);
  assert.deepEqual([drafts.trouble, states.slice(2)], [null, ['offline', 'over']], 'a refused draft waits no more');
  drafts.keep(ITEM, content('c'), 3);
  await pass(900);
  assert.equal(drafts.trouble, 'offline');
  drafts.drop(ITEM);
  assert.deepEqual([drafts.trouble, states.slice(4)], [null, ['offline', 'over']], 'its item was submitted or skipped');
});

test('a change that fails late does not take the place of a later one', async () => {
  let fail = () => undefined;
  const sent = [];
  const states = [];
  const drafts = new Drafts('7', 1, {
    draft: async ({ content: { comment } }) => {
      sent.push(comment);
      if (comment === 'a') await new Promise((_, no) => { fail = () => no(new Unreachable('no answer')); });
    },
  }, (state) => states.push(state));
  drafts.keep(ITEM, content('a'), 3);
  await pass(900);
  drafts.keep(ITEM, content('b'), 3);
  await pass(900);
  fail();
  await settled();
  await pass(20_000);
  assert.deepEqual([sent, drafts.trouble], [['a', 'b'], null]);
});

test('what the server has newer from elsewhere is told, and a refused draft is not sent again', async () => {
  const { drafts, sent, states } = made(new Refused('newer', 409, 'Conflict'), new Refused('gone', 404, 'NotFound'));
  for (const words of ['a', 'b']) {
    drafts.keep(ITEM, content(words), 3);
    await pass(20_000);
  }
  assert.deepEqual([sent.length, states], [2, ['outdated', 'over']]);
  assert.equal(drafts.restore(ITEM).content.comment, 'b');
});

test('the newest draft is the one that was changed most often, not the one of the later clock', () => {
  const { drafts } = made();
  drafts.keep(ITEM, content('here'), 3);
  const there = (revision, at) => ({ ...ITEM, draft: { content: { ...content('there'), revision, at }, seconds: 9 } });
  assert.equal(drafts.restore(there(1, Date.now() + 1e9)).content.comment, 'here');
  assert.equal(drafts.isNewer(there(1, 0)), false);
  assert.equal(drafts.isNewer(there(2, 0)), true);
  assert.equal(drafts.restore(there(2, 0)).content.comment, 'there');
  drafts.keep(ITEM, content('again'), 3);
  assert.equal(drafts.restore(there(2, 0)).content.comment, 'again');
});

test('what is changed after a reload, or after a draft from another computer was taken over, is newer than that', async () => {
  const there = (revision) => ({ ...ITEM, draft: { content: { ...content('there'), revision, at: 1 }, seconds: 9 } });
  for (const [before, item, next] of [[3, ITEM, 4], [3, there(7), 8], [7, there(3), 8], [0, there(5), 6]]) {
    localStorage.clear();
    const first = made().drafts;
    for (let times = 0; times < before; times += 1) first.keep(ITEM, content('here'), 1);
    const { drafts, sent } = made();
    drafts.restore(item);
    assert.equal(drafts.isNewer(item), false, 'it is on the screen');
    drafts.keep(item, content('now'), 1);
    await pass(900);
    assert.equal(sent[0].content.revision, next);
    assert.deepEqual([drafts.isNewer(there(next)), drafts.isNewer(there(next + 1))], [false, true]);
  }
});

test('a submitted step has no draft any more, here or on its way; time that was spent is no change', async () => {
  const { drafts, sent } = made();
  drafts.keep(ITEM, content('a'), 3);
  drafts.spent(ITEM, 8);
  assert.deepEqual([drafts.restore(ITEM).seconds, drafts.restore(ITEM).content.revision], [8, 1]);
  drafts.drop(ITEM);
  await pass(2000);
  assert.deepEqual([sent.length, drafts.restore(ITEM), localStorage.length], [0, null, 0]);
});

test('each step, sitting and person has a draft of its own, for a month', async () => {
  const { drafts } = made();
  drafts.keep(ITEM, content('a'), 3);
  await settled();
  for (const other of [{ step: 1 }, { sitting: 2 }, { assignment: 5 }]) assert.equal(drafts.restore({ ...ITEM, ...other }), null);
  assert.equal(new Drafts('8', 1, {}, () => undefined).restore(ITEM), null);
  drafts.unsent = null;
  await pass(31 * 24 * 3_600_000);
  assert.equal(made().drafts.restore(ITEM), null);
});

/** Preferences whose server answers with these status codes, then well. */
function preferences(...codes) {
  const sent = [];
  globalThis.fetch = async (url, { body }) => {
    sent.push(JSON.parse(body));
    const code = codes.shift() ?? 200;
    if (code === 0) throw new TypeError('Failed to fetch');
    return new Response('{"error": "Not that."}', { status: code });
  };
  return { own: new Preferences('7', { keys: { skip: 'k' } }), sent };
}

test('a setting holds at once and is on the server as soon as it can be reached', async () => {
  const { own, sent } = preferences(0);
  own.set('panes', { side: 40 });
  await settled();
  assert.deepEqual([own.get('panes'), own.get('keys'), own.get('none'), sent.length], [{ side: 40 }, { skip: 'k' }, null, 1]);
  const again = new Preferences('7', {}); // opened again before the server has it
  assert.deepEqual(again.get('panes'), { side: 40 });
  await again.send();
  assert.deepEqual([sent.at(-1), localStorage.length], [{ name: 'panes', value: { side: 40 } }, 0]);
});

test('a setting that the server does not take is taken back, with its words', async () => {
  const { own } = preferences(422);
  const said = [];
  own.onrefused = (words) => said.push([words, own.get('keys')]);
  own.set('keys', { skip: '1' });
  await settled();
  assert.deepEqual([said, localStorage.length], [[['Not that.', { skip: 'k' }]], 0]);
});

test('of a setting that changes while it is on its way the last value stays', async () => {
  const { own, sent } = preferences();
  own.set('keys', { skip: 'a' });
  own.set('keys', { skip: 'b' });
  own.set('keys', null);
  await settled();
  assert.deepEqual([own.get('keys'), sent.at(-1).value, localStorage.length], [null, null, 0]);
});
