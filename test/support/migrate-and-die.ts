/**
 * Migrates a database and kills itself before the statement with a given number, as if the power failed. Arguments: the
 * database, the program file, the decisions as JSON, the number (from 1). Prints `migrated` at the end.
 */
import {readFileSync} from 'node:fs'
import {checkProgram, migrate} from '../../src/lang/index.js'
import {dieAtCall} from './program.js'

const [path = '', file = '', decisions = '', number = ''] = process.argv.slice(2)
await migrate(checkProgram(readFileSync(file, 'utf8')), path, {
  decisions: JSON.parse(decisions),
  onStatement: dieAtCall(Number(number)),
})
process.stdout.write('migrated\n')
