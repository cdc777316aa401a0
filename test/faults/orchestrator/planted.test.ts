import assert from 'node:assert/strict'
import {cpSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {mkdtemp, realpath, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {after, before, describe, it} from 'node:test'
import {Driver} from '../../support/sqlite.js'
import {type Evidence, readTraces} from './evidence.js'
import {killDaemon} from './kill-daemon.js'
import {faultsOf, type OracleName, oracles} from './oracles.js'
import {storeOf} from './workspace.js'

/** An injected fault: the state that a faulty program would leave. */
interface InjectedFault {
  caught: OracleName
  fault: string
  /** Statements on a copy of the store. */
  sql?: string
  /** A change to a copy of the journal. */
  journal?: (lines: readonly string[]) => string[]
  /** A change to the collected evidence. */
  seen?: (evidence: Evidence) => Partial<Evidence>
}

const isStart = (line: string) => line.startsWith('start ')
const firstStart = (lines: readonly string[]): string => lines.find(isStart) ?? ''

const someTask = "(SELECT min(id) FROM orch_tasks WHERE status = 'Completed')"
/** The first or last completed task. */
const completed = (order: 'ASC' | 'DESC') =>
  `(SELECT task_id FROM orch_events WHERE type = 'task_completed' ORDER BY id ${order} LIMIT 1)`
/** The first task of the journal, and lines of a later attempt of it. */
const withLaterAttempt = (lines: readonly string[]) => {
  const [, task = ''] = firstStart(lines).split(' ')
  return {task, later: [`start ${task} 99 1`, `end ${task} 99`]}
}

const injectedFaults: readonly InjectedFault[] = [
  {
    caught: 'accepted tasks are stored',
    fault: 'an accepted task is missing',
    sql: `DELETE FROM orch_tasks WHERE id = ${someTask}`,
  },
  {
    caught: 'each key has one task',
    fault: 'two tasks have the same key',
    sql: `DROP INDEX orch_tasks_key; UPDATE orch_tasks SET idempotency_key = 'east-0' WHERE id = (SELECT max(id) FROM orch_tasks)`,
  },
  {
    caught: 'each key has one task',
    fault: 'a submitter received another id for the same key',
    seen: ({accepted}) => ({accepted: [...accepted, {key: accepted[0]?.key ?? '', id: accepted.at(-1)?.id ?? 0}]}),
  },
  {
    caught: 'every task is completed',
    fault: 'a task stays queued',
    sql: `UPDATE orch_tasks SET status = 'Queued' WHERE id = ${someTask}`,
  },
  {
    caught: 'each task is completed once',
    fault: 'a late completion was recorded as well',
    sql: `INSERT INTO orch_events (repository_id, timestamp_ms, type, task_id, payload)
SELECT repository_id, timestamp_ms, type, task_id, payload FROM orch_events WHERE type = 'task_completed' LIMIT 1`,
  },
  {
    caught: 'each task is completed once',
    fault: 'a completion has no event',
    sql: `DELETE FROM orch_events WHERE id = (SELECT max(id) FROM orch_events WHERE type = 'task_completed')`,
  },
  {
    caught: 'each attempt starts once',
    fault: 'two runs got the same claim',
    journal: (lines) => [firstStart(lines), ...lines],
  },
  {
    caught: 'no completed task starts again',
    fault: 'a finished task ran again',
    journal: (lines) => [...lines, ...withLaterAttempt(lines).later],
  },
  {
    caught: 'no completed task starts again',
    fault: 'a finished task was claimed again',
    sql: `INSERT INTO orch_events (repository_id, timestamp_ms, type, task_id, payload)
SELECT repository_id, timestamp_ms, type, task_id, payload FROM orch_events WHERE type = 'task_started' LIMIT 1`,
  },
  {
    caught: 'attempts of a task do not overlap',
    fault: 'a command of a killed daemon ran during the next attempt',
    journal: (lines) => {
      const start = firstStart(lines)
      const [, task] = start.split(' ')
      return [`start ${task} 0 1`, start, `end ${task} 0`, ...lines.filter((line) => line !== start)]
    },
  },
  {
    caught: 'the recorded attempt is the last one',
    fault: 'an attempt other than the last one was recorded',
    sql: `UPDATE orch_tasks SET claim_generation = claim_generation + 2 WHERE id = ${someTask}`,
  },
  {
    caught: 'the recorded attempt is the last one',
    fault: 'a task was completed before its work had ended',
    journal: (lines) => lines.slice(0, -1),
  },
  {
    caught: 'dependencies end first',
    fault: 'a task did not wait for its dependency',
    sql: `INSERT OR IGNORE INTO orch_dependencies VALUES (${completed('ASC')}, ${completed('DESC')}, 1)`,
  },
  {
    caught: 'agent counters are correct',
    fault: 'a counter was not decremented',
    sql: 'UPDATE orch_agents SET queued_normal = queued_normal + 1 WHERE id = 1',
  },
  {
    caught: 'agent counters are correct',
    fault: 'the load was not reduced',
    sql: 'UPDATE orch_agents SET load = load + 5 WHERE id = 1',
  },
  {
    caught: 'events are printed once and in order',
    fault: 'a daemon printed an event twice',
    seen: ({printed}) => ({
      printed: [...printed.slice(0, -1), [...(printed.at(-1) ?? []), printed.at(-1)?.at(-1) ?? 0]],
    }),
  },
  {
    caught: 'events are printed once and in order',
    fault: 'a daemon printed an event that was not stored',
    seen: ({printed}) => ({printed: [...printed, [999_999_999]]}),
  },
  {
    caught: 'events are printed once and in order',
    fault: 'a follower missed an event',
    seen: ({followed}) => ({followed: followed.toSpliced(followed.length >> 1, 1)}),
  },
  {
    caught: 'only kills cause further attempts',
    fault: 'a task ran again although no daemon had been killed',
    sql: `UPDATE orch_events SET payload = json_set(payload, '$.reason', 'timeout') WHERE type = 'task_requeued'`,
  },
  {
    caught: 'only kills cause further attempts',
    fault: 'an attempt was not recorded',
    journal: (lines) => {
      const {task, later} = withLaterAttempt(lines)
      return [...later, ...lines].filter((line) => line !== `end ${task} 99`)
    },
  },
  {
    caught: 'only kills cause further attempts',
    fault: 'a task was claimed twice without being requeued',
    sql: `DELETE FROM orch_events WHERE id = (SELECT max(id) FROM orch_events WHERE type = 'task_requeued')`,
  },
  {
    caught: 'one of two daemons gets the lease',
    fault: 'two daemons got the lease',
    seen: () => ({contests: [{winners: 2, losers: []}]}),
  },
  {
    caught: 'one of two daemons gets the lease',
    fault: 'the losing daemon exited with status 0',
    seen: () => ({contests: [{winners: 1, losers: [{exitCode: 0, code: ''}]}]}),
  },
  {
    caught: 'the database is intact after each kill',
    fault: 'a kill corrupted a page',
    seen: ({integrity}) => ({integrity: [...integrity.slice(1), 'row 7 missing from index orch_tasks_status']}),
  },
  {
    caught: 'no process is left running',
    fault: 'a command is still running',
    seen: () => ({leftover: [4711]}),
  },
]

describe('the oracles of a run with kills', () => {
  let folder = ''
  let sound: Evidence
  const faults: string[] = []
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-test-')))
    // Uses the first run in which a task was requeued, because some faults concern second attempts.
    for (let seed = 1; seed <= 5; seed++) {
      const root = join(folder, `run-${seed}`)
      mkdirSync(root)
      sound = await killDaemon({kills: 2, seed, tasks: 40, prunes: 3, root})
      faults.push(...faultsOf(sound).map((fault) => `seed ${seed}: ${fault}`))
      cpSync(root, join(folder, 'sound'), {recursive: true, force: true})
      if (sound.events.some(({type}) => type === 'task_requeued')) return
    }
  })
  after(() => rm(folder, {recursive: true, force: true}))

  // A run with more kills is in `kill-daemon.slow.ts`.
  it('report no violation in a run with killed daemons', () => {
    assert.deepEqual(faults, [])
    assert.ok(sound.tasks.length >= 80, `${sound.tasks.length} tasks`)
    assert.ok(sound.events.some(({type}) => type === 'task_requeued'))
  })

  it('each have an injected fault', () => {
    assert.deepEqual([...new Set(injectedFaults.map(({caught}) => caught))].sort(), Object.keys(oracles).sort())
  })

  for (const {caught, fault, sql, journal, seen} of injectedFaults)
    it(`report that ${fault}`, () => {
      const root = join(folder, 'modified')
      rmSync(root, {recursive: true, force: true})
      cpSync(join(folder, 'sound'), root, {recursive: true})
      if (sql !== undefined) modifyStore(root, sql)
      if (journal !== undefined) modifyJournal(root, journal)
      const found = faultsOf({...sound, ...readTraces(root), ...seen?.(sound)})
      assert.ok(
        found.some((sentence) => sentence.startsWith(`${caught}: `)),
        JSON.stringify(found),
      )
    })
})

function modifyStore(root: string, sql: string): void {
  const database = new Driver(storeOf(root))
  database.pragma('foreign_keys = OFF')
  database.exec(sql)
  database.close()
}

function modifyJournal(root: string, change: (lines: readonly string[]) => string[]): void {
  const file = join(root, 'journal.txt')
  writeFileSync(file, `${change(readFileSync(file, 'utf8').trimEnd().split('\n')).join('\n')}\n`)
}
