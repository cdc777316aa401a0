import {SvcError} from '../errors/index.js'
import type {WorkspaceContext} from '../workspace/index.js'
import type {PlanMode, PlanStrategy} from './vocabulary.js'

/** @throws planning_disabled */
export function requirePlanning({config}: WorkspaceContext): void {
  if (!config.planningEnabled) throw new SvcError('planning_disabled', {})
}

/**
 * The strategy for a mode.
 * @throws plan_mode_unsupported for a mode that requires a workflow
 */
export function strategyOf(mode: PlanMode): PlanStrategy {
  if (mode === 'workflow_only') throw new SvcError('plan_mode_unsupported', {mode})
  return mode === 'direct' ? 'immediate_act' : 'sequential_dag'
}
