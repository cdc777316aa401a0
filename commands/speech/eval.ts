import {resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {
  formatEval,
  formatEvalHistory,
  inGroup,
  overwriteFlag,
  SpeechCommand,
  speechFlags,
  withProgress,
  withWorkspaceStore,
} from '../../src/cli/index.js'
import {speechRefineSettings, speechServerSettings} from '../../src/config/index.js'
import type {KpiBaseline, SpeechEvalHistoryV1, SpeechEvalV1} from '../../src/contracts/index.js'
import {asCliError, Exit, SvcError} from '../../src/errors/index.js'
import {checkOutputs, type OutputRule, writeOutput} from '../../src/files/index.js'
import type {HeardSample, Sample, TranscribedFile, Transcriber} from '../../src/speech/index.js'
import type {SpeechEvalPlace} from '../../src/telemetry/index.js'

/** A measured recording; `result` is undefined if recognition failed. */
interface MeasuredSample extends HeardSample {
  result: TranscribedFile | undefined
}

export default class SpeechEval extends SpeechCommand<typeof SpeechEval> {
  static override summary = 'Measure the word error rate on labelled recordings.'
  static override description =
    `The dataset contains one JSON object per line: {"path": "a.wav", "expected": "reference text", "language": "en"}. Paths
are relative to the dataset file.

The word error rate (WER) is the number of substituted, inserted and deleted words, divided by the number of words in
the references. It is reported before and after normalisation, which removes differences that are not recognition
errors. A failed recording counts as an empty transcript. The calibration table shows whether recordings with a high
confidence have few errors.

--save keeps the run in the workspace store, and compares it with the previous one of the same dataset, model and
normalisation. If SVC_SPEECH_CANARY_KPI is set, the result is compared with the limits of quality. They are a WER of
0.35, a CER of 0.15, and 12 s for 95 % of the recordings. If a limit is exceeded, the command exits with status 1.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> clips.jsonl --model openai/whisper-base',
    '<%= config.bin %> <%= command.id %> clips.jsonl --normalize english --json | jq .normalized.wer',
    '<%= config.bin %> <%= command.id %> clips.jsonl --save --write-kpi kpi.json',
    '<%= config.bin %> <%= command.id %> --history 10',
  ]
  static override args = {
    dataset: Args.string({description: 'Dataset file (JSON Lines); optional with --history.'}),
  }
  static override flags = {
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
    save: Flags.boolean({description: 'Keep the run in the workspace store, and compare it with the previous one.'}),
    history: Flags.integer({
      description: 'List the latest saved runs instead, of the dataset or of all.',
      min: 1,
      helpValue: 'N',
      exclusive: ['save', 'write-kpi'],
    }),
    'write-kpi': Flags.string({
      description: 'Write the measured quality to a file, for SVC_SPEECH_CANARY_KPI.',
      helpValue: 'FILE',
    }),
    overwrite: overwriteFlag,
    ...speechFlags,
    ...inGroup('text', {
      refine: Flags.boolean({
        description: 'Clean up the text before measuring it. (default: off)',
        default: false,
        allowNo: true,
      }),
    }),
  }

  async run(): Promise<void> {
    const {history, normalize} = this.flags
    if (history !== undefined) return this.#showHistory(history)
    const file = this.args.dataset
    if (file === undefined)
      throw new SvcError('usage', {reason: 'The dataset is missing; pass a file, or --history N.'})
    const {checkKpis, evaluate, kpisOf, readDataset} = await import('../../src/speech/index.js')
    const kpiFile = this.flags['write-kpi']
    const rule = {overwrite: this.flags.overwrite ?? false, inputs: [file]}
    if (kpiFile !== undefined) await checkOutputs([kpiFile], rule)
    const baseline = await this.#baseline()
    const dataset = (await readDataset(file)).slice(0, this.flags.limit)
    // An unusable store must not be noticed only after the work.
    if (this.flags.save) await this.#withStore(() => undefined)
    const samples = await this.#measureAll(dataset)
    const measured = evaluate(samples, normalize)
    const kpis = kpisOf(measured, new Date())
    const metrics = checkKpis(kpis, baseline)
    const isChecked = this.settings(speechServerSettings).canaryKpi !== undefined
    const passed = metrics.every(({ok}) => ok)
    const result: SpeechEvalV1 = {
      dataset: file,
      normalizer: normalize,
      ...measured,
      ...(isChecked ? {kpi: {passed, metrics}} : {}),
    }
    if (kpiFile !== undefined) await this.#writeKpis(kpiFile, kpis, rule)
    if (this.flags.save) result.saved = await this.#save(result, samples)
    await this.output.result(result, (value) => formatEval(value, process.stdout.columns))
    if (isChecked && !passed) this.exit(Exit.failed)
  }

  /** Reads the file of SVC_SPEECH_CANARY_KPI, unless this run is about to write one. */
  async #baseline(): Promise<KpiBaseline | undefined> {
    const {canaryKpi} = this.settings(speechServerSettings)
    if (canaryKpi === undefined || this.flags['write-kpi'] !== undefined) return undefined
    return (await import('../../src/speech/index.js')).readKpis(canaryKpi)
  }

  async #writeKpis(path: string, kpis: KpiBaseline, rule: OutputRule): Promise<void> {
    await writeOutput(path, `${JSON.stringify(kpis, null, 2)}\n`, rule)
    this.output.notice(`Wrote the measured quality to ${path}.`)
  }

  async #measureAll(dataset: readonly Sample[]): Promise<MeasuredSample[]> {
    const transcriber = await this.createTranscriber({refine: this.flags.refine})
    try {
      return await withProgress('Evaluating', !this.flags.quiet, async (show) => {
        const measured: MeasuredSample[] = []
        for (const sample of dataset) {
          show(`${measured.length + 1} of ${dataset.length}`)
          measured.push(await this.#measure(transcriber, sample))
        }
        return measured
      })
    } finally {
      await transcriber.close()
    }
  }

  /** Transcribes one recording; the text is empty if that fails. */
  async #measure(transcriber: Transcriber, {path, expected, language}: Sample): Promise<MeasuredSample> {
    const started = performance.now()
    try {
      const result = await transcriber.transcribe({path}, {signal: this.signal, language})
      const latencyMs = performance.now() - started - (result.recording?.timings.loadMs ?? 0)
      const {transcript, finished, asrConfidence} = result
      const {confidence} = finished
      return {path, expected, actual: transcript.text.trim(), confidence, asrConfidence, latencyMs, result}
    } catch (error) {
      if (this.signal.aborted || !(error instanceof SvcError)) throw error
      const {error: failure} = asCliError(error)
      this.output.notice(`warning: ${failure.message}`)
      const latencyMs = performance.now() - started
      return {path, expected, actual: '', confidence: 0, latencyMs, error: failure.code, result: undefined}
    }
  }

  async #save(result: SpeechEvalV1, samples: readonly MeasuredSample[]): Promise<NonNullable<SpeechEvalV1['saved']>> {
    const {saveSpeechEval} = await import('../../src/telemetry/index.js')
    const recording = samples.find((sample) => sample.result?.recording !== undefined)?.result?.recording
    const {domainMode} = this.settings(speechRefineSettings)
    const {normalized, normalizer} = result
    const evaluation = {
      run_type: domainMode === 'code' ? ('code_domain' as const) : ('general_subtitle' as const),
      backend: recording?.family ?? 'text',
      model_id: recording?.model ?? 'none',
      dataset_name: resolve(result.dataset),
      normalizer,
      total_ref_words: normalized.words,
      total_wer_errors: normalized.errors,
      global_wer: normalized.wer,
      global_cer: normalized.cer,
      avg_latency_ms: result.mean_latency_ms,
      samples: result.samples.map(({path, expected, actual, wer, cer, latency_ms}, i) => {
        const segments = samples[i]?.result?.transcript.segments.length
        return {
          audio_path: path,
          reference_text: expected,
          hypothesis_text: actual,
          wer,
          cer,
          latency_ms,
          segment_count: segments ?? 0,
          no_speech_dropped: segments === 0 ? (1 as const) : (0 as const),
        }
      }),
    }
    const nowSec = Math.floor(Date.now() / 1000)
    const {run, previous = null} = await this.#withStore((place) => saveSpeechEval(place, evaluation, nowSec))
    return {run_id: run.run_id, previous}
  }

  async #showHistory(limit: number): Promise<void> {
    const {listSpeechEvals} = await import('../../src/telemetry/index.js')
    const {dataset} = this.args
    const filter = {dataset: dataset === undefined ? undefined : resolve(dataset), limit}
    const history: SpeechEvalHistoryV1 = {runs: await this.#withStore((place) => listSpeechEvals(place, filter))}
    await this.output.result(history, (value) => formatEvalHistory(value, process.stdout.columns))
  }

  async #withStore<T>(work: (place: SpeechEvalPlace) => T): Promise<T> {
    const onNotice = (text: string) => this.output.notice(text)
    return withWorkspaceStore({root: this.workspace.root, sources: this.settingSources(), onNotice}, work)
  }
}
