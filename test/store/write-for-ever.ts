/**
 * Moves amounts between accounts until it is killed. Each commit increments the counter of this writer, adds a row with
 * that number, and is then printed. Arguments: the database, the number of the writer.
 */
import {setTimeout as sleep} from 'node:timers/promises'
import {openDatabase} from '../../src/store/index.js'

const [path = '', writer = ''] = process.argv.slice(2)
const database = await openDatabase(path)
const count = database.prepare('UPDATE counter SET n = n + 1 WHERE writer = ? RETURNING n').pluck()
const add = database.prepare('INSERT INTO move (writer, n, pad) VALUES (?, ?, hex(randomblob(50)))')
const change = database.prepare('UPDATE account SET amount = amount + ? WHERE id = ?')
const move = database.transaction((from: number, to: number, amount: number): number => {
  const n = count.get(writer) as number
  add.run(writer, n)
  change.run(-amount, from)
  change.run(amount, to)
  return n
})
for (let i = 0; ; i++) {
  const n = move.immediate(1 + ((i * 7) % 100), 1 + ((i * 13 + 5) % 100), i % 10)
  await new Promise((resolve) => process.stdout.write(`${n}\n`, resolve))
  // Leaves time for other processes on a slow machine.
  await sleep(1)
}
