import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, LineHistory, LineReader, onlyProgramFlag, runQuery} from '../../src/cli/index.js'
import {asText, nearest, SvcError} from '../../src/errors/index.js'
import type {Program} from '../../src/lang/index.js'

/** Commands of the shell itself. */
const shellCommands = {
  '.help': 'Show these commands.',
  '.tables': 'List the tables.',
  '.schema': 'Show the columns of all tables, or of the one that is named.',
  '.quit': 'Quit; also exit and Ctrl-D.',
} as const

export default class DbShell extends DbCommand<typeof DbShell> {
  static override summary = 'Start an interactive query shell.'
  static override description =
    `Evaluates each line of standard input as an expression of the data language, or as a read-only SQL statement with --sql.
After an error, continues with the next line. .tables lists the tables, .schema [TABLE] shows their columns, .help lists
these commands, and .quit or Ctrl-D quits.

On a terminal, the lines are kept in $XDG_STATE_HOME/svc/db-history (default: ~/.local/state), which only its owner can
read. --no-history neither reads nor writes it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --program examples/todo.svc',
    'echo "db.Task.count()" | <%= config.bin %> <%= command.id %>',
  ]
  static override flags = {
    ...databaseFlag,
    ...onlyProgramFlag,
    sql: Flags.boolean({description: 'Treat the input as SQL.'}),
    history: Flags.boolean({
      description: 'Keep the lines that are typed on a terminal.',
      allowNo: true,
      default: true,
    }),
  }

  async run(): Promise<void> {
    const path = this.existingDatabase()
    const program = this.flags.sql ? undefined : (await this.readProgram()).program
    const history = this.flags.history ? new LineHistory('db-history') : undefined
    const reader = new LineReader({prompt: 'db> ', history, signal: this.signal})
    let failed = false
    try {
      for (let typed = await reader.next(); typed !== undefined; typed = await reader.next()) {
        const line = typed.trim()
        if (line === 'exit' || line === '.quit') break
        if (line !== '') failed = !(await this.#answer(line, path, program)) || failed
      }
    } finally {
      reader.close()
    }
    this.signal.throwIfAborted()
    if (failed && !reader.isTerminal) process.exitCode = 1
  }

  /** @returns false after an error, which it prints */
  async #answer(line: string, path: string, program: Program | undefined): Promise<boolean> {
    try {
      if (line.startsWith('.')) {
        const {value, text} = await this.#obey(line, path, program)
        await this.output.result(value, () => text)
      } else {
        const value = await runQuery(line, {path, source: program?.source, ports: this.ports()})
        await this.output.result(value, (json) => JSON.stringify(json, null, 2))
      }
      return true
    } catch (error) {
      process.stderr.write(asText(SvcError.from(error)))
      return false
    }
  }

  /** The output of a command of the shell. @throws shell_command_unknown, table_unknown */
  async #obey(line: string, path: string, program: Program | undefined): Promise<{value: unknown; text: string}> {
    const [command = '', name] = line.split(/\s+/)
    if (command === '.help')
      return {
        value: shellCommands,
        text: Object.entries(shellCommands)
          .map(([word, effect]) => `${word.padEnd(8)}  ${effect}\n`)
          .join(''),
      }
    if (command !== '.tables' && command !== '.schema')
      throw new SvcError('shell_command_unknown', {command, suggestion: nearest(command, Object.keys(shellCommands))})
    const tables = program === undefined ? await tablesOfFile(path) : await tablesOf(program)
    const names = tables.map((table) => table.name)
    if (command === '.tables') return {value: names, text: names.map((found) => `${found}\n`).join('')}
    const shown = tables.filter((table) => name === undefined || table.name === name)
    if (name !== undefined && shown.length === 0)
      throw new SvcError('table_unknown', {name, suggestion: nearest(name, names)})
    return {value: shown, text: shown.map(({schema}) => `${schema}\n`).join('')}
  }
}

interface ShownTable {
  readonly name: string
  readonly schema: string
}

async function tablesOf({tables}: Program): Promise<ShownTable[]> {
  const {show} = await import('../../src/lang/index.js')
  return tables.map(({name, columns}) => ({
    name,
    schema: `type ${name} { ${columns.map((column) => `${column.name}: ${show(column.type)}`).join(', ')} }`,
  }))
}

async function tablesOfFile(path: string): Promise<ShownTable[]> {
  const {openDatabase} = await import('../../src/store/index.js')
  const database = await openDatabase(path, {readonly: true})
  try {
    const sql = `SELECT name, sql AS schema FROM sqlite_schema
      WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name`
    return database.prepare(sql).all() as ShownTable[]
  } finally {
    database.close()
  }
}
