"""The style of what pages draw as HTML, and of Streamlit's top bar as our shell uses it."""

from __future__ import annotations

from functools import cache

from app.palette import both_themes


@cache
def style(theme: str | None) -> str:
    """The style of what pages draw as HTML, and of the top bar.

    Streamlit sets the colour scheme on its app element only; menus and dialogs are drawn outside of it, so they get the
    theme (`light`, `dark` or not known yet) that the browser reported.
    """
    named = f"{both_themes()} --assay-on-accent: light-dark(#fff, #10202c);"
    return f"<style>:root {{ color-scheme: {theme or 'light dark'}; {named} }}\n{_STYLE}</style>"


_STYLE = """
.stMainBlockContainer { max-width: 1240px; padding: 4.1rem 1.9rem 4rem; }
.stAppHeader { background: var(--assay-panel); border-bottom: 1px solid var(--assay-line); height: 3.1rem;
  min-height: 3.1rem; }
.stAppToolbar { height: 3.1rem; padding-left: 14rem; padding-right: 11rem; }
[data-testid="stTopNavLink"] { background: transparent !important; }
[data-testid="stTopNavLink"] p { color: var(--assay-soft); font-weight: 400; }
[data-testid="stTopNavLink"]:hover p { color: var(--assay-ink); }
[data-testid="stTopNavLink"][aria-current] p { color: var(--assay-accent); font-weight: 600; }
.st-key-assay-project, .st-key-assay-person { position: fixed; top: 0; height: 3.1rem; z-index: 999991; width: auto;
  display: flex; justify-content: center; }
.st-key-assay-project { left: 1.1rem; width: 12.5rem; }
.st-key-assay-person { right: 1.2rem; max-width: 10rem; }
.assay-project { display: block; padding-left: 9px; font-weight: 650; white-space: nowrap; overflow: hidden;
  text-overflow: ellipsis; color: inherit; text-decoration: none; }
.st-key-assay-project [role="group"] { border-color: transparent; background: transparent; }
.st-key-assay-project [role="group"]:is(:hover, :focus-within) { border-color: var(--assay-line); }
.st-key-assay-project input { font-weight: 650; text-overflow: ellipsis; }
/* Below 768 px Streamlit folds the links into a menu; the project then stands beside its button. */
@media (max-width: 767.98px) {
  .stAppToolbar { padding-left: 0; padding-right: 0; }
  .st-key-assay-project { left: 3.2rem; width: calc(100vw - 13rem); max-width: 16rem; }
  .stMainBlockContainer { padding-left: 1rem; padding-right: 1rem; }
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
  background: color-mix(in srgb, var(--assay-warn) 8%, var(--assay-panel)); }
.assay-button { display: inline-block; padding: 0.4rem 1rem; border-radius: 7px; font-weight: 600;
  text-decoration: none; background: var(--assay-accent); color: var(--assay-on-accent) !important; }
.assay-table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; margin: 2px 0;
  font-size: 0.94rem; }
.assay-table caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.assay-table th { font-size: 0.8rem; font-weight: 600; color: var(--assay-soft); text-align: left; padding: 6px 10px;
  border-bottom: 1.5px solid var(--assay-ink); vertical-align: bottom; }
.assay-table td { padding: 7px 10px; border-bottom: 1px solid var(--assay-line); vertical-align: top;
  overflow-wrap: anywhere; }
.assay-table .n { text-align: right; }
.assay-bar { height: 5px; border-radius: 3px; background: var(--assay-line); overflow: hidden; }
.assay-bar i { display: block; height: 100%; background: var(--assay-accent); }
.assay-done { font-size: 1.1rem; font-weight: 600; margin: 0; padding: 0; }
.assay-need { color: var(--assay-warn); font-size: 0.92rem; }
.assay-row { display: grid; grid-template-columns: minmax(0, 1fr) 220px; gap: 28px; align-items: center; }
.assay-progress { display: grid; gap: 5px; font-size: 0.87rem; }
[class*="st-key-row-"] { background: var(--assay-panel); }
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
"""
