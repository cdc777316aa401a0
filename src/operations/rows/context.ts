import type {ResultOf} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {agentId, flag, integer, list, number, object, text} from '../schema.js'

const key = text('Key, such as plan.summary; context_envelope:ID for the context envelope of a session.', {
  minLength: 1,
  maxLength: 512,
})
// The key of the envelope of a session contains its id, which can be longer than a key that callers choose.
const maxKeyLength = 2304

const setBy = {type: ['integer', 'null'], description: 'Agent that set the entry, if known.'}
const expiresAt = integer('Unix seconds; 0: never.')
const setAt = integer('Unix seconds.')
const entry = object(
  {agent_id: setBy, value: text(), expires_at: expiresAt, set_at: setAt},
  {required: ['agent_id', 'value', 'expires_at', 'set_at']},
)
const listed = object(
  {
    key: text(),
    agent_id: setBy,
    value: text('The first 1000 characters of the value.'),
    length: integer('Length of the complete value in characters.'),
    expires_at: expiresAt,
    set_at: setAt,
  },
  {required: ['key', 'agent_id', 'value', 'length', 'expires_at', 'set_at']},
)

/** The context store: short texts that the agents of a workspace share. */
export const contextOperations: readonly Operation[] = [
  operation<{key: string; value: string; agent_id?: string | number; ttl_secs?: number; confidence?: number}, object>({
    name: 'context_set',
    title: 'Set a context entry',
    summary: 'Store a text under a key, for all agents of this workspace.',
    effect: 'write',
    idempotent: true,
    input: object(
      {
        key,
        value: text('Text to store; a context envelope is JSON.', {maxLength: 262_144}),
        agent_id: {...agentId, description: 'Agent that sets the entry: its name or id.'},
        ttl_secs: integer('Seconds until the entry expires; 0: never.', {
          minimum: 0,
          maximum: 315_360_000,
          default: 0,
        }),
        confidence: number('How sure the agent is of the text, 0 to 1.', {minimum: 0, maximum: 1}),
      },
      {required: ['key', 'value']},
    ),
    output: object({ok: flag(), expires_at: expiresAt, set_at: setAt}, {required: ['ok', 'expires_at', 'set_at']}),
    bindings: {
      rpc: {method: 'orch.context_set'},
      tool: {name: 'svc_context_set', tier: 'advanced', lane: 'workflow'},
    },
    run({key: name, value, agent_id, ttl_secs: ttlSecs, confidence}, {modules, orchestrator}) {
      const agentId = agent_id === undefined ? undefined : modules.tasks.requireAgent(orchestrator, agent_id).id
      const {expires_at, set_at} = modules.tasks.setContext(orchestrator, {
        key: name,
        value,
        agentId,
        ttlSecs,
        confidence,
      })
      return {ok: true, expires_at, set_at}
    },
  }),
  operation<{key: string}, {entry: ResultOf<'setContext'> | null}>({
    name: 'context_get',
    title: 'Show a context entry',
    summary: 'Show the text that is stored under a key.',
    effect: 'read',
    idempotent: true,
    input: object({key: {...key, maxLength: maxKeyLength}}, {required: ['key']}),
    output: object(
      {entry: {...entry, type: ['object', 'null'], description: 'null if there is no entry, or it has expired.'}},
      {required: ['entry']},
    ),
    bindings: {
      rpc: {method: 'orch.context_get'},
      tool: {name: 'svc_context_get', tier: 'advanced', lane: 'workflow'},
    },
    run: ({key: name}, {modules, orchestrator}) => ({entry: modules.tasks.getContext(orchestrator, name) ?? null}),
  }),
  operation<{prefix?: string; after?: string; limit?: number}, {entries: ResultOf<'listContext'>}>({
    name: 'context_list',
    title: 'List context entries',
    summary: 'List the entries of the context store by key, with the beginning of each text.',
    effect: 'read',
    idempotent: true,
    input: object({
      prefix: text('Only keys that begin with this text.', {maxLength: maxKeyLength}),
      after: text('Only keys after this one, to get the next page.', {maxLength: maxKeyLength}),
      limit: integer('Maximum number of entries.', {minimum: 1, maximum: 1000, default: 50}),
    }),
    output: object({entries: list(listed)}, {required: ['entries']}),
    bindings: {
      rpc: {method: 'orch.context_list'},
      tool: {name: 'svc_context_list', tier: 'advanced', lane: 'workflow'},
    },
    run: (input, {modules, orchestrator}) => ({entries: modules.tasks.listContext(orchestrator, input)}),
  }),
]
