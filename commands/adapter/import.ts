import {resolve} from 'node:path'
import {cwd} from 'node:process'
import {Args, Flags} from '@oclif/core'
import {overwriteFlag, SvcCommand} from '../../src/cli/index.js'
import type {AdapterImportV1} from '../../src/contracts/index.js'

export default class AdapterImport extends SvcCommand<typeof AdapterImport> {
  static override summary = 'Import an adapter of PEFT or Ollama.'
  static override description =
    `Copies the weights and the manifest of an adapter to a directory that svc serve --adapters serves. The source is a directory that
PEFT has written, a run directory, or a Modelfile of Ollama whose ADAPTER names such a directory. The adapter is checked first.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> ./outputs/checkpoint-500 --name legal --output ./adapters',
    '<%= config.bin %> <%= command.id %> ./mario/Modelfile --name mario --output ./adapters',
  ]
  static override args = {
    source: Args.string({description: 'Directory of the adapter, or a Modelfile.', required: true}),
  }
  static override flags = {
    name: Flags.string({description: 'Name of the adapter. (default: that of its directory)', helpValue: 'NAME'}),
    output: Flags.string({
      char: 'o',
      description: 'Directory of all adapters, in which a directory for this one is created.',
      helpValue: 'DIR',
      required: true,
    }),
    overwrite: overwriteFlag,
  }

  async run(): Promise<void> {
    const {importAdapter} = await import('../../src/weights/index.js')
    const {name, output, overwrite} = this.flags
    const source = resolve(cwd(), this.args.source)
    const {path, baseModel, updates} = await importAdapter(source, resolve(cwd(), output), {name, overwrite})
    const result: AdapterImportV1 = {path, base_model: baseModel ?? null, updates}
    await this.output.result(result, () => `Wrote ${path}.`)
  }
}
