/** State and flow of the reviser's page: shows one item after the other, keeps what is written, saves versions. */

import { pauseAfter, Refused, SignedOut, troubleOf } from '../shared/ask.js';
import { button, h } from '../shared/dom.js';
import { Keys } from '../shared/keys.js';
import { News } from '../frame/news.js';
import { Page } from '../frame/page.js';
import { Preferences } from '../shared/preferences.js';
import { putOnScreen } from '../shared/showing.js';
import { Screens } from '../frame/screens.js';
import { Shell } from '../frame/shell.js';
import { TopLine } from '../frame/top_line.js';
import { Api } from './api.js';
import { Desk, presentation } from './desk.js';
import { Edits, KeptEdits, Queue } from './edits.js';
import { SCREENS, WORDS } from './text.js';

/**
 * @typedef {{project: number, person: string, item: number | null, home: string, sign_in: string,
 *   keys: Record<string, [string, string]>, preferences?: Record<string, unknown>}} Options
 */

const KEEP = 60_000; // milliseconds after which what one does says again that one has the item
const LOOK = 15_000; // milliseconds until it is looked again whether others have let go
const PAUSE = 250; // milliseconds without a change until it is looked what falls
const RETRY = 3000; // milliseconds until what could not be fetched is asked for again

const ENDS = /** @type {Record<string, string>} */ ({ keep: 'accepted', reject: 'rejected', withdraw: 'withdrawn' });
const TOP_LINE = { progress: WORDS.progress, of: WORDS.of, kept: 'kept', keptAt: WORDS.kept, notSavedTitle: WORDS.notSavedTitle };
/** Where no study has the item. @type {Protocol} */
const NO_PROTOCOL = { name: '', title: WORDS.title(''), summary: '', guidelines: '', steps: [], criteria: [] };
const NO_OUTBOX = { waiting: 0, refused: [], trouble: null };

/** @extends {Page<Desk>} */
export class App extends Page {
  /** @param {Options} options */
  constructor(options) {
    const { person, project, home } = options;
    super(new Shell(new URL('revise.css', import.meta.url).href, 'revise'), new Preferences(person, options.preferences));
    this.options = options;
    this.api = new Api(project);
    this.kept = new KeptEdits(person);
    this.queue = new Queue();
    this.topLine = new TopLine(TOP_LINE, home, (action) => this.act(action));
    this.news = new News();
    this.shell.top.append(this.topLine.element, this.news.element);
    this.screens = new Screens(this.shell, {
      home, signIn: options.sign_in, load: () => void this.load(), act: (action) => this.act(action), giveBack: () => undefined, discard: () => undefined,
    }, SCREENS);
    /** @type {Edits | null} of the item on the screen */
    this.edits = null;
    /** @type {Revisions | null} */
    this.work = null;
    this.isSignedOut = false;
    /** Why the last thing that was asked for did not come. @type {import('../shared/ask.js').Trouble | null} */
    this.trouble = null;
    /** @type {Date | null} */
    this.keptAt = null;
    /** @type {Date | null} */
    this.savedAt = null;
    this.fresh = false; // the queue is as the server had it
    this.toldAt = 0; // when the server was last told that the item on the screen is here
    this.planTimer = 0;
    /** What the next box on a page becomes. @type {'evidence' | 'images'} */
    this.marks = 'evidence';
    /** @type {AbortController | null} */
    this.planning = null;
    /** Items that are fetched before they are shown. @type {Map<number, Promise<ItemToRevise>>} */
    this.ahead = new Map();
  }

  get live() {
    return this.edits !== null && !this.busy && !this.isSignedOut;
  }

  get signedOut() {
    return this.isSignedOut;
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    signal.addEventListener('abort', () => this.#letGo());
    window.addEventListener('pagehide', () => this.#letGo(), { signal });
  }

  /** Asks for what waits, or for the one item that is to be revised. */
  async load() {
    clearTimeout(this.timer);
    if (!this.edits) this.screens.busy(this.options.item ? WORDS.loadingItem : WORDS.loading);
    try {
      if (this.options.item) {
        this.queue.current = this.options.item;
        const item = await this.api.item(this.options.item);
        this.#signedIn();
        if (!this.edits) this.#open(item);
      } else this.#begin(await this.api.queue());
    } catch (error) {
      if (error instanceof SignedOut) this.#signOut();
      else if (error instanceof Refused) this.screens.error(error.message);
      else this.#wait(error, () => void this.load());
    }
  }

  /** Does what a button or key says. @param {string} action */
  act(action) {
    const { judgement, edits } = this;
    if (this.busy || this.isSignedOut) return;
    if (action === 'guidelines') this.desk?.toggleGuidelines();
    else if (action === 'keys') this.desk?.showKeys();
    else if (action === 'back') void this.#back();
    else if (!judgement || !edits) return;
    else if (action === 'later') this.#later();
    else if (edits.item.only_revises && (action === 'history' || action in ENDS)) return;
    else if (action === 'history') window.open(`/item?item=${edits.item.item_id}`, '_blank', 'noopener');
    else if (edits.item.why_not !== null) this.viewer?.act(action);
    else if (action === 'save') void this.#save();
    else if (action in ENDS) this.#end(ENDS[action]);
    else if (action === 'split') void this.#split();
    else if (action === 'quote') this.#quote();
    else if (action === 'add_page') this.#addPage();
    else if (action === 'mark' || action === 'mark_image') this.#draw(action === 'mark' ? 'evidence' : 'images');
    else if (!judgement.act(action)) this.viewer?.act(action);
  }

  /** @param {Revisions} work */
  #begin(work) {
    this.work = work;
    this.fresh = true;
    this.#signedIn();
    const held = new Set(work.held.map(({ item_id: item }) => item));
    this.queue.refill(work.waiting.map(({ item_id: item }) => item).filter((item) => !held.has(item)));
    this.topLine.project.textContent = work.project;
    this.topLine.person.textContent = work.person.name;
    this.#status();
    if (this.queue.current === null) this.#next();
    else if (!this.edits) void this.#show(this.queue.current);
  }

  #signedIn() {
    this.isSignedOut = false;
    this.trouble = null;
    this.screens.signedIn();
  }

  /** Shows the next item, or says why there is none. */
  #next() {
    this.edits = null;
    const item = this.queue.take();
    if (item !== null) {
      void this.#show(item);
      return;
    }
    this.#status();
    const held = this.work?.held ?? [];
    if (!this.fresh) void this.load();
    else if (held.length) {
      this.screens.busy(WORDS.heldByOthers(held.length, [...new Set(held.map(({ by }) => by))].join(', ')));
      this.timer = window.setTimeout(() => void this.load(), LOOK);
    } else if (this.queue.done.length) this.screens.finished(this.queue.done.length, this.keys?.of('back') ?? '');
    else this.screens.nothing();
  }

  /** Puts an item on the screen, fetched ahead or now. @param {number} item @param {boolean} [back] one goes back to it */
  async #show(item, back = false) {
    clearTimeout(this.timer);
    const coming = this.ahead.get(item) ?? this.api.item(item);
    this.ahead.clear();
    if (!this.edits) this.screens.busy(WORDS.loadingItem);
    const found = await coming.catch((/** @type {unknown} */ error) => {
      if (this.queue.current === item) this.#notFetched(item, error);
      return null;
    });
    if (!found || this.queue.current !== item) return;
    this.trouble = null;
    if (!back && found.state !== 'in_revision' && !this.kept.of(item)) {
      this.news.mention(WORDS.gone);
      this.fresh = false;
      this.#next();
    } else this.#open(found);
  }

  /** @param {number} item @param {unknown} error */
  #notFetched(item, error) {
    if (error instanceof SignedOut) this.#signOut();
    else if (error instanceof Refused) {
      this.news.say(error.message);
      this.fresh = false;
      this.#next();
    } else this.#wait(error, () => void this.#show(item));
  }

  /** @param {ItemToRevise} item */
  #open(item) {
    const edits = new Edits(item, this.kept.of(item.item_id));
    this.edits = edits;
    this.busy = false;
    if (!this.#put(edits)) return;
    this.keptAt = null;
    this.#status();
    if (edits.begunFrom !== null) this.judgement?.say(WORDS.meanwhile(edits.begunFrom, item.version));
    void this.#claim();
    if (edits.values.size) this.#plan();
    this.shell.announce(WORDS.nextItem(item.item, item.studies.reduce((n, study) => n + study.failing.length, 0)));
    const next = this.options.item ? null : this.queue.next();
    if (next !== null) {
      const coming = this.api.item(next);
      this.ahead.set(next, coming);
      coming.then((found) => this.viewer?.fetchAhead([presentation(found)]), () => this.ahead.delete(next));
    }
  }

  /** Whether an item is on the screen; one that cannot be drawn is left for later. @param {Edits} edits */
  #put(edits) {
    this.#build(edits.item);
    const { desk } = this;
    return !desk || putOnScreen(`revision ${edits.item.item_id}`, desk.texts, () => desk.put(edits), {
      unshown: () => {
        this.#letGo();
        this.edits = null; // nothing is written where nobody sees it
        this.#status();
        this.screens.unshown(this.options.item || !this.queue.length ? null : () => {
          this.queue.putOff();
          this.#next();
        });
      },
      stopped: () => this.judgement?.say(WORDS.shownPlain),
    });
  }

  /** Builds what is on the screen while an item is; items of another protocol have other guidelines. @param {ItemToRevise} item */
  #build(item) {
    const protocol = item.protocol ?? NO_PROTOCOL;
    const study = item.studies[0];
    if (!this.desk || !this.keys || this.desk.protocol.name !== protocol.name || this.desk.protocol.guidelines !== protocol.guidelines) {
      const keys = new Keys(this.options.keys, { ...protocol, criteria: [] }, this.preferences, 'revision_keys');
      this.keys = keys;
      this.#newDesk(keys, protocol);
    }
    const project = this.topLine.project.textContent || item.project;
    this.topLine.show({ project, study: WORDS.title(protocol.name ? protocol.title : ''), title: study?.study ?? '', person: item.person.name }, this.keys);
    if (!item.only_revises) this.topLine.buttons.prepend(button(WORDS.history, () => this.act('history'), { key: this.keys.of('history'), class: 'plain', testid: 'history-button' }));
  }

  /** @param {Keys} keys @param {Protocol} protocol */
  #newDesk(keys, protocol) {
    this.desk?.dispose();
    this.desk = new Desk(this.shell, keys, protocol, {
      act: (action) => this.act(action),
      change: () => this.#changed(),
      place: (place) => this.#placed(place),
      api: this.api,
      keys: () => {
        const { edits } = this;
        this.#newDesk(keys, protocol);
        if (!edits) return;
        this.#build(edits.item);
        this.desk?.put(edits);
        if (edits.values.size) this.#plan();
      },
    });
  }

  /**
   * Says that the item is here; in the queue, one that somebody else has, or revised since it was fetched, is passed over,
   * unless something is written.
   */
  async #claim() {
    const { edits } = this;
    if (!edits || edits.item.why_not !== null) return;
    this.toldAt = Date.now();
    const lease = await this.api.take(edits.item.item_id).catch((/** @type {unknown} */ error) => {
      if (error instanceof SignedOut) this.#signOut();
      return null;
    });
    if (!lease || this.edits !== edits) return;
    const stays = edits.touched || Boolean(this.options.item) || this.queue.done.includes(edits.item.item_id);
    if (lease.mine && (stays || lease.state === edits.item.state)) return;
    if (stays) {
      this.news.say(WORDS.takenOver(lease.by));
      return;
    }
    this.news.mention(lease.mine ? WORDS.gone : WORDS.held(lease.by));
    if (lease.mine) this.#letGo();
    this.fresh = false;
    this.#next();
  }

  /** Others may have the item on the screen. */
  #letGo() {
    if (this.edits && this.edits.item.why_not === null) this.api.leave(this.edits.item.item_id);
  }

  #changed() {
    const { edits } = this;
    if (!edits) return;
    this.kept.keep(edits);
    this.keptAt = new Date();
    this.desk?.redraw(edits);
    if (Date.now() - this.toldAt > KEEP) void this.#claim();
    this.judgement?.say(edits.begunFrom === null ? '' : WORDS.meanwhile(edits.begunFrom, edits.item.version));
    this.#status();
    clearTimeout(this.planTimer);
    this.planTimer = window.setTimeout(() => this.#plan(), PAUSE);
  }

  /** Asks what saving would do. */
  #plan() {
    const { edits, desk } = this;
    this.planning?.abort();
    if (!edits || !desk) return;
    const { fields, why } = desk.judgement;
    if (!edits.values.size) {
      fields.planned(null);
      why.planned(null);
      return;
    }
    const planning = new AbortController();
    this.planning = planning;
    this.api.plan(edits.item.item_id, edits.written(), planning.signal).then((plan) => {
      if (this.edits !== edits || planning.signal.aborted) return;
      fields.planned(plan);
      why.planned(plan);
    }, (/** @type {unknown} */ error) => {
      if (this.edits !== edits || planning.signal.aborted) return;
      if (error instanceof SignedOut) this.#signOut();
      else if (error instanceof Refused) why.planned(null, `${WORDS.cannot} ${error.message}`);
      else {
        why.planned(null, WORDS.notLooked);
        this.planTimer = window.setTimeout(() => this.#plan(), RETRY);
      }
    });
  }

  async #save() {
    const { edits, judgement } = this;
    if (!edits || !judgement) return;
    if (!edits.values.size) {
      judgement.say(WORDS.nothingDiffers);
      return;
    }
    if (!edits.reason.trim()) {
      judgement.say(WORDS.reasonMissing);
      judgement.why.field.focus();
      return;
    }
    const { item_id: id, version } = edits.item;
    this.#busy(WORDS.sending);
    try {
      const { to } = await this.api.revise(id, { written: edits.written(), reason: edits.reason, from_version: version, drafts: edits.drafted() });
      this.#done(WORDS.saved(edits.item.item, to), to);
    } catch (error) {
      if (error instanceof Refused) await this.#lookAgain(edits, error);
      else this.#failed(error, WORDS.notSaved);
    }
  }

  /** It was refused: perhaps it was saved before, and the answer got lost; perhaps somebody else was faster. @param {Edits} edits @param {Refused} error */
  async #lookAgain(edits, error) {
    const item = await this.api.item(edits.item.item_id).catch(() => null);
    if (!item || item.version === edits.item.version) {
      this.#failed(error, '');
      return;
    }
    edits.rebase(item);
    if (!edits.values.size) {
      this.#done(WORDS.saved(item.item, item.version), item.version);
      return;
    }
    this.kept.keep(edits);
    this.busy = false;
    this.desk?.put(edits);
    this.judgement?.say(WORDS.meanwhile(edits.begunFrom ?? item.version, item.version));
    this.#plan();
  }

  /** The item on the screen is done with. @param {string} words @param {number | null} version that was saved */
  #done(words, version) {
    const { edits } = this;
    if (!edits) return;
    this.kept.drop(edits.item.item_id);
    this.keptAt = null;
    this.savedAt = new Date();
    this.busy = false;
    this.judgement?.setBusy(false);
    this.fresh = false;
    this.queue.finish();
    if (this.options.item) {
      this.edits = null;
      this.#status();
      this.#oneDone(words, version);
    } else {
      this.news.mention(words);
      this.#next();
    }
  }

  /** @param {string} words @param {number | null} version */
  #oneDone(words, version) {
    this.shell.fill(h('div', { class: 'message', 'data-testid': 'finished' }, h('h1', {}, version ? WORDS.doneOne(version) : words),
      version ? h('p', {}, WORDS.doneOneMore) : null,
      h('div', { class: 'actions' }, h('a', { class: 'btn pri', href: this.options.home, 'data-testid': 'home' }, SCREENS.goOn))));
    this.shell.announce(words);
  }

  /** Asks why, and ends the item by hand. @param {string} state */
  #end(state) {
    const { edits, judgement } = this;
    if (!edits || !judgement) return;
    judgement.dock.ask(WORDS.whyEnd[state], [], edits.reason, (reason) => {
      this.#busy(WORDS.sending);
      this.api.end(edits.item.item_id, state, reason).then(
        () => this.#done(`${edits.item.item}: ${WORDS.ended[state]}`, null), (error) => this.#failed(error, WORDS.notEnded));
    });
  }

  async #split() {
    const { edits, judgement } = this;
    if (!edits || !judgement) return;
    try {
      const claims = await this.api.claims(edits.item.item_id, edits.text('answer'));
      if (this.edits !== edits) return;
      judgement.fields.write('answer_claims', claims.join('\n'));
      judgement.fields.edit('answer_claims');
    } catch (error) {
      this.#failed(error, WORDS.notSplit);
    }
  }

  #quote() {
    const { desk } = this;
    const words = desk?.selected() ?? '';
    if (!words) desk?.judgement.say(WORDS.nothingSelected);
    else if (!desk?.judgement.fields.quote(words)) desk?.judgement.say(WORDS.noField);
  }

  #addPage() {
    const { desk, edits } = this;
    const page = desk?.page ?? null;
    if (!page || !edits || !desk) {
      desk?.judgement.say(WORDS.noPage);
      return;
    }
    this.#added('evidence', edits.addPage(page.document, page.page));
  }

  /** Begins a box on the page, or takes the passage that is selected, or stops. @param {'evidence' | 'images'} name what it becomes */
  #draw(name) {
    const { desk } = this;
    if (!desk?.page) {
      desk?.judgement.say(WORDS.noPage);
      return;
    }
    this.marks = name;
    if (!desk.viewer.act('mark')) desk.judgement.say(WORDS.noPage);
  }

  /** @param {Place} place that was marked on a page */
  #placed(place) {
    const { edits, marks } = this;
    if (!edits || edits.item.why_not !== null) return;
    this.marks = 'evidence';
    this.#added(marks, marks === 'images' ? edits.addImage(place) : edits.addPlace(place));
  }

  /** Shows a part that was added, and puts the keyboard there. @param {'evidence' | 'images'} name @param {string} key */
  #added(name, key) {
    const { judgement } = this;
    if (!judgement) return;
    judgement.fields.last = name;
    judgement.fields.refresh();
    this.#changed();
    judgement.fields.enter(name, key);
    judgement.say(WORDS.addedAs(key));
  }

  #later() {
    if (this.options.item || !this.queue.length) {
      this.judgement?.say(WORDS.onlyOne);
      return;
    }
    this.#letGo();
    this.queue.putOff();
    this.#next();
  }

  /** Opens the item that was done last; again, the one before it. */
  async #back() {
    this.#letGo();
    const item = this.queue.back();
    if (item === null) {
      if (this.edits) this.judgement?.say(WORDS.nothingBack);
      else this.screens.say(WORDS.nothingBack);
      return;
    }
    this.edits = null;
    await this.#show(item, true);
  }

  /** @param {string} words */
  #busy(words) {
    this.busy = true;
    this.judgement?.setBusy(true);
    this.judgement?.say(words);
  }

  /** @param {unknown} error @param {string} unreachable what to say when the server cannot be reached */
  #failed(error, unreachable) {
    this.busy = false;
    this.judgement?.setBusy(false);
    if (error instanceof SignedOut) {
      this.#signOut();
      return;
    }
    this.judgement?.say(error instanceof Refused ? error.message : unreachable);
    this.judgement?.focus();
  }

  /** Says what keeps the server from answering, and tries again by itself. @param {unknown} error @param {() => void} again */
  #wait(error, again) {
    this.trouble = troubleOf(error);
    this.#status();
    this.timer = window.setTimeout(again, pauseAfter(error, RETRY));
    if (!this.edits) this.screens.waiting(this.trouble, this.work !== null);
  }

  #signOut() {
    this.isSignedOut = true;
    this.#status();
    this.screens.signedOut(0);
  }

  #status() {
    const { isSignedOut: signedOut, trouble, keptAt: kept, savedAt: saved } = this;
    this.topLine.saved({ outbox: NO_OUTBOX, signedOut, trouble, kept, saved });
    const { done, length, current } = this.queue;
    const single = this.options.item !== null;
    this.topLine.bar.hidden = single;
    this.topLine.count.hidden = single;
    const here = current !== null && !done.includes(current) ? 1 : 0;
    this.topLine.progress(done.length, done.length + length + here);
  }
}
