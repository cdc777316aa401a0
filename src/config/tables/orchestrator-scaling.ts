import {sectionSettings} from '../setting.js'
import {boolean, choice, integer, milliseconds, number} from '../types.js'

/** Starting and retiring agents. */
export const orchestratorScalingSettings = sectionSettings('orchestrator', () => ({
  scalingEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_SCALING_ENABLED'],
    default: false,
    doc: 'Start and retire agents according to the load.',
  },
  scalingThreshold: {
    type: integer({min: 1}),
    env: ['SVC_ORCHESTRATOR_SCALING_THRESHOLD'],
    default: 5,
    doc: 'Load per agent at which more agents are started.',
  },
  scalingProfile: {
    type: choice('conservative', 'balanced', 'aggressive'),
    env: ['SVC_ORCHESTRATOR_SCALING_PROFILE'],
    default: 'balanced',
    doc: 'How early agents are started and how long idle ones are kept.',
  },
  scalingLookbackTicks: {
    type: integer({min: 1, max: 10_000}),
    env: ['SVC_ORCHESTRATOR_SCALING_LOOKBACK'],
    default: 5,
    doc: 'Number of load samples from which the next load is predicted.',
  },
  scalingCooldownMs: {
    type: milliseconds(),
    env: ['SVC_ORCHESTRATOR_SCALING_COOLDOWN_MS'],
    default: 5000,
    doc: 'Minimum time between two starts of agents or two urgent rebalances, in milliseconds.',
  },
  maxSpawnPerTick: {
    type: integer({min: 1, max: 256}),
    env: ['SVC_ORCHESTRATOR_MAX_SPAWN_PER_TICK'],
    default: 5,
    doc: 'Maximum number of agents to start at once.',
  },
  idleRetirementMs: {
    type: milliseconds(),
    env: ['SVC_ORCHESTRATOR_IDLE_RETIREMENT_MS'],
    default: 300_000,
    doc: 'Idle time after which an agent may retire, in milliseconds.',
  },
  urgentRebalanceThreshold: {
    type: integer({min: 0}),
    env: ['SVC_ORCHESTRATOR_URGENT_REBALANCE_THRESHOLD'],
    default: 3,
    doc: 'Urgent tasks in one queue above which tasks move to other agents; 0 never moves them.',
  },
  financialCostBudgetMicros: {
    type: integer({min: 0}),
    default: 50_000,
    doc: 'Cost budget of an agent, in millionths of a US dollar, close to which no agent is started; 0 sets no limit.',
  },
  resourceWeight: {
    type: number({min: 0, max: 1}),
    env: ['SVC_ORCHESTRATOR_RESOURCE_WEIGHT'],
    default: 0.3,
    doc: 'How much the utilisation of the machine adds to the load; 0 ignores it.',
  },
  resourceCpuMultiplier: {
    type: number({min: 0}),
    env: ['SVC_ORCHESTRATOR_RESOURCE_CPU_MULT'],
    default: 0.7,
    doc: 'Weight of CPU usage in the utilisation of the machine.',
  },
  resourceMemMultiplier: {
    type: number({min: 0}),
    env: ['SVC_ORCHESTRATOR_RESOURCE_MEM_MULT'],
    default: 0.3,
    doc: 'Weight of memory usage in the utilisation of the machine.',
  },
  resourceExponent: {
    type: number({above: 0}),
    env: ['SVC_ORCHESTRATOR_RESOURCE_EXPONENT'],
    default: 1,
    doc: 'Exponent applied to the utilisation; above 1, only high utilisation matters.',
  },
}))
