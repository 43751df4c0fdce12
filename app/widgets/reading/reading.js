/** What is read before judging: question, answer with its images, references, steps, labels of earlier steps. */

import { valueWords } from '../criteria/kinds.js';
import { sentenceLike } from './claim_place.js';
import { attribute, button, fromTheRight, h, keepFocus } from '../shared/dom.js';
import { FoundPhrases, phraseSets } from './counted_phrases.js';
import { PairMarks } from './pairs/marks.js';
import { numberParagraphs } from './paragraphs.js';
import { pageUrl, partUrl, partWidth, rung } from '../viewer/pages/images.js';
import { TEXT } from '../shared/text.js';
import { textIn } from '../texts/texts.js';
import { hasEvidence } from '../viewer/viewer.js';
import { WORDS } from '../shared/viewer_text.js';

const LONG = 1600; // characters of a text that is long
const ONE_LINE = 150; // characters that stand in one line above a pair
const NARROW = 520; // pixels an image of the answer is shown wide

/**
 * @param {Presentation} item
 * @param {import('../texts/texts.js').Texts} texts
 * @param {import('../shared/keys.js').Keys} keys
 * @param {boolean} [numbered] the paragraphs of the answer have their numbers beside them
 * @returns {HTMLElement[]}
 */
export function reading(item, texts, keys, numbered = false) {
  const language = item.language ?? null;
  const parts = [];
  if (item.question !== undefined) {
    const asked = texts.fill(h('div', { class: 'q', lang: language, 'data-testid': 'question' }), item.question);
    const choice = texts.choice(item.question);
    const question = part(TEXT.question, asked, choice && h('span', { class: 'beside' }, choice));
    question.append(...imagesOf(item, 'question'));
    parts.push(question);
  }
  if (item.hops?.length) {
    parts.push(part(TEXT.hops, h('ol', { class: 'hops', dir: directionOf(item.hops[0].question) }, ...item.hops.map((hop) => h('li', { dir: 'auto', lang: language },
      texts.fill(h('span', {}), hop.question), hop.answer ? texts.fill(h('span', { class: 'soft hop-answer' }), hop.answer) : null)))));
  }
  parts.push(...lackingPart(item, 'hops', TEXT.hops));
  if (item.answer !== undefined) {
    const title = item.system ? TEXT.answerBy(item.system) : TEXT.answer;
    const answer = h('div', { class: numbered ? 'a numbered' : 'a', lang: language, 'data-testid': 'answer' });
    const found = new FoundPhrases(item.phrase_sets?.places ?? [], hasEvidence(item) ? null : keys);
    texts.fill(answer, item.answer, () => figuresOf(item), (drawn) => {
      found.mark(drawn);
      if (numbered) numberParagraphs(drawn);
    });
    answer.append(...lacking(item, 'answer'));
    parts.push(part(title, answer, h('span', { class: 'beside' }, texts.choice(item.answer), found.element)));
  }
  const pair = item.answers?.length ? new PairMarks(keys) : null;
  if (!pair) {
    parts.push(...referencesOf(item, texts), ...['claims', 'images'].flatMap((material) => lackingPart(item, material, TEXT.materials[material])));
    return parts;
  }
  parts.push(...referencesOf(item, texts).map((shown) => clamped(shown, keys)), pair.element);
  for (const [at, { answer, system }] of (item.answers ?? []).entries()) {
    const side = texts.fill(h('div', { class: 'a', lang: language, 'data-testid': 'side' }), answer, undefined, (drawn) => pair.drawn(at, drawn));
    const words = answer.trim() ? answer.trim().split(/\s+/).length : 0;
    const beside = h('span', { class: 'beside' }, h('small', { class: 'soft' }, TEXT.sideWords(words)), texts.choice(answer));
    parts.push(part(TEXT.side(at, system), side, beside, 'of-pair'));
  }
  return parts;
}

/** The references, or the phrases that were counted in their place. @param {Presentation} item @param {import('../texts/texts.js').Texts} texts @returns {HTMLElement[]} */
function referencesOf(item, texts) {
  const language = item.language ?? null;
  if (item.phrase_sets) return [part(TEXT.acceptable, phraseSets(item.phrase_sets, language), TEXT.acceptableSets(item.phrase_sets.sets.length))];
  if (!item.references?.length) return lackingPart(item, 'references', TEXT.references(1));
  const references = item.references.filter((reference) => typeof reference === 'string');
  return [part(TEXT.references(item.references.length), h('div', {}, h('ul', {
    class: references.length === 1 ? 'refs one' : 'refs', dir: directionOf(references[0] ?? ''), 'data-testid': 'references',
  }, ...item.references.map((reference) => (typeof reference === 'string'
    ? texts.fill(h('li', { lang: language }), reference)
    : h('li', { class: 'phrases' }, h('span', { class: 'soft' }, TEXT.allOf),
      ...reference.map((phrase) => h('span', { class: 'phrase', dir: 'auto', lang: language }, phrase)))))),
  ...imagesOf(item, 'reference')), texts.choice(...references))];
}

/** That an item lacks a material, and what is judged by it: in the place where it would stand. @param {Presentation} item @param {string} material @returns {HTMLElement[]} */
function lacking(item, material) {
  const titles = item.missing?.[material];
  return titles ? [h('p', { class: titles.length ? 'lacks warn' : 'lacks', 'data-testid': 'lacks' }, TEXT.lacking(TEXT.lacks[material], titles))] : [];
}

/** @param {Presentation} item @param {string} material @param {string} title @returns {HTMLElement[]} */
const lackingPart = (item, material, title) => lacking(item, material).map((said) => part(title, said));

let unfolded = false; // the references of pairs, in what follows as well

/** References that take a line until they are unfolded. @param {HTMLElement} shown @param {import('../shared/keys.js').Keys} keys */
function clamped(shown, keys) {
  if ((shown.textContent?.length ?? 0) < ONE_LINE) return shown;
  const fold = button('', () => {
    unfolded = !unfolded;
    show();
  }, { class: 'mini', key: keys.of('references'), testid: 'fold-references', hint: keys.title('references') });
  const show = () => {
    shown.classList.toggle('clamped', !unfolded);
    attribute(fold, 'aria-expanded', String(unfolded));
    fold.firstElementChild?.replaceChildren(unfolded ? TEXT.fold : TEXT.unfold);
  };
  show();
  shown.querySelector('h2')?.append(fold);
  return shown;
}

/** The read-only labels of a step that was committed. @param {Presentation} item @param {Protocol} protocol @param {number} step */
export function committedLabels(item, protocol, step) {
  const names = protocol.steps[step].criteria;
  const rows = item.committed.filter((given) => names.includes(given.criterion)).flatMap((given) => {
    const criterion = protocol.criteria.find((criterion) => criterion.name === given.criterion);
    const target = ['item', 'pair'].includes(given.target) ? '' : ` (${given.target.replace(/^\w+:/, '')})`;
    const words = given.cannot_judge ? TEXT.cannotJudgeNote(given.reason ?? '') : criterion ? valueWords(given.value, criterion) : String(given.value);
    return [h('dt', {}, `${criterion?.title ?? given.criterion}${target}`), h('dd', { dir: 'auto' }, words)];
  });
  return h('section', { class: 'earlier', 'data-testid': 'committed' }, h('h2', {}, TEXT.earlier(protocol.steps[step].title)), h('dl', { class: 'scores' }, ...rows));
}

/**
 * Marks a claim where the answer says it, word for word or nearly; null takes the mark away.
 *
 * @param {HTMLElement} root
 * @param {string | null} claim
 * @returns {HTMLElement | null} the mark, where it is marked
 */
export function markClaim(root, claim) {
  const answer = textIn(root.querySelector('.a'));
  answer?.unmark('claim');
  const place = claim && answer ? answer.find(claim.trim().replace(/[.。!?]$/, ''), 1)[0] ?? sentenceLike(answer.raw, claim) : null;
  return place ? answer?.mark(...place, 'claim')[0] ?? null : null;
}

/**
 * Frames the image that is judged, at all its places, and brings the first into view; null takes the frame away.
 *
 * @param {HTMLElement} root
 * @param {string | null} key
 */
export function markImage(root, key) {
  const places = [...root.querySelectorAll('figure[data-image]')];
  const judged = places.filter((image) => image.getAttribute('data-image') === key);
  if (judged[0] && !judged[0].classList.contains('judged')) judged[0].scrollIntoView({ block: 'nearest' });
  for (const image of places) image.classList.toggle('judged', judged.includes(image));
}

/**
 * An image of the answer: its part of a page, with a caption. Beside the pages it can be pressed, and says by the event
 * `enlarge` where it is from.
 *
 * @param {Picture} picture
 * @param {number} number from 1
 * @param {Presentation} item
 */
export function figure(picture, number, item) {
  const doc = item.documents?.find((document) => document.id === picture.document || document.key === picture.document);
  const caption = h('figcaption', { dir: 'auto' }, h('b', {}, TEXT.image(number)), picture.caption ? ` ${picture.caption}` : '');
  if (!doc?.supplied) return h('figure', { 'data-image': picture.key }, h('p', { class: 'soft' }, TEXT.noPicture), caption);
  const page = picture.page ?? 1;
  const box = picture.box ?? [0, 0, 1, 1];
  const [x0, y0, x1, y1] = box;
  const pixels = NARROW * window.devicePixelRatio;
  const image = h('img', {
    src: picture.box ? partUrl(doc, page, box, partWidth(pixels)) : pageUrl(doc, page, rung(pixels)), alt: picture.caption || TEXT.image(number), loading: 'lazy',
  });
  const size = doc.sizes?.[page - 1];
  const ratio = size ? String(((x1 - x0) * size[0]) / ((y1 - y0) * size[1])) : '';
  image.style.aspectRatio = ratio; // room for it while it comes
  /** @type {HTMLElement} */
  const frame = hasEvidence(item) ? h('button', {
    type: 'button', class: 'crop', title: WORDS.enlargeTitle, onmousedown: keepFocus,
    onclick: () => frame.dispatchEvent(new CustomEvent('enlarge', { bubbles: true, detail: { document: doc.id, page, box } })),
  }, image) : h('div', { class: 'crop' }, image);
  if (ratio) frame.style.setProperty('--ratio', ratio);
  image.addEventListener('error', () => frame.replaceWith(h('p', { class: 'soft' }, TEXT.noPicture)));
  return h('figure', { 'data-image': picture.key }, frame, caption);
}

/** The side on which the numbers or dots of a list stand. @param {string} text its first entry */
const directionOf = (text) => (fromTheRight(/\p{L}/u.exec(text)?.[0] ?? '') ? 'rtl' : 'ltr');

/** Whether an image belongs to the question, the answer or the references. @param {Picture} image @param {string} side */
const isOf = (image, side) => (image.of ?? 'answer') === side;

/** The images of the question, or of the references. @param {Presentation} item @param {string} side */
function imagesOf(item, side) {
  return (item.images ?? []).flatMap((image, at) => (isOf(image, side) ? [figure(image, at + 1, item)] : []));
}

/** @param {string} title @param {HTMLElement} content @param {HTMLElement | string | null} [beside] the title: a control, or more words @param {string} [kind] a class */
function part(title, content, beside, kind = '') {
  const more = typeof beside === 'string' ? h('small', { class: 'soft' }, ` ${beside}`) : beside;
  return h('section', { class: `part ${kind}`.trim() }, h('h2', {}, more ? h('span', {}, title) : title, more), content);
}

/** The images of an answer: where the text has them, the rest after it. @param {Presentation} item @returns {import('../texts/draw.js').Figures} */
function figuresOf(item) {
  const images = item.images ?? [];
  const placed = new Set();
  const put = (/** @type {number} */ number) => {
    placed.add(number);
    return figure(images[number], number + 1, item);
  };
  return {
    place: (address) => {
      const fits = (/** @type {Picture} */ image) => isOf(image, 'answer') && (address === null || image.address === address);
      const next = images.findIndex((image, at) => fits(image) && !placed.has(at));
      const number = next < 0 && address !== null ? images.findIndex(fits) : next; // one image may stand at several places
      return number < 0 ? null : put(number);
    },
    rest: () => images.flatMap((image, number) => (placed.has(number) || !isOf(image, 'answer') ? [] : [put(number)])),
  };
}

/** Gives the long texts among what is read a way to fold them. @param {HTMLElement} root */
export function foldLong(root) {
  for (const text of root.querySelectorAll('.q, .a')) {
    const heading = text.closest('.part')?.querySelector('h2');
    if (!heading || (text.textContent?.length ?? 0) < LONG) continue;
    text.classList.add('long');
    const fold = button(TEXT.fold, () => {
      const folded = text.classList.toggle('folded');
      attribute(fold, 'aria-expanded', String(!folded));
      /** @type {HTMLElement} */ (fold.firstElementChild).textContent = folded ? TEXT.unfold : TEXT.fold;
      if (folded) heading.scrollIntoView({ block: 'nearest' });
    }, { class: 'mini', testid: 'fold-text' });
    attribute(fold, 'aria-expanded', 'true');
    heading.append(fold);
  }
}
