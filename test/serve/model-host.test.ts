import assert from 'node:assert/strict'
import {realpath, rm, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import type {GenerateRequest} from '../../src/llm/index.js'
import {defaultSampling} from '../../src/sampling/index.js'
import type {Admission} from '../../src/serve/admission.js'
import {MemoryRoom} from '../../src/serve/memory-room.js'
import {type HostOptions, ModelHost} from '../../src/serve/model-host.js'
import {openPaths} from '../support/open-paths.js'
import {skipWithoutProc} from '../support/resident-memory.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, writeTinyModel} from '../support/tiny-model.js'
import {until} from '../support/until.js'

const dayMs = 86_400_000
const hostOptions: HostOptions = {
  keepAlive: 'forever',
  threads: 1,
  numCtx: 0,
  slots: 1,
  queueLimit: 1,
  defaults: {parameters: {}},
  fallback: {maxTokens: 8, temperature: 0.7},
}
const start = (path: string, name: string) =>
  ModelHost.start(path, name, hostOptions, new MemoryRoom(Infinity), new AbortController().signal)
const reason = new Error('closed')

describe('ModelHost', () => {
  it('describes the model with the licence, declared sampling and tensors of its directories', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(join(folder, 'base'))
    await writeFiles(join(folder, 'base'), {
      'LICENSE.txt': 'MIT License',
      'generation_config.json': '{"temperature": 0.6, "top_k": 20, "do_sample": true, "eos_token_id": 1}',
    })
    const {'adapter_manifest.json': manifest, ...adapter} = tinyAdapterFiles()
    const declared = JSON.stringify({...JSON.parse(manifest as string), base_model: '../base'})
    await writeFiles(join(folder, 'run'), {...adapter, 'adapter_manifest.json': declared})
    const describe = async (name: string) => {
      const host = await start(join(folder, name), name)
      await host.close(reason)
      return host.served
    }
    const run = await describe('run')
    assert.deepEqual([run.license, run.adapted], ['MIT License', true])
    assert.deepEqual(run.defaults, {parameters: {temperature: 0.6, top_k: 20}})
    assert.equal(run.tensors.length, 21)
    assert.deepEqual(
      run.tensors.find(({name}) => name === 'lm_head.weight'),
      {name: 'lm_head.weight', dtype: 'F32', shape: [257, 48]},
    )
    await writeFiles(join(folder, 'run'), {license: 'Of the run'})
    assert.equal((await describe('run')).license, 'Of the run')
    await writeFiles(join(folder, 'base'), {'LICENSE.txt': 'x'.repeat((1 << 20) + 1)})
    const {license, adapted} = await describe('base')
    assert.deepEqual([license, adapted], [undefined, false])
    await rm(join(folder, 'base/LICENSE.txt'))
    await symlink('nowhere', join(folder, 'base/LICENSE'))
    assert.equal((await describe('base')).license, undefined)
  })

  it('keeps its directory open for other processes to see until it is closed, also while it is unloaded', async (test) => {
    if (skipWithoutProc) return test.skip(skipWithoutProc)
    const folder = await realpath(await temporaryFolder(test))
    await writeTinyModel(folder)
    const host = await start(folder, 'tiny')
    await host.unload()
    assert.ok(openPaths().includes(folder))
    await host.close(reason)
    assert.equal(openPaths().includes(folder), false)
  })

  it('keeps the model loaded for the keep_alive of a request, even beyond the maximum timer delay', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder)
    const host = await start(folder, 'tiny')
    test.after(() => host.close(reason))
    const expiresAt = () => host.loaded?.expiresAt
    assert.equal(expiresAt(), 'forever')
    await host.load(30 * dayMs)
    await sleep(20)
    assert.ok(Number(expiresAt()) > Date.now() + 29 * dayMs)
    await host.load(1)
    await until(() => expiresAt() === undefined, 'the model is unloaded')
  })

  it('keeps the model and the receipt of an admitted request while another adapter replaces its files', async (test) => {
    const folder = await temporaryFolder(test)
    await writeTinyModel(folder)
    await writeFiles(folder, tinyAdapterFiles())
    const host = await start(folder, 'tiny')
    test.after(() => host.close(reason))
    const {signal} = new AbortController()
    const request: GenerateRequest = {
      prompt: {kind: 'raw', text: 'Once'},
      maxTokens: 24,
      stop: [],
      sampling: {...defaultSampling, seed: 3},
    }
    const tokensOf = async (admission: Admission) => {
      for await (const event of admission.generate(request, signal)) if (event.type === 'done') return event.tokens
      throw new Error('There is no summary.')
    }
    const before = await host.admit(signal)
    const [receipt, tokens] = [String(before.receiptOf(request)), await tokensOf(before)]
    await rm(join(folder, 'candle_qlora_adapter.safetensors'))
    await writeFiles(folder, tinyAdapterFiles({}, {seed: 10}))
    const retired = host.retire()
    const waiting = host.admit(signal)
    assert.deepEqual([String(before.receiptOf(request)), await tokensOf(before)], [receipt, tokens])
    before.release()
    await retired
    const after = await waiting
    test.after(() => after.release())
    const partsOf = (text: string) => text.split(',')
    const differing = partsOf(String(after.receiptOf(request))).filter((part, i) => part !== partsOf(receipt)[i])
    assert.equal(differing.length, 1)
    assert.match(differing[0] ?? '', /^adapter=/)
    assert.notDeepEqual(await tokensOf(after), tokens)
  })
})
