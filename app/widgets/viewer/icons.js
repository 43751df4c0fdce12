/** The signs of the viewer's tools: drawn here as lines, so that none is fetched and none is a letter. */

/** What each shows, as the `d` of a path on a field of 16 × 16. @type {Record<string, string>} */
const PATHS = {
  previous_page: 'M10 3 5 8l5 5',
  next_page: 'm6 3 5 5-5 5',
  previous_evidence: 'M10 3 5 8l5 5',
  next_evidence: 'm6 3 5 5-5 5',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9M10.4 10.4 14 14',
  zoom_out: 'M3 8h10',
  zoom_in: 'M3 8h10M8 3v10',
  fit_width: 'M2 3v10M14 3v10M4.5 8h7M6.5 6l-2 2 2 2M9.5 6l2 2-2 2',
  fit_page: 'M3.5 1.75h9v12.5h-9zM8 4.5v7M6.5 6 8 4.5 9.5 6M6.5 10 8 11.5 9.5 10',
  two_pages: 'M1.75 3h5.5v10h-5.5zM8.75 3h5.5v10h-5.5z',
  rotate: 'M13 8a5 5 0 1 1-1.6-3.7M13.2 1.8v3h-3',
  mark: 'm3 13 .7-3L11 2.7 13.3 5 6 12.3zM9.5 4.2l2.3 2.3',
  passages: 'M3 4h10M3 8h10M3 12h6',
};

const SVG = 'http://www.w3.org/2000/svg';

/**
 * The sign of a tool; its button has the name.
 *
 * @param {string} action
 * @param {string} [shape] an extra class
 */
export function icon(action, shape = '') {
  const svg = document.createElementNS(SVG, 'svg');
  for (const [name, value] of Object.entries({
    class: `icon ${shape}`, viewBox: '0 0 16 16', width: '16', height: '16', fill: 'none', stroke: 'currentColor', 'stroke-width': '1.5',
    'stroke-linecap': 'round', 'stroke-linejoin': 'round', 'aria-hidden': 'true',
  })) svg.setAttribute(name, value);
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', PATHS[action]);
  svg.append(path);
  return svg;
}
