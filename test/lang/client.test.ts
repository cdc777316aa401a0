import assert from 'node:assert/strict'
import {once} from 'node:events'
import {mkdir, readdir, readFile, writeFile} from 'node:fs/promises'
import {createServer} from 'node:http'
import type {AddressInfo} from 'node:net'
import {basename, join} from 'node:path'
import {text} from 'node:stream/consumers'
import {before, describe, it, type TestContext} from 'node:test'
import {pathToFileURL} from 'node:url'
import {checkProgram, clientFile, functionsFile, schemasFile, typesFile} from '../../src/lang/index.js'
import {serveDb} from '../support/db-server.js'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'
import {compileTypeScript} from './compile-typescript.js'

/** The exported functions of a generated file. */
type Client = Record<string, (...args: unknown[]) => unknown>

const filesOf = (source: string) => {
  const program = checkProgram(source)
  return {
    'types.ts': typesFile(program),
    'client.ts': clientFile(program, {zod: true}),
    'functions.ts': functionsFile(program),
    'schemas.ts': schemasFile(program),
  }
}

/** Declarations that use a name for a type, an endpoint or a function, or for more than one of these. */
const declarations: Readonly<Record<string, (name: string, i: number) => string>> = {
  records: (name, i) =>
    `type ${name} { x: int, more: Map[str, List[${name}]] }
@endpoint(kind: query) fn e${i}(a: ${name}, m: Map[str, int]) to List[${name}] { return [a] }
fn f${i}(a: ${name}) to ${name} { return a }`,
  tables: (name, i) =>
    `@table type ${name} { x: int }
@endpoint(kind: query) fn e${i}() to List[${name}] { return db.${name}.all().select(x) }`,
  sums: (name, i) => `type ${name} = | A${i}(x: int) | B${i}\nfn f${i}(a: ${name}) to ${name} { return a }`,
  endpoints: (name) => `@endpoint(kind: query) fn ${name}(args: int) to int { return args }`,
  functions: (name) => `fn ${name}(a: int) to Result[float] { return Ok(10.0 / float(a)) }`,
  both: (name) => `type ${name} { x: int }\n@endpoint(kind: query) fn ${name}(a: ${name}) to ${name} { return a }`,
}

/** Words of TypeScript, global names, and all names in generated files. */
function candidates(): string[] {
  const sample = Object.values(
    filesOf('type Point { x: int }\n@endpoint(kind: query) fn at() to Point { Point { x: 1 } }'),
  )
  const words =
    'any bigint boolean never number object string symbol unknown undefined infer as satisfies async of keyof readonly unique ' +
    'then asserts is abstract declare namespace module global intrinsic accessor using get set out type from static'
  const found = [...sample, words].flatMap((text) => text.match(/[A-Za-z]\w*/g) ?? [])
  return [...new Set([...found, ...Object.getOwnPropertyNames(globalThis)])]
}

describe('generated TypeScript', () => {
  const folder = suiteFolder()

  /** Generates the TypeScript of all programs and type-checks it in strict mode, in one compiler run. */
  before(async () => {
    const spoken = join(folder, 'spoken.svc')
    await writeFile(spoken, 'fn said(path: str) to Result[str] { return Speech.transcribe(path) }\n')
    const apps = projectFile('examples/apps')
    const files = (await readdir(apps)).filter((name) => name.endsWith('.svc'))
    const programs = [projectFile('examples/todo.svc'), ...files.map((name) => join(apps, name)), spoken]
    for (const program of programs) {
      const {exitCode} = await svcInTurn(['db', 'build', program, '-o', join(folder, 'api', basename(program, '.svc'))])
      assert.equal(exitCode, 0)
    }
    const names = candidates()
    for (const [kind, declare] of Object.entries(declarations)) {
      const accepted = names
        .map(declare)
        .filter((source) => checkProgram(source).diagnostics.every(({severity}) => severity !== 'error'))
      assert.ok(accepted.length > 100, kind)
      await mkdir(join(folder, 'api', kind), {recursive: true})
      for (const [file, text] of Object.entries(filesOf(accepted.join('\n'))))
        await writeFile(join(folder, 'api', kind, file), text)
    }
    const zod =
      'declare module "zod" { export const z: any; export namespace z { interface ZodType { parse(value: unknown): unknown } } }'
    await writeFile(join(folder, 'api', 'zod.d.ts'), zod)
    await compileTypeScript(folder)
  })

  it('renames types and functions whose names it needs', async () => {
    const source = Object.entries({Record: 'records', Promise: 'both'}).map(([name, kind]) =>
      declarations[kind]?.(name, 0),
    )
    const {'types.ts': types, 'client.ts': client} = filesOf(source.join('\n'))
    assert.match(types, /export interface Record\$ \{ x: number; more: Record<string, readonly Record\$\[\]> \}/)
    assert.match(client, /import type \{ Record\$, Promise\$ \} from/)
    assert.match(client, /export async function Promise\$fn\(args: \{ a: Promise\$ \}.*: Promise<Promise\$>/)
    for (const kind of Object.keys(declarations)) await load(kind, 'functions.js')
  })

  /** A generated file of a program. */
  const load = async (program: string, file: string) =>
    (await import(pathToFileURL(join(folder, 'out', program, file)).href)) as Client

  /** The server of an example, and its client. */
  async function serveExample(t: TestContext, name: string): Promise<Client> {
    const client = await load(basename(name), 'client.js')
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
      const client = await serveExample(t, 'apps/library')
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
      const requested: string[] = []
      const server = createServer(async (request, response) => {
        const {method, url} = request
        requested.push([method, url, await text(request)].filter(Boolean).join(' '))
        response.end('[]')
      })
      t.after(() => server.close())
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const client = await load('library', 'client.js')
      client.configureSvcApiBase?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      await client.by_tag?.({tag: 'a b', max: 2})
      assert.deepEqual(requested.splice(0), ['GET /api/query/by_tag?max=2&tag=%22a%20b%22'])
      // Arguments that may be too long for a URL are sent in the body.
      const tag = 'a'.repeat(4096)
      await client.by_tag?.({tag, max: undefined})
      assert.deepEqual(requested, [`POST /api/query/by_tag {"tag":"${tag}"}`])
    })
  })
})
