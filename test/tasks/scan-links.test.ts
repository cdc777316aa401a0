import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {applyBaseline, fingerprintsOf} from '../../src/tasks/scan/baseline.js'
import {brokenLinks} from '../../src/tasks/scan/links.js'

const existing = new Set(['README.md', 'docs', 'docs/a.md', 'docs/a b.md', 'docs/a(1).md', 'docs/img/a.png', 'LICENSE'])
const find = (text: string, path = 'docs/index.md') => brokenLinks(path, text, (file) => existing.has(file))

describe('brokenLinks', () => {
  const intact = [
    '[a](a.md)',
    '[a](./a.md "title")',
    '[a]( a.md\n)',
    '[a](../README.md#top)',
    '[a](/LICENSE)',
    '[a](a.md?b=c#d)',
    '[a](a%20b.md)',
    '[a](<a b.md>)',
    '[a](<a.md> "title")',
    '[a](a(1).md)',
    '[a](a\\(1\\).md)',
    '[a](img/)',
    '[a](.)',
    '[a](..)',
    '[![b](img/a.png)](a.md)',
    '![a](img/a.png)',
    '[a]: a.md',
    '[a]: <a b.md> "title"',
    '<a href="a.md">a</a> <img alt="" src=\'img/a.png\'>',
  ]
  for (const text of intact)
    it(`accepts ${JSON.stringify(text)}`, () => {
      existing.add('docs/img')
      assert.deepEqual(find(text), [])
    })

  const broken: readonly [text: string, target: string, line: number][] = [
    ['[a](b.md)', 'b.md', 1],
    ['a\r\n\r\n[a\r\nb](b.md "title")', 'b.md', 4],
    ['![a](img/b.png)', 'img/b.png', 1],
    ['[![b](img/a.png)](b.md)', 'b.md', 1],
    ['[![b](img/b.png)](a.md)', 'img/b.png', 1],
    ['[a](<c d.md>)', 'c d.md', 1],
    ['[a](c%20d.md#e)', 'c d.md', 1],
    ['[a](%zz.md)', '%zz.md', 1],
    ['[a](/docs/b.md)', '/docs/b.md', 1],
    ['[a](a.md%00)', 'a.md\ufffd', 1],
    ['\n[a]: b.md', 'b.md', 2],
    ['> - [x `y`](b.md)', 'b.md', 1],
    ['<a class="x"\n href="b.md">', 'b.md', 1],
    ['<img src=b.png>', 'b.png', 1],
  ]
  for (const [text, target, line] of broken)
    it(`reports ${JSON.stringify(text)}`, () =>
      assert.deepEqual(find(text), [
        {
          rule: 'links/broken',
          severity: 'error',
          path: 'docs/index.md',
          line,
          message: `The link to ${target} is broken: the file does not exist.`,
        },
      ]))

  const ignored = [
    '[a](https://example.com/b)',
    '[a](mailto:a@example.com)',
    '[a](//example.com/b)',
    '[a](data:image/png;base64,AAAA)',
    '[a](#b)',
    '[a]()',
    '[a](b c.md)',
    '[a](b.md',
    '\\[a](b.md)',
    'a](b.md)',
    '[a\n\nb](b.md)',
    '[^1]: b.md',
    '`[a](b.md)`',
    '``[a](b.md) ` ``',
    '[a](`b`)',
    '```\n[a](b.md)\n```',
    '~~~\n[a](b.md)',
    '<!-- [a](b.md) -->',
    '<script src="b.js"></script>',
  ]
  for (const text of ignored) it(`ignores ${JSON.stringify(text)}`, () => assert.deepEqual(find(text), []))

  it('cannot check targets outside the workspace', () => {
    for (const target of ['../../a.md', '..%2f../a.md', '/../a.md'])
      assert.deepEqual(
        find(`[a](${target})`).map(({severity, message}) => [severity, message]),
        [['info', `The link to ${decodeURIComponent(target)} leaves the workspace and cannot be checked.`]],
      )
  })

  it('reports links in order of lines', () =>
    assert.deepEqual(
      find('<a href="1">\n[a](2)\n[b]: 3\n[c](4)').map(({line}) => line),
      [1, 2, 3, 4],
    ))

  it('has a baseline', () => {
    const before = '[a](b.md)'
    const after = `x\n${before}\n[a](c.md)`
    const baseline = fingerprintsOf(find(before), before)
    assert.deepEqual(
      applyBaseline(find(after), after, baseline).map(({severity}) => severity),
      ['info', 'error'],
    )
  })

  it('takes bounded time for repetitive text', () => {
    for (const part of [
      '[',
      ']',
      '[](',
      '[a](<',
      '[a](b',
      '(',
      '<a ',
      "<a href='",
      '[x]: ',
      '`',
      '\\',
      '![',
      '](',
      ' ',
      '\n',
    ])
      assert.ok(find(part.repeat(Math.ceil(250_000 / part.length))).length >= 0)
  })
})
