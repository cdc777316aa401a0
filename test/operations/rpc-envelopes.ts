import type {Schema} from '../../src/contracts/index.js'
import {daemonNotifications, daemonProtocol} from '../../src/operations/daemon-methods.js'
import {flag, integer, list, object, oneOf, text} from '../../src/operations/schema.js'

/** Of JSON-RPC 2.0 itself, and of the daemon: 1 is a failure that has no number of its own. */
const errorCodes = [-32_700, -32_600, -32_601, -32_602, 1, 403, 404, 409, 503, 504]

const errorData = object(
  {
    kind: text('Code of the error, the same on every surface.'),
    remediation: text('What to do about it.'),
    path: text('JSON pointer to what is wrong in the params.'),
    facts: object({}, {open: true}),
    meta: {...object({}, {open: true}), description: 'What else is to be told, such as the diagnostics of a program.'},
  },
  {required: ['kind', 'remediation', 'facts']},
)

export const ref = (name: string): Schema => ({$ref: `#/$defs/${name}`})
const version: Schema = {const: '2.0'}
const wrappedId = text()
const jsonRpcId: Schema = {type: ['string', 'number', 'null']}
const anything: Schema = {}

/** Whether a member is there. */
export const has = (name: string): Schema => object({[name]: anything}, {required: [name], open: true})
/** Whether a member is there, and one of these. */
export const isOneOf = (name: string, values: readonly string[]): Schema =>
  object({[name]: oneOf(values)}, {required: [name], open: true})

/** The first whose condition holds, else the last: what is wrong is then told of the one that was meant. */
export const choose = (cases: readonly (readonly [condition: Schema, schema: Schema])[], otherwise: Schema): Schema =>
  cases.reduceRight<Schema>(
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    (rest, [condition, schema]) => ({if: condition, then: schema, else: rest}),
    otherwise,
  )

/**
 * Lines in both forms; one is answered in the form that it has. `Method` and `Call` are defined by whoever knows the
 * methods.
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
    description: 'What the daemon tells of itself: the answer of ping and of hello, and the file by which it is found.',
  },
  Line: {
    description: 'What a client sends, or what the daemon answers; in JSON-RPC 2.0 also several in one line.',
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
    description: 'Without an id it is a notification, which is not answered.',
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
