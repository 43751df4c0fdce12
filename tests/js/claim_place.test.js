/** Which sentence of an answer is marked for a claim that is not in it word for word. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentenceLike } from '../../app/widgets/reading/claim_place.js';

const ANSWER = 'The mill burned down in 1907. It was rebuilt by 1909.5 of brick!\n- It employed 240 people\n\nوصل التقرير السنوي. That is all.';

/** @param {string} claim */
const said = (claim) => {
  const place = sentenceLike(ANSWER, claim);
  return place && ANSWER.slice(...place);
};

for (const [claim, sentence] of [
  ['In 1907 the mill burned.', 'The mill burned down in 1907.'],
  ['rebuilt, by, 1909.5', 'It was rebuilt by 1909.5 of brick!'],
  ['It employed 240 women', '- It employed 240 people'],
  ['التقرير السنوي وصل', 'وصل التقرير السنوي.'],
  ['The library has a roof of slate', null],
  ['Brick!', 'It was rebuilt by 1909.5 of brick!'],
  ['brick roofs', 'It was rebuilt by 1909.5 of brick!'], // half of its words
  ['brick roofs shine', null],
  ['', null],
]) test(`the sentence like “${claim}”`, () => assert.equal(said(claim), sentence));
