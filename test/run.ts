/**
 * Runs the test suite: every `*.test.js` below this folder, or every `*.slow.js` with `--slow`; words on the command
 * line choose files by a part of their path. `node --test` takes neither a folder on all supported versions nor a
 * pattern, so the files are listed here. The longest files start first, by the seconds in `test/durations.json`, which
 * `--record` writes; short files share a process. Prints the names of skipped tests, and fails when a test was skipped
 * although what it needs is there.
 */
import {existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs'
import {availableParallelism} from 'node:os'
import {join, relative} from 'node:path'
import {run} from 'node:test'
import {spec} from 'node:test/reporters'
import {fileURLToPath} from 'node:url'
import {projectFile} from './support/project.js'

const slow = process.argv.includes('--slow')
const recording = process.argv.includes('--record')
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const folder = fileURLToPath(new URL('.', import.meta.url))
const suffix = slow ? '.slow.js' : '.test.js'
const files = readdirSync(folder, {recursive: true, encoding: 'utf8'})
  .filter((file) => file.endsWith(suffix) && (wanted.length === 0 || wanted.some((word) => file.includes(word))))
  .sort()
if (files.length === 0) {
  process.stdout.write(`No ${suffix} files match.\n`)
  process.exit(wanted.length === 0 && slow ? 0 : 1)
}

/** Wall time of each file in the last recorded run, s. A file that is not there yet starts first. */
const durationsFile = projectFile('test/durations.json')
const recorded: Record<string, number> = JSON.parse(readFileSync(durationsFile, 'utf8'))
const nameOf = (file: string) => file.replaceAll('\\', '/').slice(0, -'.js'.length)
const expected = (file: string) => recorded[nameOf(file)] ?? Number.POSITIVE_INFINITY
files.sort((a, b) => expected(b) - expected(a) || 0)

/** Files that take less than this share a process: to start one for each would take longer than they do, s. */
const shortFile = 16
/** What the files of one process may take together, s. */
const fullGroup = 120

/** Short files in groups, in files that import them. Files that are chosen by a word run in a process of their own. */
function group(all: readonly string[]): string[] {
  if (wanted.length > 0 || recording) return all.map((file) => join(folder, file))
  const groups: string[][] = []
  let seconds = Number.POSITIVE_INFINITY
  for (const file of all.filter((file) => expected(file) < shortFile).sort()) {
    if (seconds > fullGroup) {
      groups.push([])
      seconds = 0
    }
    groups.at(-1)?.push(file)
    seconds += expected(file)
  }
  const groupFolder = join(folder, 'groups')
  rmSync(groupFolder, {recursive: true, force: true})
  mkdirSync(groupFolder)
  const grouped = groups.map((members, i) => {
    const file = join(groupFolder, `${i}.js`)
    writeFileSync(file, members.map((member) => `await import(${JSON.stringify(`../${member}`)})\n`).join(''))
    return file
  })
  return [...all.filter((file) => expected(file) >= shortFile).map((file) => join(folder, file)), ...grouped]
}

/** A test may fail on a slow machine only because the product does: this limit is there for one that hangs. */
const timeout = 30 * 60_000

/** What no ordinary machine has. */
const mayBeAbsent = /\b(CUDA|microphone|ffmpeg|jq)\b/i
const skipped: {name: string; reason: string}[] = []

// A file waits now and then for a process, a server or the disk; others use the processors meanwhile.
const concurrency = 3 * availableParallelism()
const tests = run({files: group(files), concurrency, timeout})
const durations: Record<string, number> = {}
tests.on('test:complete', ({name, file, details}) => {
  if (file !== undefined && name === file) durations[nameOf(relative(folder, file))] = details.duration_ms / 1000
})
const failed: string[] = []
tests.on('test:fail', ({name, file, todo}) => {
  if (todo !== undefined && todo !== false) return
  failed.push(placeOf(name, file))
  process.exitCode = 1
})
tests.on('test:pass', ({name, skip, file}) => {
  if (skip === undefined || skip === false) return
  skipped.push({name: placeOf(name, file), reason: typeof skip === 'string' ? skip : 'no reason given'})
})
const report = tests.compose(new spec())
report.pipe(process.stdout)
// The report is behind the tests; these lines are its last.
report.on('end', reportFailed)
report.on('end', reportSkipped)
if (recording) tests.on('end', record)

function record(): void {
  const all = Object.entries({...recorded, ...durations})
    .filter(([name]) => existsSync(projectFile(`test/${name}.ts`)))
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, seconds]) => [name, Number(seconds.toFixed(1))])
  writeFileSync(durationsFile, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`)
}

function placeOf(name: string, file: string | undefined): string {
  return file === undefined ? name : `${name} (${relative(folder, file)})`
}

function reportFailed(): void {
  if (failed.length === 0) return
  process.stdout.write(`\nFailed:\n${failed.map((name) => `  ${name}\n`).join('')}`)
}

function reportSkipped(): void {
  if (skipped.length === 0) return
  const unexcused = existsSync(projectFile('../shared')) ? skipped.filter(({reason}) => !mayBeAbsent.test(reason)) : []
  process.stdout.write(`\nSkipped:\n${skipped.map(({name, reason}) => `  ${name}: ${reason}\n`).join('')}`)
  if (unexcused.length === 0) return
  process.stdout.write(`\n${unexcused.length} tests were skipped although the shared test data is there.\n`)
  process.exitCode = 1
}
