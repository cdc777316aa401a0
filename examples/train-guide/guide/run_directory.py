"""The run directory that training leaves behind, as `svc serve` reads it."""

import json
from pathlib import Path

import torch

from . import model as shape
from .model import ALPHA, PROJECTIONS, RANK, Llama
from .tokenizer import END, TURN_END, TURN_START, BytePairs

BASE_NAME = "svc-guide-base"
ADAPTER = "candle_qlora_adapter.safetensors"
# The modules that an adapter changes, by their names in it.
TARGETS = {
    f"l{i}.{short}": f"model.layers.{i}.{module}"
    for i in range(shape.LAYERS)
    for short, module in PROJECTIONS.items()
}
CHATML = (
    "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)


def write_base(folder: Path, network: Llama, tokenizer: BytePairs) -> None:
    """Configuration, tokenizer, and the weights in bfloat16."""
    folder.mkdir(parents=True, exist_ok=True)
    ends = {"bos_token_id": tokenizer.ids[END], "eos_token_id": [tokenizer.ids[TURN_END], tokenizer.ids[END]]}
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": shape.VOCABULARY,
        "hidden_size": shape.HIDDEN,
        "intermediate_size": shape.INNER,
        "num_hidden_layers": shape.LAYERS,
        "num_attention_heads": shape.HEADS,
        "num_key_value_heads": shape.HEADS,
        "head_dim": shape.HEAD,
        "max_position_embeddings": shape.CONTEXT,
        "rms_norm_eps": shape.EPSILON,
        "rope_theta": shape.THETA,
        "hidden_act": "silu",
        "tie_word_embeddings": True,
        "torch_dtype": "bfloat16",
        **ends,
    }
    write_json(folder / "config.json", config)
    write_json(folder / "generation_config.json", ends)
    write_json(folder / "tokenizer.json", tokenizer.tokenizer_json())
    names = {"bos_token": END, "eos_token": TURN_END, "model_max_length": shape.CONTEXT}
    write_json(folder / "tokenizer_config.json", {**names, "chat_template": CHATML})
    weights = {name: value for name, value in network.state_dict().items() if ".lora_" not in name}
    write_safetensors(folder / "model.safetensors", weights, "BF16")


def round_base(network: Llama) -> None:
    """To what bfloat16 holds, so that the adapter learns beside the weights it will be used with."""
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(parameter.bfloat16().float())


def read(folder: Path, network: Llama) -> None:
    """Takes over the base model and the adapter of a run directory."""
    weights = read_safetensors(folder / "model.safetensors")
    network.adapt()
    for logical, value in read_safetensors(folder / ADAPTER).items():
        target, half = logical.rsplit(".", 1)
        weights[f"{TARGETS[target]}.{half}"] = value
    network.load_state_dict(weights)


def write_adapter(folder: Path, network: Llama, vocabulary: int) -> None:
    """The adapter's weights, and the manifest that says which weights of the base they change."""
    weights = network.state_dict()
    halves = {
        f"{logical}.{half}": weights[f"{module}.{half}"]
        for logical, module in TARGETS.items()
        for half in ("lora_a", "lora_b")
    }
    write_safetensors(folder / ADAPTER, halves, "F32")
    manifest = {
        "format": "svc_mens_adapter",
        "version": 3,
        "adapter_method": "lora",
        "quant": {"base_quant": "none", "double_quant": False},
        "base_key_map": {logical: f"{module}.weight" for logical, module in TARGETS.items()},
        "layer_order": list(TARGETS),
        "vocab": vocabulary,
        "d_model": shape.HIDDEN,
        "rank": RANK,
        "alpha": ALPHA,
        "base_model": BASE_NAME,
        "provenance": {"base_family": "llama", "license_class": "mit", "attribution_required": False},
    }
    write_json(folder / "adapter_manifest.json", manifest)


def write_handoff(folder: Path) -> None:
    """What another runtime needs to know; written last, when all that it names is there."""
    handoff = {
        "schema": "svc_external_serving_handoff_v1",
        "schema_version": 1,
        "backend_family": "openai-compatible",
        "base_model": BASE_NAME,
        "tokenizer_source": f"{folder.as_posix()}/tokenizer.json",
        "artifact_dir": folder.as_posix(),
        "prompt_format": "qwen_chatml_im_start",
        "adapter_path": ADAPTER,
        "notes": f"Serve with svc serve --model {folder.as_posix()}; set SVC_INFERENCE_URL and SVC_INFERENCE_MODEL for clients.",
    }
    write_json(folder / "external_serving_handoff_v1.json", handoff)


def write_json(file: Path, value: object) -> None:
    indent = None if file.name == "tokenizer.json" else 2
    file.write_text(json.dumps(value, indent=indent, ensure_ascii=False) + "\n", encoding="utf-8")


def write_safetensors(file: Path, tensors: dict[str, torch.Tensor], dtype: str) -> None:
    """Length of the header, the header in JSON, the numbers."""
    header, data = {}, []
    at = 0
    for name, value in tensors.items():
        narrow = value.detach().contiguous()
        bits = narrow.bfloat16().view(torch.int16) if dtype == "BF16" else narrow.float()
        data.append(bits.numpy().tobytes())
        header[name] = {"dtype": dtype, "shape": list(value.shape), "data_offsets": [at, at + len(data[-1])]}
        at += len(data[-1])
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data))


def read_safetensors(file: Path) -> dict[str, torch.Tensor]:
    data = file.read_bytes()
    start = 8 + int.from_bytes(data[:8], "little")
    tensors = {}
    for name, tensor in json.loads(data[8:start]).items():
        begin, end = (start + offset for offset in tensor["data_offsets"])
        dtype = torch.bfloat16 if tensor["dtype"] == "BF16" else torch.float32
        tensors[name] = torch.frombuffer(bytearray(data[begin:end]), dtype=dtype).view(tensor["shape"]).float()
    return tensors
