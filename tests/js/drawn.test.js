/** Parts of the pages that draw little: what they say and when, on a small page of our own. */

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import './page.js';
import { loadKinds } from './browser.js';

const { Status: Adjudicating } = await import('../../app/widgets/adjudicate/status.js');
const { colourOf, marksOf, MarksLine } = await import('../../app/widgets/adjudicate/rationales.js');
const { Rest } = await import('../../app/widgets/annotate/judgement/rest.js');
const { Status } = await import('../../app/widgets/annotate/status.js');
const { otherScores, scoredTitle, scoreOf, scoreParts } = await import('../../app/widgets/reading/score_value.js');
const { kindOf } = await import('../../app/widgets/criteria/kinds.js');
const { attribute, button, h, keycap, shorten } = await import('../../app/widgets/shared/dom.js');
const { supportNotes } = await import('../../app/widgets/viewer/places.js');

before(loadKinds);

// Nodes ---------------------------------------------------------------------------------------------------------------

test('attributes that are nothing are left out, and children that are nothing too', () => {
  const made = h('p', { a: null, b: undefined, c: false, d: true, e: 0, f: '' }, null, undefined, false, 0, '', ['x', [h('b')]].flat());
  assert.deepEqual(Object.fromEntries(made.attributes), { d: '', e: '0', f: '' });
  assert.deepEqual([made.textContent, made.children.length], ['0x', 4]);
  attribute(made, 'd', false);
  attribute(made, 'a', true);
  attribute(made, 'e', 1);
  assert.deepEqual(Object.fromEntries(made.attributes), { a: '', e: '1', f: '' });
});

test('a button says its key where it has one, does what it is for, and takes no focus by the mouse', () => {
  let pressed = 0;
  const made = button('Go', () => { pressed += 1; }, { key: 'ArrowUp', name: 'Go up', hint: 'up', testid: 'go' });
  made.click();
  const down = new Event('mousedown', { cancelable: true });
  made.dispatchEvent(down);
  assert.deepEqual([pressed, down.defaultPrevented], [1, true]);
  assert.deepEqual([...made.children].map((part) => [part.textContent, part.getAttribute('class'), part.getAttribute('aria-hidden')]).slice(0, 2),
    [['Go up', 'unseen', null], ['Go', null, 'true']]);
  assert.equal(made.textContent, 'Go upGo↑');
  assert.deepEqual(['type', 'class', 'data-testid', 'aria-label', 'title', 'aria-keyshortcuts'].map((name) => made.getAttribute(name)),
    ['button', 'btn', 'go', null, 'up', 'ArrowUp']);
  assert.deepEqual([button('Go', () => {}).textContent, keycap('q').textContent], ['Go', 'q']);
});

test('a text is cut to a length, and one of that length is not', () => {
  assert.deepEqual([shorten(' a \n b ', 3), shorten('abcd', 3), shorten('ab cd', 4), shorten('', 1)], ['a b', 'ab…', 'ab…', '']);
});

// Scores --------------------------------------------------------------------------------------------------------------

test('the score of a criterion stands at its title, with what it means', () => {
  const item = { scores: [{ criterion: 'a', title: 'Other', words: '0.5', value: 0.5 }, { criterion: 'b', title: 'Correctness', words: 'no', value: null, kind: 'flag', meaning: 'of 5' }] };
  assert.equal(scoreOf(item, { name: 'b' }), item.scores[1]);
  assert.deepEqual([scoreOf(item, { name: 'c' }), scoreOf({}, { name: 'a' })], [null, null]);
  const [named, value] = scoreParts({ title: 'The correctness' }, item.scores[1]);
  assert.deepEqual([named, value.getAttribute('class'), value.getAttribute('data-flag')], [null, 'score-value none', 'no']);
  const [other, half] = scoreParts({ title: 'The correctness' }, item.scores[0]);
  assert.deepEqual([other.textContent, half.getAttribute('class'), half.getAttribute('data-flag')], ['Other', 'score-value', null]);
  const plain = scoredTitle({ title: 'Right', required: true }, item.scores[0]);
  assert.deepEqual([plain.textContent, plain.querySelector('i'), plain.querySelector('score-meaning')], ['RightOther0.5', null, null]);
  const full = scoredTitle({ title: 'Correctness', required: false, help: 'Look.' }, item.scores[1]);
  assert.ok(full.querySelector('i'));
  assert.deepEqual([full.querySelector('small').textContent, full.querySelector('score-meaning').textContent], ['Look.', 'of 5']);
});

test('scores that no criterion is about stand below, and where there are none there is nothing', () => {
  assert.deepEqual([otherScores({}), otherScores({ scores: [{ criterion: 'a' }] })], [null, null]);
  const made = otherScores({ scores: [{ criterion: 'a', words: 'x' }, { title: 'Length', words: '7', scorer: 'words', meaning: 'words' }] });
  assert.deepEqual([made.querySelector('ul').textContent, made.querySelector('li').getAttribute('title')], ['Length 7 words', 'words']);
});

// The rest ------------------------------------------------------------------------------------------------------------

/** A line for the rest of some cells; `labelled` and `unasked` are sets of them. */
function rest(n, criterion = {}) {
  const cells = Array.from({ length: n }, (_, id) => ({ id }));
  const panel = {
    labelled: new Set(), unasked: new Set(), given: 0, undone: 0, keys: { of: (action) => action, title: (action) => action },
    sheet: { asked: (cell) => !panel.unasked.has(cell.id), answered: (cell) => panel.labelled.has(cell.id) },
    giveRest: () => { panel.given += 1; }, undoRest: () => { panel.undone += 1; },
  };
  const of = { title: 'Right', rest: 0, labels: [{ value: 1, title: 'One' }, { value: '0', title: 'None' }], ...criterion };
  return { line: Rest.of(of, () => cells, panel), panel, cells };
}

test('a criterion that names no label for the rest, or none that it has, has no line', () => {
  assert.deepEqual([rest(5, { rest: undefined }).line, rest(5, { rest: 9 }).line, rest(5, { labels: undefined }).line], [null, null, null]);
  assert.equal(rest(5).line.label.title, 'None');
});

test('three that are asked and have no label can be labelled at once, two not; what was given can be taken back', () => {
  const { line, panel, cells } = rest(5);
  line.refresh(null, line);
  assert.deepEqual([line.possible, line.element.hidden, line.give.hidden, line.undo.hidden], [true, false, false, true]);
  assert.equal(line.give.querySelector('kbd').hidden, false);
  line.refresh(null, null);
  assert.equal(line.give.querySelector('kbd').hidden, true, 'another line has the key');
  panel.labelled.add(0), panel.unasked.add(1);
  line.refresh(null, line);
  assert.deepEqual([line.left.map((cell) => cell.id), line.possible, line.give.hidden], [[2, 3, 4], true, false]);
  const said = line.words.textContent;
  panel.labelled.add(2);
  line.refresh(null, line);
  assert.deepEqual([line.possible, line.element.hidden, line.give.hidden], [false, true, true]);
  assert.notEqual(line.words.textContent, said);
  line.refresh({ rest: line, cells: cells.slice(0, 3) }, null);
  assert.deepEqual([line.element.hidden, line.undo.hidden, line.give.hidden], [false, false, true]);
  assert.match(line.words.textContent, /3/);
  line.refresh({ rest: rest(3).line, cells: cells.slice(0, 3) }, null);
  assert.deepEqual([line.element.hidden, line.undo.hidden], [true, true], 'of another line');
  line.give.click(), line.undo.click(), line.undo.click();
  assert.deepEqual([panel.given, panel.undone], [1, 2]);
});

// How far -------------------------------------------------------------------------------------------------------------

/** A top line that remembers what it was told last. */
const told = () => ({ saved(all) { this.all = all; }, progress(...far) { this.far = far; } });

test('what is stored counts as done; what is on its way is said beside it', () => {
  const top = told();
  const outbox = { savedAt: 'then', waiting: 2 };
  const drafts = { trouble: null };
  const status = new Status(top, outbox, drafts);
  status.progress = { done: 3, of: 5, seconds_today: 60 };
  status.count(7);
  assert.deepEqual([status.done, top.far], [3, [3, 5, { waits: 2, seconds: 67 }]]);
  outbox.waiting = 0;
  status.progress = { done: 5, of: 5, seconds_today: 0 };
  status.count(0);
  assert.deepEqual([status.done, top.far], [5, [5, 5, { waits: 0, seconds: 0 }]]);
});

test('what is kept of a draft has its time once it was, and what keeps it from being kept is told', () => {
  const top = told();
  const outbox = { savedAt: 'then', waiting: 0 };
  const drafts = { trouble: null };
  const status = new Status(top, outbox, drafts);
  for (const [state, trouble] of [['offline', 'offline'], ['saving', null], ['trouble', 'refused'], ['saved', null]]) {
    drafts.trouble = trouble;
    status.draft(state);
    status.show();
    assert.deepEqual([top.all.outbox, top.all.trouble, top.all.saved, top.all.kept !== null], [outbox, trouble, 'then', state === 'saved'], state);
  }
});

test('a decision counts once it is acknowledged, and one that was none before counts for nothing', () => {
  const top = told();
  const status = new Adjudicating(top, { savedAt: null, waiting: 2 });
  status.count({ adjudicated: 2, disputed: 3 });
  assert.deepEqual([status.done, status.of, top.far], [2, 5, [2, 5, { waits: 2 }]]);
  status.outbox.waiting = 1;
  status.acknowledged(true);
  assert.deepEqual([status.settled, status.disputed, top.far], [3, 2, [3, 5, { waits: 1 }]]);
  status.outbox.waiting = 0;
  status.acknowledged(false);
  assert.deepEqual([status.settled, status.disputed, top.far], [3, 2, [3, 5, { waits: 0 }]]);
  assert.equal(top.all.saved, null);
  const [early, late] = [new Date(1), new Date(2)];
  for (const [one, other] of [[early, late], [late, early], [null, late], [late, null]]) {
    status.outbox.savedAt = one;
    status.savedAt = other;
    status.show();
    assert.equal(top.all.saved, late);
  }
});

// Marks ---------------------------------------------------------------------------------------------------------------

test('the same place of several is one mark with their names; what cannot be drawn is none', () => {
  const dispute = { raters: ['R1', 'R2', 'R3'], presentation: { documents: [{ id: 7, key: 'd' }, { id: 8, key: 'e' }] } };
  const criterion = { title: 'Right', kind: 'choice', labels: [{ value: 'y', title: 'Yes' }, { value: 'n', title: 'No' }] };
  const box = [0, 0, 0.5, 0.5];
  const vote = (rater, value, ...rationale) => ({ rater, value, rationale });
  const marks = marksOf(dispute, [
    { criterion, votes: [vote('R2', 'y', { document: 7, page: 1, box }), vote('R1', 'n', { document: 'd', page: 1, box: [0, 0, 0.5, 0.50001] })] },
    { criterion: { ...criterion, title: 'Other' }, votes: [vote('R2', 'y', { document: 8, page: 1, box }, { document: 7, page: 2, boxes: [box, box] })] },
    { criterion, votes: [vote('R3', 'y', { document: 9, page: 1, box }, { document: 7, page: 0, box }, { document: 7, page: 3 }), { rater: 'R3', value: 'y' }] },
  ]);
  assert.deepEqual(marks.map(({ document, page, name, boxes }) => [document, page, name, boxes.length]), [[7, 1, 'R1, R2', 1], [8, 1, 'R2', 1], [7, 2, 'R2', 2]]);
  assert.match(marks[0].title, /Right: Yes; Right: No/);
  assert.deepEqual(marks.map((mark) => mark.colour), ['R1', 'R2', 'R2'].map((rater) => colourOf(rater, dispute.raters)));
  const many = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
  assert.deepEqual(many.map((rater) => colourOf(rater, many)), [1, 2, 3, 4, 5, 6, 1].map((n) => `var(--rater-${n})`));
  assert.equal(colourOf('nobody', many), 'var(--rater-1)');
  assert.deepEqual(marksOf({ raters: [], presentation: {} }, []), []);
});

test('marks are drawn until they are hidden, and stay hidden for the next item', () => {
  const drawn = [];
  const line = new MarksLine((marks) => drawn.push(marks.length));
  assert.equal(line.element.hidden, true);
  const marks = [{ name: 'R1', colour: 'x' }, { name: 'R1', colour: 'x' }, { name: 'R2', colour: 'y' }];
  line.show(marks);
  assert.deepEqual([line.element.hidden, line.names.children.length, line.names.textContent], [false, 2, 'R1R2']);
  line.button.click();
  line.show(marks.slice(1));
  assert.deepEqual([drawn, line.button.getAttribute('aria-pressed')], [[3, 0, 0], 'false']);
  line.button.click();
  assert.deepEqual([drawn.at(-1), line.button.getAttribute('aria-pressed')], [2, 'true']);
  line.show([]);
  assert.equal(line.element.hidden, true);
});

test('each place at a label can be shown and taken away, by its number', () => {
  assert.deepEqual(supportNotes(null), []);
  const said = [];
  for (const note of supportNotes([{ page: 1, text: 'one' }, { page: 2, box: [0, 0, 1, 1] }])) {
    for (const one of note.children) {
      one.addEventListener('support', (event) => said.push([event.detail.number, event.detail.remove]));
      one.click();
    }
  }
  assert.deepEqual(said, [[0, false], [0, true], [1, false], [1, true]]);
});

// Controls ------------------------------------------------------------------------------------------------------------

const LABELS = [{ value: 'a', title: 'A', key: '1' }, { value: 2, title: '', key: '2', definition: 'two' }, { value: 'c', title: 'c', key: 'c' }];

/** A control with what it gave. */
function control(kind, labels = LABELS) {
  const given = [];
  const made = kindOf({ kind }).create({ criterion: { kind, labels }, name: 'Right', give: (value, next) => given.push([value, next]) });
  const on = () => made.element.children.map((one) => one.getAttribute('aria-checked') === 'true' && one.classList.on.has('sel'));
  const stop = () => made.element.children.map((one) => one.tabIndex === 0);
  return { made, given, on, stop };
}

test('one of several labels is given by its button and by its key, and goes on', () => {
  const { made, given, on, stop } = control('choice');
  assert.deepEqual(made.element.children.map((one) => one.textContent), ['A1', '22', 'c'], 'a key that is the title is not said twice');
  assert.deepEqual(made.element.children.map((one) => [one.getAttribute('role'), one.getAttribute('aria-description')]), [['radio', null], ['radio', 'two'], ['radio', null]]);
  made.element.children[1].click();
  assert.deepEqual([made.key('c'), made.key('x')], [true, false]);
  assert.deepEqual(given, [[2, true], ['c', true]]);
  made.show({ value: '2' });
  assert.deepEqual([on(), stop()], [[false, true, false], [false, true, false]]);
  made.show(null);
  assert.deepEqual([on(), stop()], [[false, false, false], [true, false, false]]);
});

test('arrows go round the labels from where the focus is, and begin at the first', () => {
  const { made, stop } = control('choice');
  const at = () => made.element.children.indexOf(document.activeElement);
  document.activeElement = null;
  for (const [by, place] of [[1, 0], [1, 1], [1, 2], [1, 0], [-1, 2], [-1, 1]]) {
    made.move(by);
    assert.equal(at(), place);
    assert.deepEqual(stop(), [0, 1, 2].map((one) => one === place));
  }
  made.show({ value: 'c' });
  made.focus();
  assert.equal(at(), 2);
});

test('labels of a set go on and off in the order of the protocol; none at all is said by its own button', () => {
  const { made, given, on } = control('several');
  assert.equal(made.element.getAttribute('role'), 'group');
  assert.equal(on().length, 4);
  made.key('c');
  made.show({ value: ['c'] });
  made.key('1');
  made.show({ value: ['a', 'c'] });
  assert.deepEqual(on(), [true, false, true, false]);
  made.key('c');
  made.show({ value: ['a'] });
  made.key('1');
  made.show(null);
  assert.deepEqual(on(), [false, false, false, false]);
  made.key('0');
  made.show({ value: [] });
  assert.deepEqual(on(), [false, false, false, true]);
  made.key('2');
  assert.deepEqual(given, [[['c'], false], [['a', 'c'], false], [['a'], false], [null, false], [[], true], [['2'], false]]);
  const taken = control('several', [...LABELS, { value: 'o', title: 'O', key: '0' }]);
  taken.made.key('0');
  assert.deepEqual(taken.given, [[['o'], false]], 'the key of a label stays its own');
});
