/** The desk of annotators with evidence on pages: units, pages, zoom, passages and phrases, by keys and tools. */

import assert from 'node:assert/strict';
import { after, beforeEach, test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS, leave, press, Server, up } from './whole_page.js';

await loadKinds();
const { App } = await import('../../app/widgets/annotate/app.js');
const { TEXT } = await import('../../app/widgets/shared/text.js');

const { study, item: given } = DESKS.evidence;
const STATE = { progress: { done: 0, of: 2, seconds_today: 0 }, finished: false, halted: null, enough: null, phase: null };
const FOUND = {
  complete: true, pending: 0, searched: 3, no_text: 0,
  phrases: [{ text: 'i00001', hits: [{ document: 1, page: 3, boxes: [[0.1, 0.1, 0.2, 0.2]] }] }],
};

let app;
let server;
let numbers = 0;
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
const viewer = () => app.viewer;
const at = () => [viewer().unit?.key, viewer().tools.jump.value];

beforeEach(() => {
  down();
  localStorage.clear();
});
after(down);

test('the first unit is on its page; brackets turn pages and braces walk units, round and back', async () => {
  await begin();
  assert.deepEqual([at(), viewer().mode, viewer().tools.of.textContent], [['E1', '1'], 'pages', TEXT.ofPages(3)]);
  await press(']');
  assert.deepEqual(at(), ['E1', '2']);
  await press('[');
  await press('[');
  assert.deepEqual(at(), ['E1', '1'], 'there is none before the first');
  await press('}');
  assert.deepEqual(at(), ['E2', '2']);
  await press('}');
  assert.deepEqual(at(), ['E1', '1']);
  await press('{');
  assert.deepEqual(at(), ['E2', '2']);
});

test('a label of a unit goes to the next one, whose page comes into view', async () => {
  await begin();
  const { key } = study.protocol.criteria[0].labels[0];
  await press(key);
  assert.deepEqual([app.sheet.labels().map(({ target }) => target), at()], [['evidence:E1'], ['E2', '2']]);
  await press('{');
  assert.equal(app.judgement.cell.target, 'evidence:E1', 'the labels follow the unit that is shown');
});

test('a page number that is typed is gone to, and what is none leaves the page', async () => {
  await begin();
  const { jump } = viewer().tools;
  jump.value = '3';
  jump.dispatchEvent(new Event('change'));
  assert.equal(jump.value, '3');
  jump.value = 'x';
  jump.dispatchEvent(new Event('change'));
  assert.equal(jump.value, '3');
});

test('only some pages being shown is said, all of them is not', async () => {
  await begin();
  const { tools } = viewer();
  tools.page(1, 3, 3);
  assert.equal(tools.of.title, '');
  tools.page(1, 3, 2);
  assert.equal(tools.of.title, TEXT.someShown(2));
});

test('zoom, fit, turn and two pages do what their keys say, and the bar shows it', async () => {
  await begin();
  const { tools } = viewer();
  const zoomed = () => Number.parseInt(tools.percent.textContent, 10);
  const before = zoomed();
  await press('+');
  const larger = zoomed();
  await press('-');
  await press('-');
  assert.ok(larger > before && zoomed() < before, `${before} ${larger} ${zoomed()}`);
  await press('w');
  assert.equal(tools.width.getAttribute('aria-pressed'), 'true');
  await press('p');
  assert.deepEqual([tools.width, tools.whole].map((tool) => tool.getAttribute('aria-pressed')), ['false', 'true']);
  await press('D');
  assert.equal(tools.two.getAttribute('aria-pressed'), 'true');
  await press('D');
  assert.equal(tools.two.getAttribute('aria-pressed'), 'false');
});

test('a screen further and back goes by the page keys', async () => {
  await begin();
  const went = [];
  viewer().scrollBy = (by) => went.push(by);
  await press('PageDown');
  await press('PageUp');
  assert.deepEqual(went, [1, -1]);
});

test('passages are an own view, in which the unit is marked, and pages come back with a unit on them', async () => {
  await begin();
  viewer().tools.passages.click();
  assert.equal(viewer().mode, 'passages');
  viewer().passages.cards.get('E2').click();
  assert.deepEqual([at(), viewer().mode, viewer().passages.cards.get('E2').classList.contains('on')], [['E2', '2'], 'pages', true]);
});

test('a unit without a page shows its passage, and what was not supplied is said', async () => {
  const bare = { ...given, documents: [{ ...given.documents[0], supplied: false }] };
  await begin(bare);
  assert.equal(viewer().mode, 'passages');
  assert.match(viewer().passages.element.textContent, new RegExp(TEXT.notSupplied));
  assert.match(viewer().passages.element.textContent, /Passage 2/);
});

test('phrases that are found on pages are hits of their own page alone, and walked to', async () => {
  await begin(given, { 'phrases?assignment=1': FOUND, 'passages?assignment=1': { complete: true, passages: [] } });
  await pass(3000);
  assert.deepEqual(viewer().phrases.hits.map((hit) => hit.page), [3]);
  const { key } = viewer().docs[0];
  assert.deepEqual([1, 2, 3].map((page) => viewer().marks(key, page).length), [1, 1, 1], 'a unit, a unit, the phrase');
  await press('.');
  assert.equal(viewer().tools.jump.value, '3');
});

test('an item that cannot be drawn can be skipped all the same', async () => {
  await begin({ ...given, evidence: [{ ...given.evidence[0], pages: null }] }, { skip: { saved_at: 'now', status: 'done', items: [], ...STATE, finished: true } });
  const skip = app.shell.root.querySelector('skip-unshown');
  assert.ok(skip, app.shell.stage.textContent.slice(0, 200));
  skip.click();
  await pass(700);
  assert.deepEqual(server.sent('skip').map(({ assignment, reason }) => [assignment, reason]), [[1, TEXT.cannotShowReason]]);
});

test('a key that draws a box begins and ends it, and labels wait meanwhile', async () => {
  await begin();
  viewer().act('mark');
  assert.equal(viewer().pages.marker.on, true);
  await press('ArrowRight');
  assert.ok(viewer().pages.marker.at);
  const { key } = study.protocol.criteria[0].labels[0];
  await press('Escape');
  assert.equal(viewer().pages.marker.on, false);
  await press(key);
  assert.equal(app.sheet.labels().length, 1);
});
