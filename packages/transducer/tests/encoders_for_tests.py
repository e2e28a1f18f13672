"""Random encoders of every kind, with the tokenizers that such encoders have, built here."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers.processors import BertProcessing

_SIZES: dict[str, Any] = {
    "hidden_size": 24, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 40,
    "max_position_embeddings": 512,
}  # fmt: skip
_TEXT = (
    "The boy wants to go to town, but the unbelievable girl does not believe him.",
    "Dogs bark loudly; cats sing. Naïve dogs don't believe in unbelievable towns!",
    "Two boys went to 10 towns and believed 25 girls.",
)


def _transformers() -> Any:
    """Import transformers, whose types say less than its documentation."""
    return importlib.import_module("transformers")


def _word_pieces(special: list[str]) -> Any:
    """Return the vocabulary of BERT's kind."""
    from tokenizers import BertWordPieceTokenizer

    tokenizer = BertWordPieceTokenizer(lowercase=False)
    tokenizer.train_from_iterator(
        _TEXT, vocab_size=150, min_frequency=1, special_tokens=special, show_progress=False
    )
    return tokenizer.get_vocab()


def _byte_level(special: list[str]) -> tuple[Any, Any]:
    """Return vocabulary and merges of RoBERTa's and GPT-2's kind."""
    from tokenizers import ByteLevelBPETokenizer

    tokenizer = ByteLevelBPETokenizer()
    tokenizer.train_from_iterator(
        _TEXT, vocab_size=400, min_frequency=1, special_tokens=special, show_progress=False
    )
    model = json.loads(tokenizer.to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


def _pieces_of_sentences(special: list[str]) -> Any:
    """Return the vocabulary of SentencePiece's kind."""
    from tokenizers import SentencePieceUnigramTokenizer

    tokenizer = SentencePieceUnigramTokenizer()
    tokenizer.train_from_iterator(
        _TEXT, vocab_size=120, special_tokens=special, unk_token="[UNK]", show_progress=False
    )
    return [tuple(piece) for piece in json.loads(tokenizer.to_str())["model"]["vocab"]]


_BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_ROBERTA = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]


def _bert() -> tuple[Any, Any]:
    t = _transformers()
    vocabulary = _word_pieces(_BERT)
    config = t.BertConfig(vocab_size=len(vocabulary), **_SIZES)
    return t.BertTokenizer(vocab=vocabulary, do_lower_case=False), t.BertModel(config)


def _distilbert() -> tuple[Any, Any]:
    t = _transformers()
    vocabulary = _word_pieces(_BERT)
    config = t.DistilBertConfig(
        vocab_size=len(vocabulary), dim=24, n_layers=3, n_heads=4, hidden_dim=40
    )
    return t.BertTokenizer(vocab=vocabulary, do_lower_case=False), t.DistilBertModel(config)


def _electra() -> tuple[Any, Any]:
    t = _transformers()
    vocabulary = _word_pieces(_BERT)
    config = t.ElectraConfig(vocab_size=len(vocabulary), embedding_size=16, **_SIZES)
    return t.BertTokenizer(vocab=vocabulary, do_lower_case=False), t.ElectraModel(config)


def _mpnet() -> tuple[Any, Any]:
    t = _transformers()
    vocabulary = _word_pieces(["<s>", "<pad>", "</s>", "[UNK]", "<mask>"])
    sizes = _SIZES | {"max_position_embeddings": 514}
    config = t.MPNetConfig(vocab_size=len(vocabulary), **sizes)
    return t.MPNetTokenizer(vocab=vocabulary, do_lower_case=False), t.MPNetModel(config)


def _roberta() -> tuple[Any, Any]:
    t = _transformers()
    vocabulary, merges = _byte_level(_ROBERTA)
    sizes = _SIZES | {"max_position_embeddings": 514}
    config = t.RobertaConfig(vocab_size=len(vocabulary), type_vocab_size=1, **sizes)
    return t.RobertaTokenizer(vocab=vocabulary, merges=merges), t.RobertaModel(config)


def _deberta() -> tuple[Any, Any]:
    t = _transformers()
    vocabulary, merges = _byte_level(_BERT)
    config = t.DebertaConfig(
        vocab_size=len(vocabulary), relative_attention=True, pos_att_type=["c2p", "p2c"],
        position_biased_input=False, type_vocab_size=0, **_SIZES,
    )  # fmt: skip
    return t.DebertaTokenizer(vocab=vocabulary, merges=merges), t.DebertaModel(config)


def _deberta_v2() -> tuple[Any, Any]:
    t = _transformers()
    vocabulary = _pieces_of_sentences(_BERT)
    config = t.DebertaV2Config(
        vocab_size=len(vocabulary), relative_attention=True, pos_att_type=["c2p", "p2c"],
        position_buckets=32, share_att_key=True, norm_rel_ebd="layer_norm",
        position_biased_input=False, type_vocab_size=0, **_SIZES,
    )  # fmt: skip
    tokenizer = t.DebertaV2Tokenizer(vocab=vocabulary)
    # As published files have it; transformers 5.0 forgets it in tokenizers that are built.
    tokenizer.backend_tokenizer.post_processor = BertProcessing(
        ("[SEP]", tokenizer.sep_token_id), ("[CLS]", tokenizer.cls_token_id)
    )
    return tokenizer, t.DebertaV2Model(config)


def _t5() -> tuple[Any, Any]:
    t = _transformers()
    vocabulary = _pieces_of_sentences(["<pad>", "</s>", "[UNK]"])
    config = t.T5Config(
        vocab_size=len(vocabulary) + 4, d_model=24, d_kv=6, d_ff=40, num_layers=3,
        num_decoder_layers=1, num_heads=4,
    )  # fmt: skip
    tokenizer = t.T5Tokenizer(vocab=vocabulary, unk_token="[UNK]", extra_ids=0)
    return tokenizer, t.T5Model(config)


KINDS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "bert": _bert,
    "mpnet": _mpnet,
    "distilbert": _distilbert,
    "electra": _electra,
    "roberta": _roberta,
    "deberta": _deberta,
    "deberta-v2": _deberta_v2,
    "t5": _t5,
}
"""Kinds of encoders: tokenizer and model."""


def write_encoder(kind: str, folder: Path) -> Path:
    """Write a random encoder into a folder; its weights are large, so that vectors differ."""
    torch.manual_seed(0)
    tokenizer, model = KINDS[kind]()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape) * 0.2)
    tokenizer.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder
