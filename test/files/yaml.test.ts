import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {parse} from 'yaml'
import {maxAliasedValues, parseYaml} from '../../src/files/index.js'

describe('aliases of YAML', () => {
  const aliases = (count: number, of: string) => `a: &a ${of}\nlist:\n${'- *a\n'.repeat(count)}`

  it('are expanded, however many there are', async () => {
    for (const count of [99, 100, 101, 20_000]) {
      const {list} = (await parseYaml(aliases(count, '{x: [1, two]}'))) as {list: unknown[]}
      assert.equal(list.length, count)
      assert.deepEqual(list.at(-1), {x: [1, 'two']})
    }
  })

  for (const source of [
    'a: &a {x: &b [1]}\nb: *b\nc: *a',
    'first: &a 1\nsecond: *a\nthird: &a {y: 2}\nfourth: *a',
    '- &key name\n- {*key : 1}',
    '&root [&a one, *a, [*a]]',
    'a: &a\nb: *a',
  ])
    it(`have the values that the library gives them: ${JSON.stringify(source)}`, async () =>
      assert.deepEqual(await parseYaml(source), parse(source)))

  const bomb = [...'bcdefghi'].reduce(
    (text, name, i) => `${text}\n${name}: &${name} [${`*${'abcdefgh'[i]}, `.repeat(10)}]`,
    'a: &a x',
  )
  const refused: [string, string, RegExp][] = [
    ['stand for too many values', bomb, new RegExp(`stand for more than ${maxAliasedValues} values \\(line 7\\)`)],
    ['are inside their own anchor', 'a: &a\n  b: [*a]', /\*a is inside the value of its own anchor \(line 2\)/],
    ['have no anchor', 'a: 1\nb: *a', /\*a has no anchor before it \(line 2\)/],
    ['come before their anchor', 'b: *a\na: &a 1', /\*a has no anchor before it \(line 1\)/],
  ]
  for (const [what, source, message] of refused)
    it(`are refused if they ${what}`, () => assert.rejects(parseYaml(source), {name: 'SyntaxError', message}))
})
