import {once} from 'node:events'
import {mkdtemp, rm} from 'node:fs/promises'
import {createConnection} from 'node:net'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {median, round} from '../../src/bench/measure.js'
import {withOrchestrator} from '../../src/bench/temporary.js'
import {submitTask} from '../../src/tasks/index.js'
import {startSvc} from '../support/svc.js'

const rounds = 5
const perRound = 2000

/** A task that no daemon runs, so that only its acceptance is measured. */
const submission = (i: number) => ({
  description: `Put the module ${i} right and run its tests.`,
  file_manifest: [{path: `src/module-${i % 200}.ts`, access: 'write'}],
  processor: 'external' as const,
  session_id: 'bench',
})

interface Peer {
  addr: string
  stop(): Promise<void>
}

/** A daemon in a temporary workspace, which runs its loop during the measurement. */
async function startDaemon(): Promise<Peer> {
  const cwd = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const child = startSvc(['daemon', 'run', '--listen', '127.0.0.1:0', '--json', '--quiet'], {cwd})
  const lines = createInterface({input: child.stdout as NodeJS.ReadableStream})
  const [ready] = (await once(lines, 'line')) as [string]
  return {
    addr: JSON.parse(ready).addr,
    async stop() {
      child.kill('SIGTERM')
      await child
      await rm(cwd, {recursive: true})
    },
  }
}

/** Sends all requests at once and waits for the last response. Returns the responses per second. */
async function pipeline(addr: string): Promise<number> {
  const [host = '', port] = addr.split(':')
  const socket = createConnection({host, port: Number(port), noDelay: true})
  await once(socket, 'connect')
  const started = performance.now()
  for (let i = 0; i < perRound; i++)
    socket.write(`${JSON.stringify({jsonrpc: '2.0', id: i, method: 'orch.submit_task', params: submission(i)})}\n`)
  let answered = 0
  for await (const line of createInterface({input: socket})) {
    const {id, result} = JSON.parse(line) as {id: number; result?: {task_id: number}}
    if (id !== answered || result === undefined)
      throw new Error(`The answer ${line} is not that of request ${answered}.`)
    if (++answered === perRound) break
  }
  const seconds = (performance.now() - started) / 1000
  socket.destroy()
  return perRound / seconds
}

/**
 * Tasks per second that a daemon accepts over one TCP connection while its loop runs. They are compared with direct
 * calls of the same function in one process, which are an upper bound. The rounds alternate.
 */
export const daemonSubmit = () =>
  withOrchestrator({}, async (orchestrator) => {
    const daemon = await startDaemon()
    const rates = {direct: [] as number[], daemon: [] as number[]}
    try {
      for (let n = -1; n < rounds; n++) {
        const started = performance.now()
        for (let i = 0; i < perRound; i++) submitTask(orchestrator, submission(i))
        const direct = (perRound / (performance.now() - started)) * 1000
        const served = await pipeline(daemon.addr)
        if (n < 0) continue
        rates.direct.push(direct)
        rates.daemon.push(served)
      }
    } finally {
      await daemon.stop()
    }
    return {
      tasks: (rounds + 1) * perRound,
      daemon_per_s: Math.round(median(rates.daemon)),
      direct_per_s: Math.round(median(rates.direct)),
      daemon_to_direct: round(median(rates.daemon.map((one, i) => one / (rates.direct[i] as number))), 3),
    }
  })
