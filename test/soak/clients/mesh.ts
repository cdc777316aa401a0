import {join} from 'node:path'
import type {Random} from '../../support/random.js'
import type {Client, Service, Visit} from '../client.js'
import {randomText} from '../client.js'
import {HttpCaller} from '../http-caller.js'

const clients = 3

/** Control plane of a mesh, used by nodes. */
export const meshService: Service = {
  name: 'mesh serve',
  address: 'base_url',
  clients,
  async prepare(folder) {
    return ['mesh', 'serve', '--db', join(folder, 'mesh.db'), '--port', '0']
  },
  async connect(visit) {
    const node = new MeshNode(visit)
    await node.join()
    return node
  },
}

const refused: readonly [method: string, path: string, body: unknown, status: number][] = [
  ['GET', '/nowhere', undefined, 404],
  ['GET', '/v1/mesh/join', undefined, 405],
  ['GET', '/v1/mesh/nodes?limit=x', undefined, 400],
  ['POST', '/v1/mesh/join', '{"id": ', 400],
  ['POST', '/v1/mesh/heartbeat', {}, 400],
  ['POST', '/v1/mesh/heartbeat', {id: 'nobody'}, 404],
  ['POST', '/v1/mesh/a2a/deliver', {sender_agent_id: 'x'}, 400],
  ['POST', '/v1/mesh/exec/lease/renew', {lease_id: '999999999', claimer_node_id: 'nobody'}, 403],
  ['POST', '/v1/mesh/a2a/ack', {receiver_agent_id: '999', message_id: 999_999_999}, 404],
]

/** Node with one agent. Some of its requests compete with those of other nodes. */
class MeshNode implements Client {
  readonly #http: HttpCaller
  readonly #random: Random
  readonly #node: string
  readonly #agent: string
  readonly #incarnation: number
  #seq = 0
  #sent = 0

  constructor({address, index, random, tally}: Visit) {
    this.#http = new HttpCaller(address, tally)
    this.#random = random
    this.#node = `soak-${index}`
    this.#agent = String(index + 1)
    this.#incarnation = random.below(2 ** 32)
  }

  async join(): Promise<void> {
    await this.#post('join', {...this.#facts(), incarnation: this.#incarnation, seq: this.#seq++}, 200)
  }

  async step(): Promise<void> {
    const random = this.#random
    const at = random.below(100)
    if (at < 20) await this.#heartbeat()
    else if (at < 35) await this.#lease()
    else if (at < 55) await this.#deliver()
    else if (at < 80) await this.#receive(random.chance(0.3) ? random.below(50) : 0)
    else if (at < 85) await this.#http.abort('POST', '/v1/mesh/a2a/inbox', {...this.#inbox, wait_ms: 5000}, random)
    else if (at < 92) await this.#look()
    else if (at < 99) {
      const [method, path, body, status] = random.pick(refused)
      await this.#http.send(method, path, body, status)
    } else {
      await this.#leave()
      await this.join()
    }
  }

  async close(): Promise<void> {
    while (await this.#receive(0));
    await this.#leave()
    this.#http.close()
  }

  get #inbox() {
    // Without a claimer, messages are only read, so that an aborted request claims nothing.
    return {receiver_agent_id: this.#agent, message_types: ['none']}
  }

  #facts() {
    return {id: this.#node, version: '1.0.0', capabilities: {cpu_cores: 4, labels: ['pool=soak']}}
  }

  async #heartbeat(): Promise<void> {
    const slim = {id: this.#node, cpu_usage_pct: this.#random.below(100), receiver_agent_id: this.#agent}
    const beat = this.#random.chance(0.2) ? {...this.#facts(), ...slim} : slim
    await this.#post('heartbeat', {...beat, incarnation: this.#incarnation, seq: this.#seq++}, 200)
  }

  /** Acquires and releases a lease on a contended key. */
  async #lease(): Promise<void> {
    const held = {scope_key: `task:${this.#random.below(4)}`, claimer_node_id: this.#node}
    const {status, text} = await this.#post('exec/lease/grant', held, 200, 409)
    if (status !== 200) return
    const {lease_id} = JSON.parse(text) as {lease_id: string}
    if (this.#random.chance(0.5)) await this.#post('exec/lease/renew', {lease_id, claimer_node_id: this.#node}, 204)
    if (this.#random.chance(0.5)) await this.#post('exec/lease/verify', {lease_id, scope_key: held.scope_key}, 200)
    await this.#post('exec/lease/release', {lease_id, claimer_node_id: this.#node}, 204)
  }

  /** Sends a message to an agent, sometimes twice with the same key. */
  async #deliver(): Promise<void> {
    const random = this.#random
    const message = {
      sender_agent_id: this.#agent,
      receiver_agent_id: String(1 + random.below(clients)),
      message_type: 'free_form',
      payload: randomText(random, 500),
      priority: random.below(256),
      idempotency_key: `${this.#node}-${this.#incarnation}-${this.#sent++}`,
    }
    await this.#post('a2a/deliver', message, 200)
    if (random.chance(0.2)) await this.#post('a2a/deliver', message, 200)
  }

  /** Claims and acknowledges a message of its agent. @returns false if there was none */
  async #receive(waitMs: number): Promise<boolean> {
    const asked = {receiver_agent_id: this.#agent, claimer_node_id: this.#node, wait_ms: waitMs}
    const {status, text} = await this.#post('a2a/inbox', asked, 200)
    if (status !== 200) return false
    const [message] = (JSON.parse(text) as {messages: {id: number}[]}).messages
    if (message === undefined) return false
    const claimed = {receiver_agent_id: this.#agent, message_id: message.id, claimer_node_id: this.#node}
    if (this.#random.chance(0.2)) await this.#post('a2a/lease-renew', claimed, 204)
    await this.#post('a2a/ack', claimed, 204)
    return true
  }

  async #look(): Promise<void> {
    const path = this.#random.pick([
      '/health',
      '/metrics',
      '/v1/mesh/nodes',
      '/v1/mesh/nodes?fields=brief&limit=2',
      '/v1/mesh/queue/stats',
      '/v1/mesh/exec/leases',
    ])
    await this.#http.send('GET', path, undefined, 200)
  }

  async #leave(): Promise<void> {
    await this.#post('leave', {id: this.#node}, 204)
  }

  #post(operation: string, body: object, ...expected: number[]) {
    return this.#http.send('POST', `/v1/mesh/${operation}`, body, ...expected)
  }
}
