import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {basename, join} from 'node:path'
import {before, describe, it, type TestContext} from 'node:test'
import {pathToFileURL} from 'node:url'
import {execa} from 'execa'
import {serveDb} from '../support/db-server.js'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'

/** The functions of a generated file. */
type Client = Record<string, (...args: unknown[]) => unknown>

/** Functions of every kind of statement. */
const functionsSource = `type Shape =
    | Circle(r: float)
    | Square(side: int)
fn area(s: Shape) to float {
    return match s {
        Circle(r) => 3.0 * r * r
        Square(side) => 1.0 * side * side
    }
}
fn sum(items: List[int]) to int {
    let mut total = 0
    for item in items {
        if item < 0 { continue }
        total += item
    }
    return total
}
fn label(n: int) to str {
    return if n is 0 { "none" } else { "n=" + n }
}
fn halves(n: int) to List[int] { return [n / 2, -n / 2, n % 2] }
fn first_word(text: str) to Option[str] { return text.split(" ").first() }
`

describe('generated TypeScript', () => {
  const folder = suiteFolder()

  /** Builds the TypeScript of all programs, and checks it as strictly as there is, in one run of the compiler. */
  before(async () => {
    const functionsProgram = join(folder, 'functions.svc')
    await writeFile(functionsProgram, functionsSource)
    const programs = [projectFile('examples/todo.svc'), projectFile('examples/library.svc'), functionsProgram]
    for (const program of programs) {
      const {exitCode} = await svcInTurn(['db', 'build', program, '-o', join(folder, 'api', basename(program, '.svc'))])
      assert.equal(exitCode, 0)
    }
    await writeFile(join(folder, 'package.json'), '{"type": "module"}')
    const options = {
      strict: true,
      noUncheckedIndexedAccess: true,
      target: 'es2023',
      module: 'nodenext',
      lib: ['es2023', 'dom'],
      types: [],
      rootDir: 'api',
      outDir: 'out',
    }
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({compilerOptions: options, include: ['api']}))
    const {exitCode, stdout} = await execa(
      process.execPath,
      [projectFile('node_modules/typescript/bin/tsc'), '-p', folder],
      {reject: false},
    )
    assert.equal(exitCode, 0, stdout)
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

  describe('of the examples', () => {
    it('type-checks, and talks to the running todo list', async (t) => {
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

    it('type-checks, and talks to the running library', async (t) => {
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
  })

  describe('of functions that need no database', () => {
    it('computes what they compute on the server', async () => {
      const functions = await load('functions', 'functions.js')
      assert.equal(functions.area?.({_tag: 'Circle', r: 2}), 12)
      assert.equal(functions.area?.({_tag: 'Square', side: 3}), 9)
      assert.equal(functions.sum?.([1, -5, 2]), 3)
      assert.deepEqual([functions.label?.(0), functions.label?.(7)], ['none', 'n=7'])
      assert.deepEqual(functions.halves?.(7), [3, -3, 1])
      assert.equal(functions.first_word?.('a b'), 'a')
      assert.throws(() => functions.sum?.([Number.MAX_SAFE_INTEGER, 1]), /outside the range of int/)
    })
  })
})
