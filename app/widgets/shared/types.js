/**
 * The shapes of what travels between this page and the server, for the type checker; no code lives here.
 *
 * @typedef {{value: string | number, title: string, key: string, definition: string}} Label
 *
 * @typedef {string | number | string[]} Value
 *
 * @typedef {object} Criterion
 * @property {string} name
 * @property {string} title
 * @property {string} [help]
 * @property {string} kind
 * @property {string} [scale]
 * @property {string} target
 * @property {boolean} [required]
 * @property {string | number} [rest] the label that all units without one get at a key
 * @property {boolean} [per_hop]
 * @property {{criterion: string, values: (string | number)[]} | null} [when]
 * @property {Label[]} [labels]
 * @property {number} [minimum]
 * @property {number} [maximum]
 * @property {number} [step]
 * @property {number | null} [max_words]
 * @property {number} [lines]
 *
 * @typedef {object} Given
 * @property {string} criterion
 * @property {string} target
 * @property {Value | null} value
 * @property {boolean} cannot_judge
 * @property {string | null} reason
 * @property {string | null} comment
 * @property {Place[] | null} rationale
 *
 * @typedef {[number, number, number, number]} Box fractions of the page as displayed, origin top left
 *
 * @typedef {{document?: number | string, page?: number, box?: Box, text?: string, boxes?: Box[]}} Place what supports a label
 *
 * @typedef {[number, number, number, number, string, number]} Word its box, its text, and the number of its line
 * @typedef {{page: number, ocr: boolean, words: Word[], reason?: string}} PageWords
 * @typedef {{page: number, boxes: Box[], context: string}} SearchHit
 * @typedef {{query: string, hits: SearchHit[], count?: number, searched: number, pages: number, without_text?: number[],
 *   complete: boolean, reason?: string}} Found
 * @typedef {{text: string, of: 'answer' | 'reference', hits: {document: number, page: number, boxes: Box[]}[], count: number}} Phrase
 * @typedef {{phrases: Phrase[], complete?: boolean, without_text?: {document: number, page: number}[]}} Phrases
 * @typedef {{passages: {evidence: string, document?: number, page?: number, boxes?: Box[], score?: number, reason?: string}[],
 *   complete?: boolean}} Passages
 *
 * @typedef {object} Unit one evidence unit
 * @property {string} key
 * @property {string} kind
 * @property {number | null} document
 * @property {number[]} pages
 * @property {Box | null} box
 * @property {string | null} text
 * @property {string} [title]
 * @property {string | null} [role]
 * @property {boolean | null} [used]
 *
 * @typedef {object} Doc
 * @property {number} id
 * @property {string} key
 * @property {string} title
 * @property {number | null} n_pages
 * @property {number[] | null} [pages] the pages that may be seen; null: all
 * @property {[number, number][] | null} sizes
 * @property {boolean} supplied
 * @property {string} url with {page} and {width} to be replaced
 *
 * @typedef {{key: string, text: string, of: string}} Claim
 * @typedef {{key: string, caption: string | null, document: number | string | null, page: number | null,
 *   box: Box | null}} Picture
 * @typedef {{key: string, question: string, answer?: string}} Hop
 * @typedef {{criterion: string | null, scorer: string, title: string, kind: string, value: number | null,
 *   words: string, meaning: string}} Score `words` is the value as people read it, or `unscored` with the reason
 * @typedef {{best: boolean, phrases: {text: string, count: number}[]}} PhraseSet
 *
 * @typedef {boolean | string} Flag whether the item is flagged for the researcher, or the words that say why
 *
 * @typedef {{labels: Given[], comment: string | null, flag: Flag, at?: number, revision?: number}} Content
 *
 * @typedef {object} Presentation
 * @property {number} assignment
 * @property {string | number} sitting
 * @property {number} step
 * @property {string[]} [shown]
 * @property {string} [question]
 * @property {string} [answer]
 * @property {{title: string, answer: string}[]} [answers] the answers of a pair
 * @property {(string | string[])[]} [references]
 * @property {Hop[]} [hops]
 * @property {Claim[]} [claims]
 * @property {Picture[]} [images]
 * @property {Unit[]} [evidence]
 * @property {Doc[]} [documents]
 * @property {Score[]} [scores] for each criterion about scores the one it is about, then those of no criterion
 * @property {{sets: PhraseSet[], rule: string, places: [number, number][]}} [phrase_sets] the references as a score of this
 *   item counted them, and where the best set's phrases stand in the answer
 * @property {string} [system]
 * @property {string} [language]
 * @property {Record<string, string[]>} units
 * @property {string | null} [returned] why it came back, if it was returned
 * @property {true} [kept] a stub: the browser has this item already
 * @property {Given[]} committed
 * @property {Given[]} previous
 * @property {{content: Content, seconds: number} | null} draft
 *
 * @typedef {{name: string, title: string, criteria: string[]}} Step
 * @typedef {{name: string, title: string, summary: string, guidelines: string, steps: Step[],
 *   criteria: Criterion[]}} Protocol
 * @typedef {{done: number, of: number, seconds_today: number}} Progress
 *
 * @typedef {object} Work
 * @property {{id: number, name: string, project: string, protocol: Protocol, protocol_hash: string, guidelines_read: boolean}} study
 * @property {Record<string, [string, string]>} keys
 * @property {{name: string}} person
 * @property {Progress} progress
 * @property {Presentation[]} items
 * @property {boolean} finished
 * @property {number | null} last
 *
 * @typedef {object} Submitted
 * @property {string} saved_at
 * @property {string} status
 * @property {Presentation | null} item
 * @property {Presentation[]} items
 * @property {Progress} progress
 * @property {boolean} finished
 *
 * @typedef {object} Submission
 * @property {string} uid
 * @property {number} assignment
 * @property {string | number} sitting
 * @property {number} step
 * @property {Given[]} labels
 * @property {string | null} comment
 * @property {Flag} flag
 * @property {number} seconds
 *
 * @typedef {{id: string, criterion: Criterion, target: string}} Cell one decision: a criterion on one target
 *
 * @typedef {object} Input the control of one cell
 * @property {HTMLElement} element
 * @property {(given: Given | null) => void} show
 * @property {(key: string) => boolean} key gives the label with this key; false when there is none
 * @property {() => void} focus puts the keyboard's focus on the control without starting to type
 * @property {(by: number) => void} [move] moves the focus among the labels
 * @property {() => void} [enter] starts typing in the control's field
 *
 * @typedef {object} InputOptions
 * @property {Criterion} criterion
 * @property {string} name what a screen reader calls the control
 * @property {Presentation} item
 * @property {(value: Value | null, done: boolean) => void} give called with the new value; `done` when no more is awaited
 *
 * @typedef {object} InputKind
 * @property {(options: InputOptions) => Input} create
 * @property {(value: Value | null, criterion: Criterion, item: Presentation) => boolean} complete
 * @property {(value: Value | null, criterion: Criterion) => string | null} problem what is wrong with a value, in words
 * @property {boolean} typed whether it is answered by typing in a field
 */

export {};
