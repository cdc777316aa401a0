import {once} from 'node:events'
import {mkdir, writeFile} from 'node:fs/promises'
import {createServer, request as forward} from 'node:http'
import type {AddressInfo} from 'node:net'
import {join} from 'node:path'
import {buffer} from 'node:stream/consumers'
import {median, round} from '../../src/bench/measure.js'
import {withFolder} from '../../src/bench/temporary.js'
import {readConfigFile} from '../../src/config/index.js'
import {runWorker, startDelegator} from '../../src/delegation/index.js'
import {resolveEndpoint} from '../../src/inference-client/index.js'
import {createMeshClient, type MeshClient} from '../../src/mesh/index.js'
import {type Orchestrator, openOrchestrator} from '../../src/orchestrator/index.js'
import {runDaemon} from '../../src/scheduler/index.js'
import {watchStore} from '../../src/store/index.js'
import {submitTask} from '../../src/tasks/index.js'
import {startControlPlane} from './mesh/servers.js'

/** Tasks and messages of a round, and rounds, which alternate, so that both are measured under the same load. */
const tasks = 200
const rounds = 2
const singles = 40
const workers = 4

/** A proxy that counts requests. */
async function countingProxy(target: string) {
  let count = 0
  const server = createServer(async (request, response) => {
    count++
    const body = await buffer(request)
    const onward = forward(target + request.url, {method: request.method, headers: request.headers})
    onward.on('response', (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers)
      reply.pipe(response)
    })
    onward.on('error', () => response.destroy())
    response.on('close', () => onward.destroy())
    onward.end(body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    count: () => count,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

const empty = {description: 'work', processor: 'exec' as const, exec: {template: 'nothing'}}

const toml = (url: string) => `[orchestrator]
mesh_control_url = "${url}"
mesh_remote_execute_experimental = true
mesh_remote_execute_receiver_agent = 2
max_agents = 1
exec = {enabled = true, templates = {nothing = ["true"]}}
`

interface Parent {
  orchestrator: Orchestrator
  stop(): Promise<void>
}

async function startParent(root: string, url: string, token: string): Promise<Parent> {
  await mkdir(root, {recursive: true})
  await writeFile(join(root, 'Svc.toml'), toml(url))
  const file = await readConfigFile(join(root, 'Svc.toml'))
  const orchestrator = await openOrchestrator({root, sources: {env: {SVC_MESH_TOKEN: token}, file}})
  const stop = new AbortController()
  const client = createMeshClient({baseUrl: url, tokens: {mesh: token}})
  const fails = {run: () => Promise.reject(new Error('the task ran locally'))}
  const done = runDaemon(orchestrator, {
    processors: {ai: fails, exec: fails},
    signal: stop.signal,
    delegator: (lease) => startDelegator(orchestrator, {client, env: {}, lease, version: 'bench', concurrency: 32}),
  })
  return {
    orchestrator,
    async stop() {
      stop.abort()
      await done
      orchestrator.close()
    },
  }
}

async function startWorkers(folder: string, url: string, token: string, count: number) {
  const stop = new AbortController()
  const running: Promise<void>[] = []
  const clients: MeshClient[] = []
  for (let i = 0; i < count; i++) {
    const mesh = createMeshClient({baseUrl: url, tokens: {mesh: token}})
    clients.push(mesh)
    const node = `bench-worker-${i}`
    await mesh.join({id: node, version: 'bench', capabilities: {}})
    const config = {
      exec: {enabled: true, timeoutMs: 60_000, maxOutputBytes: 1 << 18, secrets: [], templates: {nothing: ['true']}},
      taskTimeoutMs: 60_000,
      executionTimeBudgetMultiplier: 1,
      modelPrices: {},
      costPreference: 'performance',
    } as never
    const {endpoint} = resolveEndpoint({env: {}})
    running.push(
      runWorker({
        mesh,
        node,
        receiver: '2',
        pollIntervalSecs: 30,
        folder: join(folder, node),
        settings: () => ({config, endpoint, env: process.env, secretboxKey: undefined, capabilities: {}}),
        drainMs: 0,
        signal: stop.signal,
      }),
    )
  }
  return async () => {
    stop.abort()
    await Promise.all(running)
    await Promise.all(clients.map((client) => client.close()))
  }
}

/** Waits until all tasks are completed. */
async function completed({store}: Orchestrator): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const look = () => {
      const rows = store.all<{status: string; n: number}>(
        'SELECT status, count(*) AS n FROM orch_tasks GROUP BY status',
      )
      const isFailed = rows.some(({status}) => status === 'Failed')
      if (!isFailed && rows.some(({status}) => status !== 'Completed')) return
      stop()
      clearInterval(timer)
      if (isFailed) reject(new Error('a task failed'))
      else resolve()
    }
    const stop = watchStore(store, look)
    const timer = setInterval(look, 20)
    look()
  })
}

/** One message from its delivery to its acknowledgement, with a claim by long poll. */
async function roundTrip(client: MeshClient, i: number): Promise<number> {
  const started = performance.now()
  await client.deliver({
    senderAgentId: '7',
    receiverAgentId: '8',
    messageType: 'free_form',
    payload: '{}',
    idempotencyKey: `k${i}`,
  })
  const [message] = await client.inbox({receiver: '8', claimer: 'bench-worker-0', waitMs: 1000})
  await client.ack({receiver: '8', message: message?.id ?? 0, claimer: 'bench-worker-0'})
  return performance.now() - started
}

/**
 * Delegated tasks that run `true`, with a control plane in its own process and four workers, compared with a message that
 * is delivered, claimed and acknowledged. Both are measured one at a time, and the tasks also together.
 */
export const delegation = () =>
  withFolder(async (folder) => {
    const plane = await startControlPlane(0)
    const {baseUrl, token = ''} = plane
    const proxy = await countingProxy(baseUrl)
    try {
      const client = createMeshClient({baseUrl, tokens: {mesh: token}})
      const stopWorkers = await startWorkers(folder, baseUrl, token, workers)
      const parent = await startParent(join(folder, 'parent'), baseUrl, token)
      const {orchestrator} = parent
      const messages: number[] = []
      const single: number[] = []
      for (let i = -5; i < singles; i++) {
        const message = await roundTrip(client, i)
        const started = performance.now()
        submitTask(orchestrator, empty)
        await completed(orchestrator)
        if (i < 0) continue
        messages.push(message)
        single.push(performance.now() - started)
      }
      let messagesMs = 0
      let tasksMs = 0
      for (let round = 0; round < rounds; round++) {
        const startedMessages = performance.now()
        await Promise.all(
          Array.from({length: workers}, async (_, w) => {
            for (let i = w; i < tasks; i += workers) await roundTrip(client, 1000 + round * tasks + i)
          }),
        )
        const startedTasks = performance.now()
        for (let i = 0; i < tasks; i++) submitTask(orchestrator, empty)
        await completed(orchestrator)
        messagesMs += startedTasks - startedMessages
        tasksMs += performance.now() - startedTasks
      }
      const perS = (ms: number) => Math.round((tasks * rounds * 1000) / ms)
      await parent.stop()
      await stopWorkers()
      await client.close()
      return {
        workers,
        message_ms: round(median(messages), 2),
        task_ms: round(median(single), 2),
        task_to_message: round(median(single) / median(messages), 2),
        messages_per_s: perS(messagesMs),
        tasks_per_s: perS(tasksMs),
        tasks_to_messages: round(messagesMs / tasksMs, 3),
        requests_per_task: await requestsPerTask(folder, proxy, token),
      }
    } finally {
      proxy.close()
      await plane.stop()
    }
  })

/** Requests of a parent and a worker for one task, without those of an idle minute. */
async function requestsPerTask(folder: string, proxy: Awaited<ReturnType<typeof countingProxy>>, token: string) {
  const stopWorkers = await startWorkers(join(folder, 'counted'), proxy.url, token, 1)
  const parent = await startParent(join(folder, 'counted-parent'), proxy.url, token)
  const {orchestrator} = parent
  submitTask(orchestrator, empty)
  await completed(orchestrator)
  const before = proxy.count()
  for (let i = 0; i < singles; i++) {
    submitTask(orchestrator, empty)
    await completed(orchestrator)
  }
  const requests = (proxy.count() - before) / singles
  await parent.stop()
  await stopWorkers()
  return round(requests, 1)
}
