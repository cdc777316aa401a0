import {Args} from '@oclif/core'
import {DbCommand, databaseFlag, programArg, programFlag, readInput} from '../../src/cli/index.js'
import type {DbWrittenV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'

export default class DbSeed extends DbCommand<typeof DbSeed> {
  static override summary = 'Put records of a JSON file into the tables.'
  static override description =
    `The file holds {"Table": [record, …], …}. Records are checked as the program's own inserts are; all of them
are written, or none.`
  static override examples = ['<%= config.bin %> <%= command.id %> seed.json examples/library.svc']
  static override args = {
    records: Args.string({description: 'The JSON file, - for standard input.', required: true}),
    file: programArg,
  }
  static override flags = {...databaseFlag, ...programFlag}

  async run(): Promise<void> {
    const {program} = await this.readProgram()
    const {records: path} = this.args
    const given = await this.#read(path)
    const items = Object.entries(given).flatMap(([table, records]) => {
      if (!Array.isArray(records))
        throw new SvcError('record_invalid', {path, place: table, fault: 'it must be a list of records'})
      return records.map((record: unknown, i) => ({table, record, place: `${table}[${i}]`}))
    })
    const written = await this.writeRecords(program, path, items, false)
    const result: DbWrittenV1 = {database: this.databasePath, written}
    await this.output.result(result, () => `${written} records written\n`)
  }

  async #read(path: string): Promise<object> {
    const text = (await readInput(path, this.signal)).toString('utf8')
    try {
      const given: unknown = JSON.parse(text)
      if (typeof given === 'object' && given !== null && !Array.isArray(given)) return given
    } catch (error) {
      throw new SvcError('record_invalid', {
        path,
        place: 'the file',
        fault: `it is not JSON: ${(error as Error).message}`,
      })
    }
    throw new SvcError('record_invalid', {path, place: 'the file', fault: 'it must be an object of tables'})
  }
}
