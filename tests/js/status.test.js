/** What the top line says: what is stored, apart from it what waits, and “not saved” exactly as long as something is not. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass, settled } from './browser.js';
import { Status as Deciding } from '../../app/widgets/adjudicate/status.js';
import { Drafts } from '../../app/widgets/annotate/drafts.js';
import { Status } from '../../app/widgets/annotate/status.js';
import { Unreachable } from '../../app/widgets/shared/ask.js';
import { Outbox } from '../../app/widgets/shared/outbox.js';

beforeEach(() => localStorage.clear());

let number = 0;

/** An annotator's status whose server answers by what `server` says: nothing is reached while it is away. */
function made() {
  const server = { away: false };
  const answer = async () => {
    if (server.away) throw new Unreachable('no answer');
    return {};
  };
  const said = { saved: null, progress: null };
  const line = { saved: (facts) => { said.saved = facts; }, progress: (...given) => { said.progress = given; } };
  number += 1;
  const outbox = Outbox.of('status', number, { submit: answer });
  const drafts = new Drafts('status', number, { draft: answer }, () => undefined);
  return { server, said, line, outbox, drafts, status: new Status(line, outbox, drafts) };
}

test('progress counts what the server has stored, and says what is still to be sent', async () => {
  const { server, said, outbox, status } = made();
  status.progress = { done: 3, of: 10, seconds_today: 60 };
  server.away = true;
  for (const uid of ['a', 'b']) outbox.add({ uid }, uid);
  await settled();
  status.count(5);
  assert.deepEqual(said.progress, [3, 10, { waits: 2, seconds: 65 }]);
  server.away = false;
  await outbox.send(true);
  status.progress = { done: 5, of: 10, seconds_today: 60 };
  status.count(0);
  assert.deepEqual(said.progress, [5, 10, { waits: 0, seconds: 60 }]);
});

test('a draft that could not be saved is told as long as it waits', async () => {
  const { server, said, drafts, status } = made();
  const item = { assignment: 1, sitting: 1, step: 0, draft: null };
  server.away = true;
  drafts.keep(item, { labels: [] }, 1);
  await pass(900);
  status.show();
  assert.equal(said.saved.trouble, 'offline');
  server.away = false;
  await drafts.flush();
  status.show();
  assert.equal(said.saved.trouble, null);
});

test('disputes are settled once the server says so', async () => {
  const { server, said, line, outbox } = made();
  const status = new Deciding(line, outbox);
  status.count({ adjudicated: 1, disputed: 4 });
  server.away = true;
  outbox.add({ uid: 'd' }, 'd');
  await settled();
  status.show();
  assert.deepEqual(said.progress, [1, 5, { waits: 1 }]);
  server.away = false;
  await outbox.send(true);
  status.acknowledged(true);
  assert.deepEqual(said.progress, [2, 5, { waits: 0 }]);
});
