import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {Worker} from 'node:worker_threads'
import {median, round} from '../../../src/bench/measure.js'
import {openSqliteMeshStore, readCredentials, routes, startControlPlane} from '../../../src/mesh/index.js'
import {mainThreadMs} from './processor.js'
import {fill, limits} from './servers.js'

const nodes = 5000
/** Lists, or calls of `JSON.stringify`, per round: a single one is shorter than the resolution of the measurement. */
const atOnce = 20
const warmUp = 2
const rounds = 15

/** Sends requests from a separate thread, so that this one only runs the server, and reports the received bytes. */
const asker = `
const {parentPort} = require('node:worker_threads')
const {get} = require('node:http')
parentPort.on('message', (url) => get(url, {agent: false}, (response) => {
  let bytes = 0
  response.on('data', (piece) => { bytes += piece.length })
  response.on('end', () => parentPort.postMessage(bytes))
}))`

/**
 * Work of this thread per call, ms, over a number of calls: processor time if available, else the active time of the
 * event loop.
 */
async function work(times: number, one: () => Promise<unknown> | unknown): Promise<number> {
  const processor = mainThreadMs()
  const idle = performance.eventLoopUtilization()
  for (let n = 0; n < times; n++) await one()
  const {active} = performance.eventLoopUtilization(idle)
  const spent = mainThreadMs() - processor
  return (Number.isNaN(spent) ? active : spent) / times
}

/** The longest iteration of the event loop during an operation, ms. */
async function longestTurn(one: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let last = performance.now()
  let isOver = false
  const turn = () => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await one()
  isOver = true
  return longest
}

/**
 * A list of 5,000 nodes, measured in the server process. The work of a response, from the accepted connection to the
 * last byte, is compared with `JSON.stringify` of its value. The longest time for which it blocks the event loop is
 * given as median and minimum, because other load on the machine can only increase it.
 */
export async function meshNodes() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const path = join(folder, 'mesh.db')
  await fill(path, nodes)
  const server = await startControlPlane({
    address: {host: '127.0.0.1', port: 0},
    store: await openSqliteMeshStore(path, limits),
    credentials: readCredentials({}),
    scope: '',
    maxBodyBytes: 524_288,
    stalePruneMs: 0,
    heartbeatsPerSec: 5000,
  })
  const url = server.baseUrl + routes.list_nodes.path
  const worker = new Worker(asker, {eval: true})
  const ask = () =>
    new Promise<number>((resolve) => {
      worker.once('message', resolve)
      worker.postMessage(url)
    })
  try {
    const answer = await (await fetch(url)).text()
    const value = JSON.parse(answer)
    if (value.nodes.length !== nodes || (await ask()) !== Buffer.byteLength(answer))
      throw new Error(`${value.nodes.length} nodes are listed`)
    const costs = {list: [] as number[], stringify: [] as number[], turn: [] as number[]}
    for (let n = -warmUp; n < rounds; n++) {
      const list = await work(atOnce, ask)
      const stringify = await work(atOnce, () => JSON.stringify(value))
      const turns: number[] = []
      for (let i = 0; i < atOnce; i++) turns.push(await longestTurn(ask))
      if (n < 0) continue
      costs.list.push(list)
      costs.stringify.push(stringify)
      costs.turn.push(...turns)
    }
    return {
      nodes,
      bytes: Buffer.byteLength(answer),
      list_ms: round(median(costs.list), 2),
      stringify_ms: round(median(costs.stringify), 2),
      list_to_stringify: round(median(costs.list.map((one, i) => one / (costs.stringify[i] as number))), 3),
      longest_turn_ms: round(median(costs.turn), 2),
      least_longest_turn_ms: round(Math.min(...costs.turn), 2),
    }
  } finally {
    await worker.terminate()
    await server.close(1000)
    await rm(folder, {recursive: true})
  }
}
