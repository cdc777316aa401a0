/**
 * Runs a long fuzzing test of the data language: `node dist/test/lang/fuzz-cli.js [programs] [seed] [seconds]`.
 * Prints one JSON line with counts, and one line per kind of failure with its seed and program.
 */
import {fuzz} from './fuzz.js'

const [programs = 10_000, seed = 1, seconds = 3600] = process.argv.slice(2).map(Number)
const {failures, ...counts} = await fuzz({programs, seed, seconds})
process.stdout.write(`${JSON.stringify({...counts, failures: failures.length})}\n`)
for (const failure of failures) process.stdout.write(`${JSON.stringify(failure)}\n`)
if (failures.length > 0) process.exitCode = 1
