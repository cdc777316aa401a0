import {cwd} from 'node:process'
import {Args, Flags} from '@oclif/core'
import {byteProgress, SvcCommand, withProgress} from '../src/cli/index.js'
import type {MergeV1} from '../src/contracts/index.js'
import {SvcError} from '../src/errors/index.js'
import type {MergeSource} from '../src/weights/index.js'

export default class Merge extends SvcCommand<typeof Merge> {
  static override summary = 'Add a LoRA adapter to the weights of its base model.'
  static override description =
    `Merges a run directory, or the shards, adapter and manifest that are named. The result holds the tensors that the
adapter changes: put beside a base model as merged.safetensors, they replace those of its shards. --full writes a complete
model directory, which any runtime can load. Tensors keep their dtype unless --dtype says otherwise.

Weights are read and written some rows at a time, so that a large model takes no more memory than a small one, and the
result appears under its name when it is whole. external_serving_handoff_v1.json beside it tells other programs what it
is.

Where the head is the embedding, an adapter that changes it changes both when it is merged; --untie gives the head a
tensor of its own, as serving does.`
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
      description: 'Shard of the base model; repeated, the first that has a tensor gives it.',
      helpValue: 'FILE',
      multiple: true,
      multipleNonGreedy: true,
      exclusive: ['base'],
    }),
    base: Flags.string({description: 'Folder of the base model.', helpValue: 'DIR'}),
    adapter: Flags.string({description: 'Weights of the adapter, without a run directory.', helpValue: 'FILE'}),
    meta: Flags.string({
      description: "The adapter's manifest; when left out, the one beside it.",
      helpValue: 'FILE',
      dependsOn: ['adapter'],
    }),
    output: Flags.string({
      char: 'o',
      description: 'File to write, or with --full the folder.',
      helpValue: 'PATH',
      required: true,
    }),
    full: Flags.boolean({description: 'Write every tensor, the configuration and the tokenizer.'}),
    dtype: Flags.option({description: 'Dtype of the result.', options: ['f32', 'bf16', 'f16'] as const})(),
    untie: Flags.boolean({description: 'Give a head that is tied to the embedding a tensor of its own.'}),
    overwrite: Flags.boolean({description: 'Replace what is there.'}),
    'ignore-eval-gate': Flags.boolean({description: 'Merge although the evaluation of the run failed.'}),
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
    if (run !== undefined) {
      if (adapter !== undefined || shards.length > 0) throw usage('A run directory brings its own adapter and shards.')
      return {run, base, ignoreEvalGate, cwd: cwd()}
    }
    if (adapter === undefined) throw usage('Name a run directory, or an adapter with --adapter.')
    if (base === undefined && shards.length === 0) throw usage('Name the base model with --base or --base-shard.')
    return {base: base === undefined ? {shards} : {folder: base}, adapter, meta, cwd: cwd()}
  }
}

const usage = (reason: string) => new SvcError('usage', {reason})
const dtypes = {f32: 'F32', bf16: 'BF16', f16: 'F16'} as const
