/** The shapes of what travels between our pages and the server, known to the type checker everywhere; nothing of it is served. */

/** A stretch of the answer: places count the Unicode code points of its raw text. */
type Stretch = { start: number; end: number; label: string; text: string };
type Value = string | number | string[] | Stretch[];
type Label = { value: string | number; title: string; key: string; definition: string };
/** Fractions of the page as displayed, origin top left. */
type Box = [number, number, number, number];
/** Its box, its text, and the number of its line. */
type Word = [number, number, number, number, string, number];

/** What every kind has; the fields of one kind are typed in its file. */
interface Criterion {
  name: string;
  title: string;
  help?: string;
  kind: string;
  scale?: string;
  target: string;
  /** Whose images or claims it is about; without it all that are shown. */
  of?: string;
  required?: boolean;
  /** The label that all units without one get at a key. */
  rest?: string | number;
  per_hop?: boolean;
  when?: { criterion: string; values: (string | number)[] } | null;
  labels?: Label[];
  /** It is asked beside the labels of another criterion, and kept in that field of theirs. */
  aside?: { of: string; field: 'confidence' | 'same'; title: string };
}

interface Given {
  criterion: string;
  target: string;
  value: Value | null;
  cannot_judge: boolean;
  reason: string | null;
  comment: string | null;
  rationale: Place[] | null;
  confidence?: Value | null;
  same?: Value | null;
}

/** What a model proposes for a label, and where that is from. */
type Suggestion = { criterion: string; target: string; value: Value; source: string };

/** What supports a label. */
type Place = { document?: number | string; page?: number; box?: Box; text?: string; boxes?: Box[] };

type PageWords = { page: number; ocr: boolean; words: Word[]; reason?: string };
type SearchHit = { page: number; boxes: Box[]; context: string };
type SearchHits = {
  query: string; hits: SearchHit[]; count?: number; searched: number; pages: number; without_text?: number[]; unreadable?: number[]; complete: boolean; reason?: string;
};
type FoundPhrase = { text: string; of: 'answer' | 'reference'; hits: { document: number; page: number; boxes: Box[] }[]; count: number };
type FoundOnPages = { phrases: FoundPhrase[]; complete?: boolean; searched?: number; without_text?: { document: number; page: number }[] };
type LocatedPassages = {
  passages: { evidence: string; document?: number; page?: number; boxes?: Box[]; score?: number; reason?: string }[]; complete?: boolean;
};

/** One evidence unit. */
interface Unit {
  key: string;
  kind: string;
  document: number | null;
  pages: number[];
  box: Box | null;
  text: string | null;
  title?: string;
  role?: string | null;
  used?: boolean | null;
}

interface Doc {
  id: number;
  key: string;
  title: string;
  n_pages: number | null;
  /** The pages that may be seen; null: all. */
  pages?: number[] | null;
  sizes: [number, number][] | null;
  supplied: boolean;
  /** With {page} and {width} to be replaced. */
  url: string;
}

type Claim = { key: string; text: string; of: string };
/** `of`: what it belongs to, where that is not the answer. `address`: by what the text of the answer has it, if it does. */
type Picture = {
  key: string; caption: string | null; document: number | string | null; page: number | null; box: Box | null; of?: string; address?: string;
};
type Hop = { key: string; question: string; answer?: string };
/** `words` is the value as people read it, or `unscored` with the reason. */
type Score = { criterion: string | null; scorer: string; title: string; kind: string; value: number | null; words: string; meaning: string };
type PhraseSet = { best: boolean; phrases: { text: string; count: number }[] };
/** Whether the item is flagged for the researcher, or the words that say why. */
type Flag = boolean | string;
type Content = { labels: Given[]; comment: string | null; flag: Flag; at?: number; revision?: number };

/** Which item of a try at the qualification it is, from 1, and which try. */
type Qualifying = { number: number; of: number; try: number; tries: number };
/** What is told of an item of the qualification, and at the end of a try how it ended. */
type Feedback = {
  units: { title: string; target: string; given: string | null; right: string; is_right: boolean; explanation: string | null }[];
  result: { ended: 'passed' | 'again' | 'failed'; right: number; labels: number; mark: number } | null;
};

interface Presentation {
  /** These are no item's: the questions before the first item, or after the last. */
  questions?: 'before' | 'after';
  qualifying?: Qualifying;
  assignment: number;
  sitting: string | number;
  step: number;
  shown?: string[];
  question?: string;
  answer?: string;
  /** The answers of a pair, the left one first. */
  answers?: { answer: string; system?: string }[];
  references?: (string | string[])[];
  hops?: Hop[];
  claims?: Claim[];
  images?: Picture[];
  evidence?: Unit[];
  documents?: Doc[];
  /** What is found on its pages, where it comes with the item (a preview). */
  marks?: { phrases?: FoundOnPages; passages?: LocatedPassages };
  /** The pages that the import calls evidence, as targets. */
  page_labels?: string[];
  /** What a model proposes for labels of this step. */
  suggestions?: Suggestion[];
  /** For each criterion about scores the one it is about, then those of no criterion. */
  scores?: Score[];
  /** The references as a score of this item counted them, and where the best set's phrases stand in the answer. */
  phrase_sets?: { sets: PhraseSet[]; rule: string; places: [number, number][] };
  system?: string;
  language?: string;
  units: Record<string, string[]>;
  /** What the step shows and the item lacks: material → the titles of the criteria that would be judged by it. */
  missing?: Record<string, string[]>;
  /** Criterion that is about some evidence only → how many units it is about, and of how many. */
  left_out?: Record<string, [number, number]>;
  /** Why it came back, if it was returned. */
  returned?: string | null;
  /** A stub: the browser has this item already. */
  kept?: true;
  committed: Given[];
  previous: Given[];
  draft: { content: Content; seconds: number } | null;
}

type Condition = { criterion: string; values: (string | number)[] };
/** A rule between criteria, and what is said to who breaks it. */
type Consequence = { when: Condition; then: Condition; sentence: string };
type Step = { name: string; title: string; criteria: string[] };
type Protocol = { name: string; title: string; summary: string; guidelines: string; steps: Step[]; criteria: Criterion[]; consequences?: Consequence[] };
type Progress = { done: number; of: number; seconds_today: number };

interface Work {
  study: { id: number; name: string; project: string; protocol: Protocol; protocol_hash: string; guidelines_read: boolean; suggestions?: 'after' };
  keys: Record<string, [string, string]>;
  person: { name: string };
  progress: Progress;
  items: Presentation[];
  finished: boolean;
  halted: string | null;
  phase: OpenPhase | null;
  enough: string | null;
  last: number | null;
}

/** What is put to the annotator around the items: a text to agree to, or questions. */
type OpenPhase = { phase: 'consent'; text: string } | { phase: 'before' | 'after'; protocol: Protocol };
type PhaseAnswers = { uid: string; phase: string; answers: Record<string, unknown>; seconds: number | null };

type Submitted = { saved_at: string; status: string; item: Presentation | null; items: Presentation[]; progress: Progress; finished: boolean; halted: string | null; phase: OpenPhase | null; enough: string | null; feedback?: Feedback | null };
type Submission = {
  uid: string; assignment: number; sitting: string | number; step: number; labels: Given[]; comment: string | null; flag: Flag; seconds: number;
  /** What was on of what can be switched off. */
  aids: string[];
};

/** One decision: a criterion on one target. */
type Cell = { id: string; criterion: Criterion; target: string };

/** One annotator's label of one unit. */
type Vote = { rater: string; value: Value | null; cannot_judge: boolean; reason: string | null; comment: string | null; rationale: Place[] | null };
/** `alike`: two adjudicators decided it alike. */
type Outcome = 'unanimous' | 'majority' | 'open' | 'alike';

/** What one of two adjudicators decided, once both have (by null: oneself); value null: they left the unit to its votes. */
type BlindDecision = { by: string | null; value: Value | null; reason: string | null; note: string | null };

interface SentUnit {
  criterion: string;
  /** With the item's own keys; the presentation's `targets` has what is shown for it. */
  target: string;
  votes: Vote[];
  counts: Record<string, number>;
  outcome: Outcome;
  /** What the votes settle. */
  value: Value | null;
  majority: Value | null;
  needs_decision: boolean;
  /** In the last round, or in one's own that is blind to another's. */
  decided: Value | null;
  rounds?: BlindDecision[];
}

/** An item as the annotators saw it, with all their labels. */
interface Dispute {
  study_item_id: number;
  presentation: Presentation & { targets: Record<string, string> };
  units: SentUnit[];
  raters: string[];
  comments: Record<string, string>;
  flags: Record<string, string>;
  annotations: Record<string, string>;
  state: 'pending' | 'agreed' | 'disputed' | 'adjudicated';
  /** Why this person may not adjudicate it, or null. */
  allowed: string | null;
  stage: 'first' | 'second' | 'final';
  /** A decision stands that one's own would replace. */
  again: boolean;
}

interface Disputes {
  study: { id: number; name: string; protocol: Protocol };
  /** For the person: done, waiting for them, and waiting for others. */
  counts: { adjudicated: number; disputed: number; others: number };
  /** Most disputed first. */
  queue: { study_item_id: number; n_disputed: number; dispute: number }[];
  /** What other adjudicators have before them. */
  held: Lease[];
  person: { name: string };
}

/** Who has an item before them to decide. */
type Lease = { study_item_id: number; by: string; mine: boolean; until: string };
type Taken = Lease & { state: string };

/** One criterion and target with its votes, as the adjudicator's page works with it. */
interface VotedUnit {
  id: string;
  criterion: Criterion;
  /** As it is shown. */
  target: string;
  /** As the server knows it. */
  stored: string;
  votes: Vote[];
  /** How many gave each value, the largest number first. */
  sizes: number[];
  outcome: Outcome;
  value: Value | null;
  majority: Value | null;
  disputed: boolean;
  decided: Value | null;
  rounds: BlindDecision[];
}

/** What an adjudicator says of a decision of their own accord. */
type AboutDecision = { cause: string | null; confidence: string | null; note: string | null };
type SentDecision = { criterion: string; target: string; value: Value; reason: string | null } & Partial<AboutDecision>;
type Settlement = { uid: string; study_item: number; decisions: SentDecision[]; again: boolean };
/** The words of a refusal because somebody else was faster, or null. */
type SettlementAnswer = { conflict: string | null };

/** A unit of which the final label is not accepted. Votes: label in words, how many, whether it fails. */
type FailingUnit = {
  title: string; target: string; final: string; votes: [string, number, boolean][]; said: [string, string][]; decided: string | null; notes: string[];
};

/** What a study says of an item that is to be revised; `fresh` of its `team` do not know the item. */
interface WhyRevised {
  study_id: number;
  study: string;
  protocol: string;
  version: number;
  state: string | null;
  failing: FailingUnit[];
  remarks: [string, string][];
  titles: Record<string, string>;
  fresh: number;
  team: number;
  hidden: boolean;
}

/** An item as a reviser gets it. */
interface ItemToRevise {
  item_id: number;
  item: string;
  project: string;
  version: number;
  state: string;
  language: string | null;
  /** Texts, and parts in normal form, by name. */
  written: Record<string, string | Record<string, unknown>[]>;
  /** What an evidence unit can be. */
  roles: string[];
  /** What kind of unit it can be. */
  kinds: string[];
  /** Answers that may stand, where annotators found the question ambiguous. */
  answers: string[];
  /** Why this person may not revise it, or null. */
  why_not: string | null;
  /** This person revises it and does nothing else with it. */
  only_revises: boolean;
  studies: WhyRevised[];
  protocol: Protocol | null;
  evidence: Unit[];
  documents: Doc[];
  person: { name: string };
  drafting: Drafting;
}

/** Who may be asked for drafts of a field (none: nobody), and by which prompts, by what is written. */
type Drafting = { writers: { server: string; model: string }[]; prompts: Record<string, string[]> };
type DraftRequest = { writes: string; server: string; model: string; prompt: string; question: string; answer: string };
/** `leaves` says what leaves this machine, or is null where nothing does. */
type DraftPlan = { leaves: string | null; tokens: number; cost: number | null };
type Draft = { texts: string[]; none: string | null; model: string; prompt: { name: string; version: number } };
type Drafted = { job: number; state: string; draft: Draft | null; problem: string | null };

type StudyEffect = { study_id: number; study: string; annotations: number; falls: string[]; stays: string[] };
/** What saving would do: what differs, in stretches (del, ins, or neither), and what falls; of verdicts that came with the item how many. */
type RevisionPlan = { version: number; edited: string[]; differences: Record<string, [string, string][]>; effects: StudyEffect[]; verdicts: number };
type ItemLease = { item_id: number; by: string; mine: boolean; until: string };
type TakenToRevise = ItemLease & { state: string | null };
type Revisions = { project: string; waiting: { item_id: number; item: string }[]; held: ItemLease[]; person: { name: string } };

/** The answer on the screen, in which a control marks stretches. Places are UTF-16 units of the raw text. */
interface Markable {
  /** The control whose stretches it shows. */
  of: Input | null;
  words(): [number, number][];
  sentences(): [number, number][];
  fromTheRight(): boolean;
  /** Shows stretches, each with the number and the title of its label, and what is pointed at. */
  show(stretches: { start: number; end: number; number: number; title: string }[], pointed: [number, number] | null): void;
  /** Tells what is selected with the mouse. */
  listen(told: (start: number, end: number) => void): void;
}

/** The control of one cell. */
interface Input {
  element: HTMLElement;
  show(given: Given | null): void;
  /** Gives the label with this key; false when there is none. */
  key(key: string): boolean;
  /** Puts the keyboard's focus on the control without starting to type. */
  focus(): void;
  /** Moves the focus among the labels. */
  move?(by: number): void;
  /** Starts typing in the control's field. */
  enter?(): void;
}

interface InputOptions {
  criterion: Criterion;
  /** What a screen reader calls the control. */
  name: string;
  item: Presentation;
  /** The answer, where it is on the screen. */
  answer?: Markable;
  /** What annotators gave, where one of them may be taken over. */
  votes?: Vote[];
  /** Called with the new value; `done` when no more is awaited. */
  give(value: Value | null, done: boolean): void;
}

/** A kind of criterion: the control that its values are given with, and what they mean. */
interface Kind {
  create(options: InputOptions): Input;
  /** Whether a value is a whole answer. */
  complete(value: Value | null, criterion: Criterion, item: Presentation): boolean;
  /** What is wrong with a value, in words. */
  problem(value: Value | null, criterion: Criterion): string | null;
  /** A value in words. */
  words(value: Value, criterion: Criterion): string;
  /** A value with other keys of the item's parts that it names. */
  rekeyed(value: Value, keyOf: (key: string) => string): Value;
  /** Keys of its own besides those of labels, with what they do. */
  keys: [string, string][];
  /** Whether it is answered by typing in a field. */
  typed: boolean;
  /** Whether values of several people can be the same, so that they are counted and one of them is decided on. */
  compared: boolean;
  /** What is decided where the keys in the votes' values cannot be told: one of the values that were given. */
  among?(criterion: Criterion, votes: Vote[]): Criterion;
}

/** Written by the server from the folder: imports every kind, each of which registers itself. */
declare module '*/all.js';
