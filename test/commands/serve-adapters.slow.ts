import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {campaignSeed} from '../support/campaign-seed.js'
import {startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, writeTinyModel} from '../support/tiny-model.js'
import {storm} from './adapter-storm.js'

const model = {hiddenSize: 64, layout: 'single', contextLength: 512} as const
const seed = campaignSeed(import.meta.url)

describe('svc serve --adapters under a storm of changes', () => {
  it('has 1,000 right receipts for 12 adapters, and 100 replies are verified byte for byte', async (t) => {
    const folder = await temporaryFolder(t)
    const [base, adapters] = [join(folder, 'base'), join(folder, 'adapters')]
    await writeTinyModel(base, model)
    const folders = Array.from({length: 12}, (_, i) => join('store', `v${i}`))
    for (const [i, place] of folders.entries())
      await writeFiles(
        join(adapters, place),
        tinyAdapterFiles(model, {seed: 70 + i, rank: [4, 16, 24][i % 3] as number, form: i % 2 === 0 ? 'v3' : 'peft'}),
      )
    const server = await startServer(
      ['--model', base, '--adapters', adapters, '--adapter-memory', '1', '--chat-template', 'none'],
      {cwd: folder, env: {HOME: folder, SVC_PRECISION: 'f32', SVC_ADMIN_KEY: 'a-key-for-the-storm'}},
    )
    t.after(() => server.stop())
    const {baseUrl} = server
    const replies = await storm({baseUrl, adminKey: 'a-key-for-the-storm', folders, requests: 1000, seed})
    assert.ok(replies.length >= 500, `only ${replies.length} requests found an adapter`)
    const every = Math.floor(replies.length / 100)
    for (const {folder: place, ...exchange} of replies.filter((_, i) => i % every === 0).slice(0, 100)) {
      const named = `${exchange.request.model}=${join(adapters, place)}`
      const {stdout, stderr} = await svcInTurn(
        [
          ...['verify-receipt', '-', '--model', base, '--adapter', named, '--chat-template', 'none'],
          ...['--precision', 'f32', '--threads', '1', '--json'],
        ],
        {cwd: folder, env: {HOME: folder}, input: JSON.stringify(exchange)},
      )
      assert.equal(JSON.parse(stdout).result, 'verified', stdout + stderr)
    }
  })
})
