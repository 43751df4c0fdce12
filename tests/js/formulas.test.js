/** Formulas: drawn by a renderer that is fetched once it is needed, a few at a time, and as they were written where it cannot. */

import assert from 'node:assert/strict';
import { register } from 'node:module';
import { beforeEach, test } from 'node:test';
import { pass, WIDGETS } from './browser.js';
import './whole_page.js';

// The renderer of the server, which cannot be fetched the first time; a test says what it draws.
const RENDERER = 'export const version = 1; export const katex = { render: (...what) => globalThis.drawn(...what) };';
register(`data:text/javascript,${encodeURIComponent(`let times = 0;
export const resolve = (name, context, next) => {
  if (!name.endsWith('formulas/katex.js')) return next(name, context);
  times += 1;
  if (times <= 2) throw new Error('not there');
  return { url: 'data:text/javascript,${RENDERER}', shortCircuit: true };
};`)}`);
const { drawFormulas } = await import('../../app/widgets/texts/formulas.js');
const { h } = await import('../../app/widgets/shared/dom.js');

/** Until what was asked for before has been fetched, or could not be: one import after the other is worked through. */
const fetched = () => import(new URL('formulas/katex.js', WIDGETS).href).catch(() => undefined);

let asked;
beforeEach(() => {
  asked = [];
  document.body.replaceChildren();
  globalThis.drawn = (tex, place, options) => {
    asked.push([tex, options]);
    if (tex === 'bad') throw new Error('no formula');
    if (tex !== 'nothing') place.append(h('span', {}, h('math', {}, h('mi', {}, tex), h('annotation', {}, 'source'))));
  };
});
const formula = (tex, display = false, shown = true) => {
  const element = h('span', {}, `$${tex}$`);
  if (shown) document.body.append(element);
  return { element, tex, display };
};
const texts = (...formulas) => formulas.map(({ element }) => [element.textContent, element.classList.contains('drawn')]);

test('without the renderer formulas stay as they were written; with the next text it is tried again', async () => {
  const first = formula('x');
  drawFormulas([]);
  drawFormulas([first]);
  await pass(1);
  await fetched();
  await pass(50);
  assert.deepEqual(texts(first), [['$x$', false]]);
  const second = formula('y');
  drawFormulas([second]);
  await pass(1);
  await fetched();
  await pass(50);
  assert.deepEqual(texts(first, second), [['$x$', false], ['y', true]]);
  assert.equal(second.element.querySelector('annotation'), null);
});

test('each formula is drawn once, by its kind, under what it may cost; what is none stays, and what left the screen is not drawn', async () => {
  const made = [formula('a'), formula('a'), formula('a', true), formula('bad'), formula('nothing'), formula('gone', false, false), formula('bad')];
  drawFormulas(made.slice(0, 3));
  drawFormulas(made.slice(3));
  await pass(50);
  assert.deepEqual(texts(...made), [['a', true], ['a', true], ['a', true], ['$bad$', false], ['$nothing$', false], ['$gone$', false], ['$bad$', false]]);
  assert.deepEqual(asked.map(([tex, options]) => [tex, options.displayMode]), [['a', false], ['a', true], ['bad', false], ['nothing', false]]);
  const { displayMode, macros, ...limits } = asked[0][1];
  assert.deepEqual([displayMode, macros, limits], [false, {}, { maxExpand: 200, maxSize: 20, trust: false, strict: 'ignore', throwOnError: true, output: 'mathml' }]);
  assert.notEqual(made[0].element.children[0], made[1].element.children[0]);
});

test('the page is let go on while many are drawn, and five hundred are remembered', async () => {
  let late = 0;
  const { now } = performance;
  performance.now = () => now() + late;
  const draw = globalThis.drawn;
  globalThis.drawn = (...what) => {
    late += 4;
    draw(...what);
  };
  const few = ['p', 'q', 'r', 's'].map((tex) => formula(tex));
  drawFormulas(few);
  await pass(1);
  assert.deepEqual(texts(...few).map(([, is]) => is), [true, true, false, false], 'six milliseconds at once');
  await pass(50);
  assert.deepEqual(texts(...few).map(([, is]) => is), [true, true, true, true]);
  globalThis.drawn = draw;
  performance.now = now;
  asked = [];
  drawFormulas(Array.from({ length: 500 }, (_, at) => formula(`n${at}`)));
  await pass(500);
  drawFormulas([formula('n0'), formula('n499'), formula('p')]);
  await pass(50);
  assert.deepEqual(asked.slice(500).map(([tex]) => tex), ['p'], 'the oldest was forgotten');
});
