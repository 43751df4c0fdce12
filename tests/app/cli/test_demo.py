"""The sample project of `assay demo`, and the server that it starts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from annotators.protocols import PROTOCOLS
from exports.sample import qualification_items
from tests.app.cli.command_line import ROOT, CommandLine
from tests.app.cli.test_cli import rows_of


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    """A home folder with the sample project."""
    made = CommandLine(tmp_path_factory.mktemp("demo") / "home")
    added = made.json("demo")
    assert added["added"]["studies"] == 5
    assert set(added["sign_in"]) >= {"admin", "demo-annotator", "demo-adjudicator"}
    return made


@pytest.mark.slow
def test_the_sample_leaves_no_page_empty(demo: CommandLine) -> None:
    studies = {study["study"]: study for study in demo.json("study", "list", "sample")}
    assert set(studies) == {"verification", "ambiguity", "metrics", "newcomers", "practice"}
    assert studies["verification"]["submitted"] == studies["verification"]["slots"] == 42
    assert 0 < studies["verification"]["disputed"] < 14
    assert 0 < studies["ambiguity"]["submitted"] < studies["ambiguity"]["slots"]
    assert 0 < studies["metrics"]["submitted"] < studies["metrics"]["slots"]
    waiting = {study["study"]: study for study in demo.json("--as", "demo-annotator", "study", "list", "sample")}
    assert set(waiting) == {"ambiguity", "metrics", "practice"}
    summary = demo.json("score", "sample", "--scorer", "phrase_recall")
    assert summary["n_scored"] == 56
    assert all(
        annotator["seconds_per_item"] for annotator in demo.json("status", "sample", "verification")["annotators"]
    )


def test_the_simulated_annotators_agree_well_but_not_everywhere(demo: CommandLine) -> None:
    report = demo.json("agreement", "sample", "verification", "--resamples", "0")
    percent = {
        criterion["criterion"]: next(s["value"] for s in criterion["statistics"] if s["name"] == "percent_agreement")
        for criterion in report["criteria"]
    }
    assert all(0.7 < value <= 1 for value in percent.values())
    assert min(percent.values()) < 1


def test_newcomers_qualify_by_two_dozen_items(demo: CommandLine) -> None:
    [chloe] = demo.json("annotators", "sample", "newcomers")
    assert (chloe["annotator"], chloe["qualification"]["state"]) == ("demo-chloe", "open")
    [amendment] = demo.json("study", "show", "sample", "newcomers")["amendments"]
    assert amendment["after"] == {"mark": 0.8, "tries": 2, "items": 24}


OF_IMAGES = {"multimodal_answer", "multimodal_review", "multimodal_scores"}
"""Protocols about images of items, which the sample does not have."""

ABOUT = sorted(set(PROTOCOLS.names()) - OF_IMAGES)


@pytest.mark.parametrize("name", ABOUT)
def test_every_protocol_has_six_items_to_qualify_by_that_explain_themselves(name: str) -> None:
    protocol = PROTOCOLS.get(name)
    rows = qualification_items(protocol)
    explained: dict[tuple[str, str | None], bool] = {}
    for row in rows:
        protocol.criterion(row["criterion"]).parse(str(row["value"]))
        of = (row["item"], row["other"])
        explained[of] = explained.get(of, False) or bool(row["explanation"])
    assert len(explained) >= (24 if name == "qa_verification" else 6)
    assert [of for of, said in explained.items() if not said and name != "qa_verification"] == []


SPARE = {
    "claim_correctness": "mossgate-cable:harbour-rag",
    "claim_recall": "library-electricity:reference",
    "context_recall": "library-electricity:reference",
    "faithfulness": "mossgate-cable:harbour-rag",
    "claim_verification": "mossgate-cable:harbour-rag",
    "multi_hop_checklist": "ferry-anchor:harbour-rag",
    "metric_agreement": "rayhan-price:harbour-rag",
    "metric_agreement_blind": "rayhan-price:harbour-rag",
}
"""An item for a study of the protocol, where its question is not asked to qualify; else the one below."""


@pytest.mark.parametrize("name", ABOUT)
def test_items_to_qualify_by_are_added_by_one_command(demo: CommandLine, tmp_path: Path, name: str) -> None:
    study, items = f"by-{name}".replace("_", "-"), tmp_path / "items.csv"
    pairs = PROTOCOLS.get(name).about_pairs
    spare = (
        ("harrow-gap:harbour-rag\nharrow-gap:lantern-rag",) if pairs else (SPARE.get(name, "harrow-gap:harbour-rag"),)
    )
    items.write_text("\n".join(("item", *spare, "")))
    begin = ("study", "create", "sample", study, "--protocol", name, "--annotators", "demo-ada", "--overlap", "1")
    demo(
        *begin,
        "--items",
        items,
        *(("--pairs", "harbour-rag,lantern-rag") if pairs else ("--every-item",)),
        "--keep-lacking",
    )
    added = demo.json("study", "qualify", "sample", study, "--sample")
    assert added["added"] >= (24 if name == "qa_verification" else 6)
    said = demo("status", "sample", study).out
    assert ("1 pair," in said, "1 item," in said) == (pairs, not pairs), said


def test_a_second_demo_adds_nothing(demo: CommandLine) -> None:
    before = rows_of(demo)
    again = demo.json("demo")
    assert set(again["added"].values()) == {0}
    assert again["sign_in"] == {}
    assert rows_of(demo) == before


def test_an_export_of_the_sample_is_verified(demo: CommandLine, tmp_path: Path) -> None:
    demo("export", "sample", "--to", tmp_path / "out")
    assert demo.json("verify", tmp_path / "out")["ok"]
    assert "demo-ada" not in (tmp_path / "out" / "studies" / "verification" / "labels.csv").read_text()


@pytest.mark.slow
def test_demo_serve_prints_one_address_that_signs_the_administrator_in(demo: CommandLine) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    server = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "--home", str(demo.home), "demo", "--serve", "--port", "0"],
        cwd=ROOT,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        printed = server.stdout.readline()
        [address] = re.findall(r"http://\S+", printed)
        base = address.partition("/sign-in/")[0]
        with httpx.Client(headers={"Origin": base}, follow_redirects=True, timeout=20) as client:
            shown = client.get(address)
            assert shown.status_code == 200
            assert shown.url.path == "/"  # signed in: not sent back to the sign-in page
            assert client.get("/api/studies/1/work".join((base, ""))).status_code != 401
    finally:
        server.send_signal(signal.SIGINT)
        rest, errors = server.communicate(timeout=30)
    assert server.returncode == 0, errors
    assert "http" not in rest


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="the browser is a shell script")
@pytest.mark.parametrize(
    ("display", "options", "opened"),
    [(":9", [], True), (":9", ["--no-open"], False), ("", [], False), ("", ["--open"], True)],
)
def test_demo_serve_opens_the_browser_signed_in_where_there_is_a_display(
    demo: CommandLine, tmp_path: Path, display: str, options: list[str], *, opened: bool
) -> None:
    note, browser = tmp_path / "opened", tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {note}.part && mv {note}.part {note}\n')
    browser.chmod(0o755)
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("ASSAY_") and name not in ("CI", "SSH_CONNECTION", "WAYLAND_DISPLAY")
    }
    server = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "--home", str(demo.home), "demo", "--serve", "--port", "0", *options],
        cwd=ROOT,
        env={**kept, "DISPLAY": display, "BROWSER": str(browser)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert server.stdout is not None
        [address] = re.findall(r"http://\S+", server.stdout.readline())
        until = time.monotonic() + (20 if opened else 2)
        while not note.exists() and time.monotonic() < until:
            time.sleep(0.05)
        assert note.exists() == opened
        if opened:
            assert note.read_text().strip() == address
            assert httpx.get(address, timeout=20).status_code == 303  # signs in at once
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=30)
