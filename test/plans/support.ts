import type {TestContext} from 'node:test'
import type {Orchestrator} from '../../src/orchestrator/index.js'
import {type NewPlan, newPlan, type Plan, planStatus} from '../../src/plans/index.js'
import {failTask, takeClaim} from '../../src/tasks/index.js'
import {
  openTestOrchestrator,
  type TestOptions,
  type TestOrchestrator,
} from '../orchestrator/support/open-test-orchestrator.js'
import {acceptTask} from '../orchestrator/support/tasks.js'

/** Steps are external tasks that need no approval. */
export const unattended = `[orchestrator]
planning_auto_mode_enabled = true
default_processor = "external"
`

export const openUnattended = (
  test: Pick<TestContext, 'after'>,
  {toml = '', ...options}: TestOptions = {},
): Promise<TestOrchestrator> =>
  openTestOrchestrator(test, {...(options.root === undefined ? {toml: unattended + toml} : {}), ...options})

/** A plan of three sequential steps. */
export const threeSteps = 'Add the parser\nAdd the printer\nRun the test suite'

/** A plan whose second and third step depend on the first only, and the fourth on both. */
export function diamond(context: Orchestrator, request: Partial<NewPlan> = {}): Plan {
  const step = (description: string, dependsOn: number[]) => ({
    description,
    dependsOn,
    files: [],
    category: 'general' as const,
    complexity: 3,
    triggers: [],
  })
  return newPlan(context, {
    goal: 'Add four parts',
    steps: [
      step('Add the first part', []),
      step('Add the second part', [0]),
      step('Add the third part', [0]),
      step('Add the fourth part', [1, 2]),
    ],
    ...request,
  })
}

/** The status of each node of the latest version, as `n1 queued`. */
export const nodesNow = (context: Orchestrator, planId: string): string[] =>
  planStatus(context, planId).steps.map(({node_id, status}) => `${node_id} ${status}`)

/** Claims and completes the next task; returns its description. */
export function doNext(context: Orchestrator): string {
  const {task, generation} = takeClaim(context, {owner: 'client'})
  acceptTask(context, task.id, {text: 'done'}, {generation})
  return task.description
}

/** Claims and fails the next task; returns its id. */
export function failNext(context: Orchestrator, reason = 'broken'): number {
  const {task, generation} = takeClaim(context, {owner: 'client'})
  failTask(context, task.id, reason, {generation})
  return task.id
}
