import {createInterface} from 'node:readline'
import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, onlyProgramFlag, runQuery} from '../../src/cli/index.js'
import {asText, SvcError} from '../../src/errors/index.js'

export default class DbShell extends DbCommand<typeof DbShell> {
  static override summary = 'Start an interactive query shell.'
  static override description =
    `Evaluates each line of standard input as an expression of the data language, or as a read-only SQL statement with --sql.
After an error, continues with the next line. Type exit or press Ctrl-D to quit.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --program examples/todo.svc',
    'echo "db.Task.count()" | <%= config.bin %> <%= command.id %>',
  ]
  static override flags = {
    ...databaseFlag,
    ...onlyProgramFlag,
    sql: Flags.boolean({description: 'Treat the input as SQL.'}),
  }

  async run(): Promise<void> {
    const path = this.existingDatabase()
    const source = this.flags.sql ? undefined : (await this.readProgram()).source.text
    const terminal = process.stdin.isTTY === true
    const lines = createInterface({input: process.stdin, output: process.stderr, terminal, prompt: 'db> '})
    const stop = () => lines.close()
    this.signal.addEventListener('abort', stop)
    if (terminal) lines.prompt()
    let failed = false
    for await (const line of lines) {
      if (line.trim() === 'exit') break
      if (line.trim() !== '') failed = !(await this.#evaluate(line, path, source)) || failed
      if (terminal) lines.prompt()
    }
    this.signal.throwIfAborted()
    if (failed && !terminal) process.exitCode = 1
  }

  async #evaluate(line: string, path: string, source: string | undefined): Promise<boolean> {
    try {
      const value = await runQuery(line, {path, source, ports: this.ports()})
      await this.output.result(value, (json) => JSON.stringify(json, null, 2))
      return true
    } catch (error) {
      process.stderr.write(asText(SvcError.from(error)))
      return false
    }
  }
}
