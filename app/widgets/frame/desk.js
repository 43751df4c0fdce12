/** What is on the screen while an item is: viewer, judgement, guidelines and the sheet of keys; what both pages have of it. */

import { targetKeys } from '../shared/targets.js';
import { Texts } from '../texts/texts.js';
import { hasEvidence } from '../viewer/viewer.js';
import { Guidelines } from './guidelines.js';
import { KeySheet } from './key_sheet.js';

/**
 * @template {{focus: () => void, dispose: () => void}} Judgement
 * @abstract
 */
export class Desk {
  /**
   * @param {import('./shell.js').Shell} shell
   * @param {import('../shared/keys.js').Keys} keys
   * @param {Protocol} protocol
   * @param {() => void} changed a key was changed: the desk has to be built again
   * @param {{heading?: string, settings?: HTMLElement, guided?: Protocol}} [sheet] what the sheet of keys calls the labels, and other
   *   settings beneath them; whose guidelines are shown, if another protocol's
   */
  constructor(shell, keys, protocol, changed, { heading, settings, guided = protocol } = {}) {
    /** Put up by the page that this desk is of. @type {Judgement} */
    this.judgement;
    /** @type {import('../viewer/viewer.js').Viewer} */
    this.viewer;
    this.shell = shell;
    this.protocol = protocol;
    this.texts = new Texts(keys.preferences, keys.of('raw_text'));
    this.guidelines = new Guidelines(guided, () => this.toggleGuidelines());
    this.keySheet = new KeySheet(keys, (anything) => {
      if (anything) changed();
      else this.judgement.focus();
    }, heading, settings);
    shell.root.append(this.keySheet.element);
  }

  toggleGuidelines() {
    const { guidelines, shell } = this;
    if (guidelines.unread) return;
    if (!guidelines.element.isConnected) shell.stage.append(guidelines.element);
    guidelines.toggle();
    this.judgement.focus();
  }

  /** The viewer shows what the current decision is about. @param {Presentation | undefined} item @param {string} target */
  look(item, target) {
    const { evidence, document, page } = targetKeys(target);
    if (!item || !hasEvidence(item)) return;
    if (evidence && this.viewer.unit?.key !== evidence) this.viewer.showUnit(evidence);
    else if (document && page) this.viewer.showPage(document, page);
  }

  dispose() {
    this.viewer.dispose();
    this.judgement.dispose();
    this.keySheet.element.remove();
  }
}
