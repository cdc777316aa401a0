import {readdir, readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {Worker} from 'node:worker_threads'
import {verdicts} from './judges.js'
import type {FileResult} from './worker.js'

const slowMs = 5000
/** A file that takes longer is stopped. */
const deadlineMs = 120_000

interface Checked {
  readonly file: string
  readonly result: FileResult | {readonly kind: 'stopped'}
}

/**
 * Checks the schemas of MaskBench (github.com/guidance-ai/jsonschemabench, folder maskbench/data): those that pass, those that
 * are refused by keyword, and tests with another verdict. An instance that is valid only in another order of its properties
 * counts as `reordered`.
 *
 * @param step checks every n-th file
 */
export async function maskbench(folder: string, step = 1) {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.json')).sort()
  const checked: Checked[] = []
  let worker = startWorker()
  for (const file of files.filter((_, index) => index % step === 0)) {
    const result = await resultOf(worker, join(folder, file))
    if (result.kind === 'stopped' || result.kind === 'crashed') {
      await worker.terminate()
      worker = startWorker()
    }
    checked.push({file, result})
    if (checked.length % 500 === 0) process.stderr.write(`${checked.length} schemas\n`)
  }
  await worker.terminate()
  return summary(folder, checked)
}

const startWorker = (): Worker => new Worker(new URL('./worker.js', import.meta.url))

function resultOf(worker: Worker, path: string): Promise<Checked['result']> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => end({kind: 'stopped'}), deadlineMs)
    const fail = (error: unknown) => end({kind: 'crashed', message: String(error)})
    const end = (result: Checked['result']) => {
      clearTimeout(timer)
      worker.off('message', end).off('error', fail)
      resolve(result)
    }
    worker.on('message', end).on('error', fail)
    worker.postMessage(path)
  })
}

async function summary(folder: string, checked: readonly Checked[]) {
  const of = <K extends Checked['result']['kind']>(kind: K) =>
    checked.flatMap(({file, result}) =>
      result.kind === kind ? [{file, result: result as Extract<Checked['result'], {kind: K}>}] : [],
    )
  const done = of('checked')
  const with_ = (kind: string) => done.filter(({result}) => result.differences.some((each) => each.kind === kind))
  const times = done.map(({result}) => result.compileMs).sort((a, b) => a - b)
  const quantile = (share: number): number => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10
  const refused: Record<string, number> = {}
  for (const {result} of of('refused')) refused[result.keyword] = (refused[result.keyword] ?? 0) + 1
  return {
    schemas: checked.length,
    passes: done.filter(({result}) => result.differences.length === 0).length,
    passesInAnyOrder: done.filter(({result}) => result.differences.every(({kind}) => kind === 'reordered')).length,
    refused: Object.fromEntries(Object.entries(refused).sort((a, b) => b[1] - a[1])),
    wronglyAccepted: with_('accepted').length,
    wronglyRejected: with_('rejected').length,
    onlyInAnotherOrder: with_('reordered').length,
    crashes: of('crashed').map(({file, result}) => `${file}: ${result.message}`),
    slow: [
      ...of('stopped').map(({file}) => file),
      ...done.filter(({result}) => result.compileMs > slowMs).map(({file}) => file),
    ],
    compileMs: {p50: quantile(0.5), p95: quantile(0.95), p99: quantile(0.99), max: quantile(0.9999)},
    differences: await judged(folder, done),
  }
}

/** Tests with another verdict, apart from their order, with the verdicts of other validators. */
async function judged(folder: string, done: readonly {file: string; result: Extract<FileResult, {kind: 'checked'}>}[]) {
  const differences: object[] = []
  for (const {file, result} of done) {
    const relevant = result.differences.filter(({kind}) => kind !== 'reordered')
    if (relevant.length === 0) continue
    const {schema, tests} = JSON.parse(await readFile(join(folder, file), 'utf8')) as {
      schema: unknown
      tests: {data: unknown}[]
    }
    for (const {index, kind} of relevant) {
      differences.push({file, test: index, svc: kind, ...(await verdicts(schema, tests[index]!.data))})
    }
  }
  return differences
}
