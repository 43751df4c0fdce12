/** Time on one step: it runs while the page is visible and somebody is there. */

const IDLE = 5 * 60_000; // milliseconds without a sign of life after which the clock stops
const SIGNS = ['keydown', 'pointerdown', 'pointermove', 'wheel', 'scroll', 'touchstart'];

export class Clock {
  constructor() {
    this.milliseconds = 0;
    this.last = 0; // when time was last counted
    this.seen = 0; // when there was last a sign of life
    this.running = false;
    this.controller = new AbortController();
    const { signal } = this.controller;
    for (const sign of SIGNS) {
      window.addEventListener(sign, () => this.#alive(), { signal, capture: true, passive: true });
    }
    document.addEventListener('visibilitychange', () => {
      this.#count(); // what ran until now, before the visibility decides about what follows
      this.seen = performance.now();
    }, { signal });
    this.visible = !document.hidden;
  }

  /** Begins a step. @param {number} seconds what was already spent on it */
  start(seconds = 0) {
    this.milliseconds = seconds * 1000;
    this.last = performance.now();
    this.seen = this.last;
    this.visible = !document.hidden;
    this.running = true;
  }

  /** Stands still until the next start. */
  stop() {
    this.#count();
    this.running = false;
  }

  /** Seconds on this step, to a tenth. */
  get seconds() {
    this.#count();
    return Math.round(this.milliseconds / 100) / 10;
  }

  /** Removes the listeners. */
  dispose() {
    this.controller.abort();
  }

  #alive() {
    this.#count();
    this.seen = performance.now();
  }

  #count() {
    const now = performance.now();
    if (this.running && this.visible) {
      const until = Math.min(now, this.seen + IDLE);
      this.milliseconds += Math.max(0, until - this.last);
    }
    this.last = now;
    this.visible = !document.hidden;
  }
}
