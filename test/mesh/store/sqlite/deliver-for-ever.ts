/**
 * Delivers, claims, acknowledges, leases and sends heartbeats until it is killed, and prints the results:
 * `delivered ID`, `acked ID`, `granted KEY TOKEN`, `seen MS`, `refused CODE`. Arguments: database, bytes per message.
 */
import {openSqliteMeshStore} from '../../../../src/mesh/store/sqlite/open.js'
import {endOf, message} from '../conformance/story.js'
import {limits} from './open-store.js'

const [path = '', bytes = ''] = process.argv.slice(2)
const store = await openSqliteMeshStore(path, limits)
const say = (line: string) => process.stdout.write(`${line}\n`)
const payload = 'x'.repeat(Number(bytes))

async function attempt(work: () => Promise<string>): Promise<void> {
  try {
    say(await work())
  } catch (error) {
    say(`refused ${await endOf(Promise.reject(error))}`)
  }
}

await store.join('', {id: 'n1', version: '1.0.0', capabilities: {}})

async function deliver(): Promise<void> {
  for (;;)
    await attempt(async () => {
      const {message_id} = await store.deliver('', message({payload}))
      return `delivered ${message_id}`
    })
}

async function acknowledge(): Promise<void> {
  for (;;) {
    const found = await store.claim('', {receiver: '2', claimer: 'n1'}).catch(() => undefined)
    if (found === undefined) continue
    const acked = await endOf(store.ack('', {receiver: '2', message: found.id, claimer: 'n1'}))
    if (acked === 'ok') say(`acked ${found.id}`)
  }
}

async function lease(): Promise<void> {
  for (let i = 0; ; i++) {
    const granted = await store.grantLease('', {scopeKey: `${process.pid} ${i}`, claimer: 'n1'}).catch(() => undefined)
    if (granted !== undefined) say(`granted ${i} ${granted.fence_token}`)
  }
}

async function beat(): Promise<void> {
  for (;;) {
    const beaten = await store.heartbeat('', {facts: {id: 'n1'}, isFull: false}).catch(() => undefined)
    if (beaten !== undefined) say(`seen ${JSON.parse(beaten.record).last_seen_unix_ms}`)
  }
}

await Promise.all([deliver(), deliver(), acknowledge(), lease(), beat()])
