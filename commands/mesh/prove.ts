import {randomInt} from 'node:crypto'
import {join} from 'node:path'
import {Flags} from '@oclif/core'
import {formatTable, meshPlace, SvcCommand, wrapped} from '../../src/cli/index.js'
import type {MeshProveV1} from '../../src/contracts/index.js'
import type {RunEvent} from '../../src/prove/index.js'

const maxSeed = 2 ** 32 - 1

export default class MeshProve extends SvcCommand<typeof MeshProve> {
  static override summary = 'Run fault-injection tests against a mesh.'
  static override description =
    `Starts a separate svc mesh serve with its own database and tokens, and sends it requests from many clients through a
proxy. The proxy drops, delays, duplicates, reorders and truncates requests. Two orchestrators also delegate tasks to two
workers. The programs are killed, suspended and restarted, the server also before and after commits. The tests also
include clocks that are off by an hour, lost connections, token rotation, bursts of heartbeats and a full inbox.

With --store, two control planes share a PostgreSQL database, whose connections are also ended. The database must be
empty, and keeps the tables of the run.

At the end, the history of the requests, the databases and the side effects of the tasks are checked against the
invariants of the mesh. For example, a lease has one holder, no message is lost, fencing tokens only increase, and a task
ends once.

If an invariant is violated, exits with status 1 and keeps the run directory, which contains the logs and the databases.
The seed determines the sequence of faults, but not their exact timing.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --seed 7 --minutes 10 --json | jq .held',
  ]
  static override flags = {
    seed: Flags.integer({
      description: 'Seed for the sequence of faults. (default: random)',
      min: 0,
      max: maxSeed,
      helpValue: 'N',
    }),
    minutes: Flags.integer({
      description: 'Minimum duration in minutes.',
      default: 1,
      min: 1,
      max: 1440,
      helpValue: 'N',
      exclusive: ['seconds'],
    }),
    seconds: Flags.integer({
      description: 'Minimum duration in seconds, instead of --minutes.',
      min: 1,
      max: 3600,
      helpValue: 'N',
    }),
    operations: Flags.integer({
      description: 'Minimum number of requests; the run is limited to three times the minimum duration.',
      default: 10_000,
      min: 0,
      max: 100_000_000,
      helpValue: 'N',
    }),
    store: Flags.string({
      description: 'Test two control planes on this empty PostgreSQL database; URL without a password.',
      helpValue: 'URL',
    }),
    keep: Flags.boolean({description: 'Keep the run directory even if all invariants hold.'}),
  }

  protected override get whenUnread() {
    return 'finishes' as const
  }

  async run(): Promise<void> {
    const {prove} = await import('../../src/prove/index.js')
    const {seed = randomInt(maxSeed), minutes, seconds, operations, keep, store} = this.flags
    const place = store === undefined ? undefined : await meshPlace({}, {store})
    this.output.notice(`Seed ${seed}.`)
    const binary = join(this.config.root, 'bin', 'svc.js')
    const report = await prove({
      seed,
      minutes: seconds === undefined ? minutes : seconds / 60,
      operations,
      launch: [binary, 'mesh', 'serve'],
      delegation: {
        orchestrator: [binary, 'daemon', 'run', '--listen', '127.0.0.1:0'],
        worker: [binary, 'mesh', 'join', '--work'],
      },
      ...(place !== undefined && 'url' in place ? {database: place} : {}),
      isKept: keep,
      onEvent: (event) => this.output.notice(eventText(event)),
      signal: this.signal,
    })
    await this.output.result<MeshProveV1>(report, reportText)
    if (!report.held) process.exitCode = 1
  }
}

function eventText({event, at, until = at}: RunEvent): string {
  return `${event.replaceAll('_', ' ')} (${((until - at) / 1000).toFixed(1)} s)`
}

function reportText(report: MeshProveV1): string {
  const {seed, seconds, operations, answered, faults, invariants, folder} = report
  const requests = report.by_operation.map(({operation, sent, outcomes}) => [
    operation,
    String(sent),
    Object.entries(outcomes)
      .map(([outcome, count]) => `${outcome}: ${count}`)
      .join(', '),
  ])
  const verdicts = invariants.map(({id, held, checked, claim}) => [
    id,
    held ? 'held' : 'BROKEN',
    String(checked),
    claim,
  ])
  const found = invariants.flatMap(({id, violations, more_violations: more}) => [
    ...violations.map(({what, calls}) => `${id}: ${what}${calls.length === 0 ? '' : ` (calls ${calls.join(', ')})`}`),
    ...(more === 0 ? [] : [`${id}: and ${more} more`]),
  ])
  const broken = invariants.filter(({held}) => !held).map(({id}) => id)
  const verdict = broken.length === 0 ? 'All invariants held.' : `Violated: ${broken.join(', ')}.`
  const view = {width: process.stdout.columns}
  return [
    formatTable(['OPERATION', 'SENT', wrapped('OUTCOMES')], requests, view),
    formatTable(
      ['FAULT', 'TIMES'],
      Object.entries(faults).map(([fault, count]) => [fault, String(count)]),
    ),
    formatTable(['INVARIANT', 'STATE', 'CHECKED', wrapped('CLAIM')], verdicts, view),
    ...(found.length === 0 ? [] : [`${found.join('\n')}\n`]),
    `${operations} operations, ${answered} answered, in ${seconds} s, seed ${seed}. ${verdict}`,
    ...(folder === null ? [] : [`Logs and databases: ${folder}`]),
  ].join('\n')
}
