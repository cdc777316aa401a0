import {randomInt} from 'node:crypto'
import {join} from 'node:path'
import {Flags} from '@oclif/core'
import {formatTable, SvcCommand} from '../../src/cli/index.js'
import type {MeshProveV1} from '../../src/contracts/index.js'
import type {RunEvent} from '../../src/prove/index.js'

const highestSeed = 2 ** 32 - 1

export default class MeshProve extends SvcCommand<typeof MeshProve> {
  static override summary = 'Treat a control plane badly, and see whether it keeps what it promises.'
  static override description =
    `Starts svc mesh serve of this program on a file of its own, with tokens of its own, and sends it the requests of many
clients through a proxy. The proxy loses, delays, repeats, swaps and cuts requests; the server is killed before and after
it commits, stands still, is started again, finds its clock an hour off, gets new tokens, storms of heartbeats and more
messages than it may keep. In the end everything must have held that a mesh promises: one holder for a lease, no message
lost and none twice, fencing tokens that only grow, and more, by what the clients saw and what is in the file.

Ends with 1 where something did not hold; then the folder with the logs and the file is kept, and named. What happens is
drawn from the seed, so the same seed tries the same again; to the millisecond it is never the same.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --seed 7 --minutes 10 --json | jq .held',
  ]
  static override flags = {
    seed: Flags.integer({description: 'What is drawn at random is drawn from it.', min: 0, max: highestSeed}),
    minutes: Flags.integer({
      description: 'How long it goes on, at least.',
      default: 1,
      min: 1,
      max: 1440,
      exclusive: ['seconds'],
    }),
    seconds: Flags.integer({description: 'The same for a shorter time.', min: 1, max: 3600}),
    operations: Flags.integer({
      description: 'Requests to send, at least; after three times its minutes it ends all the same.',
      default: 10_000,
      min: 0,
      max: 100_000_000,
    }),
    keep: Flags.boolean({description: 'Keep the folder of the run also where everything held.'}),
  }

  async run(): Promise<void> {
    const {prove} = await import('../../src/prove/index.js')
    const {seed = randomInt(highestSeed), minutes, seconds, operations, keep} = this.flags
    this.output.notice(`Seed ${seed}.`)
    const binary = join(this.config.root, 'bin', 'svc.js')
    const report = await prove({
      seed,
      minutes: seconds === undefined ? minutes : seconds / 60,
      operations,
      launch: () => [binary, 'mesh', 'serve'],
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
  const end = broken.length === 0 ? 'Everything held.' : `${broken.join(', ')} did not hold.`
  return [
    formatTable(['OPERATION', 'SENT', 'OUTCOMES'], requests),
    formatTable(
      ['FAULT', 'TIMES'],
      Object.entries(faults).map(([fault, count]) => [fault, String(count)]),
    ),
    formatTable(['INVARIANT', 'STATE', 'CHECKED', 'CLAIM'], verdicts),
    ...(found.length === 0 ? [] : [`${found.join('\n')}\n`]),
    `${operations} operations, ${answered} answered, in ${seconds} s from seed ${seed}. ${end}`,
    ...(folder === null ? [] : [`The logs and the file are in ${folder}.`]),
  ].join('\n')
}
