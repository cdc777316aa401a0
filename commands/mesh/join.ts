import {Flags} from '@oclif/core'
import {asLabel, controlUrlFlag, MeshCommand, nodeFlag, readSecret} from '../../src/cli/index.js'
import {
  meshNodeSettings,
  meshSecretSettings,
  meshSettings,
  orchestratorDelegationSettings,
  readMeshEnv,
  settingTables,
} from '../../src/config/index.js'
import type {MeshJoinV1} from '../../src/contracts/index.js'
import type {WorkerEvent} from '../../src/delegation/index.js'
import {SvcError} from '../../src/errors/index.js'
import type {MembershipEvent, MeshClient, MeshHttpError, SelfRecord} from '../../src/mesh/index.js'

/** Timeout for leaving the mesh on shutdown, ms. */
const leaveMs = 3000

export default class MeshJoin extends MeshCommand<typeof MeshJoin> {
  static override summary = 'Join a mesh as a node until stopped.'
  static override description =
    `Registers this machine with its CPUs, architecture, host name, labels, the GPUs that nvidia-smi reports and the devices
enabled by the SVC_MESH_ADVERTISE_* variables. Then sends heartbeats at the interval set by the control plane.

--bootstrap first exchanges a one-time token for permanent tokens. It reads the one-time token from
SVC_MESH_BOOTSTRAP_TOKEN or standard input. It writes the permanent tokens and the address of the control plane to
.svc/mesh/mesh.env, readable only by this user, so that svc mesh join then needs no flags. Exits with status 4 if the
file contains secrets of another mesh, unless --force is given.

--work also runs the tasks that other machines send to this one, with the inference server and the command templates of
the workspace. One process per machine does so; another one waits until it ends.

If the control plane does not respond, the command retries with increasing delays. If the control plane refuses the
node, the command exits with status 4. On SIGTERM or Ctrl-C, the command exits with status 0. The node stays listed and
keeps its leases until they expire, so that it can rejoin; --leave removes the node instead.`
  static override examples = [
    'SVC_MESH_BOOTSTRAP_TOKEN=... <%= config.bin %> <%= command.id %> --bootstrap --control-url http://10.0.0.1:9847',
    '<%= config.bin %> <%= command.id %> --labels pool=train,disk=nvme --leave',
    '<%= config.bin %> <%= command.id %> --work',
    '<%= config.bin %> <%= command.id %> --once --json',
  ]
  static override flags = {
    ...controlUrlFlag,
    ...nodeFlag,
    bootstrap: Flags.boolean({description: 'First exchange a bootstrap token for permanent tokens.'}),
    force: Flags.boolean({
      description: 'Replace the tokens of another mesh; requires --bootstrap.',
      dependsOn: ['bootstrap'],
    }),
    labels: Flags.string({
      description: 'Comma-separated labels of this node, in addition to those in SVC_MESH_LABELS and Svc.toml.',
      multiple: true,
      delimiter: ',',
      helpValue: 'KEY=VALUE',
      parse: asLabel('--labels'),
    }),
    once: Flags.boolean({description: 'Join and exit without sending heartbeats.', exclusive: ['leave']}),
    leave: Flags.boolean({description: 'On shutdown, release the leases and leave the mesh.'}),
    work: Flags.boolean({description: 'Run the tasks of other machines.', exclusive: ['once']}),
    drain: Flags.integer({
      description: 'Grace period for running tasks on shutdown; requires --work.',
      default: 10,
      min: 0,
      max: 86_400,
      helpValue: 'SECONDS',
    }),
  }

  #leaveError: Error | undefined

  async run(): Promise<void> {
    const {nodeId, probeGpus, selfRecord} = await import('../../src/mesh/index.js')
    if (this.flags.work && this.settings(orchestratorDelegationSettings).meshRemoteWorkerPollIntervalSecs === 0)
      throw new SvcError('usage', {
        reason: 'mesh_remote_worker_poll_interval_secs is 0, so that this machine accepts no tasks.',
      })
    if (this.flags.bootstrap) await this.#pair(await nodeId(this.settingSources(meshNodeSettings)))
    await probeGpus(this.settingSources(meshSettings))
    const record = await selfRecord(this.settingSources(meshNodeSettings), this.config.version, this.flags.labels)
    const client = await this.client(record.id)
    if (this.flags.once) await this.#joinOnce(client, record)
    else await this.#stay(client, record)
  }

  /** Exchanges the bootstrap token. Settings resolved from now on use the new tokens. */
  async #pair(node: string): Promise<void> {
    const {pair} = await import('../../src/mesh/index.js')
    const client = await this.client()
    const {bootstrapToken} = this.settings(meshSecretSettings)
    const token = bootstrapToken ?? (await readSecret('Bootstrap token: ', this.signal))
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
    const report = (line: MeshJoinV1) => {
      reported = reported.then(() => this.#report(line))
    }
    const signal = AbortSignal.any([this.signal, refused.signal])
    let working: Promise<void> | undefined
    const onEvent = (event: MembershipEvent) => {
      announce(event)
      if (event.type === 'replaced') refused.abort(event.error)
      // A refusal before joining is final. After it, new tokens may arrive, which the client looks for itself.
      if (event.type === 'failed' && !isMember && !event.error.isTransient) refused.abort(event.error)
      isMember ||= event.type === 'joined'
      const line = refused.signal.aborted ? undefined : lineOf(event, client, record)
      if (line !== undefined) report(line)
      if (this.flags.work && isMember)
        working ??= this.#work(client, {record, signal, report}).catch((error: unknown) => refused.abort(error))
    }
    const membership = startMembership(client, {
      record: () => ({...record, ...load()}),
      heartbeatSecs: this.settings(meshNodeSettings).heartbeatSecs,
      onEvent,
      signal,
    })
    await membership.done
    await working
    await reported
    if (refused.signal.aborted) throw refused.signal.reason
    if (this.flags.leave && isMember) await this.#leave(client, record)
  }

  /** Runs the tasks of other machines until the signal aborts. @throws file_unwritable */
  async #work(
    client: MeshClient,
    {record, signal, report}: {record: SelfRecord; signal: AbortSignal; report: (line: MeshJoinV1) => void},
  ): Promise<void> {
    const [{configuredWorker, runWorker}, {resolveOrchestratorConfig}, {resolveEndpoint}, {registerSecret}] =
      await Promise.all([
        import('../../src/delegation/index.js'),
        import('../../src/workspace/index.js'),
        import('../../src/inference-client/index.js'),
        import('../../src/log/index.js'),
      ])
    const sources = this.settingSources()
    const {config, warnings} = resolveOrchestratorConfig(sources)
    const {endpoint, warnings: more} = resolveEndpoint(sources)
    this.report([...warnings, ...more])
    registerSecret(endpoint.apiKey)
    const options = configuredWorker({sources, mesh: client, record, config: () => config, endpoint})
    const onEvent = (event: WorkerEvent) => report(workLine(event, record.id, options.receiver))
    await runWorker({...options, drainMs: this.flags.drain * 1000, signal, onEvent})
  }

  /** Leaves the mesh. Its error takes precedence over the interruption, because the node is still listed. @throws MeshHttpError */
  async #leave(client: MeshClient, {id}: SelfRecord): Promise<void> {
    const isLeft = await client.leave(id, {retry: false, timeoutMs: leaveMs}).catch((error: Error) => {
      this.#leaveError = error
      throw error
    })
    await this.#report({event: 'left', node_id: id, left: isLeft})
  }

  protected override async catch(error: Error): Promise<never> {
    if (error === this.#leaveError) throw error
    return super.catch(error)
  }

  /** Announces the node in the registry of this machine and, if configured, in the store. */
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

function workLine(event: WorkerEvent, node: string, receiver: string): MeshJoinV1 {
  switch (event.type) {
    case 'waiting':
      return {event: 'waiting', node_id: node}
    case 'ready':
      return {event: 'working', node_id: node, receiver_agent_id: receiver}
    case 'failed': {
      const {cause, message} = event.error as MeshHttpError
      const code = cause === undefined ? 'internal' : codeOf(event.error as MeshHttpError)
      const {failures, nextMs} = event
      return {event: 'failed', node_id: node, operation: 'work', error: message, code, failures, next_ms: nextMs}
    }
    default: {
      const {task} = event
      return {
        event: 'task',
        node_id: node,
        task_id: task?.task_id ?? null,
        idempotency_key: task?.idempotency_key ?? null,
        state: event.type === 'started' ? 'started' : event.end,
        error: (event.type === 'ended' ? event.error : undefined) ?? null,
      }
    }
  }
}

const codeOf = ({code, cause}: MeshHttpError): string => code ?? cause.code

/** Text of an event for standard output, on which scripts can wait; undefined for a notice. */
function resultText(line: MeshJoinV1): string | undefined {
  if (line.event === 'joined') return `${line.node_id} has joined ${line.control_url}`
  if (line.event === 'working') return `${line.node_id} runs the tasks of agent ${line.receiver_agent_id}`
  if (line.event === 'left') return line.left ? `${line.node_id} has left` : `${line.node_id} was not listed any more`
  return undefined
}

function noticeText(line: MeshJoinV1): string {
  if (line.event === 'paired')
    return `This machine was accepted with the role ${line.role}. Its tokens are in ${line.env_file}.`
  if (line.event === 'failed') return `warning: ${line.error} Retrying in ${Math.ceil(line.next_ms / 1000)} s.`
  if (line.event === 'task')
    return `Task ${line.task_id ?? 'of an unreadable message'}: ${line.state}. ${line.error ?? ''}`.trim()
  if (line.event === 'waiting')
    return 'Another process of this machine runs the tasks of other machines. Waiting for it to end.'
  return 'The control plane no longer lists this node. Rejoining.'
}
