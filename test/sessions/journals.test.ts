import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {fileJournal} from '../../src/sessions/file-journal.js'
import type {SessionJournal} from '../../src/sessions/journal.js'
import {memoryJournal} from '../../src/sessions/memory-journal.js'
import {rowJournal, sessionFragment} from '../../src/sessions/row-journal.js'
import type {Session} from '../../src/sessions/session.js'
import {Sessions, type SessionsOptions} from '../../src/sessions/sessions.js'
import {openStore} from '../../src/store/index.js'
import {resolveOrchestratorConfig} from '../../src/workspace/index.js'
import {seeded} from '../support/random.js'
import {temporaryFolder} from '../support/temporary.js'

/** A storage location of journals. Each call opens it as another process would. */
type Place = () => Promise<SessionJournal>

async function rows(test: TestContext): Promise<Place> {
  const path = join(await temporaryFolder(test), 'store.db')
  return async () => {
    const store = await openStore(path, [sessionFragment])
    test.after(() => store.close())
    return rowJournal(store, '4be1c0d2a9f03377')
  }
}

async function files(test: TestContext): Promise<Place> {
  const folder = join(await temporaryFolder(test), '.svc', 'sessions')
  return async () => fileJournal(folder, '4be1c0d2a9f03377')
}

async function memory(): Promise<Place> {
  const journal = memoryJournal()
  return async () => journal
}

const start = 1_764_000_000
const {compaction} = resolveOrchestratorConfig({env: {}}).config
const sessionsOf = (journal: SessionJournal, options: Partial<SessionsOptions> = {}) =>
  new Sessions({
    journal,
    maxSessions: 16,
    compaction,
    idleTimeoutSecs: 1800,
    archiveTimeoutSecs: 86_400,
    now: () => start * 1000,
    random: Math.random,
    ...options,
  })

const turn = (content: string, tokens = 2) => ({role: 'user', content, tokens})
const contents = ({turns}: Session) => turns.map(({content}) => content)
const notFound = (error: unknown) => isErrorOf(error, 'session_not_found')

for (const [name, open] of [
  ['a database', rows],
  ['files', files],
  ['memory', memory],
] as const)
  describe(`sessions in ${name}`, () => {
    it('are read back unchanged', async (t) => {
      const place = await open(t)
      let now = start
      const sessions = sessionsOf(await place(), {now: () => now * 1000})
      const {id} = sessions.create('agent-1', 'tenant-7')
      now += 1
      sessions.addTurn(id, turn('hello', 2))
      now += 1
      sessions.setMeta(id, 'topic', 'paging')
      now += 1
      assert.equal(sessions.reset(id), 1)
      now += 1
      const live = sessions.addTurn(id, turn('again', 3))
      assert.deepEqual(live, {
        id,
        agent_id: 'agent-1',
        tenant_id: 'tenant-7',
        state: 'active',
        created_at: start,
        last_active: start + 4,
        last_expensive_op_at: null,
        turns: [{role: 'user', content: 'again', tokens: 3, at: start + 4}],
        meta: {topic: 'paging'},
        plugin_state: {},
        turn_count: 2,
        total_tokens: 5,
      })
      assert.deepEqual(sessionsOf(await place()).load(id), live)
    })

    it('are equal for two writers and a new reader after random events', async (t) => {
      for (let seed = 1; seed <= 12; seed++) {
        const {below} = seeded(seed)
        const words = ['', 'a', 'zwei\nZeilen', '\u2028\u0000"\\', '\ud800', '🙂'.repeat(400), '__proto__', ' \t']
        const word = () => words[below(words.length)] ?? ''
        const place = await open(t)
        let now = start
        const clock = {now: () => now * 1000, idleTimeoutSecs: 300, archiveTimeoutSecs: 900}
        const writers = [sessionsOf(await place(), clock), sessionsOf(await place(), clock)] as const
        const {id} = writers[0].create(word(), below(2) === 0 ? null : word())
        const operations: readonly ((sessions: Sessions) => unknown)[] = [
          (sessions) => sessions.addTurn(id, {role: word(), content: word(), tokens: below(1000)}),
          (sessions) => sessions.addTurn(id, turn(word())),
          (sessions) => sessions.setMeta(id, word(), word()),
          (sessions) => sessions.setPluginState(id, word(), [{deep: word(), no: undefined}, -0, 1e300, Number.NaN]),
          (sessions) => sessions.setPluginState(id, word(), undefined),
          (sessions) => sessions.reset(id),
          (sessions) => sessions.compact(id, word()),
          (sessions) => sessions.recordExpensiveOp(id),
          (sessions) => sessions.tick(),
        ]
        for (let i = 0; i < 60; i++) {
          now += below(10) === 0 ? below(1200) : below(3)
          const [first, second] = below(2) === 0 ? writers : ([writers[1], writers[0]] as const)
          operations[below(operations.length)]?.(first)
          const live = first.load(id)
          assert.deepEqual(second.load(id), live, `seed ${seed}, step ${i}`)
          if (i % 10 === 0) assert.deepEqual(sessionsOf(await place()).load(id), live, `seed ${seed}, step ${i}`)
        }
        assert.deepEqual(sessionsOf(await place()).list(), [writers[0].load(id)])
      }
    })

    it('are listed oldest first', async (t) => {
      const place = await open(t)
      let now = start
      const sessions = sessionsOf(await place(), {now: () => now * 1000})
      const ids = Array.from({length: 12}, () => {
        now += 20
        return sessions.create('agent-1').id
      })
      const listed = sessionsOf(await place()).list()
      assert.deepEqual(
        listed.map(({id}) => id),
        ids,
      )
    })

    it('have unique ids, even within one second and with equal random numbers', async (t) => {
      const place = await open(t)
      const unlucky = {random: () => 0.5, maxSessions: 100}
      const [one, other] = [sessionsOf(await place(), unlucky), sessionsOf(await place(), unlucky)]
      const ids = Array.from({length: 20}, () => [one.create('agent-1').id, other.create('agent-2').id]).flat()
      assert.equal(new Set(ids).size, 40)
      assert.ok(ids.every((id) => /^sess_[0-9a-f]{8}_[0-9a-f]+_8000$/.test(id)))
      for (const [i, id] of ids.entries()) assert.equal(one.load(id).agent_id, i % 2 === 0 ? 'agent-1' : 'agent-2')
    })

    it('stay removed for other processes that had them in memory', async (t) => {
      const place = await open(t)
      const [sessions, other] = [sessionsOf(await place()), sessionsOf(await place())]
      const {id} = sessions.create('agent-1')
      const kept = sessions.create('agent-1')
      other.addTurn(id, turn('hello'))
      sessions.tick((start + 90_000) * 1000)
      other.addTurn(kept.id, turn('not yet'))
      assert.deepEqual(sessions.cleanup(), [id])
      for (const each of [sessions, other, sessionsOf(await place())]) {
        assert.throws(() => each.load(id), notFound)
        assert.throws(() => each.addTurn(id, turn('too late')), notFound)
        assert.deepEqual(
          each.list().map((session) => session.id),
          [kept.id],
        )
      }
      assert.deepEqual(contents(other.load(kept.id)), ['not yet'])
      const journal = await place()
      assert.throws(() => journal.append(id, {event: 'reset', at: start}, kept), notFound)
    })

    it('are not found under an unknown or invalid id', async (t) => {
      const place = await open(t)
      const sessions = sessionsOf(await place())
      sessions.create('agent-1')
      for (const id of ['sess_1_1', 'sess_1_1_0000', '', '../../etc/passwd', 'SESS_1_1', 'sess_1_1\n', 'created'])
        assert.throws(() => sessions.load(id), notFound, JSON.stringify(id))
    })
  })

describe('a database of several repositories', () => {
  it('separates their sessions', async (t) => {
    const store = await openStore(join(await temporaryFolder(t), 'store.db'), [sessionFragment])
    t.after(() => store.close())
    const [mine, other] = [sessionsOf(rowJournal(store, 'mine')), sessionsOf(rowJournal(store, 'other'))]
    const {id} = mine.create('agent-1')
    assert.deepEqual(other.list(), [])
    assert.throws(() => other.load(id), notFound)
    assert.equal(mine.list().length, 1)
  })

  it('has the current state of a session in its tables', async (t) => {
    const store = await openStore(join(await temporaryFolder(t), 'store.db'), [sessionFragment])
    t.after(() => store.close())
    const sessions = sessionsOf(rowJournal(store, 'mine'))
    const {id} = sessions.create('agent-1', 'tenant-7')
    const row = () => store.get('SELECT * FROM agent_sessions')
    const fresh = {
      id,
      repository_id: 'mine',
      agent_id: 'agent-1',
      tenant_id: 'tenant-7',
      agent_name: null,
      started_at: '2025-11-24 16:00:00',
      ended_at: null,
      status: 'active',
      task_snapshot: null,
      context_summary: null,
    }
    assert.deepEqual(row(), fresh)
    sessions.addTurn(id, turn('hello'))
    sessions.compact(id, 'They said hello.')
    assert.deepEqual(row(), {...fresh, status: 'compacted', context_summary: 'They said hello.'})
    sessions.tick((start + 1800) * 1000)
    assert.deepEqual(row(), {...fresh, status: 'idle', context_summary: 'They said hello.'})
    sessions.reset(id)
    assert.deepEqual(row(), fresh)
    sessions.tick((start + 86_400) * 1000)
    sessions.cleanup((start + 86_460) * 1000)
    assert.deepEqual(row(), {...fresh, status: 'archived', ended_at: '2025-11-25 16:01:00'})
    const events = store.all('SELECT event_type, created_at_ms FROM agent_session_events ORDER BY id')
    const at = (event_type: string, seconds: number) => ({event_type, created_at_ms: (start + seconds) * 1000})
    assert.deepEqual(events, [
      at('created', 0),
      at('turn_added', 0),
      at('compacted', 0),
      at('state_changed', 1800),
      at('reset', 0),
      at('state_changed', 86_400),
      at('state_changed', 86_400),
    ])
  })

  it('reverts an operation if the surrounding transaction rolls back', async (t) => {
    const store = await openStore(join(await temporaryFolder(t), 'store.db'), [sessionFragment])
    t.after(() => store.close())
    const sessions = sessionsOf(rowJournal(store, 'mine'))
    const {id} = sessions.create('agent-1')
    sessions.addTurn(id, turn('kept'))
    const failing = (content: string) =>
      store.transaction(() => {
        sessions.addTurn(id, turn(content))
        throw new Error('something else went wrong')
      })
    assert.throws(() => failing('lost'), /something else/)
    assert.deepEqual(contents(sessions.load(id)), ['kept'])
    assert.throws(() => failing('lost too'), /something else/)
    // Another process writes at the position of the reverted event.
    sessionsOf(rowJournal(store, 'mine')).addTurn(id, turn('of another'))
    assert.deepEqual(contents(sessions.addTurn(id, turn('last'))), ['kept', 'of another', 'last'])
  })
})
