import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Application, checkProgram, type FunctionType, pureFunction, toJson} from '../../src/lang/index.js'
import {program} from './databases.js'

const value = (expression: string, type: string) => {
  const {diagnostics, functions} = checkProgram(`fn f() to ${type} { ${expression} }\n`)
  assert.deepEqual(diagnostics, [], expression)
  return toJson(pureFunction(functions[0] as FunctionType)())
}
const messages = (source: string) => checkProgram(source).diagnostics.map(({message}) => message)

const matches: readonly (readonly [expression: string, type: string, expected: unknown])[] = [
  ['std.regex.is_match("order 66", "[0-9]+")', 'bool', true],
  ['std.regex.is_match("order", "^[0-9]+$")', 'bool', false],
  [
    'std.regex.find("ann@example.org", "(\\\\w+)@(\\\\w+)?(x)?")',
    'Option[List[str]]',
    ['ann@example', 'ann', 'example', ''],
  ],
  ['std.regex.find("ann", "@")', 'Option[List[str]]', null],
  ['std.regex.find_all("a1b22c", "[0-9]+")', 'List[str]', ['1', '22']],
  ['std.regex.find_all("abc", "")', 'List[str]', ['', '', '', '']],
  ['std.regex.find_all("é😀é", ".")', 'List[str]', ['é', '😀', 'é']],
  [
    `std.regex.replace("2024-05-31", "(\\\\d+)-(\\\\d+)-(?P<day>\\\\d+)", "\${day}.$2.$1 $$1 $0")`,
    'str',
    '31.05.2024 $1 2024-05-31',
  ],
  ['std.regex.replace("aaa", "b", "c")', 'str', 'aaa'],
  ['std.regex.split("a, b;c", "[,;]\\\\s*")', 'List[str]', ['a', 'b', 'c']],
  ['std.regex.split(",a,", ",")', 'List[str]', ['', 'a', '']],
  ['std.regex.split("abc", "")', 'List[str]', ['a', 'b', 'c']],
  ['std.regex.is_match("ÄPFEL", "(?i)äpfel")', 'bool', true],
]

describe('regular expressions', () => {
  it('find, replace and split', () => {
    for (const [expression, type, expected] of matches) assert.deepEqual(value(expression, type), expected, expression)
  })

  it('take linear time, and count as steps', () => {
    const nested = 'std.regex.is_match("a".repeat(50000) + "!", "^(a+)+$")'
    assert.equal(value(nested, 'bool'), false)
    assert.throws(() => value('std.regex.find_all("x".repeat(100000), "(?:.*b)?")', 'List[str]'), {
      reason: 'STEP_LIMIT',
    })
  })

  it('are checked with the program, or fail', () => {
    assert.deepEqual(messages('fn f() to bool { std.regex.is_match("a", "(") }\n'), [
      "std.regex.is_match() needs a regular expression, found one with a fault: missing closing ): '('.",
    ])
    assert.match(messages('fn f() to bool { std.regex.is_match("a", "(?=a)") }\n')[0] ?? '', /unsupported Perl syntax/)
    assert.throws(() => value('let p = "["\n std.regex.is_match("a", p)', 'bool'), {reason: 'CONVERSION'})
    assert.throws(() => value('std.regex.replace("a", "a", "$1")', 'str'), {reason: 'CONVERSION'})
    assert.throws(() => value('std.regex.is_match("a", "a".repeat(1001))', 'bool'), {reason: 'CONVERSION'})
  })
})

describe('random values', () => {
  it('are within their range', () => {
    for (let i = 0; i < 50; i++) {
      const [whole, part] = value('(std.random.int(-1, 1), std.random.float())', '(int, float)') as [number, number]
      assert.ok([-1, 0, 1].includes(whole) && part >= 0 && part < 1)
    }
    assert.match(String(value('std.random.token(16)', 'str')), /^[\w-]{22}$/)
    assert.equal(value('std.random.choice(["a"])', 'Option[str]'), 'a')
    assert.deepEqual(value('std.random.shuffle(range(0, 20)).sort() is range(0, 20)', 'bool'), true)
    const none = 'let none: List[int] = []\n std.random.choice(none)'
    assert.equal(value(none, 'Option[int]'), null)
    assert.throws(() => value('std.random.int(2, 1)', 'int'), {reason: 'CONVERSION'})
    assert.throws(() => value('std.random.token(0)', 'str'), {reason: 'CONVERSION'})
  })

  it('are refused in queries', () => {
    const helper = 'fn pick() to int { return std.random.int(1, 6) }\n'
    assert.deepEqual(messages(`${helper}@endpoint(kind: query) fn roll() to int { return pick() }\n`), [
      'The same query must have the same result; pick() reaches std.random.int(), which is random.',
    ])
    for (const kind of ['mutation', 'server'])
      assert.deepEqual(messages(`${helper}@endpoint(kind: ${kind}) fn roll() to int { return pick() }\n`), [])
  })
})

const accounts = `@table type Account { name: str unique, password: str }
@endpoint(kind: mutation) fn join(name: str, password: str) to Result[Id[Account]] {
    let id = db.Account.insert({ name, password: std.crypto.hash_password(password) })?
    if password.len() < 8 { return Error("too short") }
    Ok(id)
}
@endpoint(kind: server) fn enter(name: str, password: str) to bool {
    match db.Account.filter({ name }).first() {
        Some(account) => std.crypto.verify_password(password, account.password)
        None => false
    }
}
@test fn passwords() {
    assert(join("Ann", "correct horse").is_ok())
    assert(join("Bo", "short").is_err())
    assert(enter("Ann", "correct horse") and not enter("Ann", "wrong") and not enter("Bo", "short"))
}
@endpoint(kind: server) fn broken() to bool { std.crypto.verify_password("a", "b") }
`

describe('passwords', () => {
  it('are hashed and verified', async (t) => {
    const app = await Application.open(program(accounts), {path: ':memory:'})
    t.after(() => app.close())
    const call = async (name: string, ...args: unknown[]) => {
      const target = app.program.functions.find((made) => made.name === name) as FunctionType
      return (await app.call(target, args)).value
    }
    await call('passwords')
    assert.equal(await call('join', 'Cy', 'battery staple'), 2)
    assert.equal(await call('enter', 'Cy', 'battery staple'), true)
    assert.equal(await call('enter', 'Cy', 'battery stapler'), false)
    const hashes = app.writer.database.prepare('SELECT password FROM account').pluck().all() as string[]
    assert.ok(hashes.every((hash) => hash.startsWith('$argon2id$v=19$m=19456,t=2,p=1$')))
    assert.equal(new Set(hashes).size, hashes.length)
    await assert.rejects(call('broken'), {reason: 'CONVERSION'})
  })
})
