import {controlUrlFlag, formatMeshStats, MeshCommand} from '../../src/cli/index.js'
import type {MeshStatsV1} from '../../src/contracts/index.js'

export default class MeshStats extends MeshCommand<typeof MeshStats> {
  static override summary = 'Count nodes, leases and messages.'
  static override description =
    `Counts the nodes and active leases of a mesh, the messages that no node has claimed, by kind and priority, and dead
letters. A growing age of the oldest pending message means that no node accepts it. Requires a token of the role
worker, admin or mesh.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq .oldest_pending_age_ms',
  ]
  static override flags = {...controlUrlFlag}

  async run(): Promise<void> {
    const {meshStats} = await import('../../src/mesh/index.js')
    const stats: MeshStatsV1 = await meshStats(await this.client(), {signal: this.signal})
    await this.output.result(stats, formatMeshStats)
  }
}
