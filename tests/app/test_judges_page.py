"""The page Judges: nobody to ask, what a run would send, runs that end well and badly, and who may see it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select
from streamlit.testing.v1 import AppTest

from annotators.figures import money
from annotators.intervals.bootstrap import Resampling
from app.worker.jobs import carry_out, worker_name
from db.items.read import ItemDetails, item_details
from db.jobs import WorkerDesk, list_jobs
from db.judging.judged import judges_in_study
from db.models import Event
from db.studies.design import list_studies
from exports.judging.check import check_report
from exports.judging.differing import differing_units
from exports.judging.panel import panel_report, panel_table
from tests.app.filled import Filled, no_problem, press
from tests.app.pages import Pages, installation, tables, words
from tests.exports.judging.makers import panelled
from tests.judging.answering import AnsweringServer, Habits
from tests.judging.wire import Said, Sent, completion

ELSEWHERE = "https://judges.example.org/v1"
PRICES = '["tiny-judge"]\nsent = 1000\nreceived = 2000\n["no-such-model"]\nsent = 0\nreceived = 0\n'


class Splitting(AnsweringServer):
    """Splits answers into two claims as well."""

    def answer(self, sent: Sent) -> Said:
        if "claims" in (sent.schema or {}).get("properties", {}):
            return completion(sent, [json.dumps({"claims": ["It is so.", "It was so before."]})])
        return super().answer(sent)


@pytest.fixture
def server() -> Iterator[AnsweringServer]:
    with Splitting(Habits(error=0.5)) as opened:
        yield opened


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server: AnsweringServer) -> Iterator[Filled]:
    servers = f"{server.base_url}, {ELSEWHERE}"
    with installation(tmp_path / "home", monkeypatch, judge_servers=servers) as pages:
        pages.state.settings.prices_file.write_text(PRICES)
        yield Filled(pages)


def form(filled: Filled, model: str = "tiny-judge", **more: object) -> AppTest:
    page = filled.open("rosa", "judges", **{"run": "new", "study": filled.study_id, **more})
    field(page, "Model").set_value(model).run()
    return page


def field(page: AppTest, label: str) -> AppTest:
    fields = [*page.selectbox, *page.number_input]
    [found] = [one for one in fields if one.label == label]
    return found  # type: ignore[no-any-return]


def worked_off(filled: Filled) -> None:
    """Every job that waits, done here as a worker does."""
    db = filled.pages.db
    for job in list_jobs(db, filled.study.researcher, filled.project_id):
        desk = WorkerDesk(db, worker_name())
        if (taken := desk.take(job.job_id)) is not None:
            try:
                carry_out(db, desk, taken, settings=filled.pages.state.settings)
            except Exception as error:
                assert str(error)


def test_what_a_run_would_send_and_cost_is_said_before_and_what_it_came_to_after(
    filled: Filled, server: AnsweringServer
) -> None:
    assert "No judge has labelled this study" in no_problem(filled.open("rosa", "judges", study=filled.study_id))
    page = form(filled)
    said = no_problem(page)
    for expected in ("What it would send", "Nothing leaves this machine", "Question of i00001?", "1000 for a million"):
        assert expected in said, expected
    assert server.requests == 0
    press(page, "Start")
    worked_off(filled)
    [found] = judges_in_study(filled.pages.db, filled.study.researcher, filled.study_id)
    assert (found.judged.items, found.judged.labels, found.spent.requests) == (4, 4, server.requests)
    assert found.spent.cost is not None
    assert found.spent.cost == pytest.approx((1000 * found.spent.tokens_in + 2000 * found.spent.tokens_out) / 1e6)
    page = filled.open("rosa", "judges", study=filled.study_id)
    no_problem(page)
    [row] = tables(page)["Judges of study"]
    assert row[:6] == ["tiny-judge plain@1", "4", "4", "0", "0", str(server.requests)]
    assert row[8:] == [money(found.spent.cost), "done"]


@pytest.mark.slow
def test_what_leaves_the_machine_has_to_be_confirmed_anew_after_every_change(filled: Filled) -> None:
    page = form(filled)
    field(page, "Server").set_value(ELSEWHERE).run()
    field(page, "Model").set_value("tiny-judge").run()
    start = next(button for button in page.button if button.label == "Start")
    assert start.disabled
    confirm = confirmation(page)
    assert f"Answer, question of 4 items leave this machine for {ELSEWHERE}." in words(page)
    assert not confirm.value
    confirm.check().run()
    assert not next(button for button in page.button if button.label == "Start").disabled
    field(page, "Items").set_value(2).run()
    confirm = confirmation(page)
    assert "of 2 items leave this machine" in words(page)
    assert not confirm.value
    assert next(button for button in page.button if button.label == "Start").disabled


def confirmation(page: AppTest) -> Any:
    """The box by which somebody confirms what leaves the machine."""
    [box] = [box for box in page.checkbox if box.label == "I confirm that it may leave"]
    return box


def ui(text: str) -> str:
    """As it stands in Streamlit's Markdown."""
    from app.wording import plain

    return plain(text)


@pytest.mark.slow
def test_a_run_that_stopped_or_failed_says_why_and_the_way_on(filled: Filled, server: AnsweringServer) -> None:
    page = form(filled)
    field(page, "Budget").set_value(2.0).run()
    field(page, "in").set_value("requests").run()
    press(page, "Start")
    worked_off(filled)
    page = filled.open("rosa", "judges", study=filled.study_id)
    assert "It stopped at its budget of 2requests" in no_problem(page)
    assert server.requests == 2
    press(page, "Go on…")
    assert field(page, "Budget").value == 2.0
    field(page, "Budget").set_value(None).run()
    press(page, "Start")
    worked_off(filled)
    [row] = tables(filled.open("rosa", "judges", study=filled.study_id))["Judges of study"]
    assert (row[1], row[5], row[9]) == ("4", "4", "done")
    assert server.requests == 4

    press(form(filled, "no-such-model"), "Start")
    worked_off(filled)
    page = filled.open("rosa", "judges", study=filled.study_id)
    assert "has no model" in no_problem(page)
    assert "What was paid for is kept" in words(page)
    assert [button.label for button in page.button if button.label == "Resume"] == ["Resume"]


@pytest.mark.slow
def test_a_budget_in_money_needs_a_price_and_a_context_that_is_too_short_is_said_before(filled: Filled) -> None:
    page = form(filled)
    field(page, "Context").set_value(10).run()
    assert "the model takes 10" in page.error[0].value
    filled.pages.state.settings.prices_file.unlink()
    page = filled.open("rosa", "judges", run="new", study=filled.study_id)
    assert field(page, "Model").options == ["tiny-judge"], "what the server lists"


def test_the_form_offers_the_models_that_the_server_lists_and_asks_it_for_nothing_else(
    filled: Filled, server: AnsweringServer
) -> None:
    server.models = ("tiny-judge", "another", "third:7b")
    page = filled.open("rosa", "judges", run="new", study=filled.study_id)
    no_problem(page)
    model = field(page, "Model")
    assert model.options[-2:] == ["another", "third:7b"], "behind those that have a price"
    assert "The server lists 3 models" in model.help
    assert server.requests == 0
    field(page, "Server").set_value(ELSEWHERE).run()
    assert "another" not in field(page, "Model").options
    assert "lists no models" in field(page, "Model").help


@pytest.mark.slow
def test_all_items_are_judged_by_a_protocol_in_a_study_of_judges(filled: Filled) -> None:
    page = filled.open("rosa", "judges", run="new", study=filled.study_id)
    field(page, "Judges the items of").set_value(0).run()
    field(page, "Protocol").set_value("ambiguity").run()
    press(page, "Make the study")
    names = [row.name for row in list_studies(filled.pages.db, filled.study.researcher, filled.project_id)]
    assert "ambiguity by judges" in names


@pytest.mark.slow
def test_where_no_server_is_allowed_it_says_what_the_administrator_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with installation(tmp_path / "other", monkeypatch) as pages:
        said = no_problem(Filled(pages).open("rosa", "judges", run="new"))
        assert "ASSAY_JUDGE_SERVERS" in said
        assert "judge_servers = " in said


@pytest.mark.slow
def test_judges_are_for_researchers(filled: Filled) -> None:
    for who in ("vera", "adam"):
        page = filled.open(who, "judges", study=filled.study_id)
        assert "No judge has labelled" not in words(page)
        assert not page.exception


@pytest.mark.slow
def test_a_judge_is_asked_once_more_on_its_page(filled: Filled, server: AnsweringServer) -> None:
    press(form(filled), "Start")
    worked_off(filled)
    asked = server.requests
    where: dict[str, object] = {"study": filled.study_id, "judge": "tiny-judge plain@1", "show": "against itself"}
    page = filled.open("rosa", "judges", **where)
    page.multiselect(key="judge-again-flips").set_value(["labels"]).run()
    assert "Nothing leaves this machine" in no_problem(page)
    assert server.requests == asked
    press(page, "Ask")
    worked_off(filled)
    assert server.requests == asked + 4
    page = filled.open("rosa", "judges", **where)
    assert "labels" in no_problem(page).lower()
    found = check_report(filled.pages.db, filled.study.researcher, filled.study_id, judge="tiny-judge plain@1")
    flips = found.find("flip_rate_labels", criterion="right")
    assert flips is not None
    assert flips.n == 4


@pytest.mark.slow
def test_claims_are_drafted_on_demand_and_are_claims_once_a_person_saves_them(
    filled: Filled, server: AnsweringServer
) -> None:
    page = filled.open("rosa", "claims", item=1)
    said = no_problem(page)
    assert "Nothing leaves this machine" in said
    assert server.requests == 0
    next(button for button in page.button if button.key == "claims-ask").click().run()
    worked_off(filled)
    page.run()
    assert ui("2 claims drafted by tiny-judge with claim_splitting@1") in page.info[0].value
    [area] = page.text_area
    assert area.value == "It is so.\nIt was so before."

    def found() -> ItemDetails:
        return item_details(filled.pages.db, filled.study.researcher, filled.project_id, external_id="i00001")

    assert found().item.content.claims == ()
    area.set_value("It is so.")
    press(page, "Save and next")
    assert [claim.text for claim in found().item.content.claims] == ["It is so."]
    with filled.pages.db.read() as session:
        [event] = session.exec(select(Event).where(col(Event.kind) == "item revised")).all()
    proposed = event.details["proposed"]["claims"]
    assert (proposed["model"], proposed["prompt"]["name"], proposed["changed"]) == (
        "tiny-judge", "claim_splitting", True,
    )  # fmt: skip


# What judges are worth ------------------------------------------------------------------------------------------------


@pytest.fixture
def judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Pages, dict[str, str]]]:
    """A study that people and three judges have labelled, and its address."""
    with installation(tmp_path / "home", monkeypatch) as pages:
        errors = {"A": 0.15, "B": 0.3, "C": 0.3}
        made = panelled(pages.db, pages.admin, tmp_path / "source", errors, questions=14, labelled=12)
        yield pages, {"project": str(made.project_id), "study": str(made.study_id)}


@pytest.mark.slow
def test_a_judge_is_held_against_people_and_what_differs_leads_to_its_item(
    judged: tuple[Pages, dict[str, str]],
) -> None:
    pages, where = judged
    said = no_problem(pages.open(pages.token("admin"), "judges", **where))
    assert "labels imported" in said
    assert "Combine them in a panel" in said
    page = pages.open(pages.token("admin"), "judges", **where, judge="A", criterion="right")
    said = no_problem(page)
    report = check_report(pages.db, pages.admin, int(where["study"]), judge="A", asked=Resampling())
    figure = report.find("agreement_people", criterion="right") or report.statistics[0]
    assert f"{figure.value:.3f}" in said
    page = pages.open(pages.token("admin"), "judges", **where, judge="A", criterion="right", show="where they differ")
    said = no_problem(page)
    found = differing_units(pages.db, pages.admin, int(where["study"]), judge="A", criterion="right")
    assert found.differing == len(found.units) > 0
    for unit in found.units:
        assert f"/item?item={unit.item_id}" in said
    for show in ("errors", "against itself", "cost", "report"):
        no_problem(pages.open(pages.token("admin"), "judges", **where, judge="A", criterion="right", show=show))


@pytest.mark.slow
def test_a_panel_has_the_figures_of_the_command_and_nobody_is_said_so(judged: tuple[Pages, dict[str, str]]) -> None:
    pages, where = judged
    page = pages.open(pages.token("admin"), "judges", **where, panel="all")
    said = no_problem(page)
    report = panel_report(pages.db, pages.admin, int(where["study"]), judges=["A", "B", "C"])
    for cells in panel_table(report).rows:
        assert cells[3] in said
    page.multiselect[0].set_value(["A"]).run()
    assert "A panel takes two judges or more" in no_problem(page)
    page = pages.open(pages.token("admin"), "judges", **where, judge="Z")
    assert "No judge 'Z' has labelled" in page.error[0].value
