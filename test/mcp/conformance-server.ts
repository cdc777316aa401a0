import {once} from 'node:events'
import {mkdtemp, realpath, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import type {ContentBlock, InputRequest} from '@modelcontextprotocol/server'
import {openWorkspace} from '../../src/cli/open-workspace.js'
import {SvcError} from '../../src/errors/index.js'
import {
  BackgroundCalls,
  type CallHooks,
  callFragment,
  type FixedResource,
  operationTools,
  type PromptRow,
  ResourceFeed,
  serveHttp,
  type Tool,
  ToolRegistry,
  tiersOf,
} from '../../src/mcp/index.js'

type Args = Readonly<Record<string, unknown>>
type Call = (args: Args, hooks: CallHooks) => unknown
type Fixture = [name: string, call: Call, more?: {task?: 'background'; isTaskRequired?: true; input?: Args}]

const text = (properties: object, required: readonly string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
})

/** A pixel, and a recording without a sample. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const wav = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA='

/** A tool result of other content than its envelope. */
class Content {
  readonly parts: readonly ContentBlock[]

  constructor(...parts: ContentBlock[]) {
    this.parts = parts
  }
}

const image: ContentBlock = {type: 'image', data: png, mimeType: 'image/png'}
const words = (said: string): ContentBlock => ({type: 'text', text: said})
const embedded = (uri: string, mimeType: string, content: string): ContentBlock => ({
  type: 'resource',
  resource: {uri, mimeType, text: content},
})

const form = (message: string, requestedSchema: object): InputRequest =>
  ({method: 'elicitation/create', params: {mode: 'form', message, requestedSchema}}) as InputRequest
const sampling = (prompt: string): InputRequest => ({
  method: 'sampling/createMessage',
  params: {messages: [{role: 'user', content: {type: 'text', text: prompt}}], maxTokens: 100},
})
const roots: InputRequest = {method: 'roots/list', params: {}}

/** Sends requests to the client of a call, and describes the results. */
async function request({client}: Pick<CallHooks, 'client'>, requests: Record<string, InputRequest>): Promise<string> {
  if (client === undefined) throw new Error('This caller cannot be asked.')
  return JSON.stringify(await client.request(requests))
}

const requesting =
  (requests: Record<string, InputRequest>): Call =>
  (_args, hooks) =>
    request(hooks, requests)

const name = form('What is your name?', text({name: {type: 'string'}}))
const confirmation = form('Is this right?', text({ok: {type: 'boolean'}}))

const choices = ['one', 'two', 'three']
const titled = choices.map((value) => ({const: value, title: value.toUpperCase()}))

const schema2020 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: {street: {type: 'string'}, city: {type: 'string'}},
    },
  },
  properties: {
    name: {type: 'string'},
    address: {$ref: '#/$defs/address'},
    contactMethod: {type: 'string', enum: ['phone', 'email']},
    phone: {type: 'string'},
    email: {type: 'string'},
  },
  allOf: [{anyOf: [{required: ['phone']}, {required: ['email']}]}],
  if: {properties: {contactMethod: {const: 'phone'}}, required: ['contactMethod']},
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: {required: ['phone']},
  else: {required: ['email']},
  additionalProperties: false,
}

const log: Call = async (_args, {notice}) => {
  for (const step of ['started', 'processing data', 'completed']) notice(`Tool execution ${step}`)
}

/** Tools that the conformance tests call, in addition to those of a workspace. */
const fixtures: readonly Fixture[] = [
  ['test_simple_text', () => new Content(words('This is a simple text response for testing.'))],
  ['test_image_content', () => new Content(image)],
  ['test_audio_content', () => new Content({type: 'audio', data: wav, mimeType: 'audio/wav'})],
  [
    'test_embedded_resource',
    () => new Content(embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')),
  ],
  [
    'test_multiple_content_types',
    () =>
      new Content(
        words('Multiple content types test:'),
        image,
        embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ),
  ],
  [
    'test_error_handling',
    () => {
      throw new SvcError('usage', {reason: 'This tool intentionally returns an error for testing.'})
    },
  ],
  ['json_schema_2020_12_tool', () => 'called', {input: schema2020}],
  ['greet', ({name: who}) => new Content(words(`Hello, ${who}!`))],
  ['test_tool_with_logging', log],
  ['test_logging_tool', log],
  [
    'test_tool_with_progress',
    async (_args, {report}) => {
      for (const done of [0, 50, 100]) report({done, total: 100})
    },
  ],
  // The library decides when a stream is closed, so the answer comes on the same one.
  ['test_reconnection', () => 'reconnected'],
  ['test_sampling', ({prompt}, hooks) => request(hooks, {answer: sampling(String(prompt))})],
  ['test_missing_capability', requesting({answer: sampling('What is the capital of France?')})],
  ['test_streaming_elicitation', requesting({confirmed: confirmation})],
  [
    'test_elicitation',
    ({message}, hooks) =>
      request(hooks, {answer: form(String(message), text({username: {type: 'string'}, email: {type: 'string'}}))}),
  ],
  [
    'test_elicitation_sep1034_defaults',
    requesting({
      answer: form('Review the defaults.', {
        type: 'object',
        properties: {
          name: {type: 'string', default: 'John Doe'},
          age: {type: 'integer', default: 30},
          score: {type: 'number', default: 95.5},
          status: {type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active'},
          verified: {type: 'boolean', default: true},
        },
      }),
    }),
  ],
  [
    'test_elicitation_sep1330_enums',
    requesting({
      answer: form('Choose.', {
        type: 'object',
        properties: {
          untitledSingle: {type: 'string', enum: ['option1', 'option2', 'option3']},
          titledSingle: {type: 'string', oneOf: titled},
          legacyEnum: {type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three']},
          untitledMulti: {type: 'array', items: {type: 'string', enum: ['option1', 'option2', 'option3']}},
          titledMulti: {type: 'array', items: {anyOf: titled}},
        },
      }),
    }),
  ],
  ['test_input_required_result_elicitation', requesting({user_name: name})],
  ['test_input_required_result_sampling', requesting({capital_question: sampling('What is the capital of France?')})],
  ['test_input_required_result_list_roots', requesting({client_roots: roots})],
  [
    'test_input_required_result_request_state',
    async (...call) => `state-ok ${await requesting({confirm: confirmation})(...call)}`,
  ],
  ['test_input_required_result_tampered_state', requesting({confirm: confirmation})],
  [
    'test_input_required_result_multiple_inputs',
    requesting({user_name: name, greeting: sampling('Generate a greeting'), client_roots: roots}),
  ],
  [
    'test_input_required_result_capabilities',
    (_args, hooks) => {
      const {elicitation, sampling: canSample} = hooks.client?.capabilities ?? {}
      return request(hooks, {
        ...(elicitation === undefined ? {} : {user_name: name}),
        ...(canSample === undefined ? {} : {greeting: sampling('Generate a greeting')}),
      })
    },
  ],
  [
    'test_input_required_result_multi_round',
    async (_args, hooks) => {
      const first = await request(hooks, {step1: name})
      const color = form('What is your favourite colour?', text({color: {type: 'string'}}))
      return `${first} ${await request(hooks, {step2: color})}`
    },
  ],
  [
    'slow_compute',
    async ({seconds}, {signal}) => {
      await sleep(Number(seconds) * 1000, undefined, {signal})
      return 'computed'
    },
    {task: 'background'},
  ],
  [
    'failing_job',
    () => {
      throw new SvcError('usage', {reason: 'The job has failed.'})
    },
    {task: 'background', isTaskRequired: true},
  ],
  [
    'protocol_error_job',
    () => {
      throw new Error('The server has failed.')
    },
    {task: 'background'},
  ],
]

const fixtureTool = ([tool, call, {task, isTaskRequired, input = {type: 'object'}} = {}]: Fixture): Tool => ({
  name: tool,
  tier: 'core',
  lane: 'platform',
  ...(task === undefined ? {} : {task}),
  input,
  listed: {
    name: tool,
    description: 'A tool of the conformance tests.',
    inputSchema: input,
    annotations: {title: tool, readOnlyHint: true, openWorldHint: false},
    ...(task === undefined ? {} : {execution: {taskSupport: isTaskRequired ? 'required' : 'optional'}}),
  },
  async call(args, _host, hooks) {
    const result = await call(args, hooks)
    return result instanceof Content ? {data: undefined, content: result.parts} : {data: result}
  },
})

const fixturePrompt = (
  prompt: string,
  write: PromptRow['write'],
  argumentNames: readonly string[] = [],
): PromptRow => ({
  name: prompt,
  title: prompt,
  description: 'A prompt of the conformance tests.',
  arguments: argumentNames.map((argument) => ({name: argument, description: 'An argument.', required: true})),
  write,
})

const prompts = [
  fixturePrompt('test_simple_prompt', async () => [words('This is a simple prompt for testing.')]),
  fixturePrompt(
    'test_prompt_with_arguments',
    async ({arg1, arg2}) => [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)],
    ['arg1', 'arg2'],
  ),
  fixturePrompt(
    'test_prompt_with_embedded_resource',
    async ({resourceUri = ''}) => [
      embedded(resourceUri, 'text/plain', 'Embedded resource content for testing.'),
      words('Please process the embedded resource above.'),
    ],
    ['resourceUri'],
  ),
  fixturePrompt('test_prompt_with_image', async () => [image, words('Please analyze the image above.')]),
  fixturePrompt('test_input_required_result_prompt', async (_args, {client}) => {
    const context = form('What context should the prompt use?', text({context: {type: 'string'}}))
    return [words(await request(client === undefined ? {} : {client}, {user_context: context}))]
  }),
]

const fixtureResource = (uri: string, mimeType: string, content: {text: string} | {blob: string}): FixedResource => ({
  listed: {uri, name: uri, description: 'A resource of the conformance tests.', mimeType},
  read: (asked) => (asked === uri ? [{uri, mimeType, ...content}] : undefined),
})

const resources: readonly FixedResource[] = [
  fixtureResource('test://static-text', 'text/plain', {text: 'This is the content of the static text resource.'}),
  fixtureResource('test://static-binary', 'image/png', {blob: png}),
  fixtureResource('test://watched-resource', 'text/plain', {text: 'This content can be watched.'}),
  {
    listed: {uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json'},
    read(uri) {
      const [, id] = /^test:\/\/template\/([^/]+)\/data$/.exec(uri) ?? []
      if (id === undefined) return undefined
      const content = {id, templateTest: true, data: `Data for ID: ${id}`}
      return [{uri, mimeType: 'application/json', text: JSON.stringify(content)}]
    },
  },
]

/** Serves an empty workspace with the tools, prompts and resources of the conformance tests, until it is asked to end. */
const root = await realpath(await mkdtemp(join(tmpdir(), 'svc-conformance-')))
await writeFile(join(root, 'Svc.toml'), '')
const sources = {env: {HOME: root}}
const {modules, orchestrator} = await openWorkspace(root, sources, [callFragment])
const base = {modules, orchestrator, surface: 'mcp' as const, version: '1', sources, speech: undefined}
const host = {version: '1', open: async () => base}
const registry = new ToolRegistry([...operationTools(), ...fixtures.map(fixtureTool)])
const feed = new ResourceFeed(host.open)
const background = new BackgroundCalls(registry, host)
const server = await serveHttp(
  {registry, tiers: tiersOf(['core']), host, feed, background, prompts, resources, askTimeoutMs: 60_000},
  {
    address: {host: '127.0.0.1', port: 0},
    access: {token: undefined, readToken: undefined, allowedTools: [], readRoleAllowedTools: []},
    healthAuth: false,
    allowRemote: false,
    sessions: {max: 64, idleMs: 600_000},
    requestsPerMinute: 0,
  },
)
process.stdout.write(`${JSON.stringify({event: 'ready', base_url: server.baseUrl})}\n`)
await once(process, 'SIGTERM')
await server.close(1000)
background.close()
feed.close()
orchestrator.close()
await rm(root, {recursive: true})
