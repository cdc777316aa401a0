import {existsSync} from 'node:fs'
import {mkdir, readFile} from 'node:fs/promises'
import {dirname, isAbsolute, join, relative, resolve} from 'node:path'
import {cwd} from 'node:process'
import {Args, Flags} from '@oclif/core'
import {HubCommand, overwriteFlag} from '../../src/cli/index.js'
import type {ModelImportV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import {writeFault, writeFileAtomic} from '../../src/files/index.js'

export default class ModelImport extends HubCommand<typeof ModelImport> {
  static override summary = 'Import a Modelfile of Ollama.'
  static override description =
    `Writes svc.model.toml, which gives a model other defaults: FROM, ADAPTER, SYSTEM, PARAMETER, MESSAGE and LICENSE of the
Modelfile. The directory of the written file is a model of its own for the other commands; weights are not copied. FROM names a
directory, a GGUF file or a model that was downloaded, and ADAPTER the directory of an adapter of PEFT. TEMPLATE is refused, because it is in
the syntax of Go. Parameters that cannot change a text, such as num_gpu, are left out with a notice.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> ./Modelfile --output ./models/mario',
    '<%= config.bin %> <%= command.id %> ./mario/Modelfile --overwrite --json | jq -r .path',
  ]
  static override args = {file: Args.string({description: 'The Modelfile.', required: true})}
  static override flags = {
    output: Flags.string({
      char: 'o',
      description: 'Directory of the model to write. (default: that of the Modelfile)',
      helpValue: 'DIR',
    }),
    overwrite: overwriteFlag,
  }

  async run(): Promise<void> {
    const {defaultsFile, holdModel, readModelfile} = await import('../../src/weights/index.js')
    const file = resolve(cwd(), this.args.file)
    const source = await readFile(file, 'utf8').catch((error: unknown) => {
      throw SvcError.from(error)
    })
    const {model, ignored} = readModelfile(source, file)
    const {from, adapter, ...defaults} = model
    const folder = resolve(cwd(), this.flags.output ?? dirname(file))
    const path = join(folder, defaultsFile)
    if (existsSync(path) && !this.flags.overwrite) throw new SvcError('model_defaults_exist', {path})
    const release = await holdModel(from, {cacheFolder: await this.cacheFolder(), baseOnly: true})
    release()
    const {stringify} = await import('smol-toml')
    // A model in its own directory has no other model below it.
    const places = {
      ...(from === folder ? {} : {from: placeIn(folder, from)}),
      ...(adapter && {adapter: placeIn(folder, adapter)}),
    }
    try {
      await mkdir(folder, {recursive: true})
      await writeFileAtomic(path, `${stringify({...places, ...defaults}).trimEnd()}\n`)
    } catch (error) {
      throw writeFault(error, path)
    }
    if (ignored.length > 0) this.output.notice(`notice: Without effect, and left out: ${ignored.join(', ')}.`)
    const result: ModelImportV1 = {path, from, ignored}
    await this.output.result(result, () => `Wrote ${path}. --model ${relative(cwd(), folder) || '.'} uses it.`)
  }
}

/** A relative path that the system of another machine understands; an id as it is. */
function placeIn(folder: string, place: string): string {
  if (!isAbsolute(place)) return place
  const path = relative(folder, place).replaceAll('\\', '/')
  return path.startsWith('.') ? path : `./${path}`
}
