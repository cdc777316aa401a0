import {Flags} from '@oclif/core'
import {formatSettings, SvcCommand, tableFlags} from '../../src/cli/index.js'
import {describeSettings} from '../../src/config/index.js'

export default class ConfigShow extends SvcCommand<typeof ConfigShow> {
  static override summary = 'Show all settings, their values and their sources.'
  static override description =
    `Precedence, highest first: command-line flags, environment variables, Svc.toml, ~/.svc/config.toml,
defaults. Mesh variables are also read from .svc/mesh/mesh.env in the workspace and in the home directory. Speech settings
are also read from the file named by SVC_SPEECH_CONFIG. These files override Svc.toml. Overridden values are shown too.

Secrets are never shown. On a terminal, long values are truncated.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --changed',
    '<%= config.bin %> <%= command.id %> --json | jq \'.settings[] | select(.origin.source == "env")\'',
  ]
  static override flags = {
    ...tableFlags,
    changed: Flags.boolean({description: 'Show only settings that differ from their default.'}),
  }

  async run(): Promise<void> {
    const {settings, warnings} = describeSettings(this.settingSources())
    this.report(warnings)
    const selected = this.flags.changed ? settings.filter(({origin}) => origin.source !== 'default') : settings
    const result = {
      root: this.workspace.root,
      file: this.workspace.configPath ?? null,
      settings: selected,
      warnings: this.warnings,
    }
    await this.output.result(result, ({settings: rows}) => formatSettings(rows, this.view))
  }
}
