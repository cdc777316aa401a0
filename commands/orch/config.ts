import {Flags} from '@oclif/core'
import {formatSettings, SvcCommand, tableFlags} from '../../src/cli/index.js'
import {describeSettings, orchestratorTables} from '../../src/config/index.js'

export default class OrchConfig extends SvcCommand<typeof OrchConfig> {
  static override summary = 'Show orchestrator settings and their sources.'
  static override description =
    `Overridden values are shown too; the mesh token is never shown. If settings contradict each other, this command and all
commands that use tasks exit with status 2.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> --changed',
    "<%= config.bin %> <%= command.id %> --json | jq '.settings[] | {name, value}'",
  ]
  static override flags = {
    ...tableFlags,
    changed: Flags.boolean({description: 'Show only settings that differ from their default.'}),
  }

  async run(): Promise<void> {
    const {resolveOrchestratorConfig} = await import('../../src/workspace/index.js')
    const sources = this.settingSources()
    this.report(resolveOrchestratorConfig(sources).warnings)
    const settings = describeSettings(sources, orchestratorTables).settings.filter(
      ({origin}) => !(this.flags.changed && origin.source === 'default'),
    )
    const {root, configPath: file = null} = this.workspace
    await this.output.result({root, file, settings, warnings: this.warnings}, () => formatSettings(settings, this.view))
  }
}
