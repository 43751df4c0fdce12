/** Small pictures, sharp parts of large ones, the pages themselves, and the search of a document: what is fetched, shown and let go of. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass, settled } from './browser.js';
import { keydown, type } from './page.js';
import { Range } from './placed.js';
import { Layout } from '../../app/widgets/viewer/pages/layout.js';
import { PageView } from '../../app/widgets/viewer/pages/page_view.js';
import { clearSelection, holdSelection, selectedWords } from '../../app/widgets/viewer/pages/selection.js';
import { Shades } from '../../app/widgets/viewer/pages/shades.js';
import { Tiles } from '../../app/widgets/viewer/pages/tiles.js';
import { TextLayer } from '../../app/widgets/viewer/pages/text_layer.js';
import { thumbnails } from '../../app/widgets/viewer/pages/images.js';
import { Search } from '../../app/widgets/viewer/search.js';
import { Strip } from '../../app/widgets/viewer/strip.js';
import { Thumbnails, thumbnailsOf } from '../../app/widgets/viewer/thumbnails.js';
import { Keys } from '../../app/widgets/shared/keys.js';
import { TEXT } from '../../app/widgets/shared/text.js';
import { WORDS } from '../../app/widgets/shared/viewer_text.js';

const doc = (id = 1, more = {}) => ({ id, key: `d${id}`, title: '', n_pages: 50, sizes: null, supplied: true, pages: null, url: `/p${id}/{page}?w={width}`, ...more });

/** Pictures that come when a test says so, by their addresses. */
let pictures = [];
globalThis.Image = class extends Element {
  naturalWidth = 0;
  naturalHeight = 0;
  complete = false;

  constructor() {
    super('img');
    pictures.push(this);
  }

  decode() {
    return new Promise((come, fail) => Object.assign(this, {
      come: (width = 100, height = 100) => (Object.assign(this, { naturalWidth: width, naturalHeight: height, complete: true }), come(), settled()), fail: () => (fail(new Error('no')), settled()),
    }));
  }
};
/** What the server answers: pages of thumbnails, by the range that is asked for. */
let asked = [];
let answer;
const revoked = [];
let urls = 0;
URL.createObjectURL = () => `blob:${(urls += 1)}`;
URL.revokeObjectURL = (url) => url && revoked.push(url);
globalThis.fetch = async (url, request) => {
  asked.push(url);
  const found = await answer(url, request);
  return found;
};
/** An answer with small pictures of pages. */
const sheet = (...pages) => {
  const data = new DataView(new ArrayBuffer(pages.length * 10));
  pages.forEach((page, at) => (data.setUint32(at * 10, page), data.setUint32(at * 10 + 4, 2)));
  return { ok: true, arrayBuffer: async () => data.buffer };
};

beforeEach(() => {
  [pictures, asked] = [[], []];
  revoked.length = 0;
  answer = async () => ({ ok: false });
  document.body.replaceChildren();
  document.activeElement = null;
});

test('small pictures come together, each by its page and length; what is refused or fails is none', async () => {
  answer = async () => sheet(3, 5);
  const found = await thumbnails(doc(), 3, 5, new AbortController().signal);
  assert.deepEqual([asked, [...found.keys()]], [['/p1/3-5?w=160'], [3, 5]]);
  answer = async () => ({ ok: false, arrayBuffer: async () => new ArrayBuffer(0) });
  assert.equal(await thumbnails(doc(), 3, 5), null);
  answer = async () => Promise.reject(new TypeError('no'));
  assert.equal(await thumbnails(doc(), 3, 5), null);
});

test('what did not come with the others is asked for as long as some come, then one by one', async () => {
  const arrived = [];
  const made = new Thumbnails(doc(), (page) => arrived.push(page));
  const answers = [sheet(1, 2, 9), sheet(3), sheet()];
  answer = async () => answers.shift();
  await made.fetch([1, 2, 3, 4, 5]);
  assert.deepEqual(asked, ['/p1/1-5?w=160', '/p1/3-5?w=160', '/p1/4-5?w=160']);
  assert.deepEqual([arrived, made.of(4), made.of(5), revoked.length], [[1, 2, 3, 4, 5], '/p1/4?w=160', '/p1/5?w=160', 1], 'the ninth was not asked for');
  await made.fetch([1, 5]);
  assert.equal(asked.length, 3, 'they are there');
  const old = made.of(1);
  made.take(1, '/other');
  assert.deepEqual([made.of(1), revoked.includes(old)], ['/other', true]);
  made.drop(1);
  assert.equal(made.of(1), undefined);
  answer = async () => ({ ok: false });
  await made.fetch([1]);
  assert.deepEqual([asked.length, made.of(1)], [4, undefined], 'none can be had now');
  made.forget();
  assert.deepEqual([made.pictures.size, made.request.signal.aborted], [0, true]);
});

test('pictures that others are asked for in the meantime are not taken', async () => {
  const made = new Thumbnails(doc(), () => undefined);
  let come;
  answer = () => new Promise((resolve) => (come = resolve));
  const first = made.fetch([1, 2]);
  await settled();
  const firstCame = come;
  answer = async () => sheet(3);
  await made.fetch([3]);
  firstCame(sheet(1, 2));
  await first;
  assert.deepEqual([...made.pictures.keys()], [3]);
});

test('the pictures of four documents stay for the next item; the one used longest ago goes', () => {
  const first = thumbnailsOf(doc(11), () => undefined);
  for (const id of [12, 13, 14]) thumbnailsOf(doc(id), () => undefined);
  let heard = 0;
  assert.equal(thumbnailsOf(doc(11), () => (heard += 1)), first);
  first.take(1, 'u');
  assert.equal(heard, 1, 'whoever asked last is told');
  const second = thumbnailsOf(doc(12), () => undefined);
  thumbnailsOf(doc(15), () => undefined);
  assert.deepEqual([thumbnailsOf(doc(12), () => undefined) === second, thumbnailsOf(doc(11), () => undefined) === first], [true, true]);
  assert.notEqual(thumbnailsOf(doc(13), () => undefined).request.signal.aborted, true);
});

// The strip -----------------------------------------------------------------------------------------------------------

/** A strip of 50 pages in a view of four and a half thumbnails. */
function strip(marks = () => [], picture = () => '') {
  const picked = [];
  const made = new Strip((page) => picked.push(page), picture);
  document.body.replaceChildren(made.element);
  made.element.clientHeight = 350;
  made.open(doc(), Array.from({ length: 50 }, (_, at) => at + 1), marks);
  const scroll = (top) => {
    made.element.scrollTop = top;
    made.element.dispatchEvent(new Event('scroll'));
  };
  return { made, picked, scroll, shown: () => [...made.shown.keys()].sort((a, b) => a - b), stops: () => [...made.shown].filter(([, one]) => one.tabIndex === 0).map(([page]) => page) };
}

test('only thumbnails near what is in sight exist, each in its place, and one of them is reached with Tab', () => {
  const { made, scroll, shown, stops, picked } = strip();
  assert.deepEqual([shown(), made.list.style.height], [[1, 2, 3, 4, 5, 6, 7], `${50 * 76}px`]);
  assert.deepEqual([made.shown.get(3).getAttribute('style'), stops()], ['top:152px', [1]]);
  scroll(760);
  assert.deepEqual([shown(), stops()], [[9, 10, 11, 12, 13, 14, 15, 16, 17], [11]]);
  made.shown.get(12).click();
  assert.deepEqual(picked, [12]);
  made.select(30);
  assert.equal(made.top, 29 * 76 - 175 + 38, 'in the middle');
  assert.deepEqual([made.element.scrollTop, made.shown.get(30).getAttribute('aria-current'), stops()], [made.top, 'page', [30]]);
  made.select(31);
  assert.equal(made.top, 29 * 76 - 175 + 38, 'it is in sight');
  assert.deepEqual([made.shown.get(30).getAttribute('aria-current'), made.shown.get(31).getAttribute('aria-current')], [null, 'page']);
  made.select(50);
  assert.equal(made.top, 50 * 76 - 350, 'not beyond the end');
  made.select(1);
  assert.equal(made.top, 0);
});

test('a thumbnail is seen whole or brought into view: at the edges', () => {
  const { made, scroll } = strip();
  for (const [top, page, moved] of [[76, 2, false], [77, 2, true], [76, 5, false], [0, 4, false], [0, 5, true], [41, 5, true], [42, 5, false]]) {
    scroll(top);
    made.select(page);
    assert.equal(made.top !== top, moved, `${page} from ${top}`);
  }
});

test('arrows, Home and End go from one thumbnail to the next, and the page in view is where Tab comes back to', () => {
  const { made, stops } = strip();
  made.select(2);
  made.shown.get(2).focus();
  const press = (key, more) => keydown(made.element, key, more).defaultPrevented;
  const at = () => Number(document.activeElement.getAttribute('data-page'));
  assert.deepEqual([press('ArrowDown'), at(), press('ArrowRight'), at(), press('ArrowUp'), at(), press('ArrowLeft'), at()], [true, 3, true, 4, true, 3, true, 2]);
  for (const more of [{ ctrlKey: true }, { metaKey: true }, { altKey: true }]) assert.equal(press('ArrowDown', more), false);
  assert.deepEqual([press('a'), press('End'), at(), made.top], [false, true, 50, 50 * 76 - 350]);
  assert.deepEqual([press('ArrowDown'), at(), press('Home'), at(), made.top, press('ArrowUp'), at()], [true, 50, true, 1, 0, true, 1]);
  for (let times = 0; times < 5; times += 1) press('ArrowDown');
  assert.deepEqual([at(), made.top], [6, 5 * 76 - 350 + 1.5 * 76]);
  for (let times = 0; times < 4; times += 1) press('ArrowUp');
  assert.deepEqual([at(), made.top], [2, 76 - 38]);
  made.select(40);
  assert.deepEqual([made.at, made.shown.has(2)], [2, true], 'what has the focus stays');
  document.activeElement.dispatchEvent(Object.assign(new Event('focusout', { bubbles: true }), { relatedTarget: made.shown.get(40) }));
  assert.equal(made.at, 2, 'within the strip');
  document.activeElement.blur();
  assert.deepEqual([made.at, made.shown.has(2), stops()], [40, false, [40]]);
  assert.equal(press('ArrowDown'), false);
});

test('a strip that comes to the screen or changes its size shows the page in view', () => {
  const { made, shown } = strip();
  made.element.clientHeight = 0;
  made.resizes.told();
  made.page = 30;
  made.element.clientHeight = 350;
  made.resizes.told();
  assert.equal(made.top, 29 * 76 - 175 + 38);
  made.element.clientHeight = 152;
  made.resizes.told();
  assert.deepEqual([made.height, shown().length], [152, 7]);
  made.open(doc(2), [4, 5], () => []);
  assert.deepEqual([made.top, shown(), made.list.children.length], [0, [4, 5], 2]);
  made.open(doc(2), [4, 5], () => []);
  assert.equal(made.list.children.length, 2);
});

test('marks stand on a thumbnail, at most five, and its name has them all', () => {
  const { made } = strip((page) => (page === 2 ? Array.from({ length: 6 }, (_, at) => ({ class: `c${at}`, title: `t${at}`, words: at ? undefined : '3' })) : []));
  const element = made.shown.get(2);
  assert.deepEqual([element.title, element.getAttribute('aria-label')], Array(2).fill(`${TEXT.page(2)}, t0, t1, t2, t3, t4, t5`));
  assert.deepEqual(element.querySelector('.dots').children.map((dot) => [dot.getAttribute('class'), dot.textContent]), [['dot c0', '3'], ['dot c1', ''], ['dot c2', ''], ['dot c3', ''], ['dot c4', '']]);
  made.marks = () => [];
  made.remark();
  assert.deepEqual([element.title, element.querySelector('.dots').children.length], [TEXT.page(2), 0]);
});

test('pictures are fetched after a rest, for what is in sight; a page that is large is its own, and what left is let go of', async () => {
  await pass(300);
  asked = [];
  const large = { 1: '/large', 2: null };
  const { made, scroll } = strip(undefined, (page) => (page in large ? large[page] : ''));
  answer = async (url) => sheet(...Array.from({ length: 50 }, (_, at) => at + 1).filter((page) => page >= Number(/\/(\d+)-/.exec(url)[1]) && page <= Number(/-(\d+)/.exec(url)[1])));
  await pass(240);
  assert.deepEqual(asked, []);
  await pass(20);
  assert.deepEqual(asked, ['/p1/3-5?w=160'], 'the second is coming large');
  assert.equal(made.shown.get(1).querySelector('img').getAttribute('src'), '/large');
  assert.deepEqual([1, 2, 3, 5, 6].map((page) => !!made.shown.get(page).querySelector('img')), [true, false, true, true, false]);
  Object.assign(made.shown.get(3).querySelector('img'), { complete: true, naturalWidth: 10, src: '/three' });
  assert.deepEqual([made.thumbnail(3), made.thumbnail(5), made.thumbnail(2), made.thumbnail(99)], ['/three', '', '', '']);
  const loading = made.shown.get(5).querySelector('img');
  scroll(1520);
  assert.deepEqual([loading.src, made.pictures.of(5), !!made.pictures.of(3)], ['', undefined, true]);
  await pass(300);
  assert.equal(asked.at(-1), '/p1/21-25?w=160');
  made.element.scrollTop = 0; // put back without a word
  made.draw();
  await pass(260);
  assert.ok(made.shown.has(1));
  made.dispose();
  assert.deepEqual([made.pictures.pictures.size, made.resizes.watched.size], [0, 0]);
});

test('of a long document four hundred small pictures stay', async () => {
  const { made } = strip();
  await pass(300);
  for (let page = 100; page < 510; page += 1) made.pictures.take(page, `/${page}`);
  answer = async () => sheet(1, 2, 3, 4, 5);
  made.draw();
  await pass(300);
  assert.deepEqual([made.pictures.pictures.size, !!made.pictures.of(100), !!made.pictures.of(1)], [400, false, true]);
});

// Sharp parts ---------------------------------------------------------------------------------------------------------

const view = (more = {}) => ({ pixels: 3000, ratio: 1.5, seen: [0.3, 0.3, 0.5, 0.4], whole: null, ...more });

test('the parts that a view touches are fetched, and shown once they are there', async () => {
  const tiles = new Tiles();
  tiles.show(doc(), 2, view()); // four across, six down
  assert.deepEqual(pictures.map((image) => image.src), [
    '/p1/2?w=800&x0=0.25&y0=0.1667&x1=0.5&y1=0.3333', '/p1/2?w=800&x0=0.25&y0=0.3333&x1=0.5&y1=0.5',
  ]);
  assert.deepEqual(['left', 'top', 'width', 'height'].map((side) => pictures[0].style[side]), ['25%', '16.669999999999998%', '25%', '16.66%']);
  assert.deepEqual([tiles.element.children.length, tiles.element.dataset.grid], [0, undefined]);
  await pictures[0].come();
  assert.deepEqual([tiles.element.children.length, tiles.element.dataset.grid], [1, undefined]);
  await pictures[1].come();
  assert.deepEqual([tiles.element.children.length, tiles.element.dataset.grid, pictures[0].alt, pictures[0].draggable], [2, '4', '', false]);
  tiles.show(doc(), 2, view());
  assert.equal(pictures.length, 2, 'known ones are met again');
});

test('how many parts lie across a page, by its width; never more than there are', () => {
  for (const [pixels, columns] of [[1000, 3], [2448, 3], [2449, 4], [3265, 4], [3266, 6], [20000, 24]]) {
    const tiles = new Tiles();
    tiles.show(doc(), 1, view({ pixels }));
    assert.equal(tiles.grid, String(columns), String(pixels));
  }
  for (const [seen, count] of [[[0, 0, 1, 1], 12], [[-0.5, -0.5, 1.5, 1.5], 12], [[0, 0, 0.25, 0.25], 1], [[0, 0, 0.26, 0.25], 2], [[0.25, 0, 0.5, 1 / 3], 1], [[0.999, 0.999, 1, 1], 1]]) {
    pictures = [];
    new Tiles().show(doc(), 1, view({ pixels: 3000, ratio: 0.75, seen }));
    assert.equal(pictures.length, count, String(seen));
  }
  pictures = [];
  new Tiles().show(doc(), 1, view({ ratio: 0.01 }));
  assert.match(pictures[0].src, /y0=0&x1=0\.5&y1=1$/);
});

test('sharper parts take the place of others when all of them are there; what fails is asked for again', async () => {
  const tiles = new Tiles();
  tiles.show(doc(), 1, view({ pixels: 2000, seen: [0, 0, 0.2, 0.1] }));
  const [coarse] = pictures;
  await coarse.come();
  tiles.show(doc(), 1, view({ pixels: 6000, seen: [0, 0, 0.2, 0.05] }));
  const fine = pictures.slice(1);
  assert.equal(fine.length, 2);
  await fine[0].come();
  assert.deepEqual([coarse.parentElement === tiles.element, tiles.element.dataset.grid], [true, '3']);
  await fine[1].fail();
  assert.equal(coarse.parentElement, tiles.element);
  tiles.show(doc(), 1, view({ pixels: 6000, seen: [0, 0, 0.2, 0.05] }));
  assert.equal(pictures.length, 4);
  await pictures[3].come();
  assert.deepEqual([coarse.parentElement, tiles.element.dataset.grid, tiles.tiles.size], [null, '8', 2]);
  tiles.show(doc(), 1, view({ pixels: 2000, seen: [0.9, 0.9, 1, 1] }));
  const late = pictures.at(-1);
  tiles.show(doc(), 1, view({ pixels: 6000, seen: [0, 0, 0.2, 0.05] }));
  assert.deepEqual([tiles.tiles.size, late.src], [2, ''], 'what another sharpness had not yet is let go of');
  tiles.clear();
  assert.deepEqual([tiles.tiles.size, tiles.element.children.length, tiles.element.dataset.grid], [0, 0, undefined]);
  tiles.show(doc(), 1, view({ pixels: 2000, seen: [0, 0, 0.2, 0.1] }));
  const loading = pictures.at(-1);
  tiles.clear();
  assert.equal(loading.src, '');
  await loading.come();
  assert.equal(tiles.element.children.length, 0, 'nobody waits for it');
});

test('forty parts stay when they are out of sight; a part that was opened is one', async () => {
  const tiles = new Tiles();
  for (let at = 0; at < 50; at += 1) {
    const [x, y] = [(at % 16) / 16 + 0.01, Math.floor(at / 16) / 24 + 0.01];
    tiles.show(doc(), 1, view({ pixels: 12_000, ratio: 1.5, seen: [x, y, x + 0.01, y + 0.01] }));
    await pictures.at(-1).come();
  }
  assert.deepEqual([tiles.tiles.size, tiles.element.children.length, pictures[9].parentElement, pictures[10].parentElement === tiles.element], [40, 40, null, true]);
  pictures = [];
  tiles.show(doc(), 1, view({ pixels: 3000, whole: [0.1, 0.2, 0.5, 0.6] }));
  assert.deepEqual(pictures.map((image) => image.src), ['/p1/1?w=1200&x0=0.1&y0=0.2&x1=0.5&y1=0.6']);
  assert.equal(tiles.grid, '0.1 0.2 0.5 0.6');
});

test('a box is said to lie in light only where the page is light on all its sides', () => {
  const { createElement } = document;
  const shades = (light) => {
    document.createElement = (tag) => (tag === 'canvas' ? { getContext: () => ({
      drawImage: (...how) => assert.deepEqual(how.slice(1), [0, 0, 96, 48]),
      getImageData: (x, y, width, height) => ({ data: Uint8ClampedArray.from({ length: 4 * width * height }, (_, at) => light(Math.floor(at / 4) % width, Math.floor(at / 4 / width), at % 4)) }),
    }) } : createElement(tag));
    const made = new Shades({ naturalWidth: 200, naturalHeight: 100 });
    document.createElement = createElement;
    return made;
  };
  const around = [0.25, 0.25, 0.75, 0.75]; // columns 24 to 71, rows 12 to 35
  assert.equal(shades(() => 255).lightAround(around), true);
  assert.equal(shades(() => 0).lightAround(around), false);
  for (const dark of [(x) => x < 24, (x) => x > 71, (_, y) => y < 12, (_, y) => y > 35]) assert.equal(shades((x, y) => (dark(x, y) ? 0 : 255)).lightAround(around), false, String(dark));
  assert.equal(shades((x, y) => (x >= 25 && x <= 70 && y >= 13 && y <= 34 ? 0 : 255)).lightAround(around), true, 'dark within');
  assert.deepEqual([[165, false], [166, true]].map(([grey, light]) => shades(() => grey).lightAround(around) === light), [true, true]);
  assert.equal(shades((x, y, part) => (part === 1 ? 255 : 0)).lightAround(around), true, 'green is light');
  assert.equal(shades((x, y, part) => (part === 1 ? 0 : 255)).lightAround(around), false, 'red and blue are not');
  assert.equal(shades(() => 255).lightAround([0, 0, 1, 1]), true, 'at the edges of the page');
  const none = new Shades({ naturalWidth: 200, naturalHeight: 1 });
  assert.deepEqual([none.height, none.lightAround(around)], [1, false], 'where no point can be read');
});

// A page --------------------------------------------------------------------------------------------------------------

const layoutOf = (more = {}) => Object.assign(new Layout(), { ...more });
/** A page of a document, with what it said. */
function paper(number = 1, of = doc()) {
  const loaded = [];
  const made = new PageView(number, of, { loaded: (shown, ratio) => loaded.push([shown.page, ratio]) });
  document.body.append(made.element);
  return { made, loaded };
}

test('a picture is fetched as sharp as it is needed, replaced by a sharper one, never by a coarser', async () => {
  const { made, loaded } = paper();
  assert.equal(made.address, null);
  made.preview('/small');
  assert.equal(made.picture.style.backgroundImage, 'url("/small")');
  made.load(700);
  assert.deepEqual(pictures.map((image) => [image.src, image.fetchPriority]), [['/p1/1?w=800', 'high']]);
  made.load(700);
  assert.equal(pictures.length, 1);
  await pictures[0].come(800, 1200);
  assert.deepEqual([loaded, made.address, made.element.dataset.loaded, made.picture.children[0] === pictures[0], made.picture.style.backgroundImage], [[[1, 1.5]], '/p1/1?w=800', '800', true, '']);
  made.preview('/small');
  assert.equal(made.picture.style.backgroundImage, '');
  made.load(400);
  assert.equal(pictures.length, 1);
  made.load(1100, false);
  assert.deepEqual([pictures[1].src, pictures[1].fetchPriority], ['/p1/1?w=1200', 'low']);
  made.load(1500);
  assert.equal(pictures[1].src, '', 'nobody needs it any more');
  await pictures[2].come(1600, 2400);
  assert.equal(made.element.dataset.loaded, '1600');
  await pictures[1].come(1200, 1800);
  assert.equal(made.element.dataset.loaded, '1600');
});

test('a page that cannot be had says so and is tried again when asked; a sharper picture by itself, later', async () => {
  const { made } = paper();
  made.load(700);
  await pictures[0].fail();
  assert.equal(made.note.querySelector('p').textContent, TEXT.pageFailed(1));
  assert.equal(made.address, '');
  made.load(700);
  assert.equal(pictures.length, 1);
  made.note.querySelector('retry-page').click();
  assert.deepEqual([pictures.length, made.note.children.length, made.again], [2, 0, 0]);
  await pictures[1].come(800, 800);
  made.retry(700);
  assert.equal(pictures.length, 2);
  made.load(1100);
  await pictures[2].fail();
  assert.equal(made.note.children.length, 0, 'it is seen, only blurred');
  made.load(1100);
  assert.equal(pictures.length, 3);
  await pass(5100);
  made.load(1100);
  assert.equal(pictures.length, 4);
  made.load(1500);
  const { again } = made;
  await pass(10);
  await pictures[3].fail();
  assert.equal(made.again, again, 'another one is coming');
  made.drop();
  assert.deepEqual([made.element.isConnected, pictures.at(-1).src], [false, '']);
  await pictures.at(-1).come(1600, 1600);
  assert.equal(made.element.dataset.loaded, '800', 'it is gone');
});

test('a page lies where the layout says, turned within its place, and short tags where it is small', async () => {
  const { made } = paper();
  const rect = { left: 10, right: 410, top: 20, bottom: 620 };
  const place = (turn, more = {}) => made.place(layoutOf({ turn, rect: () => rect, knows: () => true, ...more }));
  place(0);
  const style = (element) => ['left', 'top', 'width', 'height'].map((side) => element.style[side]);
  assert.deepEqual([style(made.element), style(made.leaf), made.leaf.style.transform, made.across, made.tall], [['10px', '20px', '400px', '600px'], ['0px', '0px', '400px', '600px'], '', 400, 1.5]);
  assert.equal(made.element.classList.contains('small'), true);
  place(90);
  assert.deepEqual([style(made.leaf), made.leaf.style.transform, made.across, made.tall], [['-100px', '100px', '600px', '400px'], 'rotate(90deg)', 600, 400 / 600]);
  place(180);
  assert.deepEqual([style(made.leaf), made.leaf.style.transform], [['0px', '0px', '400px', '600px'], 'rotate(180deg)']);
  made.place(layoutOf({ turn: 0, rect: () => ({ left: 0, right: 520, top: 0, bottom: 1 }), knows: () => false }));
  assert.deepEqual([made.element.classList.contains('small'), made.tall], [false, 0]);
});

test('a picture of another shape than the page is not stretched', async () => {
  for (const [height, unlike] of [[1500, false], [1570, false], [1580, true], [1420, true], [1430, false]]) {
    pictures = [];
    const { made } = paper();
    made.place(layoutOf({ turn: 0, rect: () => ({ left: 0, right: 400, top: 0, bottom: 600 }), knows: () => true }));
    made.load(700);
    await pictures[0].come(1000, height);
    assert.equal(made.element.classList.contains('other-shape'), unlike, String(height));
  }
});

test('words are laid over a page once it is there, with what is said of them; what fails is asked for again', async () => {
  const { made } = paper(1, doc(21));
  await made.read();
  assert.equal(asked.length, 0);
  made.load(700);
  await pictures[0].come(800, 800);
  answer = async () => Promise.reject(new TypeError('no'));
  await made.read();
  assert.deepEqual([asked.length, made.asked, made.text], [1, false, null]);
  await pass(60_000);
  const answers = (words) => async () => ({ ok: true, status: 200, json: async () => words, headers: new Map() });
  answer = answers({ page: 1, ocr: true, words: [[0.1, 0.1, 0.2, 0.2, 'word', 0]] });
  await made.read();
  await made.read();
  assert.deepEqual([asked.length, made.wordsPlace.children[0] === made.text.element, made.element.querySelector('.ocr').textContent, made.element.querySelector('.ocr').getAttribute('title')], [2, true, WORDS.ocr, WORDS.ocrTitle]);
  const { made: bare } = paper(2, doc(22));
  bare.load(700);
  await pictures.at(-1).come(800, 800);
  answer = answers({ page: 2, ocr: false, words: [], reason: 'A scan without text.' });
  bare.image.alt = 'Page 2';
  await bare.read();
  assert.deepEqual([bare.image.alt, bare.element.querySelector('.ocr')], ['Page 2. A scan without text.', null]);
});

test('beyond the widest picture sharp parts are laid over it, and taken away again', async () => {
  const { made } = paper();
  made.sharpen(3000, [0, 0, 0.2, 0.1], null);
  assert.equal(made.tiles.tiles.size, 0, 'not before there is a picture');
  made.load(3000);
  await pictures[0].come(1600, 1600);
  made.sharpen(1632, [0, 0, 0.2, 0.1], null);
  assert.equal(made.tiles.tiles.size, 0);
  made.sharpen(3000, [0, 0, 0.2, 0.1], null);
  assert.equal(made.tiles.tiles.size, 1);
  made.sharpen(1000, [0, 0, 0.2, 0.1], null);
  assert.equal(made.tiles.tiles.size, 0);
});

// Selected words ------------------------------------------------------------------------------------------------------

test('words that are selected are those of the page that has them; the selection is held at the words', () => {
  const layer = new TextLayer({ words: [[0.1, 0.1, 0.2, 0.2, 'one', 0], [0.3, 0.1, 0.4, 0.2, 'two', 0], [0.1, 0.3, 0.2, 0.4, 'three', 1]], ocr: false }, 1);
  const element = document.createElement('div');
  const other = new TextLayer({ words: [[0, 0, 1, 1, 'x', 0]], ocr: false }, 1);
  element.append(other.element, layer.element);
  document.body.replaceChildren(element);
  const pages = { element, views: new Map([[1, { page: 1, text: null }], [2, { page: 2, text: other }], [3, { page: 3, text: layer }]]) };
  const spans = layer.element.querySelectorAll('span');
  const range = new Range();
  range.setStart(spans[0].children[0], 0);
  range.setEnd(spans[1].children[0], 2);
  let selection = { rangeCount: 1, isCollapsed: false, getRangeAt: () => range, removeAllRanges: () => (selection = null), focusNode: spans[1].children[0], focusOffset: 2 };
  document.getSelection = () => selection;
  const found = selectedWords(pages);
  assert.deepEqual([found.page, found.words.map((word) => word[4]), found.range === range], [3, ['one', 'two'], true]);
  holdSelection(pages);
  const order = () => layer.element.children.map((one) => (one === layer.end ? 'end' : one.textContent.trim())).filter(Boolean);
  assert.equal(order()[order().indexOf('end') - 1], 'two');
  [selection.focusNode, selection.focusOffset] = [spans[0].children[0], 0];
  holdSelection(pages);
  assert.equal(order()[order().indexOf('end') + 1], 'one', 'backwards');
  selection.focusNode = document.createTextNode('elsewhere');
  holdSelection(pages);
  assert.equal(order()[order().indexOf('end') + 1], 'one');
  selection.isCollapsed = true;
  assert.equal(selectedWords(pages), null);
  Object.assign(selection, { isCollapsed: false, rangeCount: 0 });
  assert.equal(selectedWords(pages), null);
  clearSelection(pages);
  assert.deepEqual([selection, selectedWords(pages)], [null, null]);
  clearSelection(pages);
  holdSelection(pages);
  document.getSelection = () => null;
});

// Search --------------------------------------------------------------------------------------------------------------

const KEYS = new Keys({ previous_hit: [',', 'Before'], next_hit: ['.', 'Next'] }, { criteria: [] }, new Map(), 'keys');
const hit = (on, context = '') => ({ page: on, boxes: [], context });
const found = (hits, more = {}) => ({ query: '', hits, count: hits.length, searched: 9, pages: 9, complete: true, ...more });

/** A search of a document on its fourth page, with what it told and what the server answers in turn. */
function searching(...answers) {
  const told = [];
  answer = async () => {
    const one = answers.length > 1 ? answers.shift() : answers[0];
    return one instanceof Error ? Promise.reject(one) : { ok: true, status: 200, json: async () => structuredClone(one), headers: new Map() };
  };
  const made = new Search(KEYS, { changed: () => told.push('changed'), go: (to) => told.push(to.page), closed: () => told.push('closed'), page: () => 4 });
  document.body.replaceChildren(made.element);
  return { made, told: () => told.splice(0), press: (testid) => made.element.querySelector(testid).click() };
}

test('what is typed is looked for after a pause, from the page in view on, and walked through, round', async () => {
  const { made, told, press } = searching(found([hit(2), hit(5, 'the pier'), hit(7)]));
  type(made.field, 'early');
  await pass(300);
  assert.deepEqual([asked, made.hits], [[], []], 'no document is open');
  made.show(doc(1, { url: '/p/{page}?w={width}&v=ab' }));
  assert.deepEqual([made.open, document.activeElement === made.field], [true, true]);
  made.field.value = '';
  told();
  type(made.field, 'pier ü');
  await pass(200);
  assert.deepEqual(asked, []);
  type(made.field, ' pier ü ');
  await pass(210);
  assert.deepEqual([asked, made.state.textContent], [[], '']);
  await pass(20);
  assert.deepEqual(asked, ['/page-search/1?v=ab&q=pier%20%C3%BC']);
  assert.deepEqual([told(), made.at, made.state.textContent, made.context.textContent, made.context.title], [['changed', 5], 1, `${WORDS.hitOf(2, 3)} · ${WORDS.hitOnPage(5)}`, 'the pier', 'the pier']);
  press('search-after');
  press('search-after');
  assert.deepEqual([told(), made.at], [['changed', 7, 'changed', 2], 0]);
  press('search-before');
  assert.deepEqual([told(), made.at], [['changed', 7], 2]);
  keydown(made.field, 'Enter');
  keydown(made.field, 'Enter', { shiftKey: true });
  keydown(made.field, 'Enter', { isComposing: true });
  keydown(made.field, 'a');
  assert.deepEqual([told(), made.at], [['changed', 2, 'changed', 7], 2]);
  press('search-close');
  assert.deepEqual([told(), made.open, made.hits, made.state.textContent, made.context.textContent], [['closed', 'changed'], false, [], '', '']);
  made.close();
  made.walk(1);
  assert.deepEqual(told(), []);
});

test('a search that is not complete is asked again and keeps its place; one that fails says so', async () => {
  const { made, told } = searching(found([hit(2)], { complete: false, searched: 3 }), found([hit(2), hit(8)]), new TypeError('no'));
  made.show(doc());
  type(made.field, 'pier');
  await pass(230);
  assert.deepEqual([told(), made.at], [['changed', 'changed', 2], 0], 'none is on this page or after it');
  await pass(980);
  assert.equal(asked.length, 1);
  await pass(20);
  assert.deepEqual([asked.length, told(), made.at, made.state.textContent], [2, ['changed'], 0, `${WORDS.hitOf(1, 2)} · ${WORDS.hitOnPage(2)}`]);
  await pass(5000);
  assert.equal(asked.length, 2);
  type(made.field, 'quay');
  await pass(230);
  assert.equal(made.state.textContent, WORDS.searchFailed);
  type(made.field, ' ');
  await pass(230);
  assert.deepEqual([asked.length, made.found, made.state.textContent], [3, null, '']);
  assert.equal(asked[2], '/page-search/1?q=quay');
});

test('Enter looks at once where nothing was found; another document is searched for the same words, the same one is not', async () => {
  const { made, told } = searching(found([]));
  made.show(doc());
  type(made.field, 'pier');
  keydown(made.field, 'Enter');
  await pass(5);
  assert.deepEqual([asked.length, made.state.textContent], [1, WORDS.noHits]);
  made.in(doc());
  await pass(300);
  assert.equal(asked.length, 1);
  made.in(doc(2));
  await pass(5);
  assert.equal(asked[1], '/page-search/2?q=pier');
  told();
  made.in(null);
  await pass(300);
  assert.deepEqual([asked.length, told(), made.found], [2, ['changed'], null]);
  made.close();
  told();
  made.in(doc(3));
  await pass(300);
  assert.deepEqual([asked.length, told()], [2, []]);
});

test('an answer to what is not sought any more is not shown', async () => {
  let come;
  const { made } = searching(found([]));
  answer = () => new Promise((resolve) => (come = resolve));
  made.show(doc());
  type(made.field, 'pier');
  await pass(230);
  assert.equal(made.state.textContent, WORDS.searching);
  const first = come;
  type(made.field, 'quay');
  await pass(230);
  first({ ok: true, status: 200, json: async () => found([hit(9)]), headers: new Map() });
  await settled();
  assert.equal(made.found, null);
  come({ ok: true, status: 200, json: async () => found([hit(1), hit(3)]), headers: new Map() });
  await settled();
  assert.deepEqual([made.found.query, made.at], ['quay', 0]);
});
