import {controlUrlFlag, formatMeshStatus, MeshCommand} from '../../src/cli/index.js'
import {meshNodeSettings, meshSettings} from '../../src/config/index.js'

export default class MeshStatus extends MeshCommand<typeof MeshStatus> {
  static override summary = "Show this node's mesh status."
  static override description =
    `Shows whether the control plane responds and accepts this machine, which control planes share its
database, and which tokens are set (never their values). Also shows the node record, the process that runs the tasks of other machines, the local registry of nodes, the overlay networks, and the configured endpoint of a VPN.
Exits with status 0 even without a control plane.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq .security',
  ]
  static override flags = {...controlUrlFlag}

  async run(): Promise<void> {
    const {meshStatus} = await import('../../src/mesh/index.js')
    const {controlUrl} = this.settings(meshSettings)
    // `meshStatus` resolves these settings without reporting warnings, so that is done here.
    this.settings(meshNodeSettings)
    const status = await meshStatus(this.settingSources(meshSettings), {
      client: controlUrl === undefined ? undefined : await this.client(),
      version: this.config.version,
      signal: this.signal,
    })
    await this.output.result(status, formatMeshStatus)
  }
}
