/** A handwritten server for comparison: fastify and better-sqlite3, two JSON routes, prepared statements. */
import type {AddressInfo} from 'node:net'
import {fastify} from 'fastify'
import {Driver} from '../../support/sqlite.js'

const database = new Driver(process.argv[2] ?? '')
database.pragma('journal_mode = WAL')
database.pragma('synchronous = NORMAL')
database.exec(
  'CREATE TABLE IF NOT EXISTS task ("_id" INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, done INTEGER NOT NULL, n INTEGER NOT NULL)',
)
const read = database.prepare('SELECT "_id", title, done, n FROM task WHERE "_id" = ?')
const insert = database.prepare('INSERT INTO task (title, done, n) VALUES (?, ?, ?)')

const app = fastify()
app.get('/api/query/one', async (request, reply) => {
  const id: unknown = JSON.parse((request.query as {id: string}).id)
  if (typeof id !== 'number' || !Number.isSafeInteger(id)) return reply.code(400).send({ok: false})
  const row = read.get(BigInt(id)) as {done: number} | undefined
  return row === undefined ? null : {...row, done: row.done !== 0}
})
app.post('/api/mutation/add', async (request, reply) => {
  const {title, n} = request.body as {title: unknown; n: unknown}
  if (typeof title !== 'string' || typeof n !== 'number' || !Number.isSafeInteger(n))
    return reply.code(400).send({ok: false})
  return reply.type('application/json').send(String(insert.run(title, 0n, BigInt(n)).lastInsertRowid))
})
await app.listen({host: '127.0.0.1', port: 0})
process.stdout.write(
  `${JSON.stringify({base_url: `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`})}\n`,
)
