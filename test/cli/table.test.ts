import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {formatTable} from '../../src/cli/index.js'

describe('a table', () => {
  it('aligns its columns without trailing spaces', () =>
    assert.equal(
      formatTable(
        ['NAME', 'VALUE', 'NOTE'],
        [
          ['a', '1', 'first'],
          ['longer', '22', ''],
        ],
      ),
      'NAME    VALUE  NOTE\na       1      first\nlonger  22\n',
    ))

  it('wraps its last column between words on a narrow terminal', () =>
    assert.equal(
      formatTable(['NAME', 'NOTE'], [['a', 'one two three four /a/very/long/path/of/a/file']], 30),
      'NAME  NOTE\na     one two three four\n      /a/very/long/path/of/a/file\n',
    ))

  it('wraps all wide columns, and splits long words before another column', () => {
    const rows = [['group.with_a_long_name', '{"one":["program","argument"]}', 'file x']]
    const table = formatTable(['SETTING', 'VALUE', 'FROM'], rows, 50)
    assert.deepEqual(table.trimEnd().split('\n'), [
      'SETTING               VALUE                 FROM',
      'group.with_a_long_    {"one":["program",    file x',
      'name                  "argument"]}',
    ])
  })
})
