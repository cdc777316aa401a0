import assert from 'node:assert/strict'
import {once} from 'node:events'
import {copyFile} from 'node:fs/promises'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {until} from '../support/orch-workspace.js'
import {startSvc} from '../support/svc.js'
import {envelope, prefix} from './modern.js'
import {type After, environment, hello, starter, workspace} from './support.js'

interface TaskView {
  taskId: string
  status: string
  result?: {structuredContent: {success: boolean}}
}

interface Reply {
  id: number
  result?: TaskView
  error?: {message: string}
}

const meta = envelope({[`${prefix}/clientCapabilities`]: {extensions: {[`${prefix}/tasks`]: {}}}})

/** A server that is killed without warning. */
function startServer(cwd: string) {
  const env = environment(cwd, {SVC_SPEECH_MODEL: starter})
  const child = startSvc(['mcp', 'serve', '--quiet'], {cwd, env})
  const lines = createInterface({input: child.stdout as NodeJS.ReadableStream})
  let last = 0
  const ask = async (method: string, params: object): Promise<Reply> => {
    const id = ++last
    child.stdin?.write(`${JSON.stringify({jsonrpc: '2.0', id, method, params: {...params, _meta: meta}})}\n`)
    const [line] = (await once(lines, 'line')) as [string]
    const reply = JSON.parse(line) as Reply
    assert.equal(reply.id, id)
    return reply
  }
  return {
    ask,
    async kill() {
      child.kill('SIGKILL')
      await child
    },
  }
}

const calls = [
  ['svc_submit_task', {description: 'Write it', files: [], processor: 'external'}],
  ['svc_speech_transcribe', {path: 'hello.wav'}],
] as const

/**
 * Starts a server several times; each creates a task and is killed at once. The next server is asked for that task, and
 * the last one for all of them.
 * @returns number of tasks that a server did not find, and the outcomes of the transcriptions
 */
export async function killServers(test: After, kills: number): Promise<{lost: number; transcribed: boolean[]}> {
  const cwd = await workspace(test)
  await copyFile(hello, join(cwd, 'hello.wav'))
  const ids: string[] = []
  let lost = 0
  for (let kill = 0; kill < kills; kill++) {
    const server = startServer(cwd)
    const earlier = ids.at(-1)
    if (earlier !== undefined && (await server.ask('tasks/get', {taskId: earlier})).result === undefined) lost++
    const [name, args] = calls[kill % 2] as (typeof calls)[number]
    const {result, error} = await server.ask('tools/call', {name, arguments: args})
    assert.ok(result, error?.message)
    ids.push(result.taskId)
    await server.kill()
  }
  const server = startServer(cwd)
  const transcribed: boolean[] = []
  for (const [i, taskId] of ids.entries()) {
    const get = async () => (await server.ask('tasks/get', {taskId})).result
    if ((await get()) === undefined) lost++
    if (i % 2 === 0) continue
    await until(async () => (await get())?.status === 'completed', `${taskId} has completed`)
    transcribed.push((await get())?.result?.structuredContent.success === true)
  }
  await server.kill()
  return {lost, transcribed}
}
