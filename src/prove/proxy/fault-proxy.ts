import {once} from 'node:events'
import {type AddressInfo, createServer, type Socket} from 'node:net'
import {setTimeout as sleep} from 'node:timers/promises'
import {type ConnectionFault, drawFault, type FaultRates, noFaults} from '../faults/connection-faults.js'
import type {Random} from '../faults/random.js'
import type {Log} from '../history/log.js'
import {type ForwardedRequest, type ForwardOptions, send} from './forwarded-request.js'
import {type RequestFrame, readRequest} from './request-frame.js'

export interface ProxyOptions {
  /** Chooses the port of a server, on this machine, for a request. */
  target: () => number
  random: Random
  rates: FaultRates
  log: Pick<Log, 'passed'>
  /** Maximum delay of a request, ms. */
  maxDelayMs: number
  /** Reads the requests of a program, which does not log them itself. */
  observer?: Observer | undefined
}

/** Logs the requests of a program. */
export interface Observer {
  /** Number of the next request. */
  nextId(): number
  /** Called at the end of each request. Times are on the monotonic clock, ms; without `answer` no response was sent. */
  answered(exchange: {frame: RequestFrame; sent: number; answered: number; answer: Buffer | undefined}): void
}

/** Stage of a request at which the server is killed. */
export type Point = 'forwarded' | 'answered'

interface ProxiedCall {
  frame: RequestFrame
  fault: ConnectionFault | undefined
  /** Copies sent to the server: up to two. */
  copies: ForwardedRequest[]
  isOver: boolean
}

/**
 * Proxy between the clients and the servers, with one request per connection. It injects seeded connection faults and
 * logs when each request reached a server and when it could no longer take effect.
 */
export class FaultProxy {
  readonly #options: ProxyOptions
  readonly #server = createServer({allowHalfOpen: true}, (client) => void this.#accept(client))
  readonly #open = new Set<ProxiedCall>()
  readonly #sockets = new Set<Socket>()
  #aimed: {point: Point; act: (port: number) => void} | undefined
  #isHealed = false
  #isCut = false
  /** Releases the requests that wait to be overtaken. */
  #overtaken: (() => void)[] = []

  /** Forwarding strategy for each fault; resolves with the response for the client. */
  readonly #deliveries: Record<ConnectionFault | 'none', (call: ProxiedCall) => Promise<Buffer | undefined>> = {
    none: (call) => this.#forward(call),
    drop_before: async () => undefined,
    drop_after: async (call) => {
      await this.#forward(call)
      return undefined
    },
    delay: async (call) => {
      const {random, maxDelayMs} = this.#options
      const isBefore = random.chance(0.5)
      const delayMs = random.integer(10, maxDelayMs)
      if (isBefore) await sleep(delayMs)
      const answer = await this.#forward(call)
      if (!isBefore) await sleep(delayMs)
      return answer
    },
    duplicate: async (call) => {
      const {random, maxDelayMs} = this.#options
      const first = this.#forward(call)
      await sleep(random.chance(0.5) ? 0 : random.integer(1, maxDelayMs))
      void this.#forward(call)
      return first
    },
    reorder: async (call) => {
      const isOvertaken = new Promise<void>((resolve) => this.#overtaken.push(resolve))
      await Promise.race([isOvertaken, sleep(this.#options.maxDelayMs)])
      return this.#forward(call)
    },
    half_close: (call) => this.#forward(call, {isHalfClosed: true}),
    cut: (call) => {
      const {bytes, headLength} = call.frame
      const [from, to] = bytes.length > headLength ? [headLength, bytes.length - 1] : [1, headLength - 1]
      return this.#forward(call, {cutAt: this.#options.random.integer(from, to)})
    },
  }

  constructor(options: ProxyOptions) {
    this.#options = options
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Calls `act` once with the port of the server, when the next write request reaches a point. */
  aim(point: Point, act: (port: number) => void): void {
    this.#aimed = {point, act}
  }

  /** Breaks all connections and refuses new ones until it is set to false. */
  set isCut(isCut: boolean) {
    this.#isCut = isCut
    if (isCut) for (const socket of this.#sockets) socket.destroy()
  }

  /** Stops injecting faults. */
  heal(): void {
    this.#isHealed = true
    this.#aimed = undefined
  }

  /** Must be called when a server process has exited: its open requests can no longer take effect. */
  serverEnded(port: number): void {
    for (const call of this.#open) {
      for (const copy of call.copies) if (copy.port === port) copy.lapse()
      this.#conclude(call)
    }
  }

  /** Stops the proxy and logs the open requests. */
  async close(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
    for (const call of this.#open) this.#conclude(call, true)
  }

  async #accept(client: Socket): Promise<void> {
    if (this.#isCut) return void client.destroy()
    this.#sockets.add(client)
    client.once('close', () => this.#sockets.delete(client))
    client.on('error', () => undefined)
    client.setNoDelay(true)
    const frame = await readRequest(client)
    if (frame === undefined) return void client.destroy()
    const {random, rates, observer} = this.#options
    const sent = performance.now()
    if (observer !== undefined) frame.id = observer.nextId()
    const fault = drawFault(random, this.#isHealed ? noFaults : rates)
    const call: ProxiedCall = {frame, fault, copies: [], isOver: false}
    this.#open.add(call)
    const answer = await this.#deliveries[fault ?? 'none'](call)
    const isLost = answer === undefined || client.destroyed
    observer?.answered({frame, sent, answered: performance.now(), answer: isLost ? undefined : answer})
    if (answer === undefined) client.destroy()
    else client.end(answer)
    await Promise.all(call.copies.map((copy) => copy.answer))
    call.isOver = true
    this.#conclude(call)
  }

  /** Sends a copy to the server and resolves with the response; undefined if it was lost. */
  async #forward(
    {frame, copies}: ProxiedCall,
    options: Pick<ForwardOptions, 'cutAt' | 'isHalfClosed'> = {},
  ): Promise<Buffer | undefined> {
    let isLost = false
    const port = this.#options.target()
    const copy = send(frame, {
      ...options,
      port,
      onForwarded: () => {
        this.#fire('forwarded', port, frame)
        for (const proceed of this.#overtaken.splice(0)) proceed()
      },
      onAnswer: () => {
        // A response that triggers an aimed fault is lost.
        isLost = this.#fire('answered', port, frame)
      },
    })
    copies.push(copy)
    const answer = await copy.answer
    return isLost ? undefined : answer
  }

  #fire(point: Point, port: number, {method}: RequestFrame): boolean {
    if (this.#aimed?.point !== point || method === 'GET') return false
    const {act} = this.#aimed
    this.#aimed = undefined
    act(port)
    return true
  }

  /** Logs a call once it can no longer take effect. */
  #conclude(call: ProxiedCall, isLast = false): void {
    const {frame, fault, isOver} = call
    const copies = call.copies.flatMap(({copy}) => copy ?? [])
    const isSettled = isOver && copies.every(({settled}) => settled !== undefined)
    if (!this.#open.has(call) || !(isSettled || isLast)) return
    this.#open.delete(call)
    this.#options.log.passed({id: frame.id, ...(fault === undefined ? {} : {fault}), copies})
  }
}
