import {existsSync} from 'node:fs'
import {basename, resolve} from 'node:path'
import {cwd} from 'node:process'
import {Args, Flags} from '@oclif/core'
import {HubCommand, overwriteFlag, settingFlags} from '../../src/cli/index.js'
import {hubSettings} from '../../src/config/index.js'
import type {AdapterImportV1} from '../../src/contracts/index.js'

export default class AdapterImport extends HubCommand<typeof AdapterImport> {
  static override summary = 'Import an adapter of PEFT or Ollama.'
  static override description =
    `Copies the weights and the manifest of an adapter to a directory that svc serve --adapters serves. The adapter is checked first. The
source is a directory that PEFT has written, a run directory, or a Modelfile of Ollama whose ADAPTER names such a directory. A
source owner/name[@revision] is a repository of the hub: its adapter is downloaded as svc pull does.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> ./outputs/checkpoint-500 --name legal --output ./adapters',
    '<%= config.bin %> <%= command.id %> ./mario/Modelfile --name mario --output ./adapters',
    '<%= config.bin %> <%= command.id %> acme/qwen-legal-lora@v2 --name legal --output ./adapters',
  ]
  static override args = {
    source: Args.string({
      description: 'Directory of the adapter, a Modelfile, or a repository owner/name[@revision].',
      required: true,
    }),
  }
  static override flags = {
    name: Flags.string({
      description: 'Name of the adapter. (default: that of its directory or repository)',
      helpValue: 'NAME',
    }),
    output: Flags.string({
      char: 'o',
      description: 'Directory of all adapters, in which a directory for this one is created.',
      helpValue: 'DIR',
      required: true,
    }),
    overwrite: overwriteFlag,
    ...settingFlags(hubSettings),
  }

  async run(): Promise<void> {
    const {importAdapter} = await import('../../src/weights/index.js')
    const {name, output, overwrite} = this.flags
    const source = await this.#place(this.args.source)
    const {path, baseModel, updates} = await importAdapter(source.path, resolve(cwd(), output), {
      name: name ?? source.name,
      overwrite,
    })
    const result: AdapterImportV1 = {path, base_model: baseModel ?? null, updates}
    await this.output.result(result, () => `Wrote ${path}.`)
  }

  /** Where the source is. A repository is downloaded, unless a file or directory has its name. */
  async #place(source: string): Promise<{path: string; name: string | undefined}> {
    const weights = await import('../../src/weights/index.js')
    const {adapterRepositoryFiles, defaultRevision, hasAdapter, isModelId, parseModelName, snapshotPlace} = weights
    const path = resolve(cwd(), source)
    const {id, revision = defaultRevision, file} = parseModelName(source)
    if (existsSync(path) || file !== undefined || !isModelId(id)) return {path, name: undefined}
    const stored = this.settings(hubSettings).offline && (await snapshotPlace(id, revision, await this.cacheFolder()))
    if (stored && existsSync(stored) && (await hasAdapter(stored))) return {path: stored, name: basename(id)}
    const {folder} = await this.download(id, revision, (names) => adapterRepositoryFiles(id, names))
    return {path: folder, name: basename(id)}
  }
}
