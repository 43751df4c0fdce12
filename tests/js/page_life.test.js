/** A page goes up and down, listens only while it is up, and what its viewer finds, marks and enlarges follows the item. */

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS, leave, press, Server, up } from './whole_page.js';

await loadKinds();
const { App } = await import('../../app/widgets/annotate/app.js');
const { hasEvidence } = await import('../../app/widgets/viewer/viewer.js');

const { study, item: given } = DESKS.evidence;
const STATE = { progress: { done: 0, of: 2, seconds_today: 0 }, finished: false, halted: null, enough: null, phase: null };

let app;
let server;
let numbers = 300;
const down = () => {
  app?.detach(() => undefined);
  leave();
};
async function begin(item = given, on = {}) {
  numbers += 1;
  server = new Server({
    work: { items: [item], ...STATE, study, keys: DESKS.keys.annotate, person: { id: 7, name: 'ada' }, last: null }, draft: { saved_at: 'now' }, ...on,
  });
  app = await up(new App({ study: numbers, person: '7' }));
}
beforeEach(() => {
  down();
  localStorage.clear();
});
after(down);

test('a page that was taken down hears nothing, and is as it was when it is put up again soon', async () => {
  await begin();
  const { key } = study.protocol.criteria[0].labels[0];
  const { desk } = app;
  const forgot = [];
  app.detach(() => forgot.push('early'));
  assert.deepEqual([app.shell.host.isConnected, app.listening], [false, null]);
  assert.equal((await press(key)).defaultPrevented, false);
  assert.deepEqual(app.sheet.labels(), []);
  await pass(4900);
  app.attach(document.body.children[0]);
  app.attach(document.body.children[0]); // twice is once
  await pass(6000);
  assert.deepEqual([forgot, app.desk === desk, app.shell.host.isConnected], [[], true, true]);
  assert.equal((await press(key)).defaultPrevented, true);
  assert.deepEqual(app.sheet.labels().map(({ target }) => target), ['evidence:E1'], 'one press, one label');
});

test('a page that stays down is forgotten after five seconds, and its viewer lets go of its pages', async () => {
  await begin();
  const { pages } = app.viewer;
  const forgot = [];
  app.detach(() => forgot.push('late'));
  await pass(4900);
  assert.deepEqual([forgot, pages.views.size > 0], [[], true]);
  await pass(200);
  assert.deepEqual([forgot, pages.views.size], [['late'], 0]);
});

test('what the page took when a key went down it takes when it comes up, once, and nothing else', async () => {
  await begin();
  const release = (code) => {
    const event = Object.assign(new Event('keyup', { cancelable: true }), { code });
    window.dispatchEvent(event);
    return event.defaultPrevented;
  };
  const { key } = study.protocol.criteria[0].labels[0];
  assert.equal(release(key), false);
  await press(key);
  assert.deepEqual([release(key), release(key)], [true, false]);
  await press('F9');
  assert.equal(release('F9'), false);
  const taken = Object.assign(new Event('keydown', { cancelable: true }), { key, code: key, getModifierState: () => false, composedPath: () => [document.body] });
  taken.preventDefault();
  window.dispatchEvent(taken);
  assert.equal(app.sheet.labels().length, 1, 'what another part of the page took is not ours');
});

test('a connection that is back tries pages again, and sends settings that wait', async () => {
  await begin(given, { preferences: new TypeError('no') });
  app.preferences.set('panes', { a: 1 });
  await pass(50);
  const before = server.sent('preferences').length;
  let retried = 0;
  app.viewer.pages.retry = () => { retried += 1; };
  window.dispatchEvent(new Event('online'));
  await pass(50);
  assert.deepEqual([retried, server.sent('preferences').length > before], [1, true]);
});

test('what a presentation needs to have something for the left side', () => {
  for (const [item, has] of [
    [{}, false], [{ evidence: [] }, true], [{ documents: [] }, true], [{ documents: [], shown: ['answer'] }, false], [{ documents: [], shown: ['documents'] }, true], [{ evidence: [], shown: [] }, true],
  ]) assert.equal(hasEvidence(item), has, JSON.stringify(item));
});

const boxed = (key, page, box) => ({ key, kind: 'table', document: 1, pages: [page], box, text: '', title: '', role: null });

test('a table is enlarged by its key and made small again by it, or by Escape; a unit without a place is not', async () => {
  await begin({ ...given, evidence: [boxed('E1', 1, [0.1, 0.1, 0.5, 0.5]), boxed('E2', 2, null)] });
  const { keys } = app;
  const enlarge = keys.of('enlarge');
  const enlarged = () => app.viewer.pages.enlarged?.page ?? null;
  await press(enlarge);
  assert.equal(enlarged(), 1);
  await press(enlarge);
  assert.equal(enlarged(), null);
  await press(enlarge);
  await press('Escape');
  assert.equal(enlarged(), null);
  await press('}');
  await press(enlarge);
  assert.equal(enlarged(), null);
  app.viewer.showPart(1, 3, [0, 0, 0.5, 0.5]);
  assert.equal(enlarged(), 3);
  app.viewer.showPart(9, 2, [0, 0, 0.5, 0.5]);
  assert.equal(enlarged(), 3, 'of a document that is not there');
});

test('a place that was found for a unit shows it, unless one has gone on', async () => {
  const items = { ...given, evidence: given.evidence.map((unit) => ({ ...unit, pages: [1] })) };
  const located = (evidence, page) => ({ evidence, document: 1, page, boxes: [[0.1, 0.2, 0.4, 0.3]] });
  const found = { complete: true, passages: [located('E1', 3), { ...located('E2', 3), boxes: [] }, { ...located('E2', 3), page: null }, located('E2', 2)] };
  for (const [gone, page] of [[false, 3], [true, 2]]) {
    await begin(items, { 'passages?assignment=1': found, 'phrases?assignment=1': { complete: true, pending: 0, searched: 3, no_text: 0, phrases: [] } });
    if (gone) app.viewer.goTo(2);
    await pass(3000);
    assert.deepEqual([app.viewer.located.map((place) => [place.unit, place.page]), app.viewer.pages.page, app.viewer.pages.drawn.located.length], [[['E1', 3], ['E2', 2]], page, 2]);
    down();
  }
});

test('the key that marks begins to draw a box where nothing is selected, and leaves it again', async () => {
  await begin();
  const mark = app.keys.of('mark');
  await press(mark);
  assert.equal(app.viewer.pages.marker.on, true);
  await press(mark);
  assert.equal(app.viewer.pages.marker.on, false, 'the key again leaves it');
});

test('units that change keep the one that is shown, and the place', async () => {
  await begin();
  await press('}');
  const { viewer } = app;
  viewer.setUnits([{ ...given.evidence[1], text: 'New' }]);
  assert.deepEqual([viewer.unit.text, viewer.pages.drawn.active, viewer.pages.drawn.units.length], ['New', 'E2', 1]);
  viewer.setUnits([given.evidence[0]]);
  assert.deepEqual([viewer.unit, viewer.pages.drawn.active], [null, null]);
  assert.deepEqual(viewer.marks('i00001.pdf', 1).map(({ title }) => title), ['E1']);
  assert.deepEqual([viewer.marks('i00001.pdf', 2), viewer.marks('gone.pdf', 1)], [[], []]);
});
