import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Application, type FunctionType} from '../../src/lang/index.js'
import {program} from './databases.js'

const source = `@table type Seat { guest: str unique }
@endpoint(kind: mutation) fn book(guest: str, pays: bool) to Result[Id[Seat]] {
    let id = db.Seat.insert({ guest })
    if pays { Ok(id) } else { Error("no money") }
}
@endpoint(kind: mutation) fn book_two(first: str, second: str) to int {
    for guest in [first, second] { if book(guest, guest is first).is_err() { book(guest + "!", true) } }
    db.Seat.count()
}
@endpoint(kind: mutation) fn maybe_book(guest: str) to Option[Result[Id[Seat]]] { Some(book(guest, false)) }
fn tried(guest: str) to bool { book(guest, false).is_ok() }
@test fn undone() {
    assert(book("Ann", true).is_ok())
    assert(book("Bo", false).is_err())
    assert(not tried("Cy"))
    assert(db.Seat.order_by(_id).map(seat => seat.guest) is ["Ann"])
}
@test fn kept_by_a_mutation() {
    assert(book_two("Ann", "Bo") is 3)
    assert(book("Bo", true) is Error("") or true)
}
@test fn kept_as_a_value() {
    assert(maybe_book("Ann").is_some())
    assert(db.Seat.count() is 1)
}
@test fn failed() { book("Ann", true).unwrap()
    book("Ann", true) }
`

describe('a test that calls a mutation', () => {
  for (const [name, reason] of [
    ['undone'],
    ['kept_by_a_mutation', 'DB_ERROR'],
    ['kept_as_a_value'],
    ['failed', 'DB_ERROR'],
  ] as const)
    it(`gets what a request gets: ${name}`, async () => {
      const app = await Application.open(program(source), {path: ':memory:'})
      const target = app.program.tests.find((made) => made.name === name) as FunctionType
      const run = async () => (await app.call(target, [])).value
      if (reason === undefined) assert.equal(await run(), undefined)
      else await assert.rejects(run, {reason})
      assert.equal(app.writer.database.inTransaction, false)
      app.close()
    })
})
