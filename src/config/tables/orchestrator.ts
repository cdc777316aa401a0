import {sectionSettings} from '../setting.js'
import {type FileGroup, fileGroups, tableOf} from '../structures.js'
import {boolean, choice, integer, list, milliseconds, number, path, text} from '../types.js'

/** Acceptance, storage and execution of tasks. */
export const orchestratorSettings = sectionSettings('orchestrator', () => ({
  enabled: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_ENABLED'],
    default: true,
    doc: 'Accept new tasks.',
  },
  maxAgents: {
    type: integer({min: 1, max: 256}),
    env: ['SVC_ORCHESTRATOR_MAX_AGENTS'],
    default: 8,
    doc: 'Maximum number of agents.',
  },
  minAgents: {
    type: integer({min: 0, max: 256}),
    env: ['SVC_ORCHESTRATOR_MIN_AGENTS'],
    default: 1,
    doc: 'Minimum number of agents; idle agents are kept up to this number.',
  },
  lockTimeoutMs: {
    type: milliseconds(100),
    env: ['SVC_ORCHESTRATOR_LOCK_TIMEOUT_MS'],
    default: 30_000,
    doc: 'Time after which a file lock expires unless its task is running, in milliseconds.',
  },
  logLevel: {
    type: text('a level'),
    env: ['SVC_ORCHESTRATOR_LOG_LEVEL'],
    default: 'info',
    doc: 'Log level of orchestrator events: error, warn, info, debug or trace; any other word is info.',
  },
  fallbackToSingleAgent: {
    type: boolean('strict'),
    env: ['SVC_ORCHESTRATOR_FALLBACK_SINGLE'],
    default: true,
    doc: 'Assign a task that matches no agent to the best existing one instead of a general-purpose agent.',
  },
  defaultPriority: {
    type: choice('background', 'normal', 'urgent'),
    default: 'normal',
    doc: 'Priority of a task that specifies none.',
  },
  costPreference: {
    type: choice('performance', 'economy'),
    env: ['SVC_ORCHESTRATOR_COST_PREFERENCE'],
    default: 'performance',
    doc: 'Whether the usual model (performance) or the cheapest model (economy) is preferred.',
  },
  taskTimeoutMs: {
    type: milliseconds(1),
    default: 1_800_000,
    doc: 'Time after which a running task fails, in milliseconds.',
  },
  staleThresholdMs: {
    type: milliseconds(),
    default: 60_000,
    doc: 'Time without activity after which an agent or a node counts as stale, in milliseconds; 0 is never.',
  },
  heartbeatIntervalMs: {
    type: milliseconds(1),
    default: 5000,
    doc: 'Heartbeat interval expected of external workers, in milliseconds; a claim expires after four of them.',
  },
  maxTaskRetries: {
    type: integer({min: 0, max: 20}),
    default: 0,
    doc: 'Maximum number of retries after a server or connection failure.',
  },
  maxQueueLen: {
    type: integer({min: 0}),
    default: 0,
    doc: 'Maximum number of queued tasks; 0 sets no limit.',
  },
  queueOverflowStrategy: {
    type: choice('block', 'drop_lowest', 'spawn_new_agent'),
    default: 'spawn_new_agent',
    doc: 'Action when the queue is full: refuse the new task, drop the least urgent one, or start another agent.',
  },
  bulletinCapacity: {
    type: integer({min: 1}),
    default: 256,
    doc: 'Maximum number of entries of the bulletin board that a reader may lag behind; older ones are skipped.',
  },
  eventBusCapacity: {
    type: integer({min: 1}),
    default: 1024,
    doc: 'Maximum number of in-memory messages in all inboxes together; older ones are dropped.',
  },
  scopeEnforcement: {
    type: choice('strict', 'warn', 'disabled'),
    default: 'warn',
    doc: 'Action when a task writes outside the scope of its agent: refuse it, record an event, or none.',
  },
  durability: {
    type: choice('normal', 'full'),
    default: 'normal',
    doc: 'Whether the latest tasks survive a crash of svc only (normal) or also a power failure (full).',
  },
  eventRetentionDays: {
    type: integer({min: 1, max: 36_500}),
    default: 90,
    doc: 'Days for which events, command output and undo records are kept.',
  },
  workflowRetentionDays: {
    type: integer({min: 1, max: 36_500}),
    default: 30,
    doc: 'Days after which the daemon deletes workflow runs that have ended and cannot be resumed.',
  },
  workflowOutputMaxBytes: {
    type: integer({min: 0, max: 2 ** 40}),
    default: 2 ** 26,
    doc: 'Maximum bytes of the output of a workflow step to write to a file if its result has only a part; 0 writes none.',
  },
  workflowFiles: {
    type: list(),
    default: [] as readonly string[],
    doc: 'Workflow files whose workflows with cron the daemon starts.',
  },
  eventLog: {
    type: path(),
    env: ['SVC_ORCHESTRATOR_EVENT_LOG'],
    doc: 'File to which svc daemon run appends each event as a JSON line.',
  },
  lineageOff: {
    type: boolean('flag'),
    env: ['SVC_ORCH_LINEAGE_OFF'],
    default: false,
    doc: 'Do not record which plan, session or workflow a task came from.',
  },
  unifiedRouting: {
    type: boolean('flag'),
    env: ['SVC_UNIFIED_ROUTING'],
    default: false,
    doc: 'Mark the recorded reasons of model choices as part of the unified routing experiment.',
  },
  defaultProcessor: {
    type: choice('ai', 'exec', 'external'),
    default: 'ai',
    doc: 'Processor of a task that specifies none.',
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
    doc: 'Groups of files to assign to the same agent: default_agent, or else the agent with the name of the group; default: derived from the workspace layout.',
  },
}))
