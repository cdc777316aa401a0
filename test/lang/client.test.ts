import assert from 'node:assert/strict'
import {mkdir, readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {pathToFileURL} from 'node:url'
import {execa} from 'execa'
import {serveDb} from '../support/db-server.js'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'

/** The functions of a generated file. */
type Client = Record<string, (...args: unknown[]) => unknown>

/** Builds a program's TypeScript, checks it as strictly as there is, and gives the folder of what came out. */
async function buildTypeScript(folder: string, program: string): Promise<string> {
  const source = join(folder, 'api')
  assert.equal((await svcInTurn(['db', 'build', program, '-o', source])).exitCode, 0)
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
  return join(folder, 'out')
}

const load = async (file: string) => (await import(pathToFileURL(file).href)) as Client

describe('the TypeScript of the examples', () => {
  it('type-checks, and talks to the running todo list', async (t) => {
    const folder = await temporaryFolder(t)
    const program = projectFile('examples/todo.svc')
    const client = await load(join(await buildTypeScript(folder, program), 'client.js'))
    await mkdir(join(folder, 'served'))
    const server = await serveDb(t, join(folder, 'served'), await readFile(program, 'utf8'))
    client.configureSvcApiBase?.(server.baseUrl)
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
    const folder = await temporaryFolder(t)
    const program = projectFile('examples/library.svc')
    const client = await load(join(await buildTypeScript(folder, program), 'client.js'))
    await mkdir(join(folder, 'served'))
    const server = await serveDb(t, join(folder, 'served'), await readFile(program, 'utf8'))
    client.configureSvcApiBase?.(server.baseUrl)
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

describe('functions that need no database', () => {
  it('compute in TypeScript what they compute on the server', async (t) => {
    const folder = await temporaryFolder(t)
    const program = join(folder, 'functions.svc')
    await writeFile(
      program,
      `type Shape =
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
`,
    )
    const functions = await load(join(await buildTypeScript(folder, program), 'functions.js'))
    assert.equal(functions.area?.({_tag: 'Circle', r: 2}), 12)
    assert.equal(functions.area?.({_tag: 'Square', side: 3}), 9)
    assert.equal(functions.sum?.([1, -5, 2]), 3)
    assert.deepEqual([functions.label?.(0), functions.label?.(7)], ['none', 'n=7'])
    assert.deepEqual(functions.halves?.(7), [3, -3, 1])
    assert.equal(functions.first_word?.('a b'), 'a')
    assert.throws(() => functions.sum?.([Number.MAX_SAFE_INTEGER, 1]), /outside the range of int/)
  })
})
