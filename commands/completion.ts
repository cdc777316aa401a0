import {Args} from '@oclif/core'
import {completionScripts, completionSetup, type Shell, SvcCommand} from '../src/cli/index.js'

export default class Completion extends SvcCommand<typeof Completion> {
  static override summary = 'Print the completion script of a shell.'
  static override description =
    `Completes commands, flags and their values: files of the right kind, ids of tasks, plans, workflow runs, sessions and
agents of the workspace, error codes, models in the cache. Without an argument, shows how to set it up. Open a new shell
afterwards.`
  static override examples = ['<%= config.bin %> <%= command.id %>', completionSetup.bash, completionSetup.fish]
  static override aliases = ['autocomplete']
  static override args = {
    shell: Args.string({description: 'Shell.', options: Object.keys(completionScripts)}),
  }

  async run(): Promise<void> {
    const shell = this.args.shell as Shell | undefined
    if (shell !== undefined) return this.output.result({shell, script: completionScripts[shell]}, ({script}) => script)
    // Not a table, which would break the commands in two on a narrow terminal.
    await this.output.result({shells: completionSetup}, ({shells}) =>
      Object.entries(shells)
        .map(([name, line]) => `${name}:\n  ${line}`)
        .join('\n'),
    )
  }
}
