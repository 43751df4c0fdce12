/** Pictures of pages: how wide they are fetched, which ahead, which are held; where passages and selections are shown. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pass } from './browser.js';
import './whole_page.js';
import { fetchAhead, imageOf, needsTiles, pageNumbers, pageUrl, partUrl, partWidth, rung } from '../../app/widgets/viewer/pages/images.js';
import { Pages } from '../../app/widgets/viewer/pages/pages.js';
import { UseSelection } from '../../app/widgets/viewer/pages/selection.js';
import { Passages, UnitText } from '../../app/widgets/viewer/passages.js';

globalThis.fetch = async () => Promise.reject(new TypeError('nothing answers'));

test('a picture is as wide as is sharp, by what the server draws', () => {
  assert.deepEqual([1, 480, 489, 490, 800, 1201, 1632, 1633, 9999].map(rung), [480, 480, 480, 800, 800, 1200, 1600, 1600, 1600]);
  assert.deepEqual([1600, 1632, 1633].map(needsTiles), [false, false, true]);
  assert.deepEqual([1, 489, 490, 1700, 2500, 9999].map(partWidth), [480, 480, 800, 2400, 3600, 3600]);
  assert.equal(pageUrl({ url: '/p/{page}?w={width}' }, 3, 480), '/p/3?w=480');
  assert.equal(partUrl({ url: '/p/{page}?w={width}' }, 3, [0, 0.12345, 0.5, 1], 480), '/p/3?w=480&x0=0&y0=0.1235&x1=0.5&y1=1');
});

test('the pages of a document are those that are listed, else as many as it has, else those that are spoken of', () => {
  for (const [doc, mentioned, numbers] of [
    [{ pages: [2, 5], n_pages: 9 }, [], [2, 5]], [{ n_pages: 3 }, [7], [1, 2, 3]], [{ sizes: [[1, 1], [1, 1]] }, [7], [1, 2]], [{}, [2, 3], [1, 2, 3]], [{}, [], [1]],
  ]) assert.deepEqual(pageNumbers(doc, mentioned), numbers, JSON.stringify(doc));
});

test('twelve pictures are kept that were fetched ahead, each asked for once and given once', () => {
  const made = [];
  const { Image } = globalThis;
  globalThis.Image = class extends Image {
    constructor() {
      super();
      made.push(this);
    }
  };
  for (let n = 1; n <= 13; n += 1) fetchAhead(`/${n}`);
  fetchAhead('/13');
  assert.equal(made.length, 13);
  assert.deepEqual([made.includes(imageOf('/1')), made[1] === imageOf('/2'), made[12] === imageOf('/13'), made[1] === imageOf('/2')], [true, true, true, false]);
  assert.equal(made.length, 15, 'the oldest was forgotten, and one is not given twice');
  assert.deepEqual([imageOf('/x').fetchPriority, imageOf('/y', false).fetchPriority, made[2].fetchPriority], ['high', 'low', 'low']);
  globalThis.Image = Image;
});

test('the pages in sight are held with their neighbours, and what is far is let go of; where one is heading comes first', async () => {
  const tell = () => undefined;
  const pages = new Pages({ page: tell, zoom: tell, unit: tell, selected: tell, marked: tell, drawing: tell, pictured: tell, thumbnail: () => '' });
  Object.assign(pages.element, { clientWidth: 828, clientHeight: 600 });
  document.body.replaceChildren(pages.element);
  pages.open({ id: 1, key: 'a', title: '', n_pages: 9, sizes: Array.from({ length: 9 }, () => [100, 100]), supplied: true, pages: null, url: '/p/{page}?w={width}' }, []);
  assert.deepEqual([pages.surface.style.width, pages.surface.style.height], ['828px', `${14 + 9 * 814}px`]);
  const held = () => [...pages.views.keys()].sort((one, other) => one - other);
  await pass(10);
  assert.deepEqual(held(), [1], 'what is in sight comes first, alone');
  await pass(800);
  assert.deepEqual(held(), [1, 2]);
  pages.goTo(5, 1);
  assert.deepEqual(held(), [5]);
  await pass(30);
  assert.deepEqual(held(), [5, 6], 'where one is heading');
  await pass(800);
  assert.deepEqual(held(), [4, 5, 6]);
  pages.element.scrollTop = 814 * 3;
  pages.soon();
  await pass(50);
  assert.deepEqual([pages.holding.heading, held()], [-1, [3, 4, 5]]);
  pages.goTo(8);
  await pass(30);
  assert.deepEqual(held(), [8], 'after a jump one is heading nowhere');
  await pass(800);
  assert.deepEqual(held(), [7, 8, 9]);
  pages.goTo(3);
  pages.zoomBy(0.25);
  await pass(900);
  assert.ok(held().length > 4 && pages.surface.style.width === '828px');
  pages.zoomBy(8);
  assert.equal(pages.surface.style.width, `${1600 + 28}px`);
});

test('the button beside a selection lies below it, above where there is no room, and within the view', () => {
  const use = new UseSelection({ of: () => 'm' }, () => undefined);
  const view = { getBoundingClientRect: () => ({ left: 100, top: 50, width: 500, height: 400 }) };
  const place = (left, top, bottom) => {
    use.show({ range: { getBoundingClientRect: () => ({ left, top, bottom }) } }, view);
    return [use.element.style.left, use.element.style.top];
  };
  assert.deepEqual([place(150, 100, 120), place(90, 100, 120), place(590, 100, 120)], [['50px', '76px'], ['8px', '76px'], ['320px', '76px']]);
  assert.deepEqual([place(150, 390, 409), place(150, 390, 410), place(150, 60, 440)], [['50px', '365px'], ['50px', '306px'], ['50px', '8px']]);
  assert.equal(use.element.hidden, false);
  use.show(null, view);
  assert.equal(use.element.hidden, true);
});

const unit = (key, more = {}) => ({ key, kind: 'passage', document: 4, pages: [2], text: `Text ${key}`, title: '', box: null, ...more });
const texts = { choice: () => null, fill: (element, text) => (element.append(text), element) };

test('a passage is brought to the top unless it is seen whole, and only while passages are shown', () => {
  const picked = [];
  const passages = new Passages((key) => picked.push(key), texts);
  const { element } = passages;
  element.scrollTop = 70;
  passages.open([unit('E1'), unit('E2')], []);
  assert.equal(element.scrollTop, 0);
  element.clientHeight = 400;
  Object.assign(passages.cards.get('E2'), { offsetTop: 500, offsetHeight: 100 });
  for (const [from, to] of [[0, 488], [199, 488], [200, 200], [500, 500], [501, 488]]) {
    element.scrollTop = from;
    passages.showUnit('E2');
    assert.equal(element.scrollTop, to, String(from));
  }
  assert.deepEqual([...passages.cards.values()].map((card) => card.classList.contains('on')), [false, true]);
  element.hidden = true;
  element.scrollTop = 0;
  passages.showUnit('E2');
  assert.equal(element.scrollTop, 0);
  element.scrollTop = 70;
  passages.open([unit('E1')], []);
  assert.equal(element.scrollTop, 70, 'asking for it while hidden would lay the page out');
  element.scrollTop = 0;
  passages.scrollBy(1);
  assert.equal(element.scrollTop, 360);
  passages.cards.get('E1').click();
  assert.deepEqual(picked, ['E1']);
});

test('a page of a document that was not supplied is named in its place, and no other', () => {
  const passages = new Passages(() => undefined, texts);
  passages.open([], [{ id: 1, key: 'a', title: '', n_pages: 9 }, { id: 2, key: 'b', title: '', n_pages: null }]);
  const shown = () => passages.element.querySelectorAll('missing-page').map((page) => (page.hidden ? null : page.textContent));
  assert.deepEqual(shown(), [null, null]);
  passages.showMissing('a', 3);
  assert.deepEqual(shown(), ['Page 3 of 9', null]);
  passages.showMissing('b', 4);
  assert.deepEqual(shown(), [null, 'Page 4']);
});

test('the text of a unit shows by itself where it has no place on a page, and as one wants from then on', () => {
  for (const [wanted, placed, text, open] of [[null, false, 'x', true], [null, true, 'x', false], [null, false, '', false], [true, true, '', true], [true, true, 'x', true], [false, false, 'x', false]]) {
    const drawer = new UnitText(() => undefined, texts);
    drawer.wanted = wanted;
    drawer.element.scrollTop = 30;
    drawer.show(unit('E1', { text }), undefined, placed);
    assert.deepEqual([drawer.open, drawer.element.scrollTop], [open, open ? 0 : 30], `${wanted} ${placed} ${text}`);
    drawer.show(null, undefined, placed);
    assert.equal(drawer.open, false);
  }
});
