import {isDeepStrictEqual} from 'node:util'
import type {Schema} from '../../src/contracts/index.js'
import {daemonMethods, daemonProtocol} from '../../src/operations/daemon-methods.js'
import {object, oneOf, partOf} from '../../src/operations/schema.js'
import {shapes} from '../../src/operations/shapes.js'
import {operations} from '../../src/operations/table.js'
import {choose, envelopes, has, isOneOf, ref} from './rpc-envelopes.js'

/** A method of the daemon, as seen by a client. */
export interface RpcMethod {
  readonly method: string
  readonly aliases: readonly string[]
  readonly summary: string
  readonly input: Schema
  readonly output: Schema
}

/** All methods: those of the daemon itself, then the operations in the order of the table. */
export const rpcMethods: readonly RpcMethod[] = [
  ...daemonMethods.map(({aliases = [], ...own}) => ({...own, aliases})),
  ...operations.flatMap(({summary, input, output, bindings: {rpc}}) =>
    rpc === undefined ? [] : [{method: rpc.method, aliases: rpc.aliases ?? [], summary, input, output}],
  ),
]

/** Families of methods; each has its own enumeration. */
const families: readonly (readonly [name: string, isOf: (method: string) => boolean])[] = [
  ['OrchMethod', (method) => method.startsWith('orch.')],
  ['AiMethod', (method) => method.startsWith('ai.')],
  ['OtherMethod', (method) => !/^(orch|ai)\./.test(method)],
]

/**
 * The contract between the daemon and its clients, as a JSON Schema (draft 2020-12): the methods, their parameters and
 * results, and the lines in both formats.
 */
export function rpcContract(): Schema {
  const names = rpcMethods.flatMap(({method, aliases}) => [method, ...aliases])
  const shared = new Map<string, unknown>()
  const part = (schema: Schema): Schema => {
    const {$defs = {}, ...own} = partOf(schema)
    for (const [name, definition] of Object.entries($defs as object)) share(shared, name, definition)
    return withReferences(own) as Schema
  }
  const methods = rpcMethods.flatMap(({method, summary, input, output}) => [
    [`${method}.params`, {description: summary, ...part(input)}] as const,
    [`${method}.result`, part(output)] as const,
  ])
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'urn:svc:contract:orchestration/orch-daemon-rpc-methods',
    title: 'OrchDaemonRpcMethods',
    description:
      'Messages between the daemon and its clients, one JSON value per line. A value with a protocol describes the daemon itself; every other value is a line.',
    type: ['object', 'array'],
    properties: {protocol: {const: daemonProtocol}},
    ...choose([[has('protocol'), ref('About')]], ref('Line')),
    $defs: {
      ...Object.fromEntries(families.map(([name, isOf]) => [name, oneOf(names.filter(isOf))])),
      Method: {anyOf: families.map(([name]) => ref(name))},
      ...envelopes,
      Call: {
        description: 'A method and its parameters.',
        type: 'object',
        allOf: rpcMethods.map(({method, aliases, input}) => callOf([method, ...aliases], method, input)),
      },
      ...shapes,
      ...Object.fromEntries(shared),
      ...Object.fromEntries(methods),
    },
  }
}

/** Names of shared definitions, which other schemas refer to. */
const definitions: ReadonlyMap<unknown, string> = new Map([
  ...rpcMethods.flatMap(({method, input, output}): [Schema, string][] => [
    [input, `${method}.params`],
    [output, `${method}.result`],
  ]),
  ...Object.entries(shapes).map(([name, shape]): [Schema, string] => [shape, name]),
])

/** The schema with references instead of shared definitions. */
function withReferences(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const refer = (member: unknown) => {
    const name = definitions.get(member)
    return name === undefined ? withReferences(member) : ref(name)
  }
  if (Array.isArray(value)) return value.map(refer)
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, refer(member)]))
}

function callOf(names: readonly string[], method: string, {required = []}: {required?: readonly unknown[]}): Schema {
  const params = ref(`${method}.params`)
  // Without required parameters, params can be omitted. In JSON-RPC 2.0, which permits null here, null means the same.
  const schema =
    required.length === 0
      ? object({params: choose([[{type: 'null'}, {}]], params)}, {open: true})
      : object({params}, {required: ['params'], open: true})
  return choose([[isOneOf('method', names), schema]], {})
}

/** Adds a definition of a part to the shared ones. @throws TypeError if a different one has the same name */
function share(shared: Map<string, unknown>, name: string, definition: unknown): void {
  if (shared.has(name) && !isDeepStrictEqual(shared.get(name), definition))
    throw new TypeError(`${name} has two definitions`)
  shared.set(name, definition)
}
