/** A model's draft of a field: who is asked and what leaves this machine, then what came, to be taken or left. */

import { button, h } from '../shared/dom.js';
import { WORDS } from './text.js';

/** @typedef {import('./edits.js').Edits} Edits */
/** @typedef {import('./api.js').Api} Api */

const LOOK = 700; // milliseconds from one look at a draft that is being written to the next

/** What is drafted of which field. @type {Record<string, string>} */
export const DRAFTED = { question: 'question', answer: 'answer', answer_claims: 'claims' };

export class DraftPanel {
  /**
   * @param {Edits} edits
   * @param {string} name of the field
   * @param {Api} api
   * @param {object} on
   * @param {(text: string, job: number) => void} on.take
   * @param {() => void} on.close
   */
  constructor(edits, name, api, on) {
    this.edits = edits;
    this.name = name;
    this.api = api;
    this.on = on;
    this.closed = false;
    const { writers, prompts } = edits.item.drafting;
    this.writer = h('select', { class: 'field', 'aria-label': WORDS.draftModel, 'data-testid': 'draft-writer', onchange: () => void this.#plan() },
      ...writers.map(({ model, server }, place) => h('option', { value: String(place) }, `${model} (${server})`)));
    this.prompt = h('select', { class: 'field', 'aria-label': WORDS.draftPrompt, 'data-testid': 'draft-prompt', onchange: () => void this.#plan() },
      ...(prompts[DRAFTED[name]] ?? []).map((prompt) => h('option', { value: prompt }, prompt)));
    this.said = h('p', { class: 'soft', role: 'status', 'data-testid': 'draft-said' });
    this.actions = h('div', { class: 'actions' });
    this.text = h('div', { class: 'draft-text', dir: 'auto', hidden: true, 'data-testid': 'draft-text' });
    this.element = h('div', { class: 'draft', role: 'group', 'aria-label': WORDS.draftOf(WORDS.names[name]), 'data-testid': `draft-${name}` },
      h('div', { class: 'draft-who' }, this.writer, this.prompt), this.said, this.text, this.actions);
    void this.#plan();
  }

  close() {
    this.closed = true;
    this.element.remove();
    this.on.close();
  }

  /** @returns {DraftRequest} */
  get #wanted() {
    const { model, server } = this.edits.item.drafting.writers[Number(this.writer.value)];
    return {
      writes: DRAFTED[this.name], model, server, prompt: this.prompt.value, question: this.edits.text('question'), answer: this.edits.text('answer'),
    };
  }

  /** Says what asking would send. */
  async #plan() {
    this.text.hidden = true;
    this.#offer([]);
    this.said.textContent = WORDS.draftLooking;
    try {
      const plan = await this.api.draftPlan(this.edits.item.item_id, this.#wanted);
      if (this.closed) return;
      this.said.textContent = WORDS.draftPlan(plan.leaves, plan.tokens, plan.cost);
      this.#offer([button(WORDS.draftAsk, () => void this.#ask(), { class: 'btn small pri', testid: 'draft-ask' }), this.#leave(WORDS.draftClose)]);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Has it written, and waits for it. */
  async #ask() {
    this.#offer([this.#leave(WORDS.draftClose)]);
    this.said.textContent = WORDS.draftAsking(this.edits.item.drafting.writers[Number(this.writer.value)].model);
    try {
      const item = this.edits.item.item_id;
      const job = await this.api.draft(item, this.#wanted);
      let found = await this.api.drafted(item, job);
      while (!this.closed && (found.state === 'waiting' || found.state === 'running')) {
        await new Promise((go) => {
          setTimeout(go, LOOK);
        });
        found = await this.api.drafted(item, job);
      }
      if (!this.closed) this.#came(found);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** @param {Drafted} found */
  #came(found) {
    const { draft, problem } = found;
    if (!draft || problem) this.#refused(WORDS.draftProblem(problem ?? ''));
    else if (!draft.texts.length) this.#refused(draft.none ? WORDS.draftNone(draft.none) : WORDS.draftNothing);
    else {
      const text = draft.texts.join('\n');
      this.said.textContent = WORDS.draftBy(draft.model, `${draft.prompt.name}@${draft.prompt.version}`);
      this.text.textContent = text;
      this.text.hidden = false;
      const take = button(WORDS.draftTake, () => {
        this.on.take(text, found.job);
        this.close();
      }, { class: 'btn small pri', testid: 'draft-take' });
      this.#offer([take, this.#leave(WORDS.draftLeave)]);
      take.focus();
    }
  }

  /** @param {string} words */
  #refused(words) {
    this.said.textContent = words;
    this.#offer([button(WORDS.draftAgain, () => void this.#plan(), { class: 'btn small', testid: 'draft-again' }), this.#leave(WORDS.draftClose)]);
  }

  /** @param {unknown} error */
  #failed(error) {
    if (this.closed) return;
    this.#refused(WORDS.draftProblem(error instanceof Error ? error.message : String(error)));
  }

  /** @param {string} words */
  #leave(words) {
    return button(words, () => this.close(), { class: 'btn small', testid: 'draft-leave' });
  }

  /** @param {HTMLElement[]} buttons */
  #offer(buttons) {
    this.actions.replaceChildren(...buttons);
  }
}
