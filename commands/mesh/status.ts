import {controlUrlFlag, formatMeshStatus, MeshCommand} from '../../src/cli/index.js'
import {meshNodeSettings, meshSettings} from '../../src/config/index.js'

export default class MeshStatus extends MeshCommand<typeof MeshStatus> {
  static override summary = 'Tell how this machine stands to the mesh.'
  static override description =
    `Whether the control plane answers and lets this machine in, which tokens there are, what this machine tells of itself as a
node, which nodes it was started as, and which overlay networks it has. No token is shown. That there is no control plane is
no error.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq .security',
  ]
  static override flags = {...controlUrlFlag}

  async run(): Promise<void> {
    const {meshStatus} = await import('../../src/mesh/index.js')
    const {controlUrl} = this.settings(meshSettings)
    // The status reads these itself, and does not report a variable that cannot be read.
    this.settings(meshNodeSettings)
    const status = await meshStatus(this.settingSources(meshSettings), {
      client: controlUrl === undefined ? undefined : await this.client(),
      version: this.config.version,
      signal: this.signal,
    })
    await this.output.result(status, formatMeshStatus)
  }
}
