import assert from 'node:assert/strict'
import {PassThrough} from 'node:stream'
import {describe, it} from 'node:test'
import {execa} from 'execa'
import {registerSecret} from '../../src/log/index.js'
import {KeptOutput, type OutputSource} from '../../src/process/index.js'

type Write = readonly [source: OutputSource, bytes: string | Buffer]

/** Collects what was written to both pipes, in this order, under a limit. */
async function keep(limit: number, ...writes: readonly Write[]): Promise<KeptOutput> {
  const output = new KeptOutput(limit)
  const pipes = {stdout: new PassThrough(), stderr: new PassThrough()}
  for (const source of ['stdout', 'stderr'] as const) output.record(source, pipes[source])
  for (const [source, bytes] of writes) {
    pipes[source].write(bytes)
    await new Promise(setImmediate)
  }
  output.end()
  return output
}

const pieces = (output: KeptOutput, offset = 0) => output.since(offset).map(({at, bytes}) => [at, bytes.toString()])

describe('the collected output of a command', () => {
  it('is complete up to the limit', async () => {
    const output = await keep(8, ['stdout', 'abcd'], ['stderr', 'efgh'])
    assert.deepEqual([output.text('stdout'), output.text('stderr'), output.missing], ['abcd', 'efgh', 0])
    assert.deepEqual(
      pieces(output)
        .map(([, text]) => text)
        .join(''),
      'abcdefgh',
    )
  })

  it('keeps its beginning and end above the limit, with a count of missing bytes', async () => {
    const output = await keep(8, ['stdout', '0123456789abcdef'], ['stdout', 'ghij'])
    assert.equal(output.text('stdout'), '01\n[12 bytes are missing here]\nefghij')
    assert.deepEqual([output.total, output.missing, output.tailStart], [20, 12, 14])
    assert.deepEqual(pieces(output), [
      [0, '01'],
      [14, 'efghij'],
    ])
  })

  it('has one limit for both pipes and counts the missing bytes of each', async () => {
    const output = await keep(8, ['stdout', 'aaaa'], ['stderr', 'bbbb'], ['stdout', 'cccc'])
    assert.equal(output.text('stdout'), 'aa\n[2 bytes are missing here]\ncccc')
    assert.equal(output.text('stderr'), '[2 bytes are missing here]\nbb')
  })

  it('can be read from any offset', async () => {
    const output = await keep(100, ['stdout', 'abc'], ['stderr', 'def'])
    assert.deepEqual(pieces(output, 4), [[4, 'ef']])
    assert.deepEqual(pieces(output, 6), [])
  })

  for (const [limit, expected] of [
    [8, '𝄞𝄞'],
    [7, '\n[4 bytes are missing here]\n𝄞'.trimStart()],
    [3, '[8 bytes are missing here]\n'],
  ] as const)
    it(`does not split characters under a limit of ${limit} bytes`, async () => {
      assert.equal((await keep(limit, ['stdout', '𝄞𝄞'])).text('stdout'), expected)
    })

  it('joins characters that arrive in two pieces', async () => {
    const [first, second] = [Buffer.from('𝄞').subarray(0, 2), Buffer.from('𝄞').subarray(2)]
    const output = await keep(100, ['stdout', first], ['stderr', 'x'], ['stdout', second])
    assert.deepEqual([output.text('stdout'), output.text('stderr')], ['𝄞', 'x'])
  })

  it('needs no more memory for a command that writes byte by byte', async () => {
    const output = new KeptOutput(1000)
    const pipe = new PassThrough()
    output.record('stdout', pipe)
    for (let i = 0; i < 5000; i++) pipe.write(String(i % 10))
    await new Promise(setImmediate)
    assert.equal(output.text('stdout').length, 1000 + '\n[4000 bytes are missing here]\n'.length)
  })

  it('redacts registered secrets, even in two pieces', async () => {
    registerSecret('hunter-2-hunter')
    const output = await keep(
      1000,
      ['stdout', 'key hunter-2'],
      ['stdout', '-hunter, key hunt'],
      ['stderr', 'hunter-2-hunter'],
    )
    assert.equal(output.text('stdout'), 'key [redacted], key hunt')
    assert.equal(output.text('stderr'), '[redacted]')
    assert.deepEqual(output.lastLines(1), ['[redacted]'])
  })

  it('names the error of a Node.js program, not its stack', async () => {
    const {stderr} = await execa(process.execPath, ['-e', "function f() { throw new TypeError('no disk') }; f()"], {
      reject: false,
    })
    const output = await keep(
      8,
      ['stderr', `reading\n${stderr}\n`],
      ['stderr', '    at async run (file:///a b/c.js:1:2)\n'],
      ['stderr', '    at load (/app/node_modules/@acme/db+1/index.js:10:3)\n    at Array.map (<anonymous>)\n'],
      ['stderr', '    at async Promise.all (index 0)\n    at run (file:///C:/My%20App/a.mjs:1:2)\n'],
    )
    const lines = output.lastLines(3)
    assert.equal(
      lines.find((line) => line.startsWith('TypeError')),
      'TypeError: no disk',
    )
    assert.equal(
      lines.findLast((line) => /^at |^Node/.test(line)),
      undefined,
      lines.join('\n'),
    )
  })
})
