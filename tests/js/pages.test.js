/** The pages of a document as they are opened again, resized, learned about, retried and enlarged: what stays, what goes, what is fetched. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass } from './browser.js';
import './whole_page.js';
import { Pages } from '../../app/widgets/viewer/pages/pages.js';

const doc = (id = 1, more = {}) => ({ id, key: `d${id}`, title: '', n_pages: 4, sizes: Array.from({ length: 4 }, () => [100, 100]), supplied: true, pages: null, url: `/p${id}/{page}?w={width}`, ...more });
const UNITS = [{ key: 'E1', kind: 'table', document: 1, pages: [3], box: [0.1, 0.1, 0.5, 0.3], text: '', title: '' }, { key: 'E2', kind: 'passage', document: 2, pages: [2], box: null, text: '', title: '' }];

let asked;
let told;
let pages;
let shape;
const { Image } = globalThis;
globalThis.Image = class extends Image {
  complete = false;

  decode() {
    asked.push(this.src);
    return shape ? (Object.assign(this, { naturalWidth: shape[0], naturalHeight: shape[1], complete: true }), Promise.resolve()) : Promise.reject(new Error('no'));
  }
};
const words = [];
globalThis.fetch = async (url) => (words.push(url), { ok: true, status: 200, json: async () => ({ page: 1, ocr: false, words: [] }), headers: new Map() });

beforeEach(() => {
  [asked, told, shape] = [[], [], [800, 800]];
  words.length = 0;
  const tell = (name) => (...what) => void told.push([name, ...what]);
  pages = new Pages({ page: tell('page'), zoom: tell('zoom'), unit: tell('unit'), selected: tell('selected'), marked: tell('marked'), drawing: tell('drawing'), pictured: tell('pictured'), thumbnail: (page) => (page === 2 ? '/thumb' : '') });
  Object.assign(pages.element, { clientWidth: 828, clientHeight: 600 });
  document.body.replaceChildren(pages.element);
});
const held = () => [...pages.views.keys()].sort((one, other) => one - other);
const resize = async (width, height) => {
  Object.assign(pages.element, { clientWidth: width, clientHeight: height });
  assert.ok(pages.resizes.watched.has(pages.element));
  pages.resizes.told();
  await pass(300);
};

test('a document that is opened again keeps its pictures and place; one that was replaced does not, another one neither', async () => {
  pages.open(doc(), UNITS);
  await pass(1000);
  pages.goTo(3, 1);
  await pass(1000);
  const view = pages.views.get(3);
  assert.ok(view.image);
  pages.set({ located: [{ unit: 'E1', page: 3, boxes: [[0, 0, 1, 1]] }], supports: [{ page: 3, boxes: [], title: '', remove() {} }], hits: [{ page: 3, boxes: [], of: 'search', title: '' }] });
  pages.open(doc(), UNITS);
  assert.deepEqual([pages.views.get(3) === view, pages.page, pages.drawn.located, pages.drawn.supports, pages.drawn.hits, pages.drawn.units.map(({ key }) => key)], [true, 3, [], [], [], ['E1']]);
  pages.open(doc(1, { url: '/new/{page}?w={width}' }), UNITS);
  assert.deepEqual([pages.page, pages.element.scrollTop, held()], [1, 0, [1]]);
  pages.open(doc(2), UNITS);
  assert.deepEqual([pages.drawn.units.map(({ key }) => key), held()], [['E2'], [1]]);
});

test('how a document was looked at is how it is when it is opened again, and another one has its own', async () => {
  pages.open(doc(), UNITS);
  pages.zoomBy(2);
  const { zoom } = pages;
  pages.rotate();
  pages.open(doc(2), UNITS);
  assert.deepEqual([pages.layout.turn, pages.fit], [0, 'width']);
  pages.fitPage();
  assert.equal(pages.fit, 'page');
  pages.open(doc(1), UNITS);
  assert.deepEqual([pages.zoom, pages.layout.turn, pages.fit], [zoom, 90, 'free']);
  pages.open(doc(2), UNITS);
  assert.deepEqual([pages.fit, pages.layout.turn], ['page', 0]);
  pages.enlarge(2, [0.2, 0.2, 0.4, 0.4]);
  const enlarged = pages.zoom;
  pages.open(doc(1), UNITS);
  pages.open(doc(2), UNITS);
  assert.ok(pages.zoom < enlarged, 'what was enlarged does not stay so');
  assert.equal(pages.fit, 'page');
  pages.enlarge(2, [0.2, 0.2, 0.4, 0.4]);
  pages.open(doc(2), UNITS);
  assert.equal(pages.enlarged, null);
});

test('a view that is resized keeps what stands at its top, fits again what was fitted, and says its zoom', async () => {
  pages.open(doc(), UNITS);
  pages.element.scrollTop = 14 + 814 + 400; // the middle of the second page
  told.length = 0;
  await resize(828, 600);
  assert.deepEqual(told.filter(([name]) => name === 'zoom'), [], 'it is as it was');
  await resize(428, 600);
  assert.deepEqual([pages.surface.style.width, pages.layout.rect(2).right - pages.layout.rect(2).left], ['428px', 400]);
  assert.ok(Math.abs(pages.element.scrollTop - (pages.layout.rect(2).top + 200)) < 1e-6, String(pages.element.scrollTop));
  assert.equal(told.filter(([name]) => name === 'zoom').length, 1);
  pages.fitPage();
  const whole = pages.zoom;
  await resize(428, 300);
  assert.ok(pages.zoom < whole && pages.fit === 'page');
  told.length = 0;
  await resize(0, 300);
  assert.deepEqual(told.splice(0), [], 'it is hidden');
  await resize(428, 200);
  assert.equal(told.filter(([name]) => name === 'zoom').length, 1, 'another height is another size');
});

test('pages whose sizes are not known take the shape of their pictures, those that are known do not', async () => {
  shape = [800, 1600];
  pages.open(doc(1, { sizes: null }), UNITS);
  const before = pages.layout.ratio(1);
  await pass(50);
  assert.deepEqual([before !== 2, pages.layout.ratio(1)], [true, 2]);
  pages.open(doc(2), UNITS);
  await pass(50);
  assert.equal(pages.layout.ratio(1), 1);
});

test('a page is previewed by its small picture, its words are read after a rest, and pictures that failed are tried again', async () => {
  pages.open(doc(31), UNITS);
  await pass(30);
  assert.deepEqual([asked.length, told.filter(([name]) => name === 'pictured').length, words.length], [1, 1, 0]);
  await pass(2000);
  assert.deepEqual([held(), words.length], [[1, 2], 1]);
  pages.goTo(2, 1);
  assert.match(pages.views.get(2).element.getAttribute('data-page'), /2/);
  shape = null;
  pages.open(doc(33), UNITS);
  await pass(2000);
  assert.equal(pages.views.get(1).note.children.length, 2);
  const before = asked.length;
  shape = [800, 800];
  pages.retry();
  await pass(50);
  assert.deepEqual([asked.length > before, pages.views.get(1).note.children.length], [true, 0]);
  pages.open(doc(34, { n_pages: 2, sizes: null, pages: [] }), UNITS);
  await pass(50);
  assert.deepEqual([held(), pages.page], [[], 1], 'a document without pages that may be seen');
});

test('far zoomed in, what is in sight is drawn in sharp parts, and the rest is not', async () => {
  pages.open(doc(), UNITS);
  await pass(1000);
  for (let times = 0; times < 6; times += 1) pages.zoomBy(1.5);
  await pass(1000);
  const parts = () => asked.filter((url) => /x0=/.test(url));
  assert.ok(parts().length > 0);
  const [view] = [...pages.views.values()].filter((one) => one.tiles.tiles.size);
  assert.equal([...pages.views.values()].filter((one) => one.tiles.tiles.size).length, 1);
  pages.fitWidth();
  await pass(1000);
  assert.equal(view.tiles.tiles.size, 0);
  asked.length = 0;
  pages.enlarge(1, [0.2, 0.2, 0.25, 0.25]);
  await pass(1000);
  assert.deepEqual(parts().map((url) => /x0=([\d.]+)&y0=([\d.]+)&x1=([\d.]+)&y1=([\d.]+)/.exec(url).slice(1).map(Number)), [[0.2, 0.2, 0.25, 0.25]], 'an enlarged part is one picture');
});
