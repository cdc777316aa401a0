import {setTimeout as sleep} from 'node:timers/promises'
import type {Random} from '../faults/random.js'
import type {Call} from '../history/history.js'
import type {CallServer, ClientRequest} from './caller.js'
import type {SharedState} from './shared-state.js'

/** Context shared by all clients of a run. */
export interface Workload {
  call: CallServer
  shared: SharedState
  /** Duration of leases and claims, ms. */
  leaseMs: number
  scope: string
  /** Maximum request body accepted by the server, bytes. */
  maxBodyBytes: number
  generation: () => number
  /** Aborts when the clients must stop. */
  signal: AbortSignal
}

/** Context of one client: the shared context, its name and its own random stream. */
export interface ClientContext extends Omit<Workload, 'call'> {
  who: string
  random: Random
  call: (ask: ClientRequest) => Promise<Call>
  /** Waits; resolves early when the clients must stop. */
  pause: (ms: number) => Promise<void>
}

/** Runs a client until its signal aborts. */
export type Client = (context: ClientContext) => Promise<void>

/** Maximum pause between two actions of a client, ms. */
const maxPauseMs = 50
/** Maximum pause after a request without a response, ms. */
const maxBackoffMs = 120

export function createClientContext(workload: Workload, who: string, random: Random): ClientContext {
  const {signal, call} = workload
  const pause = async (ms: number) => {
    await sleep(ms, undefined, {signal}).catch(() => undefined)
  }
  return {
    ...workload,
    who,
    random,
    pause,
    async call(ask) {
      const called = await call(who, ask)
      // Do not flood a server that is down.
      if (called.status === undefined) await pause(random.integer(10, maxBackoffMs))
      return called
    },
  }
}

/** Repeats an action until the clients must stop. */
export async function repeatUntilStopped(context: ClientContext, act: () => Promise<void>): Promise<void> {
  while (!context.signal.aborted) {
    await act()
    await context.pause(context.random.integer(0, maxPauseMs))
  }
}

/**
 * Repeats a request until it is answered, as a client must do that does not know whether it took effect. Gives up when
 * the clients must stop.
 */
export async function callUntilAnswered(context: ClientContext, ask: ClientRequest, maxTries = 4): Promise<Call> {
  for (let tries = 1; ; tries++) {
    const call = await context.call(ask)
    const isKnown = call.status !== undefined && call.status !== 503
    if (isKnown || tries >= maxTries || context.signal.aborted) return call
  }
}
