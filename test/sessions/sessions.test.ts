import assert from 'node:assert/strict'
import {existsSync, writeFileSync} from 'node:fs'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {isErrorOf, type SvcError} from '../../src/errors/index.js'
import {fileJournal} from '../../src/sessions/file-journal.js'
import {memoryJournal} from '../../src/sessions/memory-journal.js'
import {rowJournal, sessionFragment} from '../../src/sessions/row-journal.js'
import {Sessions, type SessionsOptions} from '../../src/sessions/sessions.js'
import {openStore} from '../../src/store/index.js'
import {resolveOrchestratorConfig} from '../../src/workspace/index.js'
import {temporaryFolder} from '../support/temporary.js'

const start = 1_764_000_000
const {compaction} = resolveOrchestratorConfig({env: {}}).config

/** Sessions with a manual clock; `at` sets it in seconds after the start. */
function clocked(options: Partial<SessionsOptions> = {}) {
  let seconds = start
  const sessions = new Sessions({
    journal: memoryJournal(),
    maxSessions: 16,
    compaction,
    idleTimeoutSecs: 1800,
    archiveTimeoutSecs: 86_400,
    now: () => seconds * 1000 + 999,
    random: Math.random,
    ...options,
  })
  return {
    sessions,
    at(offset: number) {
      seconds = start + offset
    },
  }
}

const turn = (content: string, tokens = 2) => ({role: 'user', content, tokens})
const notFound = (error: unknown) => isErrorOf(error, 'session_not_found')

describe('a session', () => {
  it('counts all its turns and tokens, including removed ones', () => {
    const {sessions} = clocked()
    const {id} = sessions.create('agent-1')
    sessions.addTurn(id, turn('a', 3))
    sessions.addTurn(id, turn('b', 4))
    assert.equal(sessions.reset(id), 2)
    sessions.addTurn(id, turn('c', 5))
    sessions.addTurn(id, turn('d', 0))
    assert.equal(sessions.compact(id, 'c and d'), 1)
    const {turn_count, total_tokens} = sessions.load(id)
    assert.deepEqual({turn_count, total_tokens}, {turn_count: 4, total_tokens: 12})
  })

  it('keeps its metadata and plugin state but no turns when it is reset', () => {
    const {sessions} = clocked()
    const {id} = sessions.create('agent-1')
    sessions.setMeta(id, 'topic', 'paging')
    sessions.setPluginState(id, 'planner', {step: 1})
    sessions.compact(id, 'nothing yet')
    assert.equal(sessions.reset(id), 1)
    const {turns, meta, plugin_state, state} = sessions.load(id)
    assert.deepEqual(
      {turns, meta, plugin_state, state},
      {turns: [], meta: {topic: 'paging'}, plugin_state: {planner: {step: 1}}, state: 'active'},
    )
  })

  it('has a single system turn after it is compacted', () => {
    const {sessions, at} = clocked()
    const {id} = sessions.create('agent-1')
    for (const content of ['a', 'b', 'c']) sessions.addTurn(id, turn(content))
    at(5)
    assert.equal(sessions.compact(id, 'Three letters.'), 2)
    const {turns, state} = sessions.load(id)
    assert.equal(state, 'compacted')
    assert.deepEqual(turns, [{role: 'system', content: 'Three letters.', tokens: 0, at: start + 5}])
    assert.equal(sessions.addTurn(id, turn('d')).state, 'active')
    assert.equal(sessions.load(id).turns.length, 2)
  })

  it('can be compacted without turns', () => {
    const {sessions} = clocked()
    const {id} = sessions.create('agent-1')
    assert.equal(sessions.compact(id, 'Nothing was said.'), 0)
  })

  it('overwrites metadata and plugin state of the same name', () => {
    const {sessions} = clocked()
    const {id} = sessions.create('agent-1')
    sessions.setMeta(id, 'topic', 'old')
    sessions.setMeta(id, 'other', 'kept')
    assert.deepEqual(sessions.setMeta(id, 'topic', 'new').meta, {topic: 'new', other: 'kept'})
    sessions.setPluginState(id, 'planner', {step: 1, deep: [1]})
    assert.deepEqual(sessions.setPluginState(id, 'planner', {step: 2}).plugin_state, {planner: {step: 2}})
  })

  it('records the time of its last expensive operation', () => {
    const {sessions, at} = clocked()
    const {id} = sessions.create('agent-1')
    at(7)
    assert.equal(sessions.recordExpensiveOp(id).last_expensive_op_at, start + 7)
  })

  it('rejects a turn with an invalid token count', () => {
    const {sessions} = clocked()
    const {id} = sessions.create('agent-1')
    for (const tokens of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY])
      assert.throws(
        () => sessions.addTurn(id, turn('a', tokens)),
        (error) => isErrorOf(error, 'usage'),
      )
    assert.equal(sessions.load(id).turn_count, 0)
  })
})

describe('an inactive session', () => {
  const day = 86_400

  it('becomes idle, then archived, and records both changes in its journal', () => {
    const journal = memoryJournal()
    const {sessions, at} = clocked({journal})
    const {id} = sessions.create('agent-1')
    at(1799)
    assert.deepEqual(sessions.tick(), [])
    at(1800)
    assert.deepEqual(sessions.tick(), [{id, from: 'active', to: 'idle'}])
    assert.deepEqual(sessions.tick(), [])
    at(day - 1)
    assert.deepEqual(sessions.tick(), [])
    at(day)
    assert.deepEqual(sessions.tick(), [{id, from: 'idle', to: 'archived'}])
    at(day * 9)
    assert.deepEqual(sessions.tick(), [])
    assert.equal(sessions.load(id).last_active, start)
    const events = journal.load(id)?.map(({text}) => JSON.parse(text) as unknown)
    assert.deepEqual(events?.slice(1), [
      {event: 'state_changed', from: 'active', to: 'idle', at: start + 1800},
      {event: 'state_changed', from: 'idle', to: 'archived', at: start + day},
    ])
  })

  it('makes both changes in one tick after a long time', () => {
    const {sessions} = clocked()
    const {id} = sessions.create('agent-1')
    assert.deepEqual(sessions.tick((start + day) * 1000), [
      {id, from: 'active', to: 'idle'},
      {id, from: 'idle', to: 'archived'},
    ])
  })

  it('becomes idle after the same timeout if it is compacted', () => {
    const {sessions, at} = clocked()
    const {id} = sessions.create('agent-1')
    at(100)
    sessions.compact(id, 'So far.')
    assert.deepEqual(sessions.tick((start + 1899) * 1000), [])
    assert.deepEqual(sessions.tick((start + 1900) * 1000), [{id, from: 'compacted', to: 'idle'}])
  })

  it('becomes active again by a turn or a reset, even if it is archived', () => {
    const {sessions, at} = clocked()
    const [one, other] = [sessions.create('agent-1'), sessions.create('agent-1')]
    at(1800)
    assert.equal(sessions.tick().length, 2)
    assert.equal(sessions.addTurn(one.id, turn('hello')).state, 'active')
    at(day)
    sessions.tick()
    assert.equal(sessions.load(other.id).state, 'archived')
    sessions.reset(other.id)
    assert.equal(sessions.load(other.id).state, 'active')
    assert.deepEqual(sessions.cleanup(), [])
  })

  it('does not change if the timeouts are disabled', () => {
    const {sessions} = clocked({idleTimeoutSecs: 0, archiveTimeoutSecs: 0})
    sessions.create('agent-1')
    assert.deepEqual(sessions.tick((start + 99 * day) * 1000), [])
  })

  it('has two independent timeouts', () => {
    const never = clocked({archiveTimeoutSecs: 0}).sessions
    const {id} = never.create('agent-1')
    assert.deepEqual(never.tick((start + 99 * day) * 1000), [{id, from: 'active', to: 'idle'}])
    const straight = clocked({idleTimeoutSecs: 0}).sessions
    const other = straight.create('agent-1')
    assert.deepEqual(straight.tick((start + 2000) * 1000), [])
    assert.deepEqual(straight.tick((start + day) * 1000), [{id: other.id, from: 'active', to: 'archived'}])
  })

  it('is not archived if a turn was added just before', () => {
    const journal = memoryJournal()
    const {sessions, at} = clocked({journal})
    const {id} = sessions.create('agent-1')
    at(1800)
    sessions.tick()
    const before = sessions.load(id)
    at(day)
    sessions.addTurn(id, turn('just in time'))
    // Simulates a process that read the session before the turn was added.
    journal.append(id, {event: 'state_changed', from: 'idle', to: 'archived', at: start + day}, before)
    assert.equal(sessions.load(id).state, 'active')
  })
})

describe('the number of sessions', () => {
  it('is limited, and the error contains the limit', () => {
    const {sessions} = clocked({maxSessions: 2})
    sessions.create('agent-1')
    sessions.create('agent-1')
    assert.throws(
      () => sessions.create('agent-1'),
      (error: SvcError) => {
        assert.ok(isErrorOf(error, 'session_limit'))
        assert.deepEqual([error.exit, error.status], [4, 429])
        assert.match(error.message, /The limit of 2 open sessions/)
        return true
      },
    )
    assert.equal(sessions.list().length, 2)
  })

  it('includes idle but not archived sessions, which remain until they are cleaned up', () => {
    const {sessions, at} = clocked({maxSessions: 2})
    const old = sessions.create('agent-1')
    sessions.addTurn(old.id, turn('long ago'))
    at(86_400)
    sessions.tick()
    const second = sessions.create('agent-1')
    at(86_400 + 1800)
    assert.deepEqual(sessions.tick(), [{id: second.id, from: 'active', to: 'idle'}])
    sessions.create('agent-1')
    assert.throws(
      () => sessions.create('agent-1'),
      (error) => isErrorOf(error, 'session_limit'),
    )
    assert.equal(sessions.load(old.id).turns.length, 1)
    assert.deepEqual(sessions.cleanup(), [old.id])
    assert.throws(() => sessions.load(old.id), notFound)
  })

  it('includes existing sessions of the journal after a restart', () => {
    const journal = memoryJournal()
    clocked({journal, maxSessions: 1}).sessions.create('agent-1')
    assert.throws(
      () => clocked({journal, maxSessions: 1}).sessions.create('agent-1'),
      (error) => isErrorOf(error, 'session_limit'),
    )
  })
})

describe('a database with older session files', () => {
  async function workspace(test: TestContext) {
    const folder = await temporaryFolder(test)
    const store = await openStore(join(folder, 'store.db'), [sessionFragment])
    test.after(() => store.close())
    const [rows, files] = [rowJournal(store, 'mine'), fileJournal(join(folder, 'sessions'), 'mine')]
    return {
      store,
      rows,
      files,
      fileOf: (id: string) => join(folder, 'sessions', 'mine', `${id}.jsonl`),
      attached: clocked({journal: rows, older: files}),
      detached: clocked({journal: files}),
    }
  }

  it('imports a session from a file unchanged when it is loaded', async (t) => {
    const {store, rows, attached, detached} = await workspace(t)
    const {id} = detached.sessions.create('agent-1', 'tenant-7')
    detached.sessions.addTurn(id, turn('hello'))
    detached.sessions.setMeta(id, 'topic', 'paging')
    detached.sessions.compact(id, 'They said hello.')
    const before = detached.sessions.load(id)
    assert.deepEqual(attached.sessions.list(), [], 'not before it is loaded')
    assert.deepEqual(attached.sessions.load(id), before)
    assert.deepEqual(store.all('SELECT id, status, context_summary FROM agent_sessions'), [
      {id, status: 'compacted', context_summary: 'They said hello.'},
    ])
    assert.deepEqual(clocked({journal: rows}).sessions.load(id), before, 'the database contains it now')
  })

  it('imports it for any operation, and writes only to the database', async (t) => {
    const {attached, detached} = await workspace(t)
    const {id} = detached.sessions.create('agent-1')
    attached.sessions.addTurn(id, turn('hello'))
    assert.equal(attached.sessions.load(id).turn_count, 1)
    assert.equal(detached.sessions.load(id).turn_count, 0)
    const made = attached.sessions.create('agent-1')
    assert.throws(() => detached.sessions.load(made.id), notFound)
  })

  it('takes precedence if both have a session', async (t) => {
    const {attached, detached, rows, files} = await workspace(t)
    const {id} = detached.sessions.create('agent-1')
    attached.sessions.addTurn(id, turn('in the database'))
    detached.sessions.addTurn(id, turn('in the file'))
    detached.sessions.addTurn(id, turn('in the file'))
    const fresh = clocked({journal: rows, older: files}).sessions
    for (const sessions of [attached.sessions, fresh])
      assert.deepEqual(
        sessions.load(id).turns.map(({content}) => content),
        ['in the database'],
      )
  })

  it('removes a session from both on cleanup', async (t) => {
    const {attached, detached, fileOf} = await workspace(t)
    const {id} = detached.sessions.create('agent-1')
    attached.sessions.load(id)
    attached.at(90_000)
    attached.sessions.tick()
    assert.ok(existsSync(fileOf(id)))
    assert.deepEqual(attached.sessions.cleanup(), [id])
    assert.ok(!existsSync(fileOf(id)))
    assert.throws(() => attached.sessions.load(id), notFound)
    assert.throws(() => detached.sessions.load(id), notFound)
  })

  it('does not import a removed session again', async (t) => {
    const {attached, detached, files} = await workspace(t)
    const {id} = detached.sessions.create('agent-1')
    const entries = files.load(id) ?? []
    attached.sessions.load(id)
    attached.sessions.tick((start + 90_000) * 1000)
    attached.sessions.cleanup()
    files.open(id, JSON.parse(entries[0]?.text ?? ''), attached.sessions.create('agent-1'))
    assert.equal(detached.sessions.load(id).id, id)
    assert.throws(() => attached.sessions.load(id), notFound)
  })

  it('imports nothing from a damaged file', async (t) => {
    const {store, attached, detached, fileOf} = await workspace(t)
    const {id} = detached.sessions.create('agent-1')
    writeFileSync(fileOf(id), 'oops\n', {flag: 'a'})
    assert.throws(
      () => attached.sessions.load(id),
      (error) => isErrorOf(error, 'session_damaged'),
    )
    assert.deepEqual(store.all('SELECT id FROM agent_sessions'), [])
  })
})
