import assert from 'node:assert/strict'
import {appendFile, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {mixCorpus} from '../../../src/speech/index.js'
import {temporaryFolder} from '../../support/temporary.js'

const megabyte = 1 << 20

describe('a mix of 400 MiB', () => {
  it('needs little memory', async (test) => {
    const folder = await temporaryFolder(test)
    const source = join(folder, 'a.jsonl')
    const row = `${JSON.stringify({noisy_text: 'helo '.repeat(50), corrected_text: 'hello '.repeat(50)})}\n`
    const block = row.repeat(Math.ceil((8 * megabyte) / row.length))
    for (let written = 0; written < 400 * megabyte; written += block.length) await appendFile(source, block)
    const file = join(folder, 'mix.yaml')
    await writeFile(
      file,
      'sources: [{path: a.jsonl, record_format: asr_refine}]\noutput: b.jsonl\ninclude_lanes: [svc_speech]\n',
    )
    const before = process.memoryUsage.rss()
    let most = before
    const {output_lines: lines} = await mixCorpus({
      file,
      base: folder,
      output: undefined,
      strict: true,
      overwrite: false,
      force: false,
      signal: new AbortController().signal,
      onWarning: assert.fail,
      onProgress: () => {
        most = Math.max(most, process.memoryUsage.rss())
      },
    })
    assert.ok(lines > 600_000, String(lines))
    assert.ok(most - before < 150 * megabyte, `${Math.round((most - before) / megabyte)} MiB`)
  })
})
