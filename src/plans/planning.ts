import {SvcError} from '../errors/index.js'
import type {TaskContext} from '../tasks/index.js'
import type {PlanMode, PlanStrategy} from './vocabulary.js'

/** @throws planning_disabled */
export function requirePlanning({config}: TaskContext): void {
  if (!config.planningEnabled) throw new SvcError('planning_disabled', {})
}

/**
 * How a goal is gone about in a mode.
 * @throws plan_mode_unsupported where it would be handed to a workflow
 */
export function strategyOf(mode: PlanMode): PlanStrategy {
  if (mode === 'workflow_only') throw new SvcError('plan_mode_unsupported', {mode})
  return mode === 'direct' ? 'immediate_act' : 'sequential_dag'
}
