import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {type Application, changesAfter, checkProgram, type Program, toJson} from '../../src/lang/index.js'
import {functionOf, opened} from './random-conditions.js'

const source = `@table type Item { name: str, stock: int, weight: float, price: dec, note: Option[str] }
@index Item.by_name on (name) unique
@index Item.by_price on (price, note) unique

@endpoint(kind: query) fn watched() to List[Item] { db.Item.order_by(name).live("items") }
@endpoint(kind: mutation) fn add(name: str, stock: int, price: dec, note: Option[str]) to Id[Item] {
    db.Item.insert({ name, stock, weight: 1.5, price, note })
}
@endpoint(kind: mutation) fn put(name: str, price: dec, note: Option[str]) to Id[Item] {
    db.Item.upsert({ name, stock: 1, weight: 0.0, price, note }, { stock: { increment: 1 } }, by_price)
}
@endpoint(kind: mutation) fn replace(name: str) to Id[Item] {
    db.Item.upsert({ name, stock: 7, weight: 0.0, price: 0dec }, { stock: 7, note: None }, by_name)
}
@endpoint(kind: mutation) fn grow(by: int) to int { db.Item.all().update({ stock: { increment: by } }) }
@endpoint(kind: mutation) fn weigh(by: float) to int { db.Item.all().update({ weight: { increment: by } }) }
@endpoint(kind: mutation) fn remove(prefix: str) to int { db.Item.where({ name: { starts_with: prefix } }).delete() }
@endpoint(kind: mutation) fn from_one() to Id[Item] { db.Item.insert(made()) }
fn made() to Item {
    let id = db.Item.insert({ name: "first", stock: 1, weight: 1.0, price: 9dec })
    db.Item.get(id).map(item => { ...item, name: "second", price: 8dec }).unwrap()
}
`

const program: Program = checkProgram(source)

async function stocked(): Promise<Application> {
  const application = await opened(program)
  await call(application, 'add', ['tea', 5, '1.50', 'hot'])
  await call(application, 'add', ['cake', 2, '4', null])
  return application
}

const call = async (application: Application, name: string, args: readonly unknown[]) =>
  (await application.call(functionOf(program, name), args)).value
const stocks = async (application: Application) =>
  ((await call(application, 'watched', [])) as {stock: number}[]).map(({stock}) => stock)
const changes = ({writer}: Application) =>
  changesAfter(writer, 'items', 0, 100).map(({entity_id, change_kind}) => `${change_kind} ${entity_id}`)

describe('upsert', () => {
  it('changes the row with the same key, which for a decimal is its value', async () => {
    const application = await stocked()
    assert.equal(await call(application, 'put', ['coffee', '1.5', 'hot']), 1)
    assert.deepEqual(await stocks(application), [2, 6])
    application.close()
  })

  it('inserts a row if the key contains None, which equals no other', async () => {
    const application = await stocked()
    assert.equal(await call(application, 'put', ['pie', '4', null]), 3)
    application.close()
  })

  it('fails if another index forbids the row', async () => {
    const application = await stocked()
    await assert.rejects(
      async () => call(application, 'put', ['cake', '7', 'x']),
      /another row of item has the same name/,
    )
    application.close()
  })

  it('is logged as an insertion or as an update', async () => {
    const application = await stocked()
    await call(application, 'replace', ['tea'])
    await call(application, 'replace', ['pie'])
    assert.deepEqual(changes(application), ['insert 1', 'insert 2', 'update 1', 'insert 4'])
    application.close()
  })
})

describe('update and delete of all rows that match', () => {
  it('return their number and are logged for each row', async () => {
    const application = await stocked()
    assert.equal(await call(application, 'grow', [3]), 2)
    assert.equal(await call(application, 'remove', ['t']), 1)
    assert.deepEqual(await stocks(application), [5])
    assert.deepEqual(changes(application), ['insert 1', 'insert 2', 'update 1', 'update 2', 'delete 1'])
    application.close()
  })

  it('change nothing if a sum cannot be represented', async () => {
    const application = await stocked()
    await assert.rejects(async () => call(application, 'grow', [Number.MAX_SAFE_INTEGER - 3]), {reason: 'INT_OVERFLOW'})
    await call(application, 'weigh', [1.7e308])
    await assert.rejects(async () => call(application, 'weigh', [1.7e308]), {reason: 'NOT_STORABLE'})
    assert.deepEqual(await stocks(application), [2, 5])
    application.close()
  })
})

describe('the argument of insert', () => {
  it('is evaluated once', async () => {
    const application = await stocked()
    assert.equal(await call(application, 'from_one', []), 4)
    const rows = toJson(await call(application, 'watched', [])) as {name: string}[]
    assert.deepEqual(
      rows.map(({name}) => name),
      ['cake', 'first', 'second', 'tea'],
    )
    application.close()
  })
})
