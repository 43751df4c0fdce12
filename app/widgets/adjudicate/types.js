/**
 * The shapes of what travels between the adjudicator's page and the server, for the type checker; no code lives here.
 *
 * @typedef {import('../shared/types.js').Criterion} Criterion
 * @typedef {import('../shared/types.js').Protocol} Protocol
 * @typedef {import('../shared/types.js').Presentation} Presentation
 * @typedef {import('../shared/types.js').Value} Value
 *
 * @typedef {{document?: number | string, page?: number, box?: import('../shared/types.js').Box,
 *   boxes?: import('../shared/types.js').Box[], text?: string}} Place
 *   something an annotator marked as support
 *
 * @typedef {object} Vote one annotator's label of one unit
 * @property {string} rater
 * @property {Value | null} value
 * @property {boolean} cannot_judge
 * @property {string | null} reason
 * @property {string | null} comment
 * @property {Place[] | null} rationale
 *
 * @typedef {object} SentUnit
 * @property {string} criterion
 * @property {string} target with the item's own keys; the presentation's `targets` has what is shown for it
 * @property {Vote[]} votes
 * @property {Record<string, number>} counts
 * @property {'unanimous' | 'majority' | 'open'} outcome
 * @property {Value | null} value what the votes settle
 * @property {Value | null} majority
 * @property {boolean} needs_decision
 * @property {Value | null} decided in the last round
 *
 * @typedef {object} Dispute an item as the annotators saw it, with all their labels
 * @property {number} study_item_id
 * @property {Presentation & {targets: Record<string, string>}} presentation
 * @property {SentUnit[]} units
 * @property {string[]} raters
 * @property {Record<string, string>} comments
 * @property {Record<string, string>} flags
 * @property {Record<string, number>} assignments
 * @property {'pending' | 'agreed' | 'disputed' | 'adjudicated'} state
 * @property {string | null} allowed why this person may not adjudicate it, or null
 *
 * @typedef {object} Queue
 * @property {{id: number, name: string, protocol: Protocol}} study
 * @property {{pending: number, agreed: number, disputed: number, adjudicated: number}} counts
 * @property {{study_item_id: number, n_disputed: number, dispute: number}[]} queue most disputed first
 * @property {{name: string}} person
 *
 * @typedef {object} Unit one criterion and target with its votes, as this page works with it
 * @property {string} id
 * @property {Criterion} criterion
 * @property {string} target as it is shown
 * @property {string} stored as the server knows it
 * @property {Vote[]} votes
 * @property {number[]} sizes how many gave each value, the largest number first
 * @property {'unanimous' | 'majority' | 'open'} outcome
 * @property {Value | null} value
 * @property {Value | null} majority
 * @property {boolean} disputed
 * @property {Value | null} decided
 *
 * @typedef {{criterion: string, target: string, value: Value, reason: string | null}} SentDecision
 * @typedef {{uid: string, study_item: number, decisions: SentDecision[], again: boolean}} Settlement
 * @typedef {{conflict: string | null}} Answer the words of a refusal because somebody else was faster, or null
 */

export {};
