/** The outbox: in order, once, kept until it is acknowledged, sent again when and only when it makes sense. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass, settled } from './browser.js';
import { ask, having, Refused, SignedOut, Unreachable } from '../../app/widgets/shared/ask.js';
import { freshId, Outbox } from '../../app/widgets/shared/outbox.js';

let number = 0;

/** An outbox whose server answers by `answers`, one after the other, then well; an answer that is an error is thrown. */
function made(...answers) {
  const sent = [];
  const heard = [];
  number += 1;
  const outbox = Outbox.of('7', number, {
    submit: async (body) => {
      sent.push({ ...body, at: performance.now() });
      const answer = answers.shift() ?? { saved_at: 'now' };
      if (answer instanceof Error) throw answer;
      return answer;
    },
  });
  outbox.listen({ changed: () => undefined, acknowledged: (entry) => heard.push(['saved', entry.body.uid]), refused: (entry) => heard.push(['refused', entry.refused]) });
  return { outbox, sent, heard };
}

const uids = (sent) => sent.map(({ uid }) => uid);

beforeEach(() => localStorage.clear());

test('submissions are sent in the order they were given, each once', async () => {
  const { outbox, sent, heard } = made();
  for (const uid of ['a', 'b', 'c']) outbox.add({ uid }, uid);
  assert.equal(outbox.waiting, 3);
  await settled();
  assert.deepEqual(uids(sent), ['a', 'b', 'c']);
  assert.deepEqual(heard, [['saved', 'a'], ['saved', 'b'], ['saved', 'c']]);
  assert.deepEqual([outbox.waiting, outbox.state, localStorage.length], [0, 'empty', 0]);
});

test('what is not acknowledged stays, and the same submission is sent again before the next', async () => {
  const { outbox, sent } = made(new Unreachable('HTTP 500', { answered: true }), new Unreachable('cut off'));
  outbox.add({ uid: 'a', labels: [1] }, 'a');
  outbox.add({ uid: 'b' }, 'b');
  await settled();
  assert.deepEqual([uids(sent), outbox.state, outbox.trouble], [['a'], 'trouble', 'trouble']);
  await pass(1300);
  assert.deepEqual([uids(sent), outbox.state], [['a', 'a'], 'offline']);
  await pass(3000);
  assert.deepEqual(uids(sent), ['a', 'a', 'a', 'b']);
  assert.deepEqual(sent.slice(0, 3).map(({ labels }) => labels), [[1], [1], [1]]);
  assert.equal(outbox.state, 'empty');
});

test('it waits longer with every failure, half a minute and a little at most', async () => {
  const { outbox, sent } = made(...Array.from({ length: 9 }, () => new Unreachable('no answer')));
  outbox.add({ uid: 'a' }, 'a');
  await pass(300_000);
  const gaps = sent.slice(1).map(({ at }, before) => at - sent[before].at);
  gaps.forEach((gap, failures) => {
    const middle = Math.min(30_000, 1000 * 2 ** failures);
    assert.ok(gap >= middle * 0.75 && gap <= middle * 1.25, `${gap} after ${failures + 1} failures`);
  });
  assert.equal(gaps.length, 9);
});

test('while the server wants to be left alone, neither a new submission nor a window that is back disturbs it', async () => {
  const { outbox, sent } = made(new Unreachable('HTTP 503', { answered: true, seconds: 20 }));
  outbox.add({ uid: 'a' }, 'a');
  await settled();
  outbox.add({ uid: 'b' }, 'b');
  for (const event of ['focus', 'online']) window.dispatchEvent(new Event(event));
  await pass(19_900);
  assert.deepEqual(uids(sent), ['a']);
  await pass(5200);
  assert.deepEqual(uids(sent), ['a', 'a', 'b']);
});

test('a person who asks is obeyed at once', async () => {
  const { outbox, sent } = made(new Unreachable('HTTP 503', { answered: true, seconds: 600 }));
  outbox.add({ uid: 'a' }, 'a');
  await settled();
  await outbox.send(true);
  assert.deepEqual(uids(sent), ['a', 'a']);
});

test('a connection that is back sends at once what waits', async () => {
  const { outbox, sent } = made(new Unreachable('no answer'));
  outbox.add({ uid: 'a' }, 'a');
  await settled();
  window.dispatchEvent(new Event('online'));
  await settled();
  assert.deepEqual([uids(sent), outbox.waiting], [['a', 'a'], 0]);
});

test('what is refused is kept with the words, does not hold up the others, and goes when its writer says so', async () => {
  const { outbox, sent, heard } = made(new Refused('This item was withdrawn.', 422, 'InvalidInput'));
  outbox.add({ uid: 'a' }, 'a');
  outbox.add({ uid: 'b' }, 'b');
  await settled();
  assert.deepEqual([uids(sent), heard], [['a', 'b'], [['refused', 'This item was withdrawn.'], ['saved', 'b']]]);
  assert.deepEqual([outbox.waiting, outbox.refused.length, outbox.has('a')], [0, 1, true]);
  await pass(120_000);
  assert.equal(sent.length, 2);
  outbox.discard(outbox.refused[0]);
  assert.deepEqual([outbox.refused.length, localStorage.length], [0, 0]);
});

test('it says that it sends as long as anything waits, and is empty with the last answer, refused ones left aside', async () => {
  const { outbox } = made({ saved_at: 'now' }, new Refused('no'), { saved_at: 'now' });
  const states = [];
  outbox.listen({ changed: () => undefined, acknowledged: () => states.push(outbox.state), refused: () => states.push(outbox.state) });
  for (const uid of ['a', 'b', 'c']) outbox.add({ uid }, uid);
  await settled();
  assert.deepEqual(states, ['sending', 'sending', 'empty']);
});

test('after a success it begins to wait anew: the first failure then is the first', async () => {
  const fails = () => new Unreachable('no answer');
  const { outbox, sent } = made(fails(), fails(), fails(), { saved_at: 'now' }, fails(), { saved_at: 'now' });
  outbox.add({ uid: 'a' }, 'a');
  await pass(60_000);
  assert.equal(outbox.failures, 0);
  outbox.add({ uid: 'b' }, 'b');
  await pass(60_000);
  const gaps = sent.slice(1).map(({ at }, before) => at - sent[before].at);
  assert.ok(gaps[4] < 1300, gaps.join());
  assert.deepEqual(uids(sent), ['a', 'a', 'a', 'a', 'b', 'b']);
});

test('somebody who was signed out keeps what waits', async () => {
  const { outbox } = made(new SignedOut());
  outbox.add({ uid: 'a' }, 'a');
  await settled();
  assert.deepEqual([outbox.state, outbox.waiting, outbox.trouble], ['signed-out', 1, null]);
  await outbox.send(true);
  assert.equal(outbox.waiting, 0);
});

test('closing the window is asked about exactly as long as something waits', async () => {
  const { outbox } = made(new Unreachable('no answer'));
  const closing = () => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }));
  assert.equal(closing(), false);
  outbox.add({ uid: 'a' }, 'a');
  await settled();
  assert.equal(closing(), true);
  await pass(2000);
  assert.equal(closing(), false);
});

test('ids are random and of the shape that the server takes', () => {
  const [one, other] = [freshId(), freshId()];
  assert.match(one, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.notEqual(one, other);
});

/** What `ask` makes of an answer. */
async function asked(body, options) {
  globalThis.fetch = async () => new Response(body, options);
  return ask('/api').then((answer) => having('saved_at', answer)).catch((error) => error);
}

test('an answer that acknowledges is handed on', async () => {
  assert.deepEqual(await asked('{"saved_at": "now"}'), { saved_at: 'now' });
});

for (const [name, body, options] of [
  ['500', '', { status: 500 }], ['503', '', { status: 503, headers: { 'Retry-After': '1' } }], ['429', '', { status: 429, headers: { 'Retry-After': '1' } }],
  ['408', '', { status: 408 }], ['half of the JSON', '{"saved_at": "no', {}], ['null in its place', 'null', {}], ['an object in its place', '{}', {}],
  ['a page in its place', '<html>Please sign in to this network</html>', {}],
]) {
  test(`${name} is an answer worth another try, and acknowledges nothing`, async () => {
    const error = await asked(body, options);
    assert.ok(error instanceof Unreachable);
    assert.equal(error.answered, true);
    assert.equal(error.seconds, options.headers ? 1 : 0);
  });
}

test('a date in Retry-After is understood, and no server puts us off for more than a quarter of an hour', async () => {
  const at = (seconds) => asked('', { status: 503, headers: { 'Retry-After': new Date(Date.now() + seconds * 1000).toUTCString() } });
  assert.ok(Math.abs((await at(40)).seconds - 40) <= 1);
  assert.equal((await at(-40)).seconds, 0);
  assert.equal((await at(86_400)).seconds, 900);
  assert.equal((await asked('', { status: 503, headers: { 'Retry-After': 'soon' } })).seconds, 0);
});

test('a refusal has the server’s words, and 401 says that nobody is signed in', async () => {
  const refused = await asked('{"error": "Not yours.", "kind": "NotAllowed"}', { status: 403 });
  assert.ok(refused instanceof Refused);
  assert.deepEqual([refused.message, refused.status, refused.kind], ['Not yours.', 403, 'NotAllowed']);
  assert.ok(await asked('', { status: 401 }) instanceof SignedOut);
});

test('no connection is no answer', async () => {
  globalThis.fetch = async () => {
    throw new TypeError('Failed to fetch');
  };
  const error = await ask('/api').catch((one) => one);
  assert.ok(error instanceof Unreachable);
  assert.equal(error.answered, false);
});

test('what another tab has sent waits no more, and is said to be saved', async () => {
  const { outbox } = made(new Unreachable('no answer'));
  let drawn = 0;
  outbox.listen({ changed: () => { drawn += 1; }, acknowledged: () => undefined, refused: () => undefined });
  outbox.add({ uid: 'a' }, 'a');
  await settled();
  assert.deepEqual([outbox.trouble, outbox.savedAt], ['offline', null]);
  const [{ key }] = outbox.entries;
  localStorage.removeItem(key); // as the other tab does
  const before = drawn;
  window.dispatchEvent(Object.assign(new Event('storage'), { key }));
  assert.deepEqual([outbox.trouble, outbox.state, outbox.savedAt !== null, drawn - before], [null, 'empty', true, 1]);
  window.dispatchEvent(Object.assign(new Event('storage'), { key: 'something else' }));
  assert.equal(drawn - before, 1);
});
