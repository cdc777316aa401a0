import {Flags} from '@oclif/core'
import {formatSettings, SvcCommand} from '../../src/cli/index.js'
import {describeSettings, orchestratorTables} from '../../src/config/index.js'

export default class OrchConfig extends SvcCommand<typeof OrchConfig> {
  static override summary = 'Show the settings of the orchestrator, and where they come from.'
  static override description =
    `Sources that gave a value and lost are shown too. Settings that contradict each other end the command with 2, as they end
every command that works on tasks. The token of the mesh is never shown.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --changed',
    "<%= config.bin %> <%= command.id %> --json | jq '.settings[] | {name, value}'",
  ]
  static override flags = {
    changed: Flags.boolean({description: 'Only settings that are not at their default.'}),
  }

  async run(): Promise<void> {
    const {resolveOrchestratorConfig} = await import('../../src/tasks/index.js')
    const sources = this.settingSources()
    this.report(resolveOrchestratorConfig(sources).warnings)
    const settings = describeSettings(sources, orchestratorTables).settings.filter(
      ({origin}) => !(this.flags.changed && origin.source === 'default'),
    )
    const {root, configPath: file = null} = this.workspace
    await this.output.result({root, file, settings, warnings: this.warnings}, () =>
      formatSettings(settings, process.stdout.columns),
    )
  }
}
