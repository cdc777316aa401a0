/** Plans: their list, and one plan with its steps. */
import {button, facts, plainTable, section} from '../../../pages/parts/blocks.js'
import {ask} from '../../../pages/parts/dialog.js'
import {element, fill, setText} from '../../../pages/parts/elements.js'
import {labelOf} from '../../../pages/parts/form.js'
import {addressOf} from '../../../pages/parts/router.js'
import {tableRow} from '../../../pages/parts/rows.js'
import {idOfKey, pagedView, timedKey} from './list-view.js'
import {objectView} from './object-view.js'
import {call, canCall} from './operations.js'
import {badge, firstLine, timeOf} from './words.js'

const columns = {Goal: 'id main', Status: 'fit', Steps: 'fit', Updated: 'fit'}

const isOfPlan = ({types}) => types.some((type) => /^(plan|replan|task)/.test(type))

export const plansView = (_route, {showFault}) =>
  pagedView({
    title: 'Plans',
    columns,
    load: async (before, limit) =>
      (await call('orch.plan.list', {limit, ...(before === undefined ? {} : {before_session_id: idOfKey(before)})}))
        .plans,
    keyOf: ({created_at_ms: ms, session_id: id}) => timedKey(ms, id),
    make: planRow,
    empty: ['No plans.', 'svc orch plan new "Ship the importer"'],
    concerns: isOfPlan,
    showFault,
  })

function planRow({session_id: id}) {
  const row = tableRow(columns)
  const [goal, status, steps, updated] = row.contents
  let time
  goal.append(element('a', {href: addressOf(['plans', id])}))
  return {
    element: row.element,
    tick: () => time?.tick(),
    update(plan) {
      setText(goal.firstChild, firstLine(plan.goal))
      fill(status, plan.status, () => [badge(plan.status)])
      setText(steps, `${plan.completed} of ${plan.total}`)
      fill(updated, plan.updated_at_ms, () => {
        time = timeOf(plan.updated_at_ms)
        return [time.element]
      })
    },
  }
}

export const planView = ({segments: [id]}, {showFault}) =>
  objectView({
    title: 'Plan',
    showFault,
    concerns: isOfPlan,
    read: () => call('ai.plan.status', {session_id: id}),
    render: (plan) => ({
      actions: plan.status === 'pending' && canCall('ai.plan.execute') ? [executeButton(plan)] : [],
      elements: [
        element('p', {className: 'description'}, badge(plan.status), ' ', plan.goal),
        facts({
          Id: plan.session_id,
          Version: String(plan.latest_version),
          Strategy: labelOf(plan.execution_mode),
          Completed: `${plan.step_counts.completed} of ${plan.steps.length}`,
        }),
        section(
          'Steps',
          plainTable('Steps', ['Step', 'Status', 'Task', 'After', 'Details'], plan.steps.map(stepCells)),
        ),
      ],
    }),
  })

const executeButton = ({session_id: id}) =>
  button(
    'Execute',
    () =>
      ask({
        title: 'Execute the plan?',
        text: 'Each step is submitted as a task when the steps before it are completed.',
        verb: 'Execute',
        perform: () => call('ai.plan.execute', {session_id: id}),
        done: 'The plan is being executed.',
      }),
    'primary',
  )

const stepCells = (step) => [
  element('span', {}, `${step.id}. ${step.description}`),
  badge(step.status),
  step.task_id === undefined
    ? undefined
    : element('a', {href: addressOf(['tasks', String(step.task_id)])}, `T-${String(step.task_id).padStart(4, '0')}`),
  step.depends_on.join(', '),
  step.last_error ?? step.held_reason,
]
