import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {cwd} from 'node:process'
import {SvcCommand} from '../src/cli/index.js'
import {configTemplate} from '../src/config/index.js'
import type {InitV1} from '../src/contracts/index.js'
import {SvcError} from '../src/errors/index.js'
import {writeFault} from '../src/files/index.js'

export default class Init extends SvcCommand<typeof Init> {
  static override summary = 'Write a commented Svc.toml.'
  static override description =
    `Makes the current directory a workspace: tasks, databases and caches of commands in it and in its subdirectories belong to
it. The file contains the settings that are changed most often, each commented out with its default or an example. An existing
Svc.toml is kept, and the exit status is 4.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> -C my-project <%= command.id %>',
  ]

  async run(): Promise<void> {
    const path = join(cwd(), 'Svc.toml')
    const {configPath} = this.workspace
    await writeFile(path, configTemplate(), {flag: 'wx'}).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? new SvcError('config_exists', {path}) : writeFault(error, path)
    })
    if (configPath !== undefined) this.output.notice(`notice: ${configPath} no longer applies to this directory.`)
    const result: InitV1 = {path}
    await this.output.result(result, () => `Wrote ${path}. Edit it, then run \`svc config check\`.`)
  }
}
