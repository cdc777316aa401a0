import {Args} from '@oclif/core'
import {DatabaseFileCommand, databaseFileFlags, overwriteFlag} from '../../src/cli/index.js'
import type {DbBackupV1} from '../../src/contracts/index.js'
import {checkOutputs, placeFile, writeFault} from '../../src/files/index.js'

export default class DbBackup extends DatabaseFileCommand<typeof DbBackup> {
  static override summary = 'Back up a database while it is in use.'
  static override description =
    `Writes the state of one point in time to a file, checks it, and prints its path. Other processes can write meanwhile. The
file is a complete SQLite database that only its owner can read. Without FILE, it is written next to the database. Of such
backups of an application database, svc db migrate keeps the ten newest.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> /backups/app.db --overwrite',
    '<%= config.bin %> <%= command.id %> /backups/store.db --store --json | jq -r .sha256',
    '<%= config.bin %> <%= command.id %> /backups/mesh.db --mesh',
  ]
  static override args = {
    file: Args.string({description: 'File to write. (default: next to the database, named after the time)'}),
  }
  static override flags = {...databaseFileFlags, overwrite: overwriteFlag}

  async run(): Promise<void> {
    const {backUpDatabase} = await import('../../src/store/index.js')
    const {path, kind} = await this.existingFile()
    const {overwrite = false} = this.flags
    const {file} = this.args
    if (file !== undefined) await checkOutputs([file], {overwrite, inputs: [path], onlyFiles: true})
    const written = await backUpDatabase(path, kind, {
      file,
      signal: this.signal,
      place: (partial, target) => placeFile(partial, target, {keep: !overwrite}),
      fault: writeFault,
    })
    const result: DbBackupV1 = {database: path, ...written}
    await this.output.result(result, () => `${written.file}\n`)
  }
}
