import type {ApiDocument, EndpointCall} from '../app-database.js'
import type {OperationContext} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {object, text} from '../schema.js'

const call = object(
  {
    endpoint: text('Name of the endpoint: its operationId in the document.', {minLength: 1, maxLength: 256}),
    arguments: object({}, {open: true}),
  },
  {required: ['endpoint']},
)
const result = object(
  {result: {description: 'What the endpoint returns; null if it returns nothing.'}},
  {required: ['result']},
)

/** Calls an endpoint. @param reads whether it must be one that reads, or one that changes */
const callThat =
  (reads: boolean) =>
  async (input: EndpointCall, {sources, signal}: OperationContext): Promise<{result: unknown}> => {
    const {callEndpoint, withDatabase} = await import('../app-database.js')
    return withDatabase(sources, async (client) => ({result: await callEndpoint(client, input, {reads, signal})}))
  }

/** The database of a program that `svc db serve` serves, through the endpoints that the program declares. */
export const databaseOperations: readonly Operation[] = [
  operation<object, {server: string; document: ApiDocument}>({
    name: 'describe_database',
    title: 'Describe the database of the program',
    summary: 'Show the tables and the endpoints of the running svc db serve as an OpenAPI document.',
    effect: 'read',
    idempotent: true,
    openWorld: true,
    input: object({}),
    output: object(
      {server: text('Base URL of the server.'), document: object({}, {open: true})},
      {required: ['server', 'document']},
    ),
    bindings: {rpc: {method: 'db.describe'}},
    async run(_, {sources, signal}) {
      const {readDocument, withDatabase} = await import('../app-database.js')
      return withDatabase(sources, async (client) => ({
        server: client.baseUrl,
        document: await readDocument(client, signal),
      }))
    },
  }),
  operation<EndpointCall, {result: unknown}>({
    name: 'query_database',
    title: 'Query the database of the program',
    summary: 'Call an endpoint of the running svc db serve that reads.',
    effect: 'read',
    idempotent: true,
    openWorld: true,
    input: call,
    output: result,
    bindings: {rpc: {method: 'db.query'}},
    run: callThat(true),
  }),
  operation<EndpointCall, {result: unknown}>({
    name: 'change_database',
    title: 'Change the database of the program',
    summary: 'Call an endpoint of the running svc db serve, which checks the change.',
    effect: 'destructive',
    idempotent: false,
    openWorld: true,
    input: call,
    output: result,
    bindings: {rpc: {method: 'db.change'}},
    run: callThat(false),
  }),
]
