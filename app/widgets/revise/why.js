/** The right side: why the item is here, which labels fall when it is saved, the reason, and what else can be done with it. */

import { button, h } from '../shared/dom.js';
import { WORDS } from './text.js';

/** @typedef {import('./edits.js').Edits} Edits */
/** @typedef {import('../shared/dom.js').Child} Child */

const SAID = 6; // remarks on a unit that are shown

export class Why {
  /**
   * @param {import('../shared/keys.js').Keys} keys
   * @param {object} on
   * @param {() => void} on.change the reason is otherwise
   * @param {(action: string) => void} on.action
   */
  constructor(keys, on) {
    this.on = on;
    /** @type {Edits | null} */
    this.edits = null;
    this.reasons = h('section', { class: 'why-part', 'data-testid': 'why' });
    this.effects = h('section', { class: 'why-part', 'data-testid': 'effects', 'aria-live': 'polite' });
    this.field = h('textarea', {
      class: 'field', rows: 2, dir: 'auto', 'aria-label': WORDS.reason, placeholder: WORDS.reasonPlaceholder, maxlength: 2000, 'data-testid': 'reason',
      oninput: () => {
        if (!this.edits) return;
        this.edits.reason = this.field.value;
        on.change();
      },
    });
    this.stays = h('small', { class: 'soft' });
    this.reason = h('section', { class: 'why-part the-reason' }, h('h2', {}, `${WORDS.reason} `, h('small', { class: 'warn-text' }, WORDS.required)), this.field, this.stays);
    this.notice = h('div', { class: 'notice', role: 'alert', 'data-testid': 'notice' });
    const action = (/** @type {string} */ name, /** @type {string} */ title) => button(title, () => on.action(name),
      { key: keys.of(name), testid: name, hint: keys.title(name) });
    this.ends = [action('reject', WORDS.reject), action('withdraw', WORDS.withdraw)];
    this.keep = action('keep', WORDS.keep);
    this.save = button('', () => on.action('save'), { key: keys.of('save'), class: 'btn pri', testid: 'save', hint: keys.title('save') });
    this.title = /** @type {HTMLElement} */ (this.save.firstElementChild);
    this.footer = h('footer', {}, ...this.ends, action('later', WORDS.later), action('back', WORDS.back), this.keep, this.save);
  }

  /** What stands beside each other, from above. */
  get parts() {
    return [h('div', { class: 'why', tabindex: '-1' }, this.reasons, this.effects), this.reason, this.notice];
  }

  /** @param {Edits} edits */
  show(edits) {
    this.edits = edits;
    const { item } = edits;
    this.field.value = edits.reason;
    this.stays.textContent = WORDS.stays(item.version);
    this.title.textContent = WORDS.save(item.version + 1);
    for (const part of [this.save, this.keep, ...this.ends, this.field]) part.disabled = item.why_not !== null;
    for (const part of [this.keep, ...this.ends]) part.hidden = item.only_revises;
    this.say(item.why_not ? WORDS.notYours(item.why_not) : '');
    this.reasons.replaceChildren(h('h2', {}, WORDS.why, ' ', h('small', { class: 'soft' }, `${WORDS.version(item.version)}`)), ...this.#reasons(item));
    this.planned(null);
  }

  /** What saving would do. @param {RevisionPlan | null} plan @param {string} [words] why there is none */
  planned(plan, words = '') {
    const { edits } = this;
    if (!edits) return;
    const { item } = edits;
    const title = h('h2', {}, WORDS.saving(item.version + 1));
    if (!plan) {
      this.effects.replaceChildren(title, h('p', { class: words ? 'warn-text' : 'soft' }, words || WORDS.writeFirst));
      return;
    }
    const labelled = plan.effects.filter(({ annotations }) => annotations > 0);
    const named = (/** @type {StudyEffect} */ effect, /** @type {string[]} */ names) => {
      const titles = item.studies.find(({ study_id: id }) => id === effect.study_id)?.titles ?? {};
      return names.map((name) => titles[name] ?? name);
    };
    const list = (/** @type {'falls' | 'stays'} */ which, /** @type {string} */ sign) => labelled.flatMap((effect) => named(effect, effect[which]).map((name) => h('li', {},
      h('i', { 'aria-hidden': 'true' }, sign), h('span', { class: 'grow', dir: 'auto' }, name), h('small', { class: 'soft' },
        labelled.length > 1 ? `${effect.study}, ${WORDS.labels(effect.annotations)}` : WORDS.labels(effect.annotations)))));
    const falls = list('falls', '↺');
    const stays = list('stays', '✓');
    /** @type {Child[]} */
    const parts = [title];
    if (!labelled.length) parts.push(h('p', { class: 'soft' }, WORDS.nobody));
    else {
      parts.push(falls.length ? h('h3', { class: 'warn-text' }, WORDS.falls) : h('p', { class: 'soft' }, WORDS.noLabelFalls), h('ul', { class: 'falls', 'data-testid': 'falls' }, ...falls));
      if (stays.length) parts.push(h('h3', { class: 'ok-text' }, WORDS.stands(item.version)), h('ul', { class: 'stays', 'data-testid': 'stays' }, ...stays));
      if (falls.length) {
        parts.push(...item.studies.filter(({ study_id: id }) => labelled.some((effect) => effect.study_id === id && effect.falls.length)).map(
          ({ fresh, team, study }) => h('p', { class: 'soft', dir: 'auto' }, WORDS.fresh(fresh, team, study))));
      }
    }
    if (plan.verdicts) parts.push(h('p', { class: 'soft', 'data-testid': 'verdicts' }, WORDS.verdictsFall(plan.verdicts)));
    this.effects.replaceChildren(...parts.filter((part) => part instanceof Node));
  }

  /** Says something above the footer. @param {string} words */
  say(words) {
    this.notice.textContent = words;
  }

  /** @param {ItemToRevise} item @returns {HTMLElement[]} */
  #reasons(item) {
    const failing = item.studies.filter((study) => study.failing.length);
    const hidden = item.studies.filter((study) => study.hidden).map(({ study }) => h('p', { class: 'soft', dir: 'auto' }, WORDS.hidden(study)));
    if (!failing.length) return [h('p', { class: 'soft' }, item.studies.length ? WORDS.nothingFails : WORDS.noStudy), ...hidden];
    return [...failing.flatMap((study) => [
      ...study.failing.map((unit) => this.#unit(unit)),
      ...study.remarks.map(([by, said]) => remark(by, said)),
      h('p', { class: 'soft of-study', dir: 'auto' }, `${WORDS.inStudy(study.study)}, ${WORDS.version(study.version)}`),
    ]), ...hidden];
  }

  /** @param {FailingUnit} unit */
  #unit(unit) {
    const votes = unit.votes.map(([label, n, fails]) => h('span', { class: `vote${fails ? ' odd' : ''}`, dir: 'auto' }, `${label} ${n}`));
    const final = votes.length > 1 || unit.decided !== null ? h('small', { class: 'soft', dir: 'auto' }, WORDS.final(unit.final)) : null;
    return h('div', { class: 'failing', 'data-testid': 'failing' },
      h('header', {}, h('b', { dir: 'auto' }, unit.title), unit.target ? h('small', { class: 'soft', dir: 'auto' }, unit.target) : null, h('span', { class: 'grow' }), ...votes), final,
      ...unit.said.slice(0, SAID).map(([by, said]) => remark(by, said)),
      unit.decided ? remark(WORDS.adjudicator, unit.decided) : null,
      ...unit.notes.map((note) => remark(WORDS.guidelineNote, note)));
  }
}

/** @param {string} by @param {string} said */
function remark(by, said) {
  return h('p', { class: 'remark', dir: 'auto' }, h('small', { class: 'soft' }, by), ' ', said);
}
