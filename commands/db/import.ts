import {Args} from '@oclif/core'
import {DbCommand, databaseFlag, programArg, programFlag, readInput, storeFlag} from '../../src/cli/index.js'
import type {DbWrittenV1} from '../../src/contracts/index.js'
import {counted, SvcError} from '../../src/errors/index.js'

/** Maximum size of an import. Larger exports must be split. */
const maxBytes = 1 << 30

/** A row, or the last id that a table has assigned. */
type ImportLine = {table: string; record: Record<string, unknown>} | {table: string; lastId: number}

const isRecord = <L extends object>(line: L): line is L & {record: Record<string, unknown>} => 'record' in line
const isLastId = <L extends object>(line: L): line is L & {lastId: number} => 'lastId' in line
const isId = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

export default class DbImport extends DbCommand<typeof DbImport> {
  static override summary = 'Import rows from an export.'
  static override description =
    'Reads the output of svc db export. Ids are kept. All rows are written, or none if a row is invalid.'
  static override examples = [
    '<%= config.bin %> <%= command.id %> backup.jsonl',
    'gunzip -c backup.jsonl.gz | <%= config.bin %> <%= command.id %> -',
  ]
  static override args = {
    records: Args.string({description: 'JSON Lines file; - reads standard input.', required: true}),
    file: programArg,
  }
  static override flags = {...databaseFlag, ...programFlag, ...storeFlag}

  async run(): Promise<void> {
    const {records: path} = this.args
    const text = (await readInput(path, this.signal, maxBytes)).toString('utf8').replace(/^\uFEFF/, '')
    const parse = this.flags.store ? JSON.parse : (await import('../../src/lang/index.js')).parseJsonText
    const lines = text
      .split('\n')
      .flatMap((line, i) =>
        line.trim() === '' ? [] : [{...this.#parse(path, line, i + 1, parse), place: `line ${i + 1}`}],
      )
    if (this.flags.store) {
      const {importRows} = await import('../../src/store/index.js')
      const store = await this.storePath()
      return this.#print(store, await importRows(store, lines.filter(isRecord)))
    }
    const {program} = await this.readProgram()
    return this.#print(
      this.databasePath,
      await this.writeRecords(program, path, lines.filter(isRecord), lines.filter(isLastId)),
    )
  }

  async #print(database: string, written: number): Promise<void> {
    const result: DbWrittenV1 = {database, written}
    await this.output.result(result, () => `${counted(written, 'record')} written\n`)
  }

  #parse(path: string, line: string, number: number, parse: (text: string) => unknown): ImportLine {
    const refuse = (fault: string): never => {
      throw new SvcError('record_invalid', {path, place: `line ${number}`, fault})
    }
    try {
      const parsed = parse(line) as Partial<Record<'table' | 'record' | 'last_id', unknown>> | null
      const {table, record, last_id: lastId} = parsed ?? {}
      if (typeof table === 'string' && record === undefined && isId(lastId)) return {table, lastId}
      if (typeof table === 'string' && typeof record === 'object' && record !== null)
        return {table, record: record as Record<string, unknown>}
    } catch (error) {
      return refuse(`invalid JSON: ${(error as Error).message}`)
    }
    return refuse('expected {"table": …, "record": …}')
  }
}
