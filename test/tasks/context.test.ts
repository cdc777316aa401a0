import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {SubmitTaskV1} from '../../src/contracts/index.js'
import {reportStatus} from '../../src/orchestrator/index.js'
import {evidenceContextOf} from '../../src/tasks/context/evidence-context.js'
import {getContext, listContext, readEvents, requireRow, requireTask, setContext} from '../../src/tasks/index.js'
import {notify} from '../../src/workspace/index.js'
import {
  openTestOrchestrator,
  refused,
  startMs,
  type TestOrchestrator,
} from '../orchestrator/support/open-test-orchestrator.js'
import {submit} from '../orchestrator/support/tasks.js'
import {envelope} from './support/envelope.js'

const startSecs = startMs / 1000
const keys = (orchestrator: TestOrchestrator, filter = {}) => listContext(orchestrator, filter).map(({key}) => key)
const rows = ({store}: TestOrchestrator) => store.get<{n: number}>('SELECT count(*) AS n FROM orch_context')?.n

describe('the context store', () => {
  it('returns the latest value of a key', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    assert.equal(getContext(orchestrator, 'plan.summary'), undefined)
    setContext(orchestrator, {key: 'plan.summary', value: 'one'})
    setContext(orchestrator, {key: 'plan.summary', value: 'two', agentId: 1, ttlSecs: 60})
    assert.deepEqual(getContext(orchestrator, 'plan.summary'), {
      agent_id: 1,
      value: 'two',
      expires_at: startSecs + 60,
      set_at: startSecs,
    })
  })

  it('omits expired entries, which the cleanup of the daemon deletes', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    setContext(orchestrator, {key: 'short', value: 'x', ttlSecs: 10})
    setContext(orchestrator, {key: 'forever', value: 'x'})
    orchestrator.clock.ms += 9_999
    assert.deepEqual(keys(orchestrator), ['forever', 'short'])
    orchestrator.clock.ms += 1
    assert.equal(getContext(orchestrator, 'short'), undefined)
    assert.deepEqual(keys(orchestrator), ['forever'])
    assert.deepEqual(Object.keys(reportStatus(orchestrator).context_entries), ['forever'])
    assert.equal(rows(orchestrator), 2)
    notify(orchestrator, 'cleanup', {retentionDays: 30})
    assert.equal(rows(orchestrator), 1)
  })

  it('lists entries by prefix and page, with the beginning of each value', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (const key of ['a', 'b.1', 'b.2', 'b%3', 'c']) setContext(orchestrator, {key, value: key.repeat(1000)})
    assert.deepEqual(keys(orchestrator, {prefix: 'b.'}), ['b.1', 'b.2'])
    assert.deepEqual(keys(orchestrator, {prefix: '%'}), [])
    assert.deepEqual(keys(orchestrator, {limit: 2}), ['a', 'b%3'])
    assert.deepEqual(keys(orchestrator, {after: 'b%3'}), ['b.1', 'b.2', 'c'])
    const [, , entry] = listContext(orchestrator)
    assert.deepEqual([entry?.value.length, entry?.length], [1000, 3000])
  })

  it('is in the status report, latest first and with the beginning of each value', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    for (let i = 0; i < 101; i++) {
      orchestrator.clock.ms += 1000
      setContext(orchestrator, {key: `k${i}`, value: 'x'.repeat(201)})
    }
    const {context_entries: entries} = reportStatus(orchestrator)
    assert.equal(Object.keys(entries).length, 100)
    assert.equal(Object.keys(entries)[0], 'k100')
    assert.deepEqual(entries.k1, {agent_id: null, value: 'x'.repeat(200), expires_at: 0, set_at: startSecs + 2})
  })

  for (const [what, entry, fault] of [
    ['a blank key', {key: ' '}, /its key is blank/],
    ['a key with a control character', {key: 'a\nb'}, /control character/],
    ['a long key', {key: 'x'.repeat(513)}, /its key has 513 characters; the limit is 512/],
    ['a long value', {value: 'x'.repeat(262_145)}, /its value has 262145 characters/],
    ['a negative time to live', {ttlSecs: -1}, /time to live/],
    [
      'an envelope that is not JSON',
      {key: 'context_envelope:s1', value: 'x'},
      /its context envelope is not valid JSON/,
    ],
    ['an envelope that is not an object', {key: 'context_envelope:s1', value: '[]'}, /is not a JSON object/],
  ] as const)
    it(`rejects ${what}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      const {message} = refused('context_invalid', () => setContext(orchestrator, {key: 'k', value: 'v', ...entry}))
      assert.match(message, fault)
      assert.equal(rows(orchestrator), 0)
    })

  it('evicts the entry that expires first when it is full, and fails if none expires', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    orchestrator.store.run(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9998)
INSERT INTO orch_context (repository_id, key, value, expires_at, set_at) SELECT ?, 'n' || i, '', 0, 0 FROM n`,
      [orchestrator.repositoryId],
    )
    setContext(orchestrator, {key: 'late', value: '', ttlSecs: 200})
    setContext(orchestrator, {key: 'soon', value: '', ttlSecs: 100})
    setContext(orchestrator, {key: 'soon', value: 'again', ttlSecs: 100})
    setContext(orchestrator, {key: 'new', value: ''})
    assert.deepEqual([getContext(orchestrator, 'soon'), getContext(orchestrator, 'late')?.value], [undefined, ''])
    setContext(orchestrator, {key: 'newer', value: ''})
    refused('context_full', () => setContext(orchestrator, {key: 'newest', value: ''}))
    assert.equal(rows(orchestrator), 10_000)
  })
})

const settingsOf = (...lines: string[]) => ({toml: ['[orchestrator]', ...lines].join('\n')})
const enforced = settingsOf('context_lifecycle_enforce = true')
const shadowed = settingsOf('context_lifecycle_shadow = true')
const text = (members = {}) => JSON.stringify(envelope(members))

const invalid = [
  ['violates the contract', {trust: undefined}, /the document must have required property 'trust'/],
  ['has expired', {expires_at_unix_ms: startMs}, /\/expires_at_unix_ms is in the past/],
  ['has outlived its time to live', {created_at_unix_ms: startMs - 1000, ttl_seconds: 1}, /\/ttl_seconds ended/],
] as const

/** A value in a number of nested objects. */
const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)

describe('a submitted context envelope', () => {
  it('is stored with the task, and for an hour with its session', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {context_envelope_json: text(), session_id: 's1'})
    const other = submit(orchestrator, {session_id: 's1'})
    submit(orchestrator)
    const stored = orchestrator.store.all<{task_id: number}>('SELECT task_id, envelope FROM orch_task_evidence')
    assert.deepEqual(stored, [{task_id: id, envelope: text()}])
    const textOf = (task: number) => evidenceContextOf(orchestrator, requireRow(orchestrator, task)).envelopeText
    assert.match(textOf(other) ?? '', /The client retries twice/)
    orchestrator.clock.ms += 3_600_000
    assert.equal(getContext(orchestrator, 'context_envelope:s1'), undefined)
    assert.match(textOf(id) ?? '', /The client retries twice/)
    assert.equal(textOf(other), undefined)
  })

  for (const [what, members, violation] of invalid) {
    it(`is accepted by default if it ${what}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      submit(orchestrator, {context_envelope_json: text(members)})
      assert.deepEqual(readEvents(orchestrator, {types: ['context_envelope_violation']}), [])
    })

    it(`is rejected with context_lifecycle_enforce if it ${what}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t, enforced)
      const submission = {context_envelope_json: text(members), session_id: 's1'}
      assert.match(refused('task_invalid', () => submit(orchestrator, submission)).message, violation)
      assert.equal(rows(orchestrator), 0)
      const entry = {key: 'context_envelope:s1', value: text(members)}
      assert.match(refused('context_invalid', () => setContext(orchestrator, entry)).message, violation)
    })

    it(`is accepted and recorded with context_lifecycle_shadow if it ${what}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t, shadowed)
      const id = submit(orchestrator, {context_envelope_json: text(members)})
      setContext(orchestrator, {key: 'context_envelope:s1', value: text(members)})
      const events = readEvents(orchestrator, {types: ['context_envelope_violation']}).map(({kind}) => kind)
      assert.equal(events.length, 2)
      const [first, second] = events as {task_id?: number; key?: string; violations: string[]}[]
      assert.deepEqual([first?.task_id, second?.key], [id, 'context_envelope:s1'])
      assert.match(first?.violations.join() ?? '', violation)
    })
  }

  it('is accepted with context_lifecycle_enforce if it matches its contract', async (t) => {
    const orchestrator = await openTestOrchestrator(t, enforced)
    submit(orchestrator, {context_envelope_json: text({expires_at_unix_ms: startMs + 1, ttl_seconds: 1})})
  })
})

describe('the context of a submission', () => {
  for (const [what, submission, fault] of [
    ['an envelope that is not JSON', {context_envelope_json: '{'}, /its context envelope is not valid JSON/],
    ['an envelope that is not an object', {context_envelope_json: '"x"'}, /its context envelope is not a JSON object/],
    ['an envelope and a retrieval', {context_envelope_json: '{}', retrieval: {}}, /cannot be combined/],
    ['a retrieval of 65 levels', {retrieval: nested(65)}, /its retrieval is nested more than 64 levels deep/],
    ['a long retrieval', {retrieval: {hits: 'x'.repeat(262_144)}}, /its retrieval has 262155 characters as JSON/],
  ] as const)
    it(`cannot be ${what}`, async (t) => {
      const orchestrator = await openTestOrchestrator(t)
      assert.match(refused('task_invalid', () => submit(orchestrator, submission)).message, fault)
    })
})

/** The evidence of a task with these members. */
async function evidenceOf(t: Parameters<typeof openTestOrchestrator>[0], submission: Partial<SubmitTaskV1>) {
  const orchestrator = await openTestOrchestrator(t)
  return evidenceContextOf(orchestrator, requireRow(orchestrator, submit(orchestrator, submission)))
}

const sourced = envelope({
  trust: {...envelope().trust, confidence: 0.8, contradiction_ratio: 0.3},
  subject: {repository_id: 'r1', goal_id: 'goal-7'},
  content: {
    summary_text: 'Two retries.',
    facts: [
      {fact_id: 'f1', text: 'A limit', evidence_refs: ['doc:1']},
      {fact_id: 'f2', text: 'No source'},
    ],
    repo_paths: ['src/client.ts'],
    artifact_refs: ['log:9'],
    citations: ['RFC 9110', 'doc:1'],
    structured_payload: {deep: [{note: 'said "twice"'}]},
  },
  safety: {risk_budget: 'low', factual_mode: true, required_citations: 3},
})

describe('the evidence of a task', () => {
  it('is undefined without evidence', async (t) => {
    assert.deepEqual(await evidenceOf(t, {}), {context: undefined, envelopeText: undefined})
  })

  it('comes from its envelope', async (t) => {
    const {context, envelopeText} = await evidenceOf(t, {context_envelope_json: JSON.stringify(sourced)})
    assert.deepEqual(context, {
      risk_budget: 'low',
      factual_mode: true,
      required_citations: 3,
      evidence_count: 4,
      contradiction_hints: 3,
      source_diversity: 3,
      evidence_quality: 0.8,
      citation_coverage: 0,
      verification_performed: false,
    })
    const lines = envelopeText?.split('\n') ?? []
    for (const part of ['Two retries.', 'f1', 'A limit', 'doc:1', 'src/client.ts', 'log:9', 'RFC 9110', 'said "twice"'])
      assert.ok(lines.includes(part), part)
    for (const id of ['env-1', 'r1', 'goal-7']) assert.ok(lines.includes(id), id)
  })

  it('tolerates an envelope that violates its contract', async (t) => {
    const broken = {trust: [], content: {facts: 'none', citations: [1, 'x']}, safety: {required_citations: -2}}
    const {context, envelopeText} = await evidenceOf(t, {context_envelope_json: JSON.stringify(broken)})
    assert.deepEqual([context?.evidence_count, context?.required_citations], [1, 0])
    assert.equal(envelopeText, 'none\n1\nx')
  })

  it('can be nested to any depth', async (t) => {
    const deep = `{"content": {"structured_payload": {"a": ${'['.repeat(100_000)}"x"${']'.repeat(100_000)}}}}`
    assert.equal((await evidenceOf(t, {context_envelope_json: deep})).envelopeText, 'x')
  })

  it('comes from its retrieval', async (t) => {
    await evidenceOf(t, {retrieval: nested(64)})
    const {context} = await evidenceOf(t, {retrieval: {memory_hits: [{}, {}], repo_hits: 1}})
    assert.deepEqual([context?.factual_mode, context?.evidence_count, context?.required_citations], [true, 3, 0])
  })

  it('is its own evidence context first, with defaults for missing members', async (t) => {
    const {context, envelopeText} = await evidenceOf(t, {
      context_envelope_json: JSON.stringify(sourced),
      enqueue_hints: {
        socrates_context: {evidence_count: 2.7, evidence_quality: 3, factual_mode: 'yes', risk_budget: ' ', more: 1},
      },
    })
    assert.deepEqual(context, {
      factual_mode: false,
      required_citations: 0,
      evidence_count: 2,
      contradiction_hints: 0,
      source_diversity: 0,
      evidence_quality: 1,
      citation_coverage: 0,
      verification_performed: false,
    })
    assert.match(envelopeText ?? '', /Two retries/)
  })

  it('is not a part of the published task', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const id = submit(orchestrator, {retrieval: {}, enqueue_hints: {socrates_context: {}}})
    const task = requireTask(orchestrator, id)
    assert.deepEqual([Object.hasOwn(task, 'retrieval'), Object.hasOwn(task, 'socrates_context')], [false, false])
  })
})
