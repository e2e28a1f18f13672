"""The four recipes of the paper, value by value.

Every setting that there is has its value here: from the table of hyper-parameters, from the text,
or, where the paper does not say it, ours. A new setting has to say it, too.
"""

from __future__ import annotations

from typing import Any

import pytest

from transducer.config import load_recipe

TASKS = {"paper-amr1": "amr", "paper-amr2": "amr", "paper-dm": "dm", "paper-ucca": "ucca"}

# What the table of hyper-parameters says, in its order; a dict where it differs by task.
TABLE: dict[str, Any] = {
    # Hidden size
    "model.word_size": 300,  # GloVe
    "model.contextual": "bert-large-cased",  # BERT, 1024
    "model.pos_size": 100,  # POS / NER / Dep / Shapes
    "model.ner_size": {"ucca": 100, "amr": 0, "dm": 0},
    "model.dep_size": {"ucca": 100, "amr": 0, "dm": 0},
    "model.shape_size": {"ucca": 100, "amr": 0, "dm": 0},
    "model.anonymous_size": {"amr": 50, "dm": 0, "ucca": 0},  # Anonymization / Node index
    "model.index_size": 50,
    "model.char_kernel": 3,
    "model.char_size": 100,
    "model.encoder_layers": 2,
    "model.encoder_size": 512,
    "model.decoder_layers": 2,
    "model.decoder_size": 1024,
    "model.biaffine_size": 256,
    "model.bilinear_size": {"amr": 128, "dm": 256, "ucca": 128},
    # Optimizer: Adam
    "train.learning_rate": 0.001,
    "train.max_norm": 5.0,
    "train.coverage": 1.0,
    "train.smoothing": 0.1,
    "decode.beam": 5,
    "train.batch_size": 64,
    "model.dropout": {"amr": 0.33, "dm": 0.2, "ucca": 0.33},
    # Vocabulary: encoder side, decoder side
    "model.word_vocabulary": {
        "paper-amr1": 9200, "paper-amr2": 18000, "paper-dm": 11000, "paper-ucca": 10000,
    },
    "model.node_vocabulary": {
        "paper-amr1": 7300, "paper-amr2": 12200, "paper-dm": 11000, "paper-ucca": 10000,
    },
}  # fmt: skip

# What the text says.
TEXT: dict[str, Any] = {
    "model.contextual_layers": "last",
    "model.contextual_tuned": False,  # "We fix BERT parameters"
    "model.punct_size": {"ucca": 50, "amr": 0, "dm": 0},  # section 4.1, without its size
    "model.source_candidates": "preceding",  # equation 11: all of h_{1:i}
    "model.unit_labels": True,  # section 3.1
    "train.force_copy": True,  # as the code that the paper extends does it
    "train.edge_smoothing": 0.0,
    "amr.anonymize": {"amr": True, "dm": False, "ucca": False},  # section 5
    "amr.senses": True,
    "amr.wiki": True,
    "amr.polarity": {"amr": True, "dm": False, "ucca": False},
    "train.annotator": {"amr": "auto", "dm": "none", "ucca": "auto"},
}

# What the paper leaves open.
OPEN: dict[str, Any] = {
    "model.word_vectors": "",  # a file of the user's
    "model.char_embedding": 100,
    "model.relation_size": 100,
    "model.attention_size": 256,
    "train.batch_tokens": 0,
    "train.accumulate": 1,
    "train.epochs": 120,
    "train.patience": 20,  # "with early stop based on the dev set"
    "train.evaluate_from": 1,
    "train.evaluate_every": 1,
    "train.precision": "auto",
    "decode.batch_tokens": 4000,
    "decode.nbest": 1,
    "amr.spotlight": "",  # an address of the user's
    "amr.rolesets": "",
}

# Everything beyond the paper is off.
OFF: dict[str, Any] = {
    "model.contextual_depth": 0,
    "model.contextual_rank": 0,
    "model.contextual_size": 0,
    "model.anchored": False,
    "model.copy_attention": False,
    "model.pointer_reach": 0,
    "model.link_size": 0,
    "model.frame_size": 0,
    "model.copy_ways": "concept",
    "train.updates": 0,
    "train.minutes": 0,
    "train.contextual_rate": 0.00002,  # says something only where the encoder is tuned
    "train.contextual_from": "",
    "train.start_from": "",
    "train.warmup": 0,
    "train.schedule": "constant",
    "train.link_loss": 1.0,  # says something only with links
    "train.link_smoothing": 0.0,
    "train.frame_loss": 0.5,  # says something only with frames
    "train.word_dropout": 0.0,
    "train.feature_dropout": 0.0,
    "train.subword_dropout": 0.0,
    "train.moving_average": 0.0,
    "decode.unique_core_roles": False,
    "decode.limit_copies": False,
    "decode.length_penalty": 0.0,
    "decode.int8": False,
    "decode.node_temperature": 1.0,
    "decode.edge_temperature": 1.0,
    "amr.gazetteer": "",
}

EVERYTHING = {**TABLE, **TEXT, **OPEN, **OFF}


@pytest.mark.parametrize("name", TASKS)
def test_every_value_of_a_paper_recipe(name: str) -> None:
    config = load_recipe(name)
    found = {
        f"{section}.{key}": value
        for section, values in config.to_dict().items()
        if isinstance(values, dict)
        for key, value in values.items()
    }
    expected = {
        key: value.get(name, value.get(TASKS[name])) if isinstance(value, dict) else value
        for key, value in EVERYTHING.items()
    }
    assert config.task == TASKS[name]
    assert found == expected


def test_nothing_is_said_twice() -> None:
    assert len(EVERYTHING) == sum(len(part) for part in (TABLE, TEXT, OPEN, OFF))
