import {SvcError} from '../../errors/index.js'
import type {TaskContext} from '../../tasks/index.js'
import {type SignalKeys, signalKeysOf} from '../definition/signal-keys.js'
import {definitionOf, isFinished, requireRun, wakeRun} from './runs.js'

/** Maximum size of the payload of a signal, bytes of JSON. */
const maxPayloadBytes = 64 << 10
/** Maximum number of signals of a run that were not consumed. */
const maxOpenSignals = 1000

/**
 * Sends a signal to a run, which consumes signals of a key in the order of their arrival.
 * @throws workflow_run_not_found, workflow_finished, workflow_signal_unknown, workflow_decision_invalid,
 *   workflow_signal_invalid
 */
export function sendSignal(
  context: TaskContext,
  {run, key, payload}: {run: string; key: string; payload?: unknown},
): {signal_id: number} {
  const {store, now} = context
  const json = JSON.stringify(payload ?? null)
  if (Buffer.byteLength(json) > maxPayloadBytes)
    throw new SvcError('workflow_signal_invalid', {run, reason: `its payload is larger than ${maxPayloadBytes} bytes`})
  return store.transaction(() => {
    const row = requireRun(context, run)
    if (isFinished(row)) throw new SvcError('workflow_finished', {run, status: row.status})
    checkKey(signalKeysOf(definitionOf(row)), run, key, payload)
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

function checkKey(keys: SignalKeys, run: string, key: string, payload: unknown): void {
  const known = [...keys.approvals, ...keys.signals].join(', ')
  if (!keys.has(key)) throw new SvcError('workflow_signal_unknown', {run, key, known})
  if (keys.approvals.has(key) && !isDecision(payload)) throw new SvcError('workflow_decision_invalid', {run, key})
}

/** Only what clearly says yes or no is a decision of a person; no payload is a yes. */
function isDecision(payload: unknown): boolean {
  if (payload === undefined || payload === null || typeof payload === 'boolean') return true
  const {approved, reason = ''} = payload as {approved?: unknown; reason?: unknown}
  return typeof approved === 'boolean' && typeof reason === 'string'
}

/** Consumes the oldest signal of a key, within the transaction of the activity that waits for it. */
export function consumeSignal({store, now}: TaskContext, runId: string, key: string): {payload: unknown} | undefined {
  const row = store.get<{payload_json: string | null}>(
    `UPDATE workflow_signal_log SET consumed_at_ms = ? WHERE id = (SELECT id FROM workflow_signal_log
  WHERE run_id = ? AND signal_key = ? AND consumed_at_ms IS NULL ORDER BY id LIMIT 1) RETURNING payload_json`,
    [now(), runId, key],
  )
  return row && {payload: JSON.parse(row.payload_json ?? 'null')}
}

export const hasSignal = ({store}: TaskContext, runId: string, key: string): boolean =>
  store.get('SELECT 1 FROM workflow_signal_log WHERE run_id = ? AND signal_key = ? AND consumed_at_ms IS NULL', [
    runId,
    key,
  ]) !== undefined
