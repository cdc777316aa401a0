import assert from 'node:assert/strict'
import {once} from 'node:events'
import {readFile, writeFile} from 'node:fs/promises'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {basename, join} from 'node:path'
import {before, describe, it, type TestContext} from 'node:test'
import {pathToFileURL} from 'node:url'
import {serveDb} from '../support/db-server.js'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'
import {compileTypeScript} from './compile-typescript.js'

/** The exported functions of a generated file. */
type Client = Record<string, (...args: unknown[]) => unknown>

describe('generated TypeScript', () => {
  const folder = suiteFolder()

  /** Generates the TypeScript of all programs and type-checks it in strict mode, in one compiler run. */
  before(async () => {
    const spoken = join(folder, 'spoken.svc')
    await writeFile(spoken, 'fn said(path: str) to Result[str] { return Speech.transcribe(path) }\n')
    const programs = [projectFile('examples/todo.svc'), projectFile('examples/library.svc'), spoken]
    for (const program of programs) {
      const {exitCode} = await svcInTurn(['db', 'build', program, '-o', join(folder, 'api', basename(program, '.svc'))])
      assert.equal(exitCode, 0)
    }
    await compileTypeScript(folder)
  })

  /** A generated file of a program. */
  const load = async (program: string, file: string) =>
    (await import(pathToFileURL(join(folder, 'out', program, file)).href)) as Client

  /** The server of an example, and its client. */
  async function serveExample(t: TestContext, name: string): Promise<Client> {
    const client = await load(name, 'client.js')
    const source = await readFile(projectFile(`examples/${name}.svc`), 'utf8')
    const server = await serveDb(t, await temporaryFolder(t), source)
    client.configureSvcApiBase?.(server.baseUrl)
    return client
  }

  it('throws instead of transcribing, and names the route', async () => {
    const {said} = await load('spoken', 'functions.js')
    assert.throws(() => said?.('a.wav'), /POST \/api\/audio\/transcribe/)
  })

  describe('of the examples', () => {
    it('type-checks and calls the running todo list', async (t) => {
      const client = await serveExample(t, 'todo')
      assert.equal(await client.add?.({title: 'buy milk', due: '2026-12-01'}), 1)
      assert.equal(await client.add?.({title: 'call Ann'}), 2)
      assert.equal(await client.finish?.({id: 1}), true)
      assert.deepEqual(await client.list?.({}), [{_id: 2, title: 'call Ann', done: false}])
      assert.equal(((await client.list?.({all: true})) as unknown[] | undefined)?.length, 2)
      await assert.rejects(async () => client.add?.({title: ' '}), {
        name: 'SvcApiError',
        status: 422,
        message: 'a todo needs a title',
      })
    })

    it('type-checks and calls the running library', async (t) => {
      const client = await serveExample(t, 'library')
      const place = {room: 'A', shelf: 1}
      assert.equal(
        await client.add?.({title: 'Dune', author: 'Herbert', about: 'sand & spice', place, tags: ['novel']}),
        1,
      )
      assert.deepEqual(await client.search?.({text: 'spice'}), [{_id: 1, title: 'Dune', author: 'Herbert'}])
      await client.lend?.({book: 1, reader: 'Ann', day: 1})
      await assert.rejects(
        async () => client.lend?.({book: 1, reader: 'Bo', day: 2}),
        (error: {wireError: {details: unknown}}) => {
          assert.deepEqual(error.wireError.details, {_tag: 'AlreadyLent', reader: 'Ann'})
          return true
        },
      )
    })

    it('sends the parameters of a query as JSON, sorted by name', async (t) => {
      const requested: (string | undefined)[] = []
      const server = createServer(({url}, response) => {
        requested.push(url)
        response.end('[]')
      })
      t.after(() => server.close())
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const client = await load('library', 'client.js')
      client.configureSvcApiBase?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      await client.by_tag?.({tag: 'a b', max: 2})
      assert.deepEqual(requested, ['/api/query/by_tag?max=2&tag=%22a%20b%22'])
    })
  })
})
