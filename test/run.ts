/**
 * Runs the test suite: all `*.test.js` files below this folder, or all `*.slow.js` files with `--slow`. Other arguments
 * select files by a part of their path. The files are listed here, because `node --test` does not accept folders or
 * patterns on all supported versions. The slowest files start first, according to `test/durations.json`, which
 * `--record` writes; fast files share a process. Prints the names of skipped tests, and fails if a test was skipped
 * although its requirements are met.
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
const patterns = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const folder = fileURLToPath(new URL('.', import.meta.url))
const suffix = slow ? '.slow.js' : '.test.js'
const files = readdirSync(folder, {recursive: true, encoding: 'utf8'})
  .filter((file) => file.endsWith(suffix) && (patterns.length === 0 || patterns.some((word) => file.includes(word))))
  .sort()
if (files.length === 0) {
  process.stdout.write(`No ${suffix} files match.\n`)
  process.exit(patterns.length === 0 && slow ? 0 : 1)
}

/** Wall time of each file in the last recorded run, s. New files start first. */
const durationsFile = projectFile('test/durations.json')
const recorded: Record<string, number> = JSON.parse(readFileSync(durationsFile, 'utf8'))
const nameOf = (file: string) => file.replaceAll('\\', '/').slice(0, -'.js'.length)
const expected = (file: string) => recorded[nameOf(file)] ?? Number.POSITIVE_INFINITY
files.sort((a, b) => expected(b) - expected(a) || 0)

/** Files faster than this share a process, because starting a process would take longer, s. */
const shortFile = 16
/** Maximum total time of the files of a process, s. */
const fullGroup = 120

/** Groups fast files in files that import them. Files selected by an argument run in separate processes. */
function group(all: readonly string[]): string[] {
  if (patterns.length > 0 || recording) return all.map((file) => join(folder, file))
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

/** Limit for a test that hangs, ms; long enough for slow machines. */
const timeout = 30 * 60_000

/** Requirements that ordinary machines may not meet. */
const mayBeAbsent = /\b(CUDA|microphone|ffmpeg|jq|PostgreSQL)\b/i
const skipped: {name: string; reason: string}[] = []

// Files sometimes wait for a process, a server or the disk; others use the processors meanwhile.
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
// The report lags behind the tests; these are its last lines.
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
