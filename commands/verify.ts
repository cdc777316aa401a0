import {cpus} from 'node:os'
import {join} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {
  formatTable,
  inGroup,
  type ModelPlace,
  SpeechCommand,
  settingFlags,
  showQuantising,
  withProgress,
  wrapped,
} from '../src/cli/index.js'
import {
  engineSettings,
  hubSettings,
  resolveSettings,
  type SettingRows,
  type SettingTable,
  speechAudioSettings,
  speechRefineSettings,
  speechSettings,
} from '../src/config/index.js'
import type {VerifyV1} from '../src/contracts/index.js'
import {Exit, SvcError} from '../src/errors/index.js'
import {packageRoot} from '../src/files/index.js'

/** A clear English recording, and its text. */
const known = {
  path: join(packageRoot, 'examples', 'hello.wav'),
  text: 'hello and welcome to your own machine',
}

/** Memory for saved prompt prefixes, bytes. */
const prefixBytes = 64_000_000

type Report = Omit<VerifyV1, 'model' | 'kind' | 'result' | 'machine'>

export default class Verify extends SpeechCommand<typeof Verify> {
  static override summary = 'Check that a model computes what it should.'
  static override description =
    `Loads a language or speech model that is on this machine, runs checks, and prints what each of them found and what it proves.
It also prints speed, memory and precision. Language models: the tokenizer loses no text, the chat template renders, English is
more likely than chance, and batches and saved prompts do not change a reply. Speech models: a known recording is understood.
For both, all results are numbers, and a second run yields the same.

Where the card of the model (its README.md) has prompts with their outputs, greedy replies are compared with them. With
--examples, replies must equal those of another implementation: a file of JSON Lines with prompt and text, or with audio and
text for a speech model. Without such examples the checks find gross errors, such as exchanged weights, but not small ones.

Nothing is downloaded. The report contains no paths and no names of users, so that it can be pasted into an issue. Exits with
status 1 if a check fails.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> ./my-model',
    '<%= config.bin %> <%= command.id %> tiny.en --json > report.json',
    '<%= config.bin %> <%= command.id %> acme/small-llama --precision w8 --examples greedy.jsonl',
  ]
  static override args = {
    model: Args.string({description: 'Directory, whisper.cpp file or id of a model on this machine.', required: true}),
  }
  static override flags = {
    examples: Flags.string({
      description: 'File with outputs of another implementation, one JSON object per line.',
      helpValue: 'FILE',
    }),
    ...inGroup('model', {
      precision: Flags.option({
        description: 'Precision of the weights: w8 and w4 for language models, int8 for speech models.',
        options: ['auto', 'f32', 'w8', 'w4', 'int8'] as const,
        default: 'auto',
      })(),
    }),
    ...settingFlags(engineSettings, 'threads'),
  }

  async run(): Promise<void> {
    const found = await this.findAnyModel(this.args.model)
    const report = await (found.kind === 'language' ? this.#language(found) : this.#speech(found))
    const {physicalCores, runtimeVersion} = await import('../src/onnx/index.js')
    const result: VerifyV1 = {
      model: found.name,
      kind: found.kind,
      result: report.checks.some(({state}) => state === 'failed') ? 'failed' : 'passed',
      ...report,
      machine: {
        svc: this.config.version,
        node: process.version,
        runtime: runtimeVersion,
        platform: `${process.platform} ${process.arch}`,
        processor: cpus()[0]?.model.trim() ?? 'unknown',
        threads: this.settings(engineSettings).threads || physicalCores(),
      },
    }
    await this.output.result(result, (value) => formatReport(value, process.stdout.columns))
    if (result.result === 'failed') this.exit(Exit.failed)
  }

  async #language({model, folder}: ModelPlace): Promise<Report> {
    const {precision} = this.flags
    if (precision === 'int8') throw new SvcError('usage', {reason: '--precision int8 is for speech models; use w8.'})
    const {cardExamples, readExamples, verifyLanguageModel} = await import('../src/bench/index.js')
    const {startEngine} = await import('../src/llm/index.js')
    const {examples: file} = this.flags
    const examples = [
      ...(await cardExamples(folder, 'text')),
      ...(file === undefined ? [] : await readExamples(file, 'prompt')),
    ]
    const {threads, numCtx, promptLookup} = this.settings(engineSettings)
    const {hubCache: cacheFolder} = this.settings(hubSettings)
    const options = {cacheFolder, threads, numCtx, promptLookup, precision, prefixBytes, onProgress: showQuantising}
    const log = this.logOptions()
    const engine = await withProgress('Loading the model', !this.flags.quiet, () =>
      startEngine(model, {...options, log, signal: this.signal}),
    )
    try {
      const {family, parameterCount: parameters, precision: used} = engine.description
      const work = () => verifyLanguageModel(engine, examples, this.signal)
      const report = await withProgress('Checking', !this.flags.quiet, work)
      return {family, precision: used, device: 'cpu', parameters, ...report}
    } finally {
      await engine.close()
    }
  }

  async #speech({model, folder, name}: ModelPlace): Promise<Report> {
    const {precision} = this.flags
    if (precision === 'w8' || precision === 'w4')
      throw new SvcError('usage', {reason: `--precision ${precision} is for language models; use int8 or f32.`})
    const {cardExamples, readExamples, verifySpeechModel} = await import('../src/bench/index.js')
    const {ModelHolder, Transcriber, transcriberOptions} = await import('../src/speech/index.js')
    const {derivedFolder} = await import('../src/weights/index.js')
    const {examples: file} = this.flags
    const examples = [
      ...(await cardExamples(folder, 'src')),
      ...(file === undefined ? [] : await readExamples(file, 'audio')),
    ]
    const holder = new ModelHolder({
      locate: async () => ({name, path: model}),
      engine: {
        threads: this.settings(engineSettings).threads,
        device: 'cpu',
        precision,
        derivedFolder: derivedFolder(process.env),
        onProgress: showQuantising,
        log: this.logOptions(),
      },
    })
    // The default settings, because those of the user would make reports differ.
    const values = <R extends SettingRows>(table: SettingTable<R>) =>
      resolveSettings(table, {flags: {}, env: {}}).values
    const settings = {
      speech: values(speechSettings),
      audio: values(speechAudioSettings),
      refine: values(speechRefineSettings),
    }
    const transcriber = new Transcriber({
      ...transcriberOptions(settings, {entries: []}, []),
      model: holder,
      refine: false,
    })
    try {
      const {engine, loadMs} = await withProgress('Loading the model', !this.flags.quiet, () =>
        holder.open(this.signal),
      )
      const {family, precision: used, device} = engine.description
      const work = () => verifySpeechModel({model: engine, transcriber, loadMs}, known, examples, this.signal)
      const report = await withProgress('Checking', !this.flags.quiet, work)
      return {family, precision: used, device, parameters: null, ...report}
    } finally {
      await transcriber.close()
    }
  }
}

function formatReport(
  {model, kind, family, precision, device, parameters, ...report}: VerifyV1,
  width?: number,
): string {
  const {result, checks, figures, machine} = report
  const size = parameters === null ? '' : `, ${(parameters / 1e6).toFixed(1)} million parameters`
  const rows = checks.flatMap(({name, state, found, proves}) => [
    [name, state, found],
    ['', '', proves],
  ])
  const values = figures.map(({name, value, unit}) => [name, value === null ? '-' : `${value} ${unit}`.trim()])
  return `${model}: ${kind} model, ${family}${size}, precision ${precision} on ${device}

${formatTable(['CHECK', 'STATE', wrapped('FOUND, AND WHAT IT PROVES')], rows, {width})}
${formatTable(['FIGURE', 'VALUE'], values)}
svc ${machine.svc}, Node.js ${machine.node}, ONNX Runtime ${machine.runtime}, ${machine.platform}
${machine.processor}, threads: ${machine.threads}
${result}
`
}
