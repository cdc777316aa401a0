import {Flags} from '@oclif/core'
import {
  asLabel,
  changeLine,
  controlUrlFlag,
  formatNodes,
  MeshCommand,
  settingFlags,
  tableFlags,
} from '../../src/cli/index.js'
import {meshSettings, orchestratorSettings} from '../../src/config/index.js'
import type {MeshHttpError} from '../../src/mesh/index.js'

const defaultIntervalSecs = 2

export default class MeshNodes extends MeshCommand<typeof MeshNodes> {
  static override summary = 'List the nodes of a mesh.'
  static override description =
    `A node accepts work while its state is ok or suspect. Its state becomes stale after orchestrator.stale_threshold_ms without a
heartbeat; from the first missed heartbeat until then, it is suspect. Administrators can set the states maintenance and quarantine. Nodes without a heartbeat for
--max-stale-ms are not listed. TASKS is the number of tasks of other machines that the node runs, or -
if it accepts none.

--watch lists all nodes and then prints every change: nodes that join or leave, and changes of state, version or labels.
With --json, each line is a JSON object.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --label pool=train --json | jq -r ".nodes[].id"',
    '<%= config.bin %> <%= command.id %> --watch --json',
  ]
  static override flags = {
    ...tableFlags,
    ...controlUrlFlag,
    ...settingFlags(meshSettings, 'maxStaleMs'),
    label: Flags.string({
      char: 'l',
      description: 'Only nodes with this label; may be repeated.',
      multiple: true,
      helpValue: 'KEY=VALUE',
      parse: asLabel('--label'),
    }),
    brief: Flags.boolean({description: 'Print only the columns of the table with --json, too.'}),
    watch: Flags.boolean({char: 'w', description: 'List the nodes, then print every change until interrupted.'}),
    interval: Flags.integer({
      description: 'Polling interval of --watch. (default: 2)',
      min: 1,
      max: 3600,
      helpValue: 'SECONDS',
      dependsOn: ['watch'],
    }),
  }

  async run(): Promise<void> {
    const {label: labels, brief, watch} = this.flags
    const {maxStaleMs} = this.settings(meshSettings)
    const query = {labels, maxStaleMs, ...(brief || (watch && !this.output.json) ? {fields: 'brief' as const} : {})}
    if (watch) return this.#watch(query)
    const {listEveryNode, nodeState, timesOf} = await import('../../src/mesh/index.js')
    const registry = await listEveryNode(await this.client(), query, this.signal)
    const {staleThresholdMs} = this.settings(orchestratorSettings)
    const times = timesOf(registry, staleThresholdMs)
    await this.output.result(registry, ({nodes}) =>
      formatNodes(nodes, {atMs: times.atMs, stateOf: (node) => nodeState(node, times)}, this.view),
    )
  }

  async #watch(query: {labels: string[] | undefined; maxStaleMs: number; fields?: 'brief'}): Promise<void> {
    const {staleThresholdMs} = this.settings(orchestratorSettings)
    const {watchNodes} = await import('../../src/mesh/index.js')
    const client = await this.client()
    const onFault = (error: MeshHttpError | undefined) =>
      this.output.notice(error === undefined ? 'The control plane is responding again.' : `warning: ${error.message}`)
    const watching = {
      ...query,
      staleMs: staleThresholdMs,
      intervalMs: (this.flags.interval ?? defaultIntervalSecs) * 1000,
      onFault,
    }
    for await (const change of watchNodes(client, watching, this.signal))
      await this.output.line(change, changeLine(change, new Date()))
  }
}
