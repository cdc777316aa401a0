import {Flags} from '@oclif/core'
import {formatSettings, SvcCommand} from '../../src/cli/index.js'
import {describeSettings} from '../../src/config/index.js'

export default class ConfigShow extends SvcCommand<typeof ConfigShow> {
  static override summary = 'Show every setting, its value and where it comes from.'
  static override description =
    `A value comes from the environment, else from Svc.toml, else from its default; flags of a command come before all of
them. Variables of the mesh are also read from .svc/mesh/mesh.env of the workspace and of the user, and settings of speech
from the file that SVC_SPEECH_CONFIG names, both before Svc.toml. Sources that gave a value and lost are shown too.
Secrets are never shown. A setting marked "planned" is not used by this version. On a terminal, long values are cut.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --changed',
    '<%= config.bin %> <%= command.id %> --json | jq \'.settings[] | select(.origin.source == "env")\'',
  ]
  static override flags = {
    changed: Flags.boolean({description: 'Only settings that are not at their default.'}),
  }

  async run(): Promise<void> {
    const {settings, warnings} = describeSettings(this.settingSources())
    this.report(warnings)
    const shown = this.flags.changed ? settings.filter(({origin}) => origin.source !== 'default') : settings
    const result = {
      root: this.workspace.root,
      file: this.workspace.configPath ?? null,
      settings: shown,
      warnings: this.warnings,
    }
    await this.output.result(result, ({settings: rows}) => formatSettings(rows, process.stdout.columns))
  }
}
