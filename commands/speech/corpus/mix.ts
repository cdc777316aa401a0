import {cwd} from 'node:process'
import {Args, Flags} from '@oclif/core'
import {formatTable, overwriteFlag, SvcCommand, withProgress, wrapped} from '../../../src/cli/index.js'
import type {SpeechCorpusMixV1} from '../../../src/contracts/index.js'
import {counted, SvcError} from '../../../src/errors/index.js'

export default class SpeechCorpusMix extends SvcCommand<typeof SpeechCorpusMix> {
  static override summary = 'Make a training corpus from several sources.'
  static override description =
    `The mix file lists the sources, files with one JSON object per line, and the output. A source with weight: 3 is repeated three
times. With record_format: asr_refine, rows with noisy_text and corrected_text become rows with prompt and response. Rows
whose lane is not in include_lanes are dropped; the default is svc_codegen, and asr_refine rows have the lane svc_speech.

Invalid rows are skipped with a warning. Next to the output, a report counts the rows of each source. If neither the mix nor a
source has changed since the report, the run is skipped. Equal inputs give equal outputs, also with sample_rate.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> mix.yaml',
    '<%= config.bin %> <%= command.id %> mix.yaml --base data --strict',
    `<%= config.bin %> <%= command.id %> mix.yaml -o train.jsonl --json | jq '.sources[] | {path, share_of_output}'`,
  ]
  static override args = {
    file: Args.string({description: 'Mix file (YAML or JSON).', required: true}),
  }
  static override flags = {
    base: Flags.string({
      description: 'Directory of relative paths in the mix file. (default: the current directory)',
      helpValue: 'DIR',
    }),
    output: Flags.string({char: 'o', description: 'Output file. (default: that of the mix file)', helpValue: 'FILE'}),
    overwrite: overwriteFlag,
    strict: Flags.boolean({
      description: 'Fail if a source that is not optional has no rows to write, or if the output would be empty.',
    }),
    force: Flags.boolean({description: 'Mix again even if nothing has changed.'}),
  }

  async run(): Promise<void> {
    const {mixCorpus} = await import('../../../src/speech/index.js')
    const {base = cwd(), output, overwrite = false, strict = false, force = false, quiet} = this.flags
    if (output === '-')
      throw new SvcError('usage', {reason: '--output must be a file, because the report is written next to it.'})
    const result = await withProgress('Mixing', !quiet, (show) =>
      mixCorpus({
        file: this.args.file,
        base,
        output,
        overwrite,
        strict,
        force,
        signal: this.signal,
        onWarning: (text) => this.output.notice(`warning: ${text}`),
        onProgress: show,
      }),
    )
    await this.output.result(result, asText)
  }
}

function asText({state, output, output_lines: lines, sources}: SpeechCorpusMixV1): string {
  const rows = sources.map((source) => [
    source.path,
    String(source.input_lines),
    String(source.repeats),
    String(source.emitted_lines),
    `${(100 * source.share_of_output).toFixed(1)} %`,
    source.skipped_reason ?? '',
  ])
  const table = formatTable([wrapped('SOURCE'), 'LINES', 'REPEATS', 'WRITTEN', 'SHARE', 'SKIPPED'], rows, {
    width: process.stdout.columns,
  })
  return state === 'mixed'
    ? `${table}${counted(lines, 'row')} in ${output}\n`
    : `${table}Nothing has changed: ${counted(lines, 'row')} in ${output}; --force mixes again.\n`
}
