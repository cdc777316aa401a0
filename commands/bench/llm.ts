import {BenchCommand, formatTable, modelFlag, settingFlags, withProgress} from '../../src/cli/index.js'
import {engineSettings, hubSettings, telemetrySettings} from '../../src/config/index.js'
import type {BenchLlmV1} from '../../src/contracts/index.js'
import {counted} from '../../src/errors/index.js'

export default class BenchLlm extends BenchCommand<typeof BenchLlm> {
  static override summary = 'Measure the speed of a language model.'
  static override description =
    `Reads a prompt of 512 tokens, then generates one, four and eight replies at once. The speeds are medians of three rounds, and
depend on the machine and its load. Nothing is printed of the replies.

If SVC_BENCHMARK_TELEMETRY is 1 or true, the speed of one reply is recorded in the workspace store as a benchmark_event.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --model examples/runs/guide',
    '<%= config.bin %> <%= command.id %> --model ./my-model --precision w4 --threads 1',
    '<%= config.bin %> <%= command.id %> --model ./my-model --json | jq .prefill.tokens_per_second',
  ]
  static override flags = {
    model: modelFlag,
    ...settingFlags(engineSettings, 'threads', 'precision'),
  }

  async run(): Promise<void> {
    const {model, quiet} = this.flags
    const settings = this.settings(engineSettings)
    const {measureLlm} = await import('../../src/bench/index.js')
    const {startEngine} = await import('../../src/llm/index.js')
    const {physicalCores} = await import('../../src/onnx/index.js')
    const threads = settings.threads || physicalCores()
    const {hubCache: cacheFolder} = this.settings(hubSettings)
    const {precision} = settings
    const options = {cacheFolder, threads, precision, numCtx: 0, log: this.logOptions(), signal: this.signal}
    const engine = await withProgress('Loading the model', !quiet, () => startEngine(model, options))
    try {
      const speeds = await withProgress('Measuring', !quiet, () => measureLlm(engine, this.signal))
      const result: BenchLlmV1 = {
        model: engine.description.name,
        precision: engine.description.precision,
        threads,
        load_ms: tenths(engine.loadMs),
        memory_bytes: speeds.memoryBytes,
        prefill: {tokens: speeds.promptTokens, tokens_per_second: tenths(speeds.prefill)},
        decode: speeds.decode.map(({streams, speed}) => ({
          streams,
          tokens_per_second: speed === null ? null : tenths(speed),
        })),
        version: this.config.version,
        node: process.version,
      }
      const {enabled, benchmark} = this.settings(telemetrySettings)
      if (enabled && benchmark)
        await this.record({
          type: 'benchmark_event',
          name: 'llm',
          value: result.decode[0]?.tokens_per_second ?? null,
          details: result,
        })
      await this.output.result(result, formatResult)
    } finally {
      await engine.close()
    }
  }
}

const tenths = (value: number) => Math.round(value * 10) / 10

const formatResult = ({model, precision, threads, prefill, decode, ...result}: BenchLlmV1): string =>
  `${formatTable(
    ['FIGURE', 'VALUE'],
    [
      [`prompt of ${counted(prefill.tokens, 'token')}`, `${prefill.tokens_per_second} tokens/s`],
      ...decode.map(({streams, tokens_per_second: speed}) => [
        streams === 1 ? '1 reply' : `${streams} replies at once`,
        speed === null ? 'no tokens' : `${speed} tokens/s`,
      ]),
      ['load time', `${result.load_ms} ms`],
      ['memory', `${Math.round(result.memory_bytes / 1e6)} MB`],
    ],
  )}\n${model}: precision ${precision}, threads: ${threads}`
