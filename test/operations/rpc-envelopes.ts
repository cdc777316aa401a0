import type {Schema} from '../../src/contracts/index.js'
import {daemonNotifications, daemonProtocol} from '../../src/operations/daemon-methods.js'
import {flag, integer, list, object, oneOf, text} from '../../src/operations/schema.js'

/** Codes of JSON-RPC 2.0 and of the daemon; 1 is any failure without its own code. */
const errorCodes = [-32_700, -32_600, -32_601, -32_602, 1, 403, 404, 409, 503, 504]

const errorData = object(
  {
    kind: text('Error code, the same on every surface.'),
    remediation: text('Suggested fix.'),
    path: text('JSON pointer to the invalid parameter.'),
    facts: object({}, {open: true}),
    meta: {...object({}, {open: true}), description: 'Further details, such as the diagnostics of a program.'},
  },
  {required: ['kind', 'remediation', 'facts']},
)

/** In a JSON pointer, a slash is `~1`. */
export const ref = (name: string): Schema => ({$ref: `#/$defs/${name.replaceAll('/', '~1')}`})
const version: Schema = {const: '2.0'}
const wrappedId = text()
const jsonRpcId: Schema = {type: ['string', 'number', 'null']}
const anything: Schema = {}

/** Matches an object that has a member. */
export const has = (name: string): Schema => object({[name]: anything}, {required: [name], open: true})
/** Matches an object in which a member has one of the values. */
export const isOneOf = (name: string, values: readonly string[]): Schema =>
  object({[name]: oneOf(values)}, {required: [name], open: true})

/** The first schema whose condition matches, else the last one, so that violations are reported for the right schema. */
export const choose = (cases: readonly (readonly [condition: Schema, schema: Schema])[], otherwise: Schema): Schema =>
  cases.reduceRight<Schema>(
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    (rest, [condition, schema]) => ({if: condition, then: schema, else: rest}),
    otherwise,
  )

/**
 * Lines in both formats; the response has the format of the request. `Method` and `Call` are defined in
 * `rpcContract`.
 */
export const envelopes: Readonly<Record<string, Schema>> = {
  ErrorData: errorData,
  About: {
    ...object(
      {
        ok: flag(),
        protocol: {const: daemonProtocol},
        server_version: text(),
        repository_id: text(),
        methods: list(text()),
        pid: integer(),
        process_start: text(),
        addr: {type: ['string', 'null']},
        started_at_ms: integer(),
        ending: flag(),
      },
      {required: ['protocol']},
    ),
    description: 'Description of the daemon: the result of ping and hello, and the content of its discovery file.',
  },
  Line: {
    description: 'A request or a response; JSON-RPC 2.0 also permits several in one line.',
    ...choose([[{type: 'array'}, {...list(ref('JsonRpcMessage')), minItems: 1}]], ref('Message')),
  },
  Message: choose([[has('jsonrpc'), ref('JsonRpcMessage')]], ref('WrappedMessage')),
  WrappedMessage: choose([[has('method'), ref('WrappedRequest')]], {
    anyOf: ['WrappedResult', 'WrappedError', 'WrappedEvent'].map(ref),
  }),
  JsonRpcMessage: choose(
    [
      [
        isOneOf(
          'method',
          daemonNotifications.map(({method}) => method),
        ),
        ref('JsonRpcEvent'),
      ],
      [has('method'), ref('JsonRpcRequest')],
      [has('error'), ref('JsonRpcError')],
    ],
    ref('JsonRpcResult'),
  ),
  WrappedRequest: {
    ...object({id: wrappedId, method: ref('Method'), params: {type: 'object'}}, {required: ['id', 'method', 'params']}),
    ...ref('Call'),
  },
  WrappedResult: wrapped({type: {const: 'result'}, value: anything}),
  WrappedError: wrapped(
    {type: {const: 'error'}, message: text(), code: {const: 1}, kind: text(), data: ref('ErrorData')},
    ['type', 'message', 'code', 'kind'],
  ),
  JsonRpcRequest: {
    ...object(
      {jsonrpc: version, id: jsonRpcId, method: ref('Method'), params: {type: ['object', 'null']}},
      {required: ['jsonrpc', 'method'], open: true},
    ),
    ...ref('Call'),
    description: 'A request without an id is a notification, which gets no response.',
  },
  JsonRpcResult: object({jsonrpc: version, id: jsonRpcId, result: anything}, {required: ['jsonrpc', 'id', 'result']}),
  JsonRpcError: object(
    {
      jsonrpc: version,
      id: jsonRpcId,
      error: object(
        {code: {enum: errorCodes}, message: text(), data: ref('ErrorData')},
        {required: ['code', 'message', 'data']},
      ),
    },
    {required: ['jsonrpc', 'id', 'error']},
  ),
  WrappedEvent: {
    anyOf: daemonNotifications.map(({type, summary, params}) => {
      const {properties, required} = params as {properties: Readonly<Record<string, Schema>>; required: string[]}
      return {description: summary, ...wrapped({type: {const: type}, ...properties}, ['type', ...required])}
    }),
  },
  JsonRpcEvent: {
    anyOf: daemonNotifications.map(({method, summary, params}) => ({
      description: summary,
      ...object({jsonrpc: version, method: {const: method}, params}, {required: ['jsonrpc', 'method', 'params']}),
    })),
  },
}

function wrapped(payload: Readonly<Record<string, Schema>>, required = Object.keys(payload)): Schema {
  return object({id: wrappedId, payload: object(payload, {required})}, {required: ['id', 'payload']})
}
