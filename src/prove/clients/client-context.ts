import {setTimeout as sleep} from 'node:timers/promises'
import type {Random} from '../faults/random.js'
import type {Call} from '../history/history.js'
import type {CallServer, ClientRequest} from './caller.js'
import type {SharedState} from './shared-state.js'

/** What all clients of a run have in common. */
export interface Workload {
  call: CallServer
  shared: SharedState
  /** How long a lease or a claim holds, ms. */
  leaseMs: number
  scope: string
  /** Largest body that the server takes, bytes. */
  maxBodyBytes: number
  /** Of the tokens that are shown now. */
  generation: () => number
  /** Aborts when clients are to stop. */
  signal: AbortSignal
}

/** What one client has: what all have, its name, and its own part of the seed. */
export interface ClientContext extends Omit<Workload, 'call'> {
  who: string
  random: Random
  call: (ask: ClientRequest) => Promise<Call>
  /** Waits; resolves early where the clients are to stop. */
  pause: (ms: number) => Promise<void>
}

/** A client: does what it does until it is to stop. */
export type Client = (context: ClientContext) => Promise<void>

/** Between two requests of a client, ms at most: what it would work in the meantime. */
const longestThoughtMs = 50
/** After a request that was not answered, ms at most. */
const longestRetreatMs = 120

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
      // A server that is not there is not asked as often as one that is.
      if (called.status === undefined) await pause(random.integer(10, longestRetreatMs))
      return called
    },
  }
}

/** Does something again and again until clients are to stop. */
export async function repeatUntilStopped(context: ClientContext, act: () => Promise<void>): Promise<void> {
  while (!context.signal.aborted) {
    await act()
    await context.pause(context.random.integer(0, longestThoughtMs))
  }
}

/**
 * Sends a request until it is answered, as a client must that does not know what became of it; gives up when clients are
 * to stop.
 */
export async function callUntilAnswered(context: ClientContext, ask: ClientRequest, mostTries = 4): Promise<Call> {
  for (let tries = 1; ; tries++) {
    const call = await context.call(ask)
    const isKnown = call.status !== undefined && call.status !== 503
    if (isKnown || tries >= mostTries || context.signal.aborted) return call
  }
}
