/** Bars between parts of the page, and what opens above the footer: by keys, by pointer, and what is remembered. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { pass } from './browser.js';
import { keydown } from './page.js';
import { box } from './placed.js';
import { Divider, PaneDivider, Panes } from '../../app/widgets/annotate/judgement/divider.js';
import { Dock } from '../../app/widgets/shared/dock.js';
import { TEXT } from '../../app/widgets/shared/text.js';

beforeEach(() => document.body.replaceChildren());

/** A bar that stands at 40 of 10 to 90 percent. */
function divider(upright = true) {
  const moved = [];
  const kept = [];
  let value = 40;
  const made = new Divider({
    name: 'Width', testid: 'bar', upright, whole: () => ({ left: 100, top: 200, width: 1000, height: 500 }), where: () => ({ value, least: 10, most: 90 }),
    move: (to) => (moved.push(to), value = to ?? 50), keep: (to) => kept.push(to),
  });
  box(made.element, 500, 400, 10, 10);
  const aria = () => ['valuenow', 'valuemin', 'valuemax'].map((word) => made.element.getAttribute(`aria-${word}`));
  return { made, moved, kept, aria };
}

test('a bar is moved by the arrows of its way, far with Shift, to its ends, and put back', () => {
  for (const [upright, less, more, others] of [[true, 'ArrowLeft', 'ArrowRight', ['ArrowUp', 'ArrowDown']], [false, 'ArrowUp', 'ArrowDown', ['ArrowLeft', 'ArrowRight']]]) {
    const { made, moved, kept, aria } = divider(upright);
    assert.equal(made.element.getAttribute('aria-orientation'), upright ? 'vertical' : 'horizontal');
    made.resizes?.told?.();
    made.tell();
    assert.deepEqual(aria(), ['40', '10', '90']);
    for (const [key, more_, to, now] of [[less, {}, 38, '38'], [more, {}, 40, '40'], [more, { shiftKey: true }, 50, '50'], [less, { shiftKey: true }, 40, '40'], ['Home', {}, 10, '10'], [less, {}, 10, '10'], ['End', {}, 90, '90'], [more, {}, 90, '90'], ['Enter', {}, null, '50']]) {
      const event = keydown(made.element, key, more_);
      assert.deepEqual([event.defaultPrevented, moved.at(-1), kept.at(-1), aria()[0]], [true, to, to, now], key);
    }
    const before = moved.length;
    for (const key of [...others, 'a', 'Tab']) assert.equal(keydown(made.element, key).defaultPrevented, false, key);
    assert.equal(moved.length, before);
    made.element.dispatchEvent(new Event('dblclick'));
    assert.deepEqual([moved.at(-1), kept.at(-1)], [null, null]);
  }
});

test('a bar that is dragged follows the pointer where it was held, once a frame, and is remembered when it is let go of', async () => {
  for (const [upright, from, to, wanted] of [[true, { clientX: 503 }, { clientX: 603 }, 50], [false, { clientY: 403 }, { clientY: 453 }, 50]]) {
    const { made, moved, kept } = divider(upright);
    const send = (type, more) => {
      const event = Object.assign(new Event(type, { cancelable: true }), { button: 0, pointerId: 1, ...more });
      made.element.dispatchEvent(event);
      return event;
    };
    assert.equal(send('pointerdown', { ...from, button: 1 }).defaultPrevented, false);
    assert.equal(made.element.classList.contains('held'), false);
    assert.equal(send('pointerdown', from).defaultPrevented, true);
    assert.equal(made.element.classList.contains('held'), true);
    send('pointermove', from);
    send('pointermove', to);
    assert.deepEqual(moved, []);
    await pass(20);
    assert.deepEqual([moved, kept], [[wanted], []]);
    send('pointermove', upright ? { clientX: 9999 } : { clientY: 9999 });
    send('lostpointercapture');
    assert.deepEqual([moved.at(-1), kept, made.element.classList.contains('held')], [90, [90], false]);
    send('pointermove', from);
    await pass(20);
    assert.deepEqual(moved, [wanted, 90]);
    send('pointerdown', from);
    send('lostpointercapture');
    assert.deepEqual(kept, [90], 'pressed and not moved');
  }
});

test('the places of bars are kept together, and none is kept where all are the program’s', () => {
  const kept = new Map();
  const panes = new Panes(kept);
  assert.equal(panes.get('side'), null);
  panes.set('side', 40);
  panes.set('reading', 30);
  assert.deepEqual([panes.get('side'), kept.get('panes')], [40, { side: 40, reading: 30 }]);
  panes.set('side', null);
  assert.deepEqual(kept.get('panes'), { reading: 30 });
  panes.set('reading', null);
  assert.equal(kept.get('panes'), null);
});

test('the bar between the two sides leaves each its least, and is where the person has put it', () => {
  const kept = new Map([['panes', { side: 45 }]]);
  const stage = box(document.createElement('main'), 0, 0, 1000, 600);
  const made = new PaneDivider(stage, new Panes(kept));
  made.element.offsetLeft = 450;
  assert.equal(stage.style['--left'], '45%');
  assert.deepEqual(made.where(), { value: 45, least: 32, most: 62 });
  keydown(made.element, 'End');
  assert.deepEqual([stage.style['--left'], kept.get('panes')], ['62%', { side: 62 }]);
  keydown(made.element, 'Enter');
  assert.deepEqual([stage.style['--left'], kept.get('panes')], [undefined, null]);
  assert.equal(new PaneDivider(document.createElement('main'), new Panes(new Map())).where().least, 32_000, 'a stage without a size');
});

// What opens above the footer -----------------------------------------------------------------------------------------

function dock() {
  let closed = 0;
  const said = [];
  const made = new Dock(() => (closed += 1));
  document.body.replaceChildren(made.element);
  const buttons = () => made.element.querySelectorAll('button').map((one) => one.textContent);
  const press = (words) => made.element.querySelectorAll('button').find((one) => one.textContent.startsWith(words)).click();
  return { made, said, buttons, press, closed: () => closed };
}

test('a reason is given from the list by its number, in words by Enter, and not without one where it is needed', () => {
  const { made, said, buttons, press, closed } = dock();
  const say = (reason) => said.push(reason);
  assert.deepEqual([made.key('1'), made.open, made.asking], [false, false, false]);
  made.close();
  assert.equal(closed(), 0, 'nothing was open');
  made.ask('Why?', ['One', 'Two'], '', say);
  assert.deepEqual([made.open, made.asking, buttons(), made.element.getAttribute('role'), made.element.getAttribute('aria-label')],
    [true, true, ['1One', '2Two', `${TEXT.cancel}Esc`, `${TEXT.ok}Enter`], 'dialog', 'Why?']);
  assert.equal(document.activeElement.getAttribute('class'), 'reasons');
  assert.equal(made.key('3'), false, 'it is typed into the field');
  assert.equal(document.activeElement, made.field);
  assert.deepEqual([made.key('Enter'), made.problem.textContent, said, made.open], [true, TEXT.reasonNeeded, [], true]);
  assert.deepEqual([made.key('ArrowUp'), made.key('2'), said, made.open, closed()], [true, true, ['Two'], false, 1]);
  assert.equal(made.asking, false);
  made.ask('Why?', [], 'So', say);
  assert.deepEqual([document.activeElement === made.field, made.field.value, made.field.getAttribute('aria-label'), made.field.getAttribute('placeholder')], [true, 'So', 'Why?', null]);
  made.field.value = '  So it is. ';
  keydown(made.field, 'Enter', { shiftKey: true });
  keydown(made.field, 'Enter', { isComposing: true });
  assert.equal(made.open, true);
  assert.equal(keydown(made.field, 'Enter').defaultPrevented, true);
  assert.deepEqual(said, ['Two', 'So it is.']);
  made.ask('Why?', ['One'], '', say, false);
  press(TEXT.ok);
  assert.deepEqual(said, ['Two', 'So it is.', '']);
  made.ask('Why?', ['One'], '', say);
  press(TEXT.cancel);
  assert.deepEqual([said.length, made.open, made.asking, closed()], [3, false, false, 4]);
});

test('one of several is chosen by its number or a press, and no other key does anything', () => {
  const { made, said, buttons, closed } = dock();
  made.ask('Before', [], '', () => undefined);
  made.close();
  made.choose('Which?', ['R1', 'R2'], (choice) => said.push(choice));
  assert.deepEqual(buttons(), ['1R1', '2R2', `${TEXT.cancel}Esc`]);
  assert.deepEqual(['3', 'a', 'Enter'].map((key) => made.key(key)), [true, true, true]);
  assert.deepEqual([said, made.open], [[], true]);
  made.element.querySelectorAll('reason')[1].click();
  assert.deepEqual([said, made.open, closed()], [['R2'], false, 2]);
  made.choose('Which?', ['R1', 'R2'], (choice) => said.push(choice));
  made.key('1');
  assert.deepEqual(said, ['R2', 'R1']);
});

test('what is told is read before one goes on, by Enter alone', () => {
  const { made, said, closed } = dock();
  made.tell('Told', [document.createElement('p')], () => said.push(`read after ${closed()}`));
  assert.equal(document.activeElement.getAttribute('data-testid'), 'told');
  assert.deepEqual([made.key('1'), made.key('x'), said], [true, true, []]);
  assert.deepEqual([made.key('Enter'), said, made.open], [true, ['read after 1'], false]);
  made.ask('Why?', ['One'], '', (reason) => said.push(reason));
  made.key('1');
  assert.deepEqual(said, ['read after 1', 'One'], 'the next is no telling');
});

test('comments are kept as they are typed, each its own, and Enter goes back to the labels', () => {
  const { made, said, closed } = dock();
  made.comment([{ title: 'On this', value: 'a', change: (text) => said.push(['this', text]) }, { title: 'On all', value: '', change: (text) => said.push(['all', text]) }]);
  const [first, second] = made.element.querySelectorAll('comment-field');
  assert.deepEqual([first.value, second.value, document.activeElement === first, made.asking, made.key('1')], ['a', '', true, false, false]);
  first.value = 'ab';
  first.dispatchEvent(new Event('input'));
  second.value = 'c';
  second.dispatchEvent(new Event('input'));
  assert.deepEqual(said, [['this', 'ab'], ['all', 'c']]);
  keydown(second, 'Enter');
  assert.deepEqual([made.open, closed(), made.element.children.length], [false, 1, 0]);
});
