/**
 * What a parsed text is made of, for the type checker; no code lives here.
 *
 * Every place is counted in characters of the raw text, as JavaScript counts them. What no node names is markup.
 *
 * @typedef {[number, number]} Range the first character and the one after the last
 *
 * @typedef {{type: 'text', ranges: Range[]}} TextNode characters that show as they are
 * @typedef {{type: 'char', range: Range, text: string}} CharNode an entity such as &amp;
 * @typedef {{type: 'strong' | 'em' | 'del' | 'sub' | 'sup', range: Range, children: Inline[]}} Styled
 * @typedef {{type: 'code', range: Range, ranges: Range[]}} CodeSpan
 * @typedef {{type: 'link' | 'picture', range: Range, children: Inline[], address: Range | null}} Reference
 * @typedef {{type: 'place', range: Range}} Place where an image of the answer stands: <PIC>
 * @typedef {{type: 'break', range: Range}} Break <br>
 * @typedef {{type: 'formula', range: Range, tex: string, display: boolean}} Formula
 * @typedef {TextNode | CharNode | Styled | CodeSpan | Reference | Place | Break | Formula} Inline
 *
 * @typedef {{range: Range, children: Inline[], heading: boolean, columns: number, rows: number, align: string | null}} TableCell
 * @typedef {{range: Range, marker: Range | null, children: Block[]}} Entry one of a list
 * @typedef {{type: 'paragraph', range: Range, children: Inline[]}} Paragraph
 * @typedef {{type: 'heading', range: Range, level: number, children: Inline[]}} Heading
 * @typedef {{type: 'list', range: Range, ordered: boolean, entries: Entry[]}} List
 * @typedef {{type: 'quote', range: Range, children: Block[]}} Quote
 * @typedef {{type: 'fence', range: Range, about: Range | null, ranges: Range[]}} Fence
 * @typedef {{type: 'rule', range: Range}} Rule
 * @typedef {{type: 'table', range: Range, rows: TableCell[][]}} Table
 * @typedef {Paragraph | Heading | List | Quote | Fence | Rule | Table} Block
 */

export {};
