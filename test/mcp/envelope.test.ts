import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import {type CallHooks, callTool, type Tool, ToolRegistry} from '../../src/mcp/index.js'
import {DetailedError} from '../../src/operations/index.js'

const hooks: CallHooks = {
  signal: new AbortController().signal,
  report: () => undefined,
  notice: () => undefined,
  ask: undefined,
}
const host = {version: '0', open: () => Promise.reject(new Error('nothing is to be opened'))}

/** A tool with the parameter `limit` that runs a callback. */
function toolThat(run: (args: Readonly<Record<string, unknown>>) => unknown, open = false): ToolRegistry {
  const input = {type: 'object', properties: {limit: {}}, ...(open ? {} : {additionalProperties: false})}
  const tool: Tool = {
    name: 'probe',
    tier: 'core',
    lane: 'platform',
    input,
    listed: {
      name: 'probe',
      description: 'A probe.',
      inputSchema: input,
      outputSchema: {type: 'object'},
      annotations: {title: 'Probe', readOnlyHint: true, openWorldHint: false},
    },
    call: async (args) => ({data: run(args)}),
  }
  return new ToolRegistry([tool])
}

async function envelopeOf(registry: ToolRegistry, given: Readonly<Record<string, unknown>> = {}, name = 'probe') {
  const {envelope} = await callTool(registry, name, given, host, hooks)
  assert.deepEqual(await contractViolations('cli/mcp-call.v1', JSON.parse(JSON.stringify(envelope))), [])
  return envelope
}

const throwing = (thrown: unknown) =>
  toolThat(() => {
    throw thrown
  })

describe('tool envelope', () => {
  it('contains the data of the tool and no empty members', async () => {
    assert.deepEqual(await envelopeOf(toolThat(() => ({a: 1}))), {success: true, data: {a: 1}})
    assert.deepEqual(await envelopeOf(toolThat(() => undefined)), {success: true})
  })

  it('reports an error with code, message and hint', async () => {
    const {code, message, hint} = new SvcError('task_not_found', {task: 'T-0042'})
    assert.deepEqual(await envelopeOf(throwing(new SvcError('task_not_found', {task: 'T-0042'}))), {
      success: false,
      error: message,
      code,
      remediation: hint,
    })
  })

  it('includes the details of an error in meta', async () => {
    const failure = new DetailedError(new SvcError('task_not_found', {task: 'T-0042'}), {attempts: 3})
    const {code, meta} = await envelopeOf(throwing(failure))
    assert.deepEqual([code, meta], ['task_not_found', {attempts: 3}])
  })

  it('lists each invalid argument with its path', async () => {
    const violations = [
      '/limit must be <= 1000',
      'the document has an unknown member "x"',
      "the document must have required property 'task_id'",
    ]
    const {code, meta} = await envelopeOf(throwing(new SvcError('params_invalid', {operation: 'probe', violations})))
    assert.equal(code, 'invalid_arguments')
    assert.deepEqual(meta, {
      issues: [
        {path: '/limit', message: 'must be <= 1000'},
        {path: '', message: 'has an unknown member "x"'},
        {path: '', message: "must have required property 'task_id'"},
      ],
    })
  })

  for (const [what, thrown] of [
    ['an Error', new Error('secret /home/x/key')],
    ['a string', 'secret /home/x/key'],
    ['undefined', undefined],
  ] as const)
    it(`hides internals when ${what} is thrown`, async () => {
      const envelope = await envelopeOf(throwing(thrown))
      assert.equal(envelope.code, 'internal')
      assert.doesNotMatch(JSON.stringify(envelope), /secret|home|envelope\.test/)
    })

  it('reports an unknown tool and suggests a similar name', async () => {
    const {code, error} = await envelopeOf(
      toolThat(() => 1),
      {},
      'prob',
    )
    assert.equal(code, 'unknown_tool')
    assert.match(error ?? '', /prob\b.*probe\b/)
  })

  it('repeats the trace ids of a call and removes call metadata from the arguments', async () => {
    const seen = toolThat((args) => args)
    const about = {trace_id: 't-91', session_id: 's', agent_id: 3, parent_task_id: 7, span_depth: 2}
    assert.deepEqual(await envelopeOf(seen, {limit: 5, ...about}), {
      success: true,
      data: {limit: 5},
      meta: {trace_id: 't-91'},
    })
    // A tool that accepts additional members gets all of them.
    assert.deepEqual(
      (
        await envelopeOf(
          toolThat((args) => args, true),
          {limit: 5, ...about},
        )
      ).data,
      {limit: 5, ...about},
    )
    const failed = await callTool(
      throwing(new Error('x')),
      'probe',
      {trace_id: 't-1', correlation_id: 'c'},
      host,
      hooks,
    )
    assert.deepEqual(failed.envelope.meta, {trace_id: 't-1', correlation_id: 'c'})
  })
})
