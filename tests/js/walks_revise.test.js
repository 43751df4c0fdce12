/** Walks of revisers: fields, parts, drafts of a model, what falls, and items that others have (walk.js). */

import { test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS, refusal } from './whole_page.js';
import { doc, unit } from './walk_items.js';
import { Walk } from './walk.js';

await loadKinds();
const { App } = await import('../../app/widgets/revise/app.js');

const MINE = { mine: true, by: 'me', state: 'in_revision' };
const EVIDENCE = [unit('E1', { role: 'gold', document: 1, pages: [2], box: [0.1, 0.1, 0.5, 0.2] }), unit('E2', { role: null, document: 1, pages: [1, 3], text: null, kind: 'page' }), unit('E3', { text: `Long ${'word '.repeat(40)}` })];
const WRITTEN = {
  question: 'How old is the pier?', answer: 'It is old.', references: 'It was built in 1888.', answer_claims: 'It is old.', reference_claims: '', others: '{"a": 1}',
  evidence: EVIDENCE.map(({ document, ...part }) => Object.fromEntries(Object.entries({ ...part, document: document && 'd1.pdf' }).filter(([, value]) => value !== null && value !== ''))),
  images: [{ key: 'i1', document: 'd1.pdf', page: 1, box: [0, 0, 0.5, 0.5], caption: 'A pier' }],
};
const failing = (more = {}) => ({ title: 'Right', target: 'E1', final: 'no', votes: [['no', 2, true], ['yes', 1, false]], said: Array.from({ length: 8 }, (_, at) => [`R${at + 1}`, `Said ${at}.`]), decided: 'It is wrong.', notes: ['Say what old is.'], ...more });
const why = (more = {}) => ({ ...DESKS.revision.studies[0], study_id: 1, study: 'study', failing: [failing(), failing({ votes: [['no', 1, true]], decided: null, said: [], notes: [] })], remarks: [['R1', 'Odd.']], titles: { right: 'Right', clear: 'Clear' }, fresh: 1, team: 3, ...more });
const revision = (number, more = {}) => ({
  ...DESKS.revision, item_id: number, item: `i${number}`, written: WRITTEN, evidence: EVIDENCE, documents: [doc(1)], answers: ['Very old.', 'Quite old.'], kinds: ['passage', 'table', 'figure', 'page'],
  studies: [why(), why({ study_id: 2, study: 'other', failing: [], hidden: true })],
  drafting: { writers: [{ server: 's', model: 'm' }, { server: 't', model: 'n' }], prompts: { answer: ['p@1', 'q@2'], claims: ['p@1'], question: ['p@1'] } }, ...more,
});
const queue = (numbers, more = {}) => ({ ...DESKS.revisions, held: [], waiting: numbers.map((number) => ({ item_id: number, item: `i${number}`, fails: [] })), ...more });
const effect = (more = {}) => ({ study_id: 1, study: 'study', annotations: 3, falls: ['right'], stays: ['clear', 'unknown'], ...more });
const PLAN = {
  version: 2, edited: ['answer'], differences: { answer: [['same', 'It is '], ['del', 'old'], ['ins', 'new'], ['same', '.']], evidence: [['ins', 'E4']] },
  effects: [effect(), effect({ study_id: 2, study: 'other', annotations: 1, falls: [], stays: ['right'] })], verdicts: 2,
};

async function begin(name, on, more = {}) {
  const walk = new Walk(`revise_${name}`, { take: MINE, leave: { left: 1 }, plan: { plan: PLAN }, revise: { revised: { to: 2 } }, end: { ended: 1 }, preferences: {}, ...on }, 'revise_fields');
  await walk.up(new App({ project: 1, person: '7', item: null, home: '/home', sign_in: '/in', keys: DESKS.keys.revise, ...more }));
  return walk;
}
const selected = (field, start, end = start) => Object.assign(field, {
  selectionStart: start, selectionEnd: end,
  setRangeText(text, from, to) {
    this.value = this.value.slice(0, from) + text + this.value.slice(to);
  },
});

test('fields are written by keys and pointer, differences shown and hidden, taken back, and saved with a reason', async () => {
  const walk = await begin('fields', { revisions: queue([1, 2]), revision: [revision(1), revision(2)], claims: [new TypeError('no'), new TypeError('no'), { claims: ['It is', 'new.'] }] });
  await walk.press(...['1', '2', '3', '4', '5', '6', '7'].flatMap((key) => [key, 'Escape']));
  await walk.type('field-answer', 'It is new.');
  await walk.step('looked up', () => pass(400));
  await walk.press('Escape', 'h', 'h', 'Backspace', 'Backspace', 'i', 'k', 'g', 'Escape', 'c', 'Escape', 'w', ']');
  await walk.type('field-answer', 'It is  new.');
  await walk.click('.standing .btn', 1);
  await walk.click('split');
  await walk.click('split');
  await walk.step('words are selected', () => {
    document.getSelection = () => 'some words';
    selected(walk.find('field-answer'), 5);
    walk.find('field-answer').focus();
  });
  await walk.press('Escape', 'q');
  await walk.step('quoted', () => walk.app.act('quote'), 400);
  await walk.step('nothing selected', () => (document.getSelection = () => null, walk.app.act('quote')));
  await walk.click('save');
  await walk.type('reason', 'It was wrong.');
  await walk.step('Enter in the reason', () => walk.find('reason').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter' })), 700);
  await walk.press('z');
  await walk.type('field-others', '{"a": 2}');
  await walk.step('Ctrl+Enter', () => walk.find('field-others').dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true })), 700);
  await walk.end();
});

test('units of evidence and images are left out, put back, added, given roles, kinds, texts and captions', async () => {
  const walk = await begin('parts', { revisions: queue([1]), revision: revision(1, { answers: [], drafting: { writers: [], prompts: {} } }) });
  await walk.step('to the evidence', () => walk.app.judgement.fields.edit('evidence'));
  await walk.press('ArrowDown', 'ArrowRight', 'ArrowRight', 'ArrowLeft', 'ArrowUp');
  await walk.step('Delete', () => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete' })));
  await walk.step('Delete again', () => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete' })));
  await walk.click('leave-out', 1);
  await walk.step('looked up', () => pass(400));
  await walk.click('open-text');
  await walk.type('text-E1', 'Another text.');
  await walk.step('and out of it', () => walk.find('text-E1').dispatchEvent(new Event('change')), 400);
  await walk.click('open-text');
  await walk.click('.part-row[data-key="E3"] .seg button', 1);
  await walk.click('add-page');
  await walk.choose('select.kind', 'table');
  await walk.step('a box is drawn', () => walk.app.desk.viewer.on.support({ document: 'd1.pdf', page: 3, box: [0.1, 0.1, 0.2, 0.2] }), 400);
  await walk.step('an image is drawn', () => (walk.app.act('mark_image'), walk.app.desk.viewer.on.support({ document: 'd1.pdf', page: 2, box: [0.3, 0.1, 0.4, 0.2] })), 400);
  await walk.type('caption-i1', 'A long pier');
  await walk.step('and out of it', () => walk.find('caption-i1').dispatchEvent(new Event('change')), 400);
  await walk.click('leave-out', 3);
  await walk.press('Backspace', '5', 'ArrowUp', 'ArrowUp', 'a', 'M', 'Escape', 'I', 'Escape', '6', 'Backspace', 'h', 'h');
  await walk.step('to the end of the rows', () => walk.app.judgement.fields.enter('images', 'i1'));
  await walk.press('ArrowDown', 'ArrowRight');
  await walk.end();
});

test('a draft is asked of a model, shown, taken; another is left, a third fails; with the item its panel goes', async () => {
  const drafted = (state, more = {}) => ({ job: 9, state, draft: null, problem: null, ...more });
  const plan = { leaves: 'The question.', tokens: 40, cost: 0.01 };
  const walk = await begin('drafts', {
    revisions: queue([1, 2]), revision: [revision(1), revision(2)], draft: [{ plan }, { job: 9 }, { plan: { ...plan, leaves: null, cost: null } }, refusal(409, 'The budget is spent.'), { plan }, { plan }, { plan }, { job: 10 }],
    drafted: [drafted('waiting'), drafted('running'), drafted('done', { draft: { texts: ['One.', 'Two.'], none: null, model: 'm', prompt: { name: 'p', version: 1 } } }), drafted('failed', { problem: 'It broke.' })],
  });
  await walk.click('have-drafted-answer');
  await walk.click('draft-ask');
  await walk.step('it comes', () => pass(5000));
  await walk.click('draft-take');
  await walk.click('have-drafted-answer_claims');
  await walk.click('draft-ask');
  await walk.click('draft-again');
  await walk.click('have-drafted-answer_claims');
  await walk.click('have-drafted-question');
  await walk.choose('.draft select', '1');
  await walk.click('draft-ask');
  await walk.step('it fails', () => pass(3000));
  await walk.click('draft-leave');
  await walk.click('have-drafted-question');
  await walk.step('later', () => walk.app.act('later'), 700);
  await walk.step('its panel hears nothing of it', () => pass(3000));
  await walk.end();
});

test('items are ended by hand, put off, gone back to; what others have is waited for', async () => {
  const walk = await begin('ends', {
    revisions: [queue([1, 2, 3]), queue([], { held: [{ item_id: 3, item: 'i3', by: 'rob' }, { item_id: 4, item: 'i4', by: 'rob' }] }), queue([])],
    revision: [revision(1), revision(2), revision(3), revision(1), revision(2, { why_not: 'You wrote it.' }), revision(3, { only_revises: true })], end: [refusal(409, 'It is labelled.'), { ended: 1 }],
  });
  await walk.press('s', 'x', 'Escape');
  for (const action of ['reject', 'reject', 'withdraw']) {
    await walk.step(action, () => walk.app.act(action));
    await walk.type('reason-field', 'No question.');
    await walk.click('.dock .btn.pri');
    await walk.step('a moment', () => pass(700));
  }
  await walk.step('keep', () => walk.app.act('keep'));
  await walk.type('reason-field', 'It is good.');
  await walk.click('.dock .btn.pri');
  await walk.step('a while', () => pass(16_000));
  await walk.press('z', 'h');
  await walk.step('others let go', () => pass(31_000));
  await walk.end();
});

test('what cannot be loaded, saved or shown is said; what was written stays', async () => {
  const broken = revision(2, { roles: null });
  const walk = await begin('broken', {
    revisions: queue([1, 2, 3, 4]), revision: [new TypeError('no'), revision(1), broken, revision(3, { state: 'in_study' }), refusal(410, 'It is deleted.'), revision(1, { version: 3 })],
    plan: [refusal(400, 'That is no JSON.'), new TypeError('no'), { plan: null }, { plan: PLAN }], revise: [new TypeError('no'), refusal(400, 'Not so.'), refusal(409, 'It is at version 3.'), refusal(401)], take: [{ mine: false, by: 'rob', state: 'in_revision' }, MINE, { mine: false, by: 'rob', state: null }],
  });
  await walk.step('again', () => pass(3100));
  await walk.click('skip-unshown');
  await walk.step('a moment', () => pass(700));
  await walk.type('field-question', 'How new?');
  await walk.step('looked up', () => pass(400));
  await walk.type('reason', 'So.');
  await walk.step('looked up', () => pass(4000));
  for (const what of ['no connection', 'not so', 'faster', 'signed out']) await walk.step(`saved: ${what}`, () => walk.app.act('save'), 900);
  await walk.step('signed in', () => window.dispatchEvent(new Event('focus')), 3000);
  await walk.press('s', 's');
  await walk.end();
});

test('one item by its address: what is missing in it is said, it is saved and done, or it is somebody else’s', async () => {
  const bare = revision(1, { evidence: [], documents: [], studies: [], protocol: null, written: { ...WRITTEN, evidence: [], images: [], others: '{}', reference_claims: 'One.' }, drafting: { writers: [], prompts: {} } });
  const walk = await begin('one', { revision: bare, plan: { plan: { ...PLAN, effects: [], verdicts: 0 } } }, { item: 1 });
  await walk.press('1');
  await walk.step('add a page', () => walk.app.act('add_page'));
  await walk.step('mark', () => walk.app.act('mark'));
  await walk.type('field-reference_claims', 'Two.');
  await walk.step('looked up', () => pass(400));
  await walk.type('reason', 'So.');
  await walk.press('Escape', 's', 'z');
  await walk.step('kept while the window closes', () => window.dispatchEvent(new Event('pagehide')));
  await walk.step('saved', () => walk.app.act('save'), 700);
  await walk.press('i', '1', 's', 'Enter', 'k');
  await walk.end();
});

test('a key that is changed holds at once, and what was written is there on the new desk; one is signed out while it is looked up', async () => {
  const walk = await begin('rekeyed', { revisions: queue([1]), revision: revision(1), plan: [{ plan: PLAN }, { plan: PLAN }, refusal(401)], claims: refusal(401) });
  await walk.type('field-answer', 'It is new.');
  await walk.step('looked up', () => pass(400));
  await walk.press('Escape');
  await walk.rekey('differences', 'j');
  await walk.press('d', 'j', 'g', 'Escape', 'c', 'Escape');
  await walk.type('field-answer', 'It is newer.');
  await walk.step('looked up', () => pass(400));
  await walk.end();
});
