import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {startPlane} from '../mesh/control-plane/support/control-plane.js'
import {type DbServer, serveDb} from '../support/db-server.js'
import {askMesh} from '../support/mesh-server.js'
import {startServer} from '../support/server.js'
import {temporaryFolder} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

const program = `/// Something to be done.
@table type Todo { title: str, done: bool, due: Option[str] }
/// What is left to do.
@endpoint(kind: query) fn list(done: bool = false, search: Option[str]) to List[Todo] {
    return db.Todo.where({ done: done }).live("todos").order_by(_id)
}
/// Todos that are done or not.
@endpoint(kind: query) fn all(done: Option[bool]) to List[Todo] {
    return db.Todo.where({ done: done.unwrap_or(false) }).order_by(_id)
}
/// Adds a todo.
@endpoint(kind: mutation) fn add(title: str, due: Option[str]) to Result[Id[Todo]] {
    if title.trim().is_empty() { return Error("a todo needs a title") }
    return db.Todo.insert({ title: title.trim(), done: false, due: due })
}
/// Changes the title.
@endpoint(kind: mutation) fn rename(id: Id[Todo], title: str) to bool {
    return db.Todo.update(id, { title: title })
}
`

export const meshToken = 'canary-mesh-Qx82kdLm31Za'

/** A running `svc db serve` with a token, in a folder. */
export async function startDatabase(
  t: Pick<TestContext, 'after'>,
  {folder, args = []}: {folder?: string; args?: readonly string[]} = {},
): Promise<{server: DbServer; folder: string; env: Record<string, string>}> {
  const at = folder ?? (await temporaryFolder(t))
  const token = 'canary-app-7Hs2LqPz0Wv'
  const server = await serveDb(t, at, program, args, {SVC_APP_TOKEN: token})
  return {server, folder: at, env: {SVC_APP_URL: server.baseUrl, SVC_APP_TOKEN: token}}
}

/** A running `svc serve` with a tiny model, which is loaded. @param port a free one by default */
export async function startModels(t: Pick<TestContext, 'after'>, port = '0') {
  const folder = await temporaryFolder(t)
  await writeTinyModel(join(folder, 'runs', 'tiny'))
  const args = ['--models', join(folder, 'runs'), '--chat-template', 'none', '--port', port]
  const server = await startServer(args, {
    cwd: folder,
    env: {HOME: folder, SVC_PRECISION: 'f32'},
  })
  t.after(() => server.stop())
  const load = async () => {
    const response = await fetch(`${server.baseUrl}/api/generate`, {
      method: 'POST',
      body: JSON.stringify({model: 'tiny', prompt: 'Hi', raw: true, stream: false, options: {num_predict: 1}}),
    })
    if (!response.ok) throw new Error(await response.text())
    await response.json()
  }
  await load()
  return {server, load, env: {SVC_INFERENCE_URL: server.baseUrl}}
}

/** A control plane with a node that holds a lease. */
export async function startMesh(t: TestContext) {
  const plane = await startPlane(t, {secrets: {token: meshToken}})
  const ask = async (path: string, body: unknown) => {
    const answer = await askMesh(plane, `/v1/mesh/${path}`, {token: meshToken, body})
    if (answer.status >= 300) throw new Error(answer.text)
  }
  await ask('join', {id: 'desk', version: '1.0.0', last_seen_unix_ms: 0, capabilities: {labels: ['linux']}})
  await ask('exec/lease/grant', {claimer_node_id: 'desk', scope_key: 'task:a-key-of-a-task'})
  return {plane, ask, env: {SVC_MESH_CONTROL_ADDR: plane.baseUrl, SVC_MESH_TOKEN: meshToken}}
}
