import {mkdir, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {setTimeout as sleep} from 'node:timers/promises'
import {observeProgram} from '../clients/observed-call.js'
import type {Random} from '../faults/random.js'
import type {Call, RunEvent} from '../history/history.js'
import {countOpenTasks, type OrchestratorStore} from '../history/orchestrator-rows.js'
import {FaultProxy, type ProxyOptions} from '../proxy/fault-proxy.js'
import type {Keyring} from '../server/keyring.js'
import {createProgram, type Launch, type Program, type ProgramEnd} from '../server/program.js'

/** Programs that delegate tasks and run them, their numbers, and their tasks. */
export interface DelegationOptions {
  /** Starts an orchestrator in its working directory. */
  orchestrator: Launch
  /** Starts a worker in its working directory. */
  worker: Launch
  /** Default: 2. */
  orchestrators?: number
  /** Default: 2. */
  workers?: number
  /** Durations of tasks, s, and their weights. Default: short ones, and some that outlast the lease. */
  durations?: Readonly<Record<string, number>>
  /** Maximum time for the tasks to end once faults have stopped, ms. */
  settleMs?: number
}

export interface PeerContext {
  /** Folder of the run. */
  folder: string
  scope: string
  keyring: Keyring
  random: Random
  proxy: Omit<ProxyOptions, 'random' | 'observer'>
  /** Request timeout of the programs, ms. */
  timeoutMs: number
  nextId: () => number
  onCall: (call: Call) => void
  note: (event: RunEvent) => void
}

/** A program of the mesh with its own folder and connection to the control plane. */
export interface Peer {
  readonly name: string
  readonly folder: string
  readonly program: Program
  readonly proxy: FaultProxy
  /** File with its tokens. */
  readonly secretsFile: string
}

/** Orchestrators, which delegate their tasks, and workers, which run them. */
export interface Peers {
  readonly orchestrators: readonly Peer[]
  readonly workers: readonly Peer[]
  readonly all: readonly Peer[]
  readonly stores: readonly OrchestratorStore[]
  /** File in which the commands of the tasks record their runs. */
  readonly runsFile: string
  start(): Promise<void>
  /** Writes the tokens of a generation to all folders. Programs read them when theirs are refused. */
  writeTokens(generation: number): Promise<void>
  /** Waits until all tasks have ended. */
  settle(signal: AbortSignal | undefined): Promise<RunEvent>
  /** Ends all programs and their connections. */
  stop(how: 'kill' | 'terminate'): Promise<void>
}

/** Agent to which all orchestrators send their tasks. */
export const receiverAgent = '50'
/** Agent whose inbox receives the results of an orchestrator. */
export const replyAgent = (number: number): string => String(50 + number)
/** Name of the template that the tasks select. */
export const template = 'work'

/** Time without a heartbeat of the worker after which a task runs locally, ms. */
const lostMs = 6000
const settlePollMs = 200
const defaultSettleMs = 180_000
/** Delay until a program that has exited is started again, ms. */
const restartMs = 500
/** Exit statuses of programs that the control plane has refused, or that found another one running. */
const refusals: readonly (number | undefined)[] = [0, 4, 5]

/** Creates the folders and connections of the programs. They are not started yet. */
export async function createPeers(options: DelegationOptions, context: PeerContext): Promise<Peers> {
  const {orchestrators: orchestratorCount = 2, workers: workerCount = 2, settleMs = defaultSettleMs} = options
  const {folder, keyring} = context
  const runsFile = join(folder, 'runs')
  let isOver = false
  const peerOf = async (kind: 'orchestrator' | 'worker', number: number): Promise<Peer> => {
    const name = `${kind}-${number}`
    const peer = await createPeer(name, options[kind], context, (end) => void onEnd(peer, end))
    await writeFile(join(peer.folder, 'Svc.toml'), settingsOf(kind, number, {runsFile, url: urlOf(peer), context}))
    return peer
  }
  async function onEnd({name, program}: Peer, {isExpected, exitCode}: ProgramEnd): Promise<void> {
    if (isExpected || isOver) return
    const at = performance.now()
    const isRefused = refusals.includes(exitCode)
    context.note({
      event: isRefused ? 'program_refused' : 'program_died',
      at,
      who: name,
      ...(exitCode === undefined ? {} : {exitCode}),
    })
    await sleep(restartMs)
    if (!isOver && !program.isRunning) await program.start()
  }

  const create = (kind: 'orchestrator' | 'worker', count: number) =>
    Promise.all(Array.from({length: count}, (_, i) => peerOf(kind, i + 1)))
  const orchestrators = await create('orchestrator', orchestratorCount)
  const workers = await create('worker', workerCount)
  const all = [...orchestrators, ...workers]
  const stores = orchestrators.map(({name: orchestrator, folder}) => ({orchestrator, path: storeOf(folder)}))
  const writeTokens = async (generation: number) => {
    const text = keyring.programFile(generation)
    await Promise.all(all.map(({secretsFile}) => writeFile(secretsFile, text, {mode: 0o600})))
  }

  return {
    orchestrators,
    workers,
    all,
    stores,
    runsFile,
    writeTokens,
    async start() {
      for (const {program} of all) await program.start()
    },
    async settle(signal) {
      const at = performance.now()
      for (const {proxy, program} of all) {
        proxy.isCut = false
        proxy.heal()
        if (!program.isRunning) await program.start()
      }
      let open = 0
      do {
        await sleep(settlePollMs, undefined, {signal}).catch(() => undefined)
        open = 0
        for (const {path} of stores) open += (await countOpenTasks(path)) ?? 0
      } while (open > 0 && performance.now() - at < settleMs && signal?.aborted !== true)
      return {event: 'settle', at, until: performance.now(), open}
    },
    async stop(how) {
      isOver = true
      await Promise.all(all.map(({program}) => program[how]()))
      await Promise.all(all.map(({proxy}) => proxy.close()))
    },
  }
}

const urlOf = ({proxy}: Peer): string => `http://127.0.0.1:${proxy.port}`
export const storeOf = (folder: string): string => join(folder, '.svc', 'store.db')

async function createPeer(
  name: string,
  launch: Launch,
  {folder: root, scope, keyring, random, proxy: proxyOptions, nextId, onCall}: PeerContext,
  onEnd: (end: ProgramEnd) => void,
): Promise<Peer> {
  const folder = join(root, name)
  await mkdir(join(folder, '.svc', 'mesh'), {recursive: true, mode: 0o700})
  const observer = observeProgram({who: name, nextId, keyring, onCall})
  const proxy = await new FaultProxy({...proxyOptions, random: random.fork(`connections of ${name}`), observer}).start()
  const program = createProgram({
    launch,
    folder,
    environment: {SVC_MESH_NODE_ID: name, SVC_MESH_SCOPE_ID: scope, SVC_DATA_DIR: join(folder, 'data')},
    onEnd,
  })
  return {name, folder, program, proxy, secretsFile: join(folder, '.svc', 'mesh', 'mesh.env')}
}

interface Settings {
  runsFile: string
  url: string
  context: Pick<PeerContext, 'timeoutMs'>
}

/** The command records its run, waits as long as the task says, and prints the name of the run. */
function settingsOf(kind: 'orchestrator' | 'worker', number: number, {runsFile, url, context}: Settings): string {
  const script = `run=$$-$(od -An -N6 -tx1 /dev/urandom | tr -d ' \\n')
printf '%s %s ${kind}-${number}\\n' "$1" "$run" >> '${runsFile}' && sleep "$2" && printf %s "$run"`
  const argv = ['sh', '-c', script, 'sh', '{tag}', '{seconds}']
  const delegating = `mesh_remote_execute_experimental = true
mesh_remote_execute_sender_agent = ${replyAgent(number)}
mesh_remote_lease_gating_enabled = true
mesh_remote_lease_gated_roles = ["builder"]
mesh_remote_lease_timeout_ms = ${lostMs}
mesh_remote_result_poll_interval_secs = 1
`
  return `[orchestrator]
mesh_control_url = "${url}"
mesh_http_timeout_ms = ${context.timeoutMs}
mesh_remote_execute_receiver_agent = ${receiverAgent}
${kind === 'orchestrator' ? delegating : 'mesh_remote_worker_poll_interval_secs = 1\n'}
[orchestrator.exec]
enabled = true
templates = {${template} = ${JSON.stringify(argv)}}
`
}
