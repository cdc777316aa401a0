"""Byte-level byte pair encoding, learnt and applied. Source: Sennrich et al. 2016; Radford et al. 2019 (GPT-2)."""

import re
from collections import Counter

END, TURN_START, TURN_END = SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

# Words with the blank before them, as GPT-2 splits text that is ASCII.
_WORDS = re.compile(r"'s|'t|'re|'ve|'m|'ll|'d| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+")


def _letters() -> list[str]:
    """GPT-2's letters for the bytes 0 to 255: printable ones stand for themselves, the others follow from U+0100 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


_LETTERS = _letters()


class BytePairs:
    def __init__(self, merges: list[tuple[str, str]]):
        self.merges = merges
        self._rank = {pair: i for i, pair in enumerate(merges)}
        tokens = [*SPECIALS, *_LETTERS, *(a + b for a, b in merges)]
        self.ids = {token: i for i, token in enumerate(tokens)}
        self._known: dict[str, list[int]] = {}

    @classmethod
    def learn(cls, texts: list[str], size: int) -> "BytePairs":
        """Joins the most frequent pair of neighbours until there are `size` tokens."""
        counts = Counter(word for text in texts for word in _WORDS.findall(text))
        words = [([_LETTERS[byte] for byte in word.encode()], count) for word, count in sorted(counts.items())]
        merges: list[tuple[str, str]] = []
        while len(SPECIALS) + len(_LETTERS) + len(merges) < size:
            pairs: Counter[tuple[str, str]] = Counter()
            for parts, count in words:
                for pair in zip(parts, parts[1:]):
                    pairs[pair] += count
            best = min(pairs, key=lambda pair: (-pairs[pair], pair))
            merges.append(best)
            for parts, _ in words:
                _join(parts, best)
        return cls(merges)

    def encode(self, text: str) -> list[int]:
        return [token for word in _WORDS.findall(text) for token in self._word(word)]

    def _word(self, word: str) -> list[int]:
        if word not in self._known:
            parts = [_LETTERS[byte] for byte in word.encode()]
            while len(parts) > 1:
                best = min(zip(parts, parts[1:]), key=lambda pair: self._rank.get(pair, len(self._rank)))
                if best not in self._rank:
                    break
                _join(parts, best)
            self._known[word] = [self.ids[part] for part in parts]
        return self._known[word]

    def tokenizer_json(self) -> dict:
        """As Hugging Face's tokenizers write it."""
        byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": True}
        flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{"id": self.ids[token], "content": token, **flags} for token in SPECIALS],
            "normalizer": None,
            "pre_tokenizer": byte_level,
            "post_processor": None,
            "decoder": byte_level,
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "vocab": self.ids,
                "merges": [f"{a} {b}" for a, b in self.merges],
            },
        }


def _join(parts: list[str], pair: tuple[str, str]) -> None:
    i = 0
    while i < len(parts) - 1:
        if (parts[i], parts[i + 1]) == pair:
            parts[i : i + 2] = [pair[0] + pair[1]]
        i += 1
