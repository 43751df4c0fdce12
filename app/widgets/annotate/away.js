/** Whether somebody was away from this window for so long that they may have gone on at another computer. */

const AWAY = 60_000; // milliseconds

/** @param {AbortSignal} signal ends it @param {() => void} back called when somebody comes back after being away */
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
