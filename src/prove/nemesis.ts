import {setTimeout as sleep} from 'node:timers/promises'
import {type ClientContext, callUntilAnswered} from './clients/client-context.js'
import {takeMessage} from './clients/drain.js'
import {createMember} from './clients/member.js'
import type {Peer, Peers} from './delegation/peers.js'
import type {DatabaseFault, PeerFault, PlannableFault, PlannedFault, ServerFault} from './faults/schedule.js'
import {messagesOf, type RunEvent} from './history/history.js'
import type {FaultProxy, Point} from './proxy/fault-proxy.js'
import {type DatabaseUnderTest, disconnectAll} from './server/database.js'
import {accepts} from './server/health.js'
import type {Keyring} from './server/keyring.js'
import type {Replica, Servers} from './server/servers.js'

/** Handles that the faults act on. */
export interface Injection {
  servers: Servers
  peers: Peers | undefined
  database: DatabaseUnderTest | undefined
  proxy: FaultProxy
  keyring: Keyring
  writeSecrets: (generation: number) => Promise<void>
  /** Client that sends the requests of faults such as floods. */
  context: ClientContext
  maxMessages: number
}

/** Details of a fault, for the log. */
type Facts = Readonly<Record<string, unknown>>
type Act = (injection: Injection, degree: number) => Promise<Facts | undefined>
type PeerAct = (injection: Injection & {peers: Peers}, degree: number) => Promise<Facts>
type DatabaseAct = (database: DatabaseUnderTest, injection: Injection, degree: number) => Promise<Facts | undefined>

const hourMs = 3_600_000
/** Timeout of the wait for a write request, ms. */
const aimMs = 3000

/** Injects a fault and waits until it is over. */
export async function inject(injection: Injection, {fault, degree}: PlannedFault): Promise<RunEvent> {
  const at = performance.now()
  const facts = await act(injection, fault, degree)
  return {event: fault, at, until: performance.now(), ...facts}
}

async function act(injection: Injection, fault: PlannableFault, degree: number): Promise<Facts | undefined> {
  const {peers, database} = injection
  if (isOf(acts, fault)) return acts[fault](injection, degree)
  if (isOf(peerActs, fault)) return peers && peerActs[fault]({...injection, peers}, degree)
  return database && databaseActs[fault](database, injection, degree)
}

const isOf = <K extends string>(table: Readonly<Record<K, unknown>>, fault: string): fault is K => fault in table

const acts: Readonly<Record<ServerFault, Act>> = {
  kill: async ({servers}, degree) => {
    const {program} = one(servers.all, degree)
    await program.kill()
    await program.start()
    return undefined
  },
  kill_before_commit: async (injection, degree) => killAt('forwarded', degree * 6, injection),
  kill_after_commit: async (injection) => killAt('answered', 0, injection),
  restart: async ({servers}, degree) => {
    const {program} = one(servers.all, degree)
    await program.terminate()
    await program.start()
    return undefined
  },
  freeze: async ({servers, context}, degree) => {
    const ms = Math.round(context.leaseMs * (0.5 + 1.5 * degree))
    await one(servers.all, degree).program.freeze(ms)
    return {ms}
  },
  clock_forward: async ({servers}, degree) => step(servers, degree < 0.3 ? 4000 : hourMs),
  clock_back: async ({servers}, degree) => step(servers, degree < 0.3 ? -4000 : -hourMs),
  clock_across_restart: async ({servers}, degree) => {
    await servers.stop('kill')
    const stepped = step(servers, degree < 0.5 ? -hourMs : hourMs)
    await servers.start()
    return stepped
  },
  rotate_tokens: (injection, degree) => rotate(injection, degree < 0.25),
  heartbeat_storm: ({context}) => storm(context),
  flood: ({context, maxMessages}) => flood(context, maxMessages),
}

const peerActs: Readonly<Record<PeerFault, PeerAct>> = {
  orchestrator_kill: ({peers}, degree) => restart(one(peers.orchestrators, degree)),
  worker_kill: ({peers}, degree) => restart(one(peers.workers, degree)),
  joint_kill: ({peers}, degree) => restart(one(peers.orchestrators, degree), one(peers.workers, 1 - degree)),
  orchestrator_freeze: ({peers, context}, degree) => suspend(one(peers.orchestrators, degree), context, degree),
  worker_freeze: ({peers, context}, degree) => suspend(one(peers.workers, degree), context, degree),
  orchestrator_cut: ({peers, context}, degree) => cut(one(peers.orchestrators, degree), context, degree),
  worker_cut: ({peers, context}, degree) => cut(one(peers.workers, degree), context, degree),
  async orchestrator_clock({peers}, degree) {
    const peer = one(peers.orchestrators, degree)
    const shift = Math.round((degree - 0.5) * 2 * hourMs)
    peer.program.setClock(shift)
    return {who: peer.name, shift}
  },
  async worker_quarantine({peers, context}, degree) {
    const {name} = one(peers.workers, degree)
    const order = (quarantined: boolean) =>
      callUntilAnswered(context, {operation: 'admin_quarantine', body: {node_id: name, quarantined}})
    await order(true)
    await sleep(context.leaseMs * degree)
    await order(false)
    return {who: name}
  },
}

const databaseActs: Readonly<Record<DatabaseFault, DatabaseAct>> = {
  database_disconnect: async ({url}) => ({connections: await disconnectAll(url)}),
  async database_restart({restart}) {
    await restart?.()
    return undefined
  },
  async database_clock({setClock}, _, degree) {
    const shift = Math.round((degree - 0.5) * 2 * hourMs)
    await setClock?.(shift)
    return {shift}
  },
  async database_full({setFull}, {context}, degree) {
    await setFull?.(true)
    await sleep(context.leaseMs * degree)
    await setFull?.(false)
    return undefined
  },
}

/** Chooses a program by the last digits of the degree, which the fault itself uses as a whole. */
function one<T extends Peer | Replica>(programs: readonly T[], degree: number): T {
  const program = programs[Math.floor(degree * 997) % programs.length]
  if (program === undefined) throw new RangeError('There is no such program.')
  return program
}

/** Kills programs at the same time and starts them again. */
async function restart(...peers: readonly Peer[]): Promise<Facts> {
  await Promise.all(peers.map(({program}) => program.kill()))
  await Promise.all(peers.map(({program}) => program.start()))
  return {who: peers.map(({name}) => name).join(' and ')}
}

async function suspend({name, program}: Peer, {leaseMs}: ClientContext, degree: number): Promise<Facts> {
  const ms = Math.round(leaseMs * (0.5 + 1.5 * degree))
  await program.freeze(ms)
  return {who: name, ms}
}

async function cut({name, proxy}: Peer, {leaseMs}: ClientContext, degree: number): Promise<Facts> {
  const ms = Math.round(leaseMs * (1 + degree))
  proxy.isCut = true
  await sleep(ms)
  proxy.isCut = false
  return {who: name, ms}
}

/** Kills a server `afterMs` after a request has reached a point there. */
async function killAt(point: Point, afterMs: number, {servers, proxy}: Injection): Promise<Facts> {
  const hit = await new Promise<number | undefined>((resolve) => {
    const late = setTimeout(() => resolve(undefined), aimMs)
    proxy.aim(point, (port) => {
      clearTimeout(late)
      resolve(port)
    })
  })
  if (afterMs > 0) await sleep(afterMs)
  const {program} = servers.all.find(({port}) => port === hit) ?? one(servers.all, 0)
  await program.kill()
  await program.start()
  return {hit: hit !== undefined}
}

function step(servers: Servers, shift: number): Facts {
  for (const {program} of servers.all) program.setClock(shift)
  return {shift}
}

/** Timeout until all servers accept new tokens, poll interval, both ms, and polls per SIGHUP. */
const rotationMs = 15_000
const pollMs = 50
const pollsPerReload = 20

async function rotate({keyring, writeSecrets, servers}: Injection, isBootstrapExpired: boolean): Promise<Facts> {
  const generation = keyring.add({isBootstrapExpired})
  await writeSecrets(generation)
  const token = keyring.textOf({role: 'admin', generation}, undefined, 0) ?? ''
  for (let polls = 0; polls * pollMs < rotationMs; polls++) {
    if (polls % pollsPerReload === 0) for (const {program} of servers.all) program.reload()
    const accepted = await Promise.all(servers.all.map(({port}) => accepts(port, token)))
    if (accepted.every(Boolean)) {
      keyring.current = generation
      return {generation, isTaken: true, bootstrap: isBootstrapExpired ? 'expired' : 'fresh'}
    }
    await sleep(pollMs)
  }
  return {generation, isTaken: false}
}

const stormNodes = 60
const stormHeartbeats = 10

/** Sends concurrent heartbeats of many nodes. */
async function storm(context: ClientContext): Promise<Facts> {
  const members = Array.from({length: stormNodes}, (_, i) => createMember(context, `storm-${i}`))
  await Promise.all(
    members.map(async (member) => {
      await member.join()
      await Promise.all(Array.from({length: stormHeartbeats}, () => context.call(member.heartbeat())))
    }),
  )
  return {beats: stormNodes * stormHeartbeats}
}

/** Agent that is flooded. No other client reads its inbox. */
export const floodedAgent = '77'
const floodWidth = 16

/** Delivers messages until the inbox is full, then acknowledges all of them. */
async function flood(context: ClientContext, maxMessages: number): Promise<Facts> {
  const {random, call} = context
  const round = random.integer(0, 10 ** 9)
  let count = 0
  let refused = 0
  await inParallel(floodWidth, async () => {
    while (refused < floodWidth && count < 2 * maxMessages && !context.signal.aborted) {
      const number = ++count
      const {code} = await call({
        operation: 'a2a_deliver',
        body: {
          sender_agent_id: '78',
          receiver_agent_id: floodedAgent,
          message_type: 'free_form',
          payload: `flood ${round} ${number}`,
          idempotency_key: `flood-${round}-${number}`,
        },
      })
      if (code === 'inbox_full') refused++
    }
  })
  await inParallel(floodWidth, (lane) => emptyInbox(context, floodedAgent, `flood-${lane}`))
  return {delivered: count - refused, refused}
}

const inParallel = (lanes: number, act: (lane: number) => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({length: lanes}, (_, lane) => act(lane)))

/** Claims and acknowledges all messages of an agent as one node. */
async function emptyInbox(context: ClientContext, agent: string, node: string): Promise<void> {
  await callUntilAnswered(context, createMember(context, node).entry())
  while (messagesOf(await takeMessage(context, agent, node)).length > 0);
}
