import type {TestContext} from 'node:test'
import {claimerOf, type DelegatorOptions, startDelegator} from '../../../src/delegation/index.js'
import {delegationOfTask} from '../../../src/delegation/rows.js'
import {
  createMeshClient,
  type MeshClient,
  type RemoteEnvelope,
  type RemoteResult,
  readEnvelope,
  remoteTypes,
  resultKey,
  type StoredMessage,
  taskScopeKey,
} from '../../../src/mesh/index.js'
import {readEvents, requireTask} from '../../../src/tasks/index.js'
import {type LoggingProxy, loggingProxy} from '../../mesh/client/support/logging-proxy.js'
import {type Plane, startPlane} from '../../mesh/control-plane/support/control-plane.js'
import {type RunningDaemon, ScriptedProcessor, startDaemon} from '../../orchestrator/support/daemon.js'
import {
  openTestOrchestrator,
  type TestOptions,
  type TestOrchestrator,
} from '../../orchestrator/support/open-test-orchestrator.js'
import {until} from '../../support/until.js'

/** Settings of a parent whose tasks of the role builder run on other nodes. */
export const delegating = (url: string, more = '') => `[orchestrator]
mesh_control_url = "${url}"
mesh_remote_execute_experimental = true
mesh_remote_lease_gating_enabled = true
mesh_remote_lease_gated_roles = ["builder"]
mesh_remote_execute_receiver_agent = 2
${more}`

/** A task that may be delegated. */
export const builder = {description: 'build it', enqueue_hints: {execution_role: 'builder'}} as const

/** A workspace, a control plane, and a worker that a test scripts. */
export class RemoteWorld {
  readonly plane: Plane
  readonly url: string
  /** Between the parent and the control plane. */
  readonly proxy: LoggingProxy
  readonly orchestrator: TestOrchestrator
  readonly worker: MeshClient
  /** Runs the tasks that are not delegated. */
  readonly local = new ScriptedProcessor()
  readonly #test: TestContext
  #daemon: RunningDaemon | undefined
  #aheadMs = 0

  constructor(
    test: TestContext,
    plane: Plane,
    {url, proxy}: {url: string; proxy: LoggingProxy},
    orchestrator: TestOrchestrator,
  ) {
    this.#test = test
    this.plane = plane
    this.url = url
    this.proxy = proxy
    this.orchestrator = orchestrator
    this.worker = createMeshClient({baseUrl: plane.baseUrl, tokens: {}})
    test.after(() => this.worker.close())
  }

  static async open(
    test: TestContext,
    more = '',
    options: TestOptions & {url?: string; leaseMs?: number; maxBodyBytes?: number} = {},
  ): Promise<RemoteWorld> {
    const {leaseMs = 120_000, maxBodyBytes = 524_288} = options
    const plane = await startPlane(test, {limits: {leaseMs}, maxBodyBytes})
    const proxy = await loggingProxy(test, plane.baseUrl)
    const url = options.url ?? proxy.url
    const orchestrator = await openTestOrchestrator(test, {clock: 'real', ...options, toml: delegating(url, more)})
    const world = new RemoteWorld(test, plane, {url, proxy}, orchestrator)
    await world.worker.join({id: 'worker-1', version: '1', capabilities: {}})
    return world
  }

  /** Starts the daemon with its delegator. */
  async start(more: Partial<DelegatorOptions> = {}): Promise<void> {
    const client = createMeshClient({baseUrl: this.url, tokens: {}, timeoutMs: 60_000})
    const monotonic = () => performance.now() + this.#aheadMs
    this.#daemon = await startDaemon(this.#test, this.orchestrator, this.local, {
      delegator: (lease) =>
        startDelegator(this.orchestrator, {client, env: {}, lease, version: '1', monotonic, ...more}),
    })
  }

  /** Moves the clock of the delegator forward; less than half of the duration of its leases, which it would lose. */
  advance(ms: number): void {
    this.#aheadMs += ms
  }

  async stop(): Promise<void> {
    await this.#daemon?.stop()
  }

  get claimer(): string {
    return claimerOf(this.orchestrator)
  }

  /** Claims the next envelope as a worker. */
  async claim(worker = 'worker-1'): Promise<{message: StoredMessage; envelope: RemoteEnvelope}> {
    const [message] = await this.worker.inbox({
      receiver: '2',
      claimer: worker,
      waitMs: 30_000,
      messageTypes: [remoteTypes.envelope],
    })
    if (message === undefined) throw new Error('no envelope arrived')
    return {message, envelope: readEnvelope(JSON.parse(message.payload))}
  }

  /** Sends a message of a worker to the parent. */
  async send(type: string, envelope: RemoteEnvelope, body: object, key?: string): Promise<void> {
    const {idempotency_key, task_id, exec_lease_id, reply_to_agent_id = ''} = envelope
    await this.worker.deliver({
      senderAgentId: '2',
      receiverAgentId: reply_to_agent_id,
      messageType: type,
      payload: JSON.stringify({idempotency_key, task_id, exec_lease_id, worker_node_id: 'worker-1', ...body}),
      ...(key === undefined ? {} : {idempotencyKey: key}),
    })
  }

  /** Sends a result and acknowledges the envelope. */
  async finish(
    {message, envelope}: {message: StoredMessage; envelope: RemoteEnvelope},
    result: Partial<RemoteResult> = {},
  ): Promise<void> {
    const key = resultKey(envelope.task_id, envelope.idempotency_key)
    await this.send(remoteTypes.result, envelope, {success: true, result: 'built', ...result}, key)
    await this.worker.ack({receiver: '2', message: message.id, claimer: 'worker-1'})
  }

  task = (id = 1) => requireTask(this.orchestrator, id)

  delegation = (id = 1) => delegationOfTask(this.orchestrator, id)

  async untilStatus(status: string, id = 1): Promise<void> {
    await until(
      () => this.task(id).status === status,
      () => `${status}, but ${this.task(id).status}`,
    )
  }

  async untilDelegation(state: string, id = 1): Promise<void> {
    await until(
      () => this.delegation(id)?.state === state,
      () => `${state}, but ${this.delegation(id)?.state}`,
    )
  }

  /** Reasons and leases of the placement events of a task. */
  placements = (id = 1) =>
    readEvents(this.orchestrator, {}).flatMap(({kind}) =>
      kind.type === 'task_placed' && kind.task_id === id ? [[kind.placement_reason, kind.lease_id]] : [],
    )

  /** Leases of delegated tasks. */
  leases = async () => (await this.worker.listLeases()).filter(({scope_key: key}) => key.startsWith(taskScopeKey('')))

  /** Messages of a type in the inbox of the workers. */
  inboxOf = async (type: string) =>
    (await this.worker.inbox({receiver: '2', messageTypes: [type]})).map(({payload}) => JSON.parse(payload))

  /** Envelopes in the inbox of the workers. */
  envelopes = async (): Promise<RemoteEnvelope[]> => (await this.inboxOf(remoteTypes.envelope)).map(readEnvelope)

  /** Cancellations in the inbox of the workers, once there is one: a task may complete here before it is delivered. */
  async cancellations(): Promise<{idempotency_key: string; reason: string}[]> {
    await until(async () => (await this.inboxOf(remoteTypes.cancel)).length > 0, 'a cancellation')
    return this.inboxOf(remoteTypes.cancel)
  }

  /** Unread messages for the parent. */
  unread = (replyTo: string) => this.worker.inbox({receiver: replyTo})
}
