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

/** What a program with a fault would have left behind. */
interface Planted {
  caught: OracleName
  fault: string
  /** Statements on a copy of the store. */
  sql?: string
  /** A change to a copy of the journal. */
  journal?: (lines: readonly string[]) => string[]
  /** A change to what those saw who took part. */
  seen?: (evidence: Evidence) => Partial<Evidence>
}

const isStart = (line: string) => line.startsWith('start ')
const firstStart = (lines: readonly string[]): string => lines.find(isStart) ?? ''

const someTask = "(SELECT min(id) FROM orch_tasks WHERE status = 'Completed')"
/** The task that was completed first, or last. */
const completed = (order: 'ASC' | 'DESC') =>
  `(SELECT task_id FROM orch_events WHERE type = 'task_completed' ORDER BY id ${order} LIMIT 1)`
/** The first task of the journal, which is there once. */
const withLaterAttempt = (lines: readonly string[]) => {
  const [, task = ''] = firstStart(lines).split(' ')
  return {task, later: [`start ${task} 99 1`, `end ${task} 99`]}
}

const planted: readonly Planted[] = [
  {
    caught: 'what was accepted is there',
    fault: 'a task that was accepted is gone',
    sql: `DELETE FROM orch_tasks WHERE id = ${someTask}`,
  },
  {
    caught: 'a key has one task',
    fault: 'a key was taken twice',
    sql: `DROP INDEX orch_tasks_key; UPDATE orch_tasks SET idempotency_key = 'east-0' WHERE id = (SELECT max(id) FROM orch_tasks)`,
  },
  {
    caught: 'a key has one task',
    fault: 'a submitter got another id for the same key',
    seen: ({accepted}) => ({accepted: [...accepted, {key: accepted[0]?.key ?? '', id: accepted.at(-1)?.id ?? 0}]}),
  },
  {
    caught: 'every task is completed',
    fault: 'a queue stands still',
    sql: `UPDATE orch_tasks SET status = 'Queued' WHERE id = ${someTask}`,
  },
  {
    caught: 'a task is completed once',
    fault: 'a late end counted too',
    sql: `INSERT INTO orch_events (repository_id, timestamp_ms, type, task_id, payload)
SELECT repository_id, timestamp_ms, type, task_id, payload FROM orch_events WHERE type = 'task_completed' LIMIT 1`,
  },
  {
    caught: 'a task is completed once',
    fault: 'a completion was written without its event',
    sql: `DELETE FROM orch_events WHERE id = (SELECT max(id) FROM orch_events WHERE type = 'task_completed')`,
  },
  {
    caught: 'an attempt starts once',
    fault: 'one claim was given to two runs',
    journal: (lines) => [firstStart(lines), ...lines],
  },
  {
    caught: 'nothing starts once it is completed',
    fault: 'a task that was over was run again',
    journal: (lines) => [...lines, ...withLaterAttempt(lines).later],
  },
  {
    caught: 'nothing starts once it is completed',
    fault: 'a task that was over was claimed again',
    sql: `INSERT INTO orch_events (repository_id, timestamp_ms, type, task_id, payload)
SELECT repository_id, timestamp_ms, type, task_id, payload FROM orch_events WHERE type = 'task_started' LIMIT 1`,
  },
  {
    caught: 'attempts at a task never overlap',
    fault: 'a command of a killed daemon lived on beside the next attempt',
    journal: (lines) => {
      const start = firstStart(lines)
      const [, task] = start.split(' ')
      return [`start ${task} 0 1`, start, `end ${task} 0`, ...lines.filter((line) => line !== start)]
    },
  },
  {
    caught: 'the attempt that counts is the last one',
    fault: 'the end of an attempt counted that was not the last',
    sql: `UPDATE orch_tasks SET claim_generation = claim_generation + 2 WHERE id = ${someTask}`,
  },
  {
    caught: 'the attempt that counts is the last one',
    fault: 'a task was completed whose work never ended',
    journal: (lines) => lines.slice(0, -1),
  },
  {
    caught: 'dependencies end first',
    fault: 'a task did not wait',
    sql: `INSERT OR IGNORE INTO orch_dependencies VALUES (${completed('ASC')}, ${completed('DESC')}, 1)`,
  },
  {
    caught: 'agents are counted right',
    fault: 'a counter was not taken down',
    sql: 'UPDATE orch_agents SET queued_normal = queued_normal + 1 WHERE id = 1',
  },
  {
    caught: 'agents are counted right',
    fault: 'the load was not taken down',
    sql: 'UPDATE orch_agents SET load = load + 5 WHERE id = 1',
  },
  {
    caught: 'events come once and in order',
    fault: 'a daemon told an event twice',
    seen: ({printed}) => ({
      printed: [...printed.slice(0, -1), [...(printed.at(-1) ?? []), printed.at(-1)?.at(-1) ?? 0]],
    }),
  },
  {
    caught: 'events come once and in order',
    fault: 'a daemon told of what never came to be',
    seen: ({printed}) => ({printed: [...printed, [999_999_999]]}),
  },
  {
    caught: 'events come once and in order',
    fault: 'a follower missed one',
    seen: ({followed}) => ({followed: followed.toSpliced(followed.length >> 1, 1)}),
  },
  {
    caught: 'more attempts come from kills alone',
    fault: 'a task was run again although no daemon had died',
    sql: `UPDATE orch_events SET payload = json_set(payload, '$.reason', 'timeout') WHERE type = 'task_requeued'`,
  },
  {
    caught: 'more attempts come from kills alone',
    fault: 'an attempt was made that was never written down',
    journal: (lines) => {
      const {task, later} = withLaterAttempt(lines)
      return [...later, ...lines].filter((line) => line !== `end ${task} 99`)
    },
  },
  {
    caught: 'more attempts come from kills alone',
    fault: 'a task was claimed twice without having been queued again',
    sql: `DELETE FROM orch_events WHERE id = (SELECT max(id) FROM orch_events WHERE type = 'task_requeued')`,
  },
  {
    caught: 'one daemon wins',
    fault: 'two daemons got the lease',
    seen: () => ({contests: [{winners: 2, losers: []}]}),
  },
  {
    caught: 'one daemon wins',
    fault: 'the loser ended as if it had been asked to',
    seen: () => ({contests: [{winners: 1, losers: [{exitCode: 0, code: ''}]}]}),
  },
  {
    caught: 'the file is sound after each kill',
    fault: 'a kill tore a page',
    seen: ({integrity}) => ({integrity: [...integrity.slice(1), 'row 7 missing from index orch_tasks_status']}),
  },
  {
    caught: 'nothing is left running',
    fault: 'a command outlived everything',
    seen: () => ({leftover: [4711]}),
  },
]

describe('the judgement of a run with kills', () => {
  let folder = ''
  let sound: Evidence
  const faults: string[] = []
  before(async () => {
    folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-test-')))
    // The first run in which a task was run again: some faults are those of second attempts.
    for (let seed = 1; seed <= 5; seed++) {
      const root = join(folder, `run-${seed}`)
      mkdirSync(root)
      sound = await killDaemon({kills: 2, seed, tasks: 40, root})
      faults.push(...faultsOf(sound).map((fault) => `seed ${seed}: ${fault}`))
      cpSync(root, join(folder, 'sound'), {recursive: true, force: true})
      if (sound.events.some(({type}) => type === 'task_requeued')) return
    }
  })
  after(() => rm(folder, {recursive: true, force: true}))

  // A run with more kills is in `kill-daemon.slow.ts`.
  it('finds no lost task and none that ran twice where a daemon was killed', () => {
    assert.deepEqual(faults, [])
    assert.ok(sound.tasks.length >= 80, `${sound.tasks.length} tasks`)
    assert.ok(sound.events.some(({type}) => type === 'task_requeued'))
  })

  it('has a planted fault for everything that it looks at', () => {
    assert.deepEqual([...new Set(planted.map(({caught}) => caught))].sort(), Object.keys(oracles).sort())
  })

  for (const {caught, fault, sql, journal, seen} of planted)
    it(`finds it out where ${fault}`, () => {
      const root = join(folder, 'doctored')
      rmSync(root, {recursive: true, force: true})
      cpSync(join(folder, 'sound'), root, {recursive: true})
      if (sql !== undefined) doctorStore(root, sql)
      if (journal !== undefined) doctorJournal(root, journal)
      const found = faultsOf({...sound, ...readTraces(root), ...seen?.(sound)})
      assert.ok(
        found.some((sentence) => sentence.startsWith(`${caught}: `)),
        JSON.stringify(found),
      )
    })
})

function doctorStore(root: string, sql: string): void {
  const database = new Driver(storeOf(root))
  database.pragma('foreign_keys = OFF')
  database.exec(sql)
  database.close()
}

function doctorJournal(root: string, change: (lines: readonly string[]) => string[]): void {
  const file = join(root, 'journal.txt')
  writeFileSync(file, `${change(readFileSync(file, 'utf8').trimEnd().split('\n')).join('\n')}\n`)
}
