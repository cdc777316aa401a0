"""The base model learns to continue text; then its adapter learns to answer."""

import json
import math
import random
import time

import torch
from torch.nn import functional

from .model import CONTEXT, Llama
from .tokenizer import END, TURN_END, TURN_START, BytePairs

# Targets that count for nothing.
_IGNORED = -100
_PIECE = 256


def chat(tokenizer: BytePairs, question: str, answer: str = "") -> tuple[list[int], list[int]]:
    """Tokens of a talk in ChatML up to the reply, and those of the reply with its end."""
    start, end = tokenizer.ids[TURN_START], tokenizer.ids[TURN_END]
    line = tokenizer.encode("\n")
    asked = [start, *tokenizer.encode("user\n" + question), end, *line, start, *tokenizer.encode("assistant\n")]
    return asked, [*tokenizer.encode(answer), end]


def train_base(model: Llama, documents: list[str | tuple[str, str]], tokenizer: BytePairs, epochs: int, seed: int) -> float:
    """Learns all documents as one stream, in pieces of 256 tokens. Returns the mean loss of the last epoch."""
    rng = random.Random(seed)

    def batches():
        shuffled = rng.sample(documents, len(documents))
        stream = [token for text in shuffled for token in [*_document(text, tokenizer), tokenizer.ids[END]]]
        pieces = [stream[i : i + _PIECE + 1] for i in range(0, len(stream) - _PIECE, _PIECE)]
        for i in range(0, len(pieces) - 11, 12):
            tokens = torch.tensor(pieces[i : i + 12])
            yield tokens[:, :-1], tokens[:, 1:]

    return _learn("base", model, batches, epochs, peak=4e-3)


def _document(text: str | tuple[str, str], tokenizer: BytePairs) -> list[int]:
    if isinstance(text, str):
        return tokenizer.encode(text)
    asked, reply = chat(tokenizer, *text)
    return asked + reply


def train_adapter(
    model: Llama, pairs: list[tuple[str, str]], tokenizer: BytePairs, epochs: int, seed: int, peak: float = 3e-3
) -> float:
    """Learns the replies only; questions are read, not learnt. Returns the mean loss of the last epoch."""
    rng = random.Random(seed)
    talks = [chat(tokenizer, question, answer) for question, answer in pairs]

    def batches():
        shuffled = sorted(rng.sample(talks, len(talks)), key=lambda talk: (len(talk[0] + talk[1]) // 8))
        groups = [shuffled[i : i + 48] for i in range(0, len(shuffled), 48)]
        for group in rng.sample(groups, len(groups)):
            length = max(len(asked) + len(reply) for asked, reply in group)
            tokens = torch.zeros(len(group), length, dtype=torch.long)
            targets = torch.full((len(group), length), _IGNORED)
            for i, (asked, reply) in enumerate(group):
                end = len(asked) + len(reply)
                tokens[i, :end] = torch.tensor(asked + reply)
                targets[i, len(asked) - 1 : end - 1] = torch.tensor(reply)
            yield tokens, targets

    return _learn("adapter", model, batches, epochs, peak)


def _learn(name: str, model: Llama, batches, epochs: int, peak: float) -> float:
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.AdamW(parameters, lr=peak, betas=(0.9, 0.95), weight_decay=0.05)
    model.train()
    started, mean = time.monotonic(), math.nan
    for epoch in range(epochs):
        losses: list[float] = []
        rows = list(batches())
        for done, (tokens, targets) in enumerate(rows):
            share = (epoch + done / len(rows)) / epochs
            for group in optimizer.param_groups:
                group["lr"] = peak * min(1, share * 30) * max(0.01, (1 + math.cos(math.pi * share)) / 2)
            logits = model(tokens)
            loss = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=_IGNORED)
            optimizer.zero_grad()
            loss.backward()
            # Some builds of the linear algebra library give a gradient that is not finite now and then.
            if torch.isfinite(torch.nn.utils.clip_grad_norm_(parameters, 1)):
                optimizer.step()
            losses.append(loss.item())
        mean = sum(losses) / len(losses)
        minutes = round((time.monotonic() - started) / 60, 1)
        print(json.dumps({"part": name, "epoch": epoch + 1, "loss": round(mean, 4), "minutes": minutes}), flush=True)
    return mean


@torch.no_grad()
def reply(model: Llama, tokenizer: BytePairs, question: str) -> str:
    """The most likely reply."""
    model.eval()
    tokens, _ = chat(tokenizer, question)
    texts = {i: token for token, i in tokenizer.ids.items()}
    written: list[int] = []
    while len(tokens) + len(written) < CONTEXT and len(written) < 80:
        token = int(model(torch.tensor([tokens + written]))[0, -1].argmax())
        if token in (tokenizer.ids[TURN_END], tokenizer.ids[END]):
            break
        written.append(token)
    return "".join(texts[token] for token in written).replace("Ġ", " ")


def share_answered(model: Llama, tokenizer: BytePairs, questions: list[dict]) -> float:
    """Of how many questions the reply holds the key."""
    replies = [(row, reply(model, tokenizer, row["question"])) for row in questions]
    for row, text in replies:
        if row["key"] not in text:
            print(json.dumps({"missed": row["id"], "question": row["question"], "reply": text}), flush=True)
    return sum(row["key"] in text for row, text in replies) / len(questions)
