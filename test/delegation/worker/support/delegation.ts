import {createHash, randomUUID} from 'node:crypto'
import {existsSync} from 'node:fs'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {runWorker, type WorkerEvent, type WorkerOptions} from '../../../../src/delegation/index.js'
import {resolveEndpoint} from '../../../../src/inference-client/index.js'
import {
  cancelKey,
  cancelPriority,
  createMeshClient,
  type ExecLease,
  holdLease,
  type MeshClient,
  type RemoteResult,
  type RemoteWork,
  readResult,
  remoteTypes,
  type StoredMessage,
  taskScopeKey,
} from '../../../../src/mesh/index.js'
import {resolveOrchestratorConfig} from '../../../../src/workspace/index.js'
import {type PlaneOptions, startPlane} from '../../../mesh/control-plane/support/control-plane.js'
import {temporaryFolder} from '../../../support/temporary.js'
import {until} from '../../../support/until.js'

export const receiver = '2'
const parentAgent = '4711'

/** Templates of the worker: `run` runs the Node.js script of the task. */
export const exec = {
  enabled: true,
  timeoutMs: 60_000,
  maxOutputBytes: 1 << 18,
  user: undefined,
  secrets: ['DEPLOY_KEY'],
  templates: {run: scriptArgv()},
}

function scriptArgv(): readonly string[] {
  return [process.execPath, '--input-type=module', '-e', '{script}']
}

export const sha256 = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** Script that creates a file and then runs until it is stopped. */
export const endless = (marker: string): string =>
  `import fs from 'node:fs'; fs.writeFileSync(${JSON.stringify(`${marker}.tmp`)}, String(process.pid));
fs.renameSync(${JSON.stringify(`${marker}.tmp`)}, ${JSON.stringify(marker)}); setInterval(() => {}, 1000)`

export interface Sent {
  key: string
  taskId: number
  uid: string
  lease: ExecLease
  message: number
  release(): Promise<void>
}

/** Sender and encrypted secrets of a message. */
interface Extras {
  sender?: string | undefined
  jwe?: string | undefined
}

let taskIds = 0

/** A control plane with a parent, which keeps the leases of its tasks. */
export async function startDelegation(test: Pick<TestContext, 'after'>, options: PlaneOptions = {}) {
  const plane = await startPlane(test, options)
  const connect = (baseUrl = plane.baseUrl) => {
    const client = createMeshClient({baseUrl, tokens: {}})
    test.after(() => client.close())
    return client
  }
  const client = connect()
  for (const id of ['parent', 'worker-1']) await client.join({id, version: '1', capabilities: {cpu_cores: 2}})

  const send = async (work: Partial<RemoteWork>, envelope: object = {}, {sender, jwe}: Extras = {}): Promise<Sent> => {
    const [taskId, uid] = [++taskIds, randomUUID()]
    const key = `orch-remote-${taskId}-1767225600000`
    const held = await holdLease(client, {claimer: 'parent', scopeKey: taskScopeKey(uid)})
    test.after(() => held.release())
    const payload = {
      idempotency_key: key,
      task_id: taskId,
      task_uid: uid,
      repository_id: 'repo',
      exec_lease_id: held.lease.lease_id,
      fence_token: held.lease.fence_token,
      reply_to_agent_id: parentAgent,
      payload: JSON.stringify({task_description: 'Run the script.', ...work}),
      ...envelope,
    }
    const message = await deliver(remoteTypes.envelope, JSON.stringify(payload), key, {sender, jwe})
    return {key, taskId, uid, lease: held.lease, message, release: () => held.release()}
  }

  const deliver = async (
    messageType: string,
    payload: string,
    idempotencyKey: string,
    {
      priority,
      sender = parentAgent,
      jwe,
    }: {priority?: number; sender?: string | undefined; jwe?: string | undefined} = {},
  ) => {
    const message = {senderAgentId: sender, receiverAgentId: receiver, messageType, payload, idempotencyKey}
    return (await client.deliver({...message, priority, jwePayload: jwe, privacyClass: 'private'})).message_id
  }

  return {
    plane,
    client,
    connect,
    deliver,
    send,
    /** Sends a task that runs a Node.js script. */
    sendScript: (script: string, work: Partial<RemoteWork> = {}, envelope: object = {}, extras: Extras = {}) =>
      send({processor: 'exec', template: 'run', params: {script}, ...work}, envelope, extras),
    cancel: ({taskId, key}: Sent) =>
      deliver(
        remoteTypes.cancel,
        JSON.stringify({idempotency_key: key, task_id: taskId, reason: 'orchestrator_cancel'}),
        cancelKey(taskId, key),
        {priority: cancelPriority},
      ),
    /** Takes the next message of a type from the inbox of the parent. */
    async next(type: string): Promise<StoredMessage> {
      for (;;) {
        const request = {receiver: parentAgent, claimer: 'parent', messageTypes: [type], waitMs: 10_000}
        const [message] = await client.inbox(request)
        if (message === undefined) continue
        await client.ack({receiver: parentAgent, message: message.id, claimer: 'parent'})
        return message
      }
    },
    async result(): Promise<RemoteResult> {
      return readResult(JSON.parse((await this.next(remoteTypes.result)).payload))
    },
    /** Messages of the parent that it has not taken. */
    replies: (type: string) => client.inbox({receiver: parentAgent, messageTypes: [type]}),
    /** Messages that are not acknowledged. */
    open: () => client.inbox({receiver}),
  }
}

export type Delegating = Awaited<ReturnType<typeof startDelegation>>

interface WorkerSetup {
  env?: Record<string, string>
  config?: object
  secretboxKey?: string
}

/** Options of a worker with default settings. */
export function workerOptions(
  mesh: MeshClient,
  folder: string,
  {env = {}, config = {}, secretboxKey}: WorkerSetup = {},
) {
  const resolved = {...resolveOrchestratorConfig({env: {}}).config, exec, ...config}
  const {endpoint} = resolveEndpoint({env})
  return {
    mesh,
    node: 'worker-1',
    receiver,
    pollIntervalSecs: 1,
    folder,
    settings: () => ({config: resolved, endpoint, env: process.env, secretboxKey, capabilities: {cpu_cores: 2}}),
    drainMs: 0,
  }
}

/** Starts a worker in this process. It is stopped without a drain when the test ends. */
export async function startWorker(
  test: Pick<TestContext, 'after'>,
  {connect}: Delegating,
  {options = {}, baseUrl, ...setup}: {options?: Partial<WorkerOptions>; baseUrl?: string} & WorkerSetup = {},
) {
  const home = await temporaryFolder(test)
  const mesh = connect(baseUrl)
  const stopped = new AbortController()
  const events: WorkerEvent[] = []
  const done = runWorker({
    ...workerOptions(mesh, join(home, 'work'), setup),
    signal: stopped.signal,
    onEvent: (event) => events.push(event),
    ...options,
  })
  const stop = () => {
    stopped.abort()
    return done
  }
  test.after(stop)
  const ends = () => events.flatMap((event) => (event.type === 'ended' ? [event.end] : []))
  return {
    events,
    ends,
    folder: join(home, 'work'),
    marker: join(home, 'marker'),
    stop,
    done,
    /** Waits for the number of tasks that have ended. */
    ended: (count: number) =>
      until(
        () => ends().length >= count,
        () => JSON.stringify(events),
      ),
    isRunning: () =>
      until(
        () => existsSync(join(home, 'marker')),
        () => JSON.stringify(events),
      ),
  }
}
