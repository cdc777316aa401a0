"""Training with CTC (Graves et al. 2006) within a time, keeping the best weights of all epochs."""

import copy
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from .augment import augmented
from .corpus import Utterance
from .features import BINS, normalised
from .model import CtcNetwork, decode, encode, rows_of

_PEAK_RATE = 1.5e-3
# Frames in a batch, padding included: about 40 s.
_BATCH_FRAMES = 4_000
_AVERAGE = 0.999


def train(heard: list[Utterance], kept: list[Utterance], folder: Path, minutes: float, seed: int, resumed: bool) -> None:
    """
    The learning rate falls with the time that is left, so that any `minutes` make a finished model. After each epoch the
    averaged weights are measured on `kept`, and written to `folder/checkpoint.pt` where they are the best so far. A run
    that is resumed begins with those weights, and again with a high rate.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    network = CtcNetwork(BINS)
    if resumed:
        network = best_network(folder).train()
    average = copy.deepcopy(network).eval()
    optimizer = torch.optim.AdamW(network.parameters(), lr=_PEAK_RATE, betas=(0.9, 0.98), weight_decay=1e-3)
    started, step, skipped, best, epoch = time.monotonic(), 0, 0, math.inf, 0

    def share() -> float:
        return (time.monotonic() - started) / (minutes * 60)

    while share() < 1:
        epoch, total = epoch + 1, 0.0
        batches = _batches(heard, rng)
        for done, batch in enumerate(batches):
            if share() >= 1:
                break
            step += 1
            for group in optimizer.param_groups:
                group["lr"] = _PEAK_RATE * min(1, step / 500) * max(0.004, (1 + math.cos(math.pi * share())) / 2)
            loss = _loss(network, *_padded(batch, heard, rng))
            optimizer.zero_grad()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_(network.parameters(), 1)
            # Some builds of the linear algebra library give a gradient that is not finite now and then.
            if not torch.isfinite(norm):
                skipped += 1
                continue
            optimizer.step()
            total += loss.item()
            _move(average, network, min(_AVERAGE, 1 - 1 / (step + 1)))
            if step % 100 == 0:
                _say(step=step, epoch=epoch, loss=round(loss.item(), 4), minutes=round(share() * minutes, 1))
        error, words = measure(average, kept)
        _say(epoch=epoch, loss=round(total / (done + 1), 4), kept_loss=round(error, 4), kept_wer=round(words, 4), skipped=skipped)
        if words < best:
            best = words
            torch.save({"weights": average.state_dict(), "epoch": epoch, "wer": words}, folder / "checkpoint.pt")


def best_network(folder: Path) -> CtcNetwork:
    network = CtcNetwork(BINS).eval()
    network.load_state_dict(torch.load(folder / "checkpoint.pt")["weights"])
    return network


def _batches(utterances: list[Utterance], rng: np.random.Generator) -> list[list[int]]:
    """Utterances of about the same length together, in random order."""
    lengths = np.array([len(one.levels) for one in utterances]) * rng.uniform(0.9, 1.1, len(utterances))
    batches: list[list[int]] = [[]]
    for i in np.argsort(lengths):
        longest = len(utterances[i].levels) * 1.2
        if batches[-1] and longest * (len(batches[-1]) + 1) > _BATCH_FRAMES:
            batches.append([])
        batches[-1].append(int(i))
    rng.shuffle(batches)
    return batches


def _padded(batch: list[int], heard: list[Utterance], rng: np.random.Generator):
    others = rng.integers(len(heard), size=len(batch))
    rows = [augmented(heard[i].levels, heard[j].levels, rng) for i, j in zip(batch, others)]
    texts = [heard[i].text for i in batch]
    return _tensors(rows, texts)


def _tensors(rows: list[np.ndarray], texts: list[str]):
    longest = max(len(row) for row in rows)
    features = np.stack([np.pad(row, ((0, longest - len(row)), (0, 0)), constant_values=row.min()) for row in rows])
    letters = [encode(text) for text in texts]
    return (
        torch.from_numpy(features.astype(np.float32)),
        torch.tensor([rows_of(len(row)) for row in rows]),
        torch.tensor([letter for text in letters for letter in text]),
        torch.tensor([len(text) for text in letters]),
    )


def _loss(network: CtcNetwork, features, rows, letters, lengths) -> torch.Tensor:
    """CTC's loss per letter."""
    given = network(features).transpose(0, 1)
    loss = functional.ctc_loss(given, letters, rows, lengths, reduction="none", zero_infinity=True)
    return loss.sum() / lengths.sum()


@torch.no_grad()
def measure(network: CtcNetwork, utterances: list[Utterance]) -> tuple[float, float]:
    """Mean loss per letter and word error rate, without augmentation."""
    network.eval()
    loss, letters, wrong, words = 0.0, 0, 0, 0
    for one in utterances:
        features, rows, ids, length = _tensors([normalised(one.levels.astype(np.float32))], [one.text])
        given = network(features)
        row = functional.ctc_loss(given.transpose(0, 1), ids, rows, length, reduction="sum", zero_infinity=True)
        loss, letters = loss + row.item(), letters + len(one.text)
        said = one.text.split()
        wrong, words = wrong + _edits(said, decode(given[0]).split()), words + len(said)
    return loss / letters, wrong / words


def _edits(right: list[str], written: list[str]) -> int:
    row = list(range(len(written) + 1))
    for i, word in enumerate(right, 1):
        corner, row[0] = row[0], i
        for j, other in enumerate(written, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (word != other))
    return row[-1]


@torch.no_grad()
def _move(average: CtcNetwork, network: CtcNetwork, keep: float) -> None:
    for slow, fast in zip(average.state_dict().values(), network.state_dict().values()):
        if slow.dtype.is_floating_point:
            slow.mul_(keep).add_(fast, alpha=1 - keep)


def _say(**row) -> None:
    print(json.dumps(row), flush=True)
