/** Walks of annotators: items of every kind, by keys and by pointer, with what is sent and what is kept (walk.js). */

import { test } from 'node:test';
import { loadKinds, pass } from './browser.js';
import { DESKS, refusal, tick } from './whole_page.js';
import { CHINESE, IMAGES_ITEM, item, KINDS, KINDS_ITEM, PAGES, PAGES_ITEM, PAIR, PAIR_ITEM, protocol, criterion, RIGHT_TO_LEFT, UNITS, UNITS_ITEM, YES_NO } from './walk_items.js';
import { Walk } from './walk.js';

await loadKinds();
const { App } = await import('../../app/widgets/annotate/app.js');
const { TEXT } = await import('../../app/widgets/shared/text.js');

const STATE = { progress: { done: 1, of: 3, seconds_today: 65 }, finished: false, halted: null, enough: null, phase: null };
const study = (of, more = {}) => ({ id: 1, name: 'study', project: 'project', protocol: structuredClone(of), protocol_hash: 'h', guidelines_read: true, ...more });
const work = (of, items, more = {}) => ({ items, ...STATE, study: study(of), keys: DESKS.keys.annotate, person: { id: 7, name: 'ada' }, last: null, ...more });
const done = (items = [], more = {}) => ({ saved_at: '2026-03-02T09:00:00Z', status: 'done', items, ...STATE, ...more });

let studies = 100;
async function begin(name, on, more = {}) {
  studies += 1;
  const walk = new Walk(`annotate_${name}`, { draft: { saved_at: 'now' }, guidelines: { saved_at: 'now' }, preferences: {}, ...on }, 'annotate_kinds');
  await walk.up(new App({ study: studies, person: '7', home: '/home', sign_in: '/in', ...more }));
  return walk;
}

test('an item with a criterion of every kind is judged by keys, step by step, and submitted', async () => {
  const walk = await begin('kinds', {
    work: work(KINDS, [KINDS_ITEM]), submit: [done([], { status: 'step', item: { ...KINDS_ITEM, step: 1, committed: [] } }), done([item(8, { units: KINDS_ITEM.units })])],
  });
  await walk.press('1', '4', 'Enter', 'ArrowUp', 'ArrowUp', '2', '6', '8', 'ArrowDown', 'ArrowDown', '3');
  await walk.type('criterion[data-criterion="share"] input', '7');
  await walk.type('criterion[data-criterion="share"] input', '55');
  await walk.click('criterion[data-criterion="stars"] label', 3);
  await walk.press('ArrowDown', 'ArrowRight', 'Shift+ArrowRight', '1', '0');
  await walk.click('criterion[data-criterion="pictures"] order-entry .mini');
  await walk.press('ArrowDown', '2', 'ArrowDown', 'Enter');
  await walk.type('criterion[data-criterion="said"] textarea', 'one two three four five');
  await walk.click('submit');
  await walk.type('criterion[data-criterion="said"] textarea', 'one two');
  await walk.press('Escape', 'x');
  await walk.click('reason');
  await walk.press('Escape', 'f', 'F');
  await walk.type('reason-field', 'The reference is odd.');
  await walk.press('Escape', 'F');
  await walk.click('reason');
  await walk.press('Enter', 'Enter');
  await walk.click('criterion[data-criterion="sure"] label', 1);
  await walk.click('criterion[data-criterion="why"] label', 3);
  await walk.click('order-entry .mini', 1);
  await walk.click('criterion[data-criterion="after"] label', 1);
  await walk.click('submit');
  await walk.click('step-done');
  await walk.click('step-done');
  await walk.press('1', '4', 'Enter', '3', 'Enter');
  await walk.end();
});

test('comments, labels taken back, what cannot be judged and its reasons', async () => {
  const walk = await begin('words', { work: work(KINDS, [{ ...KINDS_ITEM, suggestions: [] }, item(8)]) });
  await walk.press('c');
  await walk.type('comment-field', 'About this.');
  await walk.type('comment-field', 'About all.', 1);
  await walk.press('Escape', '1', 'Backspace', 'x', '2', 'ArrowUp', 'Backspace', 'x');
  await walk.click('.dock .btn.pri');
  await walk.type('reason-field', '  No  ');
  await walk.click('.dock .btn.pri');
  await walk.press('ArrowUp');
  await walk.click('cannot-judge-note .mini');
  await walk.click('criterion[data-criterion="fluent"] .c-title');
  await walk.press('ArrowRight', 'ArrowRight', 'ArrowLeft', 'Space', 'f', 'f');
  await walk.click('comment');
  await walk.click('.dock .btn');
  await walk.press('m', 'm', '?', 'Escape', 'g', 'Escape', 's', '9', 'Escape', 's');
  await walk.end();
});

test('units of evidence, claims in a grid, the rest at once and taken back', async () => {
  const walk = await begin('units', { work: work(UNITS, [UNITS_ITEM]), submit: [done([], { status: 'step', item: IMAGES_ITEM }), refusal(409, 'No.')] });
  await walk.press('1', 'A', 'z', 'ArrowUp', 'A', '3', '5', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp', 'ArrowUp', 'ArrowDown', 'x');
  await walk.click('reason');
  await walk.click('grid-cell', 3);
  await walk.press('c', 'Escape', '6');
  await walk.click('passage', 1);
  await walk.press('}', '{', '4');
  await walk.click('.at-once button');
  await walk.click('.at-once button');
  await walk.press('Enter', 'A', '3', '5', '6', '4', '5', '5', 'Enter');
  await walk.press('1', '4', '2', '3');
  await walk.click('.card-title', 1);
  await walk.press('Backspace', 'Enter', '1', 'Enter');
  await walk.end();
});

test('pages are judged hop by hop, by keys and thumbnails', async () => {
  const walk = await begin('pages', { work: work(PAGES, [PAGES_ITEM]), submit: done([], { finished: true }) });
  await walk.press('1', '2', 'ArrowUp', 'ArrowRight', 'ArrowLeft');
  await walk.click('page-thumb', 2);
  await walk.click('hop-tab', 1);
  await walk.press('1', 'h', ']', '[');
  await walk.click('next-hop');
  await walk.click('chain-link');
  await walk.press('x');
  await walk.click('reason');
  await walk.press('c', 'Escape', 'A', 'z', 'A', 'Enter', '3', 'Enter');
  await walk.end();
});

test('two answers are compared, with marks of what only one says and a reference that is unfolded', async () => {
  const walk = await begin('pair', { work: work(PAIR, [PAIR_ITEM]), submit: done([], { finished: true, enough: 'It is enough.' }) });
  await walk.press('v', 'v', 'u', 'u', '1', '4', '2', '3', 'm', 'Enter');
  await walk.press('z');
  await walk.end();
});

test('what is written from the right, or without spaces, is read and marked as any other', async () => {
  for (const [name, text] of [['rtl', RIGHT_TO_LEFT], ['cjk', CHINESE]]) {
    const walk = await begin(name, { work: work(protocol({ marks: [criterion('marks', 'spans', { labels: YES_NO })] }), [{ ...text, units: { marks: ['item'] } }]) });
    await walk.press('ArrowLeft', 'ArrowLeft', 'ArrowRight', 'Shift+ArrowRight', '1', 'ArrowDown', '2', 'Backspace', '0');
    await walk.end();
  }
});

test('consent, questions before and after, and guidelines that are to be read come in their order', async () => {
  const before = protocol({ questions: [criterion('age', 'number', { minimum: 0, maximum: 99 }), criterion('expert', 'choice', { labels: YES_NO })] });
  const walk = await begin('phases', {
    work: work(KINDS, [], { phase: { phase: 'consent', text: 'You *agree*.' }, study: study(KINDS, { guidelines_read: false }) }),
    phase: [new TypeError('no'), done([], { phase: { phase: 'before', protocol: before } }), refusal(400, 'Not so.'), done([item(1, { units: { right: ['item'] } })])],
    submit: [done([], { status: 'step', item: item(1, { step: 1, units: { whole: ['item'] } }) }), done([], { phase: { phase: 'after', protocol: before }, finished: true })],
  });
  await walk.press('1', 'Enter');
  await walk.click('consent-decline');
  await walk.click('consent-back');
  await walk.click('consent-agree');
  await walk.click('consent-agree');
  await walk.press('s', 'Enter');
  await walk.type('criterion[data-criterion="age"] input', '44');
  await walk.press('Escape', 'ArrowDown', '1', 'Enter', 'Enter', '1', 'ArrowDown', 'PageUp', 'Tab', 'Enter');
  await walk.step('a moment later', () => pass(1000));
  await walk.press('Enter', '1', '4', 'Enter', '1', 'Enter', '1', 'Enter');
  await walk.end();
});

test('who declines is gone; answers given in another window are taken over', async () => {
  const walk = await begin('declined', {
    work: [work(KINDS, [], { phase: { phase: 'consent', text: 'You *agree*.' } }), work(KINDS, [], { phase: null, halted: 'You have declined.' })], phase: refusal(409, 'Answered already.'),
  });
  await walk.click('consent-decline');
  await walk.click('consent-sure');
  await walk.end();
});

test('an item of the qualification is followed by what was right, which is read before anything else', async () => {
  const only = protocol({ all: [criterion('right', 'choice', { labels: YES_NO })] });
  const tried = (number, more = {}) => item(number, { units: { right: ['item'] }, qualifying: { number, of: 2, try: 1, tries: 2 }, ...more });
  const feedback = (right, result = null) => ({ units: [
    { title: 'Right', target: '', given: 'Yes', right: 'Yes', is_right: true, explanation: null }, { title: 'Form', target: 'C1', given: right ? 'No' : null, right: 'No', is_right: right, explanation: 'See page 2.' },
  ], result });
  const walk = await begin('qualifying', {
    work: work(only, [tried(1), tried(2)]),
    submit: [done([tried(2)], { feedback: feedback(true) }), done([item(3, { units: { right: ['item'] } })], { feedback: feedback(false, { ended: 'passed', right: 3, labels: 4, mark: 0.75 }) })],
  });
  await walk.press('s', '1', 'Enter', '2', 'x', 'Enter', '2', 'Enter');
  await walk.click('told');
  await walk.end();
});

test('what models propose is shown after the last step, and the item can be left or changed', async () => {
  const only = protocol({ all: [criterion('right', 'choice', { labels: YES_NO })] });
  const one = (more = {}) => item(1, { units: { right: ['item'] }, ...more });
  const compared = one({ sitting: 2, previous: [{ criterion: 'right', target: 'item', value: 'no' }], suggestions: [{ criterion: 'right', target: 'item', value: 'yes', source: 'm' }] });
  const walk = await begin('compared', {
    work: work(only, [one(), item(2, { units: { right: ['item'] } })], { study: study(only, { suggestions: 'after' }) }), submit: [done([], { item: compared }), done([], { item: { ...compared, assignment: 2 } }), done()],
  });
  await walk.press('2', 'Enter');
  await walk.click('leave');
  await walk.press('1', 'Enter', '2', 'Enter');
  await walk.end();
});

test('submissions wait without a connection, are refused, given back, discarded, and looked at again', async () => {
  const only = protocol({ all: [criterion('right', 'choice', { labels: YES_NO })] });
  const one = (number, more = {}) => item(number, { units: { right: ['item'] }, ...more });
  const walk = await begin('refused', {
    work: [work(only, [one(1), one(2), one(3)]), work(only, [one(4)])], submit: [new TypeError('no'), refusal(500), refusal(409, 'Too late.'), refusal(409, 'Too late again.'), refusal(401), done([], { finished: true })],
    reopen: [refusal(409, 'It is gone.'), { item: one(1, { sitting: 3 }) }], draft: [new TypeError('no'), { saved_at: 'now' }], skip: [new TypeError('no'), refusal(409, 'Not that one.'), done([])],
  });
  await walk.press('1');
  await walk.step('time for the draft', () => pass(7000));
  await walk.press('Enter', 'z', '2', 'Enter');
  await walk.step('time to send again', () => pass(40_000));
  await walk.click('return');
  await walk.click('return');
  await walk.press('Enter', 's', '1', 's', '2', 's', '3');
  await walk.step('time to send again', () => pass(40_000));
  await walk.click('discard');
  await walk.step('signed in again', () => window.dispatchEvent(new Event('focus')), 700);
  await walk.step('left for a while', () => (document.hidden = true, document.dispatchEvent(new Event('visibilitychange'))), 1000);
  await walk.step('back', () => (document.hidden = false, document.dispatchEvent(new Event('visibilitychange'))), 70_000);
  await walk.step('the window closes', () => window.dispatchEvent(new Event('pagehide')));
  await walk.end();
});

test('what was done at another computer is taken over when one comes back to the window', async () => {
  const only = protocol({ first: [criterion('right', 'choice', { labels: YES_NO })], second: [criterion('clear', 'choice', { labels: YES_NO })] });
  const one = (number, more = {}) => item(number, { units: { right: ['item'], clear: ['item'] }, ...more });
  const draft = { content: { labels: [{ criterion: 'right', target: 'item', value: 'no', cannot_judge: false, reason: null, comment: null, rationale: null }], comment: null, flag: 'Odd.', at: 9e12, revision: 9 }, seconds: 4 };
  const walk = await begin('elsewhere', {
    work: [work(only, [one(1), one(2)]), work(only, [one(1, { draft }), one(2)]), work(only, [one(1, { step: 1, committed: [] }), one(2)]), work(only, [one(2)], { last: 1 }), refusal(500), work(only, [], { finished: true, last: 2 })],
    reopen: { item: one(2, { sitting: 2 }) }, draft: [{ saved_at: 'now' }, refusal(409)],
  });
  const away = async () => {
    document.hidden = true;
    document.dispatchEvent(new Event('visibilitychange'));
    await pass(61_000);
    document.hidden = false;
    document.dispatchEvent(new Event('visibilitychange'));
  };
  for (const what of ['a newer draft', 'the next step', 'submitted', 'a server that cannot']) await walk.step(`back to ${what}`, away, 700);
  await walk.press('1');
  await walk.step('a draft that is refused', () => pass(2000));
  await walk.step('back to nothing left', away, 700);
  await walk.press('z');
  await walk.step('back while correcting', away, 700);
  await walk.end();
});

test('a break is suggested, put off and switched off; steps go on by themselves where that is wanted', async () => {
  const walk = await begin('breaks', {
    work: work(UNITS, [item(1, { units: { needed: [], form: [], holds: [] } }), UNITS_ITEM]), submit: done([], { status: 'step', item: IMAGES_ITEM }),
  }, { preferences: { break_after: 25, next_step: 'now' } });
  await walk.press('?');
  await walk.choose('break-after', '50');
  await walk.press('Escape');
  for (let minutes = 0; minutes < 51; minutes += 3) await walk.step('a little work', async () => (await pass(176_000), window.dispatchEvent(new Event('pointerdown')), tick()), 0);
  await walk.press('Enter');
  await walk.press('1', '1', '2', '3', '4', '5', '6', '5', '6');
  await walk.step('the time is looked at', () => pass(16_000));
  await walk.end();
});

test('an answer without a key, a study without work, and a page that cannot be drawn', async () => {
  const broken = { ...PAGES_ITEM, documents: null, evidence: [{ key: 'E1' }] };
  const walk = await begin('broken', { work: [work(PAGES, []), work(PAGES, [broken, PAGES_ITEM])], skip: done([], { enough: TEXT.finished }) });
  await walk.click('check-again');
  await walk.click('skip-unshown');
  await walk.press('1');
  await walk.end();
});

test('a key that is changed in the sheet holds at once: in the buttons, and for the item that is on the screen', async () => {
  const only = protocol({ all: [criterion('right', 'choice', { labels: YES_NO })] });
  const walk = await begin('rekeyed', { work: work(only, [item(1, { units: { right: ['item'] } })]) });
  await walk.press('2');
  await walk.rekey('flag', 'j');
  await walk.press('f', 'Escape', 'j');
  await walk.rekey('right/yes', '9');
  await walk.press('1', '9', '?', 'Escape');
  await walk.rekey('skip', 'z');
  await walk.end();
});

test('a draft that does not reach the server says so until it does; signed out or outdated, the page does what it says', async () => {
  const only = protocol({ all: [criterion('right', 'choice', { labels: YES_NO }), criterion('said', 'text', { required: false })] });
  const one = (more = {}) => item(1, { units: { right: ['item'], said: ['item'] }, ...more });
  const newer = one({ draft: { content: { labels: [], comment: 'Elsewhere.', flag: false, at: 9e12, revision: 99 }, seconds: 4 } });
  const walk = await begin('drafts', {
    work: [work(only, [one(), item(2, { units: { right: ['item'], said: ['item'] } })]), work(only, [newer]), work(only, [one()]), work(only, [one()])],
    draft: [new TypeError('no'), refusal(503), { saved_at: 'now' }, refusal(401), { saved_at: 'now' }, refusal(409), refusal(400)], submit: [new TypeError('no'), new TypeError('no'), done()],
  });
  await walk.press('1');
  await walk.step('no connection', () => pass(1000));
  await walk.step('tried again', () => pass(5000));
  await walk.step('and again', () => pass(5000));
  await walk.type('criterion[data-criterion="said"] textarea', 'a');
  await walk.step('signed out', () => pass(1000));
  await walk.step('signed in', () => window.dispatchEvent(new Event('focus')), 1000);
  await walk.type('criterion[data-criterion="said"] textarea', 'ab');
  await walk.step('outdated', () => pass(1000));
  await walk.press('1');
  await walk.step('refused', () => pass(1000));
  await walk.press('Enter');
  await walk.step('online', () => window.dispatchEvent(new Event('online')), 100);
  await walk.step('a while', () => pass(20_000));
  await walk.end();
});

test('a step that another tab of the browser has sent is looked for at the server', async () => {
  const two = protocol({ first: [criterion('right', 'choice', { labels: YES_NO })], last: [criterion('clear', 'choice', { labels: YES_NO })] });
  const one = (more = {}) => item(1, { units: { right: ['item'], clear: ['item'] }, ...more });
  const walk = await begin('tab', { work: [work(two, [one()]), work(two, [one({ step: 1 })])], submit: [new TypeError('no'), done()] });
  await walk.press('1', 'Enter');
  await walk.step('another tab sent it', () => {
    const [key] = [...localStorage.kept.keys()].filter((name) => name.startsWith('assay.outbox'));
    localStorage.removeItem(key);
    window.dispatchEvent(Object.assign(new Event('storage'), { key }));
  }, 700);
  await walk.press('2', 'Enter');
  await walk.end();
});

test('a step that is refused comes back with its labels; guidelines that were read are said again when they did not arrive', async () => {
  const two = protocol({ first: [criterion('right', 'choice', { labels: YES_NO })], last: [criterion('clear', 'choice', { labels: YES_NO })] });
  const one = (more = {}) => item(1, { units: { right: ['item'], clear: ['item'] }, ...more });
  const walk = await begin('unread', {
    work: work(two, [one()], { study: study(two, { guidelines_read: false }) }), guidelines: [new TypeError('no'), { saved_at: 'now' }], submit: [{ http: 400, error: 'Not so.', kind: 'refused' }, done()], reopen: [{ item: one() }, new TypeError('no')],
  });
  await walk.press('1', 'g', 's', 'Tab');
  await walk.step('a moment', () => pass(1000));
  await walk.press('Enter', '1', 'Enter', '2', 'Enter', 'g', 'Escape');
  await walk.step('a while', () => pass(3000));
  await walk.end();
});

test('suggestions of a break are put off or switched off', async () => {
  const walk = await begin('break', { work: work(KINDS, [item(1, { units: { right: ['item'] } }), item(2, { units: { right: ['item'] } }), item(3, { units: { right: ['item'] } })]), skip: [1, 2, 3].map((n) => done([item(n + 1, { units: { right: ['item'] } })])) }, { preferences: { break_after: 25 } });
  const long = async (minutes) => {
    for (let n = 0; n < minutes; n += 4) {
      await pass(240_000);
      window.dispatchEvent(new Event('pointerdown'));
      tick();
    }
  };
  const skip = async () => {
    await walk.press('s');
    await walk.press('1');
  };
  await walk.step('half an hour', () => long(30));
  await skip();
  await walk.click('break-later');
  await walk.step('a while', () => long(12));
  await skip();
  await walk.click('break-off');
  await walk.step('an hour', () => long(60));
  await skip();
  await walk.end();
});

test('while the server is waited for, cards, pages and labels cannot be reached, and no key does anything', async () => {
  for (const [name, of, one, keys] of [['cards', UNITS, { ...IMAGES_ITEM, step: 0 }, '1423'], ['thumbs', PAGES, { ...PAGES_ITEM, units: { relevant: PAGES_ITEM.units.relevant.slice(0, 1) } }, '1']]) {
    const steps = protocol({ first: of === UNITS ? UNITS.criteria.slice(3) : PAGES.criteria, last: [criterion('end', 'choice', { labels: YES_NO })] });
    const walk = await begin(`waits_${name}`, { work: work(steps, [{ ...one, units: { ...one.units, end: ['item'] } }]), submit: [new TypeError('no'), done([], { status: 'step', item: { ...one, step: 1, units: { ...one.units, end: ['item'] } } })] });
    await walk.press(...keys, 'Enter', '2', 's', 'Escape');
    await walk.step('it comes', () => pass(3000));
    await walk.end();
  }
});

test('many units, claims and pages: the rest at once by key and button, taken back, along rows and columns', async () => {
  const evidence = Array.from({ length: 5 }, (_, at) => ({ ...UNITS_ITEM.evidence[0], key: `E${at + 1}`, text: `Text ${at + 1}.` }));
  const keys = evidence.map(({ key }) => key);
  const claims = [...UNITS_ITEM.claims, { key: 'C3', text: 'The bridge 2 is new.', of: 'answer' }];
  const units = { needed: keys.map((key) => `evidence:${key}`), form: claims.map(({ key }) => `claim:${key}`), holds: claims.flatMap(({ key }) => keys.slice(0, 3).map((other) => `claim:${key}|evidence:${other}`)) };
  const walk = await begin('many', { work: work(UNITS, [{ ...UNITS_ITEM, evidence, claims, units }]) });
  await walk.press('1', 'A', 'z', 'A', 'ArrowUp', '1');
  await walk.click('rest', 1);
  await walk.click('rest-undo', 1);
  await walk.press('3', 'ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowLeft', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'ArrowUp', 'c');
  await walk.type('comment-field', ' On this. ');
  await walk.type('comment-field', ' On all. ', 1);
  await walk.type('comment-field', ' ', 1);
  await walk.press('Escape', 'ArrowDown', 'A', 'Enter');
  await walk.end();
});

test('many pages of two documents: the rest of a hop at once, rows of thumbnails, and the hop that is gone on with', async () => {
  const pages = Array.from({ length: 6 }, (_, at) => at + 1);
  const targets = ['h1', 'h2'].flatMap((hop) => [...pages.map((page) => `page:d1.pdf:${page}|hop:${hop}`), ...[1, 3].map((page) => `page:d2.pdf:${page}|hop:${hop}`)]);
  const walk = await begin('rows', { work: work(PAGES, [{ ...PAGES_ITEM, documents: [{ ...PAGES_ITEM.documents[0], n_pages: 6, sizes: null }, { ...PAGES_ITEM.documents[1], supplied: true }], units: { relevant: targets } }]), submit: done([], { finished: true }) });
  await walk.step('thumbnails stand in rows of four', () => walk.app.shell.root.querySelectorAll('page-thumb').forEach((thumb, at) => Object.assign(thumb, { offsetLeft: (at % 4) * 80, offsetTop: Math.floor(at / 4) * 100 })));
  await walk.press('1', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'ArrowLeft', 'ArrowLeft', 'ArrowRight', '2', 'A', 'z', 'A', 'Enter', '1', 'x');
  await walk.click('reason');
  await walk.click('rest');
  await walk.press('h');
  await walk.click('chain-link', 1);
  await walk.press('Enter');
  await walk.end();
});

test('labels at once are there for pages without a label of the rest as well; a score without a value suggests that it cannot be judged', async () => {
  const of = protocol({ all: [criterion('relevant', 'choice', { target: 'page', labels: PAGES.criteria[0].labels }), criterion('right', 'choice', { labels: [{ ...YES_NO[0], key: '7' }, { ...YES_NO[1], key: '8' }] })] });
  const walk = await begin('valueless', { work: work(of, [{ ...PAGES_ITEM, hops: [], page_labels: [], suggestions: [], units: { relevant: [1, 2, 3, 4].map((page) => `page:d1.pdf:${page}`), right: ['item'] }, scores: [{ criterion: 'right', scorer: 's', title: 'Overlap', kind: 'share', value: null, words: 'not scored: too long', meaning: '' }] }]) });
  await walk.press('1');
  await walk.click('label-rest', 1);
  await walk.press('z');
  await walk.click('no-value');
  await walk.press('x', 'Escape', 'c');
  await walk.type('comment-field', 'So.');
  await walk.press('Escape');
  await walk.click('.note');
  await walk.step('Escape', () => walk.app.judgement.dock.close());
  await walk.end();
});

test('the height of what is read is moved by keys, what was not seen is said, and pictures of pages come when they are in view', async () => {
  const walk = await begin('seen', { work: work(UNITS, [UNITS_ITEM]) });
  const { judgement } = walk.app;
  Object.assign(judgement.body, { clientHeight: 500 });
  Object.assign(judgement.area.element, { offsetHeight: 200 });
  const bar = judgement.divider.element;
  for (const key of ['ArrowDown', 'ArrowUp', 'End', 'Home', 'Enter']) await walk.step(`${key} on the bar`, () => bar.dispatchEvent(new KeyboardEvent('keydown', { key })));
  await walk.step('all is measured', () => {
    for (const area of judgement.areas) Object.assign(area, { stale: false, reads: [{ name: 'the answer', words: { between: () => [] }, part: document.createElement('p') }] });
    judgement.area.element.classList.add('overflows');
    judgement.looked();
  });
  await walk.press('1');
  await walk.step('looked again', () => (judgement.areas.forEach((area) => area.seen('the answer', [[0, 5]], 10)), judgement.looked()));
  await walk.step('all is seen', () => (judgement.areas.forEach((area) => area.seen('the answer', [[5, 10]], 10)), judgement.looked()));
  await walk.end();
});

test('where all is one column the page scrolls as a whole: to the page that is judged, and by the keys that read on', async () => {
  const { matchMedia } = window;
  window.matchMedia = (query) => Object.assign(new EventTarget(), { matches: query.includes('max-width') });
  for (const [name, of, one, keys] of [['narrow_pages', PAGES, PAGES_ITEM, ['1', '2', 'ArrowUp', 'h', ' ', 'PageDown', 'PageUp']], ['narrow_units', UNITS, UNITS_ITEM, ['1', ' ', 'End', 'Home', 'ArrowDown']]]) {
    const walk = await begin(name, { work: work(of, [one]) });
    Object.assign(walk.app.shell.root, { clientHeight: 500 });
    await walk.press(...keys);
    await walk.end();
  }
  window.matchMedia = matchMedia;
});

test('the frame follows the colours of the system while they change', async () => {
  const { matchMedia } = window;
  const colours = Object.assign(new EventTarget(), { matches: true });
  window.matchMedia = (query) => (query.includes('dark') ? colours : Object.assign(new EventTarget(), { matches: false }));
  const walk = await begin('dusk', { work: work(PAIR, []) });
  colours.matches = false;
  await walk.step('it is day', () => colours.dispatchEvent(new Event('change')));
  colours.matches = true;
  await walk.step('it is night, and one comes back', () => window.dispatchEvent(new Event('focus')));
  await walk.end();
  window.matchMedia = matchMedia;
});
