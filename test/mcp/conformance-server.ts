import {once} from 'node:events'
import {mkdtemp, realpath, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {openWorkspace} from '../../src/cli/open-workspace.js'
import {
  BackgroundCalls,
  type CallHooks,
  callFragment,
  operationTools,
  ResourceFeed,
  serveHttp,
  type Tool,
  ToolRegistry,
  tiersOf,
} from '../../src/mcp/index.js'

type Args = Readonly<Record<string, unknown>>
type Fixture = [name: string, call: (args: Args, hooks: CallHooks) => unknown, task?: 'background']

const text = (properties: object, required: readonly string[]) => ({type: 'object', properties, required})

const ask = async ({ask: put}: CallHooks, message: string, schema: object) => {
  if (put === undefined) throw new Error('The client cannot ask its user.')
  return (await put({message, schema: schema as never})) ?? 'no answer'
}

const name = text({name: {type: 'string'}}, ['name'])
const greeting = async (_args: Args, hooks: CallHooks) =>
  `Hello, ${((await ask(hooks, 'What is your name?', name)) as {name?: string}).name}!`
const confirmation = (_args: Args, hooks: CallHooks) =>
  ask(hooks, 'Is this right?', text({ok: {type: 'boolean'}}, ['ok']))

const choices = ['one', 'two', 'three']
const titled = choices.map((value) => ({const: value, title: value.toUpperCase()}))

/** Tools that the conformance tests call, in addition to those of a workspace. */
const fixtures: readonly Fixture[] = [
  ['test_simple_text', () => 'This is a simple text response for testing.'],
  ['greet', ({name: who}) => `Hello, ${who}!`],
  [
    'test_tool_with_logging',
    async (_args, {notice}) => {
      for (const step of ['started', 'processing data', 'completed']) notice(`Tool execution ${step}`)
    },
  ],
  [
    'test_tool_with_progress',
    async (_args, {report}) => {
      for (const done of [0, 50, 100]) report({done, total: 100})
    },
  ],
  [
    'test_elicitation',
    (args, hooks) =>
      ask(
        hooks,
        String(args.message),
        text({username: {type: 'string'}, email: {type: 'string'}}, ['username', 'email']),
      ),
  ],
  [
    'test_elicitation_sep1034_defaults',
    (_args, hooks) =>
      ask(hooks, 'Review the defaults.', {
        type: 'object',
        properties: {
          name: {type: 'string', default: 'John Doe'},
          age: {type: 'integer', default: 30},
          score: {type: 'number', default: 95.5},
          status: {type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active'},
          verified: {type: 'boolean', default: true},
        },
      }),
  ],
  [
    'test_elicitation_sep1330_enums',
    (_args, hooks) =>
      ask(hooks, 'Choose.', {
        type: 'object',
        properties: {
          untitledSingle: {type: 'string', enum: ['option1', 'option2', 'option3']},
          titledSingle: {type: 'string', oneOf: titled},
          legacyEnum: {type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three']},
          untitledMulti: {type: 'array', items: {type: 'string', enum: ['option1', 'option2', 'option3']}},
          titledMulti: {type: 'array', items: {anyOf: titled}},
        },
      }),
  ],
  ['test_input_required_result_elicitation', greeting],
  ['test_input_required_result_request_state', confirmation],
  ['test_input_required_result_tampered_state', confirmation],
  ['test_input_required_result_capabilities', greeting],
  [
    'test_input_required_result_multi_round',
    async (args, hooks) => {
      const first = await greeting(args, hooks)
      const color = await ask(hooks, 'What is your favourite colour?', text({color: {type: 'string'}}, ['color']))
      return `${first} ${JSON.stringify(color)}`
    },
  ],
  [
    'slow_compute',
    async ({seconds}, {signal}) => {
      await sleep(Number(seconds) * 1000, undefined, {signal})
      return 'computed'
    },
    'background',
  ],
  [
    'failing_job',
    () => {
      throw new Error('The job has failed.')
    },
    'background',
  ],
]

const fixtureTool = ([tool, call, task]: Fixture): Tool => ({
  name: tool,
  tier: 'core',
  lane: 'platform',
  ...(task === undefined ? {} : {task}),
  input: {type: 'object'},
  listed: {
    name: tool,
    description: 'A tool of the conformance tests.',
    inputSchema: {type: 'object'},
    annotations: {title: tool, readOnlyHint: true, openWorldHint: false},
  },
  call: async (args, _host, hooks) => ({data: await call(args, hooks)}),
})

/** Serves an empty workspace with the tools of the conformance tests, until it is asked to end. */
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
  {registry, tiers: tiersOf(['core']), host, feed, background, askTimeoutMs: 60_000},
  {
    address: {host: '127.0.0.1', port: 0},
    access: {token: undefined, readToken: undefined, allowedTools: [], readRoleAllowedTools: []},
    healthAuth: false,
    allowRemote: false,
    sessions: {most: 64, idleMs: 600_000},
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
