/** Phrases on pages: their order, which is one stop, what is said of those that were not found, and what the server is asked. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass } from './browser.js';
import './whole_page.js';
import { Lookups } from '../../app/widgets/viewer/lookups.js';
import { boxes, highlights, unitAt } from '../../app/widgets/viewer/pages/boxes.js';
import { placeWords } from '../../app/widgets/viewer/places.js';
import { Phrases } from '../../app/widgets/viewer/phrases.js';
import { Keys } from '../../app/widgets/shared/keys.js';
import { Shell } from '../../app/widgets/frame/shell.js';
import { TEXT } from '../../app/widgets/shared/text.js';
import { WORDS } from '../../app/widgets/shared/viewer_text.js';

const keys = new Keys({ previous_hit: [',', 'Before'], next_hit: ['.', 'Next'] }, { criteria: [] }, new Map(), 'keys');
const hit = (document, page, x = 0.1, y = 0.1) => ({ document, page, boxes: [[x, y, x + 0.1, y + 0.05]] });
const phrase = (text, hits, of = 'answer') => ({ text, of, count: hits.length, hits });

/** Phrases with what they told; the view is at a place. */
function line(at = { document: 1, page: 2 }) {
  const told = [];
  const made = new Phrases(keys, { changed: () => told.push('changed'), go: (to) => told.push([to.document, to.page, to.boxes[0][0]]), act: (action) => told.push(action), place: () => at });
  document.body.replaceChildren(made.element);
  return { made, told: () => told.splice(0), chips: () => made.row.querySelectorAll('phrase').map((chip) => [chip.getAttribute('data-phrase'), chip.getAttribute('aria-current')]) };
}
beforeEach(() => document.body.replaceChildren());

test('hits stand in the order of documents, pages, heights and sides, each place once, of shown documents alone', () => {
  const { made } = line();
  const [last, first] = [phrase('b', [hit(2, 1), hit(1, 3, 0.5), hit(1, 3, 0.1, 0.9), hit(1, 3, 0.2), { document: 1, page: 1, boxes: [] }, hit(9, 1)]), phrase('a', [hit(1, 3, 0.5), hit(1, 2)], 'reference')];
  made.show({ phrases: [last, first], complete: true }, [2, 1]);
  assert.deepEqual(made.hits.map((one) => [one.document, one.page, one.boxes[0][0], one.boxes[0][1], one.phrase.text]), [
    [2, 1, 0.1, 0.1, 'b'], [1, 2, 0.1, 0.1, 'a'], [1, 3, 0.2, 0.1, 'b'], [1, 3, 0.5, 0.1, 'b'], [1, 3, 0.1, 0.9, 'b'],
  ]);
});

test('one begins at the page in view, goes round, and shows the phrases again where they were hidden', () => {
  const FOUND = { phrases: [phrase('a', [hit(1, 1), hit(1, 2), hit(1, 5)]), phrase('b', [hit(2, 1)])], complete: true };
  for (const [at, by, expected] of [
    [{ document: 1, page: 2 }, 1, [1, 2]], [{ document: 1, page: 3 }, 1, [1, 5]], [{ document: 1, page: 9 }, 1, [1, 1]], [{ document: 2, page: 1 }, 1, [2, 1]], [{ document: 9, page: 1 }, 1, [1, 1]],
    [{ document: 1, page: 2 }, -1, [1, 1]], [{ document: 1, page: 1 }, -1, [2, 1]], [{ document: 1, page: 9 }, -1, [2, 1]], [{ document: 2, page: 1 }, -1, [1, 5]],
  ]) {
    const { made, told } = line(at);
    made.show(FOUND, [1, 2]);
    told();
    made.walk(by);
    assert.deepEqual(told()[1].slice(0, 2), expected, JSON.stringify([at, by]));
  }
  const { made, told, chips } = line();
  made.walk(1);
  assert.deepEqual(told(), [], 'there are none');
  made.show(FOUND, [1, 2]);
  made.toggle.click();
  assert.deepEqual([made.shown, made.toggle.getAttribute('aria-pressed'), told().length], [false, 'false', 2]);
  made.walk(1);
  assert.deepEqual([made.shown, made.toggle.getAttribute('aria-pressed'), chips().map(([, current]) => current)], [true, 'true', ['true', null]]);
  made.walk(1);
  made.walk(1);
  assert.deepEqual(chips().map(([, current]) => current), [null, 'true']);
  made.walk(1);
  assert.deepEqual([made.at.page, chips().map(([, current]) => current)], [1, ['true', null]], 'round');
  told();
  made.walks.children[0].click();
  made.walks.children[1].click();
  assert.deepEqual(told(), ['previous_hit', 'next_hit']);
});

test('a chip walks through its own phrase, and through places where another one says the same', () => {
  const { made, told } = line({ document: 1, page: 1 });
  made.show({ phrases: [phrase('a', [hit(1, 1), hit(1, 4)]), phrase('b', [hit(1, 2), hit(1, 4)], 'reference')], complete: true }, [1]);
  told();
  const [, second] = made.row.querySelectorAll('phrase');
  const walked = [1, 2, 3].map(() => (second.click(), made.at.page));
  assert.deepEqual(walked, [2, 4, 2]);
  Object.assign(second, { offsetLeft: 300, offsetWidth: 60 });
  Object.assign(made.row, { clientWidth: 200, scrollLeft: 0 });
  made.walk(-1);
  second.click();
  assert.equal(made.row.scrollLeft, 280, 'a chip out of sight is brought in');
  made.row.scrollLeft = 160;
  second.click();
  second.click();
  assert.equal(made.row.scrollLeft, 160);
});

test('what was not found is said, with what could not be looked through and what is still looked for', () => {
  const { made } = line();
  made.begin(false);
  assert.equal(made.element.hidden, true);
  made.begin(true);
  assert.deepEqual([made.element.hidden, made.walks.hidden, made.all.hidden, made.row.textContent], [false, true, true, WORDS.looking]);
  const words = (found, documents = [1]) => (made.show({ phrases: [], ...found }, documents), made.row.textContent);
  const absent = phrase('quay', []);
  for (const [found, has, lacks] of [
    [{ phrases: [phrase('pier', [hit(1, 1)]), absent], complete: true, searched: 3 }, ['pier', WORDS.notFound, 'quay'], [WORDS.looking]],
    [{ phrases: [absent], complete: false, searched: 3 }, [WORDS.looking], [WORDS.notFound, 'quay']],
    [{ phrases: [absent], complete: true, searched: 3, without_text: [{}] }, [WORDS.notFoundWithText, 'quay', WORDS.phrasesLater(1)], [WORDS.notSearchablePages]],
    [{ phrases: [absent], complete: true, searched: 2, without_text: [{}, {}] }, [WORDS.notSearchablePages], [WORDS.phrasesLater(2)]],
    [{ phrases: [absent], complete: false, searched: 2, without_text: [{}, {}] }, [WORDS.phrasesLater(2), WORDS.looking], [WORDS.notSearchablePages]],
    [{ phrases: [absent], complete: true, without_text: [{}] }, [WORDS.phrasesLater(1)], [WORDS.notSearchablePages]],
  ]) {
    const said = words(found);
    for (const word of has) assert.ok(said.includes(word), `${said} lacks ${word}`);
    for (const word of lacks) assert.ok(!said.includes(word), `${said} has ${word}`);
  }
  made.show(null, [1]);
  assert.equal(made.element.hidden, true);
});

// What the server is asked ---------------------------------------------------------------------------------------------

const ITEM = { assignment: 1, sitting: 1, step: 0, answer: 'A', documents: [{ supplied: true }], evidence: [{ text: 'T', box: null, document: 1 }] };

/** Lookups whose answers come in turn, with what was asked. */
function looking(...answers) {
  const asked = [];
  globalThis.fetch = async (url) => {
    asked.push(String(url).replace('/api/studies/3/', ''));
    const found = answers.length > 1 ? answers.shift() : answers[0];
    return found instanceof Error ? Promise.reject(found) : { ok: true, status: 200, json: async () => structuredClone(found), headers: new Map() };
  };
  return { made: new Lookups('/api/studies/3'), asked: () => asked.splice(0) };
}
const DONE = { complete: true, phrases: [], passages: [] };

test('only what can have an answer is asked', async () => {
  for (const [item, expected] of [
    [ITEM, ['passages', 'phrases']], [{ ...ITEM, documents: [{ supplied: false }] }, []], [{ ...ITEM, documents: undefined }, []], [{ ...ITEM, answer: undefined }, ['passages']],
    [{ ...ITEM, answer: undefined, references: ['r'] }, ['passages', 'phrases']], [{ ...ITEM, answer: undefined, references: [] }, ['passages']], [{ ...ITEM, evidence: [] }, ['phrases']],
    [{ ...ITEM, evidence: [{ text: 'T', box: [0, 0, 1, 1], document: 1 }] }, ['phrases']], [{ ...ITEM, evidence: [{ text: '', box: null, document: 1 }] }, ['phrases']], [{ ...ITEM, evidence: [{ text: 'T', box: null, document: null }] }, ['phrases']],
  ]) {
    const { made, asked } = looking(DONE);
    made.follow(item, () => undefined, () => undefined);
    await pass(1000);
    assert.deepEqual(asked().map((url) => url.split('?')[0]).sort(), expected, JSON.stringify(item));
  }
});

test('an answer that is not complete is asked for again each second, and shown as it is; a complete one is kept', async () => {
  const { made, asked } = looking({ complete: false, phrases: [], passages: [1] }, { complete: false, passages: [2] }, { complete: true, passages: [3] });
  const shown = [];
  const only = { ...ITEM, answer: undefined };
  made.follow(only, () => undefined, (found) => shown.push(found.passages[0]));
  await pass(100);
  assert.deepEqual(asked(), [], 'not at once');
  await pass(300);
  assert.deepEqual([asked(), shown], [['passages?assignment=1'], [1]]);
  await pass(900);
  assert.deepEqual(asked(), []);
  await pass(200);
  assert.deepEqual([asked().length, shown], [1, [1, 2]]);
  await pass(3000);
  assert.deepEqual([asked().length, shown], [1, [1, 2, 3]]);
  made.follow(only, () => undefined, (found) => shown.push(found.passages[0]));
  await pass(1000);
  assert.deepEqual([asked(), shown], [[], [1, 2, 3, 3]]);
  made.follow({ ...only, step: 1 }, () => undefined, () => undefined);
  await pass(1000);
  assert.equal(asked().length, 1, 'another step is another question');
});

test('nobody hears of an item that has gone, and what cannot be had is said of the phrases', async () => {
  const { made, asked } = looking({ complete: false, phrases: [], passages: [] });
  const shown = [];
  made.follow(ITEM, (found) => shown.push(found), () => undefined);
  made.stop();
  await pass(1000);
  assert.deepEqual([asked(), shown], [[], []]);
  made.follow(ITEM, (found) => shown.push(found), () => undefined);
  await pass(400);
  made.stop();
  const before = shown.length;
  asked();
  await pass(5000);
  assert.deepEqual([asked(), shown.length], [[], before]);
  const failing = looking(new TypeError('no'));
  const said = [];
  failing.made.follow(ITEM, (found) => said.push(found), () => said.push('passages'));
  await pass(5000);
  assert.deepEqual([said, failing.asked().length], [[null], 2]);
});

test('what comes next is looked up one after the other, once, until another item is followed', async () => {
  const { made, asked } = looking({ complete: false, phrases: [], passages: [] });
  made.ahead([{ ...ITEM, assignment: 2 }, { ...ITEM, assignment: 3 }]);
  await pass(5000);
  assert.deepEqual(asked(), ['passages?assignment=2', 'phrases?assignment=2', 'passages?assignment=3', 'phrases?assignment=3']);
  made.ahead([{ ...ITEM, assignment: 4 }]);
  made.stop();
  await pass(5000);
  assert.deepEqual(asked(), []);
});

test('forty answers are kept', async () => {
  const { made, asked } = looking(DONE);
  made.ahead(Array.from({ length: 21 }, (_, at) => ({ ...ITEM, assignment: at + 1 })));
  await pass(9000);
  assert.deepEqual([asked().length, made.kept.size, made.kept.has('passages/1/1/0'), made.kept.has('phrases/21/1/0')], [42, 40, false, true]);
});

// On the page ---------------------------------------------------------------------------------------------------------

const UNITS = [{ key: 'E1', kind: 'table', pages: [1], box: [0.1, 0.1, 0.5, 0.5] }, { key: 'E2', kind: 'passage', pages: [1, 2], box: null }, { key: 'E3', kind: 'figure', pages: [1], box: [0.2, 0.2, 0.3, 0.3] }];
const drawn = (more = {}) => ({ units: UNITS, located: [], active: null, marks: [], supports: [], hits: [], ...more });

test('boxes of units, places, marks and supports stand on their page, and their tags where no word is hidden', () => {
  const did = [];
  const on = { unit: (key) => did.push(key), enlarge: (unit) => did.push(`larger ${unit.key}`) };
  const made = boxes(drawn({ active: 'E2', located: [{ unit: 'E2', page: 2, boxes: [[0.5, 0.1, 0.6, 0.2], [0.13, 0.2, 0.9, 0.3]] }], marks: [{ page: 1, boxes: [[0, 0, 0.1, 0.1], [0, 0.1, 0.1, 0.2]], name: 'R1', title: 'R1: yes', colour: 'red' }], supports: [{ page: 1, boxes: [[0, 0, 0.5, 0.1], [0, 0.1, 0.5, 0.2]], title: 'S', remove: () => did.push('removed') }] }), 1, 0, on).filter(Boolean);
  assert.deepEqual(made.map((one) => [one.getAttribute('class').trim(), one.getAttribute('data-testid')]), [
    ['ev before narrow', 'evidence-box'], ['ev before', 'evidence-box'], ['ev whole on', null], ['tags', null], ['ev mark', 'mark-box'], ['ev mark', 'mark-box'], ['ev support', 'support-box'], ['ev support', 'support-box'],
  ]);
  assert.equal(made[0].getAttribute('style'), 'left:10%;top:10%;width:40%;height:40%');
  made[0].querySelector('em').click();
  made[0].querySelector('enlarge').click();
  made[6].querySelector('unmark').click();
  assert.deepEqual(did, ['E1', 'larger E1', 'removed'], 'enlarging is no pointing at the unit');
  assert.deepEqual([made[4].textContent, made[5].textContent, made[7].textContent, made[4].getAttribute('title'), made[6].getAttribute('title')], ['R1', '', '', 'R1: yes', 'S']);
  const second = boxes(drawn({ active: 'E2', located: [{ unit: 'E2', page: 2, boxes: [[0.5, 0.1, 0.6, 0.2], [0.13, 0.2, 0.9, 0.3]] }] }), 2, 0, on).filter(Boolean);
  assert.deepEqual(second.map((one) => [one.getAttribute('class').trim(), one.getAttribute('style')]), [['ev text before on', 'left:13%;top:20%;width:77%;height:9.999999999999998%']]);
  for (const [box, place] of [[[0.07, 0, 0.6, 1], 'above'], [[0.071, 0, 0.6, 1], 'before narrow'], [[0.12, 0, 0.6, 1], 'before'], [[0.299, 0, 0.6, 1], 'before'], [[0.3, 0, 0.6, 1], 'above'], [[0.4, 0, 0.8, 1], 'behind'], [[0.4, 0, 0.9, 1], 'behind narrow'], [[0, 0, 1, 1], 'above']]) {
    assert.equal(boxes(drawn({ units: [{ key: 'E', kind: 'x', pages: [1], box }] }), 1, 0, on)[0].getAttribute('class').trim(), `ev ${place}`, String(box));
  }
});

test('highlights stand on their page, those at hand set off', () => {
  const { lights, frames } = highlights(drawn({ active: 'E2', located: [{ unit: 'E2', page: 1, boxes: [[0, 0, 0.5, 0.5]] }, { unit: 'E1', page: 2, boxes: [[0, 0, 1, 1]] }], hits: [{ page: 1, boxes: [[0.5, 0.5, 1, 1]], of: 'answer', title: 'pier', on: true }, { page: 1, boxes: [[0, 0, 0.1, 0.1]], of: 'search', title: '' }, { page: 2, boxes: [[0, 0, 1, 1]], of: 'search', title: '' }] }), 1);
  assert.deepEqual(lights.map((one) => [one.getAttribute('class').trim(), one.getAttribute('data-testid'), one.getAttribute('data-unit'), one.getAttribute('title')]), [
    ['hl found on', null, 'E2', null], ['hl answer on', 'hit-answer', null, 'pier'], ['hl search', 'hit-search', null, ''],
  ]);
  assert.deepEqual(frames.map((one) => [one.getAttribute('class').trim(), one.getAttribute('style')]), [
    ['frame found on', 'left:0%;top:0%;width:50%;height:50%'], ['frame answer on', 'left:50%;top:50%;width:50%;height:50%'], ['frame search', 'left:0%;top:0%;width:10%;height:10%'],
  ]);
});

test('under a point lies the unit with the smallest box, by its box or by where it was found, as the page is turned', () => {
  const of = drawn({ located: [{ unit: 'E2', page: 2, boxes: [[0.1, 0.1, 0.2, 0.2]] }, { unit: 'E1', page: 2, boxes: [[0, 0, 1, 1]] }] });
  for (const [page, x, y, turn, key] of [[1, 0.15, 0.15, 0, 'E1'], [1, 0.25, 0.25, 0, 'E3'], [1, 0.2, 0.3, 0, 'E3'], [1, 0.5, 0.5, 0, 'E1'], [1, 0.51, 0.5, 0, undefined], [1, 0.1, 0.09, 0, undefined], [2, 0.15, 0.15, 0, 'E2'], [2, 0.3, 0.15, 0, undefined], [1, 0.85, 0.15, 90, 'E1'], [1, 0.15, 0.15, 90, undefined], [1, 0.75, 0.75, 180, 'E3']]) {
    assert.equal(unitAt(of, { page, x, y }, turn)?.key, key, `${page} ${x} ${y} ${turn}`);
  }
});

test('a place in words is its text and page, or a box of a page', () => {
  assert.deepEqual([placeWords({ text: 'The pier', page: 3 }), placeWords({ page: 3, box: [0, 0, 1, 1] }), placeWords({ text: 'x'.repeat(70), page: 1 }).length < 75, placeWords({})], [WORDS.supportText('The pier', 3), WORDS.supportBox(3), true, WORDS.supportBox(0)]);
});

// The frame -----------------------------------------------------------------------------------------------------------

test('the frame is dark or light as the host page’s background is, else as the system is', () => {
  const { createElement } = document;
  const style = globalThis.getComputedStyle;
  const media = window.matchMedia;
  globalThis.CSS = { supports: (_, colour) => colour !== 'none' };
  const look = (colour, points, dark = false) => {
    globalThis.getComputedStyle = () => ({ getPropertyValue: (name) => (name === '--st-background-color' ? colour : '') });
    window.matchMedia = () => ({ matches: dark });
    document.createElement = (tag) => (tag === 'canvas' ? { getContext: () => (points ? { fillRect() {}, getImageData: () => ({ data: points }) } : null) } : createElement(tag));
    const parent = createElement('div');
    document.body.replaceChildren(parent);
    const shell = new Shell('s.css');
    shell.attach(parent);
    document.createElement = createElement;
    return shell.root.dataset.theme;
  };
  for (const [colour, points, dark, theme] of [
    [' white ', [255, 255, 255, 255], true, 'light'], ['black', [0, 0, 0, 255], false, 'dark'], ['green', [0, 255, 0, 255], false, 'light'], ['red', [255, 0, 0, 255], false, 'dark'], ['blue', [0, 0, 255, 255], false, 'dark'],
    ['grey', [101, 101, 101, 255], false, 'dark'], ['grey', [103, 103, 103, 255], true, 'light'], ['', [0, 0, 0, 255], false, 'light'], ['', [255, 255, 255, 255], true, 'dark'], ['none', [0, 0, 0, 255], false, 'light'], ['black', null, false, 'light'],
  ]) assert.equal(look(colour, points, dark), theme, `${colour} ${dark}`);
  globalThis.getComputedStyle = style;
  window.matchMedia = media;
});

test('the frame lies over the page that it is called from, of which nothing can be reached meanwhile', () => {
  const [behind, other] = [document.createElement('div'), document.createElement('div')];
  const inside = document.createElement('p');
  behind.append(inside);
  document.body.replaceChildren(behind, other);
  const shell = new Shell('s.css', 'named');
  shell.attach(inside);
  assert.deepEqual([behind.hasAttribute('inert'), other.hasAttribute('inert'), shell.host.isConnected, shell.host.getAttribute('data-testid')], [true, false, true, 'named']);
  const shadow = other.attachShadow();
  shell.attach(shadow);
  assert.deepEqual([behind.hasAttribute('inert'), other.hasAttribute('inert')], [false, true], 'called from elsewhere');
  let heard = 0;
  document.body.addEventListener('keydown', () => (heard += 1));
  shell.host.dispatchEvent(new KeyboardEvent('keydown', { key: 'x' }));
  assert.equal(heard, 0, 'keys are not the host page’s');
  shell.detach();
  assert.deepEqual([other.hasAttribute('inert'), shell.host.isConnected], [false, false]);
  const [one, two] = [document.createElement('p'), document.createElement('p')];
  shell.fill(one, two);
  const [first] = shell.stage.childNodes;
  shell.fill(one, two);
  assert.equal(shell.stage.childNodes[0], first);
  shell.fill(two);
  assert.deepEqual(shell.stage.childNodes, [two]);
  shell.announce('Said.');
  assert.equal(shell.live.textContent, 'Said.');
  assert.ok(TEXT);
});
