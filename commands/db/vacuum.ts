import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, storeFlag, waitFlag} from '../../src/cli/index.js'
import type {DbVacuumV1} from '../../src/contracts/index.js'

export default class DbVacuum extends DbCommand<typeof DbVacuum> {
  static override summary = 'Compact the database file.'
  static override description =
    `Needs the database for itself: fails with status 4 while another process, such as svc db serve, uses it. With --online,
the other processes keep it, and their writes wait until the compaction ends, or fail after a few seconds.`
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --store']
  static override flags = {
    ...databaseFlag,
    ...storeFlag,
    ...waitFlag,
    online: Flags.boolean({description: 'Compact it while other processes use it.', exclusive: ['wait']}),
  }

  async run(): Promise<void> {
    const {vacuum} = await import('../../src/store/index.js')
    const path = this.flags.store ? await this.existingStore() : this.existingDatabase()
    const result: DbVacuumV1 = {
      database: path,
      ...(await vacuum(path, {wait: this.waiting, online: this.flags.online})),
    }
    await this.output.result(
      result,
      ({bytes_before: before, bytes_after: after}) => `${path}: ${before} bytes, now ${after}\n`,
    )
  }
}
