/** What is read before judging: which parts an item has, what is said in them, and how the height is shared and scrolled. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import './whole_page.js';

await loadKinds();
const { committedLabels, figure, foldLong, markClaim, markImage, reading } = await import('../../app/widgets/reading/reading.js');
const { Side } = await import('../../app/widgets/reading/side.js');
const { Keys } = await import('../../app/widgets/shared/keys.js');
const { TEXT } = await import('../../app/widgets/shared/text.js');
const { Tip } = await import('../../app/widgets/shared/tip.js');
const { Texts } = await import('../../app/widgets/texts/texts.js');

globalThis.CustomEvent ??= class extends Event {
  constructor(type, { detail = null, ...more } = {}) {
    super(type, more);
    this.detail = detail;
  }
};

const texts = new Texts(new Map(), 'm');
const keys = new Keys({ references: ['v', 'Unfold'] }, { criteria: [] }, new Map(), 'keys');
const DOC = { id: 4, key: 'a.pdf', title: 'A', n_pages: 2, supplied: true, pages: null, sizes: [[100, 200], [100, 100]], url: '/p/{page}?w={width}' };

/** What a list of parts has: its heading and the words of the rest, with what is before them. */
const parts = (item, numbered) => reading(item, texts, keys, numbered);
/** The words of what shows. */
const words = (node) => (node instanceof Text ? node.textContent : node.hidden ? '' : node.children.map(words).join(''));
const said = (item) => parts(item).map(words);
const titles = (item) => parts(item).map((part) => part.querySelector('h2')?.textContent ?? part.getAttribute('data-testid'));

beforeEach(() => document.body.replaceChildren());

test('an item has the parts that it was sent with, in their order', () => {
  for (const [item, expected] of [
    [{}, []],
    [{ question: 'Why?' }, [[TEXT.question, 'Why?']]],
    [{ question: '' }, [[TEXT.question, '']]],
    [{ hops: [] }, []],
    [{ hops: [{ question: 'One?', answer: 'Yes' }, { question: 'Two?' }] }, [[TEXT.hops, 'One?YesTwo?']]],
    [{ answer: 'So.' }, [[TEXT.answer, 'So.']]],
    [{ answer: 'So.', system: 'X' }, [[TEXT.answerBy('X'), 'So.']]],
    [{ references: [] }, []],
    [{ references: ['R.'] }, [[TEXT.references(1), 'R.']]],
    [{ references: ['R.', 'S.'] }, [[TEXT.references(2), 'R.S.']]],
    [{ references: [['p', 'q']] }, [[TEXT.references(1), `${TEXT.allOf}pq`]]],
    [{ missing: { hops: [] } }, [[TEXT.hops, TEXT.lacking(TEXT.lacks.hops, [])]]],
    [{ missing: { references: ['Right'] } }, [[TEXT.references(1), TEXT.lacking(TEXT.lacks.references, ['Right'])]]],
    [{ missing: { claims: [], images: ['Fit'] } }, [[TEXT.materials.claims, TEXT.lacking(TEXT.lacks.claims, [])], [TEXT.materials.images, TEXT.lacking(TEXT.lacks.images, ['Fit'])]]],
    [{ question: 'Why?', answer: 'So.', references: ['R.'] }, [[TEXT.question, 'Why?'], [TEXT.answer, 'So.'], [TEXT.references(1), 'R.']]],
  ]) assert.deepEqual(said(item), expected.map((one) => one.join('')), JSON.stringify(item));
});

test('a lack that keeps a criterion from being judged is set off; an answer says that it lacks something in its own place', () => {
  const lacks = (missing) => parts({ missing })[0].querySelector('lacks').className;
  assert.deepEqual([lacks({ hops: ['Right'] }), lacks({ hops: [] })], ['lacks warn', 'lacks']);
  const [answer] = parts({ answer: '', missing: { answer: ['Right'] } });
  assert.equal(answer.querySelector('.a').querySelector('lacks').textContent, TEXT.lacking(TEXT.lacks.answer, ['Right']));
});

test('references are a list, one alone is not, and a list stands on the side of its script', () => {
  const list = (references) => parts({ references })[0].querySelector('references');
  assert.deepEqual([list(['R.']).className, list(['R.', 'S.']).className], ['refs one', 'refs']);
  assert.deepEqual([list(['1. R.']).dir, list(['12: نعم.', 'R.']).dir, list(['R.', 'نعم.']).dir, list([['x'], ['y']]).dir, list([['x'], 'نعم']).dir], ['ltr', 'rtl', 'ltr', 'ltr', 'rtl']);
  const hops = (question) => parts({ hops: [{ question }] })[0].querySelector('.hops').dir;
  assert.deepEqual([hops('A?'), hops('نعم؟')], ['ltr', 'rtl']);
});

test('texts have the language of the item, and an answer has numbers where paragraphs are named', () => {
  const item = { language: 'ar', question: 'Q', answer: 'A' };
  assert.deepEqual(parts(item).map((part) => part.querySelector('[lang]').getAttribute('lang')), ['ar', 'ar']);
  assert.equal(parts({ question: 'Q' })[0].querySelector('.q').getAttribute('lang'), null);
  assert.deepEqual([parts(item, true), parts(item)].map(([, answer]) => answer.querySelector('.a').classList.contains('numbered')), [true, false]);
});

test('the two answers of a pair stand after the references, each with its letter, its words and its system', () => {
  const pair = { question: 'Q', references: ['R.'], answers: [{ answer: ' One  two\nthree ', system: 'X' }, { answer: '  ' }] };
  assert.deepEqual(titles(pair), [TEXT.question, TEXT.references(1), 'pair-legend', `A: X${TEXT.sideWords(3)}`, `B${TEXT.sideWords(0)}`]);
  assert.deepEqual(parts(pair).map((part) => part.classList.contains('of-pair')), [false, false, false, true, true]);
  assert.deepEqual(titles({ question: 'Q', answers: [] }), [TEXT.question]);
});

test('long references of a pair take a line until they are unfolded, and stay so in what follows; short ones never', () => {
  const pair = (reference) => parts({ references: [reference], answers: [{ answer: 'a' }, { answer: 'b' }] })[0];
  const length = 150 - TEXT.references(1).length;
  assert.equal(pair('x'.repeat(length - 1)).querySelector('fold-references'), null);
  const state = (shown) => [shown.classList.contains('clamped'), shown.querySelector('fold-references').getAttribute('aria-expanded'), shown.querySelector('fold-references').firstElementChild.textContent];
  const first = pair('x'.repeat(length));
  assert.deepEqual(state(first), [true, 'false', TEXT.unfold]);
  first.querySelector('fold-references').click();
  assert.deepEqual(state(first), [false, 'true', TEXT.fold]);
  const next = pair('y'.repeat(length));
  assert.deepEqual(state(next), [false, 'true', TEXT.fold]);
  next.querySelector('fold-references').click();
  assert.deepEqual(state(next), [true, 'false', TEXT.unfold]);
});

test('a long text can be folded by its heading, and a short one cannot', () => {
  for (const [name, item] of [['.q', (text) => ({ question: text })], ['.a', (text) => ({ answer: text })]]) {
    const root = document.createElement('div');
    root.append(...parts(item('x'.repeat(1599))), ...parts(item('x'.repeat(1600))));
    foldLong(root);
    const [short, long] = root.querySelectorAll(name);
    assert.deepEqual([short, long].map((text) => [text.classList.contains('long'), text.closest('.part').querySelectorAll('fold-text').length]), [[false, 0], [true, 1]]);
    const fold = root.querySelector('fold-text');
    const state = () => [long.classList.contains('folded'), fold.getAttribute('aria-expanded'), fold.firstElementChild.textContent];
    assert.deepEqual(state(), [false, 'true', TEXT.fold]);
    fold.click();
    assert.deepEqual(state(), [true, 'false', TEXT.unfold]);
    fold.click();
    assert.deepEqual(state(), [false, 'true', TEXT.fold]);
  }
});

test('labels of a step before are said with what they are about, and only that step’s', () => {
  const criteria = [{ name: 'a', title: 'Right', kind: 'choice', labels: [{ value: 'yes', title: 'Yes' }] }, { name: 'b', title: 'Clear', kind: 'choice', labels: [] }];
  const protocol = { criteria, steps: [{ title: 'First', criteria: ['a', 'gone'] }, { title: 'Second', criteria: ['b'] }] };
  const committed = [
    { criterion: 'a', target: 'item', value: 'yes' }, { criterion: 'a', target: 'pair', value: 'yes' }, { criterion: 'a', target: 'claim:c1', value: 'no' },
    { criterion: 'a', target: 'item', value: null, cannot_judge: true, reason: 'Blurred' }, { criterion: 'a', target: 'item', value: null, cannot_judge: true },
    { criterion: 'gone', target: 'item', value: 7 }, { criterion: 'b', target: 'item', value: 'late' },
  ];
  const rows = (step) => {
    const [terms, values] = ['dt', 'dd'].map((tag) => committedLabels({ committed }, protocol, step).querySelectorAll(tag).map((one) => one.textContent));
    return terms.map((term, at) => `${term}: ${values[at]}`);
  };
  assert.deepEqual(rows(0), ['Right: Yes', 'Right: Yes', 'Right (c1): no', `Right: ${TEXT.cannotJudgeNote('Blurred')}`, `Right: ${TEXT.cannotJudgeNote('')}`, 'gone: 7']);
  assert.deepEqual(rows(1), ['Clear: late']);
  assert.match(committedLabels({ committed }, protocol, 1).textContent, /Second/);
});

test('a claim is marked where the answer says it, word for word or nearly, one at a time', () => {
  const root = document.createElement('div');
  root.append(...parts({ answer: 'The pier is old. The mill by the river turns slowly. It rains.' }));
  const marked = () => root.querySelectorAll('mark').map((mark) => mark.textContent);
  for (const [claim, found] of [['The pier is old.', ['The pier is old']], [' It rains! ', ['It rains']], ['The mill turns slowly by a river', ['The mill by the river turns slowly.']], ['Nobody knows anything', []], [null, []]]) {
    const mark = markClaim(root, claim);
    assert.deepEqual([marked(), mark?.textContent ?? null], [found, found[0] ?? null], String(claim));
  }
  assert.equal(markClaim(document.createElement('div'), 'The pier'), null);
});

// Images --------------------------------------------------------------------------------------------------------------

const image = (more = {}) => ({ key: 'm1', document: 4, page: 2, box: [0, 0, 0.5, 0.25], ...more });

test('an image is its part of a page, or the page, with room for it; what was not supplied is said', () => {
  const drawn = (picture, doc = DOC) => figure(picture, 3, { documents: doc ? [doc] : undefined });
  const source = (picture) => drawn(picture).querySelector('img').src ?? drawn(picture).querySelector('img').getAttribute('src');
  assert.match(source(image({ box: null })), /^\/p\/2\?w=800$/);
  assert.match(source(image({ box: null, page: null, document: 'a.pdf' })), /^\/p\/1\?/);
  assert.notEqual(source(image()), source(image({ box: null })));
  const ratio = (picture, doc) => drawn(picture, doc).querySelector('img').style.aspectRatio;
  assert.deepEqual([ratio(image()), ratio(image({ page: 1, box: [0.5, 0.25, 1, 0.5] })), ratio(image({ page: 1, box: null })), ratio(image(), { ...DOC, sizes: null })], ['2', '1', '0.5', '']);
  assert.equal(drawn(image()).querySelector('.crop').style['--ratio'], '2');
  assert.equal(drawn(image({ caption: 'A pier' })).textContent, `${TEXT.image(3)} A pier`);
  for (const [picture, doc] of [[image(), null], [image(), { ...DOC, supplied: false }], [image({ document: 9 }), DOC]]) {
    assert.equal(drawn(picture, doc).textContent, `${TEXT.noPicture}${TEXT.image(3)}`);
  }
  const failed = drawn(image());
  failed.querySelector('img').dispatchEvent(new Event('error'));
  assert.deepEqual([failed.textContent, failed.querySelector('img')], [`${TEXT.noPicture}${TEXT.image(3)}`, null]);
});

test('beside pages an image can be pressed and says where it is from; elsewhere it is no button', () => {
  const found = [];
  const pressed = (picture, shown) => {
    const crop = figure(picture, 1, { documents: [DOC], shown }).querySelector('.crop');
    crop.addEventListener('enlarge', ({ detail }) => found.push(detail));
    crop.click();
    return crop.tag;
  };
  assert.deepEqual([pressed(image(), ['documents']), pressed(image({ box: null, page: null }), undefined), pressed(image(), ['answer'])], ['button', 'button', 'div']);
  assert.deepEqual(found, [{ document: 4, page: 2, box: [0, 0, 0.5, 0.25] }, { document: 4, page: 1, box: [0, 0, 1, 1] }]);
});

test('images of the question and the references stand with them, those of the answer where it has them or after it', () => {
  const images = [image({ key: 'q', of: 'question' }), image({ key: 'a1', address: 'x.png' }), image({ key: 'a2' }), image({ key: 'r', of: 'reference' })];
  const item = { question: 'Q', answer: 'One\n\n![pier](x.png)\n\nTwo\n\n![again](x.png)', references: ['R'], documents: [DOC], images };
  const places = parts(item).map((part) => part.querySelectorAll('figure').map((one) => one.getAttribute('data-image')));
  assert.deepEqual(places, [['q'], ['a1', 'a1', 'a2'], ['r']]);
  const [, answer] = parts(item);
  assert.match(answer.querySelector('.a').textContent, new RegExp(`^One\\s*${TEXT.image(2)}\\s*Two\\s*${TEXT.image(2)}\\s*${TEXT.image(3)}$`));
});

test('the image that is judged is framed at all its places, and its first is brought into view once', () => {
  const root = document.createElement('div');
  root.append(...['m1', 'm2', 'm1'].map((key) => figure(image({ key }), 1, {})));
  const brought = [];
  for (const [at, one] of root.elements.entries()) one.scrollIntoView = () => void brought.push(at);
  const framed = () => root.elements.map((one) => one.classList.contains('judged'));
  markImage(root, 'm1');
  markImage(root, 'm1');
  assert.deepEqual([framed(), brought], [[true, false, true], [0]]);
  markImage(root, 'm2');
  assert.deepEqual([framed(), brought], [[false, true, false], [0, 1]]);
  markImage(root, null);
  assert.deepEqual([framed(), brought], [[false, false, false], [0, 1]]);
});

// Room for it ---------------------------------------------------------------------------------------------------------

class Plain extends Side {
  rows = [];

  at = null;

  get row() {
    return this.at;
  }

  get ways() {
    return { all: this.rows, at: this.at };
  }

  goTo(way) {
    this.at = way;
  }

  clear() {
    this.cleared = true;
  }

  focused(target) {
    this.got = target;
  }
}
const side = () => {
  const made = new Plain({ name: 'Side', testid: 'side', keys, act: () => undefined, texts });
  document.body.append(made.element);
  return made;
};

test('the height is shared: all is seen where it can be, else the rows keep more than half, and a person’s choice goes first', () => {
  for (const [why, { all = 1000, text, rows, read = 1, chosen = null, fillsUp = false }, expected] of [
    ['all fits', { text: 300, rows: 400 }, 318], ['all fits, just', { text: 400, rows: 560 }, 418], ['the reading takes what is left', { text: 300, rows: 400, fillsUp: true }, 578],
    ['too much to read', { text: 2000, rows: 400 }, 578], ['too much of both', { text: 2000, rows: 2000 }, 450], ['many rows', { text: 300, rows: 2000 }, 318],
    ['nothing to read', { text: 0, rows: 400, read: 0 }, 0], ['chosen', { text: 2000, rows: 400, chosen: 30 }, 300], ['chosen too little', { text: 300, rows: 400, chosen: 1 }, 96],
    ['chosen too much', { text: 300, rows: 400, chosen: 99 }, 904], ['no height', { all: 50, text: 300, rows: 10 }, 0],
  ]) {
    const made = side();
    made.text.replaceChildren(...Array.from({ length: read }, () => document.createElement('p')));
    Object.assign(made, { chosen, fillsUp });
    Object.assign(made.body, { clientHeight: all });
    Object.assign(made.text, { offsetHeight: text });
    Object.assign(made.parts, { offsetHeight: rows });
    Object.assign(made.footer, { offsetHeight: 40 });
    made.share();
    assert.deepEqual([made.body.style['--reading'], made.element.style['--footer']], [`${expected}px`, '40px'], why);
  }
});

test('arrows go through what is decided and stop at the ends; the first one to a label only shows where one is', () => {
  const made = side();
  const went = [];
  made.rows = [1, 2, 3].map((number) => ({ number, element: document.createElement('p'), focus: () => undefined, input: { move: (by) => went.push(by) } }));
  const walked = ['next_criterion', 'next_criterion', 'next_criterion', 'next_criterion', 'previous_criterion', 'previous_criterion', 'previous_criterion'].map((action) => (made.act(action), made.at.number));
  assert.deepEqual(walked, [1, 2, 3, 3, 2, 1, 1]);
  made.focus();
  assert.deepEqual([made.quiet, made.moving], [true, false]);
  for (const action of ['next_label', 'next_label', 'previous_label']) made.act(action);
  assert.deepEqual([went, made.quiet], [[0, 1, -1], false]);
  assert.deepEqual([made.act('clear'), made.cleared, made.act('nothing of this')], [true, true, false]);
  const [on, off] = [[true, true], [false, false]];
  made.setBusy(true);
  assert.deepEqual([made.element.hasAttribute('inert'), made.element.classList.contains('busy')], on);
  made.setBusy(false);
  assert.deepEqual([made.element.hasAttribute('inert'), made.element.classList.contains('busy')], off);
});

test('rows are scrolled so far that the current one is seen', () => {
  for (const [own, covered, by] of [[[150, 200], 0, 0], [[80, 120], 0, -28], [[105, 120], 30, -33], [[480, 560], 0, 100], [[450, 900], 0, 350]]) {
    const made = side();
    const element = document.createElement('p');
    made.at = { element, focus: () => undefined, input: null };
    Object.assign(made.place, { scrollHeight: 2000, clientHeight: 400, scrollTop: 500, getBoundingClientRect: () => ({ top: 100, bottom: 500 }) });
    element.getBoundingClientRect = () => ({ top: own[0], bottom: own[1] });
    Object.defineProperty(made, 'covered', { value: covered });
    made.reveal();
    assert.equal(made.place.scrollTop - 500, by, String(own));
  }
});

test('what is longer than its place says so and is scrolled by screens, to its end and back', async () => {
  const made = side();
  const { area } = made;
  const { scroller } = area;
  area.text.append(document.createElement('p'));
  const size = (text) => {
    Object.assign(area.element, { clientHeight: 400 });
    Object.assign(area.text, { offsetHeight: text });
    Object.assign(scroller, { clientHeight: 400, scrollHeight: text, scrollTop: 0 });
    area.element.classList.toggle('overflows', text > 400);
  };
  size(300);
  assert.deepEqual([made.act('read_on'), scroller.scrollTop], [true, 0], 'nothing has to be scrolled');
  size(1000);
  const go = (action, top) => {
    if (top !== undefined) scroller.scrollTop = top;
    made.act(action);
    return scroller.scrollTop;
  };
  assert.deepEqual([go('read_on'), go('read_on'), go('read_back')], [356, 712, 356]);
  assert.deepEqual([go('read_on', 600), go('read_back', 0), go('read_back', 1)], [600, 0, 1], 'at an end there is no more');
  assert.deepEqual([go('read_on', 598), go('read_back', 2)], [598 + 356, 2 - 356]);
  assert.deepEqual([go('read_end', 10), go('read_start', 10)], [1000, 0]);
  scroller.scrollTop = 0;
  made.looked();
  assert.equal(area.element.classList.contains('keyed'), true);
  scroller.scrollTop = 0;
  scroller.dispatchEvent(new Event('scroll'));
  assert.deepEqual(['at-start', 'at-end'].map((name) => area.element.classList.contains(name)), [true, false]);
  scroller.scrollTop = 599;
  scroller.dispatchEvent(new Event('scroll'));
  assert.deepEqual(['at-start', 'at-end'].map((name) => area.element.classList.contains(name)), [false, true]);
  await pass(50);
});

test('a tip lies above its label where there is room, else below, and within what it lies over', async () => {
  const [panel, scope, label] = ['div', 'div', 'button'].map((tag) => document.createElement(tag));
  document.body.append(panel, scope);
  label.setAttribute('data-tip', 'Says yes');
  scope.append(label);
  panel.getBoundingClientRect = () => ({ left: 100, top: 50, width: 400 });
  const tip = new Tip(panel, scope);
  Object.assign(tip.element, { offsetHeight: 20, offsetWidth: 120 });
  for (const [[left, top, bottom], place] of [
    [[200, 150, 170], ['100px', '74px']], [[102, 150, 170], ['8px', '74px']], [[480, 150, 170], ['272px', '74px']], [[200, 80, 100], ['100px', '56px']], [[200, 81, 101], ['100px', '5px']],
  ]) {
    label.getBoundingClientRect = () => ({ left, top, bottom });
    tip.show(label);
    await pass(350);
    assert.deepEqual([tip.element.style.left, tip.element.style.top, tip.element.hidden], [...place, false], `${left} ${top}`);
  }
  for (const leave of ['pointerout', 'scroll', 'pointerdown']) {
    tip.show(label);
    scope.dispatchEvent(new Event(leave));
    await pass(400);
    assert.equal(tip.element.hidden, true, leave);
  }
  tip.show(label);
  label.remove();
  await pass(400);
  tip.show(scope);
  await pass(400);
  assert.equal(tip.element.hidden, true, 'what has no tip, or is gone');
});
