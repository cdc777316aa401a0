/** Workflow runs: their list, and one run with its steps. */
import {button, facts, json, plainTable, section, verbatim} from '../../../pages/parts/blocks.js'
import {ask} from '../../../pages/parts/dialog.js'
import {element, fill, setText} from '../../../pages/parts/elements.js'
import {labelOf} from '../../../pages/parts/form.js'
import {dateFormat, elapsed} from '../../../pages/parts/format.js'
import {addressOf} from '../../../pages/parts/router.js'
import {flash, tableRow} from '../../../pages/parts/rows.js'
import {idOfKey, pagedView, timedKey} from './list-view.js'
import {objectView} from './object-view.js'
import {call, canCall} from './operations.js'
import {schedulesBlock} from './schedules.js'
import {badge, timeOf} from './words.js'

const columns = {Run: 'id', Workflow: '', Status: 'fit', Steps: 'fit', Updated: 'fit'}

const isOfWorkflow = ({types, run_ids: ids}) =>
  ids.length > 0 || types.some((type) => /^(workflow|activity)_/.test(type))

export function runsView(_route, {showFault}) {
  const schedules = schedulesBlock(showFault)
  const view = pagedView({
    title: 'Workflow runs',
    columns,
    load: async (before, limit) =>
      (await call('orch.workflow.list', {limit, ...(before === undefined ? {} : {before_run_id: idOfKey(before)})}))
        .runs,
    keyOf: ({started_at_ms: ms, run_id: id}) => timedKey(ms, id),
    make: runRow,
    empty: ['No workflow runs.', 'svc workflow run release.yaml'],
    concerns: isOfWorkflow,
    showFault,
  })
  return {
    ...view,
    elements: [...view.elements, schedules.element],
    reload() {
      view.reload()
      schedules.reload()
    },
    changed(changes) {
      view.changed(changes)
      if (isOfWorkflow(changes)) schedules.reload()
    },
    close() {
      view.close()
      schedules.close()
    },
  }
}

function runRow({run_id: id}) {
  const row = tableRow(columns)
  const [name, workflow, status, steps, updated] = row.contents
  let run
  let time
  name.append(element('a', {href: addressOf(['runs', id])}, id))
  return {
    element: row.element,
    tick: () => time?.tick(),
    update(next) {
      if (run !== undefined && run.status !== next.status) flash(row.element)
      run = next
      setText(workflow, run.workflow)
      fill(status, run.status, () => [badge(run.status)])
      setText(steps, `${run.completed_steps} of ${run.planned_steps}`)
      fill(updated, run.updated_at_ms, () => {
        time = timeOf(run.updated_at_ms)
        return [time.element]
      })
    },
  }
}

/** Number of entries of the journal that are shown at first, and more each time. */
const entriesAtOnce = 100

export function runView({segments: [id]}, {showFault}) {
  let limit = entriesAtOnce
  const view = objectView({
    title: id,
    showFault,
    concerns: isOfWorkflow,
    async read() {
      const [run, {entries}] = await Promise.all([
        call('orch.workflow.status', {run_id: id}),
        call('orch.workflow.journal', {run_id: id, limit: Math.min(limit, 1000)}),
      ])
      return {run, entries}
    },
    render: ({run, entries}) => ({
      actions: actionsOf(run),
      elements: [
        facts({
          Workflow: run.workflow,
          Status: badge(run.status),
          Steps: `${run.completed_steps} of ${run.planned_steps}`,
          'Driven by': driver(run),
          Error: run.error,
          File: run.source,
          Plan:
            run.plan_session_id === undefined
              ? undefined
              : element('a', {href: addressOf(['plans', run.plan_session_id])}, run.plan_session_id),
          Started: dateFormat.format(run.started_at_ms),
          Ended: run.completed_at_ms === undefined ? undefined : dateFormat.format(run.completed_at_ms),
          Duration: run.completed_at_ms === undefined ? undefined : elapsed(run.completed_at_ms - run.started_at_ms),
        }),
        section(
          'Steps',
          plainTable(
            'Steps',
            ['Step', 'Status', 'Attempts', 'Time', 'Details'],
            run.activities.map((step) => stepCells(run, step)),
          ),
        ),
        section('Input', ...(Object.keys(run.input ?? {}).length === 0 ? [] : [json(run.input, 'Input')])),
        section('Output', ...(run.output === undefined ? [] : [json(run.output, 'Output')])),
        section(
          'Journal',
          plainTable('Journal', ['Entry', 'Subject', 'Time', 'Details'], entries.map(entryCells)),
          ...(entries.length < limit || limit >= 1000
            ? []
            : [
                button('Show more', () => {
                  limit += entriesAtOnce
                  view.reload()
                }),
              ]),
        ),
      ],
    }),
  })
  return view
}

const entryCells = ({at_ms: at, kind, subject, attempt, worker, error, payload}) => [
  labelOf(kind),
  subject,
  dateFormat.format(at),
  [
    attempt === undefined ? '' : `attempt ${attempt}`,
    worker ?? '',
    error ?? '',
    payload === undefined ? '' : JSON.stringify(payload),
  ]
    .filter(Boolean)
    .join(', '),
]

const driver = ({driver: found, status}) => {
  if (found !== undefined) return `${found.kind}, pid ${found.pid} on ${found.host}`
  return ['queued', 'interrupted', 'running'].includes(status) ? 'no process' : undefined
}

function actionsOf({run_id: id, status}) {
  const act = (words, method, text, done, isDangerous = false) =>
    button(words, () =>
      ask({title: `${words}: ${id}`, text, verb: words, isDangerous, perform: () => call(method, {run_id: id}), done}),
    )
  const isUnfinished = ['queued', 'running', 'waiting', 'interrupted'].includes(status)
  return [
    ...(['failed', 'interrupted'].includes(status) && canCall('orch.workflow.resume')
      ? [
          act(
            'Resume',
            'orch.workflow.resume',
            'The daemon continues the run. Completed steps are not repeated; the failed step gets all its attempts again.',
            `${id} is resumed.`,
          ),
        ]
      : []),
    ...(isUnfinished && canCall('orch.workflow.cancel')
      ? [
          act(
            'Cancel run',
            'orch.workflow.cancel',
            'Completed steps are compensated, the latest first, by the process that drives the run, or by the daemon.',
            `${id} is being cancelled.`,
            true,
          ),
        ]
      : []),
  ]
}

const stepCells = (run, step) => [
  step.activity_id,
  badge(step.signal_key === undefined ? step.status : 'waiting'),
  String(step.attempts),
  dateFormat.format(step.recorded_at_ms),
  stepDetails(run, step),
]

function stepDetails(run, step) {
  const texts = [step.prompt, step.error].filter(Boolean).join(' ')
  const {stdout = '', stderr = ''} = step.output ?? {}
  const parts = [
    ...(texts === '' ? [] : [texts]),
    ...(stdout + stderr === '' ? [] : [verbatim([stdout, stderr].filter(Boolean).join('\n'), 'Output')]),
    ...signalButtons(run, step),
  ]
  return parts.length === 0 ? undefined : element('div', {}, ...parts)
}

/** Buttons for a step that waits for a person or a signal. */
function signalButtons({run_id: id}, {signal_key: key, prompt}) {
  if (key === undefined || !canCall('orch.workflow.signal')) return []
  const send = (words, payload, schema) =>
    button(
      words,
      () =>
        ask({
          title: `${words}: ${key}`,
          text: prompt ?? 'The payload can be any JSON value.',
          verb: words,
          isDangerous: words === 'Reject',
          schema,
          perform: (values) => call('orch.workflow.signal', {run_id: id, key, ...payload(values)}),
          done: 'The run continues.',
        }),
      words === 'Approve' ? 'primary' : '',
    )
  const buttons =
    prompt === undefined
      ? [send('Send signal', (values) => values, {properties: {payload: {description: 'Payload of the signal.'}}})]
      : [
          send('Approve', () => ({payload: true})),
          send('Reject', ({reason}) => ({payload: {approved: false, ...(reason === undefined ? {} : {reason})}}), {
            properties: {reason: {type: 'string', maxLength: 4096}},
          }),
        ]
  return [element('div', {className: 'actions'}, ...buttons)]
}
