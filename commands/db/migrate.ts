import {createInterface} from 'node:readline/promises'
import {Flags} from '@oclif/core'
import {DbCommand, databaseFlag, formatReport, formatSteps, programArg, programFlag} from '../../src/cli/index.js'
import type {DbMigrateV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {Decisions, Program, Step} from '../../src/lang/index.js'

export default class DbMigrate extends DbCommand<typeof DbMigrate> {
  static override summary = 'Bring a database to its program.'
  static override description =
    `Creates new tables, columns and indexes. Drops, fills or rebuilds nothing that you have not named. All steps are one
transaction; a backup of the file is made first, and the ten newest backups are kept. Exits with 3 while a step that the
program needs is undecided.

A column whose type changed is rebuilt with --rebuild where every value can be converted. --using gives the new value as
an expression of the data language over the old row, for example --using 'Task.slug=old.title.to_lower()'. --default
gives a value for rows that have none, or whose value cannot be converted.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --dry-run',
    '<%= config.bin %> <%= command.id %> --default Task.priority=0 --drop Task.owner',
    '<%= config.bin %> <%= command.id %> --rebuild Task --yes',
    "<%= config.bin %> <%= command.id %> --using 'Task.name=old.title' --drop Task.title",
  ]
  static override args = {file: programArg}
  static override flags = {
    ...databaseFlag,
    ...programFlag,
    'dry-run': Flags.boolean({description: 'Show the steps and change nothing.'}),
    yes: Flags.boolean({char: 'y', description: 'Do not ask before dropping or rebuilding.'}),
    default: Flags.string({
      description: 'Value for rows that have none, or none that can be converted.',
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
    using: Flags.string({
      description: 'Compute a column from the old row, `old`.',
      multiple: true,
      helpValue: 'TABLE.COLUMN=EXPRESSION',
      multipleNonGreedy: true,
    }),
  }

  async run(): Promise<void> {
    const {blockingSteps, migrate, noDecisions} = await import('../../src/lang/index.js')
    const {program} = await this.readProgram()
    const path = this.databasePath
    const {default: defaults = [], drop: drops = [], rebuild: rebuilds = [], using: usings = []} = this.flags
    const dryRun = this.flags['dry-run'] === true
    const decisions: Decisions = {defaults, drops, rebuilds, usings}
    if (!dryRun && drops.length + rebuilds.length + usings.length > 0) await this.#confirm(program, path, decisions)
    const report = await migrate(program, path, {decisions, dryRun})
    const blocking = blockingSteps(report, dryRun ? noDecisions : decisions, program)
    this.noteBackup(report)
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
