/** Walks of adjudicators: many units, hops, reasons, rest at once, items that others have, that are refused or gone (walk.js). */

import { test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS, refusal } from './whole_page.js';
import { criterion, doc, item, label, PAGES, PAGES_ITEM, protocol, unit, YES_NO } from './walk_items.js';
import { Walk } from './walk.js';

await loadKinds();
const { App } = await import('../../app/widgets/adjudicate/app.js');

const MINE = { mine: true, by: 'me', state: 'disputed' };
const vote = (rater, value, more = {}) => ({ rater, value, cannot_judge: value === null, reason: null, comment: null, rationale: null, ...more });
/** A unit of which R1, R2 and so on gave these values. */
const voted = (name, target, values, more = {}) => {
  const votes = values.map((value, at) => (value && typeof value === 'object' && 'rater' in value ? value : vote(`R${at + 1}`, value)));
  const counts = {};
  for (const { value } of votes) if (value !== null) counts[value] = (counts[value] ?? 0) + 1;
  const [first, second] = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const outcome = !first ? 'open' : !second && first[1] === votes.length ? 'unanimous' : first[1] > votes.length / 2 ? 'majority' : 'open';
  const value = outcome === 'open' ? null : votes.find((one) => String(one.value) === first[0]).value;
  return { criterion: name, target, votes, counts, outcome, value, majority: value, needs_decision: outcome === 'open', decided: null, rounds: [], ...more };
};
const dispute = (number, presentation, units, more = {}) => {
  const targets = Object.fromEntries(units.map(({ target }) => [target, target]));
  const raters = [...new Set(units.flatMap(({ votes }) => votes.map(({ rater }) => rater)))].sort();
  return {
    study_item_id: number, presentation: { ...presentation, targets }, units, raters, comments: {}, flags: {}, annotations: {}, state: 'disputed', allowed: null, stage: 'final', again: false, ...more,
  };
};
const disputes = (of, numbers, more = {}) => ({
  study: { id: 1, name: 'study', protocol: structuredClone(of) }, counts: { adjudicated: 2, disputed: numbers.length, others: 0 }, held: [], person: { name: 'ada' },
  queue: numbers.map((number) => ({ study_item_id: number, n_disputed: 1, dispute: 0.5 })), ...more,
});

let studies = 200;
async function begin(name, on) {
  studies += 1;
  const walk = new Walk(`adjudicate_${name}`, { take: MINE, leave: { left: 1 }, adjudicate: { adjudication: { state: 'adjudicated', final: 1 } }, preferences: {}, ...on }, 'adjudicate_many');
  await walk.up(new App({ study: studies, person: '7', project: 'project', home: '/home', sign_in: '/in', keys: DESKS.keys.adjudicate }));
  return walk;
}

const LABELS = [...YES_NO, label('part', 'In part', '3')];
const MANY = protocol({ all: [
  criterion('right', 'choice', { labels: LABELS, help: 'As a whole' }), criterion('needed', 'choice', { target: 'evidence', labels: YES_NO }),
  criterion('said', 'text', { required: false }), criterion('why', 'several', { labels: YES_NO, when: { criterion: 'right', values: ['no'] } }),
] });
const EVIDENCE = Array.from({ length: 6 }, (_, at) => unit(`E${at + 1}`, { document: 1, pages: [at % 4 + 1] }));
const MANY_ITEM = item(1, { shown: ['answer', 'evidence'], evidence: EVIDENCE, documents: [doc(1)], scores: [{ criterion: 'right', scorer: 's', title: 'Overlap', kind: 'share', value: 0.4, words: '0.40', meaning: 'How much.' }] });
const many = (number = 1, more = {}) => dispute(number, MANY_ITEM, [
  voted('right', 'item', [vote('R1', 'yes', { comment: 'It is.', rationale: [{ document: 1, page: 2, text: 'The pier', boxes: [[0.1, 0.1, 0.4, 0.2]] }] }), vote('R2', 'no', { rationale: [{ document: 'd1.pdf', page: 2, box: [0.1, 0.1, 0.4, 0.2] }, { document: 1, page: 3, box: [0.5, 0.5, 0.6, 0.6] }] }), vote('R3', null, { reason: 'I cannot read it.' })]),
  voted('needed', 'evidence:E1', ['yes', 'yes', 'yes']), voted('needed', 'evidence:E2', ['no', 'no', 'no']), voted('needed', 'evidence:E3', ['no', 'no', 'no']),
  voted('needed', 'evidence:E4', ['yes', 'no', 'no'], { needs_decision: true }), voted('needed', 'evidence:E5', ['yes', 'no', null]), voted('needed', 'evidence:E6', ['no', 'yes', null]),
  voted('said', 'item', ['One thing.', 'Another.', 'A third.'], { needs_decision: false }), voted('why', 'item', []),
], { comments: { R1: 'Odd.' }, flags: { R2: 'Look.', R3: '' }, ...more });

test('many units are decided by keys, against the majority with a reason, and the item is settled', async () => {
  const walk = await begin('many', { disputes: disputes(MANY, [1, 2]), 1: many(), 2: many(2, { flags: {}, comments: {} }) });
  await walk.press('Enter', '2', '1', '1', 'ArrowUp', 'ArrowUp', 'c');
  await walk.type('reason-for', 'They overlooked it.', 1);
  await walk.press('Escape', 'Enter');
  await walk.choose('cause', 'guideline_gap');
  await walk.choose('confidence', 'high');
  await walk.type('note', 'Say what a pier is.');
  await walk.click('fold');
  await walk.click('otherwise');
  await walk.press('2', 'Backspace', 'Space', '1', 'z');
  await walk.click('marks');
  await walk.click('marks');
  await walk.click('unit-chip', 4);
  await walk.press('2', '}', '{', 'Backspace', 'A', '1');
  await walk.press('ArrowDown', 'ArrowDown', 'A', 'Escape', 'A', '3', 'z', 'A', '2');
  await walk.press('Enter', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'Enter');
  await walk.step('settled', () => {
    for (const field of walk.app.shell.root.querySelectorAll('reason-for')) {
      field.value = 'So it is.';
      field.dispatchEvent(new Event('input', { bubbles: true }));
    }
  });
  await walk.click('settle');
  await walk.step('half a minute', () => pass(30_000));
  await walk.press('z', '1', 's', 'g', 'Escape', '?', 'Escape', 'm');
  await walk.end();
});

test('the rest is decided as one annotator said, against the majority only with a reason, and taken back', async () => {
  const units = ['E1', 'E2', 'E3', 'E4'].map((key) => voted('needed', `evidence:${key}`, ['yes', 'no', 'no'], { needs_decision: true }));
  const walk = await begin('rest', { disputes: disputes(MANY, [1]), 1: dispute(1, MANY_ITEM, units) });
  await walk.press('A', '1');
  await walk.click('.dock .btn.pri');
  await walk.type('reason-field', 'R1 is right.');
  await walk.click('.dock .btn.pri');
  await walk.press('z', '1');
  await walk.click('rest');
  await walk.press('2', '3', 'z', 'A', '3');
  await walk.click('rest-undo');
  await walk.press('2', '2', '2', '1', 'Enter');
  await walk.type('reason-for', 'So.', 0);
  await walk.type('reason-for', 'So it is.', 3);
  await walk.press('Escape', 'Enter');
  await walk.end();
});

test('pages are decided hop by hop, and goes the way of what is shown', async () => {
  const hops = PAGES_ITEM.units.relevant;
  const walk = await begin('hops', {
    disputes: disputes(PAGES, [1]), 1: dispute(1, { ...PAGES_ITEM, units: {} }, [...hops].reverse().map((target, at) => voted('relevant', target, at % 2 ? ['yes', 'no'] : ['yes', 'yes']))),
  });
  await walk.press('1', ']', '[', '2', 'ArrowUp', 'ArrowDown', 'PageDown', 'Enter', '3', 'c');
  await walk.end();
});

test('decisions of two adjudicators that differ are decided a last time; a decision is looked at again', async () => {
  const units = [
    voted('right', 'item', ['yes', 'no'], { rounds: [{ by: 'rob', value: 'yes', reason: 'It is.', note: null }, { by: null, value: 'no', reason: null, note: null }], decided: 'no' }),
    voted('needed', 'evidence:E1', ['yes', 'yes'], { outcome: 'alike', rounds: [{ by: 'rob', value: null, reason: null, note: null }, { by: null, value: null, reason: null, note: null }] }),
    voted('needed', 'evidence:E2', ['yes', 'no'], { rounds: [{ by: 'rob', value: 'yes', reason: null, note: null }, { by: null, value: null, reason: null, note: null }] }),
  ];
  const walk = await begin('rounds', {
    disputes: disputes(MANY, [1, 2, 3]), 1: dispute(1, MANY_ITEM, units), 2: dispute(2, MANY_ITEM, units, { again: true, state: 'adjudicated', stage: 'second' }), 3: dispute(3, MANY_ITEM, units.slice(0, 1), { allowed: 'You judged it.' }),
  });
  await walk.press('2', 'Enter', '1');
  await walk.click('settle');
  await walk.press('1', '2', 'Backspace', 'c', 'A', 'Enter', 'Space');
  await walk.press('s');
  await walk.end();
});

test('an item goes back to an annotator, for a reason, or does not where the server says no', async () => {
  const walk = await begin('returned', {
    disputes: disputes(MANY, [1, 2]), 1: many(), 2: dispute(2, MANY_ITEM, [voted('right', 'item', ['yes'], { needs_decision: true })]),
    return: [new TypeError('no'), refusal(409, 'They left.'), { returned: 1 }, refusal(401)],
  });
  await walk.press('r', 'Escape', 'r', '2', '1', 'r', '1', '1', 'r', '1', '2');
  await walk.press('r', '1', '1');
  await walk.end();
});

test('what others took, settled or have is passed over, and what was begun is not', async () => {
  const theirs = { mine: false, by: 'rob', state: 'disputed' };
  const walk = await begin('others', {
    disputes: [disputes(MANY, [1, 2, 3]), disputes(MANY, [], { held: [{ study_item_id: 1, by: 'rob' }] }), disputes(MANY, [], { counts: { adjudicated: 2, disputed: 0, others: 3 } }), disputes(MANY, [])],
    1: many(1), 2: many(2, { state: 'adjudicated' }), 3: many(3), take: [theirs, MINE, theirs, { ...MINE, state: 'agreed' }, refusal(401)],
  });
  await walk.press('1');
  await walk.step('a minute', () => pass(61_000));
  await walk.press('2');
  await walk.step('another', () => pass(61_000));
  await walk.press('Backspace', 's');
  await walk.step('a while', () => pass(20_000));
  await walk.step('a while', () => pass(20_000));
  await walk.press('Enter', 'z');
  await walk.end();
});

test('a decision that is refused is given back or discarded, one that comes too late is said, and one can go back', async () => {
  const one = (number, more = {}) => dispute(number, MANY_ITEM, [voted('right', 'item', ['yes', 'no'])], more);
  const walk = await begin('refused', {
    disputes: disputes(MANY, [1, 2, 3, 4]), 1: one(1), 2: one(2), 3: one(3), 4: [one(4), refusal(500), one(4)],
    adjudicate: [new TypeError('no'), { http: 400, error: 'It went back.', kind: 'refused' }, refusal(409, 'Rob was faster.'), { http: 400, error: 'No.', kind: 'refused' }, { adjudication: {} }],
  });
  await walk.press('1', 'Enter');
  await walk.press('z');
  await walk.step('sent again', () => pass(10_000));
  await walk.press('2', 'Enter', '1', 'Enter');
  await walk.click('.alert return');
  await walk.press('Enter');
  await walk.step('a while', () => pass(5000));
  await walk.click('discard');
  await walk.press('z', 'z', 'z', 'z');
  await walk.step('a while', () => pass(5000));
  await walk.end();
});

test('items that do not come, that cannot be drawn, and a session that ends', async () => {
  const broken = many(2);
  broken.presentation = { ...broken.presentation, evidence: [{ key: 'E1' }] };
  const walk = await begin('broken', {
    disputes: [refusal(500), disputes(MANY, [1, 2, 3, 4])], 1: [new TypeError('no'), refusal(410, 'It is gone.')], 2: broken, 3: refusal(401), 4: many(4),
  });
  await walk.step('again', () => pass(3100));
  await walk.step('again', () => pass(3100));
  await walk.click('skip-unshown');
  await walk.step('signed in', () => window.dispatchEvent(new Event('focus')), 3000);
  await walk.press('1', '3');
  await walk.end();
});

test('what wants a reason asks for it where it stands, and the last reason settles the item; settled units are opened by Space', async () => {
  const text = protocol({ all: [criterion('said', 'text'), criterion('right', 'choice', { labels: LABELS }), criterion('holds', 'choice', { target: 'claim', labels: YES_NO })] });
  const claims = [{ key: 'C1', text: 'The pier is old.', of: 'answer' }, { key: 'C2', text: 'Nothing.', of: 'answer' }];
  const of = { ...MANY_ITEM, claims };
  const units = [voted('said', 'item', ['One.', 'Two.'], { needs_decision: true }), voted('right', 'item', ['yes', 'yes', 'no'], { needs_decision: true }), voted('holds', 'claim:C1', ['yes', 'yes', 'yes']), voted('holds', 'claim:C2', ['yes', 'yes', 'no'], { needs_decision: true })];
  const walk = await begin('reasons', { disputes: disputes(text, [1, 2]), 1: dispute(1, of, units), 2: dispute(2, of, units.slice(2)) });
  await walk.press('ArrowUp', 'Space');
  await walk.step('typed', () => (document.activeElement.value = 'One and two.', document.activeElement.dispatchEvent(new Event('input', { bubbles: true }))));
  await walk.press('Escape', 'ArrowDown', '2', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'ArrowDown');
  await walk.click('decision-row[data-target="claim:C1"]');
  await walk.press('c', 'Escape', 'Backspace', 'Space', '2', 'ArrowDown', '2', 'Enter');
  const enter = (number) => walk.step(`Enter in reason ${number}`, () => walk.app.shell.root.querySelectorAll('reason-for').filter((one) => !one.closest('[hidden]'))[number]?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })));
  await enter(1);
  for (let number = 0; number < walk.app.shell.root.querySelectorAll('reason-for').length; number += 1) {
    await walk.step(`reason ${number}`, () => {
      const field = walk.app.shell.root.querySelectorAll('reason-for')[number];
      field.value = `Reason ${number}.`;
      field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    await enter(number);
  }
  await walk.rekey('later', 'j');
  await walk.press('s', 'j', '1', 'Enter');
  await walk.end();
});
