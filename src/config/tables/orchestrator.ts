import {sectionSettings} from '../setting.js'
import {type FileGroup, fileGroups, tableOf} from '../structures.js'
import {boolean, choice, integer, milliseconds, number, path, text} from '../types.js'

/** How tasks are taken, kept and given to agents. */
export const orchestratorSettings = sectionSettings('orchestrator', () => ({
  enabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_ENABLED'],
    default: true,
    doc: 'Take new tasks.',
  },
  maxAgents: {
    type: integer({min: 1, max: 256}),
    env: ['SVC_ORCHESTRATOR_MAX_AGENTS'],
    default: 8,
    doc: 'Most agents at once.',
  },
  minAgents: {
    type: integer({min: 0, max: 256}),
    env: ['SVC_ORCHESTRATOR_MIN_AGENTS'],
    default: 1,
    doc: 'Agents that are never retired for lack of work.',
  },
  lockTimeoutMs: {
    type: milliseconds(100),
    env: ['SVC_ORCHESTRATOR_LOCK_TIMEOUT_MS'],
    default: 30_000,
    doc: 'Milliseconds after which the lock on a file counts as forgotten, unless a task that runs holds it.',
  },
  logLevel: {
    type: text('a level'),
    env: ['SVC_ORCHESTRATOR_LOG_LEVEL'],
    default: 'info',
    doc: 'How much the orchestrator logs: error, warn, info, debug or trace; any other word is info.',
  },
  fallbackToSingleAgent: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_FALLBACK_SINGLE'],
    default: true,
    doc: 'Give a task that suits no agent in particular to the one with the least to do, instead of a new one.',
  },
  defaultPriority: {
    type: choice('background', 'normal', 'urgent'),
    default: 'normal',
    doc: 'Priority of a task that names none.',
  },
  costPreference: {
    type: choice('performance', 'economy'),
    env: ['SVC_ORCHESTRATOR_COST_PREFERENCE'],
    default: 'performance',
    doc: 'Whether the usual model or the cheapest one comes first.',
  },
  taskTimeoutMs: {
    type: milliseconds(1),
    default: 1_800_000,
    doc: 'Milliseconds after which a running task fails.',
  },
  staleThresholdMs: {
    type: milliseconds(),
    default: 60_000,
    doc: 'Milliseconds without a sign of life after which an agent or a node counts as stale; 0 takes no node for stale.',
  },
  heartbeatIntervalMs: {
    type: milliseconds(1),
    default: 5000,
    doc: 'Milliseconds between two signs of life of an agent.',
  },
  maxTaskRetries: {
    type: integer({min: 0, max: 20}),
    default: 0,
    doc: 'How often a task is tried again when a server or a connection failed it.',
  },
  maxQueueLen: {
    type: integer({min: 0}),
    default: 0,
    doc: 'Tasks that may wait; 0 sets no limit.',
  },
  queueOverflowStrategy: {
    type: choice('block', 'drop_lowest', 'spawn_new_agent'),
    default: 'spawn_new_agent',
    doc: 'What a full queue does: refuse the new task, drop the least urgent one, or start another agent.',
  },
  scopeEnforcement: {
    type: choice('strict', 'warn', 'disabled'),
    default: 'warn',
    doc: 'What becomes of a task that writes outside the scope of its agent.',
  },
  durability: {
    type: choice('normal', 'full'),
    default: 'normal',
    doc: 'Whether the latest tasks outlive a crash of svc (normal) or a power failure too (full).',
  },
  eventRetentionDays: {
    type: integer({min: 1, max: 36_500}),
    default: 90,
    doc: 'Days for which events, the output of commands, and what can be undone are kept.',
  },
  eventLog: {
    type: path(),
    env: ['SVC_ORCHESTRATOR_EVENT_LOG'],
    doc: 'File to which svc daemon run appends what happens while it runs, an event a line.',
  },
  lineageOff: {
    type: boolean('flag'),
    env: ['SVC_ORCH_LINEAGE_OFF'],
    default: false,
    doc: 'Keep no record of which task came from which plan, session or workflow.',
  },
  unifiedRouting: {
    type: boolean('flag'),
    env: ['SVC_UNIFIED_ROUTING'],
    default: false,
    doc: 'Mark the recorded reasons of a choice of model as those of the unified experiment.',
  },
  defaultProcessor: {
    type: choice('ai', 'exec', 'external'),
    default: 'ai',
    doc: 'What runs a task that names no processor.',
  },
  modelPrices: {
    type: tableOf(number({min: 0})),
    default: {} as Readonly<Record<string, number>>,
    doc: 'Price of each model in US dollars per 1,000 tokens.',
  },
  affinityGroups: {
    type: fileGroups(),
    toml: ['affinity_groups'],
    default: [] as readonly FileGroup[],
    doc: 'Files that should go to the same agent; without any they are read off the layout of the workspace.',
  },
}))
