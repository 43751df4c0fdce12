/** The annotator's page: gets work, shows one item after the other, hands submissions to the outbox. */

import { Api, Refused, SignedOut } from './api.js';
import { Clock } from './clock.js';
import { Guidelines, KeySheet } from './dialogs.js';
import { attribute, button, h } from './dom.js';
import { Drafts } from './drafts.js';
import { Header } from './header.js';
import { itemName, Judgement } from './judgement.js';
import { Keys, meant, takesTyping } from './keys.js';
import { freshId, Outbox } from './outbox.js';
import { targetKeys } from './rows.js';
import { Sheet } from './sheet.js';
import { Shell } from './shell.js';
import { TEXT } from './text.js';
import { hasEvidence, Viewer } from './viewer.js';

/** @typedef {import('./types.js').Presentation} Presentation */
/** @typedef {import('./types.js').Submitted} Submitted */
/** @typedef {import('./types.js').Work} Work */
/** @typedef {import('./outbox.js').Entry} Entry */
/** @typedef {{study: number, person: string, home?: string, sign_in?: string, api?: string}} Options */

const AHEAD = 3; // items whose first page is fetched ahead
const BLINK = 600; // milliseconds in which a second Enter belongs to the item before
const RETRY = 3000; // milliseconds until work is asked for again
const LEFT_FOR_GOOD = 5000; // milliseconds after which a page that was taken down is not put up again as it was
const REMEMBERED = 50; // items that can be shown again if the server refuses their labels

class App {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.api = new Api(options.api ?? `/api/studies/${options.study}`);
    this.outbox = Outbox.of(options.person, options.study, this.api);
    this.drafts = new Drafts(options.person, options.study, this.api, (state) => this.#draftState(state));
    this.shell = new Shell(new URL(`annotate.css${new URL(import.meta.url).search}`, import.meta.url).href);
    this.header = new Header(options.home ?? '/', (action) => this.act(action));
    this.shell.top.append(this.header.element);
    this.clock = new Clock();
    /** @type {Work | null} */
    this.work = null;
    /** @type {Keys | null} */
    this.keys = null;
    /** @type {Judgement | null} */
    this.judgement = null;
    /** @type {Viewer | null} */
    this.viewer = null;
    /** @type {Guidelines | null} */
    this.guidelines = null;
    /** @type {KeySheet | null} */
    this.keySheet = null;
    /** @type {Presentation | null} the item on the screen */
    this.item = null;
    /** @type {Sheet | null} */
    this.sheet = null;
    /** @type {Presentation[]} */
    this.ahead = [];
    /** @type {Presentation | null} what was left to correct an earlier item */
    this.interrupted = null;
    this.correcting = false;
    /** @type {number[]} assignments submitted here, the last one last */
    this.history = [];
    /** @type {Map<number, Presentation>} */
    this.seen = new Map();
    /** @type {Set<string>} submissions under way that will count as progress */
    this.counted = new Set();
    /** @type {string | null} the submission whose answer brings the next step */
    this.awaited = null;
    this.finished = false;
    this.signedOut = false;
    this.busy = false;
    this.shownAt = 0;
    this.timer = 0;
    /** @type {Date | null} */
    this.draftAt = null;
    this.draftOffline = false;
    this.token = {};
    /** @type {Element | ShadowRoot | null} */
    this.parent = null;
    this.leaving = 0;
    /** @type {AbortController | null} */
    this.listening = null;
  }

  /** Puts the page up, or back up. @param {Element | ShadowRoot} parent */
  attach(parent) {
    clearTimeout(this.leaving);
    this.parent = parent;
    this.shell.attach(parent);
    if (this.listening) return;
    this.listening = new AbortController();
    const { signal } = this.listening;
    const look = () => this.shell.theme(parent instanceof ShadowRoot ? parent.host : parent);
    window.addEventListener('keydown', (event) => this.#key(event), { signal, capture: true });
    window.addEventListener('pagehide', () => this.#keep(), { signal });
    window.addEventListener('online', () => {
      this.viewer?.pages.retry();
      void this.drafts.flush();
    }, { signal });
    window.addEventListener('focus', () => {
      look();
      if (this.signedOut) void this.load();
    }, { signal });
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#keep() : look()), { signal });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => setTimeout(look, 50), { signal });
    const stop = this.outbox.listen({
      changed: () => this.#state(),
      acknowledged: (entry, answer) => this.#acknowledged(entry, answer),
      refused: (entry) => this.#refused(entry),
    });
    signal.addEventListener('abort', stop);
    const minute = window.setInterval(() => this.#progress(), 15_000);
    signal.addEventListener('abort', () => clearInterval(minute));
    if (this.item) this.clock.start(this.clock.seconds);
  }

  /** Takes the page down; put up again soon, it is as it was. @param {() => void} forget */
  detach(forget) {
    this.#keep();
    this.clock.stop();
    clearTimeout(this.timer);
    this.listening?.abort();
    this.listening = null;
    this.shell.detach();
    this.leaving = window.setTimeout(() => {
      this.viewer?.dispose();
      this.judgement?.dispose();
      this.clock.dispose();
      forget();
    }, LEFT_FOR_GOOD);
  }

  /** Sends what is kept from last time, then asks for work. */
  async load() {
    clearTimeout(this.timer);
    const kept = this.outbox.waiting;
    if (!this.item) this.shell.message({ title: kept ? TEXT.sendingFirst(kept) : TEXT.loading, busy: true, testid: 'loading' });
    await this.outbox.send();
    try {
      this.#begin(await this.api.work());
    } catch (error) {
      if (error instanceof SignedOut) this.#signOut();
      else if (error instanceof Refused) {
        this.shell.message({ title: TEXT.cannotOpen, text: error.message, actions: [this.#homeLink()], testid: 'error' });
      } else {
        this.timer = window.setTimeout(() => void this.load(), RETRY);
        this.#state();
        if (!this.item) {
          const now = button(TEXT.tryNow, () => void this.load(), { class: 'btn pri' });
          this.shell.message({ title: TEXT.noConnection, text: this.work ? TEXT.noConnectionItem : TEXT.noConnectionMore, actions: [now], testid: 'offline' });
        }
      }
    }
  }

  /** Does what a button or key says. @param {string} action */
  act(action) {
    if (this.busy || this.signedOut) return;
    const { judgement, sheet } = this;
    if (action === 'guidelines') this.#toggleGuidelines();
    else if (action === 'keys') this.#showKeys();
    else if (action === 'back') void this.#back();
    else if (!judgement || !sheet || !this.item) return;
    else if (action === 'submit') this.#submit();
    else if (action === 'leave') this.#leave();
    else if (action === 'skip') judgement.dock.ask(TEXT.skipTitle, TEXT.skipReasons, '', (reason) => void this.#skip(reason));
    else if (action === 'cannot_judge') judgement.cannotJudge();
    else if (action === 'comment') judgement.comment();
    else if (action === 'flag') judgement.flag();
    else if (action === 'clear') judgement.clear();
    else if (action === 'previous_criterion') judgement.move('above');
    else if (action === 'next_criterion') judgement.move('below');
    else if (action === 'previous_label') judgement.move('left');
    else if (action === 'next_label') judgement.move('right');
    else this.viewer?.act(action);
  }

  /** @param {Work} work */
  #begin(work) {
    this.work = work;
    this.signedOut = false;
    this.#cover(null);
    this.finished = work.finished;
    if (!this.keys) this.keys = new Keys(work.keys, this.options.person);
    this.header.show(work, this.keys);
    if (!this.judgement) this.#build(this.keys);
    this.#merge(work.items);
    this.#alerts();
    this.#state();
    this.#progress();
    if (!this.item) this.#next();
  }

  /** Builds the two sides; again after keys were changed. @param {Keys} keys */
  #build(keys) {
    const work = /** @type {Work} */ (this.work);
    this.viewer?.dispose();
    this.judgement?.dispose();
    this.viewer = new Viewer(keys, {
      unit: (unit) => this.judgement?.goToUnit(unit),
      page: (document, page) => this.judgement?.goToPage(document, page),
    });
    this.judgement = new Judgement(keys, {
      change: () => this.#changed(),
      current: (cell) => this.#currentCell(cell.target),
      action: (action) => this.act(action),
    });
    this.guidelines = new Guidelines(work.study.protocol, () => this.#toggleGuidelines());
    this.keySheet = new KeySheet(keys, (changed) => {
      if (!changed) this.judgement?.focus();
      else this.#rebuild();
    });
    this.shell.root.querySelector('dialog')?.remove();
    this.shell.root.append(this.keySheet.element);
  }

  #rebuild() {
    const { keys, item, sheet } = this;
    if (!keys || !this.work) return;
    this.#build(keys);
    this.header.show(this.work, keys);
    if (item && sheet) this.#put(item, sheet);
  }

  /** Keeps the items that are ahead; what is on the screen or on its way is not among them. @param {Presentation[]} items */
  #merge(items) {
    const away = new Set(this.outbox.entries.map((entry) => entry.body.assignment));
    if (this.item) away.add(this.item.assignment);
    this.ahead = items.filter((item) => !away.has(item.assignment));
  }

  /** Shows the next item, or says why there is none. */
  #next() {
    const item = this.interrupted ?? this.ahead[0];
    this.interrupted = null;
    this.correcting = false;
    if (item) {
      this.ahead = this.ahead.filter((one) => one.assignment !== item.assignment);
      this.#show(item);
      return;
    }
    this.item = null;
    this.sheet = null;
    this.clock.stop();
    this.#progress();
    const { waiting } = this.outbox;
    if (waiting && this.outbox.state === 'offline') {
      this.shell.message({ title: TEXT.noConnection, text: TEXT.noConnectionItem, testid: 'offline' });
    } else if (waiting) {
      this.shell.message({ title: TEXT.waitingNext, busy: true, testid: 'loading' });
    } else if (this.finished) {
      const back = button(TEXT.back, () => this.act('back'), { key: this.keys?.of('back') });
      this.shell.message({ title: TEXT.finished, text: TEXT.finishedMore(this.#done), actions: [this.#homeLink(), back], testid: 'finished' });
      this.shell.announce(TEXT.finished);
    } else {
      const again = button(TEXT.checkAgain, () => void this.load(), { class: 'btn pri', testid: 'check-again' });
      this.shell.message({ title: TEXT.nothingNow, text: TEXT.nothingNowMore, actions: [again, this.#homeLink()], testid: 'nothing' });
    }
  }

  /** Puts an item on the screen. @param {Presentation} item @param {import('./types.js').Content} [content] in place of its draft */
  #show(item, content) {
    const work = /** @type {Work} */ (this.work);
    const sheet = new Sheet(item, work.study.protocol);
    const draft = this.drafts.restore(item);
    if (content ?? draft) sheet.restore(/** @type {import('./types.js').Content} */ (content ?? draft?.content));
    this.seen.delete(item.assignment);
    this.seen.set(item.assignment, item);
    for (const old of this.seen.keys()) {
      if (this.seen.size <= REMEMBERED) break;
      this.seen.delete(old);
    }
    this.clock.start(draft?.seconds ?? 0);
    this.#put(item, sheet);
    const step = work.study.protocol.steps[item.step];
    this.shell.announce(item.step > 0 ? TEXT.nextStep(step.title) : TEXT.nextItem(this.#done, work.progress.of));
    this.shownAt = performance.now();
    setTimeout(() => this.viewer?.fetchAhead(this.ahead.slice(0, AHEAD)), 30);
  }

  /** @param {Presentation} item @param {Sheet} sheet */
  #put(item, sheet) {
    const { judgement, viewer, guidelines } = this;
    if (!judgement || !viewer || !guidelines || !this.work) return;
    const open = guidelines.open;
    this.item = item;
    this.sheet = sheet;
    const evidence = hasEvidence(item);
    judgement.setBusy(false);
    this.busy = false;
    this.shell.fill(...(evidence ? [viewer.element] : []), judgement.element, guidelines.element);
    this.shell.stage.classList.toggle('alone', !evidence);
    guidelines.element.hidden = !open;
    judgement.show(sheet, this.work.study.protocol, this.correcting);
    viewer.setLabelMarks((document, page) => judgement.pageMarks(document, page));
    if (evidence) viewer.show(item, targetKeys(judgement.cell?.target ?? '').evidence ?? null);
    if (judgement.cell) this.#currentCell(judgement.cell.target);
    judgement.focus();
    this.#progress();
  }

  /** The viewer shows what the current decision is about. @param {string} target */
  #currentCell(target) {
    const keys = targetKeys(target);
    if (!this.item || !this.viewer || !hasEvidence(this.item)) return;
    if (keys.evidence && this.viewer.unit?.key !== keys.evidence) this.viewer.showUnit(keys.evidence);
    else if (keys.document && keys.page) this.viewer.showPage(keys.document, keys.page);
  }

  #changed() {
    if (!this.item || !this.sheet) return;
    this.drafts.keep(this.item, this.sheet.content(), this.clock.seconds);
    if (this.judgement?.groups.length) this.viewer?.strip.remark();
  }

  /** Keeps and sends the draft, as the page may be about to close. */
  #keep() {
    if (this.item && this.sheet?.touched) this.drafts.keep(this.item, this.sheet.content(), this.clock.seconds);
    void this.drafts.flush();
  }

  #submit() {
    const { item, sheet, judgement, work } = this;
    if (!item || !sheet || !judgement || !work) return;
    if (!sheet.touched && performance.now() - this.shownAt < BLINK) return;
    if (judgement.pointAtMissing()) return;
    const more = item.step < work.study.protocol.steps.length - 1;
    const { assignment, sitting, step } = item;
    const uid = freshId();
    const submission = { uid, assignment, sitting, step, labels: sheet.labels(), comment: sheet.comment, flag: sheet.flag, seconds: this.clock.seconds };
    this.clock.stop();
    this.drafts.drop(item);
    sheet.touched = false;
    if (more) {
      this.awaited = uid;
      this.busy = true;
      judgement.setBusy(true);
      judgement.say(TEXT.waitingStep);
      this.outbox.add(submission, itemName(item));
      return;
    }
    if (!this.correcting) this.counted.add(uid);
    this.history = [...this.history.filter((one) => one !== assignment), assignment];
    this.item = null;
    this.outbox.add(submission, itemName(item));
    this.#next();
  }

  /** @param {Entry} entry @param {Submitted} answer */
  #acknowledged(entry, answer) {
    if (!this.work) return;
    this.counted.delete(entry.body.uid);
    this.#follow(answer);
    if (this.awaited === entry.body.uid) {
      this.awaited = null;
      this.item = null;
      const { correcting } = this;
      if (answer.item) {
        this.ahead = this.ahead.filter((one) => one.assignment !== answer.item?.assignment);
        this.correcting = correcting;
        this.#show(answer.item);
      } else this.#next();
    } else if (!this.item && !this.awaited) this.#next();
  }

  /** Takes over what the server says about progress and what is ahead. @param {Submitted} answer */
  #follow(answer) {
    if (this.work) this.work.progress = answer.progress;
    this.finished = answer.finished;
    this.#merge(answer.items);
    this.#progress();
    this.viewer?.fetchAhead(this.ahead.slice(0, AHEAD));
  }

  /** @param {Entry} entry */
  #refused(entry) {
    this.counted.delete(entry.body.uid);
    this.#alerts();
    if (this.awaited === entry.body.uid) {
      this.awaited = null;
      void this.#return(entry).then(() => this.judgement?.say(entry.refused ?? ''));
    } else if (!this.item) void this.load();
  }

  /** Opens the item of a refused submission with its labels. @param {Entry} entry */
  async #return(entry) {
    const { assignment, step, labels, comment, flag } = entry.body;
    let item = [this.item, ...this.ahead, this.seen.get(assignment)].find((one) => one?.assignment === assignment && one.step === step);
    if (!item) {
      try {
        ({ item } = await this.api.reopen(assignment));
      } catch (error) {
        this.#failed(error, TEXT.notBack);
        return;
      }
    }
    if (this.item && this.item !== item && !this.correcting) this.interrupted = this.item;
    this.#keep();
    this.outbox.discard(entry);
    this.drafts.keep(item, { labels, comment, flag }, entry.body.seconds);
    this.#show(item, { labels, comment, flag });
    this.#alerts();
  }

  /** @param {string} reason */
  async #skip(reason) {
    const { item, judgement } = this;
    if (!item || !judgement) return;
    this.busy = true;
    judgement.setBusy(true);
    judgement.say(TEXT.waitingSkip);
    try {
      const answer = await this.api.skip(item.assignment, reason);
      this.drafts.drop(item);
      this.item = null;
      this.#follow(answer);
      this.busy = false;
      judgement.setBusy(false);
      this.#next();
    } catch (error) {
      this.#failed(error, TEXT.notSkipped);
    }
  }

  /** Opens the item submitted last; again, the one before it. */
  async #back() {
    const { judgement, work } = this;
    if (!judgement || !work) return;
    const at = this.correcting && this.item ? this.history.indexOf(this.item.assignment) : this.history.length;
    const target = this.history[at - 1] ?? (at === this.history.length && !this.correcting ? work.last : null);
    if (target === null || target === undefined) {
      judgement.say(TEXT.nothingBack);
      return;
    }
    if (this.outbox.entries.some((entry) => entry.body.assignment === target)) {
      judgement.say(TEXT.backWaits);
      void this.outbox.send();
      return;
    }
    this.#keep();
    this.busy = true;
    try {
      const { item } = await this.api.reopen(target);
      if (this.item && !this.correcting) this.interrupted = this.item;
      this.correcting = true;
      this.#show(item);
    } catch (error) {
      this.#failed(error, TEXT.notBack);
    }
  }

  /** Leaves an item that was opened again as it was. */
  #leave() {
    if (this.item) this.drafts.drop(this.item);
    this.item = null;
    if (!this.interrupted && !this.ahead.length) void this.load();
    else this.#next();
  }

  /** @param {unknown} error @param {string} unreachable what to say when the server cannot be reached */
  #failed(error, unreachable) {
    this.busy = false;
    this.judgement?.setBusy(false);
    if (error instanceof SignedOut) this.#signOut();
    else this.judgement?.say(error instanceof Refused ? error.message : unreachable);
    this.judgement?.focus();
  }

  /** @param {'saved' | 'offline' | 'signed-out'} state */
  #draftState(state) {
    this.draftOffline = state === 'offline';
    if (state === 'saved') this.draftAt = new Date();
    if (state === 'signed-out') this.#signOut();
    this.#state();
  }

  /** The saved state in the top line. */
  #state() {
    const { outbox } = this;
    const { waiting } = outbox;
    const refused = outbox.refused.length;
    const time = outbox.savedAt;
    if (outbox.state === 'signed-out' && waiting) this.#signOut();
    if (this.signedOut) this.header.state('signed-out', { waiting });
    else if (this.draftOffline || (waiting && outbox.state === 'offline')) this.header.state('offline', { waiting });
    else if (waiting) this.header.state('saving', { waiting });
    else if (refused) this.header.state('refused', { refused });
    else if (this.draftAt && (!time || this.draftAt > time)) this.header.state('draft', { time: this.draftAt });
    else this.header.state(time ? 'saved' : 'none', { time });
    // Another tab may have sent the submission whose answer is awaited here.
    if (this.awaited && !outbox.has(this.awaited) && !outbox.sending) {
      this.awaited = null;
      this.item = null;
      void this.load();
    }
  }

  get #done() {
    return (this.work?.progress.done ?? 0) + this.counted.size;
  }

  #progress() {
    const { work } = this;
    if (!work) return;
    this.header.progress(Math.min(this.#done, work.progress.of), work.progress.of, work.progress.seconds_today + (this.item ? this.clock.seconds : 0));
  }

  /** Refused submissions, with the server's words and a way back. */
  #alerts() {
    this.shell.alerts.replaceChildren(...this.outbox.refused.map((entry) => h('div', { class: 'alert', role: 'alert', 'data-testid': 'refused' },
      h('b', { dir: 'auto' }, TEXT.refused(entry.title)), h('span', { class: 'grow', dir: 'auto' }, entry.refused ?? ''),
      button(TEXT.returnToItem, () => void this.#return(entry), { class: 'btn small', testid: 'return' }),
      button(TEXT.discard, () => {
        if (!window.confirm(TEXT.discardSure)) return;
        this.outbox.discard(entry);
        this.#alerts();
      }, { class: 'btn small' }))));
  }

  #signOut() {
    this.signedOut = true;
    this.header.state('signed-out', { waiting: this.outbox.waiting });
    this.#cover(h('div', { class: 'message', role: 'alertdialog', 'aria-label': TEXT.signedOut, 'data-testid': 'signed-out' },
      h('h1', {}, TEXT.signedOut), h('p', {}, TEXT.signedOutMore(this.outbox.waiting)),
      h('div', { class: 'actions' }, h('a', { class: 'btn pri', href: this.options.sign_in ?? '/' }, TEXT.signInAgain),
        button(TEXT.tryNow, () => void this.load(), { class: 'btn' }))));
  }

  /** Lays something over the whole page, or takes it away. @param {HTMLElement | null} content */
  #cover(content) {
    const { cover, stage } = this.shell;
    cover.hidden = content === null;
    cover.replaceChildren(...(content ? [content] : []));
    attribute(stage, 'inert', content !== null);
    cover.querySelector('a')?.focus();
  }

  #homeLink() {
    return h('a', { class: 'btn pri', href: this.options.home ?? '/', 'data-testid': 'home' }, TEXT.toHome);
  }

  #toggleGuidelines() {
    const { guidelines, shell } = this;
    if (!guidelines) return;
    if (!guidelines.element.isConnected) shell.stage.append(guidelines.element);
    guidelines.toggle();
    this.judgement?.focus();
  }

  #showKeys() {
    const labels = (this.sheet?.criteria ?? []).flatMap((criterion) => (criterion.labels ?? []).filter((label) => label.key).map(
      (label) => ({ key: label.key, title: label.title, of: criterion.title }),
    ));
    this.keySheet?.show(labels);
  }

  /** Every key of the page passes here first. @param {KeyboardEvent} event */
  #key(event) {
    const meanings = meant(event);
    if (!meanings.length || event.defaultPrevented || !this.keys) return;
    if (this.#handled(event.composedPath()[0], meanings, event.repeat)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }

  /** @param {EventTarget} target @param {string[]} meanings @param {boolean} repeat @returns {boolean} */
  #handled(target, meanings, repeat) {
    const { judgement, keys, keySheet, guidelines } = this;
    const [key] = meanings;
    if (keySheet?.open) return keySheet.key(key);
    if (takesTyping(target)) {
      if (key !== 'Escape') return false;
      if (judgement?.dock.open) judgement.dock.close();
      else judgement?.focus();
      return true;
    }
    const shown = !!this.item && !this.busy && !this.signedOut;
    if (key === 'Escape') {
      if (judgement?.dock.open) judgement.dock.close();
      else if (guidelines?.open) this.#toggleGuidelines();
      else if (shown) judgement?.focus();
      return true;
    }
    // A button that was reached with Tab answers to Enter and Space itself; the labels leave Enter to the page.
    const control = target instanceof Element ? target.closest('button, a, summary') : null;
    if (key === ' ' && judgement?.quiet && control?.matches('[role=radio], [role=checkbox]')) {
      this.act('next_label'); // shows the label in focus; the next Space gives it
      return true;
    }
    if (control && (key === ' ' || (key === 'Enter' && !control.matches('[role=radio], [role=checkbox], [data-testid=label]')))) return false;
    if (judgement?.dock.asking) return judgement.dock.key(key);
    if (shown && judgement && meanings.some((one) => judgement.key(one))) return true;
    if (shown && (key === 'PageDown' || key === 'PageUp')) {
      this.viewer?.scrollBy(key === 'PageDown' ? 1 : -1);
      return true;
    }
    const action = meanings.map((one) => keys?.action(one)).find((found) => found) ?? null;
    if (!action || action === 'close') return false;
    if (target instanceof Element && target.matches('.pages, .passages, .reading, .guidelines-text') && key.startsWith('Arrow')) return false;
    if (repeat && !/^(Arrow|[+\-[\]{}])/.test(key)) return true;
    this.act(action);
    return true;
  }
}

/** @type {Map<string, App>} */
const apps = new Map();

/**
 * Mounts the page over the host page. Called again for the same person and study, it goes on with what is there.
 *
 * @param {{data: Options, parentElement: Element | ShadowRoot}} component what the host page hands over
 * @returns {Promise<() => void>} takes it down again and removes every listener
 */
export async function mount({ data, parentElement }) {
  const place = `${data.person}/${data.study}`;
  let app = apps.get(place);
  const fresh = !app;
  if (!app) {
    app = new App(data);
    apps.set(place, app);
  }
  const mounted = app;
  const token = {};
  mounted.token = token;
  mounted.attach(parentElement);
  if (fresh) {
    await mounted.shell.styled;
    void mounted.load();
  }
  return () => {
    // The host page may end an earlier call after a later one began.
    if (mounted.token === token) mounted.detach(() => apps.delete(place));
  };
}
