/** State and flow of the adjudicator's page: shows one dispute after the other, hands decisions to the outbox. */

import { pauseAfter, Refused, SignedOut, troubleOf } from '../shared/ask.js';
import { Keys } from '../shared/keys.js';
import { freshId, Outbox } from '../shared/outbox.js';
import { Page } from '../frame/page.js';
import { Preferences } from '../shared/preferences.js';
import { putOnScreen } from '../shared/showing.js';
import { Screens } from '../frame/screens.js';
import { Shell } from '../frame/shell.js';
import { TopLine } from '../frame/top_line.js';
import { Ahead, Api } from './api.js';
import { Decisions, HalfDecisions } from './decisions.js';
import { Desk } from './desk.js';
import { News } from '../frame/news.js';
import { itemName } from './panel.js';
import { Queue } from './queue.js';
import { Status } from './status.js';
import { SCREENS, WORDS } from './text.js';

/** @typedef {import('./decisions.js').Kept} Kept */
/** @typedef {import('../shared/outbox.js').Entry<Settlement>} Entry */
/**
 * @typedef {{study: number, person: string, project: string, home: string, sign_in: string, keys: Record<string, [string, string]>,
 *   preferences?: Record<string, unknown>}} Options
 */

const AHEAD = 2; // items that are fetched ahead
const BLINK = 600; // milliseconds in which a second Enter belongs to the item before
const KEEP = 60_000; // milliseconds after which what one does says again that one has the item
const LOOK = 15_000; // milliseconds until it is looked again whether others have let go
const RETRY = 3000; // milliseconds until what could not be fetched is asked for again

const TOP_LINE = { progress: WORDS.progress, of: WORDS.of, kept: 'kept', keptAt: WORDS.kept, notSavedTitle: WORDS.notSavedTitle };

/** @extends {Page<Desk>} */
export class App extends Page {
  /** @param {Options} options */
  constructor(options) {
    const { person, study, home } = options;
    super(new Shell(new URL('adjudicate.css', import.meta.url).href, 'adjudicate'), new Preferences(person, options.preferences));
    this.options = options;
    this.api = new Api(study);
    this.outbox = /** @type {Outbox<Settlement, SettlementAnswer>} */ (Outbox.of(person, `disputes-${study}`, this.api));
    this.half = new HalfDecisions(person, study);
    this.queue = new Queue(person, study);
    this.ahead = new Ahead(this.api);
    this.topLine = new TopLine(TOP_LINE, home, (action) => this.act(action));
    this.topLine.project.textContent = options.project;
    this.news = new News();
    this.shell.top.append(this.topLine.element, this.news.element);
    this.screens = new Screens(this.shell, {
      home, signIn: options.sign_in, load: () => void this.load(true), act: (action) => this.act(action),
      giveBack: (entry) => void this.#openRefused(entry),
      discard: (entry) => {
        this.outbox.discard(entry);
        this.screens.refused(this.outbox.refused);
        void this.load();
      },
    }, SCREENS);
    this.status = new Status(this.topLine, this.outbox);
    /** @type {Disputes | null} */
    this.work = null;
    /** @type {Decisions | null} about the item on the screen */
    this.decisions = null;
    /** When the server was last told that the item on the screen is here; 0: never. */
    this.toldAt = 0;
    this.fresh = false; // the queue is as the server had it, and nothing happened since
  }

  get live() {
    return this.decisions !== null && !this.busy && !this.status.signedOut;
  }

  get signedOut() {
    return this.status.signedOut;
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const deaf = this.outbox.listen({
      changed: () => this.#outboxChanged(),
      acknowledged: (entry, answer) => this.#acknowledged(entry, answer),
      refused: () => this.#refused(),
    });
    signal.addEventListener('abort', deaf);
    signal.addEventListener('abort', () => this.#letGo());
    window.addEventListener('pagehide', () => this.#letGo(), { signal });
  }

  /** Sends what is kept from last time, then asks for the disputes. @param {boolean} [asked] by a person */
  async load(asked = false) {
    clearTimeout(this.timer);
    const { waiting } = this.outbox;
    if (!this.work) this.screens.busy(waiting ? WORDS.sendingFirst(waiting) : WORDS.loading);
    await this.outbox.send(asked);
    try {
      this.#begin(await this.api.queue());
    } catch (error) {
      if (error instanceof SignedOut) this.#signOut();
      else if (error instanceof Refused) this.screens.error(error.message);
      else this.#wait(error, () => void this.load());
    }
  }

  /** Does what a button or key says. @param {string} action */
  act(action) {
    const { judgement } = this;
    if (this.busy || this.status.signedOut) return;
    if (action === 'guidelines') this.desk?.toggleGuidelines();
    else if (action === 'keys') this.desk?.showKeys();
    else if (action === 'back') {
      if (!judgement?.undoRest()) void this.#back();
    } else if (!judgement || !this.decisions) return;
    else if (action === 'settle') this.#settle();
    else if (action === 'later') this.#later();
    else if (action === 'leave') this.#leave();
    else if (action === 'return') this.#giveBack();
    else if (!judgement.act(action)) this.viewer?.act(action);
  }

  /** @param {Disputes} work */
  #begin(work) {
    // A study's protocol never changes, and its labels have the person's keys by now.
    this.work = this.work ? { ...work, study: this.work.study } : work;
    this.fresh = true;
    this.status.signedOut = false;
    this.status.trouble = null;
    this.screens.signedIn();
    this.keys ??= new Keys(this.options.keys, work.study.protocol, this.preferences, 'adjudication_keys');
    this.#showTopLine(this.keys);
    if (!this.desk) this.#build(this.keys);
    this.queue.refill(work.queue.map((dispute) => dispute.study_item_id), this.outbox.entries.map((entry) => entry.body.study_item));
    this.screens.refused(this.outbox.refused);
    this.status.count(work.counts);
    if (this.queue.current === null) this.#next();
    else if (!this.decisions) void this.#show(this.queue.current);
  }

  /** @param {Keys} keys */
  #showTopLine(keys) {
    const { study, person } = /** @type {Disputes} */ (this.work);
    this.topLine.show({ project: this.options.project, study: WORDS.title(study.protocol.title), title: study.name, person: person.name }, keys);
  }

  /** Builds what is on the screen while an item is. @param {Keys} keys */
  #build(keys) {
    const work = /** @type {Disputes} */ (this.work);
    this.desk?.dispose();
    this.desk = new Desk(this.shell, keys, work.study.protocol, {
      act: (action) => this.act(action),
      change: () => this.#changed(),
      keys: () => {
        this.#build(keys);
        this.#showTopLine(keys);
        if (this.decisions) this.desk?.put(this.decisions);
      },
    });
  }

  /** Shows the next item, or says why there is none. */
  #next() {
    this.decisions = null;
    const item = this.queue.take();
    if (item !== null) {
      void this.#show(item);
      return;
    }
    this.status.show();
    const { waiting, trouble } = this.outbox;
    const { held, counts } = /** @type {Disputes} */ (this.work);
    if (trouble) this.screens.waiting(trouble, true);
    else if (waiting) this.screens.busy(WORDS.saving);
    else if (!this.fresh) void this.load();
    else if (held.length) {
      this.screens.busy(WORDS.heldByOthers(held.length, [...new Set(held.map(({ by }) => by))].join(', ')));
      this.timer = window.setTimeout(() => void this.load(), LOOK);
    } else if (counts.others) this.screens.nothing(WORDS.othersWait(counts.others));
    else if (this.status.done) this.screens.finished(this.status.done, this.keys?.of('back') ?? '');
    else this.screens.nothing();
  }

  /** Puts the item that is next on the screen, fetched ahead or now. @param {number} item */
  async #show(item) {
    clearTimeout(this.timer);
    if (!this.ahead.has(item)) this.screens.busy(WORDS.loadingItem);
    const dispute = await this.ahead.take(item).catch((/** @type {unknown} */ error) => {
      if (this.queue.current === item && !this.decisions) this.#notFetched(item, error);
      return null;
    });
    if (!dispute || this.queue.current !== item || this.decisions) return;
    this.status.trouble = null;
    if (dispute.state === 'disputed') this.#open(dispute, false, this.half.of(item));
    else {
      this.news.mention(WORDS.gone(dispute.state));
      this.fresh = false;
      this.#next();
    }
  }

  /**
   * Says that the item on the screen is here; where somebody else has it, or settled it since it was fetched, it is passed
   * over, unless something was decided.
   */
  async #claim() {
    const { decisions } = this;
    if (!decisions || decisions.dispute.allowed) return;
    const { study_item_id: item } = decisions.dispute;
    this.toldAt = Date.now();
    const lease = await this.api.take(item).catch((/** @type {unknown} */ error) => {
      if (error instanceof SignedOut) this.#signOut();
      return null;
    });
    if (!lease || this.decisions !== decisions) return;
    const late = !decisions.again && lease.state !== 'disputed';
    if (lease.mine && (!late || decisions.touched)) return;
    if (decisions.touched || decisions.again) {
      this.news.mention(WORDS.takenOver(lease.by));
      return;
    }
    this.news.mention(late ? WORDS.gone(lease.state) : WORDS.held(lease.by));
    if (lease.mine) this.#letGo();
    this.fresh = false;
    this.#next();
  }

  /** Others may have the item on the screen. */
  #letGo() {
    if (this.decisions && !this.decisions.dispute.allowed) this.api.leave(this.decisions.dispute.study_item_id);
  }

  /** @param {number} item @param {unknown} error */
  #notFetched(item, error) {
    if (error instanceof SignedOut) this.#signOut();
    else if (error instanceof Refused) {
      this.news.say(error.message);
      this.#next();
    } else this.#wait(error, () => void this.#show(item));
  }

  /** @param {Dispute} dispute @param {boolean} again it was settled before @param {Kept | null} kept */
  #open(dispute, again, kept) {
    const { study } = /** @type {Disputes} */ (this.work);
    const decisions = new Decisions(dispute, study.protocol, again, kept);
    this.decisions = decisions;
    this.busy = false;
    if (!this.#put(decisions)) return;
    this.status.show();
    this.shownAt = performance.now();
    void this.#claim();
    this.shell.announce(dispute.allowed ?? WORDS.nextItem(this.status.done, this.status.of, decisions.missing().length));
    setTimeout(() => {
      for (const next of this.queue.next(AHEAD)) {
        this.ahead.fetch(next).then((found) => this.viewer?.fetchAhead([found.presentation]), () => undefined);
      }
    }, 30);
  }

  /** Whether an item is on the screen; one that cannot be drawn is left for later. @param {Decisions} decisions */
  #put(decisions) {
    const { desk } = this;
    return !desk || putOnScreen(`dispute ${decisions.dispute.study_item_id}`, desk.texts, () => desk.put(decisions), {
      unshown: () => {
        this.#letGo();
        this.decisions = null; // nothing is decided about what nobody sees
        this.status.show();
        this.screens.unshown(this.#passing(decisions.again));
      },
      stopped: () => this.judgement?.say(WORDS.shownPlain),
    });
  }

  /** What goes on to the next item; `null` where there is none. @param {boolean} again the item on the screen was settled before */
  #passing(again) {
    if (!again && !this.queue.length) return null;
    return () => {
      if (!again) this.queue.putOff();
      this.#next();
    };
  }

  #changed() {
    if (!this.decisions) return;
    this.half.keep(this.decisions);
    if (Date.now() - this.toldAt > KEEP) void this.#claim();
    this.status.keptAt = new Date();
    this.status.show();
  }

  #settle() {
    const { decisions, judgement } = this;
    if (!decisions || !judgement) return;
    const { dispute, item } = decisions;
    if (dispute.allowed) {
      judgement.say(WORDS.notAllowed(dispute.allowed));
      return;
    }
    if (!decisions.touched && performance.now() - this.shownAt < BLINK) return;
    if (judgement.pointAtMissing()) return;
    const settlement = decisions.settlement();
    this.half.drop(dispute.study_item_id);
    this.status.keptAt = null;
    this.decisions = null;
    this.fresh = false;
    this.queue.done(settlement);
    this.outbox.add(settlement, itemName(item));
    this.#next();
  }

  #later() {
    if (this.decisions?.again) this.#leave();
    else if (this.queue.length) {
      this.#letGo();
      this.queue.putOff();
      this.#next();
    } else this.judgement?.say(WORDS.onlyOne);
  }

  /** Leaves an item that was opened again as it was. */
  #leave() {
    if (this.decisions) this.half.drop(this.decisions.dispute.study_item_id);
    this.#letGo();
    this.#next();
  }

  /** Asks to whom the item goes back, and why. */
  #giveBack() {
    const { judgement, decisions } = this;
    if (!judgement || !decisions) return;
    const { raters } = decisions.dispute;
    const why = (/** @type {string} */ rater) => judgement.dock.ask(WORDS.why(rater), WORDS.returnReasons, '', (reason) => void this.#send(rater, reason));
    if (raters.length === 1) why(raters[0]);
    else judgement.dock.choose(WORDS.whichRater, raters, why);
  }

  /** @param {string} rater @param {string} reason */
  async #send(rater, reason) {
    const { judgement, decisions } = this;
    if (!judgement || !decisions) return;
    this.busy = true;
    judgement.setBusy(true);
    judgement.say(WORDS.returning);
    try {
      await this.api.giveBack(decisions.dispute, rater, reason);
      this.half.drop(decisions.dispute.study_item_id);
      this.#letGo();
      this.status.savedAt = new Date();
      if (!decisions.again) this.status.disputed -= 1;
      this.fresh = false;
      this.busy = false;
      this.news.mention(WORDS.returned(rater));
      this.#next();
    } catch (error) {
      this.#failed(error, WORDS.notReturned);
    }
  }

  /** Opens the item settled last; again, the one before it. */
  async #back() {
    const settlement = this.queue.before();
    const say = (/** @type {string} */ words) => (this.decisions ? this.judgement?.say(words) : this.screens.say(words));
    if (!settlement) say(WORDS.nothingBack);
    else if (this.outbox.entries.some((entry) => entry.body.study_item === settlement.study_item)) {
      say(WORDS.backWaits);
      void this.outbox.send();
    } else await this.#reopen(settlement.study_item, { uid: freshId(), decisions: settlement.decisions });
  }

  /** Opens the item of a refused decision with what was decided. @param {Entry} entry */
  async #openRefused(entry) {
    const { study_item: item, uid, decisions } = entry.body;
    if (!await this.#reopen(item, { uid, decisions })) return;
    this.queue.undone(item);
    this.outbox.discard(entry);
    this.screens.refused(this.outbox.refused);
    if (this.decisions) this.half.keep(this.decisions);
  }

  /** @param {number} item @param {Kept} kept @returns {Promise<boolean>} whether it is open */
  async #reopen(item, kept) {
    this.busy = true;
    const dispute = await this.api.item(item).catch((/** @type {unknown} */ error) => {
      this.#failed(error, WORDS.notBack);
      return null;
    });
    this.busy = false;
    if (!dispute) return false;
    if (!['disputed', 'adjudicated'].includes(dispute.state)) {
      this.news.mention(WORDS.gone(dispute.state));
      return false;
    }
    this.queue.interrupt(item);
    this.#open(dispute, dispute.again, this.half.of(item) ?? kept);
    return true;
  }

  /** @param {Entry} entry @param {SettlementAnswer} answer */
  #acknowledged(entry, answer) {
    if (!this.work) return;
    this.fresh = false;
    this.status.acknowledged(answer.conflict === null && !entry.body.again);
    if (answer.conflict !== null) {
      this.queue.undone(entry.body.study_item);
      this.news.say(`${WORDS.notSettled(entry.title)} ${answer.conflict}`);
      void this.load();
      return;
    }
    if (this.queue.current === null) this.#next();
  }

  #refused() {
    this.status.acknowledged(false);
    this.screens.refused(this.outbox.refused);
    if (this.work && this.queue.current === null) this.#next();
  }

  /** @param {unknown} error @param {string} unreachable what to say when the server cannot be reached */
  #failed(error, unreachable) {
    this.busy = false;
    this.judgement?.setBusy(false);
    if (error instanceof SignedOut) {
      this.#signOut();
      return;
    }
    const words = error instanceof Refused ? error.message : unreachable;
    if (this.decisions) this.judgement?.say(words);
    else this.screens.say(words);
    this.judgement?.focus();
  }

  /** Says what keeps the server from answering, and tries again by itself. @param {unknown} error @param {() => void} again */
  #wait(error, again) {
    this.status.trouble = troubleOf(error);
    this.status.show();
    this.timer = window.setTimeout(again, pauseAfter(error, RETRY));
    if (!this.decisions) this.screens.waiting(this.status.trouble, this.work !== null);
  }

  #signOut() {
    this.status.signedOut = true;
    this.status.show();
    this.screens.signedOut(this.outbox.waiting);
  }

  #outboxChanged() {
    const { outbox, status } = this;
    if (outbox.state === 'signed-out' && outbox.waiting && !status.signedOut) this.#signOut();
    else status.show();
    if (outbox.trouble && this.work && this.queue.current === null && this.screens.isWaiting) this.screens.waiting(outbox.trouble, true);
  }
}
