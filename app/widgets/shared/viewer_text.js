/** The words of the viewer's tools for reading and marking pages, in one place so that they can be translated. */

/** @param {number} n @param {string} one @param {string} many */
const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;

/** @param {number[]} pages */
const pagesOf = (pages) => {
  const shown = pages.slice(0, 6).join(', ');
  return `${pages.length === 1 ? 'page' : 'pages'} ${shown}${pages.length > 6 ? ', …' : ''}`;
};

export const WORDS = {
  // tools
  searchTitle: 'Search the document',
  twoPagesTitle: 'Two pages beside each other',
  markTitle: 'Draw a box around what supports your label; with text selected, use that text',
  enlargeTitle: 'Enlarge',
  ocr: 'OCR',
  ocrTitle: 'The text of this page was read from its picture by a program; it may have mistakes',

  // search
  searchBar: 'Search in the document',
  searchField: 'Find in this document',
  searchBefore: 'Hit before',
  searchAfter: 'Next hit',
  searching: 'Searching…',
  stillReading: (/** @type {number} */ searched, /** @type {number} */ pages) => `still reading: ${searched} of ${pages} pages`,
  hitOf: (/** @type {number} */ at, /** @type {number} */ of) => `${at} of ${of}`,
  hitsMore: (/** @type {number} */ count_, /** @type {number} */ shown) => `${count_} hits, the first ${shown} shown`,
  hitOnPage: (/** @type {number} */ page) => `page ${page}`,
  noHits: 'Not found in this document',
  noHitsWithText: 'Not found on the pages that have text',
  notSearchable: 'This document cannot be searched: its pages are pictures without text',
  unreadable: (/** @type {number} */ n) => `${count(n, 'page', 'pages')} could not be read`,
  noText: (/** @type {number} */ n) => `${count(n, 'page has', 'pages have')} no text and cannot be searched`,
  searchFailed: 'The search got no answer; try again',
  hits: (/** @type {number} */ n) => count(n, 'hit', 'hits'),

  // phrases
  phrases: 'Phrases',
  phrasesTitle: 'Show or hide the phrases of the answer and the references on the pages',
  phrasesLine: 'Phrases of the answer and the references on these pages',
  ofAnswer: 'answer',
  ofReference: 'reference',
  foundTimes: (/** @type {number} */ n, /** @type {number[]} */ pages) => `found ${n === 1 ? 'once' : `${n} times`}, ${pagesOf(pages)}`,
  times: (/** @type {number} */ n, /** @type {number[]} */ pages) => `${n}× p. ${pages.slice(0, 4).join(', ')}${pages.length > 4 ? ', …' : ''}`,
  notFound: 'Not found on these pages:',
  notFoundWithText: 'Not found on the pages that have text:',
  notSearchablePages: 'These pages cannot be searched for phrases: they are pictures without text',
  phraseTitle: (/** @type {string} */ text, /** @type {string} */ of, /** @type {string} */ found) => `“${text}” of the ${of}: ${found}`,
  noneFound: 'not found on these pages',
  noPhrases: 'No phrase of the answer or the references to look for',
  looking: 'Looking for phrases…',
  phrasesLater: (/** @type {number} */ n) => `${count(n, 'page', 'pages')} without text`,
  all: 'All',
  absent: (/** @type {number} */ n) => `${n} not found`,
  showAll: 'Show all phrases',

  // support
  useSelection: 'Use as support',
  supportNote: 'Support:',
  supportBox: (/** @type {number} */ page) => `box, p. ${page}`,
  supportText: (/** @type {string} */ text, /** @type {number | undefined} */ page) => `“${text}”${page ? `, p. ${page}` : ''}`,
  unmark: 'Take this support away',
  unmarkNamed: (/** @type {string} */ what) => `Take away: ${what}`,
  marked: (/** @type {string} */ what, /** @type {string} */ title) => `Marked as support of ${title}: ${what}`,
  unmarked: (/** @type {string} */ what) => `Taken away: ${what}`,
  markFirst: 'Choose the label that this supports first.',
  markMost: (/** @type {number} */ n) => `A label has at most ${n} places as support. Take one away first.`,
  marking: 'Draw a box with the mouse. By keyboard: arrows move the cross, Enter begins the box and ends it, Space ends it as text, Escape stops.',
  crosshair: (/** @type {number} */ page, /** @type {number} */ x, /** @type {number} */ y) => `Page ${page}, ${x} % across, ${y} % down`,
};
