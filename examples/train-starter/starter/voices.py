"""Voices of three free synthesisers, and speech from them."""

import random
import subprocess
import tempfile
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.signal import resample_poly

RATE = 16_000

ESPEAK_ACCENTS = "en-us en-us en-gb en-gb-x-rp en-gb-scotland".split()
ESPEAK_VARIANTS = "f1 f2 f3 f5 m1 m2 m3 m5 m7 Andy Annie Lee Michael adam linda max".split()
FLITE_VOICES = ["slt", "slt", "awb", "awb", "kal16"]
FESTIVAL_VOICES = ["kal_diphone", "ked_diphone", "cmu_us_slt_arctic_hts"]

# Never heard in training.
UNSEEN_VOICE = "rms"


@dataclass(frozen=True)
class Voice:
    """One way of speaking: a synthesiser, its voice, and its rate and pitch where they can be set."""

    engine: str
    name: str
    # How much longer than usual words last.
    stretch: float = 1.0
    # espeak-ng: 0 to 99; flite: Hz, or 0 for the voice's own.
    pitch: int = 0


def draw_voice(rng: random.Random, engine: str) -> Voice:
    stretch = rng.uniform(0.85, 1.2)
    if engine == "espeak-ng":
        name = f"{rng.choice(ESPEAK_ACCENTS)}+{rng.choice(ESPEAK_VARIANTS)}"
        return Voice(engine, name, stretch, rng.randint(35, 65))
    if engine == "flite":
        name = rng.choice(FLITE_VOICES)
        middle = {"slt": 175, "awb": 130, "kal16": 105}[name]
        return Voice(engine, name, stretch, 0 if rng.random() < 0.5 else round(middle * rng.uniform(0.85, 1.2)))
    return Voice(engine, rng.choice(FESTIVAL_VOICES), stretch)


def speak(voice: Voice, text: str) -> np.ndarray:
    """Speech of `text`, mono at 16 kHz, floats between -1 and 1."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "speech.wav"
        subprocess.run(_command(voice, text, file), check=True, timeout=60, stdout=subprocess.DEVNULL)
        return read_wave(file)


def _command(voice: Voice, text: str, file: Path) -> list[str]:
    if voice.engine == "espeak-ng":
        words_per_minute = round(165 / voice.stretch)
        return ["espeak-ng", "-v", voice.name, "-s", f"{words_per_minute}", "-p", f"{voice.pitch}", "-w", f"{file}", text]
    if voice.engine == "flite":
        pitch = ["--setf", f"int_f0_target_mean={voice.pitch}"] if voice.pitch else []
        stretch = ["--setf", f"duration_stretch={voice.stretch:.2f}"]
        return ["flite", "-voice", voice.name, *stretch, *pitch, "-t", text, "-o", f"{file}"]
    return ["festival", "--batch", _scheme([voice], [text], [file])]


def speak_together(voices: list[Voice], texts: list[str]) -> list[np.ndarray]:
    """Speech of festival, which starts so slowly that many texts share one process."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{i}.wav" for i in range(len(texts))]
        script = Path(folder) / "speak.scm"
        script.write_text(_scheme(voices, texts, files))
        subprocess.run(["festival", "--batch", f"{script}"], check=True, timeout=1800, stdout=subprocess.DEVNULL)
        return [read_wave(file) for file in files]


def _scheme(voices: list[Voice], texts: list[str], files: list[Path]) -> str:
    return "\n".join(
        f"(begin (voice_{voice.name}) (Parameter.set 'Duration_Stretch {voice.stretch:.2f})"
        f' (utt.save.wave (utt.synth (Utterance Text "{text}")) "{file}" \'riff))'
        for voice, text, file in zip(voices, texts, files)
    )


def read_wave(file: Path) -> np.ndarray:
    """A WAV file of 16-bit samples as mono floats at 16 kHz."""
    with wave.open(f"{file}", "rb") as source:
        rate, channels = source.getframerate(), source.getnchannels()
        samples = np.frombuffer(source.readframes(source.getnframes()), "<i2").astype(np.float32) / 32768
    samples = samples.reshape(-1, channels).mean(axis=1)
    if rate == RATE:
        return samples
    common = np.gcd(rate, RATE)
    return resample_poly(samples, RATE // common, rate // common).astype(np.float32)


def write_wave(file: Path, samples: np.ndarray) -> None:
    with wave.open(f"{file}", "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(RATE)
        out.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
