import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {toolLimits} from '../../src/assistant/tool-rounds.js'
import {describeEvent} from '../../src/cli/index.js'
import {compileSchema, type RuntimeGenerationKpiV1} from '../../src/contracts/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {allSteps} from '../../src/grammar/index.js'
import {callFormats} from '../../src/llm/reply/call-formats.js'
import {ToolChecks} from '../../src/llm/reply/tool-grammars.js'
import {assistantTools} from '../../src/operations/assistant-tools.js'
import {
  bindingSchema,
  DetailedError,
  listedSchema,
  operationNamed,
  operations,
  ToolAnswer,
  toolAnswer,
} from '../../src/operations/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {assertFits} from '../support/orch-workspace.js'
import {callLines, chatLines} from '../support/scripted-inference.js'
import {assistantWorkspace as workspace} from './support/assistant-workspace.js'

const note = '@table type Note { title: str }\n'
const wrong = '@table type Note { title: strin }\n'

describe('a chat message', () => {
  it('is answered in the conversation of its session, with a journey', async (test) => {
    const {call, progress} = await workspace(test, ['Seven is one.'])
    const answer = await call('chat_message', {prompt: 'Name a prime number.', trace_id: 'trace-9', journey_id: 'j-1'})
    const {message, history, journey, socrates, ...rest} = answer as never as Record<string, Record<string, unknown>>
    assert.deepEqual(rest, {model_used: 'run-a', tokens: 10, session_id: 'default'})
    assert.deepEqual(socrates, {reason: 'no_evidence_context'})
    assert.equal(message?.content, 'Seven is one.')
    assert.deepEqual(history, [
      {role: 'user', content: 'Name a prime number.'},
      {role: 'assistant', content: 'Seven is one.'},
    ])
    assert.deepEqual(
      [journey?.journey_id, journey?.session_id, journey?.trace_id, journey?.origin_surface, journey?.envelope_version],
      ['j-1', 'default', 'trace-9', 'mcp', 1],
    )
    assert.deepEqual(
      progress.map(({done, message: piece}) => [done, piece]),
      [
        [1, 'Seven '],
        [2, 'is '],
        [3, 'one.'],
      ],
    )
  })

  it('has a judgement of the evidence of its session', async (test) => {
    const {call} = await workspace(test, ['It is.', 'It was.'])
    const value = JSON.stringify({safety: {required_citations: 2}, content: {citations: ['a']}})
    await call('context_set', {key: 'context_envelope:mine', value})
    const {socrates} = await call('chat_message', {prompt: 'Is it?', session_id: 'mine'})
    assert.deepEqual(socrates, {
      risk_decision: 'ask',
      confidence_estimate: 0.5,
      contradiction_ratio: 0,
      band: 'medium',
      citation_coverage: 0,
      research: {should_research: true, trigger: 'missing_citations', suggested_query: 'Is it?'},
      questioning: {
        question_needed: true,
        question_kind: 'entry',
        prompt: 'Name a file or document that answers "Is it?".',
        expected_information_gain_bits: 1,
        expected_user_cost: 0.5,
        utility_bits_per_cost: 2,
        stop_reason: null,
      },
    })
    const other = await call('chat_message', {prompt: 'Was it?', session_id: 'other'})
    assert.deepEqual(other.socrates, {reason: 'no_evidence_context'})
  })

  it('is in the history of its session, and only there', async (test) => {
    const {call} = await workspace(test, ['Seven.', 'Eleven.', 'Thirteen.', 'Seventeen.'])
    await call('chat_message', {message: 'Name a prime number.', session_id: '  '})
    await call('chat_message', {prompt: 'Another one?', session_id: ' mine '})
    await call('chat_message', {prompt: 'And now?', session_id: 'traced', trace_id: 'trace-1'})
    await call('chat_message', {prompt: 'And then?', session_id: 'traced', trace_id: 'trace-2'})
    const read = async (params: object) => {
      const {session_id, history} = (await call('chat_history', params)) as never as {
        session_id: string
        history: {id: string; content: string; journey?: object}[]
      }
      for (const turn of history) assert.equal(turn.journey, undefined)
      return [session_id, ...history.map(({id, content}) => `${id} ${content}`)]
    }
    assert.deepEqual(await read({}), ['default', 'user-1 Name a prime number.', 'asst-2 Seven.'])
    assert.deepEqual(await read({session_id: 'mine'}), ['mine', 'user-3 Another one?', 'asst-4 Eleven.'])
    assert.deepEqual(await read({session_id: 'mine', limit: 1}), ['mine', 'asst-4 Eleven.'])
    assert.deepEqual(await read({session_id: 'nobody'}), ['nobody'])
    assert.deepEqual(await read({session_id: 'traced', trace_id: 'trace-2'}), [
      'traced',
      'user-7 And then?',
      'asst-8 Seventeen.',
    ])
  })

  it('accepts unknown members, but not two prompts or none', async (test) => {
    const {call, server} = await workspace(test, ['Yes.'])
    const refused = (params: object, violation: RegExp) =>
      assert.rejects(call('chat_message', params), (error) => {
        assert.ok(isErrorOf(error, 'params_invalid'))
        return violation.test(error.params.violations.join())
      })
    await refused({}, /must have required property 'prompt'/)
    await refused({prompt: 'a', message: 'b'}, /\/message differs from \/prompt/)
    await refused({prompt: ''}, /\/prompt must NOT have fewer than 1 characters/)
    await refused({prompt: ' \n'}, /\/prompt must not be blank/)
    await refused({message: '\t'}, /\/message must not be blank/)
    await refused(
      {prompt: 'a', diagnostics: ['x', {text: 'y'.repeat(20_000)}]},
      /\/diagnostics\/1 must NOT have more than 16384 characters as JSON/,
    )
    await refused(
      {prompt: 'a', attachment_manifest: ['y'.repeat(70_000)]},
      /\/attachment_manifest must NOT have more than 65536 characters as JSON/,
    )
    await refused({prompt: 'a', temperature: 3}, /\/temperature must be <= 2/)
    assert.deepEqual(server.headers, [])
    await call('chat_message', {prompt: 'a', message: 'a', editor: 'ed'})
  })

  it('is sent to the best model, and the decision is recorded', async (test) => {
    const {call, decisions, server} = await workspace(test, ['Yes.', 'Yes.'], {models: ['run-a', 'run-b']})
    await call('chat_message', {prompt: 'Well?', journey_id: 'j-1', cognitive_profile: 'reasoning'})
    await call('chat_message', {prompt: 'Well?', cognitive_profile: 'fast', session_id: 's'})
    const [first, second] = decisions()
    const {reason, ...row} = first ?? assert.fail('no decision')
    assert.deepEqual(row, {surface: 'chat_message', session_id: 'default', journey_id: 'j-1', model_id: 'run-a'})
    assert.deepEqual(
      [reason.task_category, reason.estimated_complexity, reason.usage_model, 'task_id' in reason],
      ['general', 9, 'run-a', false],
    )
    assert.deepEqual([second?.session_id, second?.model_id], ['s', 'run-b'])
    assert.deepEqual(
      server.calls.map(({model}) => model),
      ['run-a', 'run-b'],
    )
  })

  it('emits its cost as an event if enabled', async (test) => {
    const {call, orchestrator} = await workspace(test, ['Yes.'], {env: {SVC_MCP_LLM_COST_EVENTS: 'true'}})
    await call('chat_message', {prompt: 'Well?'})
    const [event, ...more] = modules.tasks.readEvents(orchestrator, {types: ['cost_incurred']})
    assert.deepEqual(more, [])
    assert.deepEqual(event?.kind, {
      type: 'cost_incurred',
      provider: 'local',
      model: 'run-a',
      input_tokens: 100,
      output_tokens: 10,
      cost_usd: 0.055,
    })
    await assertFits('orchestration/event.v1', event)
    assert.equal(
      describeEvent(event?.kind as modules.tasks.OrchestratorEvent, modules.tasks),
      'a call cost 0.055 USD: run-a, 100 input tokens, 10 output tokens',
    )
  })

  it('emits no cost event by default, since the store is persistent', async (test) => {
    const {call, orchestrator} = await workspace(test, ['Yes.'])
    await call('chat_message', {prompt: 'Well?'})
    assert.deepEqual(modules.tasks.readEvents(orchestrator, {types: ['cost_incurred']}), [])
  })
})

describe('a request with a trace', () => {
  it('is found by its trace id, or else by its correlation id', async (test) => {
    const {call, orchestrator} = await workspace(test, ['1', '2', note, note])
    const ids = {trace_id: 'trace-1', correlation_id: 'order-1'}
    const {trace_id: _, ...standIn} = {...ids, correlation_id: 'order-2'}
    await call('chat_message', {prompt: 'one', ...ids})
    await call('chat_message', {prompt: 'two', ...standIn})
    await call('generate_code', {prompt: 'Notes.', ...ids})
    await call('generate_code', {prompt: 'Notes.', ...standIn})
    assert.deepEqual(
      orchestrator.store
        .all<{trace_id: string}>('SELECT trace_id FROM llm_interactions ORDER BY id')
        .map((row) => row.trace_id),
      ['trace-1', 'order-2', 'trace-1', 'order-2'],
    )
    for (const [trace_id, found] of [
      ['trace-1', ['one', '1']],
      ['order-2', ['two', '2']],
      ['order-1', []],
    ] as const) {
      const {history} = (await call('chat_history', {trace_id})) as never as {history: {content: string}[]}
      assert.deepEqual(
        history.map(({content}) => content),
        found,
      )
    }
  })

  it('is accepted by every tool that uses a model, although the members are not listed', () => {
    for (const name of ['chat_message', 'generate_code']) {
      const {input, bindings} = operationNamed(name)
      const schema = bindingSchema(input, bindings.tool ?? {})
      const listed = listedSchema(schema, bindings.tool?.unlisted)
      for (const member of ['trace_id', 'correlation_id']) {
        assert.ok(Object.hasOwn(schema.properties as object, member), member)
        assert.ok(!Object.hasOwn(listed.properties as object, member), member)
      }
    }
  })
})

describe('code generation', () => {
  it('returns the program with its metrics, and writes the file if requested', async (test) => {
    const {call, root, progress, decisions} = await workspace(test, [wrong, note], {surface: 'daemon'})
    const answer = await call('generate_code', {prompt: 'Notes.', output_path: 'src/note.svc', session_id: 's'})
    assert.equal(answer.code, note)
    await assertFits('codegen/runtime-generation-kpi.v1', answer.runtime_generation_kpi)
    await assertFits('codegen/file-outcomes.v1', answer.file_outcomes)
    assert.equal(
      (answer as never as {runtime_generation_kpi: RuntimeGenerationKpiV1}).runtime_generation_kpi.surface,
      'daemon',
    )
    assert.equal(await readFile(join(root, 'src/note.svc'), 'utf8'), note)
    assert.deepEqual(
      progress.map(({done, total}) => [done, total]),
      [
        [0, 3],
        [1, 3],
      ],
    )
    const [{reason, journey_id, ...row} = assert.fail('no decision'), ...more] = decisions()
    assert.deepEqual(more, [])
    assert.match(journey_id, /^[0-9a-f-]{36}$/)
    assert.deepEqual(row, {surface: 'generate_code', session_id: 's', model_id: 'run-a'})
    assert.equal(reason.task_category, 'codegen')
  })

  it('returns only the program to a tool, with the rest as metadata', async (test) => {
    const {call, context} = await workspace(test, [note])
    const {tool} = operationNamed('generate_code').bindings
    const answer = await call('generate_code', {prompt: 'Notes.'})
    const presented = await tool?.present?.(answer as never, context)
    assert.ok(presented instanceof ToolAnswer)
    assert.deepEqual(presented, toolAnswer(note, {runtime_generation_kpi: answer.runtime_generation_kpi}))
    assert.deepEqual((await compileSchema(tool?.output ?? {}, 'data'))(presented.data), [])
  })

  it('fails with the diagnostics and the metrics', async (test) => {
    const {call} = await workspace(test, [wrong, wrong])
    const failure = await call('generate_code', {prompt: 'Notes.'}).catch((error: unknown) => error)
    assert.ok(failure instanceof DetailedError, String(failure))
    assert.ok(isErrorOf(failure, 'repair_stalled'))
    const {diagnostics_snapshot: snapshot, repair, runtime_generation_kpi: kpi} = failure.meta
    assert.deepEqual(repair, {attempts: 2, stalled: true, failure_category: 'repair_stall'})
    assert.deepEqual(
      (snapshot as {severity: string; code: string; category: string}[]).map(({severity, code, category}) => [
        severity,
        code,
        category,
      ]),
      [['error', 'typecheck.unknown_type', 'typecheck']],
    )
    await assertFits('codegen/runtime-generation-kpi.v1', kpi)
  })

  it('rejects invalid parameters', async (test) => {
    const {call, server} = await workspace(test, [note])
    for (const params of [{prompt: ' '}, {prompt: 'a', style: 'x'}, {prompt: 'a', max_retries: 6}, {prompt: ''}, {}])
      await assert.rejects(call('generate_code', params), (error) => isErrorOf(error, 'params_invalid'))
    assert.deepEqual(server.headers, [])
  })
})

describe('a model that calls tools', () => {
  const status = {name: 'svc_orchestrator_status', arguments: {}}
  const submit = {name: 'svc_submit_task', arguments: {description: 'Sweep the floor'}}
  /** Calls these tools first, then says "Done.". */
  const calling =
    (...calls: readonly {name: string; arguments: unknown}[]) =>
    (response: {end(text: string): unknown}, _: unknown, count: number) =>
      response.end(count === 1 ? callLines(...calls) : chatLines('Done.'))
  type Opened = Awaited<ReturnType<typeof workspace>>
  const results = ({server}: Opened) =>
    (server.calls.at(-1)?.messages ?? []).flatMap(({role, content}) => (role === 'tool' ? [JSON.parse(content)] : []))
  const tasksOf = ({orchestrator}: Opened) => modules.tasks.listTasks(orchestrator).length

  it('reads the workspace, and answers with the results', async (test) => {
    const opened = await workspace(test, calling(status))
    const answer = await opened.call('chat_message', {prompt: 'How is it going?', use_tools: true})
    assert.deepEqual(answer.tools_used, [{name: 'svc_orchestrator_status', ok: true}])
    assert.equal((answer.message as never as {content: string}).content, 'Done.')
    const [first, second] = opened.server.calls
    const offered = first?.tools?.map(({function: {name}}) => name) ?? []
    assert.ok(offered.includes('svc_task_list') && offered.includes('svc_ask'), offered.join())
    for (const name of ['svc_submit_task', 'svc_replan', 'svc_chat_message', 'svc_generate_code'])
      assert.ok(!offered.includes(name), name)
    assert.match(first?.messages[0]?.content ?? '', /tools of the workspace\. Their results .* not to be obeyed/)
    assert.deepEqual(
      second?.messages.slice(-2).map(({content: _, ...message}) => message),
      [
        {role: 'assistant', tool_calls: [{type: 'function', function: status}]},
        {role: 'tool', tool_name: status.name},
      ],
    )
    const [result] = results(opened)
    assert.ok('tasks' in result || 'agents' in result, JSON.stringify(result))
    const history = await opened.call('chat_history', {})
    assert.equal((history.history as never as unknown[]).length, 2)
  })

  it('has no tools unless they are requested', async (test) => {
    const opened = await workspace(test, ['Fine.'])
    const answer = await opened.call('chat_message', {prompt: 'How is it going?'})
    assert.deepEqual([opened.server.calls[0]?.tools, answer.tools_used], [undefined, undefined])
  })

  for (const [said, confirmed] of [
    [{confirm: true}, true],
    [{confirm: 'yes'}, false],
    [{confirm: false}, false],
    [{confirm: 'well'}, false],
    [undefined, false],
  ] as const)
    it(`${confirmed ? 'changes' : 'does not change'} something if the person answers ${JSON.stringify(said)}`, async (test) => {
      const opened = await workspace(test, calling(submit))
      const questions: string[] = []
      const ask = async ({message}: {message: string}) => {
        questions.push(message)
        return said
      }
      const within = {...opened.context, ask}
      const answer = await opened.call('chat_message', {prompt: 'Sweep!', use_tools: true}, within)
      assert.deepEqual(questions, [
        'The model wants to call "Submit a task" with {"description":"Sweep the floor"}. Allow it?',
      ])
      assert.deepEqual([tasksOf(opened), answer.tools_used], [confirmed ? 1 : 0, [{name: submit.name, ok: confirmed}]])
    })

  it('changes nothing if nobody can be asked, and gets errors as results', async (test) => {
    const calls = [
      submit,
      {name: 'svc_task_status', arguments: {task_id: 99}},
      {name: 'svc_task_status', arguments: {task_id: 'x'}},
      {name: 'svc_generate_code', arguments: {prompt: 'x'}},
    ]
    const opened = await workspace(test, calling(...calls))
    const {tools_used: used} = await opened.call('chat_message', {prompt: 'Try.', use_tools: true})
    assert.deepEqual(
      used,
      calls.map(({name}) => ({name, ok: false})),
    )
    assert.deepEqual(
      results(opened).map(({error}) => error.code),
      ['unknown_tool', 'task_not_found', 'params_invalid', 'unknown_tool'],
    )
    assert.equal(tasksOf(opened), 0)
  })

  it('must answer after some rounds, and has a limit of calls per round', async (test) => {
    const many = Array.from({length: toolLimits.calls + 1}, () => status)
    const opened = await workspace(test, (response, {tools}) =>
      response.end(tools === undefined ? chatLines('Enough.') : callLines(...many)),
    )
    const answer = await opened.call('chat_message', {prompt: 'Try.', use_tools: true})
    assert.equal((answer.message as never as {content: string}).content, 'Enough.')
    assert.equal(opened.server.calls.length, toolLimits.rounds + 1)
    const used = answer.tools_used as never as {ok: boolean}[]
    assert.equal(used.length, toolLimits.rounds * many.length)
    assert.equal(used.filter(({ok}) => !ok).length, toolLimits.rounds)
  })

  it('gets the beginning of a long result', async (test) => {
    const opened = await workspace(test, calling({name: 'svc_task_list', arguments: {}}))
    for (let i = 0; i < 20; i++)
      await opened.call('submit_task', {description: `${i} ${'x'.repeat(2000)}`}).catch(() => undefined)
    assert.ok(tasksOf(opened) > 10)
    await opened.call('chat_message', {prompt: 'Which tasks?', use_tools: true})
    const {content = ''} = opened.server.calls.at(-1)?.messages.at(-1) ?? {}
    assert.match(content, /\[\d+ more characters are left out\.\]$/)
    assert.ok(content.length < toolLimits.result + 100)
  })

  it('can generate a program', async (test) => {
    const opened = await workspace(test, (response, _, count) =>
      response.end(count === 1 ? callLines(status) : chatLines(note)),
    )
    const answer = await opened.call('generate_code', {prompt: 'Notes.', use_tools: true})
    assert.deepEqual([answer.code, answer.tools_used], [note, [{name: status.name, ok: true}]])
  })

  it('has arguments that svc serve enforces, in each format of calls', async (test) => {
    const {context} = await workspace(test, [])
    const {tools} = assistantTools(operations, {...context, ask: async () => undefined})
    assert.ok(tools.length > 8, `${tools.length} tools`)
    for (const format of callFormats) allSteps(new ToolChecks().of(format, tools))
  })
})

describe('the tools of the assistant', () => {
  it('use few tokens in a list of tools', () => {
    for (const name of ['chat_message', 'generate_code']) {
      const {summary, input, output, bindings} = operationNamed(name)
      assert.ok(JSON.stringify([summary, input, bindings.tool?.output ?? output]).length < 2500, name)
    }
  })
})
