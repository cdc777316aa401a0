import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {Pool} from 'undici'
import {median, round} from '../../../src/bench/measure.js'
import {processorTimeOf} from '../../runner/processor-time.js'
import {projectFile} from '../../support/project.js'

const source = `@table type Task { title: str, done: bool, n: int }
@endpoint(kind: query) fn one(id: Id[Task]) to Option[Task] { return db.Task.get(id) }
@endpoint(kind: mutation) fn add(title: str, n: int) to Id[Task] { return db.Task.insert({ title: title, done: false, n: n }) }
`

/** Number of concurrent requests. */
const connections = 16
const roundMs = 1200
const rounds = 7

interface Server {
  process: ChildProcess
  pool: Pool
}

/** Starts a server whose first line of output contains its address. */
async function start(args: readonly string[]): Promise<Server> {
  const child = spawn(process.execPath, args, {stdio: ['ignore', 'pipe', 'inherit']})
  const [line] = (await once(createInterface({input: child.stdout}), 'line')) as [string]
  return {process: child, pool: new Pool((JSON.parse(line) as {base_url: string}).base_url, {connections})}
}

async function request(pool: Pool, kind: 'read' | 'insert', i: number): Promise<void> {
  const {statusCode, body} =
    kind === 'read'
      ? await pool.request({method: 'GET', path: `/api/query/one?id=${(i % 1000) + 1}`})
      : await pool.request({
          method: 'POST',
          path: '/api/mutation/add',
          headers: {'content-type': 'application/json'},
          body: `{"title":"task ${i}","n":${i}}`,
        })
  await body.dump()
  if (statusCode !== 200) throw new Error(`${kind} was answered with ${statusCode}`)
}

interface Load {
  /** Requests per second. */
  rate: number
  /** Processor time of the server per request, µs: it depends less than the rate on what else the machine runs. */
  work: number
}

/** Sends requests for some time. */
async function load({process: {pid = 0}, pool}: Server, kind: 'read' | 'insert'): Promise<Load> {
  let done = 0
  const before = processorTimeOf(pid) ?? 0
  const started = performance.now()
  const client = async () => {
    while (performance.now() - started < roundMs) await request(pool, kind, done++)
  }
  await Promise.all(Array.from({length: connections}, client))
  const work = (((processorTimeOf(pid) ?? 0) - before) * 1e6) / done
  return {rate: (done * 1000) / (performance.now() - started), work}
}

/** Reads by primary key and inserts with the real server, compared with a handwritten handler. */
export async function langHttp() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const program = join(folder, 'tasks.svc')
  await writeFile(program, source)
  const svc = await start([
    projectFile('bin/svc.js'),
    'db',
    'serve',
    program,
    '--db',
    join(folder, 'svc.db'),
    '--port',
    '0',
    '--json',
    '--quiet',
  ])
  const hand = await start([fileURLToPath(new URL('handwritten-server.js', import.meta.url)), join(folder, 'hand.db')])
  try {
    for (const {pool} of [svc, hand]) for (let i = 0; i < 1000; i++) await request(pool, 'insert', i)
    const result: Record<string, unknown> = {connections}
    for (const kind of ['read', 'insert'] as const) {
      const loads = {svc: [] as Load[], hand: [] as Load[]}
      for (let i = -1; i < rounds; i++) {
        const pair =
          i % 2 === 0
            ? [await load(svc, kind), await load(hand, kind)]
            : [await load(hand, kind), await load(svc, kind)].reverse()
        if (i < 0) continue
        loads.svc.push(pair[0] as Load)
        loads.hand.push(pair[1] as Load)
      }
      const ofRounds = (figure: (svc: Load, hand: Load) => number) =>
        median(loads.svc.map((one, i) => figure(one, loads.hand[i] as Load)))
      result[kind] = {
        svc_per_s: round(median(loads.svc.map(({rate}) => rate)), 0),
        hand_per_s: round(median(loads.hand.map(({rate}) => rate)), 0),
        ratio: round(
          ofRounds((one, other) => one.rate / other.rate),
          3,
        ),
        svc_us: round(median(loads.svc.map(({work}) => work))),
        hand_us: round(median(loads.hand.map(({work}) => work))),
        processor_ratio: round(
          ofRounds((one, other) => other.work / one.work),
          3,
        ),
      }
    }
    return result
  } finally {
    for (const {process: child, pool} of [svc, hand]) {
      await pool.close()
      child.kill()
    }
    await rm(folder, {recursive: true})
  }
}
