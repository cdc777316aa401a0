import {randomBytes} from 'node:crypto'
import type {speechSessionSettings, TableValues} from '../../config/index.js'
import {SvcError} from '../../errors/index.js'

export type SessionState = 'idle' | 'capturing' | 'finalizing' | 'completed' | 'failed'

/** Time limits of a session, ms, with the names of their settings; an undefined one is not checked. */
export interface SessionLimits {
  /** Time without audio. */
  captureTimeoutMs?: number | undefined
  /** Duration of the session, or of one utterance of a live one. */
  maxDurationMs?: number | undefined
  /** Time for recognition and refinement. */
  inferenceDeadlineMs?: number | undefined
}

type SessionDefaults = Pick<TableValues<typeof speechSessionSettings>, keyof SessionLimits>

/** One limit, and the time that was used of it. */
export interface DeadlineDiagnostic {
  phase: 'capture' | 'transcribe' | 'session_total'
  elapsed_ms: number
  limit_ms: number
  taxonomy: 'ok' | 'capture_timeout' | 'inference_timeout' | 'deadline_exceeded'
}

/** Time after a limit at which a decoding that still runs is aborted, ms. */
const graceMs = 250

/**
 * The limits of a session: requested values, then the defaults; 0 counts as omitted.
 * @throws usage if a limit is not positive, or the timeout is longer than the maximum duration
 */
export function sessionLimits(requested: SessionLimits, defaults: Partial<SessionDefaults>): SessionLimits {
  const limits = {
    captureTimeoutMs: requested.captureTimeoutMs || defaults.captureTimeoutMs || undefined,
    maxDurationMs: requested.maxDurationMs || defaults.maxDurationMs || undefined,
    inferenceDeadlineMs: requested.inferenceDeadlineMs || defaults.inferenceDeadlineMs || defaults.maxDurationMs,
  }
  const {captureTimeoutMs = 0, maxDurationMs = Infinity} = limits
  if (captureTimeoutMs > maxDurationMs) {
    const reason = `timeout_ms (${captureTimeoutMs}) must not exceed max_duration_ms (${maxDurationMs}).`
    throw new SvcError('usage', {reason})
  }
  return limits
}

/** @param randomLength number of unpredictable bytes */
export const newSessionId = (randomLength = 2): string =>
  `speech-${Date.now()}-${randomBytes(randomLength).toString('hex')}`

/** The result of a session, and the times that were checked. */
export interface Finalized<T> {
  value: T
  totalMs: number
  transcribeMs: number
  diagnostics: DeadlineDiagnostic[]
}

export interface SessionOptions {
  id?: string
  /** Clock, ms. */
  now?: () => number
  /** Called with each new state. */
  onState?: ((state: SessionState) => void) | undefined
}

/**
 * One speech session: its state and its time limits. A result that is ready in time is never discarded: limits are
 * checked when it is there, and a decoding is aborted only some time after its limit.
 */
export class SpeechSession {
  readonly id: string
  readonly limits: SessionLimits
  readonly #now: () => number
  readonly #started: number
  readonly #onState: ((state: SessionState) => void) | undefined
  #state: SessionState = 'idle'

  constructor(
    limits: SessionLimits,
    {id = newSessionId(), now = () => performance.now(), onState}: SessionOptions = {},
  ) {
    this.id = id
    this.limits = limits
    this.#now = now
    this.#started = now()
    this.#onState = onState
  }

  get state(): SessionState {
    return this.#state
  }

  /** Audio arrives. */
  capture(): void {
    if (this.#state === 'idle') this.#enter('capturing')
  }

  /** No audio has arrived for the timeout. */
  captureTimeout(elapsedMs: number): SvcError<'speech_capture_timeout'> {
    this.#enter('failed')
    const limit = this.limits.captureTimeoutMs ?? 0
    const diagnostics = [diagnostic('capture', elapsedMs, limit, 'capture_timeout')]
    return new SvcError('speech_capture_timeout', {
      timeout_ms: limit,
      state: 'failed',
      deadline_diagnostics: diagnostics,
    })
  }

  /**
   * Runs the recognition within the limits.
   * @param work `loaded` is called when the model is ready; loading it does not count as recognition
   * @throws speech_inference_timeout, speech_deadline_exceeded; what `work` throws
   */
  async finalize<T>(
    work: (signal: AbortSignal, loaded: () => void) => Promise<T>,
    outer?: AbortSignal,
  ): Promise<Finalized<T>> {
    this.#enter('finalizing')
    const {inferenceDeadlineMs, maxDurationMs} = this.limits
    const runaway = new AbortController()
    let begun = this.#now()
    let timer: NodeJS.Timeout | undefined
    const loaded = () => {
      begun = this.#now()
      const left = Math.min(inferenceDeadlineMs ?? Infinity, (maxDurationMs ?? Infinity) - (begun - this.#started))
      if (left < Infinity) timer = setTimeout(() => runaway.abort(), Math.max(0, left) + graceMs)
    }
    try {
      const value = await work(outer === undefined ? runaway.signal : AbortSignal.any([outer, runaway.signal]), loaded)
      const checked = this.#check(this.#now() - begun)
      this.#enter('completed')
      return {value, ...checked}
    } catch (error) {
      if (this.#state !== 'failed') this.#enter('failed')
      if (runaway.signal.aborted && outer?.aborted !== true) this.#check(this.#now() - begun)
      throw error
    } finally {
      clearTimeout(timer)
    }
  }

  #check(transcribeMs: number): Omit<Finalized<never>, 'value'> {
    const {inferenceDeadlineMs, maxDurationMs} = this.limits
    const totalMs = this.#now() - this.#started
    const late = inferenceDeadlineMs !== undefined && transcribeMs > inferenceDeadlineMs
    const over = maxDurationMs !== undefined && totalMs > maxDurationMs
    const diagnostics = [
      ...(inferenceDeadlineMs === undefined
        ? []
        : [diagnostic('transcribe', transcribeMs, inferenceDeadlineMs, late ? 'inference_timeout' : 'ok')]),
      ...(maxDurationMs === undefined
        ? []
        : [diagnostic('session_total', totalMs, maxDurationMs, over ? 'deadline_exceeded' : 'ok')]),
    ]
    const failed = {state: 'failed', deadline_diagnostics: diagnostics} as const
    if (late)
      throw new SvcError('speech_inference_timeout', {
        transcribe_ms: Math.round(transcribeMs),
        inference_deadline_ms: inferenceDeadlineMs,
        ...failed,
      })
    if (over)
      throw new SvcError('speech_deadline_exceeded', {
        wall_ms: Math.round(totalMs),
        max_duration_ms: maxDurationMs,
        ...failed,
      })
    return {totalMs, transcribeMs, diagnostics}
  }

  #enter(state: SessionState): void {
    this.#state = state
    this.#onState?.(state)
  }
}

const diagnostic = (
  phase: DeadlineDiagnostic['phase'],
  elapsedMs: number,
  limitMs: number,
  taxonomy: DeadlineDiagnostic['taxonomy'],
): DeadlineDiagnostic => ({phase, elapsed_ms: Math.round(elapsedMs), limit_ms: limitMs, taxonomy})
