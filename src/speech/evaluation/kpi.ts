import {readFile} from 'node:fs/promises'
import {assertContract, type KpiBaseline, readDocument, type SpeechEvalV1} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'

/** Limits of the quality measurements: rates from 0 to 1, times in ms. */
const limits = {
  compile_pass_at_1: {min: 0.65},
  compile_pass_at_k: {min: 0.72},
  latency_ms_p95: {max: 12_000},
  wer: {max: 0.35},
  cer: {max: 0.15},
} as const satisfies Partial<Record<keyof KpiBaseline, {min: number} | {max: number}>>

type Metric = keyof typeof limits

const metrics = Object.keys(limits) as Metric[]

/** A measurement, compared with its limit. */
export interface CheckedKpi {
  metric: Metric
  value: number
  limit: number
  ok: boolean
  /** Earlier measurement. */
  baseline?: number
}

type Kpis = Pick<KpiBaseline, Metric>

/** Compares the measurements that are present with their limits. The result also has those of the baseline. */
export const checkKpis = (kpis: Kpis, baseline: Kpis | undefined): CheckedKpi[] =>
  metrics.flatMap((metric) => {
    const value = kpis[metric]
    if (value === undefined) return []
    const bound: {min?: number; max?: number} = limits[metric]
    const {min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY} = bound
    const earlier = baseline?.[metric]
    const checked = {metric, value, limit: bound.min ?? max, ok: value >= min && value <= max}
    return [earlier === undefined ? checked : {...checked, baseline: earlier}]
  })

/**
 * Reads a file of quality measurements.
 * @throws file_not_found, file_unreadable, document_unparsable, contract_violation
 */
export async function readKpis(path: string): Promise<KpiBaseline> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw SvcError.from(Object.assign(error as Error, {path}))
  })
  const kpis = await readDocument(text, path)
  await assertContract('speech-to-code/kpi-baseline', kpis, path)
  return kpis as KpiBaseline
}

/**
 * Checks that the measurements in a file are within the limits.
 * @throws speech_kpi_violated; the errors of `readKpis`
 */
export async function requireKpis(path: string): Promise<readonly CheckedKpi[]> {
  const checked = checkKpis(await readKpis(path), undefined)
  const violations = checked
    .filter(({ok}) => !ok)
    .map(({metric, value, limit}) => `${metric} is ${value}, and the limit is ${limit}`)
  if (violations.length > 0) throw new SvcError('speech_kpi_violated', {path, violations})
  return checked
}

type Measured = Pick<SpeechEvalV1, 'normalized' | 'median_latency_ms' | 'p95_latency_ms'>

/** The quality measurements of an evaluation. A rate above 1 counts as 1. */
export const kpisOf = ({normalized: {wer, cer}, ...latencies}: Measured, capturedAt: Date): KpiBaseline => ({
  schema_version: '1',
  captured_at_utc: capturedAt.toISOString(),
  wer: Math.min(1, wer),
  cer: Math.min(1, cer),
  latency_ms_median: Math.round(latencies.median_latency_ms),
  latency_ms_p95: Math.round(latencies.p95_latency_ms),
})
