"""The style of what pages draw as HTML, and of the top bar."""

from __future__ import annotations

from functools import cache

from app.palette import both_themes
from exports.drawing.tables import STYLE as CELLS


@cache
def style(theme: str | None) -> str:
    """The style of what pages draw as HTML, and of the top bar.

    Streamlit sets the colour scheme on its app element only; menus and dialogs are drawn outside of it, so they get the
    theme (`light`, `dark` or not known yet) that the browser reported.
    """
    return f"<style>:root {{ color-scheme: {theme or 'light dark'}; {both_themes()} }}\n{_STYLE}{CELLS}</style>"


_STYLE = """
.stMainBlockContainer { max-width: 1240px; padding: 3.1rem 1.9rem 4rem; }
.stAppHeader { background: var(--assay-panel); border-bottom: 1px solid var(--assay-line); height: 2.9rem;
  min-height: 2.9rem; }
.stAppToolbar { height: 2.9rem; padding-left: 14rem; padding-right: 11rem; }
/* The bar: the project, the groups and the person in its first line, the pages of the open group in its second. */
.st-key-assay-project, .st-key-assay-person { position: fixed; top: 0; height: 2.9rem; z-index: 999991; width: auto;
  display: flex; justify-content: center; }
.st-key-assay-project { left: 1.1rem; width: 12.5rem; }
.st-key-assay-person { right: 1.2rem; max-width: 8.2rem; }
.st-key-assay-person button p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.st-key-assay-bar { position: fixed; inset: 0 0 auto; z-index: 999990; width: auto; pointer-events: none; }
.st-key-assay-bar * { pointer-events: auto; }
.st-key-assay-bar :is(.stVerticalBlock, .stElementContainer, .stBidiComponent, .stBidiComponentRegular) {
  pointer-events: none; }
.assay-lines { display: grid; grid-template-columns: auto 1fr; }
.assay-lines nav { display: flex; align-items: stretch; gap: 0.3rem; overflow-x: auto; scrollbar-width: none; }
.assay-groups { height: 2.9rem; padding-left: 13.9rem; }
.assay-aside { justify-content: flex-end; padding-right: 9.4rem; height: 2.9rem; }
.assay-pages { grid-column: 1 / -1; height: 2.25rem; padding: 0 1.35rem; background: var(--assay-panel);
  border-bottom: 1px solid var(--assay-line); }
.assay-lines a { display: flex; align-items: center; gap: 0.4rem; padding: 0 0.6rem; white-space: nowrap;
  color: var(--assay-soft); text-decoration: none; font-size: 0.93rem; border-block: 2px solid transparent; }
.assay-lines a:hover { color: var(--assay-ink); }
.assay-lines a[aria-current] { color: var(--assay-accent); font-weight: 600; }
.assay-groups a[aria-current] { border-bottom-color: var(--assay-accent); }
.assay-lines a:focus-visible { outline: 2px solid var(--assay-accent); outline-offset: -3px; border-radius: 6px; }
.assay-waits { color: var(--assay-warn); font-size: 0.8rem; font-weight: 600; border-radius: 8px; padding: 0 0.45rem;
  background: color-mix(in srgb, var(--assay-warn) 8%, var(--assay-panel)); font-variant-numeric: tabular-nums; }
.assay-project { display: block; padding-left: 9px; font-weight: 650; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; color: inherit; text-decoration: none; }
.st-key-assay-project [role="group"] { border-color: transparent; background: transparent; }
.st-key-assay-project [role="group"]:is(:hover, :focus-within) { border-color: var(--assay-line); }
.st-key-assay-project input { font-weight: 650; text-overflow: ellipsis; }
/* What is typed has the direction of its own script, line by line. */
.stTextArea textarea, .stTextInput input { unicode-bidi: plaintext; text-align: start; }
/* Streamlit makes a link of what looks like an address for mail, after all escapes are read. In what others wrote it is
   a name: a sign within it that breaks the link would be copied along. */
a[href^="mailto:"] { color: inherit !important; text-decoration: none !important; pointer-events: none; }
/* On a phone the groups and the pages are two lines of the page, under the project and the person. */
@media (max-width: 767.98px) {
  .stAppToolbar { padding-left: 0; padding-right: 0; }
  .st-key-assay-project { left: 0.4rem; width: calc(100vw - 11rem); max-width: 18rem; }
  .stMainBlockContainer { padding: 0.9rem 1rem 4rem; }
  .st-key-assay-bar { position: static; margin: 0 -1rem; width: calc(100% + 2rem) !important; max-width: none; }
  .assay-lines { background: var(--assay-panel); }
  .assay-groups, .assay-pages { padding: 0 0.4rem; height: 2.6rem; }
  .assay-groups { border-bottom: 1px solid var(--assay-line); }
  .assay-aside { padding-right: 0.4rem; height: 2.6rem; border-bottom: 1px solid var(--assay-line); }
  .assay-lines a { padding: 0 0.5rem; }
}
@media (max-width: 479.98px) {
  .assay-lines nav { gap: 0.1rem; }
  .assay-lines a { padding: 0 0.3rem; }
}
.assay-menu a { display: block; padding: 4px 8px; border-radius: 7px; color: inherit; text-decoration: none; }
.assay-menu a:hover { background: color-mix(in srgb, currentColor 8%, transparent); }
.assay-title { font-size: 1.6rem; font-weight: 650; line-height: 1.25; margin: 0; padding: 0; }
.assay-about { color: var(--assay-soft); margin: 2px 0 4px; }
.assay-empty { border: 1px dashed var(--assay-line); border-radius: 9px; padding: 22px 24px; color: var(--assay-soft);
  line-height: 1.6; }
.assay-empty strong { color: var(--assay-ink); font-weight: 600; }
.assay-soft { color: var(--assay-soft); }
.assay-tag { color: var(--assay-warn); font-size: 0.8rem; font-weight: 600; border-radius: 8px; padding: 1px 8px;
  white-space: nowrap; background: color-mix(in srgb, var(--assay-warn) 8%, var(--assay-panel)); }
.assay-button { display: inline-block; padding: 0.4rem 1rem; border-radius: 7px; font-weight: 600;
  text-decoration: none; background: var(--assay-accent); color: var(--assay-on-accent) !important; }
.assay-section { font-size: 1.1rem; font-weight: 600; margin: 10px 0 0; padding: 0; }
.assay-table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: 2px 0;
  font-size: 0.94rem; }
.assay-table caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.assay-table th { font-size: 0.8rem; font-weight: 600; color: var(--assay-soft); text-align: left; padding: 6px 10px;
  border-bottom: 1.5px solid var(--assay-ink); vertical-align: bottom; }
.assay-table td { padding: 7px 10px; border-bottom: 1px solid var(--assay-line); vertical-align: top; }
/* A table that is wider than the page scrolls in a box of its own; a shade at an edge says that there is more. */
.assay-scroll { overflow-x: auto; container-type: scroll-state; border-radius: 4px;
  background: linear-gradient(to right, var(--assay-bg) 14px, transparent 40px) local 0 / 56px 100% no-repeat,
    linear-gradient(to left, var(--assay-bg) 14px, transparent 40px) local 100% / 56px 100% no-repeat,
    linear-gradient(to right, var(--assay-edge), transparent) 0 / 12px 100% no-repeat,
    linear-gradient(to left, var(--assay-edge), transparent) 100% / 12px 100% no-repeat;
  --assay-edge: color-mix(in srgb, var(--assay-ink) 20%, transparent); }
.assay-scroll:focus-visible { outline: 2px solid var(--assay-accent); outline-offset: 2px; }
@container scroll-state(scrollable: x) {
  .assay-scroll::before { content: "Scrolls sideways ↔"; display: block; position: sticky; left: 0;
    width: max-content; color: var(--assay-soft); font-size: 0.8rem; padding: 0 10px 2px; }
}
.stMarkdown table, .stVegaLiteChart { display: block; overflow-x: auto; max-width: 100%; }
.stMarkdown :is(th, td) { overflow-wrap: normal; word-break: normal; }
.stMarkdown :is(th, td) code { white-space: nowrap; }
.assay-no-plot { color: var(--assay-soft); border-left: 3px solid var(--assay-line); margin: 0;
  padding: 2px 0 2px 12px; }
[class*="st-key-about-plot-"] p { margin: 0; }
.assay-quiet-button { display: inline-block; white-space: nowrap; padding: 2px 12px; border-radius: 7px;
  border: 1px solid var(--assay-line); background: var(--assay-panel); color: var(--assay-ink) !important; }
.assay-quiet-button:hover { border-color: var(--assay-accent); text-decoration: none !important; }
[class*="st-key-downloads-"] button { min-height: 1.6rem; padding: 0 0.4rem; color: var(--assay-soft) !important; }
[class*="st-key-downloads-"] button:is(:hover, [aria-expanded="true"]) { color: var(--assay-ink) !important; }
[class*="st-key-downloads-"] button p { font-size: 0.85rem; color: inherit; }
.assay-bar { height: 5px; border-radius: 3px; background: var(--assay-line); overflow: hidden; }
.assay-bar i { display: block; height: 100%; background: var(--assay-accent); }
.assay-done { font-size: 1.1rem; font-weight: 600; margin: 0; padding: 0; }
.assay-need { color: var(--assay-warn); font-size: 0.92rem; }
.assay-row { display: grid; grid-template-columns: minmax(0, 1fr) 220px; gap: 28px; align-items: center; }
.assay-progress { display: grid; gap: 5px; font-size: 0.87rem; }
@media (max-width: 640px) { .assay-row { grid-template-columns: minmax(0, 1fr); gap: 8px; } }
[class*="st-key-row-"] { background: var(--assay-panel); --assay-bg: var(--assay-panel); }
/* A long command goes on in the next line, whatever its own style says: what scrolls sideways no key would reach. */
[data-testid="stMarkdownPre"] code { white-space: pre-wrap !important; overflow-wrap: anywhere; }
/* Streamlit writes white on the accent, which in the dark theme nobody could read. */
button[kind^="primary"]:not(:disabled), button[kind^="primary"]:not(:disabled) * {
  color: var(--assay-on-accent) !important; }
/* Its captions are faded text, and its links nothing but a colour: too faint for many, and for the standard. */
[data-testid="stCaptionContainer"] { color: var(--assay-soft) !important; opacity: 1 !important; }
[data-testid="stMarkdownContainer"] :is(p, li, td) a { text-decoration: underline; text-underline-offset: 2px; }
.st-key-assay-person button p, .st-key-assay-person button:is(:hover, :focus, :active) p { color: inherit; }
.st-key-assay-person button:is(:hover, :focus-visible, [aria-expanded="true"]) { color: var(--assay-ink) !important;
  background: color-mix(in srgb, var(--assay-ink) 8%, transparent); }
[class*="st-key-go-"] a { background: var(--assay-accent) !important; border-radius: 7px; padding: 0.35rem 1rem; }
[class*="st-key-go-"] a * { color: var(--assay-on-accent) !important; font-weight: 600; }
[class*="st-key-go-"] a:hover { filter: brightness(1.08); }
@media (pointer: coarse) and (min-width: 768px) { .stMainBlockContainer { padding-top: 3.75rem; } }
/* A finger needs 44 pixels. Streamlit's own controls have 15 to 38, and nothing in its theme makes them higher. What is
   in a sentence or a table stays a link in it; the rows of Streamlit's lists are placed by its script. */
@media (pointer: coarse) {
  .assay-pages, .assay-groups, .assay-aside { height: 2.9rem; }
  body button[class], body [role="tab"], .stExpander summary { min-width: 44px; min-height: 44px; }
  :is(.stTextInput, .stNumberInput, .stSelectbox, .stMultiSelect, .stDateInput, .stTimeInput) :is(input, [role="group"],
    [data-baseweb="select"] > div) { min-height: 44px; }
  .stSelectbox [role="group"] button { height: 44px; }
  :is(.stTextInput, .stNumberInput, .stDateInput, .stTimeInput) div:has(> input),
    [data-testid="stNumberInputContainer"] { height: auto; min-height: 44px; }
  .stMultiSelect div:has(> button[aria-label^="Remove"]) { height: auto; min-height: 44px; max-height: none; }
  :is(.stCheckbox, .stRadio) label { min-height: 44px; min-width: 44px; align-items: center; }
  .assay-lines a, .assay-links a, .assay-project, .assay-menu a, .assay-button, .assay-quiet-button,
    [data-testid^="stPageLink-"] { min-height: 44px; min-width: 44px; display: inline-flex; align-items: center; }
  .assay-menu a { display: flex; }
  /* A question mark keeps its place: what is pressed reaches beyond it. */
  body .stTooltipIcon button[class] { box-sizing: content-box; min-width: 16px; min-height: 16px; padding: 14px;
    margin: -14px; }
}
"""
