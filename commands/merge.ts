import {cwd} from 'node:process'
import {Args, Flags} from '@oclif/core'
import {byteProgress, ignoreConfigKeyFlag, inGroup, SvcCommand, withProgress} from '../src/cli/index.js'
import {hubSettings} from '../src/config/index.js'
import type {MergeV1} from '../src/contracts/index.js'
import {SvcError} from '../src/errors/index.js'
import type {MergeAdapter, MergeMethodChoice, MergeSource} from '../src/weights/index.js'

export default class Merge extends SvcCommand<typeof Merge> {
  static override summary = 'Merge LoRA adapters into their base model.'
  static override description =
    `Merges a run directory, or the given shards, adapter and manifest. By default, the output contains only the tensors that
the adapter changes. If it is named merged.safetensors and is in the directory of the base model, its tensors replace
those of the shards. --full writes a complete model directory, which any runtime can load.

Weights are processed a few rows at a time, so memory use does not depend on the model size. The output is written
atomically. The file external_serving_handoff_v1.json, next to the output, describes the output for other programs.

If the output head is tied to the embedding, an adapter for the head changes both. --untie stores the head as a separate
tensor, as svc serve does in memory.

With --format gguf, or if the output ends with .gguf, the result is a complete model in a GGUF file. The base model can be a
GGUF file, too. Its tensors that no adapter updates keep their blocks of integers in a GGUF file. The others, and all in
safetensors files, become 16-bit floats, or those of --dtype.

Several --adapter are merged into one model. Each can have a weight, a factor of its update, which may be negative. linear adds the
updates. ties keeps the largest elements of each and averages those whose sign prevails. dare keeps random elements of each, scaled
up, and adds them. Base model, tokenizer and configuration are those of the first adapter. Ranks and targets may differ.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> ./runs/r7 --full --output ./models/r7',
    '<%= config.bin %> <%= command.id %> ./runs/r7 --output ./merged/merged.safetensors --dtype f32',
    '<%= config.bin %> <%= command.id %> ./runs/r7 --base ./small-q4_k_m.gguf --output ./r7.gguf',
    '<%= config.bin %> <%= command.id %> ./runs/r7 --dtype q8_0 --output ./r7-q8_0.gguf',
    `<%= config.bin %> <%= command.id %> --base-shard model.safetensors --adapter candle_qlora_adapter.safetensors \\
      --meta adapter_manifest.json --output merged.safetensors`,
    '<%= config.bin %> <%= command.id %> --adapter ./runs/tone:0.7 --adapter ./runs/facts:0.5 --full --output ./models/both',
    '<%= config.bin %> <%= command.id %> --base ./my-model --adapter ./runs/a --adapter ./runs/b --method ties --density 0.2 -o m.safetensors',
  ]
  static override aliases = ['merge-qlora', 'merge-adapter']
  static override args = {
    run: Args.string({description: 'Run directory; its manifest names the base model.'}),
  }
  static override flags = {
    ...inGroup('model', {
      'base-shard': Flags.string({
        description: 'Shard of the base model; may be repeated. The first shard that contains a tensor is used.',
        helpValue: 'FILE',
        multiple: true,
        multipleNonGreedy: true,
        exclusive: ['base'],
      }),
      base: Flags.string({
        description: 'Base model directory or GGUF file. (default for a run directory: the one in its manifest)',
        helpValue: 'PATH',
      }),
      adapter: Flags.string({
        description: 'Run directory or weights of an adapter, with the factor of its update; may be repeated.',
        helpValue: 'PATH[:WEIGHT]',
        multiple: true,
        multipleNonGreedy: true,
      }),
      meta: Flags.string({
        description: 'Adapter manifest. (default: next to the adapter)',
        helpValue: 'FILE',
        dependsOn: ['adapter'],
      }),
      'ignore-config-key': ignoreConfigKeyFlag,
      'ignore-eval-gate': Flags.boolean({description: 'Merge even if the evaluation of the run failed.'}),
    }),
    output: Flags.string({
      char: 'o',
      description: 'Output file, or output directory with --full.',
      helpValue: 'PATH',
      required: true,
    }),
    full: Flags.boolean({description: 'Write a complete model directory instead of only the changed tensors.'}),
    format: Flags.option({
      description: 'Format of the output. (default: gguf if the output ends with .gguf, otherwise safetensors)',
      options: ['safetensors', 'gguf'] as const,
    })(),
    dtype: Flags.option({
      description: 'Data type of the output; q8_0 is one of GGUF files. (default: that of the base model)',
      options: ['f32', 'bf16', 'f16', 'q8_0'] as const,
    })(),
    untie: Flags.boolean({description: 'Store a tied output head as a separate tensor.'}),
    overwrite: Flags.boolean({description: 'Overwrite existing output.'}),
    ...inGroup('adapters', {
      method: Flags.option({
        description: 'How the updates of several adapters are combined.',
        options: ['linear', 'ties', 'dare'] as const,
        default: 'linear',
      })(),
      density: Flags.string({
        description: 'Part of each update that ties and dare keep, above 0 and at most 1. (default: 0.5)',
        helpValue: 'PART',
      }),
      seed: Flags.integer({description: 'Seed of the elements that dare keeps. (default: 0)', min: 0, helpValue: 'N'}),
    }),
  }

  async run(): Promise<void> {
    const {output, full = false, untie = false, overwrite = false, dtype, quiet} = this.flags
    const source = this.#source()
    const method = this.#method()
    const format = this.#format()
    const {mergeAdapter} = await import('../src/weights/index.js')
    const merged = await withProgress('Merging', !quiet, async (show) =>
      mergeAdapter({
        source,
        method,
        output,
        full,
        untie,
        overwrite,
        dtype: dtype === undefined ? undefined : dtypes[dtype],
        ...(format === 'gguf'
          ? {gguf: (await import('../src/llm/index.js')).describeGguf(source.ignoreConfigKeys)}
          : {}),
        signal: this.signal,
        onProgress: (tensor, written, total) => show(byteProgress(tensor, written, total)),
      }),
    )
    for (const warning of merged.warnings) this.output.notice(`warning: ${warning}`)
    if (merged.handoff !== undefined) this.output.notice(`Hand-off: ${merged.handoff}`)
    const result: MergeV1 = {...merged, handoff: merged.handoff ?? null, full, format}
    await this.output.result(result, () => merged.output)
  }

  /** @throws usage */
  #source(): MergeSource {
    const {run} = this.args
    const {'base-shard': shards = [], base, adapter, meta, 'ignore-eval-gate': ignoreEvalGate = false} = this.flags
    const {'ignore-config-key': ignoreConfigKeys = []} = this.flags
    const cacheFolder = this.settings(hubSettings).hubCache
    const common = {ignoreEvalGate, ignoreConfigKeys, cacheFolder, cwd: cwd()}
    if (run !== undefined) {
      if (adapter !== undefined || shards.length > 0)
        throw usage('A run directory cannot be combined with --adapter or --base-shard.')
      return {run, base, ...common}
    }
    const [first, ...others] = (adapter ?? []).map(parseAdapter)
    if (first === undefined) throw usage('Specify a run directory or --adapter.')
    const {path, weight} = first
    if (base !== undefined || shards.length > 0) {
      const place = base === undefined ? {shards} : {folder: base}
      return {base: place, adapter: path, meta, weight, others, ...common}
    }
    if (/\.(safetensors|bin)$/i.test(path)) throw usage('Specify the base model with --base or --base-shard.')
    if (meta !== undefined) throw usage('--meta requires --base or --base-shard.')
    return {run: path, weight, others, ...common}
  }

  /** @throws usage */
  #format(): 'gguf' | 'safetensors' {
    const {output, full = false, dtype} = this.flags
    const isNamed = /\.gguf$/i.test(output)
    const {format = isNamed ? 'gguf' : 'safetensors'} = this.flags
    if (format === 'gguf' && !isNamed) throw usage('The name of a GGUF file must end with .gguf.')
    if (format === 'gguf' && full) throw usage('A GGUF file is always complete; omit --full.')
    if (format === 'safetensors' && isNamed) throw usage('Only a GGUF file may have a name that ends with .gguf.')
    if (format === 'safetensors' && dtype === 'q8_0') throw usage('--dtype q8_0 requires --format gguf.')
    return format
  }

  /** @throws usage, flag_value */
  #method(): MergeMethodChoice {
    const {method: name = 'linear', density: text, seed} = this.flags
    if (name === 'linear' && text !== undefined) throw usage('--density requires --method ties or dare.')
    if (name !== 'dare' && seed !== undefined) throw usage('--seed requires --method dare.')
    const density = text === undefined ? 0.5 : Number(text)
    if (!(density > 0 && density <= 1))
      throw new SvcError('flag_value', {flag: '--density', value: text ?? '', expected: 'above 0 and at most 1'})
    return {name, density, seed: seed ?? 0}
  }
}

/** A number after the last colon is the weight. */
function parseAdapter(text: string): MergeAdapter {
  const [, path = text, weight = '1'] = /^(.+):([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)$/i.exec(text) ?? []
  return {path, weight: Number(weight)}
}

const usage = (reason: string) => new SvcError('usage', {reason})
const dtypes = {f32: 'F32', bf16: 'BF16', f16: 'F16', q8_0: 'Q8_0'} as const
