/** A recording with a confidence and its accuracy, both from 0 to 1. */
export interface RatedSample {
  confidence: number
  /** 1 - word error rate, at least 0. */
  wordAccuracy: number
  isExact: boolean
}

const binCount = 10

/**
 * Compares confidences with accuracies in ten equal bins of confidence. The expected calibration error is the mean
 * difference between confidence and word accuracy over the bins, weighted by their recordings. Source: Naeini et al.,
 * "Obtaining Well Calibrated Probabilities Using Bayesian Binning", 2015.
 */
export function calibrate(samples: readonly RatedSample[]) {
  const bins = Array.from({length: binCount}, (_, i) => {
    const inBin = samples.filter(({confidence}) => Math.min(binCount - 1, Math.floor(binCount * confidence)) === i)
    const mean = (value: (sample: RatedSample) => number) =>
      inBin.reduce((sum, sample) => sum + value(sample), 0) / inBin.length
    return {
      from: i / binCount,
      to: (i + 1) / binCount,
      count: inBin.length,
      mean_confidence: mean(({confidence}) => confidence),
      exact: mean(({isExact}) => Number(isExact)),
      word_accuracy: mean(({wordAccuracy}) => wordAccuracy),
    }
  }).filter(({count}) => count > 0)
  const gaps = bins.map((bin) => bin.count * Math.abs(bin.mean_confidence - bin.word_accuracy))
  return {
    count: samples.length,
    bins,
    expected_calibration_error: gaps.reduce((sum, gap) => sum + gap, 0) / Math.max(1, samples.length),
  }
}
