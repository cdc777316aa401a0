/**
 * The peer of the control plane: a fastify server with a single route that reads a JSON body and returns a number of
 * bytes of JSON. `bare-server BYTES`; prints its address as a line of JSON.
 */
import type {AddressInfo} from 'node:net'
import {fastify} from 'fastify'

const bytes = Number(process.argv[2])
const app = fastify()
const answer = JSON.stringify({filler: 'x'.repeat(Math.max(bytes - '{"filler":""}'.length, 0))})
app.post('/v1/mesh/heartbeat', (request, reply) => {
  const {id} = request.body as {id?: unknown}
  if (typeof id !== 'string') throw new Error('a heartbeat has an id')
  reply.type('application/json; charset=utf-8').send(answer)
})
await app.listen({host: '127.0.0.1', port: 0})
const {port} = app.server.address() as AddressInfo
process.stdout.write(`${JSON.stringify({base_url: `http://127.0.0.1:${port}`})}\n`)
process.on('SIGTERM', () => {
  app.close()
})
