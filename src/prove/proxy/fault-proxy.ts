import {once} from 'node:events'
import {type AddressInfo, createServer, type Socket} from 'node:net'
import {setTimeout as sleep} from 'node:timers/promises'
import {type ConnectionFault, drawFault, type FaultRates} from '../faults/connection-faults.js'
import type {Random} from '../faults/random.js'
import type {Log} from '../history/log.js'
import {send, type Transit, type TransitOptions} from './forwarded-request.js'
import {type RequestFrame, readRequest} from './request-frame.js'

export interface ProxyOptions {
  /** Port of the server, on this machine. */
  target: number
  random: Random
  rates: FaultRates
  log: Pick<Log, 'passed'>
  /** Longest that a request is held back, ms. */
  longestDelayMs: number
}

/** Where on its way a request is when something is done to the server. */
export type Point = 'forwarded' | 'answered'

export interface TcpProxy {
  readonly port: number
  /** Does something once, at the moment at which the next request that changes anything is at a point of its way. */
  aim(point: Point, act: () => void): void
  /** From now on nothing happens to requests. */
  heal(): void
  /** The process of the server has ended: what it was asked has no effect any more. */
  serverEnded(): void
  /** Ends, and writes down what was still open. */
  close(): Promise<void>
}

/** What is on its way for one call. */
interface Passage {
  id: number
  fault?: ConnectionFault | undefined
  transits: Transit[]
  isOver: boolean
}

/**
 * Stands between the clients and the server: one request for each connection. Faults are drawn from the seed, and every
 * request is written down with the times at which it reached the server and after which it could do nothing more.
 */
export async function startProxy(options: ProxyOptions): Promise<TcpProxy> {
  const {target, random, log, longestDelayMs} = options
  let {rates} = options
  const healthy = Object.fromEntries(Object.keys(rates).map((name) => [name, 0])) as FaultRates
  const open = new Set<Passage>()
  const sockets = new Set<Socket>()
  let aimed: {point: Point; act: () => void} | undefined
  /** Requests that wait until one is ahead of them. */
  let overtaken: (() => void)[] = []

  const server = createServer({allowHalfOpen: true}, (client) => {
    sockets.add(client)
    client.once('close', () => sockets.delete(client))
    client.on('error', () => undefined)
    client.setNoDelay(true)
    void pass(client)
  })

  async function pass(client: Socket): Promise<void> {
    const frame = await readRequest(client)
    if (frame === undefined) return void client.destroy()
    const fault = drawFault(random, rates)
    const passage: Passage = {id: frame.id, fault, transits: [], isOver: false}
    open.add(passage)
    const answer = await ways[fault ?? 'none'](frame, passage)
    if (answer === undefined) client.destroy()
    else client.end(answer)
    await Promise.all(passage.transits.map((transit) => transit.answer))
    passage.isOver = true
    conclude(passage)
  }

  /** How a request goes, by what happens to it; gives what the client is told. */
  const ways: Record<ConnectionFault | 'none', (frame: RequestFrame, passage: Passage) => Promise<Buffer | undefined>> =
    {
      none: (frame, passage) => forward(frame, passage),
      drop_before: async () => undefined,
      drop_after: async (frame, passage) => {
        await forward(frame, passage)
        return undefined
      },
      delay: async (frame, passage) => {
        const isBefore = random.chance(0.5)
        const delayMs = random.integer(10, longestDelayMs)
        if (isBefore) await sleep(delayMs)
        const answer = await forward(frame, passage)
        if (!isBefore) await sleep(delayMs)
        return answer
      },
      duplicate: async (frame, passage) => {
        const first = forward(frame, passage)
        await sleep(random.chance(0.5) ? 0 : random.integer(1, longestDelayMs))
        void forward(frame, passage)
        return first
      },
      reorder: async (frame, passage) => {
        await Promise.race([new Promise<void>((resolve) => overtaken.push(resolve)), sleep(longestDelayMs)])
        return forward(frame, passage)
      },
      half_close: (frame, passage) => forward(frame, passage, {isHalfClosed: true}),
      cut: (frame, passage) => {
        const {bytes, headLength} = frame
        const isInBody = bytes.length > headLength
        const cutAt = isInBody ? random.integer(headLength, bytes.length - 1) : random.integer(1, headLength - 1)
        return forward(frame, passage, {cutAt})
      },
    }

  function forward(
    frame: RequestFrame,
    {transits}: Passage,
    way: Pick<TransitOptions, 'cutAt' | 'isHalfClosed'> = {},
  ): Promise<Buffer | undefined> {
    let isLost = false
    const transit = send(frame, {
      ...way,
      port: target,
      onForwarded: () => {
        fire('forwarded', frame)
        const waiting = overtaken
        overtaken = []
        for (const goOn of waiting) goOn()
      },
      onAnswer: () => {
        // Whoever was struck at this point does not get the answer.
        isLost = fire('answered', frame)
      },
    })
    transits.push(transit)
    return transit.answer.then((answer) => (isLost ? undefined : answer))
  }

  function fire(point: Point, {method}: RequestFrame): boolean {
    if (aimed?.point !== point || method === 'GET') return false
    const {act} = aimed
    aimed = undefined
    act()
    return true
  }

  /** Writes a call down once nothing can come of it any more. */
  function conclude(passage: Passage, isLast = false): void {
    const {id, fault, transits, isOver} = passage
    const copies = transits.flatMap(({copy}) => (copy === undefined ? [] : [copy]))
    const isSettled = isOver && copies.every(({settled}) => settled !== undefined)
    if (!open.has(passage) || !(isSettled || isLast)) return
    open.delete(passage)
    log.passed({id, ...(fault === undefined ? {} : {fault}), copies})
  }

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    aim: (point, act) => {
      aimed = {point, act}
    },
    heal: () => {
      rates = healthy
      aimed = undefined
    },
    serverEnded: () => {
      for (const passage of open) {
        for (const transit of passage.transits) transit.lapse()
        conclude(passage)
      }
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
      for (const passage of open) conclude(passage, true)
    },
  }
}
