import assert from 'node:assert/strict'
import {mkdir, readFile, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {isErrorOf, SvcError} from '../../src/errors/index.js'
import * as modules from '../../src/orchestrator/index.js'
import {stepsSchema} from '../../src/plans/model/read-steps.js'
import {answerLines} from '../support/scripted-inference.js'
import {operationWorkspace as workspace} from './operation-workspace.js'
import {doNext, failNext, threeSteps} from './support.js'

const plan = (...steps: object[]): string => `Here it is:\n<execute>\n${JSON.stringify(steps)}\n</execute>`

const good = plan(
  {
    id: 1,
    description: 'Add the parser to src/parser.ts',
    files: ['src/parser.ts'],
    category: 'codegen',
    estimated_complexity: 4,
    depends_on: [],
  },
  {id: 2, description: 'Add the printer to src/printer.ts', files: ['./src/printer.ts'], depends_on: []},
  {id: 3, description: 'Run the test suite', files: [], category: 'testing', depends_on: [1, 2]},
)
const thin = plan({id: 1, description: 'Do stuff', files: [], depends_on: []})
const goal = 'Write the parser and the printer of the language'

describe('svc_plan', () => {
  it('stores the plan of a model', async (t) => {
    const env = {SVC_MCP_LLM_COST_EVENTS: '1'}
    const {call, calls, orchestrator, notices, progress} = await workspace(t, {answers: [good], env})
    const answer = await call('plan_goal', {
      goal,
      session_id: 'talk-1',
      scope_files: ['src/parser.ts'],
      plan_telemetry_session_id: 'telemetry-1',
      question_link_session_id: 'questions-1',
      top_p: 0.5,
    })
    const {session_id: id, plan_md: text, ...facts} = answer
    assert.deepEqual(modules.plans.replanRequest(orchestrator, id, {delta: 'more'}).scopeFiles, ['src/parser.ts'])
    assert.deepEqual(facts, {
      goal,
      summary: '3 plan node(s) materialized',
      written_to_disk: false,
      tasks: [
        {
          id: 1,
          description: 'Add the parser to src/parser.ts',
          category: 'codegen',
          files: ['src/parser.ts'],
          estimated_complexity: 4,
          depends_on: [],
        },
        {
          id: 2,
          description: 'Add the printer to src/printer.ts',
          category: 'codegen',
          files: ['src/printer.ts'],
          estimated_complexity: 2,
          depends_on: [],
        },
        {
          id: 3,
          description: 'Run the test suite',
          category: 'testing',
          files: [],
          estimated_complexity: 2,
          depends_on: [1, 2],
        },
      ],
      plan_total_tasks: 3,
      plan_page_offset: 0,
      plan_depth_effective: 'standard',
      loop_mode_effective: 'off+auto_expand_thin',
      refinement_rounds: 0,
      plan_adequacy_score: 1,
      plan_too_thin: false,
      planned_by: 'model',
      socrates: {reason: 'no_evidence_context'},
      last_aggregate_gap_risk: 0,
    })
    assert.match(text, /^# Plan\n.*- \[ \] 3\. Run the test suite \(after 1, 2\)\n$/s)
    const {status, steps} = modules.plans.planStatus(orchestrator, id)
    assert.deepEqual([status, steps.map(({node_id}) => node_id)], ['pending', ['n1', 'n2', 'n3']])
    const [row] = orchestrator.store.all<{origin: string; questions: string; rounds: number; metadata: string}>(
      `SELECT origin_session_id AS origin, question_session_id AS questions, iterative_loop_round AS rounds, iterative_loop_metadata_json AS metadata
FROM plan_sessions`,
    )
    assert.deepEqual([row?.origin, row?.questions, row?.rounds], ['talk-1', 'questions-1', 0])
    assert.equal(JSON.parse(row?.metadata ?? '').telemetry_session_id, 'telemetry-1')

    const [asked] = calls
    assert.equal(calls.length, 1)
    assert.equal(asked?.model, 'run-a')
    assert.deepEqual(asked?.options, {temperature: 0.2, top_p: 0.5, num_predict: 4096})
    for (const part of [goal, 'src/parser.ts', 'At most 30 steps', 'depends_on'])
      assert.ok(asked?.prompt.includes(part), part)
    assert.deepEqual(notices, [])
    assert.deepEqual(
      progress.map(({done}) => done),
      [0],
    )
    const [cost] = modules.tasks.readEvents(orchestrator, {types: ['cost_incurred']}).map(({kind}) => kind)
    assert.deepEqual(cost?.type === 'cost_incurred' && [cost.input_tokens, cost.output_tokens], [100, 100])
  })

  for (const [variable, value, costs] of [
    ['SVC_MCP_LLM_COST_EVENTS', '1', 1],
    ['SVC_MCP_LLM_COST_EVENTS', '0', 0],
    ['SVC_TELEMETRY', '1', 0],
  ] as const)
    it(`emits ${costs} cost events if ${variable} is ${value}, and accounts for the call`, async (t) => {
      const {call, orchestrator} = await workspace(t, {answers: [good], env: {[variable]: value}})
      await call('plan_goal', {goal, plan_telemetry_session_id: 'telemetry-1'})
      assert.equal(modules.tasks.readEvents(orchestrator, {types: ['cost_incurred']}).length, costs)
      const [row, ...more] = orchestrator.store.all<Record<string, unknown>>('SELECT * FROM llm_interactions')
      assert.deepEqual(more, [])
      assert.match(String(row?.trace_id), /^[0-9a-f-]{36}$/)
      assert.ok(Number(row?.latency_ms) >= 0)
      assert.deepEqual(
        [row?.session_id, row?.model_version, row?.task_category, row?.success, row?.input_tokens, row?.output_tokens],
        ['telemetry-1', 'run-a', 'planning', 1, 100, 100],
      )
    })

  it('accounts for a failed call of the model', async (t) => {
    const {call, orchestrator} = await workspace(t, {answer: (response) => response.writeHead(500).end()})
    await call('plan_goal', {goal, session_id: 'talk-1'})
    const rows = orchestrator.store.all('SELECT session_id, success, input_tokens FROM llm_interactions')
    assert.deepEqual(rows[0], {session_id: 'talk-1', success: 0, input_tokens: 0})
  })

  it('asks again if the answer is not JSON', async (t) => {
    const {call, calls, notices} = await workspace(t, {answers: ['I would begin with the parser.', good]})
    const {planned_by: madeBy, plan_total_tasks: count} = await call('plan_goal', {goal})
    assert.deepEqual([madeBy, count, calls.length, notices], ['model', 3, 2, []])
    assert.match(calls[1]?.prompt ?? '', /could not be used: it is not JSON\. /)
  })

  it('falls back to the goal if the second answer is not a plan either', async (t) => {
    const {call, calls, notices} = await workspace(t, {answers: ['[', plan({description: ''})]})
    const answer = await call('plan_goal', {goal, refine_budget_tokens: 0})
    assert.deepEqual([answer.planned_by, answer.tasks[0].description, calls.length], ['goal', 'Write the parser', 2])
    assert.match(notices[0] ?? '', /drafting the plan without a model: .*step 1 has no description/)
  })

  it('falls back to the goal if no server responds', async (t) => {
    const {call, notices} = await workspace(t)
    const answer = await call('plan_goal', {goal: threeSteps, loop_mode: 'force'})
    assert.deepEqual([answer.planned_by, answer.plan_total_tasks, answer.refinement_rounds], ['goal', 3, 0])
    assert.match(notices[0] ?? '', /127\.0\.0\.1:1/)
  })

  it('falls back to the goal if the server fails halfway', async (t) => {
    const {call, notices} = await workspace(t, {
      answer: (response) => response.end('{"response": "[", "done": false}\n{"error": "out of memory"}\n'),
    })
    assert.equal((await call('plan_goal', {goal})).planned_by, 'goal')
    assert.match(notices[0] ?? '', /out of memory/)
  })

  it('stops with its caller and stores nothing', async (t) => {
    const controller = new AbortController()
    const {call, orchestrator, hungUp} = await workspace(t, {
      signal: controller.signal,
      answer: () => controller.abort(new Error('gone')),
    })
    await assert.rejects(call('plan_goal', {goal}), /gone/)
    await hungUp
    assert.deepEqual(modules.plans.listPlans(orchestrator), [])
  })

  it('has the requested number of steps, in pages', async (t) => {
    const steps = Array.from({length: 9}, (_, i) => ({
      id: i + 1,
      description: `Add part ${i + 1} to src/${i}.ts`,
      files: [`src/${i}.ts`],
      depends_on: i === 0 ? [] : [i, 1],
    }))
    const {call, orchestrator} = await workspace(t, {answers: [plan(...steps)]})
    const answer = await call('plan_goal', {goal, max_tasks: 7, plan_page_offset: 5, plan_page_limit: 5})
    assert.deepEqual([answer.plan_total_tasks, answer.plan_page_offset], [7, 5])
    assert.deepEqual(
      answer.tasks.map(({id, depends_on: after}: {id: number; depends_on: number[]}) => [id, after]),
      [
        [6, [5, 1]],
        [7, [6, 1]],
      ],
    )
    assert.equal(modules.plans.planStatus(orchestrator, answer.session_id).steps.length, 7)
  })

  for (const [depth, tokens] of [
    ['minimal', 3072],
    ['deep', 8192],
  ] as const)
    it(`requests ${tokens} tokens for a ${depth} plan`, async (t) => {
      const {call, calls} = await workspace(t, {answers: [good]})
      const answer = await call('plan_goal', {goal, plan_depth: depth, temperature: 0.9})
      assert.equal(answer.plan_depth_effective, depth)
      assert.deepEqual(calls[0]?.options, {temperature: 0.9, num_predict: tokens})
      assert.deepEqual(calls[0]?.format, stepsSchema)
    })

  it('uses the configured depth by default', async (t) => {
    const {call} = await workspace(t, {toml: 'orchestrator.planning_depth = "deep"\n', answers: [good]})
    assert.equal((await call('plan_goal', {goal})).plan_depth_effective, 'deep')
  })

  it('rejects unknown members and numbers out of range', async (t) => {
    const {call, calls} = await workspace(t, {answers: [good]})
    for (const input of [
      {},
      {goal: ''},
      {goal, mode: 'auto'},
      {goal, loop_mode: 'sometimes'},
      {goal, max_tasks: 0},
      {goal, max_tasks: 2001},
      {goal, max_refine_rounds: 9},
      {goal, refine_budget_tokens: 200_001},
      {goal, gap_risk_threshold: 0.01},
      {goal, plan_page_limit: 0},
      {goal, top_p: 1.5},
    ])
      await assert.rejects(
        call('plan_goal', input),
        (error) => isErrorOf(error, 'params_invalid'),
        JSON.stringify(input),
      )
    assert.equal(calls.length, 0)
  })
})

describe('svc_plan with a thin plan', () => {
  it('refines it until it is good enough', async (t) => {
    const {call, calls, progress, orchestrator} = await workspace(t, {answers: [thin, good]})
    const answer = await call('plan_goal', {goal})
    assert.deepEqual(
      [answer.refinement_rounds, answer.loop_stop_reason, answer.plan_total_tasks, answer.plan_too_thin],
      [1, 'sufficient', 3, false],
    )
    assert.equal(calls[1]?.options.num_predict, 8192)
    for (const part of ['too_few_steps', 'step 1: vague_short', 'Do stuff'])
      assert.ok(calls[1]?.prompt.includes(part), part)
    assert.deepEqual(
      progress.map(({done, total}) => [done, total]),
      [
        [0, 3],
        [1, 3],
      ],
    )
    const [row] = orchestrator.store.all<object>(
      'SELECT iterative_loop_round AS rounds, iterative_stop_reason AS why FROM plan_sessions',
    )
    assert.deepEqual(row, {rounds: 1, why: 'sufficient'})
  })

  it('does not refine it if refinement is off', async (t) => {
    for (const more of [{auto_expand_thin_plan: false}, {max_refine_rounds: 0}]) {
      const {call, calls} = await workspace(t, {answers: [thin, good]})
      const answer = await call('plan_goal', {goal, ...more})
      assert.deepEqual([calls.length, answer.refinement_rounds, answer.plan_too_thin], [1, 0, true])
      assert.deepEqual(answer.gap_report, [{step: 1, risk: 0.7, gaps: ['vague_short', 'vague_phrase']}])
      assert.ok(answer.adequacy_reason_codes.includes('too_few_steps'))
    }
  })

  it('stops when the tokens are used up', async (t) => {
    const better = plan({description: 'Do the first half', files: []}, {description: 'Do the second half', files: []})
    // Each round uses 200 tokens; its question is estimated at about 340 in advance.
    const {call, calls} = await workspace(t, {answers: [thin, better, good]})
    const answer = await call('plan_goal', {goal, refine_budget_tokens: 700})
    assert.deepEqual(
      [answer.refinement_rounds, answer.loop_stop_reason, answer.plan_total_tasks],
      [1, 'budget_exhausted', 2],
    )
    assert.equal(calls.length, 2)
    assert.equal(calls[1]?.options.num_predict, 700 - Math.ceil((calls[1]?.prompt.length ?? 0) / 4))
  })

  it('stops after the last round, or if the model has no improvement', async (t) => {
    const rounds = await workspace(t, {answers: [thin, plan({description: 'Do other stuff now'}), good]})
    const stopped = await rounds.call('plan_goal', {goal, max_refine_rounds: 1})
    assert.deepEqual([stopped.refinement_rounds, stopped.loop_stop_reason], [1, 'rounds_exhausted'])
    const same = await workspace(t, {answers: [thin, thin, good]})
    const unchanged = await same.call('plan_goal', {goal, loop_mode: 'auto', max_refine_rounds: 5})
    assert.deepEqual(
      [unchanged.refinement_rounds, unchanged.loop_stop_reason, unchanged.loop_mode_effective],
      [1, 'no_improvement', 'auto'],
    )
  })

  it('keeps its best plan if the model fails, with a notice', async (t) => {
    const {call, notices} = await workspace(t, {answers: [thin, 'Well.']})
    const answer = await call('plan_goal', {goal})
    assert.deepEqual([answer.loop_stop_reason, answer.plan_total_tasks], ['model_failed', 1])
    assert.match(notices[0] ?? '', /not refined further: The model did not return a valid plan: it is not JSON\./)
  })

  it('uses the requested risk threshold', async (t) => {
    const risky = plan(
      {description: 'Add the parser to the thing', files: [], depends_on: []},
      {description: 'Add the printer to it too', files: [], depends_on: [1]},
    )
    const low = await workspace(t, {answers: [risky, good]})
    assert.equal((await low.call('plan_goal', {goal, gap_risk_threshold: 0.1})).refinement_rounds, 1)
    const usual = await workspace(t, {answers: [risky, good]})
    assert.equal((await usual.call('plan_goal', {goal})).refinement_rounds, 0)
  })

  it('refines a good plan too with force, and never accepts a worse one', async (t) => {
    const {call, calls} = await workspace(t, {answers: [good, thin, good]})
    const answer = await call('plan_goal', {goal, loop_mode: 'force', max_refine_rounds: 2})
    assert.deepEqual(
      [answer.refinement_rounds, answer.loop_stop_reason, answer.plan_total_tasks, calls.length],
      [2, 'rounds_exhausted', 3, 3],
    )
  })
})

describe('ai.plan.new', () => {
  it('creates the plan without a model and returns its latest version', async (t) => {
    const {call, calls, orchestrator} = await workspace(t, {answers: [good]})
    const answer = await call('new_plan', {goal: threeSteps, session_id: 'talk', tenant_id: 'team', max_tasks: 2})
    assert.deepEqual([calls.length, answer.written_to_disk, answer.versions[0].steps.length], [0, false, 2])
    const [row] = orchestrator.store.all<object>(
      'SELECT plan_session_id, origin_session_id, tenant_id FROM plan_sessions',
    )
    assert.deepEqual(row, {plan_session_id: answer.session_id, origin_session_id: 'talk', tenant_id: 'team'})
  })

  it('asks a model for new plans and replans if configured', async (t) => {
    const toml = 'orchestrator.planning_llm_synthesis_enabled = true\n'
    const {call, calls} = await workspace(t, {toml, answers: [good, good]})
    const {session_id: id, versions} = await call('new_plan', {goal})
    assert.equal(versions[0].steps[1].description, 'Add the printer to src/printer.ts')
    const again = await call('replan', {session_id: id, delta_hint: 'Keep the comments'})
    assert.deepEqual([again.replan_version, again.versions[0].steps.length], [2, 3])
    assert.match(calls[1]?.prompt ?? '', /## Replan context\nKeep the comments/)
    await call('new_plan', {goal, mode: 'direct'})
    assert.equal(calls.length, 2)
  })

  it('reports findings on steps', async (t) => {
    const {call, notices} = await workspace(t)
    await call('new_plan', {goal: 'stuff'})
    assert.deepEqual(notices, ['notice: n1 is too short and names no action.'])
  })

  it('writes the plan file, or nothing', async (t) => {
    const {call, orchestrator} = await workspace(t)
    const answer = await call('new_plan', {goal: threeSteps, write_to_disk: true})
    assert.equal(answer.written_to_disk, true)
    const text = () => readFile(join(orchestrator.root, 'PLAN.md'), 'utf8')
    assert.match(await text(), /- \[ \] 1\. Add the parser\n/)
    await call('replan', {session_id: answer.session_id, delta_hint: 'Add the docs page', write_to_disk: true})
    assert.match(await text(), /Version 2 of .*Add the docs page/s)

    const other = await workspace(t)
    await symlink('/nowhere/else', join(other.orchestrator.root, 'PLAN.md'))
    for (const name of ['new_plan', 'plan_goal'])
      await assert.rejects(other.call(name, {goal, write_to_disk: true}), (error) =>
        isErrorOf(error, 'plan_file_escapes'),
      )
    assert.deepEqual(modules.plans.listPlans(other.orchestrator), [])
  })

  it('does nothing if the file is a folder', async (t) => {
    const {call, orchestrator} = await workspace(t)
    await mkdir(join(orchestrator.root, 'PLAN.md'))
    for (const name of ['new_plan', 'plan_goal'])
      await assert.rejects(call(name, {goal, write_to_disk: true}), (error) => isErrorOf(error, 'plan_file_blocked'))
    assert.deepEqual(modules.plans.listPlans(orchestrator), [])
  })

  it('returns the stored plan even if the file cannot be written', async (t) => {
    const {call, context, notices, orchestrator} = await workspace(t)
    const writePlanFile = () => Promise.reject(new SvcError('disk_full', {path: 'PLAN.md'}))
    Object.assign(context, {modules: {...modules, plans: {...modules.plans, writePlanFile}}})
    const answer = await call('new_plan', {goal: threeSteps, write_to_disk: true})
    assert.equal(answer.written_to_disk, false)
    assert.match(notices[0] ?? '', /^notice: PLAN\.md was not written: /)
    const again = await call('replan', {session_id: answer.session_id, delta_hint: 'Add it', write_to_disk: true})
    assert.deepEqual([again.replan_version, again.written_to_disk], [2, false])
    assert.equal(modules.plans.planStatus(orchestrator, answer.session_id).latest_version, 2)
  })

  it('does not replan a plan that changed while the model was working', async (t) => {
    const toml = 'orchestrator.planning_llm_synthesis_enabled = true\n'
    const {call, orchestrator} = await workspace(t, {
      toml,
      answer: (response) => {
        modules.plans.replan(orchestrator, id, {delta: 'Add the docs page'})
        response.end(answerLines(good))
      },
    })
    const {session_id: id} = modules.plans.newPlan(orchestrator, {goal: threeSteps})
    await assert.rejects(call('replan', {session_id: id, delta_hint: 'Keep the comments'}), (error) =>
      isErrorOf(error, 'plan_changed'),
    )
    const {goal: stored, latest_version: version} = modules.plans.planStatus(orchestrator, id)
    assert.deepEqual([version, stored.includes('docs page'), stored.includes('comments')], [2, true, false])
  })
})

describe('the judgement of the evidence for a plan', () => {
  it('is of the session of the goal, or of the session of the plan', async (t) => {
    const {call} = await workspace(t)
    const setEvidence = (session: string, citations: string[]) => {
      const value = JSON.stringify({safety: {required_citations: 1}, content: {citations}})
      return call('context_set', {key: `context_envelope:${session}`, value})
    }
    await setEvidence('talk', [])
    const {session_id: id, socrates} = await call('new_plan', {goal: 'Add the parser', session_id: 'talk'})
    assert.deepEqual([socrates.risk_decision, socrates.research.trigger], ['abstain', 'missing_citations'])
    await setEvidence(id, ['RFC 9110'])
    const {result, shown: presented} = await call('plan_status', {session_id: id})
    assert.equal(result.socrates.risk_decision, 'answer')
    assert.deepEqual(presented.socrates, result.socrates)
  })
})

describe('ai.plan.status and svc_plan_status', () => {
  it('report the status of a plan, each in its own format', async (t) => {
    const {call, orchestrator} = await workspace(t)
    const long = `Add the reader of ${'many '.repeat(100)}files`
    const {session_id: id} = await call('new_plan', {goal: `Add the parser\nAdd the printer\n${long}`, max_tasks: 3})
    assert.deepEqual(await call('execute_plan', {session_id: id}), {task_ids: [1], ok: true})
    doNext(orchestrator)
    failNext(orchestrator, 'no ink')
    const {result, shown: presented} = await call('plan_status', {session_id: id})
    assert.deepEqual(result.step_counts, {pending: 1, completed: 1, failed: 1, in_progress: 0, skipped: 0})
    assert.equal(result.execution_mode, 'sequential_dag')
    const {nodes, ...facts} = presented
    assert.deepEqual(facts, {
      session_id: id,
      status: 'failed',
      source: 'database',
      plan_version: 1,
      progress: {total: 3, completed: 1, failed: 1},
      socrates: {reason: 'no_evidence_context'},
    })
    const node = {
      workflow: null,
      test_decision: 'deferred',
      task_id: null,
      attempts_count: 0,
      last_outcome: null,
      last_error: null,
      held_reason: null,
    }
    assert.deepEqual(nodes.slice(0, 2), [
      {
        ...node,
        node_id: 'n1',
        status: 'completed',
        description: 'Add the parser',
        task_id: 1,
        attempts_count: 1,
        last_outcome: 'completed',
      },
      {
        ...node,
        node_id: 'n2',
        status: 'failed',
        description: 'Add the printer',
        task_id: 2,
        attempts_count: 1,
        last_outcome: 'failed',
        last_error: 'no ink',
      },
    ])
    assert.equal(nodes[2].description.length, 200)
    await assert.rejects(call('plan_status', {session_id: 'plan-x'}), (error) => isErrorOf(error, 'plan_not_found'))
  })

  it('cover all listed plans', async (t) => {
    const {call} = await workspace(t)
    const {session_id: id} = await call('new_plan', {goal: threeSteps, session_id: 'talk'})
    const {plans} = await call('list_plans', {session_id: 'talk', status: 'pending'})
    assert.deepEqual([plans.length, plans[0].session_id], [1, id])
    assert.deepEqual((await call('list_plans', {status: 'active'})).plans, [])
  })
})
