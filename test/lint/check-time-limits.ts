/** Checks the time limits of all tests, for `npm run lint`. */
import {readdirSync, readFileSync} from 'node:fs'
import {join} from 'node:path'
import {projectFile} from '../support/project.js'
import {timeLimits} from './time-limits.js'

const folder = projectFile('test')
const findings = readdirSync(folder, {recursive: true, encoding: 'utf8'})
  .filter((path) => path.endsWith('.ts') && !path.startsWith('bench/'))
  .sort()
  .flatMap((path) => timeLimits(readFileSync(join(folder, path), 'utf8')).map((limit) => ({path, ...limit})))
for (const {path, line, ms, min} of findings)
  process.stdout.write(
    `test/${path}:${line}: a time limit of ${ms} ms; count work, wait for an event, or allow ${min} ms\n`,
  )
process.stdout.write(`time limits: ${findings.length} findings\n`)
process.exitCode = findings.length === 0 ? 0 : 1
