import {type ChildProcess, spawn} from 'node:child_process'
import {once} from 'node:events'
import {mkdtemp, rm, writeFile} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {createInterface} from 'node:readline'
import {fileURLToPath} from 'node:url'
import {Client} from 'undici'
import {median, round} from '../../../src/bench/measure.js'
import {projectFile} from '../../support/project.js'

const source = `@table type Message { text: str }
@endpoint(kind: query) fn feed() to List[Message] { return db.Message.all().live("chat").limit(1) }
@endpoint(kind: mutation) fn post(text: str) to Id[Message] { return db.Message.insert({ text: text }) }
`
const subscribers = 200
const writes = 1000
const rounds = 5

/** Subscribers in a separate process, so that they do not slow down the client of the writer. */
class Subscribers {
  readonly #child: ChildProcess
  readonly #lines: AsyncIterator<string>

  constructor(baseUrl: string) {
    const script = fileURLToPath(new URL('live-subscribers.js', import.meta.url))
    const args = [script, `${baseUrl}/api/live/chat`, String(subscribers), String(writes)]
    this.#child = spawn(process.execPath, args, {stdio: ['ignore', 'pipe', 'inherit']})
    const lines = createInterface({input: this.#child.stdout as NodeJS.ReadableStream})
    this.#lines = lines[Symbol.asyncIterator]()
  }

  /** Their next line: first that all are connected, then the number of received events. */
  async next(): Promise<string> {
    return (await this.#lines.next()).value as string
  }

  close(): void {
    this.#child.kill()
  }
}

async function write(client: Client): Promise<number> {
  const started = performance.now()
  for (let i = 0; i < writes; i++) {
    const {body} = await client.request({
      method: 'POST',
      path: '/api/mutation/post',
      headers: {'content-type': 'application/json'},
      body: `{"text":"message ${i}"}`,
    })
    await body.dump()
  }
  return performance.now() - started
}

/** 1,000 writes with 200 subscribers, compared with the same writes without subscribers. */
export async function langLive() {
  const folder = await mkdtemp(join(tmpdir(), 'svc-bench-'))
  const program = join(folder, 'chat.svc')
  await writeFile(program, source)
  const args = ['db', 'serve', program, '--db', join(folder, 'chat.db'), '--port', '0', '--json', '--quiet']
  const child: ChildProcess = spawn(process.execPath, [projectFile('bin/svc.js'), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  try {
    const [line] = (await once(createInterface({input: child.stdout as NodeJS.ReadableStream}), 'line')) as [string]
    const {base_url: baseUrl} = JSON.parse(line) as {base_url: string}
    const client = new Client(baseUrl)
    await write(client)
    const times = {alone: [] as number[], watched: [] as number[]}
    let received = 0
    for (let i = 0; i < rounds; i++) {
      times.alone.push(await write(client))
      const watching = new Subscribers(baseUrl)
      await watching.next()
      times.watched.push(await write(client))
      received = Number(await watching.next())
      watching.close()
      if (received !== subscribers * writes) throw new Error(`${received} events were received.`)
    }
    await client.close()
    const ratios = times.watched.map((time, i) => time / (times.alone[i] as number))
    return {
      subscribers,
      writes,
      events_received: received,
      alone_ms: round(median(times.alone)),
      watched_ms: round(median(times.watched)),
      slowdown: round(median(ratios), 3),
    }
  } finally {
    child.kill()
    await rm(folder, {recursive: true})
  }
}
