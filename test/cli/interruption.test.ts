import assert from 'node:assert/strict'
import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {createInterface} from 'node:readline'
import {describe, it} from 'node:test'
import {projectFile} from '../support/project.js'

const program = `
import {writeSync} from 'node:fs'
import {Interruption} from ${JSON.stringify(projectFile('dist/src/cli/interruption.js'))}
const {signal} = new Interruption(() => undefined)
signal.addEventListener('abort', () => console.log('aborted'))
process.on('exit', () => writeSync(1, 'cleaned up\\n'))
setInterval(() => {}, 1000)
console.log('started')`

describe('an interrupted command', () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`ends by a second ${signal} after its exit listeners, without terminating threads`, async (test) => {
      const args = ['--input-type=module', '--eval', program]
      const child = spawn(process.execPath, args, {stdio: ['ignore', 'pipe', 'inherit']})
      test.after(() => child.kill('SIGKILL'))
      const ended = once(child, 'close')
      const lines: string[] = []
      for await (const line of createInterface({input: child.stdout})) {
        lines.push(line)
        if (line !== 'cleaned up') child.kill(signal)
      }
      assert.deepEqual(lines, ['started', 'aborted', 'cleaned up'])
      assert.deepEqual(await ended, [null, signal])
    })

  it('does not wait for standard input if it was interrupted before', {timeout: 120_000}, async (test) => {
    const reading = `
import {inputChunks} from ${JSON.stringify(projectFile('dist/src/cli/input.js'))}
try {
  for await (const chunk of inputChunks('-', AbortSignal.abort(new Error('interrupted')))) console.log(String(chunk))
} catch (error) {
  console.log(error.message)
}`
    const args = ['--input-type=module', '--eval', reading]
    const child = spawn(process.execPath, args, {stdio: ['pipe', 'pipe', 'inherit']})
    test.after(() => child.kill('SIGKILL'))
    const [line] = await once(createInterface({input: child.stdout}), 'line')
    assert.equal(line, 'interrupted')
  })
})
