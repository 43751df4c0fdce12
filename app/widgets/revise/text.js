/** Every word of the reviser's page that the annotator's page does not have, in one place for translation. */

import { TEXT } from '../shared/text.js';

/** @param {number} n @param {string} one @param {string} many */
const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;

export const WORDS = {
  // top line
  title: (/** @type {string} */ protocol) => (protocol ? `Revise, ${protocol}` : 'Revise'),
  of: (/** @type {number} */ of) => `of ${count(of, 'item', 'items')}`,
  progress: (/** @type {number} */ done, /** @type {number} */ of) => `${done} of ${count(of, 'item', 'items')} revised at this visit`,
  kept: (/** @type {string} */ time) => `Draft kept in this browser ${time}`,
  notSavedTitle: () => '',
  history: 'Story',

  // whole-page states
  loading: 'Getting what waits to be revised…',
  loadingItem: 'Getting the item…',
  shownPlain: 'This item stopped the page when it was shown last. Its texts are shown as they were written. Leave it for later if that does not do.',
  doneOne: (/** @type {number} */ version) => `Version ${version} is saved`,
  doneOneMore: 'What fell with it is asked again once the item is sent to recheck, on the page of the study.',

  // the fields
  fields: 'What the item says',
  names: /** @type {Record<string, string>} */ ({
    question: 'Question', answer: 'Answer', references: 'Reference answers', answer_claims: 'Claims of the answer',
    reference_claims: 'Claims of the reference answers', evidence: 'Evidence and roles', images: 'Images', others: 'Everything else, as JSON',
  }),
  hints: /** @type {Record<string, string>} */ ({
    references: 'One a line; a set of required phrases as a list: ["4.6 million", "2023"]. Where one has several lines, a line --- behind each',
    answer_claims: 'One a line', reference_claims: 'One a line',
  }),
  edit: 'edit',
  unchanged: 'unchanged',
  changed: 'changed',
  nChanged: (/** @type {number} */ n) => `${n} changed`,
  split: 'split from the answer',
  suggest: 'have it drafted',
  draftOf: (/** @type {string} */ name) => `A model's draft: ${name}`,
  draftModel: 'Model',
  draftPrompt: 'Prompt',
  draftLooking: 'Looking what would be sent…',
  draftPlan: (/** @type {string | null} */ leaves, /** @type {number} */ tokens, /** @type {number | null} */ cost) =>
    `${leaves ? `If you ask, ${leaves}` : 'Nothing leaves this machine'}: about ${tokens.toLocaleString('en')} tokens${cost === null ? '' : `, ${cost.toFixed(4)}`}.`,
  draftAsk: 'Ask',
  draftAsking: (/** @type {string} */ model) => `${model} is writing…`,
  draftBy: (/** @type {string} */ model, /** @type {string} */ prompt) => `Drafted by ${model} with ${prompt}. Nothing is changed until you take it.`,
  draftTake: 'Take it',
  draftLeave: 'Leave it',
  draftClose: 'Close',
  draftAgain: 'Try again',
  draftNone: (/** @type {string} */ why) => `It wrote none: ${why}`,
  draftNothing: 'It found nothing to write.',
  draftProblem: (/** @type {string} */ why) => `There is no draft: ${why}`,
  ambiguous: 'Annotators found the question ambiguous. An answer that may stand where the evidence settles nothing:',
  noParts: /** @type {Record<string, string>} */ ({ evidence: 'No evidence.', images: 'No images.' }),
  addPage: 'add the page in view',
  addBox: 'draw a box',
  addedAs: (/** @type {string} */ key) => `Added as ${key}. Backspace takes all of this field back.`,
  kindOf: (/** @type {string} */ key) => `What ${key} is`,
  marking: {
    tool: 'Draw a box as new evidence; with text selected, take that passage', use: 'Add as evidence',
    bar: 'Draw a box with the mouse. By keyboard: arrows move the cross, Enter begins the box and ends it, Space ends it as a passage, Escape stops.',
  },
  noPage: 'No page is in view: the item names no document whose pages are there.',
  role: 'Role',
  noRole: 'none',
  text: 'text',
  textOf: (/** @type {string} */ key) => `Text of ${key}`,
  captionOf: (/** @type {string} */ key) => `Caption of ${key}`,
  leaveOut: 'leave out',
  putBack: 'put back',
  deleteKey: 'Delete, on the row',
  none: 'none',
  out: 'left out',
  added: 'added',
  page: (/** @type {number[]} */ pages) => (pages.length === 1 ? `p. ${pages[0]}` : `pp. ${pages.join(', ')}`),
  fields_differ: (/** @type {number} */ n, /** @type {number} */ version) => n
    ? `${count(n, 'field differs', 'fields differ')} from version ${version}` : 'Nothing differs yet. Earlier versions always stay.',
  nothingSelected: 'Select words on a page first; they are quoted where you wrote last.',
  noField: 'Edit a field first; the words are quoted there.',

  // why, what falls, the reason
  side: 'Why it is here, and what saving does',
  why: 'Why it is here',
  version: (/** @type {number} */ version) => `version ${version}`,
  inStudy: (/** @type {string} */ study) => `in ${study}`,
  final: (/** @type {string} */ label) => `settled as ${label}`,
  adjudicator: 'Adjudicator',
  guidelineNote: 'For the guidelines',
  nothingFails: 'No label of it fails.',
  noStudy: 'It is in no study.',
  hidden: (/** @type {string} */ study) => `You are to judge it in ${study}: its labels appear when you have.`,
  saving: (/** @type {number} */ version) => `When you save version ${version}`,
  falls: 'Fall',
  stands: (/** @type {number} */ version) => `Stand, carried over from version ${version}`,
  labels: (/** @type {number} */ people) => count(people, 'annotator', 'annotators'),
  noLabelFalls: 'No label falls.',
  nobody: 'Nobody has labelled it.',
  verdictsFall: (/** @type {number} */ n) =>
    `${count(n, 'verdict', 'verdicts')} that came with the item ${n === 1 ? 'falls: it is' : 'fall: they are'} on what is edited.`,
  fresh: (/** @type {number} */ fresh, /** @type {number} */ team, /** @type {string} */ study) =>
    `${fresh} of ${count(team, 'annotator', 'annotators')} of ${study} ${fresh === 1 ? 'does' : 'do'} not know this item and can be asked again.`,
  writeFirst: 'Edit a field; which labels fall stands here before you save.',
  cannot: 'It cannot be saved so:',
  notLooked: 'No answer from the server: what falls is looked up when it is back. What you wrote is kept here.',
  reason: 'Reason',
  required: 'required',
  reasonPlaceholder: 'Kept with the new version',
  stays: (/** @type {number} */ version) => `Version ${version} stays readable.`,
  keep: 'Keep original',
  reject: 'Reject',
  withdraw: 'Withdraw',
  later: 'Later',
  back: 'Back',
  save: (/** @type {number} */ version) => `Save version ${version}`,
  whyEnd: /** @type {Record<string, string>} */ ({
    accepted: 'Why is it accepted as it is?', rejected: 'Why is it rejected?', withdrawn: 'Why is it withdrawn?',
  }),
  ended: /** @type {Record<string, string>} */ ({ accepted: 'Accepted as it is', rejected: 'Rejected', withdrawn: 'Withdrawn' }),

  // messages
  nothingDiffers: 'Nothing differs from the item yet: edit a field, or keep the original.',
  reasonMissing: 'Say why it is revised: the reason is kept with the new version.',
  sending: 'Saving…',
  saved: (/** @type {string} */ item, /** @type {number} */ version) => `${item}: version ${version} is saved.`,
  notSaved: 'No answer from the server: it may be saved or not. What you wrote is kept here; try again, it counts once.',
  notEnded: 'No answer from the server: try again.',
  notSplit: 'No answer from the server: the sentences cannot be had now.',
  onlyOne: 'This is the only item left.',
  nothingBack: 'You have revised nothing at this visit.',
  meanwhile: (/** @type {number} */ from, /** @type {number} */ now) =>
    `Somebody saved version ${now} since you began from version ${from}. Your edits stand over it: look at what differs, then save.`,
  notYours: (/** @type {string} */ why) => why,
  held: (/** @type {string} */ by) => `${by} has that item before them. It was passed over.`,
  takenOver: (/** @type {string} */ by) => `${by} has this item before them too. Whose version is saved first stands; the other is asked to look again.`,
  heldByOthers: (/** @type {number} */ n, /** @type {string} */ names) => `${count(n, 'item is', 'items are')} before ${names} now.`,
  gone: 'The item that came next waits for no revision any more. It was passed over.',
  nextItem: (/** @type {string} */ item, /** @type {number} */ n) => `${item}, ${count(n, 'label fails', 'labels fail')}.`,
  labelKeys: 'Labels of this protocol',
};

/** The words of the screens without an item. @type {typeof TEXT} */
export const SCREENS = {
  ...TEXT,
  cannotShowMore: 'Something in it is not as the page needs it. Leave it for later, and tell the researcher.',
  skipIt: 'Leave it for later',
  cannotOpen: 'This cannot be opened',
  finished: 'Nothing is left to revise',
  finishedMore: (n) => `${count(n, 'item was', 'items were')} revised or ended at this visit. Labels that fell are asked again once the items are sent to recheck.`,
  nothingNow: 'Nothing waits to be revised',
  nothingNowMore: 'Items whose settled labels the protocol does not accept show here.',
  noConnectionMore: 'The server cannot be reached. Trying again by itself; what you wrote is kept in this browser.',
  noConnectionItem: 'No connection, so the next item cannot be fetched. Trying again by itself; what you wrote is kept in this browser.',
  troubleMore: 'It cannot answer just now. Trying again by itself; what you wrote is kept in this browser.',
  troubleItem: 'It cannot give the next item just now. Trying again by itself; what you wrote is kept in this browser.',
  signedOutMore: () => 'What you wrote is kept in this browser. Sign in again to go on with the same item.',
};
