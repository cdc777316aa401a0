import {SvcCommand} from '../../src/cli/index.js'
import {describeSettings} from '../../src/config/index.js'
import {counted} from '../../src/errors/index.js'

export default class ConfigCheck extends SvcCommand<typeof ConfigCheck> {
  static override summary = 'Check Svc.toml and the environment.'
  static override description =
    `Exits with status 2 if Svc.toml or ~/.svc/config.toml cannot be parsed or contains a value of the wrong type. Unknown
keys and invalid environment variables are reported as warnings.`
  static override examples = ['<%= config.bin %> <%= command.id %>', '<%= config.bin %> <%= command.id %> -C ./project']

  async run(): Promise<void> {
    this.report(describeSettings(this.settingSources()).warnings)
    const {root, configPath: file = null} = this.workspace
    await this.output.result(
      {ok: true, root, file, warnings: this.warnings},
      ({warnings}) => `${file ?? 'No Svc.toml'}: ${warnings.length === 0 ? 'ok' : counted(warnings.length, 'warning')}`,
    )
  }
}
