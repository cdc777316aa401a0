"""Speech to learn from and to be measured with: synthesised sentences, and recorded digits."""

import json
import random
from dataclasses import dataclass
from multiprocessing import Pool
from pathlib import Path

import numpy as np
from scipy.signal import fftconvolve

from .features import BINS, RATE, log_powers
from .sentences import sentence, spelling_words, transcript
from .voices import UNSEEN_VOICE, Voice, draw_voice, read_wave, speak, speak_together, write_wave

DIGITS = "zero one two three four five six seven eight nine".split()
# Of the recorded digits: never heard in training.
UNSEEN_SPEAKER = "jackson"
# Takes of every speaker that are kept for validation, as the data set's authors do.
VALIDATION_TAKES = 5

_TOGETHER = 40


@dataclass
class Utterance:
    """A text and its sound: mel levels `[frames, BINS]` in half precision."""

    text: str
    levels: np.ndarray


def synthesise(counts: dict[str, int], dictionary: str, seed: int, processes: int) -> list[Utterance]:
    """So many sentences of each synthesiser, each with a voice of its own, some of them in a room."""
    jobs: list[tuple[int, list[tuple[Voice, str]]]] = []
    for engine, pairs in drawn(counts, dictionary, seed).items():
        rng = random.Random(f"{seed} {engine} sound")
        jobs += [(rng.getrandbits(31), pairs[i : i + _TOGETHER]) for i in range(0, len(pairs), _TOGETHER)]
    # Festival's jobs take longest, so that they come first.
    jobs.sort(key=lambda job: job[1][0][0].engine != "festival")
    with Pool(processes) as pool:
        return [one for some in pool.imap_unordered(_synthesise_some, jobs) for one in some]


def drawn(counts: dict[str, int], dictionary: str, seed: int) -> dict[str, list[tuple[Voice, str]]]:
    """What is said, and with which voice, by synthesiser."""
    words = spelling_words(dictionary)
    pairs = {}
    for engine, count in counts.items():
        rng = random.Random(f"{seed} {engine}")
        pairs[engine] = [(draw_voice(rng, engine), sentence(rng, words)) for _ in range(count)]
    return pairs


def _synthesise_some(job: tuple[int, list[tuple[Voice, str]]]) -> list[Utterance]:
    seed, pairs = job
    rng = np.random.default_rng(seed)
    if pairs[0][0].engine == "festival":
        sounds = speak_together([voice for voice, _ in pairs], [text for _, text in pairs])
    else:
        sounds = [speak(voice, text) for voice, text in pairs]
    return [_utterance(text, sound, rng) for (_, text), sound in zip(pairs, sounds)]


def _utterance(text: str, sound: np.ndarray, rng: np.random.Generator) -> Utterance:
    sound = np.pad(sound, (rng.integers(0, RATE // 3), rng.integers(0, RATE // 3)))
    if rng.random() < 0.15:
        sound = in_a_room(sound, rng)
    sound = sound / max(1e-3, np.abs(sound).max()) * rng.uniform(0.05, 0.9)
    # The faint noise of a sound card, so that pauses are not all of digital silence.
    if rng.random() < 0.7:
        sound = sound + rng.standard_normal(len(sound)).astype(np.float32) * 10 ** rng.uniform(-5, -3.3)
    return Utterance(transcript(text), log_powers(sound.astype(np.float32)).astype(np.float16))


def in_a_room(sound: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """With the echo of a room: noise that dies away within 0.1 to 0.5 s, after the sound itself."""
    seconds = rng.uniform(0.1, 0.5)
    length = int(seconds * RATE)
    echo = rng.standard_normal(length) * 10 ** (-3 * np.arange(length) / length)
    echo *= rng.uniform(0.2, 0.8) / np.sqrt((echo**2).sum())
    echo[0] = 1
    return fftconvolve(sound, echo)[: len(sound)].astype(np.float32)


def digit_takes(folder: Path) -> dict[str, list[tuple[int, int, np.ndarray]]]:
    """Recorded digits by speaker, as digit, number of the take, and sound."""
    takes: dict[str, list[tuple[int, int, np.ndarray]]] = {}
    for file in sorted(folder.glob("*.wav")):
        digit, speaker, take = file.stem.split("_")
        takes.setdefault(speaker, []).append((int(digit), int(take), read_wave(file)))
    return takes


def digit_rows(folder: Path, count: int, seed: int) -> tuple[list[Utterance], list[Utterance]]:
    """Rows of one to five recorded digits of one speaker, to learn from and to validate with."""
    rng = np.random.default_rng(seed)
    rows: tuple[list[Utterance], list[Utterance]] = ([], [])
    for speaker, takes in digit_takes(folder).items():
        if speaker == UNSEEN_SPEAKER:
            continue
        kept = [take for take in takes if take[1] < VALIDATION_TAKES]
        heard = [take for take in takes if take[1] >= VALIDATION_TAKES]
        rows[0].extend(_digit_row(heard, int(rng.choice([1, 1, 2, 3, 4, 5])), rng) for _ in range(count))
        rows[1].extend(_digit_row([take], 1, rng) for take in kept)
    return rows


def _digit_row(takes: list[tuple[int, int, np.ndarray]], length: int, rng: np.random.Generator) -> Utterance:
    chosen = [takes[i] for i in rng.integers(0, len(takes), length)]
    parts: list[np.ndarray] = []
    for _, _, sound in chosen:
        parts += [np.zeros(rng.integers(RATE // 50, RATE // 3), np.float32), sound]
    return _utterance(" ".join(DIGITS[digit] for digit, _, _ in chosen), np.concatenate(parts), rng)


def save(file: Path, utterances: list[Utterance]) -> None:
    np.savez(
        file,
        levels=np.concatenate([one.levels for one in utterances]),
        lengths=np.array([len(one.levels) for one in utterances]),
        texts=np.array([one.text for one in utterances]),
    )


def load(file: Path) -> list[Utterance]:
    with np.load(file) as saved:
        levels, ends, texts = saved["levels"], np.cumsum(saved["lengths"]), saved["texts"]
    starts = np.concatenate([[0], ends[:-1]])
    assert levels.shape[1] == BINS
    return [Utterance(str(text), levels[a:b]) for text, a, b in zip(texts, starts, ends)]


def write_measures(folder: Path, heard: set[str], free: list[str], dictionary: str, digits: Path, seed: int) -> None:
    """
    Recordings to measure a model with, one folder and one list `clips.jsonl` each: sentences from the templates and free
    ones, by known voices and by the unseen one; and the unseen speaker's digits. No sentence is one of `heard`.
    """
    rng = random.Random(f"{seed} measures")
    words = spelling_words(dictionary)
    made: list[str] = []
    while len(made) < len(free):
        text = transcript(sentence(rng, words))
        if " the " in text and len(text.split()) > 4 and text not in {*heard, *made}:
            made.append(text)
    engines = ["espeak-ng", "flite", "flite", "festival"]
    for kind, texts in (("sentences", made), ("free-sentences", free)):
        known = [draw_voice(rng, engines[i % len(engines)]) for i in range(len(texts))]
        unseen = [Voice("flite", UNSEEN_VOICE, rng.uniform(0.9, 1.15)) for _ in texts]
        for whose, voices in (("known-voices", known), ("unseen-voice", unseen)):
            clips = ((text, speak(voice, text)) for text, voice in zip(texts, voices))
            _write_clips(folder / f"{whose}-{kind}", clips)
    takes = digit_takes(digits)[UNSEEN_SPEAKER]
    _write_clips(folder / "unseen-speaker-digits", ((DIGITS[digit], sound) for digit, _, sound in takes))


# Recordings that a newcomer tries first.
EXAMPLES = {
    "hello": (Voice("flite", "slt"), "hello and welcome to your own machine"),
    "question": (Voice("flite", "awb"), "how do i transcribe my recording"),
    "memo": (
        Voice("festival", "cmu_us_slt_arctic_hts"),
        "the server is ready and the tests have finished please restart the worker tomorrow morning",
    ),
    "digits": (Voice("flite", "kal16"), "four two seven zero nine"),
}


def write_examples(folder: Path) -> None:
    for name, (voice, text) in EXAMPLES.items():
        write_wave(folder / f"{name}.wav", np.pad(speak(voice, text), RATE // 5) * np.float32(0.8))


def _write_clips(folder: Path, clips) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "clips.jsonl", "w", encoding="utf-8") as rows:
        for i, (text, sound) in enumerate(clips):
            write_wave(folder / f"{i:03d}.wav", sound)
            rows.write(json.dumps({"path": f"{i:03d}.wav", "expected": text}) + "\n")
