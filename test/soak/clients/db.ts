import {copyFile} from 'node:fs/promises'
import {join} from 'node:path'
import {EventStream} from '../../support/event-stream.js'
import {projectFile} from '../../support/project.js'
import type {Random} from '../../support/random.js'
import type {Client, Service, Tally, Visit} from '../client.js'
import {randomText} from '../client.js'
import {HttpCaller} from '../http-caller.js'

/** Server of a program in the data language: the todo list of the examples. */
export const dbService: Service = {
  name: 'db serve',
  address: 'base_url',
  clients: 3,
  async prepare(folder) {
    await copyFile(projectFile('examples/todo.svc'), join(folder, 'todo.svc'))
    return ['db', 'serve', 'todo.svc', '--db', join(folder, 'todo.db'), '--port', '0']
  },
  async connect(visit) {
    return new DbClient(visit)
  },
}

/** Maximum number of rows and of open change streams per client. */
const maxRows = 30
const maxStreams = 3

const refused: readonly [method: string, path: string, body: unknown, status: number][] = [
  ['GET', '/nowhere', undefined, 404],
  ['GET', '/api/mutation/add', undefined, 405],
  ['GET', '/api/live/nothing', undefined, 404],
  ['GET', '/api/live/todos?after_id=x', undefined, 400],
  ['GET', '/api/query/list?all=7', undefined, 400],
  ['POST', '/api/mutation/add', '{"title', 400],
  ['POST', '/api/mutation/add', {}, 400],
  ['POST', '/api/mutation/add', {title: ' '}, 422],
  ['POST', '/api/mutation/finish', {id: 'one'}, 400],
]

class DbClient implements Client {
  readonly #http: HttpCaller
  readonly #address: string
  readonly #random: Random
  readonly #tally: Tally
  readonly #rows: number[] = []
  #streams: EventStream[] = []

  constructor({address, random, tally}: Visit) {
    this.#http = new HttpCaller(address, tally)
    this.#address = address
    this.#random = random
    this.#tally = tally
  }

  async step(): Promise<void> {
    const random = this.#random
    const at = random.below(100)
    if (at < 20) await this.#read()
    else if (at < 40) await this.#add()
    else if (at < 55) await this.#change('finish')
    else if (at < 75) await this.#remove()
    else if (at < 85) {
      const [method, path, body, status] = random.pick(refused)
      await this.#http.send(method, path, body, status)
    } else if (at < 90) await this.#http.abort('POST', '/api/mutation/finish', {id: 1}, random)
    else await this.#changeStreams()
  }

  async close(): Promise<void> {
    for (const stream of this.#streams) stream.close()
    while (this.#rows.length > 0) await this.#remove()
    this.#http.close()
  }

  async #read(): Promise<void> {
    const path = this.#random.pick([
      '/api/query/list',
      '/api/query/list?all=true',
      '/summary',
      '/_svc/',
      '/_svc/openapi.json',
    ])
    await this.#http.send('GET', path, undefined, 200)
  }

  async #add(): Promise<void> {
    if (this.#rows.length >= maxRows) return this.#remove()
    const due = this.#random.chance(0.5) ? {due: '2030-01-01'} : {}
    const body = {title: `todo ${randomText(this.#random, 60)}`, ...due}
    const {status, text} = await this.#http.send('POST', '/api/mutation/add', body, 200)
    if (status === 200) this.#rows.push(JSON.parse(text) as number)
  }

  async #change(what: 'finish' | 'remove', id = this.#random.pick(this.#rows) ?? 0): Promise<void> {
    const {status, text} = await this.#http.send('POST', `/api/mutation/${what}`, {id}, 200)
    if (status === 200 && text !== String(id !== 0)) this.#tally.fault(`${what} ${id}: ${text}`)
  }

  async #remove(): Promise<void> {
    const [id] = this.#rows.splice(this.#random.below(this.#rows.length), 1)
    await this.#change('remove', id ?? 0)
  }

  /** Opens a change stream, from now or from an earlier change, or aborts one. */
  async #changeStreams(): Promise<void> {
    if (this.#streams.length >= maxStreams || (this.#streams.length > 0 && this.#random.chance(0.5))) {
      this.#streams.shift()?.close()
      return
    }
    this.#tally.requests++
    const after = this.#random.chance(0.3) ? `?after_id=${this.#streams[0]?.lastId ?? 0}` : ''
    try {
      this.#streams.push(await EventStream.open(`${this.#address}/api/live/todos${after}`))
    } catch (error) {
      this.#tally.fault(`GET /api/live/todos${after}: ${(error as Error).message}`)
    }
  }
}
