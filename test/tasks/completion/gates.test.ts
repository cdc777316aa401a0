import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {SubmitTaskV1} from '../../../src/contracts/index.js'
import {approveTask, readEvents, requireTask} from '../../../src/tasks/index.js'
import {type Claimed, type GatedWorkspace, gatedWorkspace, type Result} from './gated-workspace.js'

interface Case {
  gate: string
  /** Settings under which only this gate can refuse. */
  toml?: string
  env?: Readonly<Record<string, string>>
  files?: readonly string[]
  submission?: Partial<SubmitTaskV1>
  /** Prepares the workspace before the claim. */
  before?(workspace: GatedWorkspace): Promise<unknown> | unknown
  /** Work that the gate refuses, and work that it accepts after it was refused. */
  bad(workspace: GatedWorkspace, task: Claimed): Promise<Result | undefined> | Result | undefined
  good(workspace: GatedWorkspace, task: Claimed): Promise<Result | undefined> | Result | undefined
  counter: 'debug_iterations' | 'toestub_iterations' | 'socrates_iterations'
  cap: string
  finding: RegExp
  /** Makes the gate impossible to evaluate. */
  broken?: {toml?: string; finding: RegExp}
}

const setTier = ({orchestrator}: GatedWorkspace, {id}: Claimed, tier: string) =>
  orchestrator.store.run('UPDATE orch_tasks SET approval_tier = ? WHERE id = ?', [tier, id])

const envelope = (safety: object) =>
  JSON.stringify({
    schema_version: 1,
    envelope_id: 'e-1',
    created_at_unix_ms: Date.now(),
    envelope_type: 'retrieval_evidence',
    provenance: {source_plane: 'search', source_system: 'notes', capture_mode: 'retrieved'},
    trust: {trust_tier: 'trusted', authority_rank: 1, freshness_tier: 'recent'},
    subject: {repository_id: 'r'},
    content: {
      summary_text: 'The median latency was 12 ms in run-7.',
      facts: [{fact_id: 'f-1', text: 'Run 7 used four threads.', evidence_refs: ['notes/run-7.md']}],
      citations: ['notes/run-7.md'],
    },
    conflict_policy: {merge_strategy: 'append_only'},
    budget: {priority: 'normal', injection_mode: 'inline'},
    safety,
  })

const cases: readonly Case[] = [
  {
    gate: 'behavioral',
    toml: 'behavioral_gate_on_complete = true\nbehavioral_gate_command = ["test", "lint"]\n',
    bad: async (workspace) => void (await workspace.write('broken', '')),
    good: async ({orchestrator}) => {
      const {rm} = await import('node:fs/promises')
      await rm(`${orchestrator.root}/broken`)
      return undefined
    },
    counter: 'debug_iterations',
    cap: 'max_debug_iterations',
    finding: /test.*exited with status 1/s,
    broken: {
      toml: 'behavioral_gate_on_complete = true\nbehavioral_gate_command = ["gone"]\n',
      finding: /gone/,
    },
  },
  {
    gate: 'research',
    submission: {enqueue_hints: {task_category: 'research'}},
    bad: () => ({text: 'The answer is in the report.'}),
    good: () => ({text: '```json\n{"answer": "in the report"}\n```'}),
    counter: 'debug_iterations',
    cap: 'max_debug_iterations',
    finding: /JSON/,
  },
  {
    gate: 'approval',
    toml: 'attention_enabled = true\n',
    bad(workspace, task) {
      setTier(workspace, task, 'review')
      return {
        text: 'The parser was rewritten and reviewed.',
        checks_passed: ['human_review_approved'],
        declared_non_placeholder: true,
      }
    },
    good(workspace, {id}) {
      approveTask(workspace.orchestrator, id, 'ann')
      return {
        text: 'The parser was rewritten and reviewed.',
        checks_passed: ['human_review_approved'],
        declared_non_placeholder: true,
      }
    },
    counter: 'debug_iterations',
    cap: 'max_debug_iterations',
    finding: /approv/i,
  },
  {
    gate: 'trust',
    before({orchestrator: {store, repositoryId}}) {
      store.run(
        `INSERT INTO trust_rollups (repository_id, entity_type, entity_id, dimension, domain, class, provider, model, score,
  observations, updated_at_ms) VALUES (?, 'agent', 'core', 'task_completion', '', '', '', '', 0.1, 9, 0)`,
        [repositoryId],
      )
    },
    bad: () => ({text: 'Done.'}),
    good: () => ({
      text: 'The parser was rewritten and works.',
      checks_passed: ['tests by hand'],
      declared_non_placeholder: true,
    }),
    counter: 'toestub_iterations',
    cap: 'max_toestub_debug_iterations',
    finding: /trust/i,
  },
  {
    gate: 'harness',
    env: {SVC_ORCHESTRATOR_HARNESS_COMPLETION_GUARD: 'enforce'},
    files: ['a.js'],
    submission: {accept: ['The file exists [[file:a.js]]'], harness_spec_json: '{"required_checks": ["test"]}'},
    bad: async ({write, runCheck}) => {
      await runCheck('test')
      await new Promise((resolve) => setTimeout(resolve, 20))
      return void (await write('a.js', 'export const a = 1\n'))
    },
    good: async ({runCheck}) => void (await runCheck('test')),
    counter: 'debug_iterations',
    cap: 'max_debug_iterations',
    finding: /started before the last change of "a.js"/,
  },
  {
    gate: 'toestub',
    files: ['a.js'],
    bad: async ({write}) => void (await write('a.js', '// TODO: write it\nexport const a = () => 1\n')),
    good: async ({write}) => void (await write('a.js', 'export const a = () => 1\n')),
    counter: 'toestub_iterations',
    cap: 'max_toestub_debug_iterations',
    finding: /a\.js:1/,
  },
  {
    gate: 'links',
    files: ['guide.md'],
    bad: async ({write}) => void (await write('guide.md', '# Guide\n\nSee [the API](api.md).\n')),
    good: async ({write}) => {
      await write('api.md', '# API\n')
      return undefined
    },
    counter: 'debug_iterations',
    cap: 'max_debug_iterations',
    finding: /api\.md/,
  },
  {
    gate: 'grounding',
    env: {SVC_ORCHESTRATOR_COMPLETION_GROUNDING_ENFORCE: 'true'},
    submission: {context_envelope_json: envelope({factual_mode: true, required_citations: 1})},
    bad: () => ({text: 'The median latency was 5 ms [[svccite:notes/run-9.md]].'}),
    good: () => ({text: 'The median latency was 12 ms [[svccite:notes/run-7.md]].'}),
    counter: 'socrates_iterations',
    cap: 'max_socrates_debug_iterations',
    finding: /run-9/,
  },
  {
    gate: 'socrates',
    env: {SVC_ORCHESTRATOR_SOCRATES_GATE_ENFORCE: 'true'},
    submission: {
      enqueue_hints: {
        socrates_context: {factual_mode: false, required_citations: 2, evidence_count: 1, evidence_quality: 0},
      },
      context_envelope_json: envelope({factual_mode: false, required_citations: 0}),
    },
    bad: () => ({text: 'The median latency was low.'}),
    good: () => ({
      text: 'The median latency was 12 ms [[svccite:notes/run-7.md]].',
      evidence_citations: ['f-1'],
      declared_non_placeholder: true,
      checks_passed: ['read the notes'],
    }),
    counter: 'socrates_iterations',
    cap: 'max_socrates_debug_iterations',
    finding: /confidence/i,
  },
]

const prepared = async (t: Parameters<typeof gatedWorkspace>[0], {toml = '', env = {}, before}: Case) => {
  const workspace = await gatedWorkspace(t, {toml, env})
  await before?.(workspace)
  return workspace
}

for (const one of cases)
  describe(`the ${one.gate} gate`, () => {
    const {gate, files = [], submission = {}, counter, cap, finding} = one

    it('returns a task with what to correct, and accepts the corrected work', async (t) => {
      const workspace = await prepared(t, one)
      const first = await workspace.claim(files, submission)
      const refused = await workspace.complete(first, await one.bad(workspace, first))
      assert.ok(refused.outcome === 'requeued', refused.outcome)
      assert.deepEqual([refused.gate, refused.iteration, refused.cap], [gate, 1, 3])
      assert.match(refused.report, finding)
      const {status, status_reason, description, ...row} = refused.task
      assert.deepEqual([status, status_reason, row[counter]], ['Queued', `gate:${gate}`, 1])
      assert.match(description, /^Do the work\n\n\[(AUTO-DEBUG ITERATION|SOCRATES GATE) 1\]/)
      assert.match(description, finding)
      const [event] = readEvents(workspace.orchestrator, {types: ['task_gated']}).slice(-1)
      assert.ok(event?.kind.type === 'task_gated')
      assert.deepEqual([event.kind.outcome, event.kind.gate], ['requeued', gate])

      const second = await workspace.claimAgain(first.id)
      const accepted = await workspace.complete(second, await one.good(workspace, second))
      assert.equal(accepted.outcome, 'completed', 'report' in accepted ? accepted.report : '')
      assert.match(accepted.task.receipt ?? '', /^sha256:[0-9a-f]{64}$/)
    })

    it(`fails a task that it has returned ${cap} times`, async (t) => {
      const workspace = await prepared(t, {...one, toml: `${one.toml ?? ''}${cap} = 1\n`})
      const first = await workspace.claim(files, submission)
      const result = await one.bad(workspace, first)
      assert.equal((await workspace.complete(first, result)).outcome, 'requeued')
      const failed = await workspace.complete(await workspace.claimAgain(first.id), result)
      assert.ok(failed.outcome === 'failed' && !failed.ok)
      assert.deepEqual([failed.gate, failed.iteration, failed.cap], [gate, 1, 1])
      const {status, status_reason} = requireTask(workspace.orchestrator, first.id)
      assert.deepEqual([status, status_reason], ['Failed', `gate_exhausted:${gate}`])
    })

    const {broken} = one
    if (broken !== undefined)
      it('fails closed if it cannot run', async (t) => {
        const workspace = await prepared(t, {...one, ...broken})
        const task = await workspace.claim(files, submission)
        const refused = await workspace.complete(task, undefined)
        assert.ok(refused.outcome === 'requeued')
        assert.match(refused.report, broken.finding)
      })
  })
