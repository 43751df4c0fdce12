/** Walks through a protocol before there is a study: step by step, and with right labels that are handed over (walk.js). */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DESKS } from './whole_page.js';
import { KINDS, KINDS_ITEM, UNITS, UNITS_ITEM, IMAGES_ITEM, PAGES, PAGES_ITEM } from './walk_items.js';
import { Walk } from './walk.js';

const { loadKinds } = await import('./browser.js');
await loadKinds();
const { register } = await import('node:module');
register(`data:text/javascript,${encodeURIComponent("export const resolve = (name, context, next) => (name.endsWith('criteria/all.js') ? { url: 'data:text/javascript,', shortCircuit: true } : next(name, context));")}`);
const { Preview, mount } = await import('../../app/widgets/annotate/preview.js');

async function begin(name, options) {
  const walk = new Walk(`preview_${name}`, {}, 'preview_kinds');
  const said = [];
  await walk.up(new Preview({ place: name, keys: DESKS.keys.annotate, item: 'first', labelling: false, ...options }, () => said.push('closed'), (steps) => said.push(steps)));
  return { walk, said };
}

test('every step is shown as annotators see it, with what was answered before, and nothing is sent', async () => {
  const { walk, said } = await begin('kinds', { protocol: structuredClone(KINDS), steps: [KINDS_ITEM, { ...KINDS_ITEM, step: 1 }] });
  await walk.press('s', '2', 'Enter', 'z', 'g', 'Escape', '?', 'Escape', 'f', 'm', ']');
  await walk.click('preview-step', 1);
  await walk.press('1', '4', 'Enter', '3', 'Enter', 'z');
  await walk.click('guidelines-button');
  await walk.click('keys-button');
  await walk.press('Escape');
  await walk.click('preview-close');
  assert.deepEqual(said, ['closed']);
  assert.equal(localStorage.length, 0);
  await walk.end();
});

test('right labels are handed over once every step has them, with what explains each', async () => {
  const { walk, said } = await begin('labelling', { protocol: structuredClone(UNITS), steps: [UNITS_ITEM, IMAGES_ITEM], labelling: true });
  await walk.press('1', '2', '2', '3', '5', '6', '4', '5', '5', 'Enter', 'z', 'z');
  await walk.click('preview-step', 1);
  await walk.press('1', '4', '2', '3', 'c');
  await walk.type('comment-field', 'Because of this.');
  await walk.type('comment-field', 'Because of all.', 1);
  await walk.press('Escape', 'Enter');
  assert.deepEqual(said.map((steps) => steps.map(({ step, labels }) => [step, labels.length, labels.map(({ comment }) => comment).filter(Boolean)])), [
    [[0, 9, []], [1, 4, ['Because of all.', 'Because of all.', 'Because of all.', 'Because of this.']]],
  ]);
  await walk.click('preview-step');
  await walk.press('Backspace', 'ArrowDown');
  await walk.click('preview-step', 1);
  await walk.click('submit');
  assert.equal(said.length, 1, 'what was passed over is shown instead');
  await walk.end();
});

test('what is found on its pages comes with the item', async () => {
  const marks = { phrases: { complete: true, searched: 4, phrases: [{ text: 'pier', of: 'answer', count: 1, hits: [{ document: 1, page: 3, boxes: [[0.1, 0.1, 0.2, 0.2]] }] }, { text: 'quay', of: 'reference', count: 0, hits: [] }] }, passages: { complete: true, passages: [{ evidence: 'E1', document: 1, page: 2, boxes: [[0.1, 0.1, 0.2, 0.2]] }] } };
  const { walk } = await begin('pages', { protocol: structuredClone(PAGES), steps: [{ ...PAGES_ITEM, marks, evidence: [{ key: 'E1', kind: 'passage', document: 1, pages: [2], box: null, text: 'The pier.', title: '' }] }] });
  await walk.press('.', ',', '1', 'h', '}', 'E');
  await walk.click('phrases');
  await walk.click('phrases');
  await walk.click('all-phrases');
  await walk.click('phrase');
  await walk.end();
});

test('the host page hears what is closed or labelled, from the latest call', async () => {
  const said = [];
  const parent = document.createElement('div');
  document.body.replaceChildren(parent);
  const data = { place: 'mounted', protocol: structuredClone(PAGES), keys: DESKS.keys.annotate, steps: [PAGES_ITEM], item: 'i', labelling: false };
  const call = (name) => {
    const going = mount({ data, parentElement: parent, setTriggerValue: (what, value) => said.push([name, what, value]) });
    document.body.querySelector('preview').shadowRoot.querySelector('link').dispatchEvent(new Event('load'));
    return going;
  };
  const first = await call('first');
  const second = await call('second');
  const host = document.body.querySelector('preview');
  host.shadowRoot.querySelector('preview-close').click();
  assert.deepEqual(said, [['second', 'closed', true]]);
  await first();
  assert.ok(host.isConnected, 'an earlier call is ended after a later one began');
  await second();
  assert.equal(host.isConnected, false);
});
