import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {
  createMeshClient,
  exportMesh,
  importMesh,
  type MeshClient,
  MeshHttpError,
  type MeshPlace,
} from '../../../src/mesh/index.js'
import {type CutProxy, startCutProxy} from '../../support/cut-proxy.js'
import {type Plane, startPlane} from '../control-plane/support/control-plane.js'

/** Where a control plane stores its mesh: a folder or the URL of a database. */
export type Place = {folder: string} | {url: string}

const placeOf = (place: Place): MeshPlace => ('url' in place ? place : {path: join(place.folder, 'mesh.db')})

/**
 * Control plane that is replaced by one with another store, at the same address. This is the address of a proxy,
 * because another process could take the port of a server that is stopped.
 */
class Service {
  readonly #test: TestContext
  #proxy: CutProxy | undefined
  #plane: Plane | undefined
  #isUp: Promise<void> = Promise.resolve()

  constructor(test: TestContext) {
    this.#test = test
  }

  get baseUrl(): string {
    return `http://127.0.0.1:${this.#proxy?.port}`
  }

  async start(place: Place): Promise<void> {
    // Longer than any pause of a busy machine.
    const limits = {leaseMs: 600_000, maxMessages: 100_000, maxMessagesPerReceiver: 100_000}
    this.#plane = await startPlane(this.#test, {limits, ...place})
    const port = Number(new URL(this.#plane.baseUrl).port)
    if (this.#proxy === undefined) {
      const proxy = await startCutProxy(port)
      this.#test.after(() => proxy.close())
      this.#proxy = proxy
    }
    this.#proxy.target = port
  }

  /** Stops the control plane, moves its data, and starts another one. */
  async move(from: Place, to: Place): Promise<void> {
    let open = () => {}
    this.#isUp = new Promise((resolve) => {
      open = resolve
    })
    await this.#plane?.close(5000)
    const digests: string[] = []
    async function* lines(place: Place) {
      const digest = createHash('sha256')
      for await (const line of exportMesh(placeOf(place), false).lines) {
        digest.update(line)
        yield Buffer.from(line)
      }
      digests.push(digest.digest('hex'))
    }
    await importMesh(placeOf(to), lines(from), 'mesh.ndjson')
    for await (const _ of lines(to));
    assert.equal(digests[0], digests[1])
    await this.start(to)
    open()
  }

  /** Repeats a request until the control plane answers it. */
  async ask<T>(work: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof MeshHttpError) || !(error.isTransient || error.mayBeDone)) throw error
        await this.#isUp
      }
    }
  }
}

const senders = 3
const consumers = 3
const lockers = 3

/**
 * Lets clients deliver, claim and acknowledge messages and hold leases while the mesh moves from place to place, and
 * asserts that nothing is lost or repeated.
 * @param messages number of messages of each sender
 */
export async function switchUnderLoad(test: TestContext, places: readonly Place[], messages: number): Promise<void> {
  const [first, ...others] = places
  assert.ok(first)
  const service = new Service(test)
  await service.start(first)
  const clients: MeshClient[] = []
  const connect = () => {
    const client = createMeshClient({baseUrl: service.baseUrl, tokens: {}, retry: false})
    clients.push(client)
    return client
  }
  test.after(() => Promise.all(clients.map((client) => client.close())))

  const total = senders * messages
  const accepted = new Map<string, number>()
  const acked = new Set<number>()
  const fences = new Map<string, number>()
  let epochs = 0
  const done = new AbortController()
  let onAccepted = () => {}
  const isAccepted = (count: number) =>
    new Promise<void>((resolve) => {
      onAccepted = () => accepted.size >= count && resolve()
      onAccepted()
    })

  const send = async (sender: number) => {
    const client = connect()
    for (let i = 0; i < messages && !done.signal.aborted; i++) {
      const key = `${sender}-${i}`
      const message = {senderAgentId: String(sender), receiverAgentId: '2', messageType: 'free_form', payload: key}
      const {message_id: id} = await service.ask(() => client.deliver({...message, idempotencyKey: key}))
      assert.ok(![...accepted.values()].includes(id), `message ${id} is new`)
      accepted.set(key, id)
      onAccepted()
      // A repetition later on, also after a move, has the same id.
      const earlier = `${sender}-${Math.floor(i / 2)}`
      const repeated = {...message, payload: earlier, idempotencyKey: earlier}
      assert.equal((await service.ask(() => client.deliver(repeated))).message_id, accepted.get(earlier))
    }
  }
  const consume = async (node: string) => {
    const client = connect()
    await service.ask(() => client.join({id: node, version: '1.0.0', capabilities: {}}))
    while (!done.signal.aborted) {
      const [message] = await service.ask(async () => {
        if (done.signal.aborted) return []
        const wait = {receiver: '2', claimer: node, waitMs: 10_000}
        return client.inbox(wait, {signal: done.signal}).catch((error: unknown) => {
          if (done.signal.aborted) return []
          throw error
        })
      })
      if (message === undefined) continue
      assert.ok(!acked.has(message.id), `message ${message.id} is acknowledged once`)
      assert.ok(await service.ask(() => client.ack({receiver: '2', message: message.id, claimer: node})))
      assert.ok(!acked.has(message.id), `message ${message.id} has one claimer`)
      acked.add(message.id)
      if (acked.size === total) done.abort()
    }
  }
  const lock = async (node: string) => {
    const client = connect()
    await service.ask(() => client.join({id: node, version: '1.0.0', capabilities: {}}))
    for (let i = 0; !done.signal.aborted; i++) {
      const scopeKey = `key ${i % 2}`
      try {
        const lease = await service.ask(() => client.grantLease({scopeKey, claimer: node}))
        assert.ok(lease.fence_token > (fences.get(scopeKey) ?? 0), `the token of ${scopeKey} increases`)
        fences.set(scopeKey, lease.fence_token)
        epochs += 1
        await service.ask(() => client.releaseLease({lease: lease.lease_id, claimer: node}))
      } catch (error) {
        if (!(error instanceof MeshHttpError && error.code === 'lease_held')) throw error
      }
    }
  }
  const hold = async () => {
    const client = connect()
    await service.ask(() => client.join({id: 'holder', version: '1.0.0', capabilities: {}}))
    const {lease_id: lease} = await service.ask(() => client.grantLease({scopeKey: 'held', claimer: 'holder'}))
    while (!done.signal.aborted) await service.ask(() => client.renewLease({lease, claimer: 'holder'}))
    assert.equal((await service.ask(() => client.verifyLease({lease, scopeKey: 'held'}))).holder_node_id, 'holder')
  }
  const move = async () => {
    for (const [i, place] of others.entries()) {
      await isAccepted(Math.floor((total * (i + 1)) / places.length))
      await service.move(places[i] as Place, place)
    }
  }

  const numbered = <T>(count: number, start: (i: number) => T) => Array.from({length: count}, (_, i) => start(i + 1))
  try {
    await Promise.all([
      ...numbered(senders, send),
      ...numbered(consumers, (i) => consume(`consumer-${i}`)),
      ...numbered(lockers, (i) => lock(`locker-${i}`)),
      hold(),
      move(),
    ])
  } finally {
    done.abort()
  }
  assert.deepEqual(
    [...acked].sort((a, b) => a - b),
    [...accepted.values()].sort((a, b) => a - b),
  )
  assert.equal(accepted.size, total)
  assert.ok(epochs > 2)
  const client = connect()
  assert.deepEqual(await client.inbox({receiver: '2'}), [])
  assert.equal((await client.queueStats()).pending_count, 0)
}
