"""
Makes the starter speech model: synthesises speech, learns from it and from recorded digits, writes the model's folder.
"""

import argparse
import random
from pathlib import Path

from . import corpus
from .sentences import transcript

# Of all sentences, by synthesiser.
SHARES = {"espeak-ng": 0.35, "flite": 0.4, "festival": 0.25}


def main() -> None:
    parser = argparse.ArgumentParser(prog="starter", description=__doc__)
    parser.add_argument("step", choices=["speech", "train", "export", "measures", "clips"])
    parser.add_argument("--work", type=Path, required=True, help="folder for speech and checkpoints")
    parser.add_argument("--output", type=Path, help="folder of the model")
    parser.add_argument("--digits", type=Path, help="recordings of the Free Spoken Digit Dataset")
    parser.add_argument("--dictionary", default="/usr/share/dict/american-english-small")
    parser.add_argument("--minutes", type=float, default=66, help="of training")
    parser.add_argument("--resume", action="store_true", help="go on with the best weights so far")
    parser.add_argument("--sentences", type=int, default=14000)
    parser.add_argument("--processes", type=int, default=2, help="that synthesise")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    {"speech": speech, "train": learn, "export": write, "measures": measures, "clips": clips}[options.step](options)


def speech(options: argparse.Namespace) -> None:
    """Sentences of all synthesisers, and rows of recorded digits; 400 of all are kept for validation."""
    options.work.mkdir(parents=True, exist_ok=True)
    utterances = corpus.synthesise(counts(options), options.dictionary, options.seed, options.processes)
    random.Random(options.seed).shuffle(utterances)
    rows, kept_rows = corpus.digit_rows(options.digits, round(options.sentences / 20), options.seed)
    corpus.save(options.work / "kept.npz", utterances[:300] + kept_rows[:100])
    corpus.save(options.work / "heard.npz", utterances[300:] + rows)


def counts(options: argparse.Namespace) -> dict[str, int]:
    return {engine: round(options.sentences * share) for engine, share in SHARES.items()}


def learn(options: argparse.Namespace) -> None:
    import torch

    from .train import train

    torch.set_num_threads(1)
    heard, kept = (corpus.load(options.work / name) for name in ("heard.npz", "kept.npz"))
    train(heard, kept, options.work, options.minutes, options.seed, options.resume)


def write(options: argparse.Namespace) -> None:
    from .export import export
    from .train import best_network

    texts = [one.text for one in corpus.load(options.work / "heard.npz")]
    export(best_network(options.work), texts, Path(options.dictionary), options.output)


def measures(options: argparse.Namespace) -> None:
    lines = (Path(__file__).parent / "unseen-sentences.txt").read_text(encoding="utf-8").splitlines()
    pairs = corpus.drawn(counts(options), options.dictionary, options.seed)
    heard = {transcript(text) for some in pairs.values() for _, text in some}
    corpus.write_measures(options.work / "measures", heard, lines, options.dictionary, options.digits, options.seed)


def clips(options: argparse.Namespace) -> None:
    corpus.write_examples(options.output)


if __name__ == "__main__":
    main()
