import {createInterface} from 'node:readline/promises'
import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, formatReport, formatSteps, programArg} from '../../src/cli/index.js'
import type {DbMigrateV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {Decisions, Program, Step} from '../../src/lang/index.js'

export default class DbMigrate extends DbCommand<typeof DbMigrate> {
  static override summary = 'Bring a database to its program.'
  static override description =
    `Tables, columns and indexes that are new are made; nothing is dropped, filled or rebuilt unless it is named. All steps are
one transaction, and where the database holds tables a copy of the file is made first. Ends with 3 while a step that the
program cannot do without needs a decision.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --default Task.priority=0 --drop Task.owner',
    '<%= config.bin %> <%= command.id %> --rebuild Task --yes',
  ]
  static override args = {file: programArg}
  static override flags = {
    ...databaseFlag,
    'dry-run': Flags.boolean({description: 'Show the steps and change nothing.'}),
    yes: Flags.boolean({char: 'y', description: 'Do not ask before dropping or rebuilding.'}),
    default: Flags.string({
      description: 'Fill a new required column.',
      multiple: true,
      helpValue: 'TABLE.COLUMN=JSON',
      multipleNonGreedy: true,
    }),
    drop: Flags.string({
      description: 'Drop what is no longer declared.',
      multiple: true,
      helpValue: 'TABLE[.COLUMN]',
      multipleNonGreedy: true,
    }),
    rebuild: Flags.string({
      description: 'Make a table anew, with its rows.',
      multiple: true,
      helpValue: 'TABLE',
      multipleNonGreedy: true,
    }),
  }

  async run(): Promise<void> {
    const {blockingSteps, migrate, noDecisions} = await import('../../src/lang/index.js')
    const {program} = await this.readProgram(this.args.file)
    const path = this.databasePath
    const {default: defaults = [], drop: drops = [], rebuild: rebuilds = [], 'dry-run': dryRun = false} = this.flags
    const decisions: Decisions = {defaults, drops, rebuilds}
    if (!dryRun && drops.length + rebuilds.length > 0) await this.#confirm(program, path, decisions)
    const report = await migrate(program, path, {decisions, dryRun})
    const blocking = blockingSteps(report, dryRun ? noDecisions : decisions, program)
    if (report.backup !== undefined) this.output.notice(`The database as it was before lies in ${report.backup}.`)
    const result: DbMigrateV1 = report
    await this.output.result(result, () => formatReport(report))
    if (blocking.length > 0) process.exitCode = 3
  }

  /** Asks at a terminal; elsewhere naming the step is enough. */
  async #confirm(program: Program, path: string, decisions: Decisions): Promise<void> {
    if (this.flags.yes || !process.stdin.isTTY) return
    const {migrate} = await import('../../src/lang/index.js')
    const {steps} = await migrate(program, path, {decisions, dryRun: true})
    const named = steps.filter((step: Step) => step.class === 'manual' || step.class === 'rebuild')
    process.stderr.write(formatSteps(named))
    const terminal = createInterface({input: process.stdin, output: process.stderr})
    try {
      const answer = await terminal.question('Take these steps? [y/N] ', {signal: this.signal})
      if (!/^y(es)?$/i.test(answer.trim())) throw new SvcError('unconfirmed', {what: 'The migration'})
    } finally {
      terminal.close()
    }
  }
}
