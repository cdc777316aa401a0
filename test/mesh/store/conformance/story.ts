import assert from 'node:assert/strict'
import {randomUUID} from 'node:crypto'
import type {TestContext} from 'node:test'
import {type ErrorCode, isErrorOf} from '../../../../src/errors/index.js'
import type {MessageDraft} from '../../../../src/mesh/protocol/message.js'
import type {NodeFacts, NodeRecord} from '../../../../src/mesh/protocol/node.js'
import type {MeshStore, Scope, StoreLimits} from '../../../../src/mesh/store/mesh-store.js'

export interface OpenOptions {
  /** Opens the store with a name; the same name opens the same store again. */
  place: string
  limits: StoreLimits
  /** System time (Unix ms) and monotonic time (ms). */
  wallClock: () => number
  monotonic: () => number
}

export type OpenStore = (test: Pick<TestContext, 'after'>, options: OpenOptions) => Promise<MeshStore>

/** Manual clock. It can be advanced, or the system time alone can be stepped. */
export class TestClock {
  wall = 1_767_225_600_000
  passed = 0

  advance(ms: number): void {
    this.wall += ms
    this.passed += ms
  }

  step(ms: number): void {
    this.wall += ms
  }
}

export const leaseMs = 120_000
export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

/** A store with its clock and common operations. */
export class Story {
  readonly clock = new TestClock()
  readonly #open: () => Promise<MeshStore>
  #store: MeshStore | undefined

  constructor(open: (clock: TestClock) => Promise<MeshStore>) {
    this.#open = () => open(this.clock)
  }

  get store(): MeshStore {
    assert.ok(this.#store, 'the store is open')
    return this.#store
  }

  async open(): Promise<this> {
    this.#store = await this.#open()
    return this
  }

  async close(): Promise<void> {
    await this.#store?.close()
  }

  /** Closes the store and reopens it after a time. */
  async restart(downMs = 0): Promise<void> {
    await this.close()
    this.clock.advance(downMs)
    await this.open()
  }

  async join(id: string, facts: Partial<NodeFacts> = {}, scope: Scope = ''): Promise<NodeRecord> {
    return JSON.parse(await this.store.join(scope, {id, version: '1.0.0', capabilities: {}, ...facts}))
  }

  async beat(id: string, facts: Partial<NodeFacts> = {}, scope: Scope = ''): Promise<NodeRecord> {
    const {record} = await this.store.heartbeat(scope, {facts: {id, ...facts}, isFull: false})
    return JSON.parse(record)
  }

  async nodes(scope: Scope = ''): Promise<NodeRecord[]> {
    const {records} = await this.store.listNodes(scope, {limit: 1000})
    return records.map((record) => JSON.parse(record))
  }

  async node(id: string, scope: Scope = ''): Promise<NodeRecord | undefined> {
    return (await this.nodes(scope)).find((node) => node.id === id)
  }

  grant(claimer: string, scopeKey: string, scope: Scope = '') {
    return this.store.grantLease(scope, {claimer, scopeKey})
  }

  async deliver(draft: Partial<MessageDraft> = {}, scope: Scope = ''): Promise<number> {
    const {message_id} = await this.store.deliver(scope, message(draft))
    return message_id
  }

  claim(claimer: string, receiver = '2', scope: Scope = '') {
    return this.store.claim(scope, {claimer, receiver})
  }

  ack(id: number, claimer?: string, receiver = '2') {
    return this.store.ack('', {message: id, receiver, claimer})
  }

  async waiting(receiver = '2'): Promise<number[]> {
    return (await this.store.peek('', {receiver, limit: 256})).map(({id}) => id)
  }
}

export const message = (draft: Partial<MessageDraft> = {}): MessageDraft => ({
  sender_agent_id: '1',
  receiver_agent_id: '2',
  message_type: 'free_form',
  payload: 'hello',
  priority: 128,
  ...draft,
})

/** Opens a new store with the node `n1`. */
export async function begin(
  test: Pick<TestContext, 'after'>,
  open: OpenStore,
  limits: Partial<StoreLimits> = {},
): Promise<Story> {
  const place = randomUUID()
  const story = new Story((clock) =>
    open(test, {
      place,
      limits: {leaseMs, maxMessages: 50_000, maxMessagesPerReceiver: 10_000, ...limits},
      wallClock: () => clock.wall,
      monotonic: () => clock.passed,
    }),
  )
  await story.open()
  test.after(() => story.close())
  await story.join('n1')
  return story
}

/** Asserts that an operation fails with an error code. */
export const refused = (work: Promise<unknown>, code: ErrorCode): Promise<void> =>
  assert.rejects(work, (error) => {
    assert.ok(isErrorOf(error, code), `${code} was expected: ${error}`)
    return true
  })

/** Error code of an operation, or `ok`. */
export const endOf = async (work: Promise<unknown>): Promise<string> => {
  try {
    await work
    return 'ok'
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error)
  }
}
