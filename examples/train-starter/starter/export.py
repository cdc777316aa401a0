"""The model's folder, as `svc transcribe` reads it."""

import json
import re
from collections import Counter
from pathlib import Path

import numpy as np

from .features import BINS
from .model import LETTERS, CtcNetwork
from .sentences import written_words

# How much the words weigh beside the sound; chosen on sentences that are neither learnt from nor measured with.
WORDS = {"file": "words.txt", "weight": 0.8, "unknown": -12, "pairs_file": "pairs.txt", "pair": 4}
# So often two words must have followed each other.
_LEAST_PAIRS = 3


def export(network: CtcNetwork, texts: list[str], dictionary: Path, folder: Path) -> None:
    """`config.json`, `vocab.json`, the words of `texts` and a dictionary, and the weights in half precision."""
    folder.mkdir(parents=True, exist_ok=True)
    config = {
        "model_type": "ctc",
        "languages": ["en"],
        "features": {"type": "log_mel", "bins": BINS, "pad_sec": 0.2},
        "words": WORDS,
        "layers": network.described,
    }
    _write_lines(folder / WORDS["file"], known_words(texts, dictionary))
    _write_lines(folder / WORDS["pairs_file"], frequent_pairs(texts))
    _write_json(folder / "config.json", config)
    _write_json(folder / "vocab.json", {letter: i for i, letter in enumerate(LETTERS)})
    tensors = {name: value.numpy().astype("<f2") for name, value in network.tensors().items()}
    write_safetensors(folder / "model.safetensors", tensors)


def known_words(texts: list[str], dictionary: Path) -> list[str]:
    """Those of `texts` that are words of English, most frequent first; then the others of the dictionary."""
    lines = dictionary.read_text(encoding="utf-8").splitlines()
    listed = sorted({word for word in lines if re.fullmatch(r"[a-z]+", word)})
    english = {*listed, *written_words()}
    frequent = [word for word, _ in Counter(word for text in texts for word in text.split()).most_common() if word in english]
    heard = set(frequent)
    return [*frequent, *(word for word in listed if word not in heard)]


def frequent_pairs(texts: list[str]) -> list[str]:
    counts = Counter(pair for words in map(str.split, texts) for pair in zip(words, words[1:]))
    return [" ".join(pair) for pair, count in counts.most_common() if count >= _LEAST_PAIRS]


def write_safetensors(file: Path, tensors: dict[str, np.ndarray]) -> None:
    """Length of the header, the header in JSON, the numbers."""
    header, at = {}, 0
    for name, value in tensors.items():
        header[name] = {"dtype": "F16", "shape": list(value.shape), "data_offsets": [at, at + value.nbytes]}
        at += value.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(file, "wb") as out:
        out.write(len(text).to_bytes(8, "little"))
        out.write(text)
        for value in tensors.values():
            out.write(np.ascontiguousarray(value).tobytes())


def _write_lines(file: Path, lines: list[str]) -> None:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _write_json(file: Path, value: object) -> None:
    file.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
