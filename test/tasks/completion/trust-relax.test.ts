import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type Completion, taskEvidence} from '../../../src/tasks/index.js'
import {enforced, type GatedWorkspace, gatedWorkspace, type Result} from './gated-workspace.js'

const relaxing = {toml: 'trust_gate_relax_enabled = true\nattention_enabled = true\n', env: enforced}

function setReliability({orchestrator: {store, repositoryId}}: GatedWorkspace, reliability: number): void {
  store.run(
    `INSERT INTO reliability_scores (repository_id, entity_type, entity_id, reliability, success_count, failure_count,
  updated_at_ms) VALUES (?, 'agent', 'core', ?, 1, 0, 0)`,
    [repositoryId, reliability],
  )
}

const verdictOf = async ({orchestrator}: GatedWorkspace, {task}: Completion, name: string) =>
  (await taskEvidence(orchestrator, task.id)).gates.find(({gate}) => gate === name)?.verdict

const socratesContext = {factual_mode: false, required_citations: 2, evidence_count: 1, evidence_quality: 0}

/** Completes a task in a way that only one of the exemptible gates refuses. */
const refusable: Readonly<Record<string, (workspace: GatedWorkspace) => Promise<Completion>>> = {
  async grounding(workspace) {
    const context_envelope_json = JSON.stringify({
      schema_version: 1,
      envelope_id: 'e-1',
      created_at_unix_ms: 0,
      envelope_type: 'retrieval_evidence',
      content: {summary_text: 'The median latency was 12 ms.', citations: ['notes/run-7.md']},
    })
    const task = await workspace.claim([], {context_envelope_json})
    return workspace.complete(task, {text: 'The median latency was 5 ms.'})
  },
  async socrates(workspace) {
    const task = await workspace.claim([], {enqueue_hints: {socrates_context: socratesContext}})
    return workspace.complete(task, {text: 'The latency was low.'})
  },
}

for (const [gate, complete] of Object.entries(refusable))
  describe(`the ${gate} gate with trust_gate_relax_enabled`, () => {
    it('is relaxed at exactly the minimum reliability', async (t) => {
      const workspace = await gatedWorkspace(t, relaxing)
      setReliability(workspace, 0.85)
      const completion = await complete(workspace)
      assert.equal(completion.outcome, 'completed', 'report' in completion ? completion.report : '')
      assert.equal(await verdictOf(workspace, completion, gate), 'relaxed')
    })

    for (const [name, reliability] of [
      ['below the minimum reliability', 0.849],
      ['without a stored reliability', undefined],
    ] as const)
      it(`fails ${name}`, async (t) => {
        const workspace = await gatedWorkspace(t, relaxing)
        if (reliability !== undefined) setReliability(workspace, reliability)
        const completion = await complete(workspace)
        assert.ok(completion.outcome === 'requeued')
        assert.equal(completion.gate, gate)
        assert.equal(await verdictOf(workspace, completion, gate), 'fail')
      })

    it('fails if the exemption is disabled', async (t) => {
      const workspace = await gatedWorkspace(t, {env: enforced})
      setReliability(workspace, 1)
      assert.equal((await complete(workspace)).outcome, 'requeued')
    })
  })

const attested: Result = {
  text: 'The parser was rewritten and works.',
  checks_passed: ['tests by hand'],
  declared_non_placeholder: true,
}

/** Completes a task that one of the gates without exemption refuses. */
const strict: Readonly<Record<string, (workspace: GatedWorkspace) => Promise<Completion>>> = {
  async toestub(workspace) {
    const task = await workspace.claim(['a.js'])
    await workspace.write('a.js', '// TODO: write it\n')
    return workspace.complete(task)
  },
  async approval(workspace) {
    const task = await workspace.claim()
    workspace.orchestrator.store.run("UPDATE orch_tasks SET approval_tier = 'review' WHERE id = ?", [task.id])
    return workspace.complete(task, attested)
  },
  async trust(workspace) {
    const {store, repositoryId} = workspace.orchestrator
    store.run(
      `INSERT INTO trust_rollups (repository_id, entity_type, entity_id, dimension, domain, class, provider, model, score,
  observations, updated_at_ms) VALUES (?, 'agent', 'core', 'task_completion', '', '', '', '', 0.1, 9, 0)`,
      [repositoryId],
    )
    return workspace.complete(await workspace.claim(), {text: 'Done.'})
  },
}

for (const [gate, complete] of Object.entries(strict))
  describe(`the ${gate} gate with trust_gate_relax_enabled`, () => {
    it('is not relaxed for a reliable agent', async (t) => {
      const workspace = await gatedWorkspace(t, relaxing)
      setReliability(workspace, 1)
      const completion = await complete(workspace)
      assert.ok(completion.outcome === 'requeued')
      assert.equal(completion.gate, gate)
      assert.equal(await verdictOf(workspace, completion, gate), 'fail')
    })
  })
