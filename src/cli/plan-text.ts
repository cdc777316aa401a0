import {oneLine} from '../errors/index.js'
import type {Execution, Plan, PlanStatus, PlanStep, PlanSummary} from '../plans/index.js'
import {age, beginning, plain, time} from './cell-text.js'
import {formatFacts, formatTable, type TableView, wide, wrapped} from './table.js'

/** A plan that has just been stored. */
export type KeptPlan = Plan & {written_to_disk: boolean}

export function formatPlan(
  {session_id, goal, versions: [{version, quality_score, reviewer_verdict, steps}]}: KeptPlan,
  view: TableView = {},
) {
  const facts = formatFacts(
    [
      ['plan', session_id],
      ['version', String(version)],
      ['quality', `${quality_score.toFixed(2)}, ${reviewer_verdict}`],
    ],
    view.width,
  )
  return [facts, `${plain(goal)}\n`, formatSteps(steps, view)].join('\n')
}

const formatSteps = (steps: readonly PlanStep[], view: TableView): string =>
  formatTable(
    ['STEP', 'NODE', 'STATUS', wrapped('AFTER'), wrapped('FILES'), wrapped('DESCRIPTION')],
    steps.map((step) => [
      String(step.id),
      step.node_id,
      step.status,
      step.depends_on.join(',') || '-',
      oneLine(step.files.map(({path, access}) => `${path}:${access}`).join(' ')) || '-',
      beginning(step.description),
    ]),
    view,
  )

/** The status of a plan and its steps. */
export function formatPlanStatus(
  {step_counts: counts, steps, ...plan}: PlanStatus,
  displayTask: (id: number) => string,
  view: TableView = {},
): string {
  const {completed, failed, in_progress: running, pending} = counts
  const facts = formatFacts(
    [
      ['plan', plan.session_id],
      ['status', `${plan.status}, ${plan.execution_mode}`],
      ['version', String(plan.latest_version)],
      ['steps', `${completed} completed, ${running} in progress, ${pending} pending, ${failed} failed`],
    ],
    view.width,
  )
  const rows = formatTable(
    ['STEP', 'NODE', 'STATUS', 'TASK', 'TRIES', wrapped('DESCRIPTION'), wrapped('ERROR')],
    steps.map((step) => [
      String(step.id),
      step.node_id,
      step.status,
      step.task_id === undefined ? '-' : displayTask(step.task_id),
      String(step.attempts),
      beginning(step.description),
      beginning((step.status === 'failed' ? step.last_error : step.held_reason) ?? ''),
    ]),
    view,
  )
  return [facts, `${plain(plan.goal)}\n`, rows].join('\n')
}

export const formatPlans = (plans: readonly PlanSummary[], view?: TableView): string =>
  formatTable(
    ['PLAN', 'STATUS', wide('VERSION'), 'DONE', wide('FAILED'), 'AGE', wide('CREATED'), wrapped('GOAL')],
    plans.map((plan) => [
      plan.session_id,
      plan.status,
      String(plan.latest_version),
      `${plan.completed}/${plan.total}`,
      String(plan.failed),
      age(plan.created_at_ms),
      time(plan.created_at_ms),
      beginning(plan.goal),
    ]),
    view,
    'No plans.',
  )

/** The ids of the submitted tasks, one per line. */
export const executionText = ({task_ids: ids}: Execution, display: (id: number) => string): string =>
  ids.map((id) => `${display(id)}\n`).join('')
