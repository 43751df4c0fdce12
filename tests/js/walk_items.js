/** Items and protocols of every kind, with all that can be shown and asked, for walks through the desks. */

export const label = (value, title, key, definition = '') => ({ value, title, key, definition });
const base = { help: '', target: 'item', required: true, per_hop: false, when: null, scale: 'nominal' };
export const criterion = (name, kind, more = {}) => ({ ...base, name, kind, title: name[0].toUpperCase() + name.slice(1), ...more });
export const YES_NO = [label('yes', 'Yes', '1', 'It is so.'), label('no', 'No', '2', 'It is not so.')];
export const protocol = (steps, more = {}) => ({
  name: 'walked', version: 1, title: 'Walked', summary: 'In short.', guidelines: '# How\n\nSay what is *so*.', consequences: [],
  criteria: Object.values(steps).flat(), steps: Object.entries(steps).map(([name, criteria]) => ({ name, title: `Step ${name}`, criteria: criteria.map((one) => one.name) })), ...more,
});
export const item = (assignment, more = {}) => ({
  shown: ['answer', 'question'], language: 'en', question: `Question ${assignment}?`, answer: `The pier is old. It was built in 1888.\n\nThe bridge ${assignment} is new.`,
  units: {}, assignment, sitting: 1, step: 0, returned: null, committed: [], previous: [], draft: null, ...more,
});

const one = [...YES_NO];
/** One criterion of each kind, then what is asked beside a label and under a condition. */
export const KINDS = protocol({
  kinds: [
    criterion('right', 'choice', { labels: one, help: 'As a whole' }),
    criterion('sure', 'grade', { title: 'How sure?', labels: [label(1, 'Hardly', '3'), label(2, 'Rather', '4'), label(3, 'Quite', '5')], aside: { of: 'right', field: 'confidence', title: 'How sure?' } }),
    criterion('why', 'several', { labels: [label('short', 'Too short', '6'), label('false', 'False', '7'), label('odd', 'Odd', '8')], when: { criterion: 'right', values: ['no'] } }),
    criterion('fluent', 'grade', { scale: 'ordinal', labels: [label(1, 'Not at all fluent', '1'), label(2, 'Hardly', '2'), label(3, 'Rather', '3'), label(4, 'Very fluent', '4')] }),
    criterion('share', 'number', { minimum: 0, maximum: 100, step: 5 }),
    criterion('stars', 'number', { minimum: 0, maximum: 5, step: 1, required: false }),
    criterion('marks', 'spans', { labels: [label('bad', 'Bad', '1'), label('odd', 'Odd', '2')] }),
    criterion('pictures', 'order', { target: 'item' }),
    criterion('after', 'place', { target: 'item' }),
    criterion('said', 'text', { max_words: 4, required: false }),
  ],
  last: [criterion('whole', 'choice', { labels: [label('good', 'Good', '1'), label('bad', 'Bad', '2')] }), criterion('again', 'choice', { labels: [label('good', 'Good', '3'), label('bad', 'Bad', '4')], when: { criterion: 'right', values: ['no'] } })],
}, { consequences: [{ when: { criterion: 'whole', values: ['good'] }, then: { criterion: 'again', values: ['good'] }, sentence: 'What is good is good again.' }] });
export const KINDS_ITEM = item(1, {
  units: { right: ['item'], why: ['item'], fluent: ['item'], share: ['item'], stars: ['item'], marks: ['item'], pictures: ['item'], after: ['item'], said: ['item'], whole: ['item'], again: ['item'] },
  references: ['It was built in 1888.', ['1888', 'old pier']], system: 'Baseline',
  images: [{ key: 'I1', caption: 'A pier', document: null, page: null, box: null }, { key: 'I2', caption: null, document: null, page: null, box: null, of: 'question' }, { key: 'I3', caption: 'A bridge', document: 1, page: 1, box: [0, 0, 0.5, 0.5] }],
  suggestions: [{ criterion: 'right', target: 'item', value: 'no', source: 'model' }, { criterion: 'share', target: 'item', value: 50, source: 'model' }],
  missing: { claims: ['Right'] }, scores: [{ criterion: 'right', scorer: 's', title: 'Overlap', kind: 'share', value: 0.4, words: '0.40', meaning: 'How much is the same.' }, { criterion: null, scorer: 't', title: 'Length', kind: 'count', value: null, words: 'not scored: too long', meaning: '' }],
});

/** Units of evidence, claims against them, and images: groups, a grid, cards. */
const unit = (key, more = {}) => ({ key, kind: 'passage', document: null, pages: [], box: null, text: `Text of ${key}.`, title: '', ...more });
export const UNITS = protocol({
  units: [
    criterion('needed', 'choice', { target: 'evidence', labels: YES_NO, rest: 'no', help: 'Each by itself' }),
    criterion('form', 'choice', { target: 'claim', labels: [label('whole', 'Whole', '3'), label('part', 'Part', '4')] }),
    criterion('holds', 'choice', { target: 'claim_evidence', labels: [label('yes', 'Supported', '5'), label('no', 'Refuted', '6')], rest: 'no', required: true }),
  ],
  images: [
    criterion('fits', 'choice', { target: 'image', labels: YES_NO, help: 'Does it fit?' }), criterion('sharp', 'choice', { target: 'image', labels: [label('sharp', 'Sharp', '3'), label('blurred', 'Blurred', '4')] }),
  ],
});
export const UNITS_ITEM = item(2, {
  shown: ['answer', 'claims', 'evidence', 'question'], evidence: [unit('E1', { role: 'gold' }), unit('E2', { used: true, title: 'A table', kind: 'table' }), unit('E3', { text: null, used: false })],
  claims: [{ key: 'C1', text: 'The pier is old.', of: 'answer' }, { key: 'C2', text: 'It was built in 1888.', of: 'answer' }],
  units: { needed: ['evidence:E1', 'evidence:E2', 'evidence:E3'], form: ['claim:C1', 'claim:C2'], holds: ['claim:C1|evidence:E1', 'claim:C1|evidence:E2', 'claim:C2|evidence:E1', 'claim:C2|evidence:E2'] },
  left_out: { needed: [3, 7] }, suggestions: [{ criterion: 'needed', target: 'evidence:E2', value: 'yes', source: 'model' }],
  documents: [],
});
export const IMAGES_ITEM = item(3, {
  step: 1, shown: ['answer', 'images'], images: [{ key: 'I1', caption: 'A pier', document: null, page: null, box: null }, { key: 'I2', caption: null, document: null, page: null, box: null }],
  units: { fits: ['image:I1', 'image:I2'], sharp: ['image:I1', 'image:I2'] }, committed: [{ criterion: 'needed', target: 'evidence:E1', value: 'yes', cannot_judge: false, reason: null, comment: null, rationale: null }],
});

/** Pages judged hop by hop, of two documents of which one is not there. */
const doc = (id, more = {}) => ({ id, key: `d${id}.pdf`, title: `Report ${id}`, n_pages: 4, sizes: [[600, 800], [600, 800], [800, 600], [600, 800]], supplied: true, pages: null, url: `/page-images/${id}/{page}?w={width}`, ...more });
export const PAGES = protocol({ pages: [criterion('relevant', 'choice', { target: 'page', per_hop: true, rest: 'no', labels: [label('yes', 'Relevant', '1'), label('partly', 'Partly', '2'), label('no', 'Not', '3')] })] });
const pagesOf = (hop, pages, document = 'd1.pdf') => pages.map((page) => `page:${document}:${page}|hop:${hop}`);
export const PAGES_ITEM = item(4, {
  shown: ['answer', 'documents', 'hops', 'question'], documents: [doc(1), doc(2, { supplied: false, title: '' })],
  evidence: [], hops: [{ key: 'h1', question: 'Which line?', answer: 'Line 2' }, { key: 'h2', question: 'How <i>late</i>?' }],
  units: { relevant: [...pagesOf('h1', [1, 2, 3]), ...pagesOf('h1', [1], 'd2.pdf'), ...pagesOf('h2', [1, 2])] },
  page_labels: pagesOf('h1', [2]), suggestions: [{ criterion: 'relevant', target: pagesOf('h1', [3])[0], value: 'yes', source: 'model' }],
});

/** Two answers that are compared. */
export const PAIR = protocol({ pair: [criterion('better', 'choice', { target: 'pair', labels: [label('a', 'Left', '1'), label('b', 'Right', '2')] }), criterion('much', 'grade', { title: 'How much?', target: 'pair', labels: [label(1, 'A bit', '3'), label(2, 'Much', '4')], aside: { of: 'better', field: 'confidence', title: 'How much?' } })] });
export const PAIR_ITEM = item(5, {
  shown: ['answers', 'question', 'references'], answer: undefined, language: 'de', question: 'Wie alt ist der Steg?',
  answers: [{ answer: 'The pier is old. It was built in 1888.', system: 'A' }, { answer: 'The pier is old. It was built in 1898, in June.' }],
  references: [`It was built in 1888. ${'And it is long. '.repeat(12)}`], units: { better: ['pair'] },
});
/** What is written from the right, and without spaces. */
export const RIGHT_TO_LEFT = item(6, { language: 'ar', question: 'كم عمر الرصيف؟', answer: 'الرصيف قديم. بني عام 1888.', units: { ...KINDS_ITEM.units } });
export const CHINESE = item(7, { language: 'zh', question: '码头有多旧？', answer: '码头很旧。建于1888年。', units: { ...KINDS_ITEM.units } });
export { doc, unit };
