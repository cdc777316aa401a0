"""The network: what `config.json` describes, in PyTorch."""

import torch
from torch import nn

LETTERS = ["<pad>", "|", "'", *"abcdefghijklmnopqrstuvwxyz"]

_CHANNELS = 240
_DILATIONS = [1, 2, 4, 1, 2, 4]


def layers() -> list[dict]:
    """From 100 frames of 80 mel bins per second to 33 rows of letters: residual convolutions over about 2 s."""
    norm = {"type": "batch_norm", "activation": "relu"}

    def conv(name: str, channels: int, kernel: int, stride: int = 1, dilation: int = 1) -> dict:
        sizes = {"channels": channels, "kernel": kernel, "stride": stride, "dilation": dilation}
        return {"type": "conv1d", "name": name, **sizes}

    rows = [conv("conv0", _CHANNELS, 9, stride=3)]
    for i, dilation in enumerate(_DILATIONS, 1):
        wide = [{**norm, "name": f"norm{i}.wide"}, conv(f"conv{i}.wide", _CHANNELS, 5, dilation=dilation)]
        narrow = [{**norm, "name": f"norm{i}.narrow"}, conv(f"conv{i}.narrow", _CHANNELS, 1)]
        rows.append({"type": "residual", "layers": [*wide, *narrow]})
    return [*rows, {**norm, "name": "norm"}, {"type": "linear", "name": "letters", "channels": len(LETTERS)}]


class CtcNetwork(nn.Module):
    """`[batch, frames, bins]` to log-probabilities `[batch, rows, letters]`; each third frame makes a row."""

    def __init__(self, bins: int):
        super().__init__()
        self.described = layers()
        self.parts = nn.ModuleDict()
        self._add(self.described, bins)

    def _add(self, described: list[dict], channels: int) -> int:
        for layer in described:
            kind = layer["type"]
            if kind == "residual":
                channels = self._add(layer["layers"], channels)
                continue
            if kind == "conv1d":
                kernel, dilation = layer["kernel"], layer["dilation"]
                padding = dilation * (kernel - 1) // 2
                module = nn.Conv1d(channels, layer["channels"], kernel, layer["stride"], padding, dilation)
            elif kind == "batch_norm":
                module = nn.BatchNorm1d(channels)
            else:
                module = nn.Linear(channels, layer["channels"])
            self.parts[_key(layer)] = module
            channels = layer.get("channels", channels)
        return channels

    def tensors(self) -> dict[str, torch.Tensor]:
        """The weights and statistics by the names that `config.json` gives their layers."""
        named = {name.replace("/", "."): value for name, value in self.parts.state_dict().items()}
        return {name: value for name, value in named.items() if value.ndim > 0}

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        # Matrices are multiplied in bfloat16, which some processors do several times faster.
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=self.training):
            scores = self._run(self.described, features.transpose(1, 2)).transpose(1, 2)
        return torch.log_softmax(scores.float(), dim=-1)

    def _run(self, described: list[dict], x: torch.Tensor) -> torch.Tensor:
        """`x`: `[batch, channels, frames]`."""
        for layer in described:
            if layer["type"] == "residual":
                x = x + self._run(layer["layers"], x)
                continue
            module = self.parts[_key(layer)]
            x = module(x.transpose(1, 2)).transpose(1, 2) if layer["type"] == "linear" else module(x)
            if layer.get("activation") == "relu":
                x = torch.relu(x)
        return x


def _key(layer: dict) -> str:
    """Names of modules have no dots."""
    return layer["name"].replace(".", "/")


def rows_of(frames: int) -> int:
    return -(-frames // 3)


def encode(text: str) -> list[int]:
    return [LETTERS.index("|" if letter == " " else letter) for letter in text]


def decode(rows: torch.Tensor) -> str:
    """The most likely letter of each row, repetitions and blanks taken out. `rows`: `[rows, letters]`."""
    path = torch.unique_consecutive(rows.argmax(dim=-1)).tolist()
    return " ".join("".join(LETTERS[i] for i in path if i != 0).replace("|", " ").split())
