import {writeFile} from 'node:fs/promises'
import {setTimeout as sleep} from 'node:timers/promises'
import {type ClientContext, callUntilAnswered} from './clients/client-context.js'
import {takeMessage} from './clients/drain.js'
import {createMember} from './clients/member.js'
import type {PlannedFault, ServerFault} from './faults/schedule.js'
import {messagesOf, type RunEvent} from './history/history.js'
import type {FaultProxy, Point} from './proxy/fault-proxy.js'
import type {Keyring} from './server/keyring.js'
import type {Server} from './server/server.js'

/** What faults are made with. */
export interface Injection {
  server: Server
  proxy: FaultProxy
  keyring: Keyring
  secretsFile: string
  /** A client for what takes requests. */
  context: ClientContext
  /** Messages that may wait. */
  maxMessages: number
}

/** What a fault was, for the log. */
type Facts = Readonly<Record<string, unknown>>
type Act = (injection: Injection, degree: number) => Promise<Facts | undefined>

const hourMs = 3_600_000
/** Longest wait for a request that changes something, ms. */
const aimMs = 3000

/** Makes a fault, and waits until it is over. */
export async function inject(injection: Injection, {fault, degree}: PlannedFault): Promise<RunEvent> {
  const at = performance.now()
  const facts = await acts[fault](injection, degree)
  return {event: fault, at, until: performance.now(), ...facts}
}

const acts: Readonly<Record<ServerFault, Act>> = {
  kill: async ({server}) => {
    await server.kill()
    await server.start()
    return undefined
  },
  kill_before_commit: async (injection, degree) => killAt('forwarded', degree * 6, injection),
  kill_after_commit: async (injection) => killAt('answered', 0, injection),
  restart: async ({server}) => {
    await server.terminate()
    await server.start()
    return undefined
  },
  freeze: async ({server, context}, degree) => {
    const ms = Math.round(context.leaseMs * (0.5 + 1.5 * degree))
    await server.freeze(ms)
    return {ms}
  },
  clock_forward: async ({server}, degree) => step(server, degree < 0.3 ? 4000 : hourMs),
  clock_back: async ({server}, degree) => step(server, degree < 0.3 ? -4000 : -hourMs),
  clock_across_restart: async ({server}, degree) => {
    await server.kill()
    const stepped = step(server, degree < 0.5 ? -hourMs : hourMs)
    await server.start()
    return stepped
  },
  rotate_tokens: (injection, degree) => rotate(injection, degree < 0.25),
  heartbeat_storm: ({context}) => storm(context),
  flood: ({context, maxMessages}) => flood(context, maxMessages),
}

/** Kills the server when a request is at a point of its way, or a moment later. */
async function killAt(point: Point, afterMs: number, {server, proxy}: Injection): Promise<Facts> {
  const hit = await new Promise<boolean>((resolve) => {
    const late = setTimeout(() => resolve(false), aimMs)
    proxy.aim(point, () => {
      clearTimeout(late)
      resolve(true)
    })
  })
  if (afterMs > 0) await sleep(afterMs)
  await server.kill()
  await server.start()
  return {hit}
}

function step(server: Server, shift: number): Facts {
  server.setClock(shift)
  return {shift}
}

/** Longest until a server goes by new secrets, ms, and how often it is asked, ms. */
const rotationMs = 15_000
const askEveryMs = 50
const remindEvery = 20

async function rotate({keyring, secretsFile, server, context}: Injection, isBootstrapExpired: boolean): Promise<Facts> {
  const generation = keyring.add({isBootstrapExpired})
  await writeFile(secretsFile, keyring.environmentFile(generation), {mode: 0o600})
  for (let asked = 0; asked * askEveryMs < rotationMs; asked++) {
    if (asked % remindEvery === 0) server.reload()
    const list = await context.call({operation: 'list_nodes', body: {limit: 1}, shown: {role: 'admin', generation}})
    if (list.status === 200) {
      keyring.current = generation
      return {generation, isTaken: true, bootstrap: isBootstrapExpired ? 'expired' : 'fresh'}
    }
    await sleep(askEveryMs)
  }
  return {generation, isTaken: false}
}

const stormNodes = 60
const stormHeartbeats = 10

/** Many nodes, each with heartbeats at once. */
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

/** The agent that is flooded; nobody else reads what goes to it. */
export const floodedAgent = '77'
const floodWidth = 16

/** Delivers until nothing more is taken, sees that it is refused, and then works it off. */
async function flood(context: ClientContext, maxMessages: number): Promise<Facts> {
  const {random, call} = context
  const round = random.integer(0, 10 ** 9)
  let count = 0
  let refused = 0
  await width(floodWidth, async () => {
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
  await width(floodWidth, (lane) => workOff(context, floodedAgent, `flood-${lane}`))
  return {delivered: count - refused, refused}
}

const width = (lanes: number, act: (lane: number) => Promise<void>): Promise<unknown> =>
  Promise.all(Array.from({length: lanes}, (_, lane) => act(lane)))

/** Claims and acknowledges as one node until nothing is left for an agent. */
async function workOff(context: ClientContext, agent: string, node: string): Promise<void> {
  await callUntilAnswered(context, createMember(context, node).entry())
  while (messagesOf(await takeMessage(context, agent, node)).length > 0);
}
