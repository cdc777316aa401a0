import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'

describe('svc speech corpus mix', () => {
  it('reads sources below --base, writes below the current directory and prints a table', async (test) => {
    const cwd = await temporaryFolder(test)
    await writeFiles(cwd, {
      'mixes/mix.yaml': 'sources: [{path: a.jsonl}, {path: gone.jsonl, optional: true}]\noutput: train.jsonl\n',
      'data/a.jsonl': '{"prompt":"p","response":"r"}\n{\n',
    })
    const mix = (...args: readonly string[]) =>
      svcInTurn(['speech', 'corpus', 'mix', 'mixes/mix.yaml', '--base', 'data', ...args], {cwd})
    const {stdout, stderr, exitCode} = await mix('-o', 'out.jsonl')
    assert.equal(exitCode, 0, stderr)
    assert.equal(stderr, 'warning: a.jsonl, line 2, is skipped: it is not JSON.\n')
    assert.match(stdout, /^a\.jsonl +2 +1 +1 +100\.0 %$/m)
    assert.match(stdout, /^gone\.jsonl +0 +0 +0 +0\.0 % +missing_file_optional$/m)
    assert.ok(stdout.endsWith(`1 row in ${join(cwd, 'out.jsonl')}\n`), stdout)
    assert.match((await mix('-o', 'out.jsonl')).stdout, /^Nothing has changed: /m)
    const {stdout: json, stderr: notices} = await mix('--json', '--quiet')
    const result = JSON.parse(json)
    assert.deepEqual(await contractViolations('cli/speech-corpus-mix.v1', result), [])
    assert.deepEqual([result.output, notices], [join(cwd, 'data/train.jsonl'), ''])
    assert.match(await readFile(result.output, 'utf8'), /"prompt":"p"/)
  })

  it('rejects standard output', async () => {
    const {stderr, exitCode} = await svcInTurn(['speech', 'corpus', 'mix', 'mix.yaml', '-o', '-'])
    assert.equal(exitCode, 2)
    assert.match(stderr, /^error: --output must be a file/)
  })

  it('fails with a hint if a strict mix is incomplete', async (test) => {
    const cwd = await temporaryFolder(test)
    await writeFiles(cwd, {'mix.yaml': 'sources: [{path: gone.jsonl}]\noutput: train.jsonl\n'})
    const {stderr, exitCode} = await svcInTurn(['speech', 'corpus', 'mix', 'mix.yaml', '--strict'], {cwd})
    assert.equal(exitCode, 1)
    assert.match(stderr, /gone\.jsonl is missing\. \(corpus_mix_incomplete\)\n {2}hint: .*--strict/)
  })
})
