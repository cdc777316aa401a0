import type {OrchSessionInfoV1, OrchSessionV1} from '../../contracts/index.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {agentId, flag, integer, list, object, oneOf, text} from '../schema.js'

const id = text('Id of the session, such as sess_69a1b2c3_1_0f3c.', {minLength: 1, maxLength: 128})
const named = object({session_id: id}, {required: ['session_id']})

const infoMembers = {
  id: text(),
  agent_id: text('Name of the agent.'),
  tenant_id: {type: ['string', 'null']},
  state: oneOf(['active', 'idle', 'compacted', 'archived']),
  turn_count: integer('Number of turns ever added.'),
  token_count: integer('Tokens of all these turns.'),
  created_at: integer('Unix seconds.'),
  last_active: integer('Unix seconds.'),
}
const info = object(infoMembers, {required: Object.keys(infoMembers)})
const turn = object(
  {role: text(), content: text(), tokens: integer(), at: integer('Unix seconds.')},
  {required: ['role', 'content', 'tokens', 'at']},
)

interface Named {
  session_id: string
}

const open = ({modules, orchestrator}: OperationContext) => modules.sessions.sessionsOf(orchestrator)

/** Chat sessions of agents. */
export const sessionOperations: readonly Operation[] = [
  operation<{agent_id: string | number; tenant_id?: string}, OrchSessionInfoV1>({
    name: 'session_create',
    title: 'Create a session',
    summary: 'Create a chat session for an agent.',
    effect: 'write',
    idempotent: false,
    input: object(
      {agent_id: agentId, tenant_id: text('Tenant that the session belongs to.', {minLength: 1, maxLength: 256})},
      {required: ['agent_id']},
    ),
    output: info,
    bindings: {
      rpc: {method: 'orch.session.create'},
      tool: {name: 'svc_session_create', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch session create', renames: {agent: 'agent_id'}, args: ['agent']},
    },
    run({agent_id, tenant_id}, context) {
      const {modules, orchestrator} = context
      return orchestrator.store.transaction(() => {
        const {id: agent, name} = modules.tasks.requireAgent(orchestrator, agent_id)
        const session = open(context).create(name, tenant_id)
        modules.tasks.appendEvent(orchestrator, {type: 'session_created', agent_id: agent, session_id: session.id})
        return modules.sessions.sessionInfo(session)
      })
    },
  }),
  operation<object, {sessions: OrchSessionInfoV1[]}>({
    name: 'session_list',
    title: 'List sessions',
    summary: 'List the chat sessions of this workspace, oldest first.',
    effect: 'read',
    idempotent: true,
    input: object({}),
    output: object({sessions: list(info)}, {required: ['sessions']}),
    bindings: {
      rpc: {method: 'orch.session.list'},
      tool: {name: 'svc_session_list', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch session list'},
    },
    run: (_, context) => ({sessions: open(context).list().map(context.modules.sessions.sessionInfo)}),
  }),
  operation<Named & {limit?: number}, OrchSessionV1>({
    name: 'session_info',
    title: 'Show a session',
    summary: 'Show a chat session with its latest turns.',
    effect: 'read',
    idempotent: true,
    input: object(
      {
        session_id: id,
        limit: integer('Maximum number of turns, latest last.', {minimum: 0, maximum: 1000, default: 50}),
      },
      {required: ['session_id']},
    ),
    output: object(
      {
        ...infoMembers,
        meta: {type: 'object', additionalProperties: {type: 'string'}},
        turns: list(turn, 'The latest turns since the last reset or compaction, oldest first.'),
      },
      {required: [...Object.keys(infoMembers), 'meta', 'turns']},
    ),
    bindings: {
      rpc: {method: 'orch.session.info'},
      tool: {name: 'svc_session_info', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch session show', renames: {id: 'session_id'}, args: ['id']},
    },
    run({session_id, limit = 50}, context) {
      const session = open(context).load(session_id)
      return {
        ...context.modules.sessions.sessionInfo(session),
        meta: {...session.meta},
        turns: limit === 0 ? [] : session.turns.slice(-limit).map((each) => ({...each})),
      }
    },
  }),
  operation<Named, {session_id: string; turns_cleared: number}>({
    name: 'session_reset',
    title: 'Reset a session',
    summary: 'Delete the turns of a chat session.',
    effect: 'destructive',
    idempotent: true,
    input: named,
    output: object({session_id: text(), turns_cleared: integer()}, {required: ['session_id', 'turns_cleared']}),
    bindings: {
      rpc: {method: 'orch.session.reset'},
      tool: {name: 'svc_session_reset', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch session reset', renames: {id: 'session_id'}, args: ['id']},
    },
    run({session_id}, context) {
      const {modules, orchestrator} = context
      return orchestrator.store.transaction(() => {
        const turns_cleared = open(context).reset(session_id)
        modules.tasks.appendEvent(orchestrator, {type: 'session_reset', session_id, turns_cleared})
        return {session_id, turns_cleared}
      })
    },
  }),
  operation<Named & {summary?: string}, {session_id: string; turns_removed: number; summary: string}>({
    name: 'session_compact',
    title: 'Compact a session',
    summary: 'Compact a chat session into one turn with a summary.',
    effect: 'destructive',
    idempotent: false,
    input: object(
      {
        session_id: id,
        summary: text('Summary of the turns. (default: the beginning of each turn)', {
          minLength: 1,
          maxLength: 65_536,
        }),
      },
      {required: ['session_id']},
    ),
    output: object(
      {session_id: text(), turns_removed: integer(), summary: text()},
      {required: ['session_id', 'turns_removed', 'summary']},
    ),
    bindings: {
      rpc: {method: 'orch.session.compact'},
      tool: {name: 'svc_session_compact', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch session compact', renames: {id: 'session_id'}, args: ['id'], piped: ['summary']},
    },
    run({session_id, summary: written}, context) {
      const {modules, orchestrator} = context
      return orchestrator.store.transaction(() => {
        const sessions = open(context)
        const summary = written?.trim() || modules.sessions.summariseTurns(sessions.load(session_id).turns)
        return {session_id, turns_removed: sessions.compact(session_id, summary), summary}
      })
    },
  }),
  operation<object, {ok: true; removed: string[]}>({
    name: 'session_cleanup',
    title: 'Remove archived sessions',
    summary: 'Remove the archived chat sessions of this workspace.',
    effect: 'destructive',
    idempotent: true,
    input: object({}),
    output: object({ok: flag(), removed: list(text(), 'Ids of the removed sessions.')}, {required: ['ok', 'removed']}),
    bindings: {
      rpc: {method: 'orch.session.cleanup'},
      tool: {name: 'svc_session_cleanup', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch session cleanup'},
    },
    run(_, context) {
      const sessions = open(context)
      // Without a daemon, no one else applies the timers.
      sessions.tick()
      return {ok: true, removed: sessions.cleanup()}
    },
  }),
]
