/** What wheel, mouse, fingers and keys do to the pages of a document, in a view of 828 × 600 that lies at 100, 50. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass } from './browser.js';
import './whole_page.js';
import { Pages } from '../../app/widgets/viewer/pages/pages.js';

globalThis.fetch = async () => Promise.reject(new TypeError('nothing answers'));

const DOC = { id: 1, key: 'a.pdf', title: 'A', n_pages: 3, sizes: [[100, 100], [100, 100], [100, 100]], supplied: true, pages: null, url: '/p/{page}?w={width}' };
const UNITS = [{ key: 'E1', kind: 'table', document: 1, pages: [1], box: [0.1, 0.1, 0.5, 0.5], text: '', title: '' }];
const [LEFT, TOP] = [100, 50];

let pages;
let told;
beforeEach(() => {
  told = [];
  const tell = (name) => (...what) => void told.push([name, ...what]);
  pages = new Pages({
    page: tell('page'), zoom: () => undefined, unit: tell('unit'), selected: tell('selected'), marked: tell('marked'), drawing: () => undefined, pictured: () => undefined, thumbnail: () => '',
  });
  const { element } = pages;
  Object.assign(element, { clientWidth: 828, clientHeight: 600, getBoundingClientRect: () => ({ left: LEFT, top: TOP, width: 828, height: 600 }) });
  document.body.replaceChildren(element);
  pages.open(DOC, UNITS);
});

/** Sends an event, of which more is known than its type; `target` is what lies under it. */
function send(type, { target, on = pages.element, ...more } = {}) {
  const event = Object.assign(new Event(type, { cancelable: true }), more);
  if (target) Object.defineProperty(event, 'target', { value: target });
  on.dispatchEvent(event);
  return event;
}
/** A point of the window over a point of the first page, which is 800 pixels wide and begins 14 from the edges of the surface. */
const over = (x, y) => ({ clientX: LEFT + 14 + 800 * x, clientY: TOP + 14 + 800 * y });
const mouse = (type, [x, y], more = {}) => send(type, { button: 0, pointerId: 1, pointerType: 'mouse', ...over(x, y), target: pages.surface, ...more });
const at = () => [pages.element.scrollLeft, pages.element.scrollTop];
const near = (one, other, why) => assert.ok(one.every((value, place) => Math.abs(value - other[place]) < 1e-6), `${why ?? ''} ${one} is not ${other}`);

test('the plain wheel scrolls, and lets go of what was shown', () => {
  Object.assign(pages, { at: 'E1', pinned: true });
  assert.equal(send('wheel', { deltaY: 30, deltaMode: 0 }).defaultPrevented, false);
  assert.deepEqual([pages.zoom, pages.at, pages.pinned], [1, null, false]);
});

test('the wheel with Ctrl or ⌘ zooms about the pointer, by pixels or lines, and no event by too much', () => {
  for (const [event, by] of [
    [{ ctrlKey: true, deltaY: -20, deltaMode: 0 }, 0.1], [{ metaKey: true, deltaY: -20, deltaMode: 0 }, 0.1], [{ ctrlKey: true, deltaY: 40, deltaMode: 0 }, -0.2],
    [{ ctrlKey: true, deltaY: 2, deltaMode: 1 }, -0.16], [{ ctrlKey: true, deltaY: -999, deltaMode: 0 }, 0.3], [{ ctrlKey: true, deltaY: 999, deltaMode: 0 }, -0.3],
  ]) {
    pages.fitWidth();
    Object.assign(pages.element, { scrollLeft: 40, scrollTop: 300 });
    const place = [LEFT + 300, TOP + 250];
    const before = pages.pointAt(...place);
    assert.equal(send('wheel', { ...event, clientX: place[0], clientY: place[1] }).defaultPrevented, true);
    near([pages.zoom], [Math.exp(by)], JSON.stringify(event));
    const after = pages.pointAt(...place);
    near([after.page, after.x, after.y], [before.page, before.x, before.y], 'what is under the pointer');
    assert.equal(pages.fit, 'free');
  }
});

const finger = (x, y) => ({ clientX: x, clientY: y });

test('two fingers zoom by how far they part, move the page with them, and are through when one is lifted', () => {
  assert.equal(send('touchstart', { touches: [finger(200, 200)] }).defaultPrevented, false, 'one finger scrolls');
  assert.equal(send('touchmove', { touches: [finger(1, 1), finger(9, 9)] }).defaultPrevented, false);
  assert.equal(send('touchstart', { touches: [finger(300, 200), finger(400, 200)] }).defaultPrevented, true);
  assert.equal(send('touchmove', { touches: [finger(1, 1)] }).defaultPrevented, false);
  assert.equal(send('touchmove', { touches: [finger(250, 200), finger(450, 200)] }).defaultPrevented, true);
  near([pages.zoom], [2]);
  const before = at();
  send('touchmove', { touches: [finger(260, 170), finger(460, 170)] });
  near(at(), [before[0] - 10, before[1] + 30], 'with the fingers');
  send('touchmove', { touches: [finger(350, 100), finger(350, 240)] });
  near([pages.zoom], [1.4], 'apart in any direction');
  for (const end of ['touchend', 'touchcancel']) {
    send('touchstart', { touches: [finger(300, 200), finger(301, 200)] });
    send(end);
    send('touchmove', { touches: [finger(1, 200), finger(900, 200)] });
    near([pages.zoom], [1.4], end);
  }
  send('touchstart', { touches: [finger(300, 200), finger(301, 200)] });
  send('touchmove', { touches: [finger(300, 200), finger(310, 200)] });
  near([pages.zoom], [1.4], 'fingers that lie together are one width');
});

test('a page is dragged from four pixels on by the left or middle button, and a click chooses the unit under it', () => {
  const dragging = () => pages.element.classList.contains('dragging');
  for (const [button, prevented] of [[0, false], [1, true]]) {
    Object.assign(pages.element, { scrollLeft: 100, scrollTop: 200 });
    pages.pinned = true;
    assert.equal(mouse('pointerdown', [0.9, 0.1], { button }).defaultPrevented, prevented);
    const start = over(0.9, 0.1);
    const move = (dx, dy, more) => send('pointermove', { pointerId: 1, clientX: start.clientX + dx, clientY: start.clientY + dy, ...more });
    move(2, 3);
    assert.deepEqual([at(), dragging(), pages.pinned], [[100, 200], false, true]);
    move(90, 90, { pointerId: 2 });
    assert.deepEqual(at(), [100, 200], 'of another pointer');
    move(0, 4);
    assert.deepEqual([at(), dragging(), pages.pinned], [[100, 196], true, false]);
    move(30, -50);
    move(31, -2);
    assert.deepEqual(at(), [69, 202], 'from where it began, also when it comes back');
    mouse('pointerup', [0.2, 0.2]);
    assert.deepEqual([dragging(), told.filter(([name]) => name === 'unit')], [false, []]);
    move(80, 80);
    assert.deepEqual(at(), [69, 202]);
  }
  Object.assign(pages.element, { scrollLeft: 0, scrollTop: 0 });
  for (const [button, end, place, unit] of [[0, 'pointerup', [0.2, 0.2], ['E1']], [0, 'pointerup', [0.6, 0.2], []], [0, 'pointerup', [0.3, 0.55], []], [1, 'pointerup', [0.2, 0.2], []], [2, 'pointerup', [0.2, 0.2], []], [0, 'pointercancel', [0.2, 0.2], []]]) {
    told = [];
    mouse('pointerdown', place, { button });
    mouse(end, place, { button });
    assert.deepEqual(told.filter(([name]) => name === 'unit').map(([, key]) => key), unit, `${button} ${end} ${place}`);
  }
});

test('a press with a finger, the right button or on a button is not for the page; one on the scroll bar lets go', () => {
  const button = document.createElement('button');
  for (const more of [{ pointerType: 'touch' }, { button: 2 }, { target: button }]) {
    mouse('pointerdown', [0.5, 0.5], more);
    mouse('pointermove', [0.2, 0.2], more);
    assert.deepEqual([at(), pages.element.classList.contains('dragging')], [[0, 0], false], Object.keys(more)[0]);
  }
  pages.pinned = true;
  mouse('pointerdown', [0.5, 0.5], { button: 2 });
  assert.equal(pages.pinned, true);
  mouse('pointerdown', [0.5, 0.5], { button: 2, target: pages.element });
  assert.equal(pages.pinned, false);
});

/** A word on the first page, as the layer of the text has it. */
function word() {
  const [layer, span] = [document.createElement('div'), document.createElement('span')];
  layer.className = 'page-words';
  layer.append(span);
  return span;
}

test('a press on a word selects text and drags nothing; without a drag it is a click', () => {
  for (const [type, place, names] of [['pointerup', [0.2, 0.2], ['unit', 'selected']], ['pointerup', [0.21, 0.2], ['selected']], ['pointercancel', [0.2, 0.2], ['selected']]]) {
    told = [];
    pages.pinned = true;
    mouse('pointerdown', [0.2, 0.2], { target: word() });
    mouse('pointermove', [0.4, 0.4]);
    assert.deepEqual([at(), pages.element.classList.contains('selecting'), pages.pinned], [[0, 0], true, false]);
    for (let times = 0; times < 2; times += 1) mouse(type, place, { on: window });
    assert.deepEqual([told.map(([name]) => name), pages.element.classList.contains('selecting')], [names, false], `${type} ${place}`);
  }
});

test('a double click enlarges the table under it, and not where there is a word or no table', () => {
  send('dblclick', { ...over(0.2, 0.2), target: word() });
  send('dblclick', { ...over(0.8, 0.2), target: pages.surface });
  assert.equal(pages.enlarged, null);
  send('dblclick', { ...over(0.2, 0.2), target: pages.surface });
  assert.deepEqual([pages.enlarged.page, pages.enlarged.box], [1, UNITS[0].box]);
});

test('while a box is drawn the left button draws it, on the page where it began, whatever lies under it', () => {
  const marked = () => told.filter(([name]) => name === 'marked').map(([, ...what]) => what);
  const draw = (end, more = {}) => {
    pages.marker.set(true);
    const down = mouse('pointerdown', [0.25, 0.25], more);
    mouse('pointermove', [0.5, 0.75]);
    mouse('pointermove', [0.75, 0.5]);
    mouse(end, [0.75, 0.5]);
    return down.defaultPrevented;
  };
  assert.equal(draw('pointerup', { target: word() }), true);
  assert.deepEqual([marked(), pages.marker.on], [[[1, [0.25, 0.25, 0.75, 0.5], false]], false]);
  assert.equal(draw('pointerup', { pointerType: 'touch' }), true);
  assert.equal(marked().length, 2);
  draw('pointercancel');
  assert.deepEqual([marked().length, pages.marker.on, pages.marker.start], [2, true, null], 'broken off');
  assert.equal(draw('pointerup', { clientX: LEFT + 2 }), false, 'beside the pages nothing begins');
  assert.equal(draw('pointerup', { button: 2 }), false);
  assert.equal(marked().length, 2);
});

// What keys and buttons ask of the pages --------------------------------------------------------------------------------

test('a page that is gone to is at the top, the nearest one where it is not there, and is current until one scrolls', async () => {
  for (const [asked, page] of [[2, 2], [3, 3], [9, 3], [0, 1]]) {
    pages.goTo(asked);
    assert.deepEqual([pages.page, pages.element.scrollTop, pages.pinned], [page, 814 * (page - 1), true]);
  }
  pages.turn(1);
  assert.equal(pages.page, 2);
  pages.turn(-1);
  pages.turn(-1);
  assert.equal(pages.page, 1);
  pages.element.scrollTop = 1700;
  pages.soon();
  await pass(20);
  assert.equal(pages.page, 1, 'pinned');
  told = [];
  pages.unpin();
  await pass(20);
  assert.deepEqual([pages.page, told.filter(([name]) => name === 'page')], [3, [['page', 3, true]]]);
});

test('what is brought into view stays where it is when it is seen, else its page comes from the top if it fits there', () => {
  const bring = (top, page, box, left = 0) => {
    Object.assign(pages.element, { scrollTop: top, scrollLeft: left });
    pages.bring(page, box);
    return Math.round(pages.element.scrollTop);
  };
  assert.equal(bring(40, 1, [0.1, 0.1, 0.5, 0.5]), 40);
  assert.equal(bring(0, 2, [0.1, 0.1, 0.5, 0.5]), 814);
  assert.equal(bring(0, 2, [0.1, 0.8, 0.5, 0.9]), Math.round(828 + 640 - 160), 'too low on its page: with some room above');
  assert.equal(bring(0, 2, [0, 0.05, 1, 0.95]), Math.round(828 + 40 - 30), 'higher than the view');
  assert.equal(bring(300, 1, [0.1, 0.1, 0.5, 0.5]), 0, 'above the view');
  assert.equal(bring(814, 2, null), 0 + 814);
  assert.equal(bring(0, 9, null), 0, 'a page that is not there');
  assert.equal(pages.page, 2);
});

test('what is enlarged fills the view, and the view goes back to where it was, also from a second one', () => {
  pages.goTo(2);
  const before = [pages.zoom, pages.fit, ...at()];
  pages.enlarge(1, [0.1, 0.1, 0.3, 0.3]);
  assert.ok(pages.zoom > 2 && pages.page === 1 && pages.fit === 'free');
  const middle = pages.middle();
  near([middle.page, middle.x, middle.y], [1, 0.2, 0.2]);
  pages.enlarge(3, [0.5, 0.5, 0.7, 0.6]);
  assert.equal(pages.closeEnlarged(), true);
  assert.deepEqual([pages.zoom, pages.fit, ...at()], before);
  assert.equal(pages.closeEnlarged(), false);
  for (const leave of ['fitWidth', 'fitPage', 'rotate', 'twoPages']) {
    pages.enlarge(1, [0.1, 0.1, 0.3, 0.3]);
    pages[leave]();
    assert.equal(pages.closeEnlarged(), false, leave);
  }
  pages.enlarge(1, [0.1, 0.1, 0.3, 0.3]);
  pages.zoomBy(1.1);
  assert.equal(pages.enlarged.whole, false);
  pages.open(DOC, UNITS);
  assert.equal(pages.enlarged, null, 'the same document again');
});

test('a whole page fits the view, before and after a turn, with its page still in view', () => {
  pages.goTo(2);
  pages.fitPage();
  const whole = pages.layout.rect(2);
  assert.ok(whole.bottom - whole.top <= 600 && whole.bottom - whole.top > 500);
  pages.rotate();
  assert.deepEqual([pages.layout.turn, pages.page], [90, 2]);
  for (let times = 0; times < 3; times += 1) pages.rotate();
  assert.equal(pages.layout.turn, 0);
  pages.twoPages();
  assert.deepEqual([pages.layout.columns, pages.page], [2, 2]);
  pages.twoPages();
  assert.equal(pages.layout.columns, 1);
});

test('a point beside the pages is on none; of a page that is asked for it is the nearest one', () => {
  assert.equal(pages.pointAt(LEFT + 2, TOP + 100), null);
  assert.equal(pages.pointAt(LEFT + 820, TOP + 100), null);
  assert.equal(pages.pointAt(LEFT + 100, TOP + 2), null);
  assert.deepEqual(pages.pointAt(LEFT + 2, TOP + 14 + 400, 1), { page: 1, x: 0, y: 0.5 });
  assert.deepEqual(pages.pointAt(LEFT + 14 + 200, TOP + 9000, 1), { page: 1, x: 0.25, y: 1 });
  pages.element.scrollTop = 814;
  assert.deepEqual(pages.pointAt(LEFT + 14 + 200, TOP + 14 + 400), { page: 2, x: 0.25, y: 0.5 });
});

test('a point is revealed by scrolling as little as leaves forty pixels beside it', () => {
  pages.zoomBy(2);
  for (const [from, point, to] of [
    [[0, 0], { page: 1, x: 0.1, y: 0.1 }, [0, 0]], [[0, 0], { page: 1, x: 0.9, y: 0.9 }, [1454 + 40 - 828, 1454 + 40 - 600]],
    [[800, 900], { page: 1, x: 0.1, y: 0.1 }, [174 - 40, 174 - 40]],
  ]) {
    Object.assign(pages.element, { scrollLeft: from[0], scrollTop: from[1] });
    pages.reveal(point);
    near(at(), to);
  }
});

test('a document keeps how it was looked at; the same one again keeps its place', () => {
  const other = { ...DOC, id: 2, url: '/q/{page}?w={width}' };
  pages.zoomBy(1.5);
  pages.goTo(3);
  const place = at();
  pages.open(DOC, UNITS);
  assert.deepEqual([at(), pages.page], [place, 3]);
  pages.open(other, UNITS);
  assert.deepEqual([pages.element.scrollTop, pages.page, pages.drawn.units], [0, 1, []]);
  pages.fitWidth();
  pages.open(DOC, UNITS);
  assert.deepEqual([Math.round(pages.zoom * 10), pages.fit, pages.drawn.units.length], [15, 'free', 1]);
});
