import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {Pool} from 'undici'
import {median, round} from '../../../src/bench/measure.js'
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

/** Requests per second during a time. */
async function load({pool}: Server, kind: 'read' | 'insert'): Promise<number> {
  let done = 0
  const started = performance.now()
  const client = async () => {
    while (performance.now() - started < roundMs) await request(pool, kind, done++)
  }
  await Promise.all(Array.from({length: connections}, client))
  return (done * 1000) / (performance.now() - started)
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
      const rates = {svc: [] as number[], hand: [] as number[]}
      for (let i = -1; i < rounds; i++) {
        const pair =
          i % 2 === 0
            ? [await load(svc, kind), await load(hand, kind)]
            : [await load(hand, kind), await load(svc, kind)].reverse()
        if (i < 0) continue
        rates.svc.push(pair[0] as number)
        rates.hand.push(pair[1] as number)
      }
      const ratios = rates.svc.map((rate, i) => rate / (rates.hand[i] as number))
      result[kind] = {
        svc_per_s: round(median(rates.svc), 0),
        hand_per_s: round(median(rates.hand), 0),
        ratio: round(median(ratios), 3),
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
