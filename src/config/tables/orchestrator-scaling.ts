import {sectionSettings} from '../setting.js'
import {boolean, choice, integer, milliseconds, number} from '../types.js'

/** When agents are started and retired. */
export const orchestratorScalingSettings = sectionSettings('orchestrator', () => ({
  scalingEnabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_SCALING_ENABLED'],
    default: false,
    doc: 'Start and retire agents as the load asks for it.',
  },
  scalingThreshold: {
    type: integer({min: 1}),
    env: ['SVC_ORCHESTRATOR_SCALING_THRESHOLD'],
    default: 5,
    doc: 'Load per agent from which more agents are started.',
  },
  scalingProfile: {
    type: choice('conservative', 'balanced', 'aggressive'),
    env: ['SVC_ORCHESTRATOR_SCALING_PROFILE'],
    default: 'balanced',
    doc: 'How soon agents are started, and how long idle ones are kept.',
  },
  scalingLookbackTicks: {
    type: integer({min: 1, max: 10_000}),
    env: ['SVC_ORCHESTRATOR_SCALING_LOOKBACK'],
    default: 5,
    doc: 'Samples of the load from which the next one is foretold.',
  },
  scalingCooldownMs: {
    type: milliseconds(),
    env: ['SVC_ORCHESTRATOR_SCALING_COOLDOWN_MS'],
    default: 5000,
    doc: 'Milliseconds between two starts of agents, and between two urgent rebalances.',
  },
  maxSpawnPerTick: {
    type: integer({min: 1, max: 256}),
    env: ['SVC_ORCHESTRATOR_MAX_SPAWN_PER_TICK'],
    default: 5,
    doc: 'Most agents that are started at once.',
  },
  idleRetirementMs: {
    type: milliseconds(),
    env: ['SVC_ORCHESTRATOR_IDLE_RETIREMENT_MS'],
    default: 300_000,
    doc: 'Milliseconds without work after which an agent may retire.',
  },
  urgentRebalanceThreshold: {
    type: integer({min: 0}),
    env: ['SVC_ORCHESTRATOR_URGENT_REBALANCE_THRESHOLD'],
    default: 3,
    doc: 'Urgent tasks of one agent beyond which tasks move to others; 0 never moves them.',
  },
  financialCostBudgetMicros: {
    type: integer({min: 0}),
    default: 50_000,
    doc: 'Millionths of a US dollar that an agent may cost before scaling holds back; 0 sets no limit.',
  },
  resourceWeight: {
    type: number({min: 0, max: 1}),
    env: ['SVC_ORCHESTRATOR_RESOURCE_WEIGHT'],
    default: 0.3,
    doc: 'How much a busy machine adds to the load; 0 leaves the machine out of account.',
  },
  resourceCpuMultiplier: {
    type: number({min: 0}),
    env: ['SVC_ORCHESTRATOR_RESOURCE_CPU_MULT'],
    default: 0.7,
    doc: 'Weight of the processor in how busy the machine is.',
  },
  resourceMemMultiplier: {
    type: number({min: 0}),
    env: ['SVC_ORCHESTRATOR_RESOURCE_MEM_MULT'],
    default: 0.3,
    doc: 'Weight of memory in how busy the machine is.',
  },
  resourceExponent: {
    type: number({above: 0}),
    env: ['SVC_ORCHESTRATOR_RESOURCE_EXPONENT'],
    default: 1,
    doc: 'Exponent of how busy the machine is: above 1 only a very busy one counts.',
  },
}))
