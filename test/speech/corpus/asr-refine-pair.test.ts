import assert from 'node:assert/strict'
import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {contractViolations} from '../../../src/contracts/index.js'
import {appendAsrRefinePair} from '../../../src/speech/index.js'
import {temporaryFolder} from '../../support/temporary.js'

describe('appendAsrRefinePair', () => {
  it('appends lines that match the contract at the path of the specification', async (test) => {
    const path = join(await temporaryFolder(test), 'data/pairs.jsonl')
    await appendAsrRefinePair(path, {noisy_text: 'helo wrld', corrected_text: 'hello world'})
    await appendAsrRefinePair(path, {noisy_text: '', corrected_text: 'ü'})
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
    assert.deepEqual(lines, [
      '{"noisy_text":"helo wrld","corrected_text":"hello world"}',
      '{"noisy_text":"","corrected_text":"ü"}',
    ])
    for (const line of lines)
      assert.deepEqual(await contractViolations('mens/schemas/asr_refine_pairs.schema.json', JSON.parse(line)), [])
  })
})
