/** State and flow of the annotator's page: gets work, shows one item after the other, hands submissions to the outbox. */

import { pauseAfter, Refused, SignedOut, troubleOf } from '../shared/ask.js';
import { Api } from './api.js';
import { Breaks } from './breaks.js';
import { Clock, whenBack } from './clock.js';
import { Desk } from './desk.js';
import { Drafts } from './drafts.js';
import { feedbackParts, feedbackTitle } from './feedback.js';
import { TopLine } from '../frame/top_line.js';
import { itemName } from './judgement/judgement.js';
import { Keys } from '../shared/keys.js';
import { NextStep } from './next_step.js';
import { h } from '../shared/dom.js';
import { freshId, Outbox } from '../shared/outbox.js';
import { Page } from '../frame/page.js';
import { Phase } from './phases.js';
import { Preferences } from '../shared/preferences.js';
import { Queue } from './queue.js';
import { Reading } from './guidelines_read.js';
import { Screens } from '../frame/screens.js';
import { Sheet } from './sheet.js';
import { Shell } from '../frame/shell.js';
import { putOnScreen } from '../shared/showing.js';
import { Status } from './status.js';
import { TEXT } from '../shared/text.js';

/** @typedef {import('../shared/outbox.js').Entry} Entry */
/**
 * @typedef {{study: number, person: string, assignment?: number | null, home?: string, ends?: boolean, sign_in?: string, api?: string,
 *   preferences?: Record<string, unknown>}} Options
 */

const AHEAD = 3; // items whose first page is fetched ahead
const BLINK = 600; // milliseconds in which a second Enter belongs to the item before
const RETRY = 3000; // milliseconds until work is asked for again
const PATIENT_RETRY = 30_000; // the same while others have the remaining items
const COUNT = 15_000; // milliseconds between two looks at the time of today

const TOP_LINE = { progress: TEXT.progress, of: TEXT.of, kept: 'draft', keptAt: TEXT.draftSaved, notSavedTitle: TEXT.notSavedTitle };

/** @extends {Page<Desk>} */
export class App extends Page {
  /** @param {Options} options */
  constructor(options) {
    super(new Shell(new URL('../frame/frame.css', import.meta.url).href), new Preferences(options.person, options.preferences));
    this.options = options;
    this.api = new Api(options.api ?? `/api/studies/${options.study}`);
    this.outbox = Outbox.of(options.person, options.study, this.api);
    this.reading = new Reading(options.person, options.study, this.api);
    this.drafts = new Drafts(options.person, options.study, this.api, (state) => this.#draftState(state));
    this.topLine = new TopLine(TOP_LINE, options.home ?? '/', (action) => this.act(action));
    this.screens = new Screens(this.shell, {
      home: options.home ?? '/', toHome: options.ends ? TEXT.toFinish : undefined, signIn: options.sign_in ?? '/', load: () => void this.load(true), act: (action) => this.act(action),
      giveBack: (entry) => void this.#return(entry),
      discard: (entry) => {
        this.outbox.discard(entry);
        this.screens.refused(this.outbox.refused);
      },
    });
    this.status = new Status(this.topLine, this.outbox, this.drafts);
    this.clock = new Clock();
    this.breaks = new Breaks(options.person, this.preferences, this.clock);
    this.nextStep = new NextStep(this.preferences);
    this.shell.top.append(this.topLine.element, this.breaks.element);
    this.queue = new Queue();
    this.api.have = () => this.queue.have;
    /** @type {Work | null} */
    this.work = null;
    /** @type {Sheet | null} the answers to the item on the screen */
    this.sheet = null;
    /** @type {string | null} the submission whose answer brings the next step */
    this.awaited = null;
    this.comparing = false; // it was the last step, and may bring the item again with what models propose
    this.finished = false;
    /** @type {string | null} why the study gives nothing now */
    this.halted = null;
    /** What is put to the annotator around the items now. @type {Phase | null} */
    this.phase = null;
    /** Its questions, where they are on the screen. @type {Phase | null} */
    this.asking = null;
    /** @type {string | null} */
    this.enough = null;
  }

  get live() {
    return (this.sheet !== null || this.asking !== null) && !this.busy && !this.status.signedOut;
  }

  get signedOut() {
    return this.status.signedOut;
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    window.addEventListener('pagehide', () => this.#keep(), { signal });
    window.addEventListener('online', () => void this.drafts.flush(), { signal });
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#keep();
    }, { signal });
    whenBack(signal, () => void this.#refresh());
    this.clock.watch(signal);
    if (this.sheet && !this.guidelines?.unread) this.clock.start(this.clock.seconds);
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

  /** @param {() => void} forget */
  detach(forget) {
    this.#keep();
    this.clock.stop();
    super.detach(forget);
  }

  /** Sends what is kept from last time, then asks for work. @param {boolean} [asked] by a person */
  async load(asked = false) {
    clearTimeout(this.timer);
    const { waiting } = this.outbox;
    if (!this.sheet && !this.work) this.screens.busy(waiting ? TEXT.sendingFirst(waiting) : TEXT.loading);
    await this.outbox.send(asked);
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
        this.timer = window.setTimeout(() => void this.load(), pauseAfter(error, RETRY));
        this.#state();
        if (!this.sheet) this.screens.waiting(troubleOf(error), this.work !== null);
      }
    }
  }

  /** Looks whether the item on the screen was gone on with at another computer. */
  async #refresh() {
    const { sheet } = this;
    if (!this.work || this.busy || this.signedOut) return;
    await this.outbox.send();
    let work;
    try {
      work = await this.api.work();
    } catch {
      return; // what is on the screen is still good to work on; saving it says what is wrong
    }
    if (this.busy || this.sheet !== sheet) return;
    const fresh = work.items.find((item) => item.assignment === sheet?.item.assignment);
    this.#begin(work);
    if (!sheet || this.queue.correcting) return;
    if (fresh && (fresh.sitting !== sheet.item.sitting || fresh.step !== sheet.item.step || this.drafts.isNewer(fresh))) {
      this.#show(fresh);
      this.#say(TEXT.elsewhere);
    } else if (!fresh && work.last === sheet.item.assignment) {
      this.drafts.drop(sheet.item);
      this.#next();
      this.#say(TEXT.elsewhereDone);
    }
  }

  /** Does what a button or key says. @param {string} action */
  act(action) {
    const { judgement } = this;
    if (this.busy || this.status.signedOut || ((this.sheet || this.asking) && this.guidelines?.unread)) return;
    if (this.phase?.consent && !this.sheet) return; // agreeing comes before everything else
    if (action === 'guidelines') this.desk?.toggleGuidelines();
    else if (action === 'keys') this.desk?.showKeys();
    else if (this.asking) this.#actOnQuestions(action);
    else if (action === 'back') {
      if (!this.sheet || !judgement?.undoRest()) void this.#back();
    }
    else if (!judgement || !this.sheet) return;
    else if (action === 'submit') this.#submit();
    else if (action === 'leave') this.#leave();
    else if (action === 'skip' && this.sheet.item.qualifying) judgement.say(TEXT.notSkippable);
    else if (action === 'skip') judgement.dock.ask(TEXT.skipTitle, TEXT.skipReasons, '', (reason) => void this.#skip(reason));
    else if (!judgement.act(action)) this.viewer?.act(action);
  }

  /** @param {Work} work */
  #begin(work) {
    // A study's protocol never changes, and its labels have the person's keys by now.
    this.work = this.work ? { ...work, study: this.work.study } : work;
    this.finished = work.finished;
    this.halted = work.halted;
    this.enough = work.enough;
    this.status.progress = work.progress;
    this.status.signedOut = false;
    if (this.drafts.trouble) void this.drafts.flush(); // the server answers again
    this.screens.signedIn();
    this.#setPhase(work.phase);
    this.keys ??= new Keys(work.keys, work.study.protocol, this.preferences, 'keys');
    if (!this.desk) this.#build();
    this.queue.refill(work.items, this.#underWay);
    this.screens.refused(this.outbox.refused);
    this.#state();
    this.#count();
    if (this.#stopped()) this.queue.halt();
    if (!this.sheet || !this.queue.item) this.#next();
  }

  /** Builds top line and desk; again after keys were changed. */
  #build() {
    const { keys, work, sheet } = this;
    if (!keys || !work) return;
    this.desk?.dispose();
    const { study, person } = work;
    const project = this.options.ends ? TEXT.toFinish : study.project; // where its link leads
    this.topLine.show({ project, study: study.name, title: study.protocol.title, person: person.name }, keys);
    const { asking } = this;
    this.desk = new Desk(this.shell, keys, asking?.protocol ?? study.protocol, {
      act: (action) => this.act(action), change: () => this.#changed(), keys: () => this.#build(),
      study: this.api.base, unread: () => !this.reading.done(work.study), read: () => this.#haveRead(), complete: () => this.#completed(),
    }, h('section', { class: 'settings' }, h('h2', {}, TEXT.settings), this.breaks.setting, this.nextStep.setting), study.protocol);
    if (asking?.sheet) this.desk.put(asking.sheet, false);
    else if (sheet) this.desk.put(sheet, this.queue.correcting);
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
    const { waiting, trouble } = this.outbox;
    if (trouble) this.screens.waiting(trouble, true);
    else if (waiting) this.screens.busy(TEXT.waitingNext);
    else if (this.phase) this.#ask(this.phase);
    else if (this.finished) this.screens.finished(this.status.done, this.keys?.of('back') ?? '', this.enough);
    else {
      this.screens.nothing(this.halted);
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.load(), PATIENT_RETRY);
    }
  }

  /** Puts an item on the screen. @param {Presentation} item @param {Content} [content] in place of its draft */
  #show(item, content) {
    const { study } = /** @type {Work} */ (this.work);
    this.#stopAsking();
    const sheet = new Sheet(item, study.protocol);
    const draft = this.drafts.restore(item);
    const kept = content ?? draft?.content;
    if (kept) sheet.restore(kept);
    this.breaks.offer();
    this.queue.put(item);
    this.sheet = sheet;
    this.busy = false;
    this.clock.start(draft?.seconds ?? 0);
    if (!this.#put(sheet)) return;
    if (this.guidelines?.unread) this.clock.stop(); // the time on an item begins when it can be judged
    this.#count();
    const { done, progress } = this.status;
    this.shell.announce(item.step > 0 ? TEXT.nextStep(study.protocol.steps[item.step].title) : TEXT.nextItem(done, progress.of));
    this.shownAt = performance.now();
    setTimeout(() => this.viewer?.fetchAhead(this.queue.ahead.slice(0, AHEAD)), 30);
  }

  /** Whether an item is on the screen; one that cannot be drawn can be skipped. @param {Sheet} sheet */
  #put(sheet) {
    const { desk } = this;
    return !desk || putOnScreen(sheet.item.assignment, desk.texts, () => desk.put(sheet, this.queue.correcting), {
      unshown: () => {
        this.#count();
        this.screens.unshown(() => void this.#skip(TEXT.cannotShowReason));
      },
      stopped: () => this.#say(TEXT.shownPlain),
    });
  }

  /** The annotator says that they have read the guidelines: the item can be judged. */
  #haveRead() {
    this.reading.say(/** @type {Work} */ (this.work).study);
    this.clock.start(this.clock.seconds);
    this.shownAt = performance.now();
  }

  // What is put to the annotator around the items ----------------------------------------------------------------------

  /** @param {OpenPhase | null} open */
  #setPhase(open) {
    if (this.phase?.name === open?.phase) return; // what was answered of it stays on the screen
    this.#stopAsking();
    this.phase = open && new Phase(open, (agreed) => void this.#answer({ consent: agreed ? 'agreed' : 'declined' }));
  }

  /** Puts what is open on the screen, if it is not there. @param {Phase} phase */
  #ask(phase) {
    const work = /** @type {Work} */ (this.work);
    const { consent, protocol } = phase;
    if (consent && !consent.element.isConnected) {
      this.shell.fill(consent.element);
      this.shell.announce(TEXT.consent);
      consent.focus();
    } else if (this.asking === phase) this.clock.start(this.clock.seconds);
    else if (protocol) {
      this.asking = phase;
      this.busy = false;
      const begun = phase.sheet && this.drafts.restore(phase.sheet.item);
      if (begun) phase.sheet?.restore(begun.content);
      this.keys = new Keys(work.keys, protocol, this.preferences, 'keys');
      this.#build();
      this.clock.start(0);
      this.shownAt = performance.now();
      this.shell.announce(TEXT.questions[phase.name === 'after' ? 'after' : 'before']);
    }
  }

  /** Items are next: the desk is theirs again. */
  #stopAsking() {
    const { work } = this;
    if (!this.asking || !work) return;
    this.asking = null;
    this.keys = new Keys(work.keys, work.study.protocol, this.preferences, 'keys');
    this.#build();
  }

  /** @param {string} action */
  #actOnQuestions(action) {
    const { asking, judgement } = this;
    if (!asking || !judgement || asking.lacks(action)) return;
    if (action !== 'submit') judgement.act(action);
    else if ((asking.sheet?.touched || performance.now() - this.shownAt > BLINK) && !judgement.pointAtMissing()) void this.#answer(asking.answers());
  }

  /** Sends what was said in the phase that is open. @param {Record<string, unknown>} answers */
  async #answer(answers) {
    const { phase } = this;
    if (!phase || this.busy) return;
    if (this.asking) this.#wait(TEXT.waitingAnswers);
    this.busy = true;
    phase.consent?.setBusy(true);
    try {
      const seconds = this.asking ? this.clock.seconds : null;
      const answer = await this.api.phase({ uid: phase.uid, phase: phase.name, answers, seconds });
      if (phase.sheet) this.drafts.drop(phase.sheet.item);
      this.busy = false;
      this.#follow(answer);
      this.#next();
    } catch (error) {
      phase.consent?.setBusy(false);
      this.#failed(error, TEXT.notAnswered);
      if (error instanceof Refused && error.status === 409) await this.load(); // answered in another window
    }
  }

  #changed() {
    const sheet = this.asking?.sheet ?? this.sheet;
    if (sheet) this.drafts.keep(sheet.item, sheet.content(), this.clock.seconds);
  }

  /** Keeps and sends the draft, as the page may be about to close. */
  #keep() {
    const { sheet } = this;
    if (sheet?.touched) this.drafts.spent(sheet.item, this.clock.seconds);
    void this.drafts.flush();
  }

  /** Every label of the step was given: on to the next, where that is wanted. The last step is submitted by its key. */
  #completed() {
    const { sheet, work } = this;
    if (this.nextStep.atOnce && !this.queue.correcting && sheet && work && sheet.item.step < work.study.protocol.steps.length - 1) this.act('submit');
  }

  #submit() {
    const { sheet, judgement, work } = this;
    if (!sheet || !judgement || !work) return;
    if (!sheet.touched && performance.now() - this.shownAt < BLINK) return;
    if (judgement.goOn() || judgement.pointAtMissing()) return;
    const { item, comment, flag } = sheet;
    const { assignment, sitting, step } = item;
    const uid = freshId();
    const submission = { uid, assignment, sitting, step, labels: sheet.labels(), comment, flag, seconds: this.clock.seconds, aids: judgement.aids };
    this.clock.stop();
    this.drafts.drop(item);
    sheet.touched = false;
    const last = step === work.study.protocol.steps.length - 1;
    this.comparing = last && (!!item.qualifying || (work.study.suggestions === 'after' && sitting === 1));
    if (!last || this.comparing) {
      this.awaited = uid;
      this.#wait(item.qualifying ? TEXT.waitingFeedback : last ? TEXT.waitingCompare : TEXT.waitingStep);
      this.outbox.add(submission, itemName(item));
      return;
    }
    this.queue.submitted();
    this.outbox.add(submission, itemName(item));
    this.#next();
  }

  /** @param {Entry} entry @param {Submitted} answer */
  #acknowledged(entry, answer) {
    if (this.drafts.trouble) void this.drafts.flush(); // the server answers again
    if (!this.work) return;
    const awaited = this.awaited === entry.body.uid;
    if (awaited) this.awaited = null;
    if (awaited && answer.feedback) {
      this.#tell(answer, answer.feedback);
      return;
    }
    if (awaited && this.comparing) {
      this.comparing = false;
      this.queue.submitted();
      if (answer.item) this.queue.interrupt(answer.item, true);
    }
    this.#follow(answer);
    if (this.#stopped()) this.queue.halt();
    if (awaited && answer.item) this.#show(answer.item);
    else if (awaited || !this.sheet || !this.queue.item) this.#next();
  }

  /** Says of an item of the qualification what was right; then the next one comes. @param {Submitted} answer @param {Feedback} feedback */
  #tell(answer, feedback) {
    const { judgement } = this;
    const item = this.sheet?.item ?? null;
    this.comparing = false;
    judgement?.setBusy(false); // but nothing can be done with the item any more: it is busy until one has read
    judgement?.say('');
    judgement?.dock.tell(feedbackTitle(feedback), feedbackParts(feedback), () => {
      this.busy = false;
      if (this.queue.item === item) this.queue.item = null;
      this.sheet = null;
      this.#follow(answer);
      if (this.halted !== null) this.queue.halt();
      this.#next();
    });
    this.shell.announce(feedbackTitle(feedback));
  }

  /**
   * Whether the item on the screen goes, as the study gives nothing now and nobody has begun it: what was looked ahead at
   * came up before the server could say so. One that was begun, or is corrected, stays until it is submitted.
   */
  #stopped() {
    const { sheet, queue } = this;
    if (this.halted === null || queue.correcting || this.busy) return false;
    return !sheet || (sheet.item.step === 0 && !sheet.begun);
  }

  /** Takes over what the server says about progress and what is ahead. @param {Submitted} answer */
  #follow(answer) {
    this.status.progress = answer.progress;
    this.finished = answer.finished;
    this.halted = answer.halted;
    this.#setPhase(answer.phase);
    this.enough = answer.enough;
    this.queue.refill(answer.items, this.#underWay);
    this.#count();
    this.viewer?.fetchAhead(this.queue.ahead.slice(0, AHEAD));
  }

  get #underWay() {
    return this.outbox.entries.map((entry) => entry.body.assignment);
  }

  /** @param {Entry} entry */
  #refused(entry) {
    this.screens.refused(this.outbox.refused);
    if (this.awaited === entry.body.uid) {
      this.awaited = null;
      void this.#return(entry).then(() => this.judgement?.say(entry.refused ?? ''));
    } else if (!this.sheet) void this.load();
  }

  /**
   * Opens the item of a refused submission with its labels, where it stands by now: what is at hand here may have been gone
   * on with in another window, and would be refused again.
   *
   * @param {Entry} entry
   */
  async #return(entry) {
    const { assignment, sitting, step, labels, comment, flag, seconds } = entry.body;
    let item = this.queue.find(assignment, step);
    try {
      ({ item } = await this.api.reopen(assignment));
    } catch (error) {
      if (!item || (error instanceof Refused && !item.qualifying)) {
        this.#failed(error, TEXT.notBack);
        return;
      }
    }
    this.#keep();
    this.queue.interrupt(item, item.sitting > sitting || (this.queue.correcting && this.sheet?.item.assignment === assignment));
    this.outbox.discard(entry);
    if (item.step === step) {
      this.drafts.keep(item, { labels, comment, flag }, seconds);
      this.#show(item, { labels, comment, flag });
    } else this.#show(item);
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
    if (this.sheet || this.asking) this.judgement?.say(words);
    else if (this.phase?.consent) this.phase.consent.say(words);
    else this.screens.say(words);
  }

  /** @param {import('./drafts.js').DraftState} state */
  #draftState(state) {
    if (state === 'outdated') {
      void this.#refresh();
      return;
    }
    this.status.draft(state);
    if (state === 'saved' && this.outbox.trouble) void this.outbox.send(); // the server answers again
    if (state === 'signed-out') this.#signOut();
    this.#state();
  }

  /** The saved state in the top line, and what follows from it. */
  #state() {
    const { outbox, status } = this;
    if (outbox.state === 'signed-out' && outbox.waiting && !status.signedOut) this.#signOut();
    status.show();
    this.#count();
    // The next item comes with the answer: what keeps it away is said in its place.
    if (outbox.trouble && this.work && !this.sheet && this.screens.isWaiting) this.screens.waiting(outbox.trouble, true);
    // Another tab may have sent the submission whose answer is awaited here.
    if (this.awaited && !outbox.sending && !outbox.has(this.awaited)) {
      this.awaited = null;
      this.sheet = null;
      this.queue.item = null;
      void this.load();
    }
  }

  #count() {
    this.breaks.tick();
    this.status.count(this.sheet ? this.clock.seconds : 0);
  }

  #signOut() {
    this.status.signedOut = true;
    this.status.show();
    this.screens.signedOut(this.outbox.waiting);
  }
}
