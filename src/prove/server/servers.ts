import {mkdir} from 'node:fs/promises'
import {join} from 'node:path'
import {freePort} from '../../net/index.js'
import {isHealthy} from './health.js'
import {createProgram, type Launch, type Program} from './program.js'

/** A control plane of the mesh. */
export interface Replica {
  readonly port: number
  readonly program: Program
  /** File with its secrets. */
  readonly secretsFile: string
}

/** Control planes that share one store. */
export interface Servers {
  readonly all: readonly Replica[]
  /** Port of the next replica that is ready, in turn; of any replica if none is. */
  pick(): number
  /** Starts all replicas that are not running, and waits until they are ready. @throws control_plane_silent */
  start(): Promise<void>
  stop(how: 'kill' | 'terminate'): Promise<void>
}

export interface ServersOptions {
  /** Folder of the run. */
  folder: string
  count: number
  launch: Launch
  environment: Readonly<Record<string, string>>
  /** Called when a process exits; `isExpected` if it was stopped through its object. */
  onEnd: (replica: Replica, isExpected: boolean) => void
}

/** Creates control planes with a folder and a fixed port each. They are not started yet. */
export async function createServers({folder, count, launch, environment, onEnd}: ServersOptions): Promise<Servers> {
  const all: Replica[] = []
  for (let number = 1; number <= count; number++) {
    const home = join(folder, `server-${number}`)
    await mkdir(join(home, '.svc', 'mesh'), {recursive: true, mode: 0o700})
    // A restarted server must listen on the same port, so it cannot be 0.
    const port = await freePort()
    const program = createProgram({
      folder: home,
      launch,
      environment: {...environment, SVC_MESH_HOST: '127.0.0.1', SVC_MESH_PORT: String(port)},
      isReady: () => isHealthy(port),
      onEnd: ({isExpected}) => onEnd(replica, isExpected),
    })
    const replica = {port, program, secretsFile: join(home, '.svc', 'mesh', 'mesh.env')}
    all.push(replica)
  }
  let turn = 0
  return {
    all,
    pick() {
      turn++
      const ready = all.filter(({program}) => program.isReady)
      const candidates = ready.length > 0 ? ready : all
      return candidates[turn % candidates.length]?.port ?? 0
    },
    async start() {
      await Promise.all(all.map(({program}) => program.isRunning || program.start()))
    },
    async stop(how) {
      await Promise.all(all.map(({program}) => program[how]()))
    },
  }
}
