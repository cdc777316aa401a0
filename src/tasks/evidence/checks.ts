import {createHash} from 'node:crypto'
import {SvcError} from '../../errors/index.js'
import {runTemplate} from '../../exec/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'
import type {Task} from '../base/task.js'
import type {CheckResult} from '../gates/evidence.js'
import {readOutput} from '../lifecycle/output.js'

/** Characters of output to keep, from its end. */
const keptCharacters = 4000

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex')

const outputOf = (text: string): Pick<CheckResult, 'output' | 'output_digest'> =>
  text === '' ? {} : {output: text.slice(-keptCharacters), output_digest: digestOf(text)}

/** @property onStart called with the pid of each command */
export interface CheckRun {
  signal?: AbortSignal | undefined
  onStart?: ((pid: number) => void) | undefined
}

/**
 * Runs command templates of the workspace as checks, one after another. A check that cannot run has not passed.
 * @throws the reason of the signal
 */
export async function runChecks(
  {config, root, now}: WorkspaceContext,
  task: Task,
  names: readonly string[],
  {signal = new AbortController().signal, onStart}: CheckRun,
): Promise<CheckResult[]> {
  const results: CheckResult[] = []
  for (const check of names) {
    const {task_timeout_ms: _, ...subject} = task
    const options = {root, ...config.exec, env: process.env}
    const started_at_ms = now()
    const base = {check, grade: 'verified', started_at_ms} as const
    try {
      const run = {...subject, exec: {template: check, params: {}}}
      const end = await runTemplate(run, options, signal, onStart === undefined ? {} : {onStart})
      const text = end.output.since(0).map(({bytes}) => bytes.toString('utf8'))
      results.push({
        ...base,
        passed: end.failure === undefined,
        ...(end.failure === undefined ? {} : {reason: `${check} ${end.failure}`}),
        ...(end.exitCode === null ? {} : {exit_code: end.exitCode}),
        finished_at_ms: now(),
        ...outputOf(text.join('\n')),
      })
    } catch (error) {
      signal.throwIfAborted()
      results.push({...base, passed: false, reason: SvcError.from(error).message, finished_at_ms: now()})
    }
  }
  return results
}

interface ExecRow {
  id: number
  status: 'Completed' | 'Failed'
  status_reason: string | null
  result: string | null
  started_at_ms: number
  finished_at_ms: number
}

/**
 * The latest runs of command templates as tasks since a time. Runs with parameters are omitted: the parameters, which
 * an agent chooses, may leave out what a check is for.
 */
export function observedChecks(context: WorkspaceContext, names: readonly string[], sinceMs: number): CheckResult[] {
  return names.flatMap((check) => {
    const row = context.store.get<ExecRow>(
      `SELECT id, status, status_reason, result, started_at_ms, finished_at_ms FROM orch_tasks
WHERE repository_id = ? AND status IN ('Completed', 'Failed') AND processor = 'exec' AND finished_at_ms >= ?
  AND started_at_ms IS NOT NULL AND request ->> '$.exec.template' = ? AND request -> '$.exec.params' = '{}'
ORDER BY finished_at_ms DESC, id DESC LIMIT 1`,
      [context.repositoryId, sinceMs, check],
    )
    if (row === undefined) return []
    const passed = row.status === 'Completed'
    const exitCode = row.result === null ? undefined : (JSON.parse(row.result) as {exit_code?: unknown}).exit_code
    return {
      check,
      grade: 'observed' as const,
      passed,
      ...(passed || row.status_reason === null ? {} : {reason: row.status_reason}),
      ...(typeof exitCode === 'number' ? {exit_code: exitCode} : {}),
      started_at_ms: row.started_at_ms,
      finished_at_ms: row.finished_at_ms,
      ...outputOf(readOutput(context, row.id).text),
      task_id: row.id,
    }
  })
}

/** The command of a task as a check, once it has ended: `svc` has seen its exit status. */
export function ownCheck({id, exec, started_at_ms, result, status, status_reason: reason}: Task): CheckResult[] {
  const failed = status === 'Failed' && started_at_ms !== undefined
  if (exec === undefined || (result === undefined && !failed)) return []
  const {exit_code: exitCode, stdout} = (result ?? {}) as {exit_code?: unknown; stdout?: unknown}
  return [
    {
      check: exec.template,
      grade: 'observed',
      passed: !failed,
      ...(failed && reason !== undefined ? {reason} : {}),
      ...(typeof exitCode === 'number' ? {exit_code: exitCode} : {}),
      ...(started_at_ms === undefined ? {} : {started_at_ms}),
      ...outputOf(typeof stdout === 'string' ? stdout : ''),
      task_id: id,
    },
  ]
}
