"""Other voices, rooms and noises out of the same speech, computed on mel levels: cheap enough for every epoch."""

import numpy as np

from .features import BINS, CENTRES, FILTERS, normalised

# Independent values that a filter's power is the mean of, so that noise of a bin varies as noise does.
_FREEDOM = np.maximum(1, (FILTERS > 0).sum(axis=1)).astype(np.float32)
_NARROW_BAND = int(np.searchsorted(CENTRES, 3700))


def _warps() -> list[tuple[np.ndarray, np.ndarray]]:
    """For a vocal tract of another length: where each bin is read, as lower bin and share of the next."""
    places = []
    for factor in np.linspace(0.85, 1.18, 20):
        at = np.interp(CENTRES * factor, CENTRES, np.arange(BINS))
        lower = np.minimum(at.astype(int), BINS - 2)
        places.append((lower, (at - lower).astype(np.float32)))
    return places


_WARPS = _warps()


def augmented(levels: np.ndarray, other: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """
    Features of one utterance as another speaker, elsewhere, might have said it.

    levels: `[frames, BINS]`, log10 of powers
    other: levels of any other utterance, heard in the background now and then
    returns: `[frames, BINS]`, normalised, with a little of it masked
    """
    levels = levels.astype(np.float32)

    def happens(share: float) -> bool:
        return rng.random() < share

    if happens(0.3):
        levels = _in_time(levels, rng.uniform(0.87, 1.2))
    if happens(0.45):
        lower, share = _WARPS[rng.integers(len(_WARPS))]
        levels = levels[:, lower] * (1 - share) + levels[:, lower + 1] * share
    if happens(0.3):
        levels = levels + _equaliser(rng)
    if happens(0.2):
        levels = _with_noise(levels, other, rng)
    if happens(0.08):
        levels[:, _NARROW_BAND:] = np.minimum(levels[:, _NARROW_BAND:], levels.max() - rng.uniform(5, 8))
    features = normalised(levels)
    return _masked(features, rng) if happens(0.35) else features


def _in_time(levels: np.ndarray, rate: float) -> np.ndarray:
    at = np.linspace(0, len(levels) - 1, max(2, round(len(levels) / rate)))
    lower = np.minimum(at.astype(int), len(levels) - 2)
    share = (at - lower).astype(np.float32)[:, None]
    return levels[lower] * (1 - share) + levels[lower + 1] * share


def _equaliser(rng: np.random.Generator) -> np.ndarray:
    """A smooth curve over the bins, of some dB, as microphones and rooms have."""
    return np.interp(np.arange(BINS), np.linspace(0, BINS - 1, 6), rng.normal(0, 0.3, 6)).astype(np.float32)


def _with_noise(levels: np.ndarray, other: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    powers = 10**levels
    if rng.random() < 0.25:
        shift = rng.integers(len(other))
        noise = 10 ** np.resize(np.roll(other.astype(np.float32), shift, axis=0), levels.shape)
    else:
        curve = np.interp(np.arange(BINS), np.linspace(0, BINS - 1, 5), np.cumsum(rng.normal(-0.2, 0.6, 5)))
        noise = 10**curve * rng.standard_gamma(np.broadcast_to(_FREEDOM, levels.shape)) / _FREEDOM
    ratio = 10 ** (rng.uniform(6, 35) / 10)
    scale = powers.mean() / max(1e-20, noise.mean()) / ratio
    return np.log10(powers + noise * scale).astype(np.float32)


def _masked(features: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Some bins and some frames hidden. Source: SpecAugment (Park et al. 2019)."""
    quiet = features.mean()
    width, start = rng.integers(0, 12), rng.integers(0, BINS)
    features[:, start : start + width] = quiet
    for _ in range(2):
        width, start = rng.integers(0, 12), rng.integers(0, len(features))
        features[start : start + width] = quiet
    return features
