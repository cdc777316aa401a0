import assert from 'node:assert/strict'
import {readFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {compileSchema} from '../../src/contracts/index.js'
import {projectFile} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {countTokens} from './count-tokens.js'
import {connect, hello, starter, workspace} from './support.js'

const todo = await readFile(projectFile('examples/todo.svc'), 'utf8')

/** All kinds of endpoints, and types that refer to others. */
const shop = `type Point { x: int, y: Option[int] }
type Shape = Circle(at: Point, r: float) | Nothing

@table type Item { name: str, price: dec, tags: List[str] }

@endpoint(kind: query)
fn cheapest() to Option[Item] { return db.Item.all().order_by(price).first() }

@endpoint(kind: query)
fn echo(shape: Shape, points: List[Point] = []) to Shape { return shape }

@endpoint(kind: mutation)
fn svc_task_list(name: str, price: dec) to Result[Id[Item]] {
    if name.is_empty() { return Error("an item needs a name") }
    return db.Item.insert({ name: name, price: price, tags: [] })
}

@endpoint(kind: mutation)
fn clear(id: Id[Item]) to bool { return db.Item.delete(id) }

@endpoint(kind: server)
fn halve(n: int) to int { return 10 / n }

@endpoint(kind: server)
fn hear(path: str) to Result[str] { return Speech.transcribe(path) }
`

/** A program with four endpoints per table. */
const bigProgram = (tables: number) =>
  Array.from({length: tables}, (_, i) => {
    const [type, name] = [`Item${i}`, `item${i}`]
    return `@table type ${type} { name: str, price: dec }

/// Lists the items of shelf ${i}, the cheapest first.
@endpoint(kind: query)
fn list_${name}() to List[${type}] { return db.${type}.all().order_by(price) }

@endpoint(kind: mutation)
fn add_${name}(name: str, price: dec) to Id[${type}] { return db.${type}.insert({ name: name, price: price }) }

@endpoint(kind: mutation)
fn rename_${name}(id: Id[${type}], name: str) to bool { return db.${type}.update(id, { name: name }) }

@endpoint(kind: mutation)
fn remove_${name}(id: Id[${type}]) to bool { return db.${type}.delete(id) }
`
  }).join('\n')

describe('mcp serve --program', {concurrency: 2}, () => {
  it('calls endpoints as tools', async (t) => {
    const cwd = await workspace(t, {'todo.svc': todo})
    const {client, call, fails} = await connect(t, {cwd, args: ['--program', 'todo.svc']})
    const {tools} = await client.listTools()
    const own = tools.filter(({name}) => !name.startsWith('svc_'))
    assert.deepEqual(
      own.map(({name, annotations}) => [name, annotations?.readOnlyHint, annotations?.destructiveHint]),
      [
        ['list', true, undefined],
        ['add', false, false],
        ['finish', false, true],
        ['remove', false, true],
      ],
    )
    assert.match(own[0]?.description ?? '', /^What is left to do/)
    assert.deepEqual(own[1]?.inputSchema.required, ['title'])
    const id = await call<number>('add', {title: ' buy milk ', due: null})
    const [row] = await call<{_id: number; title: string; done: boolean}[]>('list')
    assert.deepEqual([row?._id, row?.title, row?.done], [id, 'buy milk', false])
    assert.equal(await call('finish', {id}), true)
    assert.deepEqual(await call('list', {all: false}), [])
    const {issues} = (await fails('invalid_arguments', 'add', {title: 7, dew: 'x'})).meta as {issues: {path: string}[]}
    assert.deepEqual(
      issues.map(({path}) => path),
      ['', '/title'],
    )
    await fails('invalid_arguments', 'add')
    const refused = await fails('endpoint_refused', 'add', {title: ' '})
    assert.match(refused.error ?? '', /a todo needs a title/)
    assert.deepEqual(refused.meta, {details: 'a todo needs a title'})
    // The command line uses the same database.
    const {stdout} = await svcInTurn(['db', 'call', 'list', 'all=true', '--program', 'todo.svc'], {cwd})
    assert.equal(JSON.parse(stdout)[0].title, 'buy milk')
    await call('svc_orchestrator_status')
  })

  it('derives schemas, unique names and hints from the program', async (t) => {
    const cwd = await workspace(t, {'my-shop.svc': shop})
    const {client, call, fails} = await connect(t, {cwd, args: ['--program', 'my-shop.svc', '--db', 'shop.db']})
    const {tools} = await client.listTools()
    const hints = Object.fromEntries(tools.map(({name, annotations}) => [name, annotations]))
    assert.equal(hints.svc_task_list?.readOnlyHint, true)
    assert.deepEqual(
      ['cheapest', 'echo', 'my_shop_svc_task_list', 'clear', 'halve', 'hear'].map((name) => [
        hints[name]?.readOnlyHint,
        hints[name]?.destructiveHint,
      ]),
      [
        [true, undefined],
        [true, undefined],
        [false, false],
        [false, true],
        [true, undefined],
        [true, undefined],
      ],
    )
    const {inputSchema} = tools.find(({name}) => name === 'echo') ?? {}
    const check = await compileSchema(inputSchema as never, 'echo')
    const circle = {_tag: 'Circle', at: {x: 1}, r: 2.5}
    assert.deepEqual(check({shape: circle, points: [{x: 1, y: 2}]}), [])
    assert.notDeepEqual(check({shape: {_tag: 'Circle', at: {}, r: 1}}), [])
    assert.deepEqual(await call('echo', {shape: circle}), circle)
    assert.deepEqual(await call('echo', {shape: {_tag: 'Nothing'}, points: []}), {_tag: 'Nothing'})
    assert.equal(await call('cheapest'), null)
    const id = await call('my_shop_svc_task_list', {name: 'x', price: '1.50'})
    assert.equal((await call<{price: string}>('cheapest')).price, '1.50')
    assert.equal(await call('clear', {id}), true)
    assert.equal(await call('halve', {n: 5}), 2)
    const failed = await fails('endpoint_failed', 'halve', {n: 0})
    assert.match(failed.error ?? '', /DIVISION_BY_ZERO|division/i)
  })

  it('lists a few tools for a large program, whose endpoints can be called by name', async (t) => {
    const cwd = await workspace(t, {'big.svc': bigProgram(50)})
    const {client, call, fails} = await connect(t, {cwd, args: ['--program', 'big.svc']})
    const own = (await client.listTools()).tools.filter(({name}) => !name.startsWith('svc_'))
    assert.deepEqual(
      own.map(({name, annotations}) => [name, annotations?.readOnlyHint, annotations?.destructiveHint]),
      [
        ['big_describe', true, undefined],
        ['big_query', true, undefined],
        ['big_mutation', false, true],
      ],
    )
    const tokens = countTokens(JSON.stringify({tools: own}))
    assert.ok(tokens <= 2500, `${tokens} tokens`)
    assert.match(own[2]?.description ?? '', /big_describe.*add_item0, rename_item0, remove_item0, add_item1/)
    const [add] = await call<{inputSchema: {required: string[]}}[]>('big_describe', {names: ['add_item7']})
    assert.deepEqual(add?.inputSchema.required, ['name', 'price'])
    assert.equal((await call<object[]>('big_describe')).length, 200)
    const id = await call<number>('big_mutation', {name: 'add_item7', arguments: {name: 'x', price: '1.50'}})
    await call('rename_item7', {id, name: 'y'})
    assert.deepEqual(await call('big_query', {name: 'list_item7'}), [{_id: id, name: 'y', price: '1.50'}])
    await fails('unknown_tool', 'big_query', {name: 'add_item7'})
    await fails('invalid_arguments', 'big_mutation', {name: 'add_item7', arguments: {name: 'x'}})
    await fails('invalid_arguments', 'big_query', {arguments: {}})
  })

  it('transcribes with the same speech engine as the built-in tools', async (t) => {
    const cwd = await workspace(t, {'shop.svc': shop})
    await writeFile(join(cwd, 'hello.wav'), await readFile(hello))
    const {call, fails} = await connect(t, {cwd, args: ['--program', 'shop.svc'], env: {SVC_SPEECH_MODEL: starter}})
    assert.match(await call<string>('hear', {path: 'hello.wav'}), /\w/)
    assert.match((await fails('endpoint_refused', 'hear', {path: '../x.wav'})).error ?? '', /is outside the workspace/)
  })

  it('exits with an error and no output if the program is invalid or missing', async (t) => {
    const cwd = await workspace(t, {'broken.svc': '@endpoint(kind: query)\nfn x() to int { return y }\n'})
    const ends = (file: string) => svcInTurn(['mcp', 'serve', '--program', file], {cwd})
    const broken = await ends('broken.svc')
    assert.deepEqual([broken.exitCode !== 0, broken.stdout], [true, ''])
    assert.match(broken.stderr, /typecheck\.undefined[\s\S]*\(program_invalid\)/)
    const missing = await ends('missing.svc')
    assert.deepEqual([missing.exitCode, missing.stdout], [3, ''])
    assert.match(missing.stderr, /\(program_not_found\)/)
  })
})
