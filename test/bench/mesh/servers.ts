import {once} from 'node:events'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {execa, type ResultPromise} from 'execa'
import {openSqliteMeshStore} from '../../../src/mesh/index.js'
import {environment, svcBinary} from '../../support/svc.js'
import type {Target} from './load.js'
import {processorMs} from './processor.js'

export interface Server extends Target {
  /** Processor time of the server so far, ms. */
  processorMs(): number
  stop(): Promise<void>
}

/** Default limits of a control plane. */
export const limits = {leaseMs: 120_000, maxMessages: 500_000, maxMessagesPerReceiver: 10_000}

export const token = 'bench-token-bench-token-bench-token'

/** The record with which a node joins, about as large as a real one. */
export const nodeFacts = (i: number) => ({
  id: nodeId(i),
  version: '0.4.1',
  capabilities: {
    gpu_cuda: true,
    cpu_cores: 16,
    arch: 'x86_64',
    hostname: `rig-${i}.example`,
    labels: ['pool=train', `rack=${i % 40}`],
    min_vram_mb: 24_576,
  },
  gpu_total_count: 2,
  gpu_healthy_count: 2,
  gpu_allocatable_count: 1,
  gpu_truth_layer: 'layer_a_verified' as const,
})

export const nodeId = (i: number) => `node-${String(i).padStart(6, '0')}`

/** A control plane in a separate process, with a number of existing nodes. */
export async function startControlPlane(nodes: number): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const path = join(folder, 'mesh.db')
  await fill(path, nodes)
  const server = await start([svcBinary, 'mesh', 'serve', '--port', '0', '--json', '--quiet', '--db', path], {
    SVC_MESH_TOKEN: token,
    HOME: folder,
  })
  return {
    ...server,
    token,
    async stop() {
      await server.stop()
      await rm(folder, {recursive: true})
    },
  }
}

/** Adds many nodes directly to the store. */
export async function fill(path: string, nodes: number): Promise<void> {
  const store = await openSqliteMeshStore(path, limits)
  for (let i = 0; i < nodes; i += 500)
    await Promise.all(Array.from({length: Math.min(500, nodes - i)}, (_, k) => store.join('', nodeFacts(i + k))))
  await store.close()
}

/** A bare fastify server that responds to every heartbeat with a number of bytes. */
export const startBareServer = (bytes: number): Promise<Server> =>
  start([fileURLToPath(new URL('./bare-server.js', import.meta.url)), String(bytes)], {})

/** Runs a program until it is stopped, and waits for the line of JSON with its address. */
export async function start(args: readonly string[], env: Record<string, string>): Promise<Server> {
  const child: ResultPromise<{extendEnv: false; env: Record<string, string>}> = execa(process.execPath, args, {
    extendEnv: false,
    env: environment(env),
  })
  const lines = createInterface({input: child.stdout})
  const [line] = (await Promise.race([once(lines, 'line'), child])) as unknown as [string]
  return {
    processorMs: () => processorMs(child.pid as number),
    baseUrl: JSON.parse(line).base_url,
    async stop() {
      child.kill('SIGTERM')
      await child
    },
  }
}
