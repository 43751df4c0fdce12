/** What is on the screen while an item is: viewer, decisions, guidelines and the sheet of keys, working together. */

import { Desk as Common } from '../frame/desk.js';
import { hasEvidence, Viewer } from '../viewer/viewer.js';
import { Panel } from './panel.js';
import { MarksLine, marksOf } from './rationales.js';
import { WORDS } from './text.js';

/** @typedef {import('./decisions.js').Decisions} Decisions */

const CROWD = 3; // annotators that fit beside each other in the usual width

/** @extends {Common<Panel>} */
export class Desk extends Common {
  /**
   * @param {import('../frame/shell.js').Shell} shell
   * @param {import('../shared/keys.js').Keys} keys
   * @param {Protocol} protocol
   * @param {object} on
   * @param {(action: string) => void} on.act
   * @param {() => void} on.change something was decided
   * @param {() => void} on.keys a key was changed: the desk has to be built again
   */
  constructor(shell, keys, protocol, on) {
    super(shell, keys, protocol, on.keys, { heading: WORDS.labelKeys });
    /** @type {Decisions | null} what the viewer shows */
    this.decisions = null;
    this.viewer = new Viewer(keys, { unit: (unit) => this.judgement.goToUnit(unit), page: () => undefined }, this.texts);
    this.marks = new MarksLine((marks) => this.viewer.pages.setMarks(marks));
    this.viewer.view.append(this.marks.element);
    this.judgement = new Panel(keys, { change: on.change, current: (unit) => this.look(this.decisions?.item, unit.target), action: on.act }, this.texts);
    this.texts.roots = [this.judgement.text, this.viewer.element];
    this.texts.onchange = () => {
      this.judgement.markClaim();
      this.judgement.refresh();
    };
  }

  /** Puts an item and what is decided about it on the screen. @param {Decisions} decisions */
  put(decisions) {
    const { judgement, viewer, guidelines, shell, marks } = this;
    const { item, dispute, units } = decisions;
    const evidence = hasEvidence(item);
    const boxes = evidence ? marksOf(dispute, units) : [];
    this.decisions = decisions;
    judgement.setBusy(false);
    shell.fill(...(evidence ? [viewer.element] : []), judgement.element, guidelines.element);
    shell.stage.classList.toggle('alone', !evidence);
    shell.stage.classList.toggle('crowded', dispute.raters.length > CROWD);
    shell.stage.classList.toggle('many', decisions.many);
    if (evidence) viewer.show(item, null);
    marks.show(boxes);
    judgement.show(decisions, boxes.length > 0);
    judgement.focus();
  }

  showKeys() {
    this.keySheet.show(this.protocol.criteria);
  }
}
