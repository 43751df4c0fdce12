/** State and flow of the annotator's page: gets work, shows one item after the other, hands submissions to the outbox. */

import { Api, Refused, SignedOut } from './api.js';
import { Clock } from './clock.js';
import { Desk } from './desk.js';
import { Drafts } from './drafts.js';
import { Header } from './header.js';
import { itemName } from './judgement.js';
import { press } from './keyboard.js';
import { Keys, meant } from './keys.js';
import { freshId, Outbox } from './outbox.js';
import { Queue } from './queue.js';
import { Screens } from './screens.js';
import { Sheet } from './sheet.js';
import { Shell } from './shell.js';
import { Status } from './status.js';
import { TEXT } from './text.js';

/** @typedef {import('./types.js').Presentation} Presentation */
/** @typedef {import('./types.js').Content} Content */
/** @typedef {import('./types.js').Submitted} Submitted */
/** @typedef {import('./types.js').Work} Work */
/** @typedef {import('./outbox.js').Entry} Entry */
/** @typedef {{study: number, person: string, assignment?: number | null, home?: string, sign_in?: string, api?: string}} Options */

const AHEAD = 3; // items whose first page is fetched ahead
const BLINK = 600; // milliseconds in which a second Enter belongs to the item before
const RETRY = 3000; // milliseconds until work is asked for again
const PATIENT_RETRY = 30_000; // the same while others have the remaining items
const LEFT_FOR_GOOD = 5000; // milliseconds after which a page that was taken down is not put up again as it was
const COUNT = 15_000; // milliseconds between two looks at the time of today

export class App {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.api = new Api(options.api ?? `/api/studies/${options.study}`);
    this.outbox = Outbox.of(options.person, options.study, this.api);
    this.drafts = new Drafts(options.person, options.study, this.api, (state) => this.#draftState(state));
    this.shell = new Shell(new URL('annotate.css', import.meta.url).href);
    this.header = new Header(options.home ?? '/', (action) => this.act(action));
    this.shell.top.append(this.header.element);
    this.screens = new Screens(this.shell, {
      home: options.home ?? '/', signIn: options.sign_in ?? '/', load: () => void this.load(), act: (action) => this.act(action),
      giveBack: (entry) => void this.#return(entry),
      discard: (entry) => {
        this.outbox.discard(entry);
        this.screens.refused(this.outbox.refused);
      },
    });
    this.status = new Status(this.header, this.outbox);
    this.clock = new Clock();
    this.queue = new Queue();
    this.api.have = () => this.queue.have;
    /** @type {Work | null} */
    this.work = null;
    /** @type {Keys | null} */
    this.keys = null;
    /** @type {Desk | null} */
    this.desk = null;
    /** @type {Sheet | null} the answers to the item on the screen */
    this.sheet = null;
    /** @type {string | null} the submission whose answer brings the next step */
    this.awaited = null;
    this.finished = false;
    this.busy = false;
    this.shownAt = 0;
    this.timer = 0;
    this.leaving = 0;
    this.token = {};
    /** @type {AbortController | null} */
    this.listening = null;
  }

  /** Whether an item is on the screen and can be answered. */
  get live() {
    return this.sheet !== null && !this.busy && !this.status.signedOut;
  }

  get judgement() {
    return this.desk?.judgement ?? null;
  }

  get viewer() {
    return this.desk?.viewer ?? null;
  }

  get guidelines() {
    return this.desk?.guidelines ?? null;
  }

  get keySheet() {
    return this.desk?.keySheet ?? null;
  }

  /** Puts the page up, or back up. @param {Element | ShadowRoot} parent */
  attach(parent) {
    clearTimeout(this.leaving);
    this.shell.attach(parent);
    if (this.listening) return;
    this.listening = new AbortController();
    const { signal } = this.listening;
    const look = () => this.shell.theme();
    window.addEventListener('keydown', (event) => this.#key(event), { signal, capture: true });
    window.addEventListener('pagehide', () => this.#keep(), { signal });
    window.addEventListener('online', () => {
      this.viewer?.pages.retry();
      void this.drafts.flush();
    }, { signal });
    window.addEventListener('focus', () => {
      look();
      if (this.status.signedOut) void this.load();
    }, { signal });
    document.addEventListener('visibilitychange', () => (document.hidden ? this.#keep() : look()), { signal });
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => setTimeout(look, 50), { signal });
    this.clock.watch(signal);
    if (this.sheet) this.clock.start(this.clock.seconds);
    const counting = window.setInterval(() => this.#count(), COUNT);
    const deaf = this.outbox.listen({
      changed: () => this.#state(),
      acknowledged: (entry, answer) => this.#acknowledged(entry, answer),
      refused: (entry) => this.#refused(entry),
    });
    signal.addEventListener('abort', () => {
      clearInterval(counting);
      deaf();
    });
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
      this.desk?.dispose();
      forget();
    }, LEFT_FOR_GOOD);
  }

  /** Sends what is kept from last time, then asks for work. */
  async load() {
    clearTimeout(this.timer);
    const { waiting } = this.outbox;
    if (!this.sheet && !this.work) this.screens.busy(waiting ? TEXT.sendingFirst(waiting) : TEXT.loading);
    await this.outbox.send();
    try {
      this.#begin(await this.api.work());
      const { assignment } = this.options;
      if (assignment) {
        this.options.assignment = null; // asked for once: a reload by itself goes on with the work
        await this.#open(assignment);
      }
    } catch (error) {
      if (error instanceof SignedOut) this.#signOut();
      else if (error instanceof Refused) this.screens.error(error.message);
      else {
        this.timer = window.setTimeout(() => void this.load(), RETRY);
        this.#state();
        if (!this.sheet) this.screens.offline(this.work !== null);
      }
    }
  }

  /** Does what a button or key says. @param {string} action */
  act(action) {
    const { judgement } = this;
    if (this.busy || this.status.signedOut) return;
    if (action === 'guidelines') this.desk?.toggleGuidelines();
    else if (action === 'keys') this.desk?.showKeys();
    else if (action === 'back') void this.#back();
    else if (!judgement || !this.sheet) return;
    else if (action === 'submit') this.#submit();
    else if (action === 'leave') this.#leave();
    else if (action === 'skip') judgement.dock.ask(TEXT.skipTitle, TEXT.skipReasons, '', (reason) => void this.#skip(reason));
    else if (!judgement.act(action)) this.viewer?.act(action);
  }

  /** @param {Work} work */
  #begin(work) {
    this.work = work;
    this.finished = work.finished;
    this.status.progress = work.progress;
    this.status.signedOut = false;
    this.status.draftOffline = false;
    this.screens.signedIn();
    this.keys ??= new Keys(work.keys, this.options.person);
    if (!this.desk) this.#build();
    this.queue.refill(work.items, this.#underWay);
    this.screens.refused(this.outbox.refused);
    this.#state();
    this.#count();
    if (!this.sheet) this.#next();
  }

  /** Builds header and desk; again after keys were changed. */
  #build() {
    const { keys, work, sheet } = this;
    if (!keys || !work) return;
    this.desk?.dispose();
    this.header.show(work, keys);
    this.desk = new Desk(this.shell, keys, work.study.protocol, {
      act: (action) => this.act(action), change: () => this.#changed(), keys: () => this.#build(),
    });
    if (sheet) this.desk.put(sheet, this.queue.correcting);
  }

  /** Shows the next item, or says why there is none. */
  #next() {
    const item = this.queue.take();
    if (item) {
      this.#show(item);
      return;
    }
    this.sheet = null;
    this.clock.stop();
    this.#count();
    const { waiting, state } = this.outbox;
    if (waiting && state === 'offline') this.screens.offline(true);
    else if (waiting) this.screens.busy(TEXT.waitingNext);
    else if (this.finished) this.screens.finished(this.status.done, this.keys?.of('back') ?? '');
    else {
      this.screens.nothing();
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.load(), PATIENT_RETRY);
    }
  }

  /** Puts an item on the screen. @param {Presentation} item @param {Content} [content] in place of its draft */
  #show(item, content) {
    const { study } = /** @type {Work} */ (this.work);
    const sheet = new Sheet(item, study.protocol);
    const draft = this.drafts.restore(item);
    const kept = content ?? draft?.content;
    if (kept) sheet.restore(kept);
    this.queue.put(item);
    this.sheet = sheet;
    this.busy = false;
    this.clock.start(draft?.seconds ?? 0);
    this.desk?.put(sheet, this.queue.correcting);
    this.#count();
    const { done, progress } = this.status;
    this.shell.announce(item.step > 0 ? TEXT.nextStep(study.protocol.steps[item.step].title) : TEXT.nextItem(done, progress.of));
    this.shownAt = performance.now();
    setTimeout(() => this.viewer?.fetchAhead(this.queue.ahead.slice(0, AHEAD)), 30);
  }

  #changed() {
    const { sheet } = this;
    if (sheet) this.drafts.keep(sheet.item, sheet.content(), this.clock.seconds);
  }

  /** Keeps and sends the draft, as the page may be about to close. */
  #keep() {
    const { sheet } = this;
    if (sheet?.touched) this.drafts.keep(sheet.item, sheet.content(), this.clock.seconds);
    void this.drafts.flush();
  }

  #submit() {
    const { sheet, judgement, work } = this;
    if (!sheet || !judgement || !work) return;
    if (!sheet.touched && performance.now() - this.shownAt < BLINK) return;
    if (judgement.pointAtMissing()) return;
    const { item, comment, flag } = sheet;
    const { assignment, sitting, step } = item;
    const uid = freshId();
    const submission = { uid, assignment, sitting, step, labels: sheet.labels(), comment, flag, seconds: this.clock.seconds };
    this.clock.stop();
    this.drafts.drop(item);
    this.status.draftOffline = false;
    sheet.touched = false;
    if (step < work.study.protocol.steps.length - 1) {
      this.awaited = uid;
      this.#wait(TEXT.waitingStep);
      this.outbox.add(submission, itemName(item));
      return;
    }
    if (!this.queue.correcting) this.status.counted.add(uid);
    this.queue.submitted();
    this.outbox.add(submission, itemName(item));
    this.#next();
  }

  /** @param {Entry} entry @param {Submitted} answer */
  #acknowledged(entry, answer) {
    if (!this.work) return;
    const awaited = this.awaited === entry.body.uid;
    this.status.counted.delete(entry.body.uid);
    if (awaited) this.awaited = null;
    this.#follow(answer);
    if (awaited && answer.item) this.#show(answer.item);
    else if (awaited || !this.sheet) this.#next();
  }

  /** Takes over what the server says about progress and what is ahead. @param {Submitted} answer */
  #follow(answer) {
    this.status.progress = answer.progress;
    this.finished = answer.finished;
    this.queue.refill(answer.items, this.#underWay);
    this.#count();
    this.viewer?.fetchAhead(this.queue.ahead.slice(0, AHEAD));
  }

  get #underWay() {
    return this.outbox.entries.map((entry) => entry.body.assignment);
  }

  /** @param {Entry} entry */
  #refused(entry) {
    this.status.counted.delete(entry.body.uid);
    this.screens.refused(this.outbox.refused);
    if (this.awaited === entry.body.uid) {
      this.awaited = null;
      void this.#return(entry).then(() => this.judgement?.say(entry.refused ?? ''));
    } else if (!this.sheet) void this.load();
  }

  /** Opens the item of a refused submission with its labels. @param {Entry} entry */
  async #return(entry) {
    const { assignment, step, labels, comment, flag, seconds } = entry.body;
    let item = this.queue.find(assignment, step);
    try {
      item ??= (await this.api.reopen(assignment)).item;
    } catch (error) {
      this.#failed(error, TEXT.notBack);
      return;
    }
    this.#keep();
    this.queue.interrupt(item, this.queue.correcting && this.sheet?.item === item);
    this.outbox.discard(entry);
    this.drafts.keep(item, { labels, comment, flag }, seconds);
    this.#show(item, { labels, comment, flag });
    this.screens.refused(this.outbox.refused);
  }

  /** @param {string} reason */
  async #skip(reason) {
    const { sheet } = this;
    if (!sheet) return;
    this.#wait(TEXT.waitingSkip);
    try {
      const answer = await this.api.skip(sheet.item.assignment, reason);
      this.drafts.drop(sheet.item);
      this.#follow(answer);
      this.busy = false;
      this.#next();
    } catch (error) {
      this.#failed(error, TEXT.notSkipped);
    }
  }

  /** Opens the item submitted last; again, the one before it. */
  async #back() {
    const { work, queue } = this;
    const target = work ? queue.before(work.last) : null;
    if (target === null) {
      this.#say(TEXT.nothingBack);
      return;
    }
    await this.#open(target);
  }

  /** Opens an item that was submitted, to look at and correct. @param {number} target its assignment */
  async #open(target) {
    const { queue } = this;
    if (this.#underWay.includes(target)) {
      this.#say(TEXT.backWaits);
      void this.outbox.send();
      return;
    }
    this.#keep();
    this.busy = true;
    try {
      const { item } = await this.api.reopen(target);
      queue.interrupt(item, true);
      this.#show(item);
    } catch (error) {
      this.#failed(error, TEXT.notBack);
    }
  }

  /** Leaves an item that was opened again as it was. */
  #leave() {
    if (this.sheet) this.drafts.drop(this.sheet.item);
    this.sheet = null;
    this.#next();
  }

  /** Locks the panel while an answer is awaited. @param {string} words */
  #wait(words) {
    this.busy = true;
    this.judgement?.setBusy(true);
    this.judgement?.say(words);
  }

  /** @param {unknown} error @param {string} unreachable what to say when the server cannot be reached */
  #failed(error, unreachable) {
    this.busy = false;
    this.judgement?.setBusy(false);
    if (error instanceof SignedOut) this.#signOut();
    else this.#say(error instanceof Refused ? error.message : unreachable);
    this.judgement?.focus();
  }

  /** @param {string} words */
  #say(words) {
    if (this.sheet) this.judgement?.say(words);
    else this.screens.say(words);
  }

  /** @param {'saved' | 'offline' | 'signed-out'} state */
  #draftState(state) {
    this.status.draft(state);
    if (state === 'signed-out') this.#signOut();
    this.#state();
  }

  /** The saved state in the top line, and what follows from it. */
  #state() {
    const { outbox, status } = this;
    if (outbox.state === 'signed-out' && outbox.waiting && !status.signedOut) this.#signOut();
    status.show();
    // Another tab may have sent the submission whose answer is awaited here.
    if (this.awaited && !outbox.sending && !outbox.has(this.awaited)) {
      this.awaited = null;
      this.sheet = null;
      this.queue.item = null;
      void this.load();
    }
  }

  #count() {
    this.status.count(this.sheet ? this.clock.seconds : 0);
  }

  #signOut() {
    this.status.signedOut = true;
    this.status.show();
    this.screens.signedOut(this.outbox.waiting);
  }

  /** Every key of the page passes here first. @param {KeyboardEvent} event */
  #key(event) {
    const meanings = meant(event);
    if (!meanings.length || event.defaultPrevented || !this.keys) return;
    if (press(this, event.composedPath()[0], meanings, event.repeat)) {
      event.preventDefault();
      event.stopImmediatePropagation();
    }
  }
}
