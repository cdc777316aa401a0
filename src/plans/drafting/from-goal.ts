import {excerpt} from '../../errors/index.js'
import {clausesOf, wordsOf} from './clauses.js'
import {filesOf, type Scope, scopeOf} from './files.js'
import {categoryOf, complexityOf} from './kind.js'
import {type DraftStep, verificationWorkflow} from './step.js'
import {triggersOf} from './triggers.js'

export interface GoalRequest {
  goal: string
  /** Files of the goal, relative to the root of the workspace. */
  scope?: readonly string[]
  /** Maximum number of steps. */
  limit?: number
  /** Use the goal unchanged as a single step. */
  direct?: boolean
}

/** Default for the maximum number of steps. */
export const usualLimit = 30

/**
 * Creates the steps of a goal without a model: one per clause, each depending on the previous one, and a verification
 * step unless the goal already mentions verification.
 */
export function stepsFromGoal({goal, scope = [], limit = usualLimit, direct = false}: GoalRequest): DraftStep[] {
  if (direct) return [stepOf(goal.trim(), [], scopeOf(scope))]
  const known = scopeOf(scope)
  const clauses = clausesOf(goal).slice(0, limit)
  const steps = clauses.map((clause, i) => stepOf(clause, i === 0 ? [] : [i - 1], known))
  const checked = speaksOfChecks(goal) ? steps : [...steps, verification(goal, steps.length - 1)]
  return checked.slice(0, limit)
}

const speaksOfChecks = (goal: string): boolean => /\b(?:verify|validation|regression|test)\b/i.test(goal)

const stepOf = (description: string, dependsOn: readonly number[], scope: Scope): DraftStep => ({
  description,
  dependsOn,
  files: filesOf(description, scope),
  category: categoryOf(description),
  complexity: complexityOf(description),
  triggers: triggersOf(description),
})

const maxExcerptLength = 120

function verification(goal: string, after: number): DraftStep {
  const [line = ''] = clausesOf(goal.split(/\r?\n/).find((each) => wordsOf(each).length > 0) ?? '')
  return {
    description: `Verify that the goal is met, and that nothing else broke: ${excerpt(line, maxExcerptLength)}`,
    dependsOn: [after],
    files: [],
    category: 'testing',
    complexity: 5,
    role: 'verifier',
    triggers: ['test_failure_new_regression'],
    workflow: verificationWorkflow,
  }
}
