import {after, before, type TestContext} from 'node:test'
import {type MeshServer, startMeshServer} from './mesh-server.js'
import {orchWorkspace} from './orch-workspace.js'
import type {SvcOptions} from './svc.js'

/** Secrets of a control plane, one for each role. */
export const meshTokens = {
  SVC_MESH_TOKEN: 'canary-token-of-the-mesh',
  SVC_MESH_WORKER_TOKEN: 'canary-token-of-workers',
  SVC_MESH_SUBMITTER_TOKEN: 'canary-token-of-submitters',
  SVC_MESH_ADMIN_TOKEN: 'canary-token-of-admins',
} as const

/** A control plane for all tests of a suite. */
export function suiteMeshServer(env: Readonly<Record<string, string>> = meshTokens): () => MeshServer {
  let server: MeshServer | undefined
  const ends: (() => unknown)[] = []
  before(async () => {
    server = await startMeshServer({after: (end) => ends.push(end as () => unknown)}, {env})
  })
  after(async () => {
    for (const end of ends.reverse()) await end()
  })
  return () => server as MeshServer
}

export type MeshWorkspace = Awaited<ReturnType<typeof meshWorkspace>>

/** A folder that is also the home folder, and functions that run `svc mesh` in it with the passed tokens. */
export async function meshWorkspace(
  test: Pick<TestContext, 'after'>,
  server: Pick<MeshServer, 'baseUrl'> | undefined,
  tokens: Readonly<Record<string, string>> = {SVC_MESH_TOKEN: meshTokens.SVC_MESH_TOKEN},
) {
  const workspace = await orchWorkspace(test, '', {hasStore: false})
  const {cwd} = workspace
  const base = {HOME: cwd, ...(server === undefined ? {} : {SVC_MESH_CONTROL_ADDR: server.baseUrl}), ...tokens}
  const under = ({env, ...options}: SvcOptions): SvcOptions => ({...options, env: {...base, ...env}})
  return {
    cwd,
    env: base,
    run: (args: readonly string[], options: SvcOptions = {}) => workspace.run(['mesh', ...args], under(options)),
    text: (args: readonly string[], options: SvcOptions = {}) => workspace.text(['mesh', ...args], under(options)),
    json: <T>(contract: string, args: readonly string[], options: SvcOptions = {}) =>
      workspace.json<T>(`cli/mesh-${contract}.v1`, ['mesh', ...args], under(options)),
    fails: (args: readonly string[], exit: number, code: string, options: SvcOptions = {}) =>
      workspace.fails(['mesh', ...args], exit, code, under(options)),
    /** Starts any long-running command. */
    start: (args: readonly string[], options: SvcOptions = {}) => workspace.start(args, under(options)),
    /** The same in a reused process. */
    startInTurn: (args: readonly string[], options: SvcOptions = {}) => workspace.startInTurn(args, under(options)),
    /** Joins as a node without further heartbeats. */
    join: (node: string, ...more: string[]) =>
      workspace.text(['mesh', 'join', '--once', '--node', node, ...more], under({})),
  }
}
