import assert from 'node:assert/strict'
import {it} from 'node:test'
import {seeded} from '../../../support/random.js'
import {begin, endOf, leaseMs, type OpenStore, type Story} from './story.js'

/** Lease or claim in the model. */
interface Hold {
  id: string
  holder: string
  until: number
}

const nodes = ['n1', 'n2', 'n3']
const keys = ['a', 'b']

export function modelConformance(open: OpenStore): void {
  for (let seed = 1; seed <= 12; seed++)
    it(`match a model with seed ${seed}`, async (t) => {
      const model = await randomHistory(await begin(t, open), seed)
      await model.checkAll()
    })
}

/**
 * Applies random operations to the store and to a simple model, which must agree after each step on holders, tokens and
 * pending messages.
 */
export async function randomHistory(story: Story, seed: number): Promise<Model> {
  const {next: random, below, pick} = seeded(seed)
  for (const node of nodes) await story.join(node)
  const model = new Model(story)
  const steps = [
    () => model.grant(pick(nodes), pick(keys)),
    () => model.renew(pick(nodes), pick(keys)),
    () => model.release(pick(nodes), pick(keys)),
    () => model.deliver(`key ${below(30)}`),
    () => model.claim(pick(nodes)),
    () => model.claim(pick(nodes)),
    () => model.ack(pick(nodes), random()),
    async () => story.clock.advance(below(leaseMs * 0.7)),
    async () => random() < 0.2 && (await story.restart(below(leaseMs))),
    async () => random() < 0.1 && (await model.leave(pick(nodes))),
  ]
  for (let i = 0; i < 250; i++) {
    await pick(steps)()
    model.afterRestart()
  }
  return model
}

class Model {
  readonly #story: Story
  readonly #leases = new Map<string, Hold>()
  readonly #claims = new Map<number, Hold>()
  readonly #byKey = new Map<string, number>()
  readonly #acked = new Set<number>()
  #highest = 0
  #store: Story['store']
  #closedAt = 0

  constructor(story: Story) {
    this.#story = story
    this.#store = story.store
  }

  get #now(): number {
    return this.#story.store.now()
  }

  #holder(hold: Hold | undefined): string | undefined {
    return hold !== undefined && hold.until > this.#now ? hold.holder : undefined
  }

  /** Extends all holds by the downtime of the store. */
  afterRestart(): void {
    if (this.#story.store !== this.#store) {
      const down = this.#now - this.#closedAt
      for (const hold of [...this.#leases.values(), ...this.#claims.values()])
        if (hold.until > this.#closedAt) hold.until += Math.min(down, leaseMs)
      this.#store = this.#story.store
    }
    this.#closedAt = this.#now
  }

  async grant(node: string, key: string): Promise<void> {
    const hold = this.#leases.get(key)
    const holder = this.#holder(hold)
    const work = this.#story.grant(node, key)
    if (holder !== undefined && holder !== node) {
      assert.equal(await endOf(work), 'lease_held')
      return
    }
    const {lease_id: id, fence_token} = await work
    if (holder === node) assert.equal(id, hold?.id)
    else assert.ok(fence_token > this.#highest)
    this.#highest = Math.max(this.#highest, fence_token)
    this.#leases.set(key, {id, holder: node, until: this.#now + leaseMs})
  }

  #expected(hold: Hold | undefined, node: string): string {
    const holder = this.#holder(hold)
    if (holder === undefined) return 'lease_not_found'
    return holder === node ? 'ok' : 'not_lease_holder'
  }

  async renew(node: string, key: string): Promise<void> {
    const hold = this.#leases.get(key)
    const expected = this.#expected(hold, node)
    const lease = hold?.id ?? '1000000'
    assert.equal(await endOf(this.#story.store.renewLease('', {lease, claimer: node})), expected)
    if (expected === 'ok' && hold !== undefined) hold.until = this.#now + leaseMs
  }

  async release(node: string, key: string): Promise<void> {
    const hold = this.#leases.get(key)
    const expected = this.#expected(hold, node)
    const lease = hold?.id ?? '1000000'
    assert.equal(await endOf(this.#story.store.releaseLease('', {lease, claimer: node})), expected)
    if (expected === 'ok' && hold !== undefined) hold.until = 0
  }

  async deliver(key: string): Promise<void> {
    const id = await this.#story.deliver({idempotency_key: key, payload: key})
    assert.equal(id, this.#byKey.get(key) ?? id)
    this.#byKey.set(key, id)
  }

  async claim(node: string): Promise<void> {
    const open = [...this.#byKey.values()].filter((id) => !this.#acked.has(id)).toSorted((a, b) => a - b)
    const held = (id: number) => this.#holder(this.#claims.get(id))
    const expected = open.find((id) => held(id) === node) ?? open.find((id) => held(id) === undefined)
    const found = await this.#story.claim(node)
    assert.equal(found?.id, expected)
    if (found === undefined) return
    const hold = this.#claims.get(found.id)
    const isSameTry = this.#holder(hold) === node && (hold?.until ?? 0) - this.#now >= leaseMs * 0.75
    if (!isSameTry) this.#claims.set(found.id, {id: '', holder: node, until: this.#now + leaseMs})
  }

  async ack(node: string, random: number): Promise<void> {
    const ids = [...this.#byKey.values()]
    const id = ids[Math.floor(random * ids.length)]
    if (id === undefined) return
    const holder = this.#holder(this.#claims.get(id))
    const isAnothers = !this.#acked.has(id) && holder !== undefined && holder !== node
    assert.equal(await endOf(this.#story.ack(id, node)), isAnothers ? 'not_lease_holder' : 'ok')
    if (!isAnothers) this.#acked.add(id)
  }

  async leave(node: string): Promise<void> {
    await this.#story.store.leave('', node)
    for (const hold of [...this.#leases.values(), ...this.#claims.values()]) if (hold.holder === node) hold.until = 0
    await this.#story.join(node)
  }

  async checkAll(): Promise<void> {
    const {store} = this.#story
    const live = [...this.#leases].filter(([, hold]) => hold.until > this.#now)
    assert.deepEqual(
      (await store.listLeases('')).map(({scope_key, lease_id}) => [scope_key, lease_id]).toSorted(),
      live.map(([key, {id}]) => [key, id]).toSorted(),
    )
    const open = [...this.#byKey.values()].filter((id) => !this.#acked.has(id))
    assert.deepEqual((await this.#story.waiting()).toSorted(), open.toSorted())
    const waiting = open.filter((id) => this.#holder(this.#claims.get(id)) === undefined)
    assert.equal((await store.queueStats('')).pending_count, waiting.length)
    assert.equal(await store.countPending('', {receiver: '2', limit: 1000}), waiting.length)
  }
}
