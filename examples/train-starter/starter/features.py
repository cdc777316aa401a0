"""Mel powers of sound, and the log-mel features that the model is fed with: those of Whisper (Radford et al. 2022)."""

import numpy as np

RATE = 16_000
FRAME = 400
HOP = 160
BINS = 80
FLOOR = 1e-10


def _to_hz(mel: np.ndarray) -> np.ndarray:
    """Slaney's mel scale: linear below 1 kHz, logarithmic above."""
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))


def _filters() -> np.ndarray:
    """Triangles of area 1, `[BINS, FRAME / 2 + 1]`."""
    highest = 15 + np.log(RATE / 2 / 1000) * 27 / np.log(6.4)
    edges = _to_hz(np.linspace(0, highest, BINS + 2))
    hz = np.linspace(0, RATE / 2, FRAME // 2 + 1)
    low, middle, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    height = np.minimum((hz - low) / (middle - low), (high - hz) / (high - middle))
    return (np.maximum(0, height) * 2 / (high - low)).astype(np.float32)


FILTERS = _filters()
CENTRES = _to_hz(np.linspace(0, 15 + np.log(RATE / 2 / 1000) * 27 / np.log(6.4), BINS + 2))[1:-1]
_WINDOW = np.hanning(FRAME + 1)[:-1].astype(np.float32)


def log_powers(samples: np.ndarray) -> np.ndarray:
    """Log10 of mel powers, `[frames, BINS]`, one frame per 10 ms."""
    frames = -(-len(samples) // HOP)
    sound = np.pad(samples, (0, frames * HOP - len(samples)))
    sound = np.pad(sound, FRAME // 2, mode="reflect")
    windows = np.lib.stride_tricks.sliding_window_view(sound, FRAME)[: frames * HOP : HOP] * _WINDOW
    spectrum = np.fft.rfft(windows).astype(np.complex64)
    powers = (spectrum.real**2 + spectrum.imag**2) @ FILTERS.T
    return np.log10(np.maximum(powers, FLOOR)).astype(np.float32)


def normalised(levels: np.ndarray) -> np.ndarray:
    """Cut 80 dB below the loudest, and scaled to about -1 to 1."""
    return (np.maximum(levels, levels.max() - 8) + 4) / 4
