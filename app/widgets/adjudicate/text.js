/** Every word of the adjudicator's page that the annotator's page does not have, in one place for translation. */

import { TEXT } from '../shared/text.js';

/** @param {number} n @param {string} one @param {string} many */
const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;

export const WORDS = {
  // top line
  title: (/** @type {string} */ protocol) => `Adjudicate, ${protocol}`,
  of: (/** @type {number} */ of) => `of ${count(of, 'dispute', 'disputes')}`,
  progress: (/** @type {number} */ done, /** @type {number} */ of) => `${done} of ${count(of, 'dispute', 'disputes')} settled`,
  kept: (/** @type {string} */ time) => `Kept in this browser ${time}`,
  notSavedTitle: (/** @type {number} */ n) => `${count(n, 'decision is', 'decisions are')} kept in this browser and sent again by itself`,

  // whole-page states
  loading: 'Getting the disputes…',
  loadingItem: 'Getting the item…',
  shownPlain: 'This item stopped the page when it was shown last. Its texts are shown as they were written. Leave it for later if that does not do.',
  sendingFirst: (/** @type {number} */ n) => `Sending ${count(n, 'decision', 'decisions')} kept from last time…`,
  saving: 'Saving the last decision…',

  // the table
  decisions: 'Labels and decision',
  table: 'Every criterion with the labels of all annotators and your decision',
  criterion: 'Criterion',
  decision: 'Decision',
  against: (/** @type {number[]} */ sizes) => sizes.join(' against '),
  allDiffer: 'all differ',
  cannotJudge: 'Cannot judge',
  nCannot: (/** @type {number} */ n) => `${n} cannot judge`,
  asked: (/** @type {number} */ n, /** @type {number} */ of) => `asked of ${n} of ${of}`,
  notAsked: 'not asked',
  differs: 'differs',
  quoted: (/** @type {string} */ text) => `“${text}”`,
  unanimous: (/** @type {string} */ label) => `${label}, unanimous`,
  tolerated: (/** @type {string} */ label) => `${label}, close enough to agree`,
  byMajority: (/** @type {string} */ label) => `${label}, by majority`,
  byBoth: (/** @type {string} */ label) => `${label}, decided alike by two`,
  roundsName: 'The two decisions so far',
  you: 'You',
  leftToVotes: 'left to the labels',
  differ: 'Two adjudicators decided this item without seeing each other’s decisions. Decide where they differ.',
  together: 'You and another adjudicator decided this item otherwise, and nobody else may decide it. Talk it over, then decide.',
  ownWords: 'Each in their own words',
  onlyIf: 'Only if it is asked after your decision',
  otherwise: 'Decide otherwise',
  decide: 'Decide',
  space: 'Space',
  settledUnits: (/** @type {number} */ n) => `${count(n, 'unit', 'units')} without dispute`,
  disputedOf: (/** @type {number} */ n, /** @type {number} */ of) => n ? `${n} of ${of} disputed` : `${count(of, 'unit', 'units')}`,
  show: 'Show',
  hide: 'Hide',
  overruleHint: 'A reason is needed to overrule the majority.',
  reasonOver: (/** @type {string} */ label) => `Why not “${label}”? A reason is needed to overrule the majority.`,
  reason: 'Reason',
  reasonKeys: 'Enter goes on, and settles the item when nothing else is missing; Shift + Enter breaks a line',
  reasonsLeft: (/** @type {number} */ n, /** @type {string} */ key) => `${count(n, 'reason is', 'reasons are')} still needed; ${key} goes there.`,
  cause: 'Cause',
  causeMore: 'What the disagreement comes from, if you like to say; counted by criterion',
  causes: { item_unclear: 'Item unclear', guideline_gap: 'Guideline gap', slip: 'Slip', true_difference: 'True difference' },
  confidence: 'Confidence',
  confidenceMore: 'How sure you are, if you like to say',
  confidences: { low: 'Low', medium: 'Medium', high: 'High' },
  note: 'What should the guidelines say?',
  remarks: 'Said about the whole item',
  flagged: 'flagged it',

  // the footer and what opens above it
  back: 'Back',
  later: 'Later',
  giveBack: 'Return to annotator',
  rest: 'Take for the rest…',
  takeWhose: (/** @type {string} */ criterion, /** @type {number} */ n) => `Whose labels for the ${count(n, 'unit', 'units')} of “${criterion}” that ${n === 1 ? 'is' : 'are'} left?`,
  takeOf: (/** @type {string | null} */ rater, /** @type {number} */ n, /** @type {number} */ against) =>
    `${rater ?? 'What most said'}: ${count(n, 'unit', 'units')}${against ? `, ${against} against the majority` : ''}`,
  whyRest: (/** @type {string} */ rater, /** @type {number} */ n) => `Why ${rater} against the majority, of ${count(n, 'unit', 'units')}? The reason is kept with each.`,
  taken: (/** @type {string | null} */ rater, /** @type {number} */ n, /** @type {string} */ key) =>
    `${count(n, 'unit', 'units')} decided as ${rater ?? 'most said'}. ${key} takes ${n === 1 ? 'it' : 'them'} back.`,
  nothingToTake: 'There is nothing left here that could be decided at once.',
  settle: 'Settle',
  missing: (/** @type {string} */ what) => `Still to decide: ${what}`,
  reasonMissing: (/** @type {string} */ what) => `${what}: a reason is needed to overrule the majority.`,
  whichRater: 'Return to which annotator?',
  why: (/** @type {string} */ rater) => `Why do you return the item to ${rater}? They read this.`,
  returnReasons: ['A label contradicts its own comment', 'A part of the evidence was overlooked', 'The guidelines were misread'],
  returning: 'Returning…',
  returned: (/** @type {string} */ rater) => `Returned to ${rater}`,
  notReturned: 'No answer from the server: it may be returned or not. Try again; it counts once.',
  onlyOne: 'This is the only dispute left.',
  nothingBack: 'There is nothing to go back to.',
  backWaits: 'The last decision is not saved yet; it opens once it is.',
  notBack: 'The last item cannot be opened: no answer from the server. Try again.',
  again: 'You settled this item. Settling it again makes a new round; the earlier decision is kept.',
  leaveAsIs: 'Leave it as it is',
  notAllowed: (/** @type {string} */ why) => `${why} “Later” goes on to the next one.`,

  // messages about items that are not on the screen
  notSettled: (/** @type {string} */ title) => `Not settled: “${title}”`,
  gone: (/** @type {string} */ state) => ({
    adjudicated: 'Somebody else settled the item that came next. It was passed over.',
    pending: 'The item that came next went back to an annotator. It was passed over.',
  })[state] ?? 'The item that came next is no longer disputed. It was passed over.',
  held: (/** @type {string} */ by) => `${by} has that item before them. It was passed over.`,
  takenOver: (/** @type {string} */ by) => `${by} has this item before them too. Whose decision is stored first stands.`,
  heldByOthers: (/** @type {number} */ n, /** @type {string} */ names) => `${count(n, 'dispute is', 'disputes are')} before ${names} now.`,
  othersWait: (/** @type {number} */ n) => `${count(n, 'disputed item waits', 'disputed items wait')} for another adjudicator: you annotated them, or have decided them.`,
  nextItem: (/** @type {number} */ done, /** @type {number} */ of, /** @type {number} */ n) =>
    `Next dispute, ${count(n, 'decision', 'decisions')} to make. ${done} of ${of} settled.`,

  // the viewer
  marks: (/** @type {number} */ n) => `Rationales: ${count(n, 'box', 'boxes')}`,
  marksMore: 'Boxes are what each annotator marked as support',
  markTitle: (/** @type {string} */ raters, /** @type {string} */ what) => `${raters}: ${what}`,
  labelKeys: 'Labels of this protocol',
};

/** The words of the screens without an item. @type {typeof TEXT} */
export const SCREENS = {
  ...TEXT,
  cannotShowMore: 'Something in it is not as the page needs it. Leave it for later, and tell the researcher.',
  skipIt: 'Leave it for later',
  cannotOpen: 'The disputes of this study cannot be opened',
  finished: 'Every dispute is settled',
  finishedMore: (n) => `${count(n, 'item', 'items')} of this study ${n === 1 ? 'was' : 'were'} adjudicated. New disputes appear on the start page.`,
  enough: 'Your part is done',
  halted: 'Nothing waits for you now',
  nothingNow: 'Nothing is disputed',
  nothingNowMore: 'Items on which the annotators disagree show here once they have all their annotations.',
  noConnectionMore: 'The server cannot be reached. Trying again by itself; nothing you settled is lost.',
  noConnectionItem: 'No connection, so the next item cannot be fetched. Trying again by itself; nothing you settled is lost.',
  troubleMore: 'It cannot answer just now. Trying again by itself; nothing you settled is lost.',
  troubleItem: 'It cannot give the next item just now. Trying again by itself; nothing you settled is lost.',
  signedOutMore: (n) => n > 0
    ? `${count(n, 'decision is', 'decisions are')} kept in this browser and will be sent when you are signed in again.`
    : 'What you decided so far is kept in this browser. Sign in again to go on with the same item.',
  refused: (title) => WORDS.notSettled(title),
  discardSure: 'Discard this decision for good?',
};
