import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {commentsOf} from './comments.js'
import {proseFindings} from './prose.js'

const words = (count: number) => Array(count).fill('word').join(' ')

/** The places and rules that a module with these lines breaks. */
const findings = (...lines: string[]) =>
  proseFindings(commentsOf('a.ts', `${lines.join('\n')}\n`)).map(({place, rule}) => `${place} ${rule}`)

describe('the prose of comments', () => {
  it('is found in blocks and in lines that follow each other', () => {
    const block = ['/**', ` * ${words(20)}`, ` * ${words(11)}.`, ' */', 'const a = 1']
    const lines = [`  // ${words(16)}`, `  // ${words(15)}.`, 'const b = 2', '/** Nobody waits. */']
    assert.deepEqual(
      findings(...block, ...lines).map((finding) => finding.slice(0, 16)),
      ['a.ts:1 31 words:', 'a.ts:6 31 words:', 'a.ts:9 "Nobody":'],
    )
  })

  it('is split at tags and list items', () => {
    assert.deepEqual(
      findings(
        '/**',
        ` * ${words(20)}`,
        ' *',
        ` * - ${words(20)}`,
        ` * - ${words(20)}`,
        ` * @returns ${words(20)}`,
        ' */',
      ),
      [],
    )
    assert.deepEqual(findings(`/** ${words(20)} @throws ${words(20)} */`), [])
  })

  it('does not include code', () => {
    assert.deepEqual(
      findings('/**', ' * @param patience of a search', ' * @example', ' *   nobody(`x`)', ' */', "const a = 'nobody'"),
      [],
    )
    assert.deepEqual(findings('// The user `nobody`.', 'const b = beside // x'), [])
  })
})
