/** Runs test files in worker processes and reports each file when it ends. */
import {existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {run} from 'node:test'
import {markOf, type Queue} from './worker.js'

/** An event of the test runner of Node.js, which its reporters accept. */
export interface TestEvent {
  type: `test:${string}`
  data: {
    name: string
    nesting: number
    message?: string
    skip?: string | boolean
    todo?: string | boolean
    details: {type?: string; duration_ms: number}
  }
}

export interface FileResult {
  title: string
  /** Events of the file, in the order of its tests. */
  events: readonly TestEvent[]
  seconds: number
  hasFailed: boolean
}

/** Limit for a file that hangs, ms; long enough for slow machines. */
const timeout = 15 * 60_000

const types = ['start', 'pass', 'fail', 'diagnostic', 'stdout', 'stderr'] as const

/**
 * Runs files in at most `workers` processes at once. Each process runs many files, or only one if `isAlone`.
 * @param files titles and absolute paths, in the order in which they start
 * @param onFile receives each file when it has ended
 */
export async function runFiles(
  files: Queue['files'],
  {workers, isAlone, onFile}: {workers: number; isAlone: boolean; onFile: (result: FileResult) => void},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-tests-'))
  const queues = (isAlone ? files.map((file) => [file]) : [files]).map((files, i) => writeQueue(folder, i, files))
  const next = () => (isAlone ? queues.shift() : queues.find(hasFilesLeft))
  let started = 0
  const runQueues = async () => {
    for (let queue = next(); queue !== undefined; queue = next()) {
      const finished = await runWorker(queue, `worker-${started++}`, onFile)
      if (finished === 0 && hasFilesLeft(queue)) throw new Error('A worker ended before it ran a test file.')
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

function writeQueue(parent: string, index: number, files: Queue['files']): QueueFolder {
  const folder = join(parent, String(index))
  mkdirSync(folder)
  writeFileSync(join(folder, 'queue.json'), JSON.stringify({files, timeout} satisfies Queue))
  return {folder, files}
}

const hasFilesLeft = ({folder, files}: QueueFolder) => files.some((_, i) => !existsSync(markOf(folder, i)))

/**
 * Runs a process until the queue is empty or the process ends. In the second case, the file that it ran has failed.
 * @returns the number of files that have ended
 */
async function runWorker(queue: QueueFolder, name: string, onFile: (result: FileResult) => void): Promise<number> {
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
      // The test with the name of the program is the process itself, which has failed.
      const title = data.name === program ? fileOfFailure(titlesTakenBy(name, queue), finished) : data.name
      finished.add(title)
      onFile({title, events, seconds: data.details.duration_ms / 1000, hasFailed: type === 'fail'})
      events = []
    })
  for await (const _ of stream);
  return finished.size
}

/** The file that a process ran when it failed; the last one if all have ended. */
const fileOfFailure = (taken: readonly string[], finished: ReadonlySet<string>) =>
  taken.find((title) => !finished.has(title)) ?? taken.at(-1) ?? 'a worker'

const titlesTakenBy = (worker: string, {folder, files}: QueueFolder) =>
  files.flatMap(({title}, i) => {
    const mark = markOf(folder, i)
    return existsSync(mark) && readFileSync(mark, 'utf8') === worker ? [title] : []
  })
