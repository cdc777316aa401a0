import {createInterface} from 'node:readline/promises'
import {Flags} from '@oclif/core'
import {
  DbCommand,
  databaseFlag,
  formatReport,
  formatSteps,
  programArg,
  programFlag,
  waitFlag,
} from '../../src/cli/index.js'
import type {DbMigrateV1} from '../../src/contracts/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {Decisions, Program, Step} from '../../src/lang/index.js'

export default class DbMigrate extends DbCommand<typeof DbMigrate> {
  static override summary = 'Migrate a database to match its program.'
  static override description =
    `Creates new tables, columns and indexes. Steps that drop, fill or rebuild data need a decision: --default, --drop,
--rebuild or --using. If a blocking step has no decision, nothing is changed and the exit status is 3; --safe-steps
applies the other steps all the same.

Steps that drop or rebuild something need the database for themselves: the command fails with status 4 while another
process, such as svc db serve, uses it. With --online, the steps are applied all the same; a server whose program no
longer matches then answers with status 503 and stops.

All steps run in one transaction. A backup of the file is made first; the ten newest backups are kept.

--rebuild converts columns whose type changed, if every value can be converted. --using computes the new value from the
old row with an expression, for example --using 'Task.slug=old.title.to_lower()'. --default sets the value of rows whose
column is missing or cannot be converted.`
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
    'dry-run': Flags.boolean({description: 'Show the steps without running them.'}),
    'safe-steps': Flags.boolean({
      description: 'Apply automatic and decided steps even if a blocking step has no decision.',
    }),
    ...waitFlag,
    online: Flags.boolean({
      description: 'Drop and rebuild while other processes use the database.',
      exclusive: ['wait'],
    }),
    yes: Flags.boolean({char: 'y', description: 'Drop and rebuild without asking for confirmation.'}),
    default: Flags.string({
      description: 'Value for rows whose column is missing or cannot be converted; may be repeated.',
      multiple: true,
      helpValue: 'TABLE.COLUMN=JSON',
      multipleNonGreedy: true,
    }),
    drop: Flags.string({
      description: 'Undeclared table or column to drop; may be repeated.',
      multiple: true,
      helpValue: 'TABLE[.COLUMN]',
      multipleNonGreedy: true,
    }),
    rebuild: Flags.string({
      description: 'Table to rebuild, keeping its rows; may be repeated.',
      multiple: true,
      helpValue: 'TABLE',
      multipleNonGreedy: true,
    }),
    using: Flags.string({
      description: 'Expression that computes a column from the old row (`old`); may be repeated.',
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
    const safeSteps = this.flags['safe-steps'] === true
    const decisions: Decisions = {defaults, drops, rebuilds, usings}
    if (!dryRun && drops.length + rebuilds.length + usings.length > 0) await this.#confirm(program, path, decisions)
    const report = await migrate(program, path, {
      decisions,
      dryRun,
      safeSteps,
      others: {wait: this.waiting, online: this.flags.online},
    })
    const blocking = blockingSteps(report, dryRun ? noDecisions : decisions, program)
    this.noteBackup(report)
    const result: DbMigrateV1 = report
    await this.output.result(result, () => formatReport(report, this.view))
    if (blocking.length === 0) return
    if (!dryRun && !safeSteps)
      this.output.notice(
        `Nothing was changed, because ${blocking.length} blocking steps have no decision. Pass the flags of the steps, or --safe-steps to apply only the others.`,
      )
    process.exitCode = 3
  }

  /** Asks for confirmation on a terminal; without one, the flags that name the steps are sufficient. */
  async #confirm(program: Program, path: string, decisions: Decisions): Promise<void> {
    if (this.flags.yes || !process.stdin.isTTY) return
    const {migrate} = await import('../../src/lang/index.js')
    const {typedDecision} = await import('../../src/contracts/index.js')
    const {steps} = await migrate(program, path, {decisions, dryRun: true})
    const destructive = steps.filter((step: Step) => step.class === 'manual' || step.class === 'rebuild')
    process.stderr.write(formatSteps(destructive, {width: process.stderr.columns}))
    const terminal = createInterface({input: process.stdin, output: process.stderr})
    try {
      const answer = await terminal.question('Run these steps? [y/N] ', {signal: this.signal})
      if (typedDecision(answer) !== true) throw new SvcError('unconfirmed', {what: 'The migration'})
    } finally {
      terminal.close()
    }
  }
}
