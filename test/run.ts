/**
 * Runs the test suite: every `*.test.js` below this folder, or every `*.slow.js` with `--slow`; words on the command
 * line choose files by a part of their path. `node --test` takes neither a folder on all supported versions nor a
 * pattern, so the files are listed here. Prints the names of skipped tests, and fails when a test was skipped although
 * what it needs is there.
 */
import {existsSync, readdirSync} from 'node:fs'
import {join, relative} from 'node:path'
import {run} from 'node:test'
import {spec} from 'node:test/reporters'
import {fileURLToPath} from 'node:url'
import {projectFile} from './support/project.js'

const slow = process.argv.includes('--slow')
const wanted = process.argv.slice(2).filter((word) => !word.startsWith('--'))
const folder = fileURLToPath(new URL('.', import.meta.url))
const suffix = slow ? '.slow.js' : '.test.js'
const files = readdirSync(folder, {recursive: true, encoding: 'utf8'})
  .filter((file) => file.endsWith(suffix) && (wanted.length === 0 || wanted.some((word) => file.includes(word))))
  .map((file) => join(folder, file))
  .sort()
if (files.length === 0) {
  process.stdout.write(`No ${suffix} files match.\n`)
  process.exit(wanted.length === 0 && slow ? 0 : 1)
}

/** What no ordinary machine has. */
const mayBeAbsent = /\b(CUDA|microphone)\b/i
const skipped: {name: string; reason: string}[] = []

const tests = run({files, concurrency: 2, timeout: 300_000})
tests.on('test:fail', ({todo}) => {
  if (todo === undefined || todo === false) process.exitCode = 1
})
tests.on('test:pass', ({name, skip, file}) => {
  if (skip === undefined || skip === false) return
  const place = file === undefined ? '' : ` (${relative(folder, file)})`
  skipped.push({name: `${name}${place}`, reason: typeof skip === 'string' ? skip : 'no reason given'})
})
tests.compose(new spec()).pipe(process.stdout)
tests.on('end', () => process.nextTick(reportSkipped))

function reportSkipped(): void {
  if (skipped.length === 0) return
  const unexcused = existsSync(projectFile('../shared')) ? skipped.filter(({reason}) => !mayBeAbsent.test(reason)) : []
  process.stdout.write(`\nSkipped:\n${skipped.map(({name, reason}) => `  ${name}: ${reason}\n`).join('')}`)
  if (unexcused.length === 0) return
  process.stdout.write(`\n${unexcused.length} tests were skipped although the shared test data is there.\n`)
  process.exitCode = 1
}
