"""A small Llama (Touvron et al. 2023) in PyTorch, with LoRA (Hu et al. 2021) beside its projections."""

import math

import torch
from torch import nn
from torch.nn import functional

VOCABULARY = 1536
HIDDEN = 160
LAYERS = 6
HEADS = 5
HEAD = HIDDEN // HEADS
INNER = 432
CONTEXT = 512
EPSILON = 1e-5
THETA = 10_000.0
RANK = 32
ALPHA = 64

# Logical names of the projections in an adapter's manifest, and the modules they stand for.
PROJECTIONS = {
    "q": "self_attn.q_proj",
    "k": "self_attn.k_proj",
    "v": "self_attn.v_proj",
    "o": "self_attn.o_proj",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}


class Projection(nn.Module):
    """`y = W x`, and `+ scale * B A x` once there is an adapter."""

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(outputs, inputs) * 0.7 / math.sqrt(inputs))
        self.lora_a: nn.Parameter | None = None
        self.lora_b: nn.Parameter | None = None

    def adapt(self) -> None:
        outputs, inputs = self.weight.shape
        self.weight.requires_grad_(False)
        self.lora_a = nn.Parameter(torch.randn(RANK, inputs) / math.sqrt(inputs))
        self.lora_b = nn.Parameter(torch.zeros(outputs, RANK))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = functional.linear(x, self.weight)
        if self.lora_a is None:
            return y
        low = functional.dropout(x, 0.05, self.training)
        return y + ALPHA / RANK * functional.linear(functional.linear(low, self.lora_a), self.lora_b)


class Norm(nn.Module):
    """Root mean square norm (Zhang and Sennrich 2019)."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPSILON) * self.weight


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            self.add_module(name, Projection(HIDDEN, HIDDEN))

    def forward(self, x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor], mask: torch.Tensor) -> torch.Tensor:
        """`x`: `[batch, positions, HIDDEN]`; `mask`: `[positions, positions]`, added to the scores."""
        batch, positions, _ = x.shape
        q, k, v = (
            project(x).view(batch, positions, HEADS, HEAD).transpose(1, 2)
            for project in (self.q_proj, self.k_proj, self.v_proj)
        )
        scores = _turned(q, turn) @ _turned(k, turn).transpose(-1, -2) / math.sqrt(HEAD) + mask
        mixed = torch.softmax(scores, dim=-1) @ v
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, positions, HIDDEN))


class FeedForward(nn.Module):
    """SwiGLU (Shazeer 2020)."""

    def __init__(self):
        super().__init__()
        self.gate_proj = Projection(HIDDEN, INNER)
        self.up_proj = Projection(HIDDEN, INNER)
        self.down_proj = Projection(INNER, HIDDEN)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.input_layernorm, self.post_attention_layernorm = Norm(), Norm()
        self.self_attn, self.mlp = Attention(), FeedForward()

    def forward(self, x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor], mask: torch.Tensor) -> torch.Tensor:
        x = x + self.self_attn(self.input_layernorm(x), turn, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed_tokens = nn.Embedding(VOCABULARY, HIDDEN)
        nn.init.normal_(self.embed_tokens.weight, std=0.05)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = Norm()


class Llama(nn.Module):
    """Tokens `[batch, positions]` to logits `[batch, positions, VOCABULARY]`; the head is the embedding."""

    def __init__(self):
        super().__init__()
        self.model = Decoder()

    def adapt(self) -> None:
        """From now on only the adapter learns."""
        for parameter in self.parameters():
            parameter.requires_grad_(False)
        for module in self.modules():
            if isinstance(module, Projection):
                module.adapt()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        positions = tokens.shape[1]
        turn = _rotation(positions)
        mask = torch.full((positions, positions), -torch.inf).triu(1)
        x = self.model.embed_tokens(tokens)
        for layer in self.model.layers:
            x = layer(x, turn, mask)
        return functional.linear(self.model.norm(x), self.model.embed_tokens.weight)


def _rotation(positions: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines of rotary positions (Su et al. 2021), `[positions, HEAD]`, the two halves alike."""
    frequencies = THETA ** (-torch.arange(0, HEAD, 2) / HEAD)
    angles = torch.outer(torch.arange(positions), frequencies).repeat(1, 2)
    return angles.cos(), angles.sin()


def _turned(x: torch.Tensor, turn: tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return x * turn[0] + torch.cat([-second, first], dim=-1) * turn[1]
