"""Model folders from a stranger: one good model, damaged in any of its files, and `parse` with it.

A folder parses, or it is refused with exit 1 and one sentence on stderr that names it; within
seconds, without large memory, without output. Code and files of others are the affair of
``packages/transducer/tests/test_model_folder.py``, which has a case for each.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from campaign.files import fault, invoke
from campaign.mutation import Mutation, in_bytes, in_lines, in_tokens, odd_value, places

Found = dict[str, Any]

MOST_MEGABYTES = 500
"""By how much one folder may raise the peak of the memory."""
_TASKS = ("amr", "dm", "ucca")
_SMALL: dict[str, Any] = {
    "word_size": 8, "pos_size": 4, "char_size": 4, "char_embedding": 4, "index_size": 4,
    "relation_size": 4, "encoder_size": 8, "decoder_size": 16, "attention_size": 8,
    "biaffine_size": 8, "bilinear_size": 8,
}  # fmt: skip
_TEXT = "The boy wants to go .\n"


def attack(folder: Path, number: int, seed: int, counts: Counter[str]) -> Iterator[Found]:
    """Damage a file of a model and parse with it; yield what cannot be explained."""
    rng = random.Random(f"{seed}:{number}:model")
    task = rng.choice(_TASKS)
    good = _good(folder, task)
    model, out, text = folder / "model", folder / "out.mrp", folder / "in.txt"
    shutil.copytree(good, model)
    text.write_text(_TEXT)
    path = rng.choice(sorted(model.iterdir()))
    mutation = in_bytes if path.suffix == ".safetensors" else rng.choice(_OF_TEXT)
    path.write_bytes(_head(path.read_bytes(), mutation, rng, path.suffix == ".safetensors"))
    counts["model folders"] += 1
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    arguments = ["parse", "--model", str(model), "--input", "tokens", str(text), "-o", str(out)]
    result = invoke("transducer", arguments)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
    counts[f"model folders: exit {result.exit_code}"] += 1
    reason = _fault(result, out, more)
    if reason:
        yield {"seed": seed, "number": number, "file": f"{task}/{path.name}", "reason": reason,
               "mutation": mutation.__name__, "command": " ".join(["transducer", *arguments]),
               "data": path.read_bytes()[:20_000].decode("latin-1")}  # fmt: skip
    shutil.rmtree(model)
    out.unlink(missing_ok=True)


def _fault(result: Any, out: Path, megabytes: float) -> str:
    refused = result.exit_code == 1
    said = [line for line in result.stderr.splitlines() if line.startswith("Error")]
    reasons = {
        "it is refused, and there is output": refused and out.exists(),
        "there is no output": result.exit_code == 0 and not out.exists(),
        "it is refused in other than one sentence": refused and len(said) != 1,
        f"it takes {megabytes:.0f} MB more": megabytes > MOST_MEGABYTES,
    }
    return fault(result) or next((reason for reason, holds in reasons.items() if holds), "")


def in_values(data: bytes, rng: random.Random) -> bytes:
    """Put something odd in place of a value of a JSON file."""
    record = json.loads(data)
    holder, key = rng.choice(list(places(record)))
    holder[key] = odd_value(rng)
    return json.dumps(record).encode()


_OF_TEXT: tuple[Mutation, ...] = (in_bytes, in_lines, in_tokens, in_values, in_values)


def _head(data: bytes, mutation: Mutation, rng: random.Random, weights: bool) -> bytes:
    """Damage a file; of weights the header as a rule, for the rest is numbers."""
    size = int.from_bytes(data[:8], "little") + 8 if weights and rng.random() < 0.9 else len(data)
    return mutation(data[:size], rng) + data[size:]


@cache
def _good(folder: Path, task: str) -> Path:
    """Write a random model of a few thousand weights, as a training leaves it."""
    # Imported here: the other parts do without torch.
    import torch  # noqa: PLC0415

    from graphconv import io  # noqa: PLC0415
    from transducer import sample  # noqa: PLC0415
    from transducer.config import Config, ModelConfig  # noqa: PLC0415
    from transducer.data.examples import build_vocabularies  # noqa: PLC0415
    from transducer.frameworks.tasks import make_task, training_graphs  # noqa: PLC0415
    from transducer.model.network import TransducerModel  # noqa: PLC0415
    from transducer.storage import checkpoint  # noqa: PLC0415

    torch.set_num_threads(1)
    torch.manual_seed(0)
    config = Config(task, model=ModelConfig(**_SMALL))
    graphs = list(islice(io.read(sample.path(task, "train"), framework=task), 6))
    graphs = training_graphs(config, graphs)
    made = make_task(config, graphs)
    vocabularies = build_vocabularies(list(made.examples(graphs)))
    good = folder / f"good-{task}"
    good.mkdir()
    checkpoint.save_setup(good, made, vocabularies)
    model = TransducerModel(config.model, vocabularies, made.trees)
    checkpoint.save_weights(good / checkpoint.WEIGHTS, dict(model.state_dict()))
    (good / checkpoint.SCORE).write_text(json.dumps({"task": task, "epoch": 1}))
    return good
