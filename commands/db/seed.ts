import {Args} from '@oclif/core'
import {DbCommand, databaseFlag, programArg, programFlag, readInput} from '../../src/cli/index.js'
import type {DbWrittenV1} from '../../src/contracts/index.js'
import {counted, SvcError} from '../../src/errors/index.js'

export default class DbSeed extends DbCommand<typeof DbSeed> {
  static override summary = 'Import records from a JSON file.'
  static override description =
    `The file contains {"Table": [record, …], …}. Records are validated like inserts by the program. All records are written,
or none if a record is invalid.`
  static override examples = ['<%= config.bin %> <%= command.id %> seed.json examples/apps/library.svc']
  static override args = {
    records: Args.string({description: 'JSON file; - reads standard input.', required: true}),
    file: programArg,
  }
  static override flags = {...databaseFlag, ...programFlag}

  async run(): Promise<void> {
    const {program} = await this.readProgram()
    const {records: path} = this.args
    const tables = await this.#read(path)
    const items = Object.entries(tables).flatMap(([table, records]) => {
      if (!Array.isArray(records))
        throw new SvcError('record_invalid', {path, place: table, fault: 'expected a list of records'})
      return records.map((record: unknown, i) => ({table, record, place: `${table}[${i}]`}))
    })
    const written = await this.writeRecords(program, path, items)
    const result: DbWrittenV1 = {database: this.databasePath, written}
    await this.output.result(result, () => `${counted(written, 'record')} written\n`)
  }

  async #read(path: string): Promise<object> {
    const text = (await readInput(path, this.signal)).toString('utf8').replace(/^\uFEFF/, '')
    const {parseJsonText} = await import('../../src/lang/index.js')
    try {
      const tables: unknown = parseJsonText(text)
      if (typeof tables === 'object' && tables !== null && !Array.isArray(tables)) return tables
    } catch (error) {
      throw new SvcError('record_invalid', {
        path,
        place: 'the file',
        fault: `invalid JSON: ${(error as Error).message}`,
      })
    }
    throw new SvcError('record_invalid', {path, place: 'the file', fault: 'expected an object of tables'})
  }
}
