/** Where words stand on the screen: which were seen, how many lie below, what is kept in view, what is selected and copied. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass } from './browser.js';
import { box, lay, Range } from './placed.js';

const { PlacedWords, sizeOf } = await import('../../app/widgets/reading/placed_words.js');
const { ReadingArea } = await import('../../app/widgets/reading/reading_area.js');
const { MarkableAnswer } = await import('../../app/widgets/reading/markable.js');
const { FoundPhrases, foundIn, phraseSets } = await import('../../app/widgets/reading/counted_phrases.js');
const { Rail } = await import('../../app/widgets/reading/rail.js');
const { Keys } = await import('../../app/widgets/shared/keys.js');
const { h } = await import('../../app/widgets/shared/dom.js');
const { TEXT } = await import('../../app/widgets/shared/text.js');
const { Texts, textIn } = await import('../../app/widgets/texts/texts.js');

const keys = new Keys({ read_on: ['Space', 'Read on'], read_back: ['b', 'Read back'], read_end: ['End', 'End'], read_start: ['Home', 'Start'], previous_hit: [',', 'Before'], next_hit: ['.', 'Next'] }, { criteria: [] }, new Map(), 'keys');
const put = (...nodes) => {
  const root = h('div', {}, ...nodes);
  document.body.replaceChildren(root);
  lay(root);
  return root;
};
/** The words that stand between two heights, by their numbers. */
const between = (words, top, bottom) => words.between(top, bottom).flatMap(([from, to]) => Array.from({ length: to - from }, (_, at) => from + at));

beforeEach(() => {
  document.body.replaceChildren();
  document.hidden = false;
});

test('words are counted across emphasis, as one where nothing is between, and not where they are not read', () => {
  for (const [nodes, count] of [
    [['The old pier'], 3], [['H', h('sub', {}, '2'), 'O is wet'], 3], [['H', h('div', {}, '2')], 2], [['one ', h('b', {}, 'two')], 2], [['one', h('br'), 'two'], 2],
    [[h('p', {}, 'one'), h('p', {}, 'two three')], 3], [['one ', h('button', {}, 'two'), h('span', { class: 'unseen' }, 'three'), h('i', { 'aria-hidden': 'true' }, 'four')], 1],
    [['one ', h('p', { hidden: true }, 'two')], 1], [['  '], 0], [[''], 0], [['一 two'], 2],
  ]) assert.equal(new PlacedWords([put(...nodes)]).count, count, document.body.textContent);
  assert.ok(new PlacedWords([put('码头很旧，但是很长。')]).count > 2, 'words without spaces between them');
});

test('which words stand wholly between two heights is known of every line', () => {
  const words = new PlacedWords([put('aaaa bbbb cccc dddd eeee ffff gggg hhhh iiii jjjj')]); // four words a line
  for (const [top, bottom, expected] of [
    [-100, 500, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]], [0, 20, [0, 1, 2, 3]], [20, 40, [4, 5, 6, 7]], [40, 60, [8, 9]], [0, 40, [0, 1, 2, 3, 4, 5, 6, 7]],
    [3, 40, [0, 1, 2, 3, 4, 5, 6, 7]], [4, 40, [4, 5, 6, 7]], [20, 37, [4, 5, 6, 7]], [20, 36, []], [60, 90, []], [-50, -1, []], [21, 500, [4, 5, 6, 7, 8, 9]],
  ]) assert.deepEqual(between(words, top, bottom), expected, `${top} to ${bottom}`);
});

test('what sticks out of its root is cut off by it, and several roots are one text', () => {
  const one = h('div', {}, 'aaaa bbbb cccc dddd eeee ffff');
  const other = h('div', {}, 'gggg hhhh');
  document.body.replaceChildren(one, other);
  lay(one);
  lay(other, { top: 100 });
  const words = new PlacedWords([one, other]);
  assert.deepEqual(between(words, 0, 200), [0, 1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(between(words, 0, 100), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(between(words, 90, 200), [6, 7]);
  box(one, 0, 0, 200, 20);
  assert.deepEqual(between(words, 0, 200), [0, 1, 2, 3, 6, 7], 'the second line of the first is cut off');
  assert.equal(sizeOf([[0, 4], [6, 8]]), 6);
});

// A place to read -----------------------------------------------------------------------------------------------------

const WORDS = (count, sign = 'word') => Array.from({ length: count }, () => sign).join(' ');

/** An area of so many lines of text in a view of so many pixels, in a shadow root that has it under the pointer. */
function area({ lines = 20, height = 100, over = null, answer = true, name = 'Answer' } = {}) {
  const seen = [];
  const acted = [];
  let looked = 0;
  const made = new ReadingArea({ name: 'Texts', keys, act: (action) => acted.push(action), looked: () => (looked += 1) });
  made.seen = (...what) => seen.push(what);
  const host = h('div', {});
  document.body.replaceChildren(host);
  const root = host.attachShadow();
  root.append(made.element);
  root.elementFromPoint = () => over ?? made.text;
  made.text.replaceChildren(h('section', { class: 'part' }, h('h2', {}, name), h('div', { class: answer ? 'a' : 'x' }, WORDS(lines * 4))));
  box(made.element, 0, 0, 220, height);
  const place = box(made.scroller, 0, 0, 200, height);
  const all = lay(made.text, { scroller: made.scroller });
  made.scroller.scrollHeight = all;
  const scroll = async (to) => {
    place.scrollTop = to;
    made.scroller.dispatchEvent(new Event('scroll'));
    await pass(50);
  };
  return { made, seen, acted, scroll, all, root, count: () => looked };
}

test('how many words lie below the fold is said, and those that were in view are told, by the name of their text', async () => {
  const { made, seen, scroll, all } = area();
  assert.equal(made.measured, false);
  made.look();
  made.look();
  await pass(50);
  assert.equal(made.measured, true);
  assert.deepEqual(made.names, [TEXT.theAnswer]);
  assert.equal(made.moreWords.textContent, TEXT.moreWords(80 - 12), 'a heading, three lines, and one that fades');
  assert.deepEqual(seen, [[TEXT.theAnswer, [[0, 16]], 80]]);
  await scroll(120);
  assert.equal(made.moreWords.textContent, TEXT.moreWords(80 - 36));
  await scroll(all - 100);
  assert.deepEqual([made.atEnd, made.atStart, made.moreWords.textContent], [true, false, TEXT.moreWords(0)]);
  assert.deepEqual(seen.at(-1)[1], [[60, 80]]);
  assert.deepEqual([made.element.classList.contains('at-end'), made.element.classList.contains('at-start')], [true, false]);
  await scroll(1);
  assert.deepEqual([made.atStart, made.element.classList.contains('at-start'), made.element.classList.contains('at-end')], [true, true, false]);
});

test('nothing is seen in a hidden tab, under what lies over it, or off the screen; texts are called by what they are', async () => {
  for (const [how, change] of [[{}, () => (document.hidden = true)], [{ over: document.createElement('p') }, () => undefined], [{}, (made) => box(made.scroller, 0, 900, 200, 100)], [{}, (made) => (made.text.clientHeight = 0)]]) {
    const { made, seen, count } = area(how);
    change(made);
    made.look();
    await pass(50);
    assert.deepEqual(seen, []);
    assert.equal(count(), made.text.clientHeight ? 1 : 0);
  }
  document.hidden = false;
  for (const [kind, name] of [['q', TEXT.theQuestion], ['refs', TEXT.theReferences], ['hops', TEXT.theHops], ['a', TEXT.theAnswer], ['x', TEXT.named('Title')]]) {
    const { made } = area({ name: 'Title' });
    made.text.querySelector('.a').setAttribute('class', kind);
    made.look();
    await pass(50);
    assert.deepEqual(made.names, [name]);
  }
});

test('an area that overflows has a foot with its keys, scrolls by screens and to its ends, and says where it is', async () => {
  const { made, acted, root } = area();
  made.text.offsetHeight = 420;
  assert.equal(made.needed, 438);
  made.sizes.told();
  assert.deepEqual([made.overflows, made.foot.hidden, made.pinned], [true, false, null]);
  const { scroller } = made;
  made.by(1);
  assert.equal(scroller.scrollTop, 56, 'a screen without what is still seen of the one before');
  made.by(-1);
  assert.equal(scroller.scrollTop, 0);
  scroller.clientHeight = 60;
  made.by(1);
  assert.equal(scroller.scrollTop, 40, 'at least forty pixels');
  made.to(true);
  assert.equal(scroller.scrollTop, scroller.scrollHeight);
  made.to(false);
  assert.equal(scroller.scrollTop, 0);
  made.keyed(true);
  assert.equal(made.element.classList.contains('keyed'), true);
  made.keyed(false);
  assert.equal(made.element.classList.contains('keyed'), false);
  for (const key of ['read_on', 'read_back', 'read_end', 'read_start']) root.querySelector(key).click();
  assert.deepEqual(acted, ['read_on', 'read_back', 'read_end', 'read_start']);
  made.moreButton.click();
  assert.equal(scroller.scrollTop, 40);
  assert.deepEqual([...made.sizes.watched], [made.element, scroller, made.text]);
  made.dispose();
  assert.deepEqual([made.sizes.watched.size, made.changes.watched.size], [0, 0]);
});

test('what fits has no foot; a short question stays in view where its answer stands opposite, a long one and a narrow page do not', () => {
  const media = window.matchMedia;
  for (const [question, height, stacked, pinned] of [[60, 200, false, true], [61, 200, false, false], [60, 200, true, false]]) {
    const { made } = area({ height });
    window.matchMedia = () => ({ matches: stacked });
    made.text.replaceChildren(h('section', { class: 'part' }, h('div', { class: 'q' }, 'Why?')), h('section', { class: 'part' }, h('div', { class: 'a' }, WORDS(80))));
    document.body.replaceChildren(h('div', { class: 'facing' }, made.element));
    const [part] = made.text.elements;
    part.clientHeight = question;
    made.text.offsetHeight = 184;
    made.sizes.told();
    assert.deepEqual([made.pinned === part, part.classList.contains('pinned'), made.element.style['--pinned'], made.overflows, made.foot.hidden],
      [pinned, pinned, pinned ? '60px' : '0px', false, true], `${question} ${stacked}`);
    made.text.offsetHeight = 185;
    made.sizes.told();
    assert.equal(made.overflows, !stacked);
  }
  window.matchMedia = media;
});

test('a text that is drawn anew is measured anew, and what changes on a card beside it is not', async () => {
  const { made } = area();
  made.look();
  await pass(50);
  const card = h('b', {}, 'x');
  made.text.append(h('div', { class: 'image-card' }, card));
  made.changes.told([{ target: card }, { target: card.children[0] }]);
  assert.equal(made.measured, true);
  made.changes.told([{ target: card }, { target: made.text }]);
  assert.equal(made.measured, false);
  made.text.replaceChildren();
  assert.equal(made.measured, true, 'of nothing all is known');
});

test('marks of a text stand on its rail, but for those of paragraphs, pairs and figures', async () => {
  const { made } = area();
  const mark = (kind, at) => Object.assign(h('mark', { class: kind }), { getBoundingClientRect: () => ({ top: at }) });
  made.text.append(...['found', 'paragraph', 'only of-left', 'figure', 'claim'].map((kind, at) => mark(kind, at * 42)));
  const all = made.text.clientHeight;
  made.look();
  await pass(50);
  assert.deepEqual(made.rail.marks.children.map((one) => one.getAttribute('style')), ['top:0.0%', `top:${(168 / all * 100).toFixed(1)}%`]);
});

test('where all is one column, what lies under the footer is not seen', async () => {
  const media = window.matchMedia;
  window.matchMedia = () => ({ matches: true });
  const { made, seen, root } = area({ height: 100 });
  root.append(h('aside', { class: 'judgement' }, box(h('footer', {}), 0, 62, 200, 40)));
  made.look();
  await pass(50);
  assert.deepEqual(seen, [[TEXT.theAnswer, [[0, 8]], 80]]);
  window.matchMedia = media;
});

test('the rail has a thumb as long as what is seen, is pressed and dragged, and bears marks', () => {
  const scroller = Object.assign(box(h('div', {}), 0, 0, 200, 100), { scrollHeight: 400, scrollTop: 150 });
  const rail = new Rail(scroller);
  box(rail.element, 200, 10, 8, 80);
  rail.draw();
  assert.deepEqual([rail.thumb.style.height, rail.thumb.style.transform], ['28px', 'translateY(26px)'], '28 at least; half of the way of 52');
  scroller.scrollHeight = 120;
  rail.draw();
  assert.equal(rail.thumb.style.height, `${80 * 100 / 120}px`);
  scroller.scrollHeight = 400;
  rail.mark([0, 0.5, 0.50001, 1]);
  assert.deepEqual(rail.marks.children.map((mark) => mark.getAttribute('style')), ['top:0.0%', 'top:50.0%', 'top:100.0%']);
  const press = (more) => Object.assign(new Event('pointerdown', { cancelable: true }), { button: 0, pointerId: 1, clientY: 90, ...more });
  rail.element.dispatchEvent(press({ button: 2 }));
  assert.equal(scroller.scrollTop, 150);
  const event = press();
  rail.element.dispatchEvent(event);
  assert.deepEqual([event.defaultPrevented, scroller.scrollTop], [true, ((90 - 10 - 14) / 52) * 300]);
  rail.element.dispatchEvent(Object.assign(new Event('pointermove'), { clientY: 24 }));
  assert.equal(scroller.scrollTop, 0);
  rail.element.dispatchEvent(new Event('lostpointercapture'));
  rail.element.dispatchEvent(Object.assign(new Event('pointermove'), { clientY: 90 }));
  assert.equal(scroller.scrollTop, 0, 'let go of');
  rail.draw();
  box(rail.thumb, 200, 10, 8, 28);
  rail.element.dispatchEvent(Object.defineProperty(press({ clientY: 20 }), 'target', { value: rail.thumb }));
  assert.equal(scroller.scrollTop, 0, 'a thumb that is held stays where it is held');
  rail.element.dispatchEvent(Object.assign(new Event('pointermove'), { clientY: 46 }));
  assert.equal(scroller.scrollTop, 150);
});

// Phrases -------------------------------------------------------------------------------------------------------------

const settings = () => new Map();
const drawn = (raw, marks) => {
  const element = new Texts(settings(), 'm').fill(h('div', { class: 'a' }), raw, undefined, marks);
  document.body.replaceChildren(h('div', { class: 'reading' }, element));
  return element;
};

test('phrases that were counted are marked and walked through, round, and the one at hand is set off and said', () => {
  const found = new FoundPhrases([[4, 7], [8, 12]], keys);
  const element = drawn('The old pier is long.', (text) => found.mark(text));
  const state = () => [element.querySelectorAll('mark').map((mark) => mark.classList.contains('at')), found.words.textContent];
  assert.deepEqual(element.querySelectorAll('mark').map((mark) => [mark.getAttribute('class'), mark.textContent]), [['found', 'old'], ['found', 'pier']]);
  assert.deepEqual(state(), [[false, false], TEXT.foundPhrases(2)]);
  found.walk(1);
  assert.deepEqual(state(), [[true, false], TEXT.foundPhrase(1, 2)]);
  found.walk(1);
  found.walk(1);
  assert.deepEqual(state(), [[true, false], TEXT.foundPhrase(1, 2)]);
  found.walk(-1);
  assert.deepEqual(state(), [[false, true], TEXT.foundPhrase(2, 2)]);
  found.element.querySelector('found-previous_hit').click();
  assert.deepEqual(state()[0], [true, false]);
  found.element.querySelector('found-next_hit').click();
  assert.deepEqual(state()[0], [false, true]);
  found.mark(textIn(element)); // drawn anew
  assert.ok(element.querySelectorAll('.at').length);
  document.body.append(found.element);
  assert.equal(foundIn(document.body), found);
  assert.deepEqual(found.legend().map((one) => one.textContent), ['', TEXT.foundLegend(2), '', TEXT.foundOnRail]);
  const back = new FoundPhrases([[0, 3], [4, 7]], null);
  drawn('The old pier', (text) => back.mark(text));
  back.walk(-1);
  assert.deepEqual([back.at, back.keyed, found.keyed], [1, false, true]);
  const none = new FoundPhrases([], keys);
  none.walk(1);
  document.body.replaceChildren(none.element);
  assert.deepEqual([none.at, none.element.hidden, foundIn(document.body)], [-1, true, null]);
});

test('sets of phrases are shown with the best one first, and what of each was found', () => {
  const phrase = (text, count) => ({ text, count });
  const made = phraseSets({ sets: [{ best: false, phrases: [phrase('pier', 0)] }, { best: true, phrases: [phrase('old', 2), phrase('long', 0)] }], rule: 'all', places: [] }, 'en');
  assert.deepEqual(made.querySelectorAll('phrase-set').map((set) => [set.getAttribute('class').trim(), set.getAttribute('data-best'), set.querySelector('h3').textContent]), [
    ['phrase-set best', 'true', `${TEXT.phraseSet(2)}${TEXT.phrasesFound(1, 2, true)}`], ['phrase-set', null, `${TEXT.phraseSet(1)}${TEXT.phrasesFound(0, 1, false)}`],
  ]);
  assert.deepEqual(made.querySelectorAll('li').map((line) => [line.getAttribute('class'), line.textContent]), [
    ['found', `✓old${TEXT.times(2)}${TEXT.phraseFound(2)}`], ['missing', `✗long${TEXT.phraseMissing}`], ['missing', `✗pier${TEXT.phraseMissing}`],
  ]);
  assert.equal(made.querySelector('.rule').textContent, TEXT.phraseRule('all'));
  const alone = phraseSets({ sets: [{ best: true, phrases: [phrase('old', 1)] }], rule: 'all', places: [] }, null);
  assert.match(alone.querySelector('h3').textContent, new RegExp(TEXT.phrasesFound(1, 1, false)));
});

// Texts rendered and raw ----------------------------------------------------------------------------------------------

test('a text is shown as it was written by one key and rendered again, for the person and in what follows', () => {
  const kept = settings();
  const texts = new Texts(kept, 'm');
  const root = h('div', {});
  let changed = 0;
  Object.assign(texts, { roots: [root], onchange: () => (changed += 1) });
  const choice = texts.choice('It is *old*.', null);
  root.append(texts.fill(h('p', {}), 'It is *old*.'), choice);
  const state = () => [root.querySelector('.item-text').textContent, choice.children.map((view) => view.getAttribute('aria-pressed'))];
  assert.deepEqual(state(), ['It is old.', ['true', 'false']]);
  texts.toggle();
  assert.deepEqual([state(), kept.get('text_view'), texts.raw, changed], [['It is *old*.', ['false', 'true']], 'raw', true, 1]);
  choice.children[1].click();
  assert.equal(changed, 1, 'it shows so already');
  choice.children[0].click();
  assert.deepEqual([state(), kept.get('text_view'), changed], [['It is old.', ['true', 'false']], null, 2]);
  assert.equal(texts.choice('Plain.', '', null), null);
  texts.plain = true;
  assert.equal(texts.raw, true);
  assert.equal(texts.fill(h('p', {}), '*x*').textContent, '*x*');
  texts.toggle();
  assert.deepEqual([texts.plain, texts.raw], [false, false], 'somebody wants them rendered');
});

test('texts that take too long at once are plain until their turn comes', async () => {
  const texts = new Texts(settings(), 'm');
  let [drew, late] = [0, 0];
  texts.onchange = () => (drew += 1);
  const { now } = performance;
  performance.now = () => now() + late;
  const made = ['*a*', '*b*', '*c*', '*d*', '*e*'].map((raw) => texts.fill(h('p', {}), raw, undefined, () => (late += 50)));
  document.body.replaceChildren(...made.slice(0, 4));
  assert.deepEqual(made.map((one) => one.textContent), ['a', 'b', 'c', '*d*', '*e*']);
  await pass(10);
  performance.now = now;
  assert.deepEqual(made.map((one) => one.textContent), ['a', 'b', 'c', 'd', '*e*'], 'what is not on the screen any more is not drawn');
  assert.equal(drew, 1);
  await pass(10);
  assert.deepEqual([drew, texts.spent], [1, 0]);
});

test('what was read at the top of the view is there when its text is drawn the other way', () => {
  const texts = new Texts(settings(), 'm');
  const raw = `${WORDS(12)} **bold bold bold bold bold bold** ${WORDS(12)}`;
  const text = texts.fill(h('p', {}), raw);
  const view = box(h('div', { class: 'reading' }, text), 0, 0, 200, 60);
  document.body.replaceChildren(view);
  texts.roots = [view];
  const layIn = (element) => lay(element, { scroller: view });
  layIn(text);
  view.scrollTop = 70; // the fourth line begins ten pixels above the top
  const before = text.getBoundingClientRect;
  const again = texts.fill;
  assert.ok(before && again);
  const replace = text.replaceChildren.bind(text);
  text.replaceChildren = (...nodes) => (replace(...nodes), layIn(text));
  const drawnFirst = textIn(text);
  const top = (place) => {
    const piece = textIn(text).pieces.find((one) => one.end > place);
    const range = new Range();
    range.setStart(piece.node, place - piece.start);
    range.setEnd(piece.node, place - piece.start + 1);
    return range.getBoundingClientRect().top;
  };
  const place = 62; // the first sign that shows of the line whose foot is first seen
  assert.equal(top(place), -10);
  texts.toggle();
  assert.notEqual(textIn(text), drawnFirst);
  assert.equal(top(place), 0, 'what was first seen is at the top');
  view.scrollTop = 0;
  texts.toggle();
  assert.equal(view.scrollTop, 0, 'a text that begins in view stays');
});

const selection = (range) => ({ rangeCount: range ? 1 : 0, isCollapsed: !range || range.collapsed, getRangeAt: () => range, removeAllRanges() {
  this.gone = true;
} });
const over = (element, from, to) => {
  const range = new Range();
  const nodes = textIn(element).pieces;
  const at = (place) => nodes.find((piece) => piece.end > place) ?? nodes.at(-1);
  range.setStart(at(from).node, from - at(from).start);
  range.setEnd(at(to - 1).node, to - at(to - 1).start);
  return range;
};

test('a selection within a text is copied as it was written, with the signs around what is wholly in it', () => {
  const element = drawn('It is *very old* indeed.');
  const copy = (range, clipboardData = { setData: (...what) => (copied = what) }) => {
    document.getSelection = () => selection(range);
    const event = Object.assign(new Event('copy', { cancelable: true }), { clipboardData });
    element.dispatchEvent(event);
    return event.defaultPrevented;
  };
  let copied = null;
  assert.deepEqual([copy(over(element, 0, 15)), copied], [true, ['text/plain', 'It is *very old*']]);
  assert.deepEqual([copy(over(element, 7, 11)), copied], [true, ['text/plain', 'very']]);
  copied = null;
  assert.equal(copy(over(element, 7, 11), null), false);
  assert.equal(copy(null), false);
  const outside = new Range();
  const other = document.createTextNode('elsewhere');
  document.body.append(h('p', {}, other));
  outside.setStart(other, 0);
  outside.setEnd(other, 4);
  assert.equal(copy(outside), false);
  assert.equal(copied, null);
  document.getSelection = () => null;
});

test('words that are selected with the mouse in an answer are told to every control, once, and are no selection any more', async () => {
  const element = drawn('It is *very old* indeed.');
  let place = element;
  const answer = new MarkableAnswer(() => place);
  const told = [];
  answer.listen((...what) => told.push(['one', ...what]));
  answer.listen((...what) => told.push(['other', ...what]));
  const select = async (range) => {
    const made = selection(range);
    document.getSelection = () => made;
    element.dispatchEvent(new Event('pointerup'));
    await pass(10);
    return !!made.gone;
  };
  assert.deepEqual([await select(over(element, 7, 11)), told.splice(0)], [true, [['one', 7, 11], ['other', 7, 11]]]);
  assert.deepEqual([await select(null), told], [false, []]);
  const outside = new Range();
  const other = document.createTextNode('elsewhere');
  document.body.append(other);
  outside.setStart(other, 0);
  outside.setEnd(other, 4);
  assert.deepEqual([await select(outside), told], [false, []]);
  assert.deepEqual([answer.words().map((range) => textIn(element).raw.slice(...range)), answer.sentences().length], [['It', 'is', 'very', 'old', 'indeed'], 1]);
  assert.equal(answer.words(), answer.words(), 'read once');
  answer.show([{ start: 0, end: 5, number: 2, title: 'Odd' }], [7, 11]);
  assert.deepEqual(element.querySelectorAll('mark').map((mark) => [mark.getAttribute('class'), mark.textContent, mark.title, mark.getAttribute('data-label')]),
    [['stretch stretch-2', 'It is', 'Odd', 'Odd'], ['pointed', 'very', undefined, null]]);
  answer.show([], null);
  assert.equal(element.querySelectorAll('mark').length, 0);
  place = null;
  assert.deepEqual([answer.words(), answer.sentences(), answer.fromTheRight()], [[], [], false]);
  answer.show([], null);
  answer.listen(() => undefined);
  document.getSelection = () => null;
});

test('an answer is from the right by its direction, or by its first letter', () => {
  const style = globalThis.getComputedStyle;
  for (const [raw, dir, direction, expected] of [['The pier', 'auto', 'ltr', false], ['الرصيف old', 'auto', 'ltr', true], ['12. الرصيف', 'ltr', 'ltr', true], ['The pier', 'rtl', 'ltr', true], ['The pier', 'auto', 'rtl', true], ['The pier', 'ltr', 'rtl', false]]) {
    const element = drawn(raw);
    element.dir = dir;
    globalThis.getComputedStyle = () => ({ direction });
    assert.equal(new MarkableAnswer(() => element).fromTheRight(), expected, `${raw} ${dir} ${direction}`);
  }
  globalThis.getComputedStyle = style;
});
