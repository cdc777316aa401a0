import {Flags} from '@oclif/core'
import {asLabel, controlUrlFlag, MeshCommand, nodeFlag, readSecret} from '../../src/cli/index.js'
import {meshNodeSettings, meshSecretSettings, meshSettings, readMeshEnv, settingTables} from '../../src/config/index.js'
import type {MeshJoinV1} from '../../src/contracts/index.js'
import type {MembershipEvent, MeshClient, MeshHttpError, SelfRecord} from '../../src/mesh/index.js'

/** How long the control plane may take to let a node go that is stopped, ms. */
const leaveMs = 3000

export default class MeshJoin extends MeshCommand<typeof MeshJoin> {
  static override summary = 'Join a mesh as a node, and stay in it until stopped.'
  static override description =
    `This machine tells what it is (processors, architecture, name), what SVC_MESH_ADVERTISE_GPU and its kin advertise, and its
labels, and then sends signs of life at the pace that the control plane sets. Its id is --node, SVC_MESH_NODE_ID, or one that
it keeps in ~/.svc/mesh/node-id.

With --bootstrap it first exchanges a token that works once for tokens to keep, and writes them with the address of the
control plane into .svc/mesh/mesh.env, which this user alone can read; from then on svc mesh join is enough. The token is
that of SVC_MESH_BOOTSTRAP_TOKEN, else it is read from standard input. Ends with 4 where the file has secrets of another mesh,
unless --force is given.

While the control plane does not answer it tries again, in longer and longer intervals; where it is not let in it ends with
4. On SIGTERM or Ctrl-C it ends with 0 and stays listed, with its leases until they expire, so that it can come back; with
--leave it gives them back and leaves, or ends with the error of that.`
  static override examples = [
    'SVC_MESH_BOOTSTRAP_TOKEN=... <%= config.bin %> <%= command.id %> --bootstrap --control-url http://10.0.0.1:9847',
    '<%= config.bin %> <%= command.id %> --labels pool=train,disk=nvme --leave',
    '<%= config.bin %> <%= command.id %> --once --json',
  ]
  static override flags = {
    ...controlUrlFlag,
    ...nodeFlag,
    bootstrap: Flags.boolean({description: 'Exchange a token for new nodes first.'}),
    force: Flags.boolean({
      description: 'With --bootstrap: put the new tokens in the place of those of another mesh.',
      dependsOn: ['bootstrap'],
    }),
    labels: Flags.string({
      description: 'Labels of this node, before those of SVC_MESH_LABELS and Svc.toml.',
      multiple: true,
      delimiter: ',',
      helpValue: 'KEY=VALUE',
      parse: asLabel('--labels'),
    }),
    once: Flags.boolean({description: 'Join, and send no signs of life.', exclusive: ['leave']}),
    leave: Flags.boolean({description: 'Leave the mesh when it is stopped.'}),
  }

  #leaveFault: Error | undefined

  async run(): Promise<void> {
    const {nodeId, selfRecord} = await import('../../src/mesh/index.js')
    if (this.flags.bootstrap) await this.#pair(await nodeId(this.settingSources(meshNodeSettings)))
    const record = await selfRecord(this.settingSources(meshNodeSettings), this.config.version, this.flags.labels)
    const client = await this.client(record.id)
    if (this.flags.once) await this.#joinOnce(client, record)
    else await this.#stay(client, record)
  }

  /** What the settings give from now on is what the mesh has given. */
  async #pair(node: string): Promise<void> {
    const {pair} = await import('../../src/mesh/index.js')
    const client = await this.client()
    const {bootstrapToken} = this.settings(meshSecretSettings)
    const token = bootstrapToken ?? (await readSecret('Token for new nodes: ', this.signal))
    const {root: folder} = this.workspace
    const {path, role, scope} = await pair(client, {token, node, folder, force: this.flags.force, signal: this.signal})
    this.envFile = readMeshEnv(folder, process.env, settingTables, this.configFile)
    await this.#report({event: 'paired', node_id: node, env_file: path, role, scope_id: scope})
  }

  async #joinOnce(client: MeshClient, record: SelfRecord): Promise<void> {
    const onEvent = await this.#announce(record)
    const stored = await client.join(record, {signal: this.signal})
    onEvent({type: 'joined', record: stored})
    await this.#report(joined(client, record))
  }

  async #stay(client: MeshClient, record: SelfRecord): Promise<void> {
    const {loadProbe, startMembership} = await import('../../src/mesh/index.js')
    const announce = await this.#announce(record)
    const refused = new AbortController()
    const load = loadProbe()
    let isMember = false
    let reported: Promise<void> = Promise.resolve()
    const onEvent = (event: MembershipEvent) => {
      announce(event)
      if (event.type === 'replaced') refused.abort(event.error)
      // Who was never let in will not be; who was may have to wait for new tokens, which the client looks for itself.
      if (event.type === 'failed' && !isMember && !event.error.isTransient) refused.abort(event.error)
      isMember ||= event.type === 'joined'
      const line = refused.signal.aborted ? undefined : lineOf(event, client, record)
      if (line !== undefined) reported = reported.then(() => this.#report(line))
    }
    const membership = startMembership(client, {
      record: () => ({...record, ...load()}),
      heartbeatSecs: this.settings(meshNodeSettings).heartbeatSecs,
      onEvent,
      signal: AbortSignal.any([this.signal, refused.signal]),
    })
    await membership.done
    await reported
    if (refused.signal.aborted) throw refused.signal.reason
    if (this.flags.leave && isMember) await this.#leave(client, record)
  }

  /** That it was stopped does not hide that it is listed still. @throws MeshHttpError */
  async #leave(client: MeshClient, {id}: SelfRecord): Promise<void> {
    const isLeft = await client.leave(id, {retry: false, timeoutMs: leaveMs}).catch((error: Error) => {
      this.#leaveFault = error
      throw error
    })
    await this.#report({event: 'left', node_id: id, left: isLeft})
  }

  protected override async catch(error: Error): Promise<never> {
    if (error === this.#leaveFault) throw error
    return super.catch(error)
  }

  /** Writes to the registry of this machine, and the store where that is asked for. */
  async #announce(record: SelfRecord): Promise<(event: MembershipEvent) => void> {
    const {announceHere} = await import('../../src/mesh/index.js')
    const sources = this.settingSources(meshSettings)
    return announceHere(
      {sources, place: () => this.eventPlace(sources), notice: (text) => this.output.notice(text)},
      record,
    )
  }

  async #report(line: MeshJoinV1): Promise<void> {
    const text = resultText(line)
    if (this.output.json || text !== undefined) await this.output.line(line, text)
    else this.output.notice(noticeText(line))
  }
}

const joined = ({baseUrl}: MeshClient, {id, scope_id: scope}: SelfRecord): MeshJoinV1 => ({
  event: 'joined',
  node_id: id,
  control_url: baseUrl,
  scope_id: scope ?? null,
  pid: process.pid,
})

function lineOf(event: MembershipEvent, client: MeshClient, record: SelfRecord): MeshJoinV1 | undefined {
  if (event.type === 'joined') return joined(client, record)
  if (event.type === 'rejoining') return {event: 'rejoining', node_id: record.id}
  if (event.type !== 'failed') return undefined
  const {operation, error, failures, nextMs} = event
  return {
    event: 'failed',
    node_id: record.id,
    operation,
    error: error.message,
    code: codeOf(error),
    failures,
    next_ms: Math.round(nextMs),
  }
}

const codeOf = ({code, cause}: MeshHttpError): string => code ?? cause.code

/** What a script may wait for; undefined for what only a person wants to know. */
function resultText(line: MeshJoinV1): string | undefined {
  if (line.event === 'joined') return `${line.node_id} has joined ${line.control_url}`
  if (line.event === 'left') return line.left ? `${line.node_id} has left` : `${line.node_id} was not there any more`
  return undefined
}

function noticeText(line: MeshJoinV1): string {
  if (line.event === 'paired')
    return `This machine is let in with the role ${line.role}; its tokens are in ${line.env_file}.`
  if (line.event === 'failed') return `warning: ${line.error} Next try in ${Math.ceil(line.next_ms / 1000)} s.`
  return 'The control plane knows this node no more; it joins again.'
}
