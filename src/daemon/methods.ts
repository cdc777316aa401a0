import {nearest, SvcError} from '../errors/index.js'
import {
  type Call,
  createCall,
  type DaemonMethod,
  daemonMethods,
  daemonProtocol,
  type Operation,
  operations,
} from '../operations/index.js'
import type {CallContext} from './caller.js'

export interface Method {
  readonly name: string
  readonly aliases: readonly string[]
  readonly summary: string
  readonly effect: Operation['effect'] | undefined
  readonly call: Call
}

/** Methods of a daemon by name and alias. */
export interface Methods {
  readonly list: readonly Method[]
  /** @throws method_unknown with a similar name */
  find(name: string): Method
}

/** Creates the methods of all operations and of the daemon itself. */
export function createMethods(): Methods {
  const list: Method[] = [
    ...daemonMethods.map((row) => ownMethod(row, () => list)),
    ...operations.flatMap(operationMethod),
  ]
  const byName = new Map(
    list.flatMap((method) => [method.name, ...method.aliases].map((name) => [name, method] as const)),
  )
  return {
    list,
    find(name) {
      const found = byName.get(name)
      if (found !== undefined) return found
      throw new SvcError('method_unknown', {method: name, suggestion: nearest(name, [...byName.keys()])})
    },
  }
}

function operationMethod(row: Operation): Method[] {
  const {rpc} = row.bindings
  if (rpc === undefined) return []
  const {method: name, aliases = []} = rpc
  return [{name, aliases, summary: row.summary, effect: row.effect, call: createCall(row, name)}]
}

type Handler = (input: never, context: CallContext, methods: readonly Method[]) => unknown

/** Methods about the process and the connection. */
const handlers: Readonly<Record<string, Handler>> = {
  'orch.ping': (_, {orchestrator, version}) => ({
    ok: true,
    repository_id: orchestrator.repositoryId,
    protocol: daemonProtocol,
    server_version: version,
    pid: process.pid,
  }),
  'orch.hello'({token, client}: {token?: string; client?: string}, {caller, orchestrator, version}, methods) {
    caller.authenticate(token, client)
    return {
      ok: true,
      protocol: daemonProtocol,
      server_version: version,
      repository_id: orchestrator.repositoryId,
      methods: methods.map(({name}) => name),
    }
  },
  'orch.methods': (_, __, methods) => ({
    methods: methods.map(({name: method, aliases, summary, effect}) => ({
      method,
      ...(aliases.length === 0 ? {} : {aliases}),
      summary,
      ...(effect === undefined ? {} : {effect}),
    })),
  }),
  'orch.events.subscribe'(
    {types, since_id, task_id}: {types?: string[]; since_id?: number; task_id?: number},
    {caller, modules, orchestrator},
  ) {
    if (task_id !== undefined) modules.tasks.requireTask(orchestrator, task_id)
    const {lastEventId, resumeEvents} = modules.tasks
    const since = since_id === undefined ? lastEventId(orchestrator) : resumeEvents(orchestrator, since_id)
    const id = caller.subscribe('event', {
      since,
      ...(types === undefined ? {} : {types}),
      ...(task_id === undefined ? {} : {taskId: task_id}),
    })
    return {subscription_id: id, last_id: since}
  },
  'orch.bulletin.subscribe'({types}: {types?: string[]}, {caller, modules, orchestrator}) {
    const since = modules.tasks.lastEventId(orchestrator)
    return {
      subscription_id: caller.subscribe('bulletin', {since, ...(types === undefined ? {} : {types})}),
      last_id: since,
    }
  },
  'orch.events.unsubscribe'({subscription_id: id}: {subscription_id: string}, {caller}) {
    caller.unsubscribe(id)
    return {ok: true}
  },
  'orch.shutdown'(_, {caller}) {
    caller.shutDown()
    return {ok: true}
  },
}

/** @throws TypeError if a declared method has no handler */
function ownMethod({method: name, aliases = [], summary, input, output}: DaemonMethod, list: () => Method[]): Method {
  const handler = handlers[name]
  if (handler === undefined) throw new TypeError(`no handler for ${name}`)
  const row: Operation = {
    name,
    title: name,
    summary,
    effect: 'read',
    idempotent: true,
    input,
    output,
    bindings: {},
    run: (params, context) => handler(params, context as CallContext, list()),
  }
  return {name, aliases, summary, effect: undefined, call: createCall(row, name)}
}
