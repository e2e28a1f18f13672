"""What matters on a GPU, tested without one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from transducer.config import Config, ModelConfig, TrainConfig
from transducer.devices import pick_device
from transducer.encoders.contextual import ContextualEncoder
from transducer.errors import TransducerError
from transducer.model.network import packed_bilstm, padded_bilstm
from transducer.training.devices import mixed_precision
from transducer.training.trainer import make_trainer


@pytest.mark.parametrize(
    ("capability", "precision"),
    [((9, 0), "bf16"), ((8, 0), "bf16"), ((7, 5), "fp16"), ((7, 0), "fp16"), ((6, 1), "no")],
)
def test_precision_is_what_the_gpu_computes_fast(
    monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int], precision: str
) -> None:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    gpu = torch.device("cuda", 0)
    assert mixed_precision("auto", gpu) == precision
    assert mixed_precision("fp32", gpu) == "no"
    assert mixed_precision("bf16", gpu) == "bf16"
    assert mixed_precision("auto", torch.device("cpu")) == "no"


def test_a_sentence_without_tokens_has_no_state() -> None:
    torch.manual_seed(0)
    lstm = torch.nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True).eval()
    mask = torch.tensor([[True, True, True], [False, False, False], [True, False, False]])
    inputs = torch.randn(3, 3, 3)
    for packed, padded in zip(
        packed_bilstm(lstm, inputs, mask), padded_bilstm(lstm, inputs, mask), strict=True
    ):
        torch.testing.assert_close(packed, padded)
    assert not packed_bilstm(lstm, inputs, mask)[0][1].any()


def test_one_of_several_processes_cannot_choose_its_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(TransducerError, match="a GPU of its own"):
        pick_device("cuda:1")


def test_what_nobody_reads_has_no_gradient(tiny_mpnet: Path) -> None:
    encoder = ContextualEncoder(ModelConfig(contextual=str(tiny_mpnet), contextual_tuned=True))
    learned = {n for n, w in encoder.model.named_parameters() if w.requires_grad}  # type: ignore[union-attr]
    assert learned
    assert not any(name.startswith(("pooler.", "embeddings.")) for name in learned)


def test_the_scale_of_fp16_is_resumed(ten: Callable[[str], Path], tmp_path: Path) -> None:
    model = ModelConfig(
        word_size=8, pos_size=4, char_size=4, char_embedding=4, index_size=4, relation_size=4,
        encoder_size=8, decoder_size=16, attention_size=8, biaffine_size=8, bilinear_size=8,
    )  # fmt: skip
    config = Config("dm", model=model, train=TrainConfig(batch_size=3, epochs=1))

    def trainer(*, resume: bool) -> Any:
        return make_trainer(
            config, [str(ten("dm"))], [], tmp_path / "m", device="cpu", resume=resume
        )

    first = trainer(resume=False)
    first.fit()
    first.accelerator.scaler = torch.amp.GradScaler("cpu", init_scale=64.0)
    first.save_last()
    again = trainer(resume=True)
    again.accelerator.scaler = torch.amp.GradScaler("cpu")
    again.restore_scaler()
    assert again.accelerator.scaler.get_scale() == 64.0
