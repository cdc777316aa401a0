import {clearDecision} from '../../contracts/index.js'
import {SvcError} from '../../errors/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import {type SignalKeys, signalKeysOf} from '../definition/signal-keys.js'
import {definitionOf, finished, isFinished, requireRun, wakeRun} from './runs.js'

/** Maximum size of the payload of a signal, bytes of JSON. */
const maxPayloadBytes = 64 << 10
/** Maximum number of signals of a run that were not consumed. */
const maxOpenSignals = 1000

/**
 * Sends a signal to a run, which consumes signals of a key in the order of their arrival. A signal that the run cannot
 * consume any more, with the payload of the last one of its key, is a repetition and has the same reply.
 * @param isPerson a person sends it by a command: without a payload, it is a yes to an approval
 * @throws workflow_run_not_found, workflow_finished, workflow_signal_unknown, workflow_decision_invalid,
 *   workflow_decided, workflow_signal_invalid
 */
export function sendSignal(
  context: WorkspaceContext,
  {run, key, payload, isPerson = false}: {run: string; key: string; payload?: unknown; isPerson?: boolean},
): {signal_id: number} {
  const {store, now} = context
  const json = JSON.stringify(payload ?? null)
  if (Buffer.byteLength(json) > maxPayloadBytes)
    throw new SvcError('workflow_signal_invalid', {run, reason: `its payload is larger than ${maxPayloadBytes} bytes`})
  return store.transaction(() => {
    const row = requireRun(context, run)
    const keys = signalKeysOf(definitionOf(row))
    const decision = isPerson && payload === undefined ? true : payload
    if (keys.approvals.has(key) && !isDecision(decision)) throw new SvcError('workflow_decision_invalid', {run, key})
    const last = lastSignal(context, run, key)
    const isAnswered = last !== undefined && (isFinished(row) || (last.count >= keys.waits(key) && !last.is_awaited))
    if (isAnswered && meaningOf(keys, key, last.payload_json) === meaningOf(keys, key, json))
      return {signal_id: last.id}
    if (isAnswered && keys.approvals.has(key))
      throw new SvcError('workflow_decided', {run, key, ...decisionOf(JSON.parse(last.payload_json ?? 'null'))})
    if (isFinished(row)) throw finished(row)
    if (!keys.has(key))
      throw new SvcError('workflow_signal_unknown', {run, key, known: [...keys.approvals, ...keys.signals].join(', ')})
    const open = store.get<{count: number}>(
      'SELECT count(*) AS count FROM workflow_signal_log WHERE run_id = ? AND consumed_at_ms IS NULL',
      [run],
    )
    if ((open?.count ?? 0) >= maxOpenSignals)
      throw new SvcError('workflow_signal_invalid', {run, reason: `${maxOpenSignals} signals wait for the run`})
    const {lastInsertRowid} = store.run(
      'INSERT INTO workflow_signal_log (run_id, signal_key, payload_json, recorded_at_ms) VALUES (?, ?, ?, ?)',
      [run, key, json, now()],
    )
    wakeRun(context, run)
    return {signal_id: Number(lastInsertRowid)}
  })
}

interface LastSignal {
  id: number
  payload_json: string | null
  /** Number of signals of the key. */
  count: number
  /** 1 if a step waits for another signal of the key. */
  is_awaited: number
}

const lastSignal = ({store}: WorkspaceContext, run: string, key: string): LastSignal | undefined =>
  store.get<LastSignal>(
    `SELECT max(id) AS id, payload_json, count(*) AS count, count(consumed_at_ms) = count(*) AND EXISTS (
  SELECT 1 FROM workflow_activity_log AS s WHERE s.run_id = @run AND s.status = 'started'
    AND json_extract(s.result_json, '$.signal_key') = @key AND NOT EXISTS (
      SELECT 1 FROM workflow_activity_log AS c WHERE c.run_id = s.run_id AND c.workflow_name = s.workflow_name
        AND c.activity_id = s.activity_id AND c.status = 'completed')) AS is_awaited
FROM workflow_signal_log WHERE run_id = @run AND signal_key = @key HAVING count(*) > 0`,
    {run, key},
  )

/** What a payload means, as JSON: the same decision can be written in several ways. */
const meaningOf = (keys: SignalKeys, key: string, json: string | null): string =>
  keys.approvals.has(key) ? JSON.stringify(decisionOf(JSON.parse(json ?? 'null'))) : (json ?? 'null')

interface DecisionPayload {
  approved?: unknown
  reason?: unknown
}

/** The decision of a stored payload for an approval. The null of a signal without payload is the yes of a person. */
export function decisionOf(payload: unknown): {approved: boolean; reason?: string} {
  const {approved, reason} = (payload ?? {approved: true}) as DecisionPayload
  const decision = clearDecision(payload) ?? clearDecision(approved) ?? false
  return {approved: decision, ...(typeof reason === 'string' ? {reason} : {})}
}

function isDecision(payload: unknown): boolean {
  if (clearDecision(payload) !== undefined) return true
  const {approved, reason = ''} = (payload ?? {}) as DecisionPayload
  return clearDecision(approved) !== undefined && typeof reason === 'string'
}

/** Consumes the oldest signal of a key, within the transaction of the activity that waits for it. */
export function consumeSignal(
  {store, now}: WorkspaceContext,
  runId: string,
  key: string,
): {payload: unknown} | undefined {
  const row = store.get<{payload_json: string | null}>(
    `UPDATE workflow_signal_log SET consumed_at_ms = ? WHERE id = (SELECT id FROM workflow_signal_log
  WHERE run_id = ? AND signal_key = ? AND consumed_at_ms IS NULL ORDER BY id LIMIT 1) RETURNING payload_json`,
    [now(), runId, key],
  )
  return row && {payload: JSON.parse(row.payload_json ?? 'null')}
}

export const hasSignal = ({store}: WorkspaceContext, runId: string, key: string): boolean =>
  store.get('SELECT 1 FROM workflow_signal_log WHERE run_id = ? AND signal_key = ? AND consumed_at_ms IS NULL', [
    runId,
    key,
  ]) !== undefined
