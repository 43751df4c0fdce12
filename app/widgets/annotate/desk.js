/** What is on the screen while an item is: viewer, judgement, guidelines and the sheet of keys, working together. */

import { Guidelines, KeySheet } from './dialogs.js';
import { Judgement } from './judgement.js';
import { targetKeys } from './rows.js';
import { hasEvidence, Viewer } from './viewer.js';

/** @typedef {import('./types.js').Protocol} Protocol */
/** @typedef {import('./sheet.js').Sheet} Sheet */

export class Desk {
  /**
   * @param {import('./shell.js').Shell} shell
   * @param {import('./keys.js').Keys} keys
   * @param {Protocol} protocol
   * @param {object} on
   * @param {(action: string) => void} on.act
   * @param {() => void} on.change something was given
   * @param {() => void} on.keys a key was changed: the desk has to be built again
   */
  constructor(shell, keys, protocol, on) {
    this.shell = shell;
    this.protocol = protocol;
    this.on = on;
    /** @type {Sheet | null} what the viewer shows; null while another one is being put on the screen */
    this.sheet = null;
    this.viewer = new Viewer(keys, {
      unit: (unit) => this.judgement.goToUnit(unit),
      page: (document, page) => this.judgement.goToPage(document, page),
    });
    this.judgement = new Judgement(keys, {
      change: () => {
        if (this.judgement.groups.length) this.viewer.strip.remark();
        on.change();
      },
      current: (cell) => this.#look(cell.target),
      action: on.act,
    });
    this.guidelines = new Guidelines(protocol, () => this.toggleGuidelines());
    this.keySheet = new KeySheet(keys, (changed) => {
      if (changed) on.keys();
      else this.judgement.focus();
    });
    shell.root.append(this.keySheet.element);
  }

  /** Puts a sheet and its item on the screen. @param {Sheet} sheet @param {boolean} correcting it was submitted before */
  put(sheet, correcting) {
    const { judgement, viewer, guidelines, shell } = this;
    const { item } = sheet;
    const evidence = hasEvidence(item);
    this.sheet = null;
    judgement.setBusy(false);
    shell.fill(...(evidence ? [viewer.element] : []), judgement.element, guidelines.element);
    shell.stage.classList.toggle('alone', !evidence);
    judgement.show(sheet, this.protocol, correcting);
    viewer.setLabelMarks((document, page) => judgement.pageMarks(document, page));
    this.sheet = sheet;
    const target = judgement.cell?.target ?? '';
    if (evidence) viewer.show(item, targetKeys(target).evidence ?? null);
    if (targetKeys(target).page) this.#look(target);
    // Once it is painted: the keys work without it, and the browser would lay the page out for it now.
    requestAnimationFrame(() => setTimeout(() => {
      if (this.sheet !== sheet || judgement.dock.open) return;
      judgement.reveal();
      judgement.focus();
    }));
  }

  toggleGuidelines() {
    const { guidelines, shell } = this;
    if (!guidelines.element.isConnected) shell.stage.append(guidelines.element);
    guidelines.toggle();
    this.judgement.focus();
  }

  showKeys() {
    this.keySheet.show((this.sheet?.criteria ?? []).flatMap((criterion) => (criterion.labels ?? []).filter((label) => label.key).map(
      (label) => ({ key: label.key, title: label.title, of: criterion.title }),
    )));
  }

  dispose() {
    this.viewer.dispose();
    this.judgement.dispose();
    this.keySheet.element.remove();
  }

  /** The viewer shows what the current decision is about. @param {string} target */
  #look(target) {
    const { evidence, document, page } = targetKeys(target);
    if (!this.sheet || !hasEvidence(this.sheet.item)) return;
    if (evidence && this.viewer.unit?.key !== evidence) this.viewer.showUnit(evidence);
    else if (document && page) this.viewer.showPage(document, page);
  }
}
