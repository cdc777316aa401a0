import {once} from 'node:events'
import {writeFile} from 'node:fs/promises'
import {createConnection, type Socket} from 'node:net'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import type {Random} from '../../support/random.js'
import type {Client, Service, Tally, Visit} from '../client.js'
import {randomText} from '../client.js'

const settings = `[orchestrator.exec]
enabled = true
[orchestrator.exec.templates]
print = ["echo", "{word}"]
break = ["false"]
`

/** Daemon of a workspace, called over TCP. */
export const daemonService: Service = {
  name: 'daemon run',
  address: 'addr',
  clients: 3,
  async prepare(folder) {
    await writeFile(join(folder, 'Svc.toml'), settings)
    return ['daemon', 'run', '--listen', '127.0.0.1:0', '--drain', '2']
  },
  async connect(visit) {
    const client = new DaemonClient(visit)
    await client.open()
    return client
  },
}

/** Maximum number of unfinished tasks per client. */
const maxTasks = 20
const answerMs = 30_000

interface Reply {
  result?: unknown
  error?: {message: string; data?: {kind?: string}}
}

/** JSON-RPC client that reconnects now and then. */
class DaemonClient implements Client {
  readonly #address: string
  readonly #owner: string
  readonly #random: Random
  readonly #tally: Tally
  readonly #pending = new Map<number, (reply: Reply) => void>()
  /** Its unfinished tasks. */
  #tasks: number[] = []
  #socket: Socket | undefined
  #lastId = 0

  constructor({address, index, random, tally}: Visit) {
    this.#address = address
    this.#owner = `soak-${index}`
    this.#random = random
    this.#tally = tally
  }

  async open(): Promise<void> {
    const [host = '', port] = this.#address.split(':')
    const socket = createConnection({host, port: Number(port), noDelay: true})
    socket.on('error', () => undefined)
    createInterface({input: socket}).on('line', (line) => {
      const reply = JSON.parse(line) as Reply & {id?: number | null}
      if (typeof reply.id === 'number') this.#pending.get(reply.id)?.(reply)
    })
    socket.on('close', () => {
      const pending = [...this.#pending.values()]
      this.#pending.clear()
      if (socket === this.#socket) for (const end of pending) end({error: {message: 'the connection was closed'}})
    })
    await once(socket, 'connect')
    this.#socket = socket
  }

  async step(): Promise<void> {
    const at = this.#random.below(100)
    if (at < 30) await this.#submit()
    else if (at < 60) await this.#work()
    else if (at < 70) await this.#cancel()
    else if (at < 85) await this.#look()
    else if (at < 93) await this.#sendNonsense()
    else if (at < 96) await this.#follow()
    else await this.#reconnect()
  }

  async close(): Promise<void> {
    while (this.#tasks.length > 0) await this.#cancel()
    await this.#disconnect()
  }

  async #submit(): Promise<void> {
    if (this.#tasks.length >= maxTasks) return this.#cancel()
    const random = this.#random
    const common = {
      description: `task ${randomText(random, 200)}`,
      priority: random.pick(['background', 'normal', 'urgent']),
      session_id: this.#owner,
    }
    const external = {
      ...common,
      processor: 'external',
      file_manifest: [{path: `src/file-${random.below(50)}.ts`, access: random.pick(['read', 'write'])}],
    }
    const template = random.chance(0.7) ? {template: 'print', params: {word: 'soak'}} : {template: 'break'}
    const params = random.chance(0.9) ? external : {...common, processor: 'exec', exec: template}
    const {result} = await this.#call('orch.submit_task', params)
    if (result !== undefined) this.#tasks.push((result as {task_id: number}).task_id)
  }

  /** Claims and finishes a task of any client. */
  async #work(): Promise<void> {
    const {result} = await this.#call('orch.claim_task', {owner: this.#owner}, 'no_task_to_claim')
    if (result === undefined) return
    const {task, generation} = result as {task: {id: number}; generation: number}
    const lost = ['claim_lost', 'invalid_transition']
    if (this.#random.chance(0.3))
      await this.#call('orch.renew_claim', {task_id: task.id, generation, ttl_ms: 60_000}, ...lost)
    if (this.#random.chance(0.7))
      await this.#call(
        'orch.complete_task',
        {task_id: task.id, generation, attestation: {completion_summary: randomText(this.#random, 500)}},
        ...lost,
      )
    else
      await this.#call('orch.fail_task', {task_id: task.id, generation, reason: randomText(this.#random, 50)}, ...lost)
    this.#tasks = this.#tasks.filter((id) => id !== task.id)
  }

  async #cancel(): Promise<void> {
    const [id] = this.#tasks.splice(this.#random.below(this.#tasks.length), 1)
    if (id !== undefined) await this.#call('orch.cancel_task', {task_id: id}, 'invalid_transition')
  }

  async #look(): Promise<void> {
    const [method, params] = this.#random.pick<[string, object]>([
      ['orch.list_tasks', {limit: 20}],
      ['orch.list_tasks', {session_id: this.#owner, status: ['Queued', 'InProgress'], limit: 50}],
      ['orch.status', {}],
      ['orch.list_agents', {}],
      ['orch.events.list', {limit: 50}],
      ['orch.ping', {}],
      ['orch.methods', {}],
    ])
    await this.#call(method, params)
  }

  /** Sends invalid requests. */
  async #sendNonsense(): Promise<void> {
    const random = this.#random
    const at = random.below(4)
    if (at === 0) await this.#call('orch.nothing', {}, 'method_unknown')
    else if (at === 1) await this.#call('orch.get_task', {task_id: 1e9}, 'task_not_found')
    else if (at === 2) await this.#call('orch.submit_task', {description: 7}, 'params_invalid')
    else {
      this.#tally.requests++
      this.#socket?.write(`${random.pick(['{"id": ', '[]', '7', '{"jsonrpc":"2.0"}', randomText(random, 1000)])}\n`)
    }
  }

  /** Subscribes to events for a short time. */
  async #follow(): Promise<void> {
    const {result} = await this.#call('orch.events.subscribe', {})
    if (result === undefined) return
    const {subscription_id} = result as {subscription_id: string}
    await this.#submit()
    if (this.#random.chance(0.7)) await this.#call('orch.events.unsubscribe', {subscription_id})
    else await this.#reconnect()
  }

  /** Reconnects, sometimes in the middle of a request. */
  async #reconnect(): Promise<void> {
    const line = JSON.stringify({jsonrpc: '2.0', id: ++this.#lastId, method: 'orch.list_tasks', params: {}})
    const isCut = this.#random.chance(0.5)
    if (isCut) {
      this.#tally.requests++
      this.#tally.aborted++
      this.#socket?.write(this.#random.chance(0.5) ? line.slice(0, 20) : `${line}\n`)
    }
    await this.#disconnect()
    await this.open()
  }

  async #disconnect(): Promise<void> {
    const socket = this.#socket
    this.#socket = undefined
    if (socket === undefined || socket.closed) return
    const closed = once(socket, 'close')
    socket.destroy()
    await closed
  }

  /** @param refusals permitted error kinds */
  async #call(method: string, params: object, ...refusals: string[]): Promise<Reply> {
    this.#tally.requests++
    const id = ++this.#lastId
    let timer: NodeJS.Timeout | undefined
    const reply = await new Promise<Reply>((resolve) => {
      timer = setTimeout(() => resolve({error: {message: `no answer within ${answerMs} ms`}}), answerMs)
      this.#pending.set(id, resolve)
      const line = `${JSON.stringify({jsonrpc: '2.0', id, method, params})}\n`
      if (this.#socket?.writable) this.#socket.write(line)
      else resolve({error: {message: 'the connection was closed'}})
    })
    clearTimeout(timer)
    this.#pending.delete(id)
    const {error} = reply
    if (error !== undefined && !refusals.includes(error.data?.kind ?? ''))
      this.#tally.fault(`${method}: ${error.data?.kind} ${error.message}`)
    return reply
  }
}
