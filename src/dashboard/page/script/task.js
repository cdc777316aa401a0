/** A task with its evidence, output and events, and what can be done with it. */
import {button, facts, growingText, json, plainTable, section} from '../../../pages/parts/blocks.js'
import {ask} from '../../../pages/parts/dialog.js'
import {element} from '../../../pages/parts/elements.js'
import {labelOf} from '../../../pages/parts/form.js'
import {dateFormat} from '../../../pages/parts/format.js'
import {addressOf} from '../../../pages/parts/router.js'
import {objectView} from './object-view.js'
import {call, canCall, inputOf} from './operations.js'
import {taskTrees} from './task-tree.js'
import {badge, prioritySchema, taskStatuses} from './words.js'

/** Interval at which the output of a running task is read, ms: it grows without an event. */
const outputMs = 1000

const unfinished = ['Queued', 'InProgress', 'RemoteHold', 'Blocked', 'BlockedOnApproval', 'Doubted']

/** What can be done with a task: in which statuses it is offered, and the question. The server decides. */
const taskActions = [
  {
    words: 'Approve',
    method: 'orch.approve_task',
    when: ({status, approval_tier: tier}) =>
      status === 'BlockedOnApproval' || (tier === 'review' && ['Queued', 'InProgress'].includes(status)),
    isMain: true,
    fields: [],
    text: 'Your approval is recorded with your user name.',
    done: 'was approved.',
  },
  {
    words: 'Resolve doubt',
    method: 'orch.resolve_doubt',
    when: ({status}) => status === 'Doubted',
    isMain: true,
    fields: ['validated', 'report', 'resume'],
    done: 'is resolved.',
  },
  {
    words: 'Retry',
    method: 'orch.retry_task',
    when: ({status}) => ['Failed', 'Cancelled'].includes(status),
    fields: ['dependants'],
    done: 'is queued again.',
  },
  {
    words: 'Change priority',
    method: 'orch.reorder_task',
    when: ({status}) => status === 'Queued',
    fields: ['priority'],
    schema: {properties: {priority: prioritySchema}, required: ['priority']},
    done: 'has another priority.',
  },
  {
    words: 'Doubt',
    method: 'orch.doubt_task',
    when: ({status}) => ['Queued', 'InProgress', 'Completed'].includes(status),
    fields: ['reason'],
    text: 'The task is paused until a person has resolved the doubt.',
    done: 'is in doubt.',
  },
  {
    words: 'Cancel task',
    method: 'orch.cancel_task',
    when: ({status}) => unfinished.includes(status),
    isDangerous: true,
    fields: ['reason'],
    text: 'Tasks that depend on it fail.',
    done: 'was cancelled.',
  },
]

export function taskView({segments: [id]}, {showFault}) {
  const taskId = Number(id)
  let timer
  let related = new Set()
  const output = growingText('Output')
  const view = objectView({
    title: `T-${id.padStart(4, '0')}`,
    showFault,
    concerns: ({task_ids: ids}) => ids.some((each) => each === taskId || related.has(each)),
    async read() {
      const [{task}, {events}, tasks] = await Promise.all([
        call('orch.get_task', {task_id: taskId, output: true, evidence: true}),
        call('orch.events.list', {task_id: taskId, limit: 200}),
        call('orch.related_tasks', {task_id: taskId}),
      ])
      related = new Set([...tasks.prerequisites, ...tasks.dependants].map(({task_id: id}) => id))
      clearTimeout(timer)
      if (task.status === 'InProgress') timer = setTimeout(() => view.reload(), outputMs)
      return {task, events, tasks}
    },
    render: ({task, events, tasks}) => ({
      actions: taskActions
        .filter(({method, when}) => canCall(method) && when(task))
        .map((action) => actionButton(action, task)),
      elements: [
        element('p', {className: 'description'}, badge(task.status), ' ', task.description),
        task.status_reason === undefined
          ? undefined
          : element('p', {className: 'description quiet'}, task.status_reason),
        factsOf(task),
        ...taskTrees(task, tasks),
        section('Result', ...resultOf(task)),
        section('Output', ...(task.output === undefined ? [] : [output.show(task.output.text)])),
        ...evidence(task.evaluation),
        section('Events', plainTable('Events', ['Event', 'Time', 'Details'], events.map(eventCells))),
      ],
    }),
  })
  return {
    ...view,
    close() {
      clearTimeout(timer)
      view.close()
    },
  }
}

function actionButton({words, method, isDangerous, isMain, fields, schema, text, done}, {id, display_id: name}) {
  return button(
    words,
    () =>
      ask({
        title: `${words}: ${name}`,
        text,
        verb: words,
        isDangerous,
        schema: schema ?? inputOf(method),
        fields,
        perform: (values) => call(method, {...values, task_id: id}),
        done: `${name} ${done}`,
      }),
    isMain ? 'primary' : '',
  )
}

const date = (ms) => (ms === undefined ? undefined : dateFormat.format(ms))

const factsOf = (task) =>
  facts({
    Agent: task.agent_name,
    Priority: task.priority,
    Role: task.execution_role,
    Phase: task.current_phase,
    Processor: task.processor,
    Command: task.exec?.template,
    Files: task.file_manifest?.map(({path}) => path).join(', '),
    Plan:
      task.plan_session_id === undefined
        ? undefined
        : element('a', {href: addressOf(['plans', task.plan_session_id])}, task.plan_session_id),
    Session: task.session_id,
    Node: task.remote_delegate?.worker_node_id,
    Claim: task.claim?.owner,
    Receipt: task.receipt,
    Submitted: date(task.created_at_ms),
    Started: date(task.started_at_ms),
    Finished: date(task.finished_at_ms),
  })

/** The result, unless it is the output, which is shown. */
function resultOf({result, output}) {
  if (result === undefined || (output !== undefined && result.text?.trim() === output.text.trim())) return []
  return [json(result.text || result, 'Result')]
}

function evidence(evaluation) {
  if (evaluation === undefined) return []
  const {gates, owed, checks, files} = evaluation
  const table = (title, columns, rows) =>
    rows.length === 0 ? undefined : section(title, plainTable(title, columns, rows))
  return [
    table(
      'Gates',
      ['Gate', 'Verdict', 'Findings'],
      gates.map(({gate, verdict, shadow, findings}) => [
        gate,
        element('span', {}, badge(verdict), shadow ? 'recorded only' : ''),
        findings.map(({message}) => message).join(' '),
      ]),
    ),
    table(
      'Required',
      ['Requirement', 'State', 'Reason'],
      owed.map(({kind, item, state, reason}) => [`${kind}: ${item}`, badge(state), reason]),
    ),
    table(
      'Checks',
      ['Check', 'Result', 'Evidence'],
      checks.map(({check, passed, grade, reason}) => [check, badge(passed ? 'pass' : 'fail'), reason ?? grade]),
    ),
    table(
      'Files',
      ['File', 'Change', 'Written'],
      files.map(({path, change, written_at_ms: at}) => [path, change, at > 0 ? date(at) : undefined]),
    ),
  ]
}

/** Members of events that the page shows in other places. */
const shownElsewhere = new Set(['type', 'task_id', 'agent_id', 'description', 'gates', 'scan', 'trace_id'])

const eventCells = ({timestamp_ms: at, kind}) => [
  labelOf(kind.type),
  dateFormat.format(at),
  Object.entries(kind)
    .filter(([name, value]) => !shownElsewhere.has(name) && value !== null && typeof value !== 'object')
    .map(([name, value]) => `${labelOf(name).toLowerCase()}: ${taskStatuses[value]?.[0] ?? value}`)
    .join(', '),
]
