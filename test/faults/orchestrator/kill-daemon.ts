import {setTimeout as sleep} from 'node:timers/promises'
import {randomSource} from '../../../src/sampling/index.js'
import type {Program} from '../../support/program.js'
import {projectFile} from '../../support/project.js'
import {Driver} from '../../support/sqlite.js'
import {until} from '../../support/until.js'
import {type Contest, checkIntegrity, type Evidence, readStore, readTraces} from './evidence.js'
import {stillAtWork} from './journal.js'
import {endPrograms, type RunningDaemon, startCommand, startDaemon, startNode} from './process.js'
import {storeOf, writeWorkspace} from './workspace.js'

export interface KillOptions {
  /** Number of kills. */
  kills: number
  seed: number
  /** Number of tasks of each submitter. */
  tasks: number
  /** Number of `svc db prune --store` commands that run meanwhile. Half of them are killed. */
  prunes?: number
  /** Real path of an empty folder. */
  root: string
  /** Called after each kill. */
  onKill?: (kill: Kill) => void
}

export interface Kill {
  number: number
  when: When
  /** Time since the daemon reached the state `when`, ms. */
  afterMs: number
  /** True if two daemons were started at the same time. */
  contested: boolean
}

type When = 'starting' | 'ready' | 'working'

/** When a daemon is killed, with the share of kills and the maximum delay, ms. */
const moments: readonly (readonly [when: When, share: number, afterMs: number])[] = [
  ['starting', 0.2, 400],
  ['ready', 0.2, 5],
  ['working', 0.6, 1200],
]

const submitterNames = ['east', 'west'] as const
/** Time limit for the remaining tasks after the last kill, ms. */
const maxEndMs = 600_000

/**
 * Kills daemons at random times while tasks are submitted and run, waits until the last daemon has run all tasks, and
 * returns the evidence. The seed determines the tasks and the planned kills, but not their relative timing.
 * @throws Error if a submitter fails or the tasks do not end
 */
export async function killDaemon(options: KillOptions): Promise<Evidence> {
  await writeWorkspace(options.root)
  const run = new Run(options)
  try {
    return await run.run()
  } finally {
    await endPrograms(options.root)
  }
}

class Run {
  readonly #options: KillOptions
  readonly #random: () => number
  readonly #daemons: RunningDaemon[] = []
  readonly #contests: Contest[] = []
  readonly #integrity: string[] = []
  readonly #accepted: {key: string; id: number}[] = []

  constructor(options: KillOptions) {
    this.#options = options
    this.#random = randomSource(options.seed)
  }

  async run(): Promise<Evidence> {
    const {kills, root} = this.#options
    const submitters = submitterNames.map((_, i) => this.#submit(i))
    const pruning = this.#prune()
    // Reported when it is awaited.
    pruning.catch(() => undefined)
    let follower: Program | undefined
    for (let number = 1; number <= kills; number++) {
      await this.#kill(number)
      // A daemon or a submitter has created the store by now.
      follower ??= startCommand(['orch', 'events', '--follow', '--since', '0', '--json'], {root})
      this.#integrity.push(checkIntegrity(root))
      const unlucky = Math.floor(this.#random() * submitters.length * 3)
      if (submitters[unlucky] !== undefined) submitters[unlucky] = await this.#replace(submitters[unlucky], unlucky)
    }
    const last = this.#startDaemon()
    for (const submitter of submitters) await this.#finish(submitter)
    await this.#untilEnded(last)
    await pruning
    last.kill('SIGTERM')
    const exitCode = await last.exited
    if (exitCode !== 0) throw new Error(`The daemon ended with ${exitCode}: ${last.stderr()}${last.lines.at(-1)}`)
    this.#checkPruned()
    const traces = readTraces(root)
    return {
      ...traces,
      kills,
      accepted: this.#accepted,
      contests: this.#contests,
      integrity: this.#integrity,
      printed: this.#daemons.map(({events}) => events),
      followed: await this.#followed(follower, traces.events.at(-1)?.id ?? 0),
      leftover: stillAtWork(root, traces.journal),
    }
  }

  #startDaemon(): RunningDaemon {
    const daemon = startDaemon(this.#options.root)
    this.#daemons.push(daemon)
    return daemon
  }

  async #kill(number: number): Promise<void> {
    const contested = this.#random() < 0.25
    const {when, afterMs} = this.#moment()
    const daemon = contested ? await this.#contest() : this.#startDaemon()
    if (when !== 'starting') await this.#untilReady(daemon)
    if (when === 'working') await this.#untilWorking()
    await sleep(afterMs)
    daemon.kill('SIGKILL')
    // Until its exit status has been read, the system still lists the process.
    await daemon.exited
    this.#options.onKill?.({number, when, afterMs, contested})
  }

  #moment(): {when: When; afterMs: number} {
    const drawn = this.#random()
    let sum = 0
    for (const [when, share, most] of moments) {
      sum += share
      if (drawn < sum) return {when, afterMs: Math.floor(this.#random() * most)}
    }
    return {when: 'working', afterMs: 0}
  }

  /** Starts two daemons at the same time and returns the one that stays. */
  async #contest(): Promise<RunningDaemon> {
    const both = [this.#startDaemon(), this.#startDaemon()] as const
    const areReady = await Promise.all(both.map(({ready}) => ready))
    const losers = both.filter((_, i) => !areReady[i])
    this.#contests.push({
      winners: both.length - losers.length,
      losers: await Promise.all(losers.map(async (loser) => ({exitCode: await loser.exited, code: loser.errorCode()}))),
    })
    return areReady[0] ? both[0] : both[1]
  }

  async #untilReady(daemon: RunningDaemon): Promise<void> {
    if (!(await daemon.ready)) throw new Error(`The daemon does not start: ${daemon.stderr()}${daemon.lines.at(-1)}`)
  }

  /** A slow submitter may not have submitted anything when the daemon is ready. */
  async #untilWorking(): Promise<void> {
    const isWorking = () =>
      readStore(this.#options.root, (database) => {
        const has = database.prepare('SELECT count(*) FROM orch_tasks WHERE status = ?').pluck()
        return has.get('InProgress') !== 0 || has.get('Queued') === 0
      })
    await until(() => this.#accepted.length > 0 && isWorking(), 'a task runs')
  }

  #submit(which: number): Program {
    const {root, tasks, seed} = this.#options
    const name = submitterNames[which] ?? ''
    const program = projectFile('dist/test/faults/orchestrator/submitter.js')
    return startNode([program, root, name, String(tasks), String(seed * 2 + which)], {
      root,
      onLine: (line) => {
        const [key = '', id] = line.split(' ')
        this.#accepted.push({key, id: Number(id)})
      },
    })
  }

  /** Kills a submitter and starts another one that submits the same keys, unless it has finished. */
  async #replace(submitter: Program, which: number): Promise<Program> {
    submitter.kill('SIGKILL')
    const exitCode = await submitter.exited
    if (exitCode === 0) return submitter
    if (exitCode !== null) throw new Error(`A submitter ended with ${exitCode}: ${submitter.stderr()}`)
    return this.#submit(which)
  }

  async #finish(submitter: Program): Promise<void> {
    const exitCode = await submitter.exited
    if (exitCode !== 0) throw new Error(`A submitter ended with ${exitCode}: ${submitter.stderr()}`)
  }

  async #untilEnded(daemon: RunningDaemon): Promise<void> {
    await this.#untilReady(daemon)
    const deadline = performance.now() + maxEndMs
    const open = () =>
      readStore(this.#options.root, (database) =>
        database
          .prepare<[], {id: number; status: string}>(
            "SELECT id, status FROM orch_tasks WHERE status NOT IN ('Completed', 'Failed', 'Cancelled')",
          )
          .all(),
      )
    let left = open()
    while (left.length > 0) {
      if (performance.now() > deadline) throw new Error(`These do not end: ${JSON.stringify(left.slice(0, 20))}`)
      await sleep(100)
      left = open()
    }
  }

  /** Prunes the store while daemons are started and killed. A command that is not killed must succeed. */
  async #prune(): Promise<void> {
    const {root, prunes = 0, seed} = this.#options
    if (prunes === 0) return
    const random = randomSource(seed + 1)
    await until(() => this.#accepted.length > 0, 'a task is submitted')
    for (let number = 0; number < prunes; number++) {
      addOldRecord(root)
      const prune = startCommand(['db', 'prune', '--store', '--apply'], {root})
      // The last one deletes what killed ones have left.
      if (number % 2 === 0 && number < prunes - 1) {
        await sleep(random() * 1000)
        prune.kill('SIGKILL')
      }
      const exitCode = await prune.exited
      if (exitCode !== 0 && exitCode !== null) throw new Error(`A prune ended with ${exitCode}: ${prune.stderr()}`)
    }
  }

  /** The old records are deleted, and those of the tasks are kept. @throws Error */
  #checkPruned(): void {
    const {root, prunes = 0} = this.#options
    if (prunes === 0) return
    const counts = readStore(root, (database) =>
      database
        .prepare<[], {old: number; missing: number}>(
          `SELECT (SELECT count(*) FROM orchestration_lineage_events WHERE kind = '${oldKind}') AS old,
  (SELECT count(*) FROM orch_tasks t WHERE status = 'Completed' AND NOT EXISTS
    (SELECT 1 FROM orchestration_lineage_events WHERE task_id = t.id AND kind = 'task_completed')) AS missing`,
        )
        .get(),
    )
    if (counts?.old !== 0 || counts.missing !== 0) throw new Error(`Records after pruning: ${JSON.stringify(counts)}`)
  }

  async #followed(follower: Program | undefined, lastId: number): Promise<number[]> {
    const seen = () => (follower?.lines ?? []).map((line) => (JSON.parse(line) as {id: number}).id)
    await until(
      () => seen().at(-1) === lastId,
      () => `the follower has printed event ${lastId}: its last one is ${seen().at(-1)}`,
    )
    return seen()
  }
}

const oldKind = 'an old record'

function addOldRecord(root: string): void {
  const database = new Driver(storeOf(root), {timeout: 20_000})
  try {
    database
      .prepare('INSERT INTO orchestration_lineage_events (kind, task_id, created_at_ms) VALUES (?, 1, 0)')
      .run(oldKind)
  } finally {
    database.close()
  }
}
