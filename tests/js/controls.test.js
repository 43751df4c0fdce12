/** The controls of numbers, orders, places, texts and stretches: what each key and button gives, and what is shown of it. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { keydown, type } from './page.js';
import { loadKinds } from './browser.js';

const { kindOf } = await import('../../app/widgets/criteria/kinds.js');

before(loadKinds);

/** A control with what it gave; `more` of what it is made with. */
function control(criterion, item = {}, more = {}) {
  const given = [];
  const made = kindOf(criterion).create({ criterion, name: 'Right', item, give: (value, done) => given.push([value, done]), ...more });
  return { made, given, root: made.element, taken: () => given.splice(0) };
}
const labels = (root) => root.querySelectorAll('[data-testid=label]');
const keysOn = (root) => labels(root).map((label) => label.getAttribute('aria-keyshortcuts'));
const on = (root) => labels(root).flatMap((label, at) => (label.getAttribute('aria-checked') === 'true' ? [at] : []));

// Numbers -------------------------------------------------------------------------------------------------------------

for (const [why, criterion, values, keys] of [
  ['eleven values are buttons, each with its digit, ten with t', { kind: 'number' }, ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', '10'], ['0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 't']],
  ['values that are no digits have keys by their place', { kind: 'number', minimum: 0, maximum: 1, step: 0.25 }, ['0', '0.25', '0.5', '0.75', '1'], ['1', '2', '3', '4', '5']],
  ['values below 0 have keys by their place', { kind: 'number', minimum: -1, maximum: 1 }, ['-1', '0', '1'], ['1', '2', '3']],
  ['a step that does not meet the end stops before it', { kind: 'number', minimum: 0, maximum: 1, step: 0.3 }, ['0', '0.3', '0.6', '0.9'], ['1', '2', '3', '4']],
]) {
  test(why, () => {
    const { root } = control(criterion);
    assert.deepEqual([labels(root).map((label) => label.querySelector('span').textContent), keysOn(root)], [values, keys]);
  });
}

test('a number is given by its button and goes on; the one that is given is on', () => {
  const { made, root, taken } = control({ kind: 'number', minimum: 0, maximum: 1, step: 0.5 });
  assert.equal(made.key('2'), true);
  labels(root)[0].click();
  assert.deepEqual(taken(), [[0.5, true], [0, true]]);
  made.show({ value: 0 });
  assert.deepEqual(on(root), [0]);
  made.show(null);
  assert.deepEqual(on(root), []);
});

test('twelve values are a field: what is typed is given, and Enter goes on with what will do', () => {
  const { made, root, taken } = control({ kind: 'number', maximum: 11 });
  assert.deepEqual([root.tag, root.getAttribute('placeholder'), root.getAttribute('inputmode')], ['input', '0–11', 'numeric']);
  for (const typed of ['7', ' 2,5 ', '', '   ', 'many']) type(root, typed);
  assert.deepEqual(taken(), [[7, false], [2.5, false], [null, false], [null, false], ['many', false]]);
  for (const typed of ['many', '12', '2.5', '', '11']) {
    root.value = typed;
    keydown(root, 'Enter');
  }
  keydown(root, 'x');
  assert.deepEqual(taken(), [[11, true]], 'only a number in the range and on a step');
  document.activeElement = null;
  assert.deepEqual([made.key('4'), root.value, document.activeElement, taken()], [true, '4', root, [[4, false]]]);
  assert.deepEqual([made.key('x'), made.key('10'), taken()], [false, false, []]);
  made.show({ value: 9 });
  assert.equal(root.value, '9');
  root.value = '9.0';
  made.show({ value: 9 });
  assert.equal(root.value, '9.0', 'what is being typed stays');
  made.show(null);
  assert.equal(root.value, '');
  assert.equal(control({ kind: 'number', maximum: 11, step: 0.5 }).root.getAttribute('inputmode'), 'decimal');
});

// Orders --------------------------------------------------------------------------------------------------------------

const IMAGES = { images: [{ key: 'I1', caption: 'Bridge' }, { key: 'I2' }, { key: 'I3' }] };
const entries = (root) => root.querySelectorAll('order-entry').map((entry) => [entry.getAttribute('data-key'), entry.querySelector('b').textContent]);

test('images are put in order by their numbers; a full order goes on, and the next number begins anew', () => {
  const { made, root, taken } = control({ kind: 'order' }, IMAGES);
  let value = null;
  const press = (key) => {
    const known = made.key(key);
    for (const [given] of [...taken()]) value = given, made.show({ value });
    return known;
  };
  assert.deepEqual(entries(root), [['I1', '–'], ['I2', '–'], ['I3', '–']]);
  assert.equal(press('3'), true);
  assert.deepEqual(entries(root), [['I3', '1'], ['I1', '–'], ['I2', '–']]);
  assert.deepEqual([press('3'), value], [true, ['I3']], 'a place is given once');
  press('1');
  made.key('2');
  assert.deepEqual(taken(), [[['I3', 'I1', 'I2'], true]]);
  made.show({ value: ['I3', 'I1', 'I2'] });
  made.key('2');
  assert.deepEqual(taken(), [[['I2'], false]]);
  for (const key of ['4', '9', 'x', '11']) assert.equal(made.key(key), false, key);
  assert.equal(made.key('0'), true);
  assert.deepEqual(taken(), [[['I1', 'I2', 'I3'], true]]);
});

test('an image is moved one place earlier or later, and not beyond the ends', () => {
  const { made, root, taken } = control({ kind: 'order' }, IMAGES);
  made.show({ value: ['I3', 'I1', 'I2'] });
  const buttons = (at) => root.querySelectorAll('order-entry')[at].querySelectorAll('.mini');
  assert.deepEqual([0, 1, 2].map((at) => buttons(at).map((one) => one.hasAttribute('disabled'))), [[true, false], [false, false], [false, true]]);
  buttons(1)[0].click();
  buttons(1)[1].click();
  assert.deepEqual(taken(), [[['I1', 'I3', 'I2'], true], [['I3', 'I2', 'I1'], true]]);
  assert.match(root.querySelectorAll('order-entry')[1].textContent, /Bridge/);
});

test('of three images the last is moved to the middle, and the first', () => {
  const { made, root, taken } = control({ kind: 'order' }, IMAGES);
  made.show({ value: ['I1', 'I2', 'I3'] });
  const buttons = (at) => root.querySelectorAll('order-entry')[at].querySelectorAll('.mini');
  buttons(2)[0].click();
  buttons(0)[1].click();
  assert.deepEqual(taken(), [[['I1', 'I3', 'I2'], true], [['I2', 'I1', 'I3'], true]]);
});

test('an image that is dragged takes the place it is dropped on; what is no image of these moves nothing', () => {
  const { made, root, taken } = control({ kind: 'order' }, IMAGES);
  made.show({ value: ['I1', 'I2', 'I3'] });
  const drop = (key, at) => root.querySelectorAll('order-entry')[at].dispatchEvent(Object.assign(new Event('drop', { cancelable: true }), { dataTransfer: { getData: () => key } }));
  drop('I3', 0);
  drop('I9', 0);
  assert.deepEqual(taken(), [[['I3', 'I1', 'I2'], true]]);
});

test('only the images of the side that is asked about are put in order; those of the question never are', () => {
  const images = [{ key: 'I1', of: 'question' }, { key: 'I2', of: 'a' }, { key: 'I3', of: 'b' }, { key: 'I4' }];
  const keys = (criterion) => entries(control({ kind: 'order', ...criterion }, { images }).root).map(([key]) => key);
  assert.deepEqual([keys({}), keys({ of: 'a' }), keys({ of: 'answer' })], [['I2', 'I3', 'I4'], ['I2'], ['I4']]);
  const { made } = control({ kind: 'order', of: 'a' }, { images });
  assert.deepEqual([made.key('1'), made.key('2')], [false, true], 'numbers are those on the page');
});

test('one of the orders that were given is chosen as it was given', () => {
  const criterion = kindOf({ kind: 'order' }).among({ kind: 'order' }, [{ value: ['b', 'a'] }, { value: ['a', 'b'] }]);
  const { made, root, taken } = control(criterion);
  made.key('2');
  assert.deepEqual(taken(), [[['a', 'b'], true]]);
  made.show({ value: ['b', 'a'] });
  assert.deepEqual(on(root), [0]);
  made.show(null);
  assert.deepEqual(on(root), []);
});

// Places --------------------------------------------------------------------------------------------------------------

test('an image belongs after a paragraph or nowhere; nine paragraphs have a key', () => {
  const answer = Array.from({ length: 10 }, (_, at) => `Paragraph ${at + 1}.`).join('\n\n');
  const { made, root, taken } = control({ kind: 'place' }, { answer });
  assert.deepEqual(keysOn(root), ['1', '2', '3', '4', '5', '6', '7', '8', '9', null, '0']);
  made.key('9');
  made.key('0');
  assert.deepEqual(taken(), [['block:9', true], ['nowhere', true]]);
  made.show({ value: 'block:2' });
  assert.deepEqual(on(root), [1]);
  made.show(null);
  assert.deepEqual(on(root), []);
  const { words } = kindOf({ kind: 'place' });
  assert.deepEqual([words('block:12'), words('nowhere')], ['After paragraph 12', 'Nowhere']);
});

// Texts ---------------------------------------------------------------------------------------------------------------

test('a text is given as it is typed, counted against its limit, and nothing but spaces is none', () => {
  const { made, root, taken } = control({ kind: 'text', max_words: 3 });
  const field = root.querySelector('textarea');
  const counter = root.querySelector('.counter');
  const state = () => [counter.textContent, counter.classList.contains('over'), field.getAttribute('aria-invalid')];
  assert.deepEqual(state(), ['0 of 3 words', false, 'false']);
  type(field, 'a b c ');
  assert.deepEqual([taken(), state()], [[['a b c ', false]], ['3 of 3 words', false, 'false']]);
  type(field, 'a b c d');
  assert.deepEqual([taken(), state()], [[['a b c d', false]], ['4 of 3 words', true, 'true']]);
  type(field, ' \n');
  assert.deepEqual(taken(), [[null, false]]);
  field.value = 'a b ';
  made.show({ value: 'a b' });
  assert.deepEqual([field.value, state()[0]], ['a b ', '2 of 3 words'], 'a space that is being typed stays');
  made.show({ value: 'c' });
  assert.equal(field.value, 'c');
  made.show(null);
  assert.equal(field.value, '');
  assert.equal(made.key('1'), false);
  const free = control({ kind: 'text' }).root;
  type(free.querySelector('textarea'), 'one');
  assert.deepEqual([free.querySelector('.counter').textContent, free.querySelector('.counter').classList.contains('over')], ['1 word', false]);
});

// Stretches -----------------------------------------------------------------------------------------------------------

const TEXT = 'The 𝄞 pier is old.';
const range = (words) => [TEXT.indexOf(words), TEXT.indexOf(words) + words.length];

/** An answer on the screen that remembers what it was shown. */
const screen = (backwards = false) => ({
  of: null, shown: [], told: [],
  words: () => ['The', 'pier', 'is', 'old'].map(range), sentences: () => [[0, TEXT.length]],
  fromTheRight: () => backwards, listen(told) { this.told.push(told); },
  show(stretches, pointed) { this.shown = stretches.map(({ start, end, number }) => [TEXT.slice(start, end), number]), this.pointed = pointed && TEXT.slice(...pointed); },
});
const SPANS = { kind: 'spans', labels: [{ value: 'bad', title: 'Bad', key: '1' }, { value: 'odd', title: 'Odd', key: '2' }] };

/** A control of stretches that shows what it gave, as the page does. */
function marking(more = {}, criterion = SPANS) {
  const answer = screen(more.backwards);
  const one = { ...control(criterion, { answer: TEXT }, { answer, ...more }), answer, value: null };
  one.press = (...keys) => keys.map((key) => {
    const done = one.made.key(key);
    for (const [value] of one.given.slice(one.seen ?? 0)) one.show(value);
    return done;
  });
  one.show = (value) => {
    one.value = value;
    one.seen = one.given.length;
    one.made.show(value === null ? null : { value });
  };
  one.marks = () => one.value?.map(({ start, end, label, text }) => [start, end, label, text]);
  return one;
}

test('words are pointed at by keys and marked with a label, in code points; the answer shows them', () => {
  const one = marking();
  one.press('1');
  assert.deepEqual([one.given, one.root.querySelector('selected-words').textContent], [[], 'Select words of the answer first: with the mouse, or → for the first word.']);
  assert.deepEqual(one.press('ArrowRight', 'ArrowRight', 'Shift+ArrowRight', '2'), [true, true, true, true]);
  assert.deepEqual(one.marks(), [[6, 13, 'odd', 'pier is']]);
  assert.deepEqual([one.answer.shown, one.answer.pointed], [[['pier is', 2]], 'pier is']);
  assert.deepEqual(on(one.root), [1], 'a label is on once something has it');
  assert.deepEqual(one.given.map(([, done]) => done), [false], 'more may be marked');
});

test('arrows follow the direction of the text', () => {
  const one = marking({ backwards: true });
  one.press('ArrowLeft', 'ArrowLeft');
  assert.equal(one.answer.pointed, 'pier');
  one.press('ArrowRight');
  assert.equal(one.answer.pointed, 'The');
  one.press('Shift+ArrowDown');
  assert.equal(one.answer.pointed, TEXT.slice(0, -1));
});

test('Backspace takes the mark off what was marked last, wherever that stands, then off the last that is left', () => {
  const one = marking();
  one.press('ArrowRight', 'ArrowRight', 'ArrowRight', 'ArrowRight', '2', 'ArrowLeft', 'ArrowLeft', 'ArrowLeft', '1', 'ArrowRight');
  assert.deepEqual(one.marks().map(([, , label, text]) => [label, text]), [['bad', 'The'], ['odd', 'old']]);
  assert.equal(one.answer.pointed, 'pier', 'which is not marked');
  assert.deepEqual([one.press('Backspace'), one.marks().map(([, , , text]) => text)], [[true], ['old']]);
  one.press('Backspace');
  assert.equal(one.value, null);
});

test('none is said by its own key, goes on, and is on only then; it is not the same as nothing given', () => {
  const one = marking();
  one.press('ArrowRight', '0');
  assert.deepEqual([one.given, on(one.root), one.answer.pointed], [[[[], true]], [2], null]);
  one.show(null);
  assert.deepEqual(on(one.root), []);
  one.press('ArrowRight', '1');
  assert.deepEqual(on(one.root), [0]);
  one.press('Backspace');
  assert.deepEqual([one.given.at(-1), on(one.root)], [[null, false], []], 'the last mark taken off leaves nothing given, and does not say none');
  const taken = marking({}, { ...SPANS, labels: [...SPANS.labels, { value: 'o', title: 'O', key: '0' }] });
  taken.press('ArrowRight', '0');
  assert.deepEqual(taken.marks().map(([, , label]) => label), ['o'], 'a label that has the key keeps it');
});

test('what is selected loses its mark; with nothing marked there, what was marked last does', () => {
  const one = marking();
  assert.deepEqual(one.press('Backspace'), [false]);
  const words = (stretches) => stretches.map(({ text }) => text);
  one.press('ArrowRight', '1', 'ArrowRight', '2', 'ArrowRight', 'ArrowRight', '1');
  assert.deepEqual(words(one.value), ['The', 'pier', 'old']);
  one.press('ArrowLeft', 'ArrowLeft', 'Delete');
  assert.deepEqual(words(one.value), ['The', 'old']);
  one.press('Backspace');
  assert.deepEqual(words(one.value), ['The']);
  one.press('Backspace');
  assert.equal(one.value, null);
});

test('each stretch is listed with its label; it can be gone to and taken away', () => {
  const one = marking();
  one.press('ArrowRight', '1', 'ArrowRight', '2');
  const list = () => one.root.querySelector('stretches').children;
  assert.deepEqual(list().map((entry) => [entry.className, entry.querySelector('stretch').textContent]), [['stretch-1', 'BadThe'], ['stretch-2', 'Oddpier']]);
  list()[0].querySelector('stretch').click();
  assert.equal(one.answer.pointed, 'The');
  list()[0].querySelector('.mini').click();
  assert.deepEqual(one.given.at(-1)[0].map(({ text }) => text), ['pier']);
});

test('what an annotator marked is taken over by a key that no label has', () => {
  const votes = [{ rater: 'R1', value: [{ start: 0, end: 3, label: 'bad', text: 'The' }] }, { rater: 'R2', value: null }, { rater: 'R3', value: [] }];
  const one = marking({ votes });
  assert.deepEqual(one.root.querySelectorAll('take').map((take) => [take.querySelector('span').textContent, take.getAttribute('aria-keyshortcuts')]), [['As R1 has it', 'a'], ['As R3 has it', 'b']]);
  assert.deepEqual(one.press('b', 'a', 'd'), [true, true, false]);
  assert.deepEqual(one.given, [[[], true], [votes[0].value, true]]);
  const lettered = marking({ votes }, { ...SPANS, labels: [{ value: 'bad', title: 'Bad', key: 'a' }] });
  assert.deepEqual(lettered.root.querySelectorAll('take').map((take) => take.getAttribute('aria-keyshortcuts')), ['b', 'd']);
  assert.equal(marking().root.querySelector('.takes'), null);
});

test('of two controls on one answer the one at hand shows its stretches, and hears what is selected', () => {
  const answer = screen();
  const [first, second] = [control(SPANS, { answer: TEXT }, { answer }), control(SPANS, { answer: TEXT }, { answer })];
  assert.equal(answer.of, first.made);
  const stretch = { start: 6, end: 10, label: 'bad', text: 'pier' };
  second.made.show({ value: [stretch] });
  assert.deepEqual(answer.shown, []);
  second.made.focus();
  assert.deepEqual([answer.of, answer.shown], [second.made, [['pier', 1]]]);
  for (const told of answer.told) told(...range('is'));
  first.made.key('x');
  assert.equal(answer.of, first.made);
  second.made.key('2');
  assert.deepEqual([first.given.length, second.given.map(([value]) => value.map(({ text }) => text))], [0, [['pier', 'is']]]);
});
