import {Flags} from '@oclif/core'
import {asLabel, changeLine, controlUrlFlag, formatNodes, MeshCommand} from '../../src/cli/index.js'
import {meshSettings, orchestratorSettings} from '../../src/config/index.js'
import type {MeshHttpError} from '../../src/mesh/index.js'

const defaultIntervalSecs = 2

export default class MeshNodes extends MeshCommand<typeof MeshNodes> {
  static override summary = 'List the nodes of a mesh.'
  static override description =
    `A node takes work while it is ok. It is stale after orchestrator.stale_threshold_ms without a sign of life, in maintenance
or quarantine as an administrator has said. Nodes that were not heard of for SVC_MESH_MAX_STALE_MS are left out.

With --watch every node is told of, and then every change: nodes that join or are gone, and those that change their state,
their version or their labels. With --json each is an object on a line.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --label pool=train --json | jq -r .nodes[].id',
    '<%= config.bin %> <%= command.id %> --watch --json',
  ]
  static override flags = {
    ...controlUrlFlag,
    label: Flags.string({
      char: 'l',
      description: 'Only nodes that have this label; may be given several times.',
      multiple: true,
      helpValue: 'KEY=VALUE',
      parse: asLabel('--label'),
    }),
    brief: Flags.boolean({description: 'Only what the table shows of each node, under --json too.'}),
    watch: Flags.boolean({char: 'w', description: 'Go on, and tell what changes.'}),
    interval: Flags.integer({
      description: 'How often to ask, with --watch; every two seconds where it is left out.',
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
    const {listEveryNode, nodeState, timeOf} = await import('../../src/mesh/index.js')
    const registry = await listEveryNode(await this.client(), query, this.signal)
    const {staleThresholdMs} = this.settings(orchestratorSettings)
    const atMs = timeOf(registry)
    await this.output.result(registry, ({nodes}) =>
      formatNodes(nodes, {atMs, stateOf: (node) => nodeState(node, atMs, staleThresholdMs)}),
    )
  }

  async #watch(query: {labels: string[] | undefined; maxStaleMs: number; fields?: 'brief'}): Promise<void> {
    const {staleThresholdMs} = this.settings(orchestratorSettings)
    const {watchNodes} = await import('../../src/mesh/index.js')
    const client = await this.client()
    const onFault = (fault: MeshHttpError | undefined) =>
      this.output.notice(fault === undefined ? 'The control plane answers again.' : `warning: ${fault.message}`)
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
