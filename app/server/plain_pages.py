"""Signing in and out as plain HTML: pages that need neither Streamlit nor, but for the outbox, JavaScript."""

from __future__ import annotations

import secrets
from functools import cache
from html import escape
from pathlib import Path

import streamlit
from starlette.responses import HTMLResponse

from app.palette import colours
from db.inviting.joining import Standing

FORMS = ("/sign-in", "/sign-out", "/join/", "/leave/")
"""Where the forms of these pages are sent."""

OUTBOX_PREFIX = "assay.outbox."
"""How the names begin under which the annotator's page keeps in the browser what waits to be sent."""


def sign_in_page(*, target: str, name: str = "", problem: str = "", status: int = 200) -> HTMLResponse:
    """The form for name and password; `problem` says what was wrong with the last try."""
    focus_password = bool(name)
    return _page(
        "Sign in",
        f"""
        {_problem(problem)}
        <form method="post" action="/sign-in">
          <input type="hidden" name="next" value="{escape(target)}">
          <label for="name">Name</label>
          <input id="name" name="name" value="{escape(name)}" autocomplete="username" required maxlength="100"
            autocapitalize="none" spellcheck="false" {"" if focus_password else "autofocus"}>
          <label for="password">Password</label>
          <input id="password" name="password" type="password" autocomplete="current-password" required
            {"autofocus" if focus_password else ""} {'aria-invalid="true"' if problem else ""}>
          <button type="submit">Sign in</button>
        </form>
        <p class="soft">No password yet, or forgotten? An administrator can make you a one-time sign-in address.</p>
        """,
        status,
    )


def one_time_page(*, token: str, name: str, has_password: bool, problem: str = "", status: int = 200) -> HTMLResponse:
    """What a one-time address opens: one button, and the choice of a password for next time."""
    invitation = "Choose a new password" if has_password else "Choose a password"
    return _page(
        "Welcome",
        f"""
        {_problem(problem)}
        <p>This address signs you in once as <strong>{escape(name)}</strong>.</p>
        <form method="post" action="/sign-in/{escape(token)}">
          <input type="hidden" name="name" value="{escape(name)}" autocomplete="username">
          <label for="password">{invitation} for next time <span class="soft">(or leave it empty)</span></label>
          <input id="password" name="password" type="password" autocomplete="new-password"
            aria-describedby="rule" {'aria-invalid="true"' if problem else ""}>
          <p class="soft rule" id="rule">At least 8 characters; a few words in a row are good.</p>
          <button type="submit" autofocus>Sign in as {escape(name)}</button>
        </form>
        """,
        status,
    )


def other_person_page(*, token: str, name: str, signed_in: str, person_id: int) -> HTMLResponse:
    """What somebody else's one-time address opens in a browser that is signed in: a choice, and nothing by itself."""
    nonce = secrets.token_urlsafe(16)
    return _page(
        "Somebody else is signed in",
        f"""
        <p>You are signed in as <strong>{escape(signed_in)}</strong>. This address is for
          <strong>{escape(name)}</strong>.</p>
        <p id="waiting" class="problem" role="status" hidden></p>
        <form method="post" action="/sign-in/{escape(token)}">
          <button type="submit">Sign out {escape(signed_in)} and sign in as {escape(name)}</button>
        </form>
        <p><a href="/">Stay signed in as {escape(signed_in)}</a></p>
        <script nonce="{nonce}">{_waiting(person_id)}</script>
        """,
        script=f"'nonce-{nonce}'",
    )


def sign_out_page(*, name: str, person_id: int) -> HTMLResponse:
    """Asks before signing out, and says what would be missing when submissions still wait here to be sent."""
    nonce = secrets.token_urlsafe(16)
    rename = "if (waiting > 0) document.getElementById('go').textContent = 'Sign out and leave it waiting';"
    return _page(
        "Sign out",
        f"""
        <p>You are signed in as <strong>{escape(name)}</strong>.</p>
        <p id="waiting" class="problem" role="status" hidden></p>
        <form method="post" action="/sign-out">
          <button id="go" type="submit">Sign out</button>
        </form>
        <p><a href="/">Back to Assay</a></p>
        <script nonce="{nonce}">{_waiting(person_id)}{rename}</script>
        """,
        script=f"'nonce-{nonce}'",
    )


def _waiting(person_id: int) -> str:
    """A script that says how much a person's outbox still holds; it leaves the number in `waiting`.

    The outbox keeps it under `assay.outbox.1/PERSON/STUDY/…` (app/widgets/shared/outbox.js).
    """
    return f"""
      const mine = (key) => key.startsWith({OUTBOX_PREFIX!r}) && key.split('/')[1] === '{person_id}';
      const waiting = Object.keys(localStorage).filter(mine).length;
      if (waiting > 0) {{
        const warning = document.getElementById('waiting');
        warning.textContent = `${{waiting}} submitted item${{waiting === 1 ? ' is' : 's are'}} still waiting in this `
          + 'browser to be sent. What waits is kept here and is sent when you sign in again in this browser; in '
          + 'another browser it is missing. To send it now, go back to the study and wait until it says "Saved".';
        warning.hidden = false;
      }}
    """


def join_page(*, token: str, study: str, title: str, quota: int | None, called: str) -> HTMLResponse:
    """What an invitation opens: what it is about, and one button. `called` is the recruiter's id, if there is one."""
    items = "" if quota is None else f" You are given {quota:,} item{'' if quota == 1 else 's'}."
    return _page(
        study,
        f"""
        <p>You are invited to judge texts: <strong>{escape(title)}</strong>.{items}</p>
        <p>How to judge is shown first. What you submit is saved at once; you can stop at any time.</p>
        <form method="post" action="/join/{escape(token)}">
          <input type="hidden" name="id" value="{escape(called)}">
          <button type="submit">Begin</button>
        </form>
        <p class="soft">You appear under a name that is made up. A cookie keeps you signed in on this device.</p>
        """,
    )


def leave_page(*, study_id: int, standing: Standing) -> HTMLResponse:
    """Where an annotator from outside ends: the code and the way back, or first the question whether to end."""
    of = "" if standing.quota is None else f" of {standing.quota:,}"
    done = f"<p>You submitted {standing.done:,}{of} item{'' if standing.done == 1 and not of else 's'}.</p>"
    if standing.outcome is None:
        return _page(standing.study, f"{done}{_way_out(study_id, standing)}")
    words = {
        "done": "You have done all of it. Thank you!",
        "failed": "The study gives you no items now. Thank you for your work.",
        "declined": "You declined to take part. Thank you for your time.",
        "stopped": "You have stopped. Thank you for your work.",
    }[standing.outcome]
    code = f'<p>Your code:</p><p class="code" data-testid="code">{escape(standing.code)}</p>' if standing.code else ""
    back = (
        f'<p><a class="go" rel="noreferrer" href="{escape(standing.return_url)}">Back to where you came from</a></p>'
        if standing.return_url
        else ""
    )
    return _page(standing.study, f"<p>{words}</p>{done}{code}{back}")


def _way_out(study_id: int, standing: Standing) -> str:
    """What somebody who has not ended may do: finish, go on or stop, or come back later."""
    end = '<form method="post" action="/leave/{}"><button{} type="submit">{}</button></form>'
    on = f'<p><a class="go" href="/annotate?study={study_id}">Go on</a></p>'
    if standing.complete:
        return "<p>You have done all of it.</p>" + end.format(study_id, "", "Finish")
    if standing.halted is not None:
        later = "<p>Come back later: you go on where you stopped.</p>" if standing.later else ""
        return f"""
            <p>The study gives you no items now. {escape(standing.halted)}</p>
            {later}
            {end.format(study_id, ' class="other"', "End here")}
            """
    return f"""
            {on}
            {end.format(study_id, ' class="other"', "Stop here")}
            <p class="soft">What you submitted is kept; the item before you goes to somebody else. You cannot come
              back.</p>
            """


def message_page(title: str, text: str, *, status: int = 200, signed_in: str = "", way_on: bool = True) -> HTMLResponse:
    """A sentence, and (`way_on`) the way to the sign-in page, or on for the person who is signed in."""
    if not way_on:
        return _page(title, _problem(text), status)
    label = f"Go on as {signed_in}" if signed_in else "Sign in with a password"
    target = "/" if signed_in else "/sign-in"
    return _page(title, f'{_problem(text)}<p><a href="{target}">{escape(label)}</a></p>', status)


def _problem(text: str) -> str:
    return f'<p class="problem" role="alert">{escape(text)}</p>' if text else ""


def _page(title: str, body: str, status: int = 200, script: str = "'none'") -> HTMLResponse:
    html = f"""<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <meta name="robots" content="noindex">
    <title>{escape(title)} · Assay</title>
    <link rel="icon" href="/favicon.png">
    <style>{_style()}</style>
  </head>
  <body>
    <main>
      <p class="name">Assay</p>
      <h1>{escape(title)}</h1>
      {body}
    </main>
  </body>
</html>
"""
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; font-src 'self'; script-src {script}; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    )
    return HTMLResponse(html, status, {"Content-Security-Policy": policy, "Cache-Control": "no-store"})


@cache
def _style() -> str:
    """The style of these pages, in the colours of the two themes."""

    def declared(theme: str) -> str:
        return "".join(f"--{name}:{colour};" for name, colour in colours(theme).items())

    return f"""
      {_font()}
      :root {{ color-scheme: light dark; {declared("light")} }}
      @media (prefers-color-scheme: dark) {{ :root {{ {declared("dark")} }} }}
      * {{ box-sizing: border-box; }}
      body {{ margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 24px; background: var(--bg);
        color: var(--ink); font: 15px/1.5 "Source Sans", "Source Sans 3", "Segoe UI", system-ui, sans-serif; }}
      main {{ width: 100%; max-width: 392px; background: var(--panel); border: 1px solid var(--line);
        border-radius: 10px; padding: 28px 32px 20px; }}
      .name {{ margin: 0; font-size: 13px; font-weight: 600; color: var(--accent); letter-spacing: .02em; }}
      h1 {{ margin: 2px 0 18px; font-size: 24px; line-height: 1.25; }}
      label {{ display: block; margin: 0 0 4px; font-weight: 600; font-size: 13.5px; }}
      input {{ width: 100%; margin: 0 0 16px; padding: 9px 11px; font: inherit; color: inherit; background: var(--bg);
        border: 1px solid color-mix(in srgb, var(--ink) 45%, var(--panel)); border-radius: 7px; }}
      button {{ width: 100%; margin: 4px 0 6px; padding: 10px; font: inherit; font-weight: 600; border: 0;
        border-radius: 7px; background: var(--accent); color: var(--on-accent); cursor: pointer; }}
      button:hover {{ filter: brightness(1.08); }}
      :is(input, button, a):focus-visible {{ outline: 2px solid var(--accent); outline-offset: 2px; }}
      .go {{ display: block; padding: 10px; text-align: center; font-weight: 600; border-radius: 7px;
        background: var(--accent); color: var(--on-accent); text-decoration: none; }}
      button.other {{ background: none; color: var(--accent); border: 1px solid var(--accent); }}
      .code {{ margin: 0 0 18px; padding: 14px; font: 600 22px/1.2 ui-monospace, monospace; text-align: center;
        overflow-wrap: anywhere; user-select: all; border: 1px solid var(--line); border-radius: 7px; }}
      .soft {{ color: var(--soft); font-size: 13.5px; font-weight: 400; }}
      .rule {{ margin: -10px 0 14px; }}
      .problem {{ margin: 0 0 16px; padding: 9px 12px; border-left: 3px solid var(--warn); border-radius: 0 7px 7px 0;
        background: color-mix(in srgb, var(--warn) 12%, var(--panel)); }}
      .problem[hidden] {{ display: none; }}
      a {{ color: var(--accent); }}
    """


@cache
def _font() -> str:
    """The font that Streamlit ships and the other pages use; without it the system's own serves."""
    folder = Path(streamlit.__file__).parent / "static" / "static" / "media"
    names = sorted(path.name for path in folder.glob("SourceSansVF-Upright*.woff2"))
    if not names:
        return ""
    source = f'url("/static/media/{names[0]}") format("woff2")'
    return f'@font-face {{ font-family: "Source Sans"; src: {source}; font-weight: 200 900; font-display: swap; }}'
