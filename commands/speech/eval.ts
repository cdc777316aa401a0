import {Args, Flags} from '@oclif/core'
import {formatTable, SpeechCommand, speechFlags, withProgress} from '../../src/cli/index.js'
import type {SpeechEvalV1} from '../../src/contracts/index.js'
import {asCliError, SvcError} from '../../src/errors/index.js'
import type {Sample, Transcriber} from '../../src/speech/index.js'

type SampleResult = SpeechEvalV1['samples'][number]

export default class SpeechEval extends SpeechCommand<typeof SpeechEval> {
  static override summary = 'Measure the word error rate on labelled recordings.'
  static override description =
    `The dataset contains one JSON object per line: {"path": "a.wav", "expected": "reference text", "language": "en"}. Paths
are relative to the dataset file.

The word error rate (WER) is the number of substituted, inserted and deleted words, divided by the number of words in
the references. It is reported before and after normalisation, which removes differences that are not recognition
errors. A failed recording counts as an empty transcript.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> clips.jsonl --model openai/whisper-base',
    '<%= config.bin %> <%= command.id %> clips.jsonl --normalize english --json | jq .normalized.wer',
  ]
  static override args = {
    dataset: Args.string({description: 'Dataset file (JSON Lines).', required: true}),
  }
  static override flags = {
    ...speechFlags,
    refine: Flags.boolean({
      description: 'Clean up the text before measuring it. (default: off)',
      default: false,
      allowNo: true,
    }),
    limit: Flags.integer({
      description: 'Maximum number of recordings to measure. (default: all)',
      min: 1,
      helpValue: 'N',
    }),
    normalize: Flags.option({
      description:
        'Normalisation: basic ignores case and punctuation; english also normalises spelled-out numbers and contractions.',
      options: ['none', 'basic', 'english'] as const,
      default: 'basic',
    })(),
  }

  async run(): Promise<void> {
    const {evaluate, readDataset} = await import('../../src/speech/index.js')
    const {limit, normalize, quiet} = this.flags
    const dataset = (await readDataset(this.args.dataset)).slice(0, limit)
    const transcriber = await this.createTranscriber({refine: this.flags.refine})
    try {
      const samples = await withProgress('Evaluating', !quiet, async (show) => {
        const measured: Awaited<ReturnType<SpeechEval['measure']>>[] = []
        for (const sample of dataset) {
          show(`${measured.length + 1} of ${dataset.length}`)
          measured.push(await this.measure(transcriber, sample))
        }
        return measured
      })
      const result: SpeechEvalV1 = {dataset: this.args.dataset, normalizer: normalize, ...evaluate(samples, normalize)}
      await this.output.result(result, asText)
    } finally {
      await transcriber.close()
    }
  }

  /** Transcribes one recording; the text is empty if that fails. */
  private async measure(transcriber: Transcriber, {path, expected, language}: Sample) {
    const started = performance.now()
    try {
      const options = {signal: this.signal, language}
      const {transcript, finished} = await transcriber.transcribe({path}, options)
      const latencyMs = performance.now() - started
      return {path, expected, actual: transcript.text.trim(), confidence: finished.confidence, latencyMs}
    } catch (error) {
      if (this.signal.aborted || !(error instanceof SvcError)) throw error
      const {error: failure} = asCliError(error)
      this.output.notice(`warning: ${failure.message}`)
      return {path, expected, actual: '', confidence: 0, latencyMs: performance.now() - started, error: failure.code}
    }
  }
}

const percent = (rate: number) => `${(100 * rate).toFixed(1)} %`

function asText({samples, raw, normalized, normalizer, mean_latency_ms: latency}: SpeechEvalV1): string {
  const rows = samples.map(({path, word_errors: errors, wer, cer, actual, error}: SampleResult) => [
    path,
    String(errors),
    percent(wer),
    percent(cer),
    error ?? actual,
  ])
  const rates = ({wer, cer}: SpeechEvalV1['raw']) => `WER ${percent(wer)}, CER ${percent(cer)}`
  return `${formatTable(['RECORDING', 'ERRORS', 'WER', 'CER', 'HEARD'], rows)}
${samples.length} recordings, ${Math.round(latency)} ms each
as written: ${rates(raw)}
normalized (${normalizer}): ${rates(normalized)}
`
}
