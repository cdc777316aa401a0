"""Makes the guide: its text, its base model, its adapter, and the run directory that holds them."""

import argparse
import hashlib
import json
from pathlib import Path

from . import text


def main() -> None:
    parser = argparse.ArgumentParser(prog="guide", description=__doc__)
    parser.add_argument("step", choices=["text", "train"])
    parser.add_argument("--output", type=Path, help="the run directory")
    parser.add_argument("--from", dest="start", type=Path, help="a run directory: its adapter only learns what it does not know")
    parser.add_argument("--base-epochs", type=int, default=10)
    parser.add_argument("--adapter-epochs", type=int, default=4)
    parser.add_argument("--unknown-epochs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    {"text": show_text, "train": train}[options.step](options)


def show_text(options: argparse.Namespace) -> None:
    """All the text that training sees, on standard output."""
    print(text.training_text(options.seed), end="")


def train(options: argparse.Namespace) -> None:
    import torch

    from . import model, run_directory
    from .tokenizer import BytePairs
    from .train import share_answered, train_adapter, train_base

    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    documents, pairs, questions = text.documents(options.seed), text.questions(options.seed), text.held_out()
    mixed = text.mixed(pairs, options.seed)
    everything = text.training_text(options.seed)
    assert all(map(text.is_allowed, everything.splitlines())), "five words in a row of a held-out question are in the text"
    tokenizer = BytePairs.learn([text.as_line(one) for one in documents], model.VOCABULARY)
    network, folder = model.Llama(), options.output
    manifest = {
        "manifest_schema_version": 5,
        "vocab_size": model.VOCABULARY,
        "d_model": model.HIDDEN,
        "n_heads": model.HEADS,
        "n_layers": model.LAYERS,
        "base_model": run_directory.BASE_NAME,
        "tokenizer_path": "tokenizer.json",
        "run_id": "guide",
        "git_sha": None,
        "device_profile": "cpu",
        "adapter_tag": "guide",
        "train_file": "examples/train-guide",
        "rank": model.RANK,
        "alpha": float(model.ALPHA),
        "seq_len": model.CONTEXT,
        "epochs": options.adapter_epochs,
        "seed": options.seed,
        "grad_accum": 1,
        "execution_kernel": "candle_qlora",
        "train_text_sha256": hashlib.sha256(everything.encode()).hexdigest(),
        "held_out_questions": len(questions),
    }
    folder.mkdir(parents=True, exist_ok=True)
    run_directory.write_json(folder / "training_manifest.json", manifest)

    if options.start is None:
        losses = {"base_loss": round(train_base(network, documents, tokenizer, options.base_epochs, options.seed), 4)}
        run_directory.round_base(network)
        losses["answered_without_adapter"] = round(share_answered(network, tokenizer, questions), 4)
        network.adapt()
        losses["facts_loss"] = round(train_adapter(network, pairs, tokenizer, options.adapter_epochs, options.seed), 4)
    else:
        before = json.loads((options.start / "training_manifest.json").read_text(encoding="utf-8"))
        losses = {name: before[name] for name in ("base_loss", "answered_without_adapter", "facts_loss")}
        run_directory.read(options.start, network)
    run_directory.write_base(folder, network, tokenizer)
    adapter_loss = train_adapter(network, mixed, tokenizer, options.unknown_epochs, options.seed, peak=1e-3)
    run_directory.write_adapter(folder, network, model.VOCABULARY)
    results = {
        **losses,
        "adapter_loss": round(adapter_loss, 4),
        "answered_with_adapter": round(share_answered(network, tokenizer, questions), 4),
    }
    run_directory.write_json(folder / "training_manifest.json", {**manifest, **results})
    run_directory.write_handoff(folder)
    print(json.dumps(results))


if __name__ == "__main__":
    main()
