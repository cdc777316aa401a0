import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {checkProgram, type FunctionType, pureFunction, toJson} from '../../src/lang/index.js'

const result = (source: string) => {
  const {diagnostics, functions} = checkProgram(source)
  assert.deepEqual(diagnostics, [])
  return toJson(pureFunction(functions.at(-1) as FunctionType)())
}
const messages = (source: string) =>
  checkProgram(source).diagnostics.map(({message, hints = []}) => [message, ...hints].join(' '))

describe('assignment of an element', () => {
  it('changes no other variable, captured value or list that is being iterated', () => {
    const source = `fn last(m: Map[str, int]) to int { m["a"] }
fn f() to List[int] {
    let mut m: Map[str, int] = { a: 1 }
    m["a"] = 2
    let before = m
    m["a"] = 3
    let see = () => m["a"]
    let kept = last(m)
    m["a"] = 4
    let all = [m]
    m["a"] += m.get("a").unwrap_or(0)
    let mut items = [1, 2, 3]
    items[0] = 10
    for item, i in items { items[-1] = item + i }
    let pair = (items, 1)
    items[1] = 0
    return [before["a"], see(), kept, all[0]["a"], m["a"], len(m)] + items + pair[0]
}
`
    assert.deepEqual(result(source), [2, 8, 3, 4, 8, 1, 10, 0, 5, 10, 2, 5])
  })

  it('fills a map in linear time', () => {
    const source = `fn f() to (int, int) {
    let mut counts: Map[str, int] = {}
    for i in range(0, 60000) {
        let key = str(i)
        if not counts.contains(key) { counts[key] = 0 }
        counts[key] = counts[key] + len(counts)
    }
    return (len(counts), counts["59999"])
}
`
    assert.deepEqual(result(source), [60000, 60000])
  })

  it('needs a mutable variable with the type of a list or map', () => {
    assert.deepEqual(messages('fn f() { let m: Map[str, int] = {}\n    m["a"] = 1 }\n'), [
      "'m' is not mutable; declare it with 'let mut'.",
    ])
    assert.deepEqual(messages('fn f() { let mut m = {}\n    m["a"] = 1 }\n'), [
      'Only a variable can be assigned to; values are immutable. Declare the type of the map: let mut m: Map[str, int] = {}',
    ])
    assert.deepEqual(messages('type P { x: int }\nfn f(p: P) { p.x = 1 }\n'), [
      'Only a variable can be assigned to; values are immutable. Create a new value instead: p = { ...p, x: ... }',
    ])
    assert.deepEqual(messages('fn f() { let mut a = [1]\n    a["x"] = 1\n    a[0] = "x" }\n'), [
      'Expected int, found str. Convert the value with int(...).',
      'Expected int, found str. Convert the value with int(...).',
    ])
  })

  it('fails outside a list, and for += of a missing key', () => {
    assert.throws(() => result('fn f() { let mut a = [1]\n    a[1] = 2 }\n'), {reason: 'INDEX_OUT_OF_RANGE'})
    assert.throws(() => result('fn f() { let mut m: Map[str, int] = {}\n    m["a"] += 2 }\n'), {reason: 'KEY_MISSING'})
  })
})

describe('methods of maps', () => {
  it('return changed copies', () => {
    const source = `fn f() to Json {
    let m: Map[str, int] = { a: 1, b: 2 }
    let key = "c" + "d"
    let all = m.set(key, 3).with("a", 9).remove("b").merge({ e: 5 })
    std.json.parse(std.json.stringify((m, all, all.keys(), all.values(), all.entries(), all.is_empty()))).unwrap()
}
`
    const entries = [
      ['a', 9],
      ['cd', 3],
      ['e', 5],
    ]
    assert.deepEqual(result(source), [
      {a: 1, b: 2},
      Object.fromEntries(entries),
      ['a', 'cd', 'e'],
      [9, 3, 5],
      entries,
      false,
    ])
  })
})

describe('? of the other family', () => {
  it('is explained with the method that converts it', () => {
    assert.deepEqual(messages('fn f(o: Option[int]) to Result[int] { Ok(o?) }\n'), [
      "'?' on an Option returns None, but the function returns Result[int]. Write .ok_or(error)? to return an Error in place of None.",
    ])
    assert.deepEqual(messages('fn f(r: Result[int]) to Option[int] { Some(r?) }\n'), [
      "'?' on a Result returns its Error, but the function returns Option[int]. Write .ok()? to return None in place of an Error.",
    ])
    const source = `fn name(o: Option[str]) to Result[str] { Ok(o.ok_or("no name")?.to_upper()) }
fn code(r: Result[str]) to Option[int] { let text = r.ok()?
    Some(text.len()) }
fn f() to (Result[str], Option[int], Result[int, int]) {
    let failed: Result[int] = Error("four")
    (name(None), code(name(Some("abc"))), failed.map(n => n + 1).map_err(why => why.len()))
}
`
    assert.deepEqual(result(source), [{_tag: 'Error', value: 'no name'}, 3, {_tag: 'Error', value: 4}])
  })
})
