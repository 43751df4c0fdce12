import assert from 'node:assert/strict';
import { test } from 'node:test';

import './browser.js';

const { searchWords } = await import('../../app/widgets/viewer/search.js');

const FOUND = { query: 'w', hits: [], count: 0, searched: 4, pages: 4, without_text: [], unreadable: [], complete: true };
const HIT = { page: 2, boxes: [], context: '' };

test('a document with text in which nothing stands is said not to have it', () => {
  assert.equal(searchWords(FOUND, -1), 'Not found in this document');
});

test('a scan without text cannot be searched, which is not that it lacks the words', () => {
  const words = searchWords({ ...FOUND, without_text: [1, 2, 3, 4] }, -1);
  assert.equal(words, 'This document cannot be searched: its pages are pictures without text');
});

test('a document of which some pages have no text says where it looked', () => {
  assert.equal(searchWords({ ...FOUND, without_text: [3] }, -1), 'Not found on the pages that have text · 1 page has no text and cannot be searched');
  assert.equal(searchWords({ ...FOUND, without_text: [3], unreadable: [4] }, -1),
    'Not found on the pages that have text · 1 page has no text and cannot be searched · 1 page could not be read');
  assert.equal(searchWords({ ...FOUND, hits: [HIT], count: 1, without_text: [3] }, 0), '1 of 1 · page 2 · 1 page has no text and cannot be searched');
});

test('nothing is said of what was not found while pages are still read', () => {
  const words = searchWords({ ...FOUND, complete: false, searched: 2, without_text: [1, 2] }, -1);
  assert.equal(words, 'still reading: 2 of 4 pages · 2 pages have no text and cannot be searched');
});

test('a reason why nothing was looked for stands alone', () => {
  assert.equal(searchWords({ ...FOUND, unreadable: [1, 2, 3, 4], reason: 'This document was not supplied.' }, -1), 'This document was not supplied.');
});
