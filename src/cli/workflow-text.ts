import {isObject} from '../contracts/index.js'
import {commandLine, counted, SvcError} from '../errors/index.js'
import {parseExactJson} from '../files/index.js'
import type {OutputPaths, RunReport, RunSummary, ScheduleSummary} from '../workflow/index.js'
import {age, dateTime, plain} from './cell-text.js'
import {nameAndValue} from './name-value.js'
import {formatTable, type TableView, wide, wrapped} from './table.js'

export const formatRuns = (runs: readonly RunSummary[], view?: TableView): string =>
  formatTable(
    ['RUN', wide(wrapped('WORKFLOW')), 'STATUS', wide('COMPLETED'), 'AGE', wide('STARTED'), wrapped('ERROR')],
    runs.map(({run_id, workflow, status, completed_steps, started_at_ms, error = ''}) => [
      run_id,
      workflow,
      status,
      String(completed_steps),
      age(started_at_ms),
      dateTime(started_at_ms),
      error,
    ]),
    view,
    'No runs. Start one with `svc workflow run FILE`.',
  )

export const formatSchedules = (schedules: readonly ScheduleSummary[], view?: TableView): string =>
  formatTable(
    [wrapped('WORKFLOW'), 'CRON', 'NEXT', wrapped('LAST RUN'), 'MISSED', 'TIME ZONE', wide(wrapped('FILE'))],
    schedules.map(({workflow, cron, next_at_ms: next, last_run: last, missed, time_zone, file}) => [
      workflow,
      cron,
      next === undefined ? '-' : dateTime(next).slice(0, -':00'.length),
      last === undefined ? '-' : `${last.status} ${age(last.started_at_ms)} ago`,
      missed,
      time_zone,
      file,
    ]),
    view,
    'No schedules. Add `cron` to a workflow of a file in `orchestrator.workflow_files`.',
  )

/** A run with its activities, and the commands that let it continue. */
export function formatRun(run: RunReport, width?: number): string {
  const {run_id, workflow, status, completed_steps, error, output, activities, wake_at_ms, driver} = run
  const count = `${counted(completed_steps, 'activity', 'activities')} completed`
  const by =
    driver === undefined
      ? ''
      : `, driven by ${driver.kind === 'daemon' ? 'the daemon' : 'a command'} (pid ${driver.pid})`
  const lines = [`${run_id}  ${workflow}  ${status}, ${count}${by}`]
  if (error !== undefined) lines.push(`error: ${error}`)
  if (wake_at_ms !== undefined) lines.push(`continues at ${dateTime(wake_at_ms)}`)
  const table = formatTable(
    [wrapped('ACTIVITY'), 'STATUS', 'ATTEMPTS', 'TIME', wrapped('NOTE')],
    activities.map(
      ({activity, activity_id: id, status: state, attempts, recorded_at_ms, error: fault, signal_key, prompt}) => [
        id.startsWith(activity) ? id : activity,
        state,
        String(attempts),
        dateTime(recorded_at_ms),
        fault ?? prompt ?? (signal_key === undefined ? '' : `waits for the signal ${signal_key}`),
      ],
    ),
    {width},
  )
  if (activities.length > 0) lines.push(table.trimEnd())
  for (const {activity, output} of activities)
    if (output !== undefined && `${output.stdout}${output.stderr}` !== '')
      lines.push(`Output of ${activity}:`, plain(output.stdout), plain(output.stderr), filesText(output.files))
  if (status === 'running' || status === 'waiting')
    for (const {signal_key: key} of activities)
      if (key !== undefined) lines.push(`Continue it with: ${commandLine`svc workflow signal ${run_id} ${key}`}`)
  if (status === 'interrupted' || status === 'queued')
    lines.push(`A daemon continues it, or: ${commandLine`svc workflow resume ${run_id}`}`)
  if (status === 'failed')
    lines.push(`Try the failed activity again with: ${commandLine`svc workflow resume ${run_id}`}`)
  if (output !== undefined && output !== null)
    lines.push(typeof output === 'string' ? output : JSON.stringify(output, null, 2))
  return lines.filter((line) => line !== '').join('\n')
}

/** Names the files of an output that is shown without its middle. */
function filesText({stdout, stderr, truncated}: OutputPaths = {}): string {
  const paths = [stdout, stderr].filter((path) => path !== undefined)
  return paths.length === 0 ? '' : `${truncated ? 'The beginning' : 'All'} of it is in ${paths.join(' and ')}.`
}

/**
 * The inputs of a run from the command line.
 * @param parse reads the text of an input
 * @throws flag_value
 */
export function workflowInputs(
  pairs: readonly string[],
  json: string | undefined,
  parse: (name: string, text: string) => unknown,
): Record<string, unknown> {
  const given = json === undefined ? {} : objectFrom(json)
  for (const pair of pairs) {
    const [name, text] = nameAndValue('--input', pair, 'NAME=VALUE')
    given[name] = parse(name, text)
  }
  return given
}

function objectFrom(json: string): Record<string, unknown> {
  try {
    const value: unknown = parseExactJson(json)
    if (isObject(value)) return value as Record<string, unknown>
  } catch (error) {
    throw new SvcError('document_unparsable', {subject: '--input-json', reason: (error as Error).message})
  }
  throw new SvcError('flag_value', {flag: '--input-json', value: json.slice(0, 80), expected: 'a JSON object'})
}
