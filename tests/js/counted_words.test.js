/** Words that depend on a number: none, one and more of each kind are said rightly. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import './page.js';
import { NextStep } from '../../app/widgets/annotate/next_step.js';
import { WORDS as REVISING } from '../../app/widgets/revise/text.js';
import { called, h } from '../../app/widgets/shared/dom.js';
import { TEXT } from '../../app/widgets/shared/text.js';

for (const [name, cases] of Object.entries({
  today: [[[0], '0 min today'], [[59], '59 min today'], [[60], '1 h 0 min today'], [[125], '2 h 5 min today']],
  waitsToBeSent: [[[1], '1 submission waits to be sent'], [[2], '2 submissions wait to be sent']],
  refusedState: [[[1], '1 submission refused'], [[2], '2 submissions refused']],
  finishedMore: [[[0], 'There is nothing left for you in this study.'], [[1], 'You submitted 1 item of this study. Thank you.'], [[2], 'You submitted 2 items of this study. Thank you.']],
  signedOutMore: [
    [[0], 'What you gave so far is kept in this browser. Sign in again to go on with the same item.'],
    [[1], '1 submission is kept in this browser and will be sent when you are signed in again.'],
  ],
  notSeen: [
    [[['A']], 'A has not been on your screen yet.'], [[['A', 'B']], 'A and B have not been on your screen yet.'], [[['A', 'B', 'C']], 'A, B and C have not been on your screen yet.'],
  ],
  moreWords: [[[1], '1 more word'], [[1200], '1,200 more words']],
  sideWords: [[[0], '0 words'], [[1], '1 word'], [[2], '2 words']],
  lacking: [[['X', []], 'X.'], [['X', ['A']], 'X, by which “A” is judged.'], [['X', ['A', 'B']], 'X, by which “A” and “B” are judged.']],
  leftOut: [[[1, 2], 'Judged is 1 of 2 units of evidence; 1 is left out.'], [[2, 4], 'Judged are 2 of 4 units of evidence; 2 are left out.']],
  phrasesFound: [
    [[0, 1, false], 'its one phrase is not in the answer'], [[1, 1, true], 'its one phrase is in the answer; this set counts'], [[0, 3, false], 'none of its 3 phrases is in the answer'],
    [[1, 3, false], '1 of its 3 phrases is in the answer'], [[2, 3, false], '2 of its 3 phrases are in the answer'], [[3, 3, true], 'all of its 3 phrases are in the answer; this set counts'],
  ],
  pagesFound: [[[[2, 3], true, true], 'p. 2, 3'], [[[2], false, true], 'p. 2 so far'], [[[], true, true], 'none'], [[[], false, true], 'none so far'], [[[], false, false], 'open']],
  pagesJudged: [[[1, 1, ''], '1 of 1 page judged'], [[1, 2, 'Hop 2'], '1 of 2 pages judged for hop 2']],
  onPages: [[[[3]], 'p. 3'], [[[3, 4]], 'pp. 3, 4']],
  side: [[[0, undefined], 'A'], [[1, 'X'], 'B: X']],
  flagNote: [[[''], 'Flagged for the researcher'], [['Why'], 'Flagged for the researcher: Why']],
  qualifying: [
    [[{ number: 1, of: 3, try: 1, tries: 1 }], 'Qualification: item 1 of 3. After each you are told what is right.'],
    [[{ number: 1, of: 3, try: 1, tries: 2 }], 'Qualification: item 1 of 3, try 1 of 2. After each you are told what is right.'],
  ],
  breakAfter: [[[0], 'never'], [[50], 'after 50 minutes']],
})) {
  test(`words: ${name}`, () => {
    for (const [given, words] of cases) assert.equal(TEXT[name](...given), words);
  });
}

test('a page is named, and pages are', () => {
  assert.deepEqual([REVISING.page([3]), REVISING.page([3, 4])], ['p. 3', 'pp. 3, 4']);
});

test('a name that is only heard stands beside what is only seen, and alone where nothing is', () => {
  const shown = (...given) => h('p', {}, ...called(...given)).elements.map((part) => [part.textContent, part.className, part.getAttribute('aria-hidden')]);
  assert.deepEqual([shown('Go'), shown('Go', '→')], [[['Go', 'unseen', null]], [['Go', 'unseen', null], ['→', '', 'true']]]);
});

test('the setting of the next step shows what is set, and sets it', () => {
  for (const [set, on] of [[{}, false], [{ next_step: 'at_once' }, true], [{ next_step: 'other' }, false]]) {
    const preferences = new Map(Object.entries(set));
    const made = new NextStep(preferences);
    assert.deepEqual([made.atOnce, made.box.checked], [on, on]);
    made.box.checked = !on;
    made.box.dispatchEvent(new Event('change'));
    assert.deepEqual([made.atOnce, preferences.get('next_step')], [!on, on ? null : 'at_once']);
  }
});
