import {cwd} from 'node:process'
import {Args, Flags} from '@oclif/core'
import {byteProgress, ignoreConfigKeyFlag, SvcCommand, withProgress} from '../src/cli/index.js'
import {hubSettings} from '../src/config/index.js'
import type {MergeV1} from '../src/contracts/index.js'
import {SvcError} from '../src/errors/index.js'
import type {MergeSource} from '../src/weights/index.js'

export default class Merge extends SvcCommand<typeof Merge> {
  static override summary = 'Merge a LoRA adapter into its base model.'
  static override description =
    `Merges a run directory, or the given shards, adapter and manifest. By default, the output contains only the tensors that
the adapter changes. If it is named merged.safetensors and is in the directory of the base model, its tensors replace
those of the shards. --full writes a complete model directory, which any runtime can load.

Weights are processed a few rows at a time, so memory use does not depend on the model size. The output is written
atomically. The file external_serving_handoff_v1.json, next to the output, describes the output for other programs.

If the output head is tied to the embedding, an adapter for the head changes both. --untie stores the head as a separate
tensor, as svc serve does in memory.

The base model can be a GGUF file. The output is always safetensors; blocks of integers become 16-bit floats, or those of --dtype.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> ./runs/r7 --full --output ./models/r7',
    '<%= config.bin %> <%= command.id %> ./runs/r7 --output ./merged/merged.safetensors --dtype f32',
    `<%= config.bin %> <%= command.id %> --base-shard model.safetensors --adapter candle_qlora_adapter.safetensors \\
      --meta adapter_manifest.json --output merged.safetensors`,
  ]
  static override aliases = ['merge-qlora', 'merge-adapter']
  static override args = {
    run: Args.string({description: 'Run directory; its manifest names the base model.'}),
  }
  static override flags = {
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
    adapter: Flags.string({description: 'Adapter weights, instead of a run directory.', helpValue: 'FILE'}),
    meta: Flags.string({
      description: 'Adapter manifest. (default: next to the adapter)',
      helpValue: 'FILE',
      dependsOn: ['adapter'],
    }),
    output: Flags.string({
      char: 'o',
      description: 'Output file, or output directory with --full.',
      helpValue: 'PATH',
      required: true,
    }),
    full: Flags.boolean({description: 'Write a complete model directory instead of only the changed tensors.'}),
    dtype: Flags.option({
      description: 'Data type of the output. (default: that of the base model)',
      options: ['f32', 'bf16', 'f16'] as const,
    })(),
    untie: Flags.boolean({description: 'Store a tied output head as a separate tensor.'}),
    overwrite: Flags.boolean({description: 'Overwrite existing output.'}),
    'ignore-config-key': ignoreConfigKeyFlag,
    'ignore-eval-gate': Flags.boolean({description: 'Merge even if the evaluation of the run failed.'}),
  }

  async run(): Promise<void> {
    const {output, full = false, untie = false, overwrite = false, dtype, quiet} = this.flags
    const source = this.#source()
    const {mergeAdapter} = await import('../src/weights/index.js')
    const merged = await withProgress('Merging', !quiet, (show) =>
      mergeAdapter({
        source,
        output,
        full,
        untie,
        overwrite,
        dtype: dtype === undefined ? undefined : dtypes[dtype],
        signal: this.signal,
        onProgress: (tensor, written, total) => show(byteProgress(tensor, written, total)),
      }),
    )
    for (const warning of merged.warnings) this.output.notice(`warning: ${warning}`)
    if (merged.handoff !== undefined) this.output.notice(`Hand-off: ${merged.handoff}`)
    const result: MergeV1 = {...merged, handoff: merged.handoff ?? null, full}
    await this.output.result(result, () => merged.output)
  }

  /** @throws usage */
  #source(): MergeSource {
    const {run} = this.args
    const {'base-shard': shards = [], base, adapter, meta, 'ignore-eval-gate': ignoreEvalGate = false} = this.flags
    const {'ignore-config-key': ignoreConfigKeys = []} = this.flags
    if (run !== undefined) {
      if (adapter !== undefined || shards.length > 0)
        throw usage('A run directory cannot be combined with --adapter or --base-shard.')
      return {run, base, ignoreEvalGate, ignoreConfigKeys, cacheFolder: this.settings(hubSettings).hubCache, cwd: cwd()}
    }
    if (adapter === undefined) throw usage('Specify a run directory or --adapter.')
    if (base === undefined && shards.length === 0) throw usage('Specify the base model with --base or --base-shard.')
    return {base: base === undefined ? {shards} : {folder: base}, adapter, meta, ignoreConfigKeys, cwd: cwd()}
  }
}

const usage = (reason: string) => new SvcError('usage', {reason})
const dtypes = {f32: 'F32', bf16: 'BF16', f16: 'F16'} as const
