import {sectionSettings} from '../setting.js'
import {boolean, integer, milliseconds, number} from '../types.js'

/** Budgets of agents, and what happens to agents without progress. */
export const orchestratorBudgetSettings = sectionSettings('orchestrator', () => ({
  agentTokenBudget: {
    type: integer({min: 0}),
    default: 100_000,
    doc: 'Tokens that an agent may use per day (UTC) before new tasks for it are refused; 0 sets no limit.',
  },
  agentDailyBudgetMicros: {
    type: integer({min: 0}),
    default: 0,
    doc: 'Cost of an agent per day (UTC), in millionths of a US dollar, at which new tasks are refused; 0 sets no limit.',
  },
  executionTimeBudgetMultiplier: {
    type: number({above: 0}),
    default: 1.5,
    doc: 'A task fails after its budget.max_latency_ms, multiplied by this number.',
  },
  idleTimeoutMs: {
    type: milliseconds(),
    default: 600_000,
    doc: 'Time without any work after which orchestrator_idle is emitted, in milliseconds; 0 is never.',
  },
  autoContinueEnabled: {
    type: boolean('strict'),
    default: false,
    doc: 'Submit a background task to an agent that has waiting tasks and makes no progress.',
  },
  continuationCooldownMs: {
    type: milliseconds(),
    default: 30_000,
    doc: 'Minimum time between two such tasks for one agent, in milliseconds.',
  },
  maxAutoContinuations: {
    type: integer({min: 0, max: 1000}),
    default: 5,
    doc: 'Maximum number of such tasks for one agent until it makes progress.',
  },
}))
