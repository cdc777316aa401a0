import type {OrchAttentionV1} from '../../contracts/index.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, number, object, oneOf, text} from '../schema.js'

const hours = integer('Only events of the last hours.', {minimum: 1, maximum: 8760, default: 24})
const budget = object(
  {
    enabled: flag(),
    spent_ms: integer(),
    max_attention_ms: integer(),
    spent_ratio: number('Share of the budget that is spent; exhausted from 1.'),
    signal: oneOf(['normal', 'high', 'critical']),
    focus_depth: oneOf(['ambient', 'focused', 'deep']),
  },
  {required: ['enabled', 'spent_ms', 'max_attention_ms', 'spent_ratio', 'signal', 'focus_depth'], open: true},
)
const events = list(
  object(
    {event_type: text(), task_id: integer(), cost_ms: integer(), outcome: text(), timestamp_ms: integer()},
    {required: ['event_type', 'cost_ms', 'timestamp_ms'], open: true},
  ),
)

/** The attention budget of the user. */
export const attentionOperations: readonly Operation[] = [
  operation<{hours?: number}, {budget: OrchAttentionV1['budget']; event_count: number}>({
    name: 'attention_summary',
    title: 'Show the attention budget',
    summary: 'Show how much of the attention of the user is spent.',
    effect: 'read',
    idempotent: true,
    input: object({hours}),
    output: object({budget, event_count: integer()}, {required: ['budget', 'event_count']}),
    bindings: {
      rpc: {method: 'orch.attention.summary'},
      tool: {name: 'svc_attention_summary', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch attention', own: true},
    },
    run: (input, {modules, orchestrator}) => ({
      budget: modules.tasks.attentionBudget(orchestrator),
      event_count: modules.tasks.attentionHistory(orchestrator, input.hours).length,
    }),
  }),
  operation<{hours?: number}, Pick<OrchAttentionV1, 'events'>>({
    name: 'attention_history',
    title: 'List attention events',
    summary: 'List requests to the user and decisions about them, newest first.',
    effect: 'read',
    idempotent: true,
    input: object({hours}),
    output: object({events}, {required: ['events']}),
    bindings: {
      rpc: {method: 'orch.attention.history'},
      tool: {name: 'svc_attention_history', tier: 'advanced', lane: 'workflow'},
    },
    run: (input, {modules, orchestrator}) => ({events: modules.tasks.attentionHistory(orchestrator, input.hours)}),
  }),
  operation<object, Pick<OrchAttentionV1, 'budget'>>({
    name: 'attention_reset',
    title: 'Reset the attention budget',
    summary: 'Restart the attention budget of the user.',
    effect: 'write',
    idempotent: true,
    input: object({}),
    output: object({budget}, {required: ['budget']}),
    bindings: {
      rpc: {method: 'orch.attention.reset'},
      tool: {name: 'svc_attention_reset', tier: 'advanced', lane: 'workflow'},
    },
    run: (_, {modules, orchestrator}) => ({budget: modules.tasks.resetAttention(orchestrator)}),
  }),
]
