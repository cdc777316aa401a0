/**
 * Restores a backup and kills itself before the operation on files with a given number, as if the power failed.
 * Arguments: the backup, the database, the number (from 1). Prints `restored` at the end.
 */
import files from 'node:fs/promises'
import {syncBuiltinESMExports} from 'node:module'
import {dieAtCall} from '../support/program.js'

const [backup = '', path = '', number = ''] = process.argv.slice(2)
const {appDatabase} = await import('../../src/lang/index.js')
const {restoreDatabase} = await import('../../src/store/index.js')
const dieAtOperation = dieAtCall(Number(number))
type Operation = (...args: unknown[]) => unknown
const operations = files as unknown as Record<string, Operation>
for (const name of ['link', 'mkdir', 'open', 'readdir', 'realpath', 'rename', 'rm', 'stat']) {
  const operation = operations[name] as Operation
  operations[name] = (...args) => {
    dieAtOperation()
    return operation(...args)
  }
}
syncBuiltinESMExports()
await restoreDatabase(backup, path, appDatabase)
process.stdout.write('restored\n')
