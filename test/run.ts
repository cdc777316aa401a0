/**
 * Runs the test suite: the `*.test.js` files below this folder, without the second tier unless `--all` is given, or all
 * `*.slow.js` files with `--slow`. Words select files of all tiers by a part of their path. The slowest files start
 * first, according to `test/durations.json`, which `--record` writes; `--shuffle SEED` starts them in a random order.
 * Runs each failed file again, alone, which distinguishes faults from interference; the run fails all the same. Fails
 * if a test was skipped although its requirements are met.
 *
 * With `--slow`, `--budget 10m` runs the files that the change touches, or that words select, as far as their recorded
 * durations fit; `--seed N` sets the seed of random campaigns.
 */
import {existsSync, readdirSync, readFileSync, writeFileSync} from 'node:fs'
import {availableParallelism, freemem, loadavg} from 'node:os'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {parseArgs} from 'node:util'
import {randomSource} from '../src/sampling/index.js'
import {affectedTests, changedFiles} from './runner/affected.js'
import {parseBudget, runWithinBudget} from './runner/budget.js'
import {processorTime} from './runner/processor-time.js'
import {Report} from './runner/report.js'
import {secondTier} from './runner/second-tier.js'
import {summarizeSkipped} from './runner/skipped.js'
import {createTemporaryFolder, removeOnSignals, removeTemporaryFolder} from './runner/temporary.js'
import {type FileResult, runFiles} from './runner/workers.js'
import {newSeed, seedVariable} from './support/campaign-seed.js'
import {projectFile} from './support/project.js'

const {values: options, positionals: words} = parseArgs({
  options: {
    all: {type: 'boolean'},
    slow: {type: 'boolean', default: false},
    record: {type: 'boolean'},
    shuffle: {type: 'string'},
    budget: {type: 'string'},
    seed: {type: 'string'},
  },
  allowPositionals: true,
})
const budget = options.budget === undefined ? undefined : parseBudget(options.budget)
if (options.budget !== undefined && budget === undefined)
  refuse(`Invalid --budget "${options.budget}". Use a number with s, m or h: 90s, 10m or 1h.`)
if (options.seed !== undefined && !/^\d{1,9}$/.test(options.seed))
  refuse(`Invalid --seed "${options.seed}". Use a number of at most nine digits.`)
if (!options.slow && (options.budget ?? options.seed) !== undefined)
  refuse('--budget and --seed are options of npm run test:slow.')
const folder = fileURLToPath(new URL('.', import.meta.url))
const durationsFile = projectFile('test/durations.json')
/** Wall time of each file in the last recorded run, s. New files start first. */
const recorded: Readonly<Record<string, number>> = JSON.parse(readFileSync(durationsFile, 'utf8'))
const expected = (title: string) => recorded[title] ?? Number.POSITIVE_INFINITY
const suffix = options.slow ? '.slow' : '.test'
const isLeftOut = new Set(options.all || words.length > 0 ? [] : Object.values(secondTier).flat())
const compiled = readdirSync(folder, {recursive: true, encoding: 'utf8'}).map((file) =>
  file.replaceAll('\\', '/').replace(/\.js$/, ''),
)
const unknown = Object.values(secondTier)
  .flat()
  .filter((title) => !compiled.includes(title))
if (unknown.length > 0)
  refuse(`Remove from test/runner/second-tier.ts, because there is no such file: ${unknown.join(', ')}`)
const selected = compiled
  .filter((title) => title.endsWith(suffix) && (words.length === 0 || words.some((word) => title.includes(word))))
  .filter((title) => !isLeftOut.has(title))
  .sort((a, b) => expected(b) - expected(a) || (a < b ? -1 : 1))
if (selected.length === 0) {
  process.stdout.write(`No ${suffix}.ts files match.\n`)
  process.exit(words.length === 0 && options.slow ? 0 : 1)
}
const titles = budget === undefined ? selected : forBudget(selected)
if (options.shuffle !== undefined) shuffle(titles, Number(options.shuffle))

/** Memory that a worker and the processes that it starts may use, bytes. */
const memoryOfWorker = 1 << 30
const report = new Report({isVerbose: titles.length <= 10})
const durations: Record<string, number> = {}
const failed: {title: string; load: number}[] = []
const filesOf = (titles: readonly string[]) => titles.map((title) => ({title, path: join(folder, `${title}.js`)}))
const loadNow = () => loadavg()[0] ?? 0

// Files sometimes wait for a process, a server or the disk; others use the processors meanwhile. More workers than this
// take more processor time in total: each loads the modules, and they displace each other's data from the caches.
const workers = Math.max(2, Math.min(2 * availableParallelism(), Math.floor(freemem() / memoryOfWorker)))
const temporary = createTemporaryFolder()
process.env.TMPDIR = temporary
// Node.js 20 reads these certificate authorities at every start, and no test needs them.
delete process.env.NODE_EXTRA_CA_CERTS
removeOnSignals(temporary)
if (options.slow) process.env[seedVariable] = options.seed ?? process.env[seedVariable] ?? String(newSeed())
const leftOut: string[] = []
if (budget === undefined) await runFiles(filesOf(titles), {workers, isAlone: options.slow, onFile})
else {
  // More campaigns at once would take longer than the recorded durations.
  const atOnce = Math.min(workers, availableParallelism())
  const run = (title: string) => runFiles(filesOf([title]), {workers: 1, isAlone: true, onFile})
  leftOut.push(
    ...(await runWithinBudget(titles, {seconds: budget, workers: atOnce, recorded: (title) => recorded[title], run})),
  )
}
await report.end()
if (options.record) record()
reportSkipped()
if (leftOut.length > 0) reportLeftOut()
if (options.slow) process.stdout.write(`Seed of the campaigns: ${process.env[seedVariable]}. Repeat with --seed.\n`)
if (isLeftOut.size > 0)
  process.stdout.write(`Left out, run by npm run test:all: ${Object.keys(secondTier).join(', ')}.\n`)
process.stdout.write(`\n${resourcesUsed()}\n`)
if (failed.length > 0) await reportFailed()
for (const command of removeTemporaryFolder(temporary))
  process.stdout.write(`A test left this process running: ${command}\n`)

function refuse(message: string): never {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}

/** The files that the change touches, or all without a change: the closest first, then the fastest. */
function forBudget(titles: readonly string[]): string[] {
  const pathOf = (title: string) => `test/${title}.ts`
  const compare = (a: number, b: number) => (a === b ? 0 : a - b)
  const changed = words.length > 0 ? [] : changedFiles(projectFile('.'))
  if (changed.length === 0) return [...titles].sort((a, b) => compare(expected(a), expected(b)))
  const distances = affectedTests(titles.map(pathOf), changed, projectFile('.'))
  const touched = titles.filter((title) => distances.has(pathOf(title)))
  const distance = (title: string) => distances.get(pathOf(title)) ?? 0
  process.stdout.write(`${changed.length} changed files touch ${touched.length} of ${titles.length} campaigns.\n`)
  return touched.sort((a, b) => compare(distance(a), distance(b)) || compare(expected(a), expected(b)))
}

function reportLeftOut(): void {
  const list = leftOut.map((title) => `  ${title} (${recorded[title] ?? '?'} s)\n`).join('')
  process.stdout.write(`Left out, because they do not fit into the rest of ${options.budget}:\n${list}`)
  process.stdout.write(`Run them: npm run test:slow -- ${leftOut.join(' ')}\n`)
}

function onFile(result: FileResult): void {
  report.add(result)
  durations[result.title] = result.seconds
  if (result.hasFailed) failed.push({title: result.title, load: loadNow()})
}

function shuffle(list: string[], seed: number): void {
  const random = randomSource(seed)
  const keys = new Map(list.map((each) => [each, random()]))
  list.sort((a, b) => (keys.get(a) ?? 0) - (keys.get(b) ?? 0))
}

function record(): void {
  const all = Object.entries({...recorded, ...durations})
    .filter(([title]) => existsSync(projectFile(`test/${title}.ts`)))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([title, seconds]) => [title, Number(seconds.toFixed(1))])
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
}

function reportSkipped(): void {
  const {summary, errors} = summarizeSkipped(report.skipped, {isCi: process.env.CI === 'true'})
  for (const line of summary) process.stdout.write(`${line}\n`)
  if (errors === 0) return
  process.stdout.write(`${errors} tests must not be skipped here.\n`)
  process.exitCode = 1
}

/** Wall and processor time of this process and of the processes that it started, if the system counts them. */
function resourcesUsed(): string {
  const wall = `Took ${Math.round(performance.now() / 1000)} s`
  const seconds = processorTime()
  return seconds === undefined ? `${wall}.` : `${wall}, and ${Math.round(seconds)} s of processor time.`
}

/** Runs the failed files again, each alone, and prints the failed tests last. */
async function reportFailed(): Promise<void> {
  process.exitCode = 1
  const maxFiles = 8
  const results: string[] = []
  process.stdout.write('\nRunning failed files again, alone.\n')
  for (const {title, load} of failed.slice(0, maxFiles)) {
    const again = new Report({isVerbose: false})
    let hasPassed = true
    const onFile = (result: FileResult) => {
      again.add(result)
      hasPassed &&= !result.hasFailed
    }
    await runFiles(filesOf([title]), {workers: 1, isAlone: true, onFile})
    await again.end()
    const loads = `load ${load.toFixed(1)} then, ${loadNow().toFixed(1)} now`
    results.push(`${title}: ${hasPassed ? 'passes' : 'fails'} alone (${loads})`)
  }
  for (const {title} of failed.slice(maxFiles)) results.push(`${title}: not run again`)
  process.stdout.write(`\nFailed:\n${results.map((line) => `  ${line}\n`).join('')}`)
}
