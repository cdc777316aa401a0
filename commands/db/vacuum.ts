import {DbCommand, databaseFlag, storeFlag} from '../../src/cli/index.js'
import type {DbVacuumV1} from '../../src/contracts/index.js'

export default class DbVacuum extends DbCommand<typeof DbVacuum> {
  static override summary = 'Compact the database file.'
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> --store']
  static override flags = {...databaseFlag, ...storeFlag}

  async run(): Promise<void> {
    const {vacuum} = await import('../../src/store/index.js')
    const path = this.flags.store ? this.existingStore() : this.existingDatabase()
    const result: DbVacuumV1 = {database: path, ...(await vacuum(path))}
    await this.output.result(
      result,
      ({bytes_before: before, bytes_after: after}) => `${path}: ${before} bytes, now ${after}\n`,
    )
  }
}
