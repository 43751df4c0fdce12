/**
 * What stands on the screen of each desk in each of its states: every part that has a name, every button, and the words of
 * messages. What is no longer put there, or is put there twice, is noticed. `ASSAY_WRITE=1 node --test tests/js/outline.test.js`
 * writes the outlines anew where that is wanted; look at what differs.
 */

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { after, beforeEach, test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS, leave, press, refusal, Server } from './whole_page.js';

await loadKinds();
const annotate = await import('../../app/widgets/annotate/app.js');
const adjudicate = await import('../../app/widgets/adjudicate/app.js');
const revise = await import('../../app/widgets/revise/app.js');

const FILE = new URL('../data/outlines.json', import.meta.url);
const KEPT = JSON.parse(readFileSync(FILE, 'utf8'));
const STATE = { progress: { done: 1, of: 3, seconds_today: 65 }, finished: false, halted: null, enough: null, phase: null };
const { study, item } = DESKS.evidence;
const work = (items, more = {}) => ({ items, ...STATE, study, keys: DESKS.keys.annotate, person: { id: 7, name: 'ada' }, last: null, ...more });
const done = (more = {}) => ({ saved_at: '2026-03-02T09:00:00Z', status: 'done', items: [], ...STATE, ...more });
const held = { item_id: 3, study_item_id: 1, by: 'rob' };
const both = { ...DESKS.dispute, units: DESKS.dispute.units.map((unit) => ({ ...unit, needs_decision: true })), comments: { R1: 'Odd.' }, flags: { R2: 'Look.' } };

/** Every state: the desk, what the server answers, and what is done there. */
const STATES = {
  'annotate: an item': ['annotate', { work: work([item]) }],
  'annotate: a label was given': ['annotate', { work: work([item]) }, async () => press('1')],
  'annotate: what is missing': ['annotate', { work: work([item]) }, async () => (await pass(1000), press('Enter'))],
  'annotate: an item that came back': ['annotate', { work: work([{ ...item, sitting: 2, returned: 'Look at page 3.', previous: [{ criterion: 'grounding', target: 'evidence:E1', value: 'required' }] }]) }],
  'annotate: a reason to skip': ['annotate', { work: work([item]) }, async () => press('s')],
  'annotate: keys': ['annotate', { work: work([item]) }, async () => press('?')],
  'annotate: guidelines': ['annotate', { work: work([item]) }, async () => press('g')],
  'annotate: passages': ['annotate', { work: work([item]) }, async (app) => app.viewer.tools.passages.click()],
  'annotate: refused': ['annotate', { work: work([item]), submit: refusal(409, 'No.') }, async () => {
    for (const key of ['1', '1', 'Enter']) await press(key);
    await pass(700);
  }],
  'annotate: halted': ['annotate', { work: work([], { halted: 'Paused.' }) }],
  'annotate: nothing': ['annotate', { work: work([]) }],
  'annotate: finished': ['annotate', { work: work([], { finished: true }) }],
  'annotate: enough': ['annotate', { work: work([], { finished: true, enough: 'You have judged enough.' }) }],
  'annotate: no connection': ['annotate', { work: new TypeError('no') }],
  'annotate: signed out': ['annotate', { work: refusal(401) }],
  'annotate: waiting': ['annotate', { work: work([item]), submit: new Promise(() => undefined) }, async () => {
    for (const key of ['1', '1', 'Enter']) await press(key);
  }],
  'annotate: skipped': ['annotate', { work: work([item]), skip: done({ finished: true }) }, async (app) => {
    await press('s');
    app.judgement.dock.element.querySelectorAll('button')[0].click();
    await pass(700);
  }],
  'adjudicate: an item': ['adjudicate', { disputes: DESKS.disputes, 1: both }],
  'adjudicate: decided against most': ['adjudicate', { disputes: DESKS.disputes, 1: both }, async () => (await press('2'), press('2'))],
  'adjudicate: the rest': ['adjudicate', { disputes: DESKS.disputes, 1: both }, async () => press('A')],
  'adjudicate: to whom it goes back': ['adjudicate', { disputes: DESKS.disputes, 1: both }, async (app) => app.act('return')],
  'adjudicate: again': ['adjudicate', { disputes: DESKS.disputes, 1: { ...both, again: true } }],
  'adjudicate: not allowed': ['adjudicate', { disputes: DESKS.disputes, 1: { ...both, allowed: 'You judged it.' } }],
  'adjudicate: others have it': ['adjudicate', { disputes: { ...DESKS.disputes, queue: [], held: [held] } }],
  'adjudicate: others wait': ['adjudicate', { disputes: { ...DESKS.disputes, queue: [], counts: { adjudicated: 0, disputed: 0, others: 2 } } }],
  'adjudicate: nothing': ['adjudicate', { disputes: { ...DESKS.disputes, queue: [] } }],
  'adjudicate: no connection': ['adjudicate', { disputes: new TypeError('no') }],
  'adjudicate: loading': ['adjudicate', { disputes: DESKS.disputes, 1: new Promise(() => undefined) }],
  'revise: an item': ['revise', { revisions: DESKS.revisions, revision: DESKS.revision }],
  'revise: an answer is written': ['revise', { revisions: DESKS.revisions, revision: DESKS.revision, plan: { plan: { version: 2, edited: ['answer'], differences: { answer: [['same', 'A']] }, effects: [], verdicts: 0 } } }, async (app) => {
    app.judgement.fields.write('answer', 'Better.');
    await pass(500);
  }],
  'revise: a field is open': ['revise', { revisions: DESKS.revisions, revision: DESKS.revision }, async () => press('2')],
  'revise: rejected, why': ['revise', { revisions: DESKS.revisions, revision: DESKS.revision }, async (app) => app.act('reject')],
  'revise: only revises': ['revise', { revisions: DESKS.revisions, revision: { ...DESKS.revision, only_revises: true } }],
  'revise: may not': ['revise', { revisions: DESKS.revisions, revision: { ...DESKS.revision, why_not: 'You wrote it.' } }],
  'revise: others have it': ['revise', { revisions: { ...DESKS.revisions, waiting: [], held: [held] } }],
  'revise: nothing': ['revise', { revisions: { ...DESKS.revisions, waiting: [] } }],
  'revise: loading': ['revise', { revisions: new Promise(() => undefined) }],
  'revise: no connection': ['revise', { revisions: new TypeError('no') }],
};

const MAKE = {
  annotate: (number) => new annotate.App({ study: number, person: '7' }),
  adjudicate: (number) => new adjudicate.App({ study: number, person: '7', project: 'project', home: '/', sign_in: '/', keys: DESKS.keys.adjudicate }),
  revise: () => new revise.App({ project: 1, person: '7', item: null, home: '/', sign_in: '/', keys: DESKS.keys.revise }),
};

/** What has a name in an element that shows, with the words of what has no parts of its own. */
function outline(element) {
  if (element.hidden) return [];
  const inner = element.elements.flatMap(outline);
  const name = element.getAttribute('data-testid') ?? (['button', 'a', 'h1', 'h2', 'h3', 'textarea', 'select', 'input'].includes(element.tag) ? element.tag : null);
  const own = element.children.filter((child) => !element.elements.includes(child)).map((child) => child.textContent.trim()).filter(Boolean).join(' ')
    .replace(/\d\d:\d\d( [AP]M)?/g, 'hh:mm');
  const pressed = element.getAttribute('aria-pressed') ?? element.getAttribute('aria-checked');
  return name || own ? [[name ?? element.tag, pressed, own].filter(Boolean).join(' '), ...inner] : inner;
}

let app;
const down = () => {
  app?.detach(() => undefined);
  leave();
};
beforeEach(() => {
  down();
  localStorage.clear();
});
after(() => {
  down();
  if (process.env.ASSAY_WRITE) writeFileSync(FILE, `${JSON.stringify(KEPT, null, 1)}\n`);
});

Object.entries(STATES).forEach(([name, [desk, on, act]], number) => test(name, async () => {
  void new Server({
    draft: { saved_at: 'now' }, take: { mine: true, by: 'me', state: desk === 'revise' ? 'in_revision' : 'disputed' }, leave: { left: 1 }, ...on,
  });
  app = MAKE[desk](9000 + number);
  const main = document.createElement('main');
  document.body.replaceChildren(main);
  app.attach(main);
  void app.load();
  await pass(700);
  await act?.(app);
  await pass(50);
  const found = outline(app.shell.root);
  if (process.env.ASSAY_WRITE) KEPT[name] = found;
  assert.deepEqual(found, KEPT[name]);
}));
