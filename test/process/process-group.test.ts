import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {runInGroup} from '../../src/process/index.js'
import {temporaryFolder} from '../support/temporary.js'

describe('a program that cannot be started', () => {
  it('is named with the cause, and keeps the code of the system', async (t) => {
    const cwd = await temporaryFolder(t)
    await writeFile(join(cwd, 'notes.txt'), '', {mode: 0o600})
    const missing = join(cwd, 'missing')
    for (const [program, folder, code, message] of [
      ['no-such-program-x', cwd, 'ENOENT', 'the program no-such-program-x was not found'],
      ['./notes.txt', cwd, 'EACCES', 'the program ./notes.txt is not executable'],
      ['true', missing, 'ENOENT', `the directory ${missing} does not exist`],
    ] as const) {
      const command = {argv: [program], cwd: folder, env: {PATH: process.env.PATH ?? ''}} as const
      const run = runInGroup({...command, timeoutMs: 120_000, maxOutputBytes: 1}, new AbortController().signal)
      await assert.rejects(run, {code, message})
    }
  })
})
