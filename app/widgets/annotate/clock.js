/** Time on one step: it runs while the page is visible and somebody is there. */

const IDLE = 5 * 60_000; // milliseconds without a sign of life after which the clock stops
const AWAY = 60_000; // milliseconds after which somebody may have gone on at another computer
const SIGNS = ['keydown', 'pointerdown', 'pointermove', 'wheel', 'scroll', 'touchstart'];

export class Clock {
  constructor() {
    this.milliseconds = 0;
    this.last = 0; // when time was last counted
    this.seen = 0; // when there was last a sign of life
    this.running = false;
    this.visible = true;
  }

  /** Watches for signs of life until `signal` aborts. @param {AbortSignal} signal */
  watch(signal) {
    const alive = () => {
      this.#count();
      this.seen = performance.now();
    };
    for (const sign of SIGNS) window.addEventListener(sign, alive, { signal, capture: true, passive: true });
    document.addEventListener('visibilitychange', alive, { signal });
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

  /** Milliseconds since the last sign of life. */
  get quiet() {
    return performance.now() - this.seen;
  }

  /** Seconds on this step, to a tenth. */
  get seconds() {
    this.#count();
    return Math.round(this.milliseconds / 100) / 10;
  }

  /** Adds what passed since the last count, as far as the page was visible and somebody was there. */
  #count() {
    const now = performance.now();
    if (this.running && this.visible) this.milliseconds += Math.max(0, Math.min(now, this.seen + IDLE) - this.last);
    this.last = now;
    this.visible = !document.hidden;
  }
}

/** Watches whether somebody was away from this window. @param {AbortSignal} signal ends it @param {() => void} back called when they come back */
export function whenBack(signal, back) {
  let left = Infinity;
  const leave = () => {
    left = Math.min(left, performance.now());
  };
  const come = () => {
    if (performance.now() - left > AWAY) back();
    left = Infinity;
  };
  document.addEventListener('visibilitychange', () => (document.hidden ? leave() : come()), { signal });
  window.addEventListener('blur', leave, { signal });
  window.addEventListener('focus', come, { signal });
}
