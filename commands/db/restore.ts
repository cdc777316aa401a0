import {Args} from '@oclif/core'
import {DatabaseFileCommand, databaseFileFlags, waitFlag} from '../../src/cli/index.js'
import type {DbRestoreV1} from '../../src/contracts/index.js'

export default class DbRestore extends DatabaseFileCommand<typeof DbRestore> {
  static override summary = 'Restore a database from a backup.'
  static override description =
    `Checks the backup, and replaces the database with a copy of it. The replaced database is kept as a backup. Needs the
database for itself: fails with status 4 while another process, such as svc db serve, uses it. If the command is killed,
the old database or the restored one remains. A file of another kind is not replaced.

Clients that follow changes are informed that they must read everything again. With --store, claims on tasks end, and
the tasks are queued again. With --mesh, the fencing tokens of new leases are higher than all earlier ones.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> /backups/app.db',
    '<%= config.bin %> <%= command.id %> /backups/store.db --store --wait',
  ]
  static override args = {
    file: Args.string({description: 'Backup to restore.', required: true}),
  }
  static override flags = {...databaseFileFlags, ...waitFlag}

  async run(): Promise<void> {
    const {restoreDatabase} = await import('../../src/store/index.js')
    const {path, kind, isDefaultPath} = await this.databaseFile()
    const {file} = this.args
    const backup = await restoreDatabase(file, path, kind, {
      isDefaultPath,
      wait: this.waiting,
      signal: this.signal,
    })
    const result: DbRestoreV1 = {database: path, file, kind: kind.name, backup}
    await this.output.result(
      result,
      () => `${path} is restored.${backup === null ? '' : ` Backup of the replaced database: ${backup}`}\n`,
    )
  }
}
