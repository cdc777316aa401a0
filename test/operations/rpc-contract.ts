import {isDeepStrictEqual} from 'node:util'
import type {Schema} from '../../src/contracts/index.js'
import {daemonMethods, daemonProtocol} from '../../src/operations/daemon-methods.js'
import {object, oneOf, partOf} from '../../src/operations/schema.js'
import {shapes} from '../../src/operations/shapes.js'
import {operations} from '../../src/operations/table.js'
import {choose, envelopes, has, isOneOf, ref} from './rpc-envelopes.js'

/** A method of the daemon, as far as a client sees it. */
export interface RpcMethod {
  readonly method: string
  readonly aliases: readonly string[]
  readonly summary: string
  readonly input: Schema
  readonly output: Schema
}

/** Every method: what the daemon answers itself, then the operations in the order of the table. */
export const rpcMethods: readonly RpcMethod[] = [
  ...daemonMethods.map(({aliases = [], ...own}) => ({...own, aliases})),
  ...operations.flatMap(({summary, input, output, bindings: {rpc}}) =>
    rpc === undefined ? [] : [{method: rpc.method, aliases: rpc.aliases ?? [], summary, input, output}],
  ),
]

/** Of which family a method is: each has an enumeration of its own. */
const families: readonly (readonly [name: string, isOf: (method: string) => boolean])[] = [
  ['OrchMethod', (method) => method.startsWith('orch.')],
  ['AiMethod', (method) => method.startsWith('ai.')],
  ['OtherMethod', (method) => !/^(orch|ai)\./.test(method)],
]

/**
 * The contract of what the daemon and its clients say to each other, as a JSON Schema (draft 2020-12): the methods, what
 * each takes and gives, and the lines in both forms.
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
      'What the daemon and its clients say to each other, one JSON value per line. A value with a protocol is what the daemon tells of itself; every other one is a line.',
    type: ['object', 'array'],
    properties: {protocol: {const: daemonProtocol}},
    ...choose([[has('protocol'), ref('About')]], ref('Line')),
    $defs: {
      ...Object.fromEntries(families.map(([name, isOf]) => [name, oneOf(names.filter(isOf))])),
      Method: {anyOf: families.map(([name]) => ref(name))},
      ...envelopes,
      Call: {
        description: 'A method, and what it takes.',
        type: 'object',
        allOf: rpcMethods.map(({method, aliases, input}) => callOf([method, ...aliases], method, input)),
      },
      ...shapes,
      ...Object.fromEntries(shared),
      ...Object.fromEntries(methods),
    },
  }
}

/** What is defined under a name, in the place of which others refer to it. */
const definitions: ReadonlyMap<unknown, string> = new Map([
  ...rpcMethods.flatMap(({method, input, output}): [Schema, string][] => [
    [input, `${method}.params`],
    [output, `${method}.result`],
  ]),
  ...Object.entries(shapes).map(([name, shape]): [Schema, string] => [shape, name]),
])

/** The members of a schema, each a reference where it is defined under a name. */
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
  // Who need say nothing may leave the params out; in JSON-RPC 2.0, which alone has null there, that is the same.
  const schema =
    required.length === 0
      ? object({params: choose([[{type: 'null'}, {}]], params)}, {open: true})
      : object({params}, {required: ['params'], open: true})
  return choose([[isOneOf('method', names), schema]], {})
}

/** Definitions of the parts become those of the whole. @throws TypeError where two of one name differ */
function share(shared: Map<string, unknown>, name: string, definition: unknown): void {
  if (shared.has(name) && !isDeepStrictEqual(shared.get(name), definition))
    throw new TypeError(`two definitions of ${name}`)
  shared.set(name, definition)
}
