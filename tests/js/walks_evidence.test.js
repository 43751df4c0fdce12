/** Walks of annotators among documents: units on pages, phrases, search, what supports a label, zoom, other documents (walk.js). */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS } from './whole_page.js';
import { criterion, doc, item, protocol, unit, YES_NO } from './walk_items.js';
import { Walk } from './walk.js';

await loadKinds();
const { App } = await import('../../app/widgets/annotate/app.js');
const { TextLayer } = await import('../../app/widgets/viewer/pages/text_layer.js');

// What is drawn has a size here: the pages 828 × 600, the strip four and a half thumbnails; every picture is there at once.
const SIZES = { pages: [828, 600], strip: [90, 350] };
for (const [at, name] of [[0, 'clientWidth'], [1, 'clientHeight']]) {
  Object.defineProperty(Element.prototype, name, { configurable: true, get() {
    return this.sizes_?.[at] ?? SIZES[this.className.split(' ')[0]]?.[at] ?? 0;
  }, set(value) {
    this.sizes_ = [this.clientWidth, this.clientHeight].with(at, value);
  } });
}
Object.assign(Image.prototype, { naturalWidth: 600, naturalHeight: 800, complete: true });

const OF = protocol({ all: [
  criterion('needed', 'choice', { target: 'evidence', labels: YES_NO, rest: 'no' }), criterion('holds', 'choice', { target: 'claim', labels: [{ ...YES_NO[0], key: '3' }, { ...YES_NO[1], key: '4' }] }),
] });
const ITEM = item(1, {
  shown: ['answer', 'claims', 'documents', 'evidence', 'question'], references: ['The quay was built in 1888.'],
  documents: [doc(1), doc(2, { n_pages: 3, pages: [1, 3], sizes: null, url: '/page-images/2/{page}?w={width}&v=ab' }), doc(3, { supplied: false, title: '' })],
  evidence: [
    unit('E1', { kind: 'table', document: 1, pages: [2], box: [0.1, 0.1, 0.5, 0.3], role: 'gold', title: 'Lines' }), unit('E2', { document: 1, pages: [3], used: true }),
    unit('E3', { kind: 'page', document: 2, pages: [3], text: null }), unit('E4'), unit('E5', { document: 3, pages: [7] }),
  ],
  claims: [{ key: 'C1', text: 'The pier is old.', of: 'answer' }, { key: 'C2', text: 'Nothing of it.', of: 'answer' }],
  units: { needed: ['E1', 'E2', 'E3', 'E4', 'E5'].map((key) => `evidence:${key}`), holds: ['claim:C1', 'claim:C2'] },
});
const hits = (...of) => of.map(([document, page, x = 0.1]) => ({ document, page, boxes: [[x, 0.1, x + 0.1, 0.2]] }));
const PHRASES = {
  complete: false, searched: 6, without_text: [{ document: 1, page: 4 }],
  phrases: [{ text: 'pier', of: 'answer', count: 3, hits: hits([1, 3], [1, 3, 0.4], [2, 1]) }, { text: 'quay', of: 'reference', count: 1, hits: hits([1, 4]) }, { text: 'bridge', of: 'answer', count: 0, hits: [] }],
};
const LOCATED = { complete: true, passages: [{ evidence: 'E2', document: 1, page: 4, boxes: [[0.2, 0.5, 0.8, 0.55], [0.1, 0.55, 0.4, 0.6]] }, { evidence: 'E4', reason: 'nowhere' }] };
const SEARCH = { query: 'pier', hits: [{ page: 1, boxes: [[0.1, 0.1, 0.2, 0.2]], context: 'the pier' }, { page: 3, boxes: [[0.1, 0.3, 0.2, 0.4]], context: 'a pier' }], count: 5, searched: 4, pages: 4, complete: true };
const WORDS = { page: 2, ocr: false, words: [[0.1, 0.1, 0.2, 0.15, 'The', 0], [0.25, 0.1, 0.4, 0.15, 'pier', 0]] };

let studies = 300;
async function begin(name, on = {}, given = ITEM) {
  studies += 1;
  const state = { progress: { done: 1, of: 3, seconds_today: 65 }, finished: false, halted: null, enough: null, phase: null };
  const walk = new Walk(`evidence_${name}`, {
    work: { items: [given], ...state, study: { id: 1, name: 'study', project: 'project', protocol: structuredClone(OF), protocol_hash: 'h', guidelines_read: true }, keys: DESKS.keys.annotate, person: { id: 7, name: 'ada' }, last: null },
    draft: { saved_at: 'now' }, preferences: {}, 'phrases?assignment=1': [PHRASES, { ...PHRASES, complete: true }], 'passages?assignment=1': LOCATED, '1?q=pier': SEARCH, '2?v=ab&q=pier': { ...SEARCH, hits: [], count: 0 },
    '1?': WORDS, '2?': WORDS, '3?': WORDS, '4?': WORDS, '1?v=ab': WORDS, '3?v=ab': WORDS, ...on,
  }, 'evidence_pages');
  await walk.up(new App({ study: studies, person: '7', home: '/home', sign_in: '/in' }));
  return walk;
}

test('units are looked at on their pages, in their passages and enlarged, and pages are turned, chosen and shown otherwise', async () => {
  const walk = await begin('pages');
  await walk.step('what is found comes', () => pass(3000));
  await walk.press('E', 'E', '}', 'E', 'Escape', '}', '}', '}', '}', '{', ']', ']', '[', '+', '-', '-', 'w', 'p', 'D', 'D', 'r', 'r', 'r', 'r', 'PageDown', 'PageUp', 'PageDown');
  await walk.choose('page-number', '3');
  await walk.step('Enter in the page number', () => walk.find('page-number').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })));
  await walk.choose('page-number', '99');
  await walk.choose('.viewer select', '2');
  await walk.click('thumbnail', 1);
  await walk.choose('.viewer select', '1');
  await walk.choose('page-number', '2');
  await walk.step('it comes', () => pass(800));
  await walk.step('a box is pressed', () => walk.find('evidence-box em').click());
  await walk.click('unit-chip', 1);
  await walk.click('toggle-text');
  await walk.click('toggle-text');
  await walk.click('passages');
  await walk.press('PageDown', '}');
  await walk.click('passage', 2);
  await walk.step('scrolled', () => (walk.app.viewer.pages.element.scrollTop = 2000, walk.app.viewer.pages.element.dispatchEvent(new Event('scroll'))), 800);
  await walk.step('the window is another', () => (walk.app.viewer.pages.element.clientWidth = 600, walk.app.viewer.pages.sizes?.told?.()), 400);
  await walk.step('the connection is back', () => window.dispatchEvent(new Event('online')), 400);
  await walk.end();
});

test('phrases and hits of the search are walked through, over documents, and shown on pages and thumbnails', async () => {
  const walk = await begin('hits');
  await walk.step('what is found comes', () => pass(3000));
  await walk.press('.', '.', '.', '.', ',', ',');
  await walk.click('phrase');
  await walk.click('phrase');
  await walk.click('phrase', 1);
  await walk.click('phrases');
  await walk.press('.');
  await walk.click('all-phrases');
  await walk.click('all-phrases');
  await walk.press('/');
  await walk.type('search-field', 'pier');
  await walk.step('it is found', () => pass(300));
  await walk.click('search-after');
  await walk.click('search-after');
  await walk.press('Escape', '/');
  await walk.step('found again', () => pass(300));
  await walk.step('out of the field', () => walk.app.judgement.focus());
  await walk.press('.', ',');
  await walk.choose('.viewer select', '2');
  await walk.step('looked for there', () => pass(300));
  await walk.press('Escape', '3', '4', 'ArrowUp');
  await walk.end();
});

test('what supports a label is marked by a box, by a box of words or by selected words, listed, shown and taken away', async () => {
  const walk = await begin('support');
  await walk.step('what is found comes', () => pass(3000));
  await walk.press('M', 'ArrowRight', 'ArrowDown', 'Enter');
  for (const key of ['ArrowRight', 'ArrowDown']) await walk.step(`${key}, held`, () => Array.from({ length: 8 }, () => walk.app.viewer.pages.marker.key(key, true)));
  await walk.press('Enter', 'M', 'Escape', 'M', 'Enter');
  for (const key of ['ArrowLeft', 'ArrowUp']) await walk.step(`${key}, held`, () => Array.from({ length: 40 }, () => walk.app.viewer.pages.marker.key(key, true)));
  await walk.press('Space', '1', 'ArrowUp');
  const [view] = walk.app.viewer.pages.views.values();
  const layer = new TextLayer(WORDS, 1);
  view.text = layer;
  const range = { intersectsNode: () => true, getBoundingClientRect: () => ({ left: 50, top: 60, right: 90, bottom: 80 }) };
  layer.within = () => WORDS.words;
  let selection = { rangeCount: 1, isCollapsed: false, getRangeAt: () => range, removeAllRanges: () => (selection = null) };
  await walk.step('words are selected', () => (document.getSelection = () => selection, walk.app.viewer.pages.on.selected()));
  await walk.click('use-selection');
  await walk.step('and nothing', () => walk.app.viewer.pages.on.selected());
  selection = { rangeCount: 1, isCollapsed: false, getRangeAt: () => range, removeAllRanges: () => (selection = null) };
  await walk.step('selected again, and left', () => walk.app.viewer.pages.on.selected());
  await walk.press('Escape');
  document.getSelection = () => null;
  await walk.step('shown from the list', () => walk.find('.support-note button').click());
  await walk.click('unmark');
  await walk.step('taken away in the list', () => walk.find('.support-note button', 1).click());

  for (let times = 0; times < 12; times += 1) walk.app.viewer.on.support({ document: 1, page: 1, box: [0.1, 0.1, 0.2, 0.2 + times / 100] });
  await walk.step('as many as there may be', () => undefined);
  await walk.press('Backspace');
  await walk.end();
});

test('a document that is not there, an item without documents, and one whose phrases cannot be had', async () => {
  for (const [name, given, on] of [
    ['missing', { ...ITEM, documents: ITEM.documents.slice(2), evidence: ITEM.evidence.slice(3) }, {}], ['none', { ...ITEM, documents: [], evidence: [], units: { needed: [], holds: ['claim:C1'] } }, {}],
    ['unfound', { ...ITEM, documents: ITEM.documents.slice(0, 1), evidence: ITEM.evidence.slice(1, 2) }, { 'phrases?assignment=1': new TypeError('no'), 'passages?assignment=1': { complete: false, passages: [] } }],
  ]) {
    const walk = await begin(name, on, given);
    await walk.step('what is found comes', () => pass(3000));
    await walk.press('}', ']', '.', '/', 'E', 'M', 'Escape', 'Escape');
    await walk.end();
  }
});

test('the next item is looked up before it comes', async () => {
  const walk = await begin('ahead', { 'phrases?assignment=2': PHRASES, 'passages?assignment=2': LOCATED });
  await walk.step('looked ahead', () => walk.app.viewer.fetchAhead([{ ...ITEM, assignment: 2 }, { ...ITEM, assignment: 3, documents: [doc(3, { supplied: false })] }]), 3000);
  const before = walk.server.asked.length;
  walk.app.viewer.show({ ...ITEM, assignment: 2 }, null);
  await pass(2000);
  assert.deepEqual(walk.server.asked.slice(before).map(({ url }) => url).filter((url) => url.includes('assignment=2') && url.includes('passages')), [], 'known by now');
  await walk.end();
});

test('long texts are folded, phrases that were counted are walked through, and nothing can be done while one waits', async () => {
  const long = { ...ITEM, answer: `The pier is old. ${'It was built in 1888. '.repeat(80)}`, phrase_sets: { sets: [{ best: true, phrases: [{ text: 'pier', count: 1 }] }], rule: 'all', places: [[4, 8], [12, 15]] } };
  const walk = await begin('long', { submit: new Promise(() => undefined), skip: new Promise(() => undefined) }, long);
  await walk.step('what is found comes', () => pass(3000));
  await walk.click('fold-text');
  await walk.click('fold-text');
  await walk.click('found-next_hit');
  await walk.press('1', '2', '2', '2', '2', '3', '4', 'Enter', '1');
  await walk.end();
});
