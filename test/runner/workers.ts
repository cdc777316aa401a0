/** Runs test files in worker processes and reports each file when it ends. */
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {run} from 'node:test'
import {markOf, type Queue, timeFileOf} from './worker.js'

/** An event of the test runner of Node.js, which its reporters accept. */
export interface TestEvent {
  type: `test:${string}`
  data: {
    name: string
    nesting: number
    message?: string
    skip?: string | boolean
    todo?: string | boolean
    details: {type?: string; duration_ms: number; error?: {exitCode?: number; signal?: string | null}}
  }
}

export interface FileResult {
  title: string
  /** Events of the file, in the order of its tests. */
  events: readonly TestEvent[]
  seconds: number
  /** Of the file and the processes that it started, s; undefined if it did not end, and on systems without `/proc`. */
  processorSeconds: number | undefined
  hasFailed: boolean
}

interface RunOptions {
  workers: number
  isAlone: boolean
  /** Limit for a file that hangs, ms; the default is long enough for slow machines. */
  timeout?: number
  /** Receives each file when it has ended. */
  onFile: (result: FileResult) => void
}

const types = ['start', 'pass', 'fail', 'diagnostic', 'stdout', 'stderr'] as const

/**
 * Runs files in at most `workers` processes at once. Each process runs many files, or only one if `isAlone`.
 * @param files titles and absolute paths, in the order in which they start
 */
export async function runFiles(
  files: Queue['files'],
  {workers, isAlone, timeout = 15 * 60_000, onFile}: RunOptions,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tests-'))
  const queues = (isAlone ? files.map((file) => [file]) : [files]).map((files, i) =>
    writeQueue(folder, i, {files, timeout}),
  )
  const next = () => (isAlone ? queues.shift() : queues.find(hasFilesLeft))
  let started = 0
  const runQueues = async () => {
    for (let queue = next(); queue !== undefined; queue = next()) {
      const name = `worker-${started++}`
      await runWorker(queue, name, onFile)
      if (titlesTakenBy(name, queue).length === 0 && hasFilesLeft(queue))
        throw new Error('A worker ended before it took a test file.')
    }
  }
  try {
    await Promise.all(Array.from({length: Math.min(workers, files.length)}, runQueues))
  } finally {
    rmSync(folder, {recursive: true, force: true})
  }
}

interface QueueFolder {
  folder: string
  files: Queue['files']
}

function writeQueue(parent: string, index: number, queue: Queue): QueueFolder {
  const folder = join(parent, String(index))
  mkdirSync(folder)
  writeFileSync(join(folder, 'queue.json'), JSON.stringify(queue))
  return {folder, files: queue.files}
}

const hasFilesLeft = ({folder, files}: QueueFolder) => files.some((_, i) => !existsSync(markOf(folder, i)))

/** Runs a process until the queue is empty or the process ends. In the second case, the file that it ran has failed. */
async function runWorker(queue: QueueFolder, name: string, onFile: (result: FileResult) => void): Promise<void> {
  const {folder} = queue
  const program = join(folder, `${name}.mjs`)
  const runner = JSON.stringify(new URL('worker.js', import.meta.url).href)
  const args = `${JSON.stringify(folder)}, ${JSON.stringify(name)}`
  writeFileSync(program, `import {runQueue} from ${runner}\nawait runQueue(${args})\n`)
  let events: TestEvent[] = []
  const finished = new Set<string>()
  const stream = run({files: [program], concurrency: 1})
  for (const type of types)
    stream.on(`test:${type}`, (data: TestEvent['data']) => {
      // Counts of the whole process.
      if (type === 'diagnostic' && data.nesting === 0) return
      events.push({type: `test:${type}`, data})
      if (data.nesting !== 0 || (type !== 'pass' && type !== 'fail')) return
      // The test with the name of the program is the process itself: it has failed, or found no file to run.
      const isProcess = data.name === program
      if (isProcess && type === 'pass') return
      const title = isProcess ? fileOfFailure(titlesTakenBy(name, queue), finished) : data.name
      if (isProcess) events.push(endOfProcess(data))
      finished.add(title)
      const seconds = data.details.duration_ms / 1000
      onFile({title, events, seconds, processorSeconds: timeOf(title, queue), hasFailed: type === 'fail'})
      events = []
    })
  for await (const _ of stream);
}

function endOfProcess(data: TestEvent['data']): TestEvent {
  const {exitCode, signal} = data.details.error ?? {}
  const reason = signal ?? `exit status ${exitCode}`
  return {type: 'test:stderr', data: {...data, message: `The process ended with ${reason}.\n`}}
}

/** The file that a process ran when it failed; the last one if all have ended. */
const fileOfFailure = (taken: readonly string[], finished: ReadonlySet<string>) =>
  taken.find((title) => !finished.has(title)) ?? taken.at(-1) ?? 'a worker'

function timeOf(title: string, {folder, files}: QueueFolder): number | undefined {
  const file = timeFileOf(
    folder,
    files.findIndex((each) => each.title === title),
  )
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined
}

const titlesTakenBy = (worker: string, {folder, files}: QueueFolder) =>
  files.flatMap(({title}, i) => {
    const mark = markOf(folder, i)
    return existsSync(mark) && readFileSync(mark, 'utf8') === worker ? [title] : []
  })
