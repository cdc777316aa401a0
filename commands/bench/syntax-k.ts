import {basename, extname} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {BenchCommand, formatTable, readInput} from '../../src/cli/index.js'
import {telemetrySettings} from '../../src/config/index.js'
import type {SyntaxKEvent} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'

/** Compressing more at the highest level would take minutes. */
const maxBytes = 4 << 20

export default class BenchSyntaxK extends BenchCommand<typeof BenchSyntaxK> {
  static override summary = 'Measure the compressed size of a source file.'
  static override description =
    `The estimate is the smallest compressed size in bytes: with gzip, and with zstd on Node.js 22.15, 23.8 or later. It is an upper
bound of the Kolmogorov complexity. With --baseline, also prints the normalised compression distance of the two files: near 0
for equal files and near 1 for unrelated ones. gzip finds repetitions only within 32 KiB. For programs of the data language,
reports which stages accept them. A file can have up to 4 MiB.

If the estimate exceeds SVC_SYNTAX_K_MAX_BYTES, prints a warning, or fails if SVC_SYNTAX_K_GATE is enforce.

If SVC_SYNTAX_K_TELEMETRY is 1 or true, the result is recorded in the workspace store as a syntax_k_event. If it is unset,
SVC_BENCHMARK_TELEMETRY applies.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> examples/todo.svc',
    '<%= config.bin %> <%= command.id %> new.ts --baseline old.ts --json | jq .ncd_vs_baseline.median',
    'git show HEAD:src/main.svc | <%= config.bin %> <%= command.id %> - --fixture main --kind svc',
  ]
  static override args = {
    file: Args.string({description: 'Source file; - reads standard input.', required: true}),
  }
  static override flags = {
    fixture: Flags.string({
      description: 'Id of the source; required for standard input. (default: the file name without its extension)',
      helpValue: 'ID',
    }),
    kind: Flags.string({
      description: 'Kind of the source; svc also checks it. (default: the extension of the file, else source)',
      helpValue: 'KIND',
    }),
    baseline: Flags.string({description: 'File to compare with.', helpValue: 'FILE'}),
  }

  async run(): Promise<void> {
    const {file} = this.args
    const {baseline, kind, fixture = file === '-' ? '' : basename(file, extname(file))} = this.flags
    if (fixture === '') throw new SvcError('usage', {reason: 'A source from standard input needs an id: --fixture ID.'})
    if (kind === '') throw new SvcError('usage', {reason: '--kind must not be empty.'})
    if (file === '-' && baseline === '-')
      throw new SvcError('usage', {reason: 'The source and --baseline cannot both be standard input.'})
    const {estimateSyntaxK} = await import('../../src/bench/index.js')
    const event = estimateSyntaxK({
      source: await readInput(file, this.signal, maxBytes),
      fixtureId: fixture,
      targetKind: kind ?? (extname(file).slice(1).toLowerCase() || 'source'),
      baseline: baseline === undefined ? undefined : await readInput(baseline, this.signal, maxBytes),
      version: this.config.version,
    })
    const {enabled, syntaxK, syntaxKGate, syntaxKMaxBytes: limit} = this.settings(telemetrySettings)
    if (enabled && syntaxK)
      await this.record({
        type: 'syntax_k_event',
        name: 'syntax_k',
        value: event.k_est_bytes,
        fixtureId: fixture,
        details: event,
      })
    if (limit !== undefined && event.k_est_bytes > limit) {
      const excess = new SvcError('syntax_k_limit_exceeded', {fixture, bytes: event.k_est_bytes, limit})
      if (syntaxKGate === 'enforce') throw excess
      this.output.notice(`warning: ${excess.message}`)
    }
    await this.output.result(event, formatEvent)
  }
}

function formatEvent(event: SyntaxKEvent): string {
  const {ncd_vs_baseline: ncd, support_metrics: support, compressor_results: results} = event
  const distanceOf = (name: string) => ncd?.per_compressor.find((each) => each.name === name)?.value
  const rows = results.map(({name, compressed_bytes: bytes, ratio}) => [
    name,
    String(bytes),
    ratio.toFixed(4),
    distanceOf(name)?.toFixed(4) ?? '',
  ])
  const failing = support?.representability?.first_failing_stage
  return [
    formatTable(['COMPRESSOR', 'BYTES', 'RATIO', ncd === undefined ? '' : 'DISTANCE'], rows),
    `${event.fixture_id} (${event.target_kind}): ${event.raw_bytes} bytes, estimate ${event.k_est_bytes} bytes`,
    ...(ncd === undefined ? [] : [`Distance from the baseline: ${ncd.median.toFixed(4)}`]),
    ...(failing == null ? [] : [`The program fails at the stage ${failing}; run \`svc db check FILE\`.`]),
  ].join('\n')
}
