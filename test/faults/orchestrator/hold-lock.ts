/** Holds the write lock of a database for a time: `hold-lock FILE MS`. Prints `held` once it has the lock. */
import {setTimeout as sleep} from 'node:timers/promises'
import {Driver} from '../../support/sqlite.js'

const [file = '', ms = ''] = process.argv.slice(2)
const database = new Driver(file, {timeout: 20_000})
database.exec('BEGIN IMMEDIATE')
process.stdout.write('held\n')
await sleep(Number(ms))
database.exec('ROLLBACK')
database.close()
