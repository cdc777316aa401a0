import {Args} from '@oclif/core'
import {BenchCommand, formatTable, wrapped} from '../../src/cli/index.js'
import {telemetrySettings} from '../../src/config/index.js'
import type {BenchListV1, BenchRunV1} from '../../src/contracts/index.js'
import {nearest, SvcError} from '../../src/errors/index.js'

export default class BenchRun extends BenchCommand<typeof BenchRun> {
  static override summary = 'Run a benchmark, or list them.'
  static override description =
    `Each benchmark compares svc with a base in the same run and prints the ratio of the two times; a lower ratio is better.
Compare ratios rather than absolute values, which depend on the machine and its load. A benchmark takes up to a minute, needs
no network, and writes only to a temporary directory.

If SVC_BENCHMARK_TELEMETRY is 1 or true, the result is recorded in the workspace store as a benchmark_event.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> lang-check',
    '<%= config.bin %> <%= command.id %> startup --json | jq .ratio',
  ]
  static override args = {name: Args.string({description: 'Name of the benchmark. (default: list all)'})}

  async run(): Promise<void> {
    const {benchmarks} = await import('../../src/bench/index.js')
    const {name} = this.args
    if (name === undefined) {
      const list: BenchListV1 = benchmarks.map(({run: _, ...benchmark}) => benchmark)
      return this.output.result(list, formatList)
    }
    const found = benchmarks.find((each) => each.name === name)
    if (found === undefined) {
      const names = benchmarks.map((each) => each.name)
      throw new SvcError('benchmark_unknown', {name, suggestion: nearest(name, names)})
    }
    const {ratio, figures} = await found.run(this.signal)
    const environment = {version: this.config.version, node: process.version}
    const result: BenchRunV1 = {name, base: found.base, ratio, figures, ...environment}
    const {enabled, benchmark} = this.settings(telemetrySettings)
    if (enabled && benchmark)
      await this.record({
        type: 'benchmark_event',
        name,
        value: ratio,
        unit: 'ratio',
        details: {base: found.base, figures, ...environment},
      })
    await this.output.result(result, formatResult)
  }
}

const formatList = (list: BenchListV1): string =>
  formatTable(
    ['BENCHMARK', wrapped('MEASURES'), wrapped('COMPARED WITH')],
    list.map(({name, measures, base}) => [name, measures, base]),
    {width: process.stdout.columns},
  )

const formatResult = ({base, ratio, figures}: BenchRunV1): string =>
  `${formatTable(
    ['FIGURE', 'VALUE'],
    Object.entries(figures).map(([figure, value]) => [figure, String(value)]),
  )}\nRatio to ${base}: ${ratio}`
