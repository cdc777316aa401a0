import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles} from '../support/tiny-model.js'

/** The models are so small that a second thread would only spin and keep a processor busy. */
const oneThread = ['--threads', '1']

describe('svc generate --no-adapter and --base', () => {
  it('ignores the trained weights with --no-adapter, and runs a plain model unchanged', async (test) => {
    const folder = await temporaryFolder(test)
    const run = (name: string, files: Record<string, string | Uint8Array>) => writeFiles(join(folder, name), files)
    const base_model = '../plain'
    const {'adapter_manifest.json': manifest, ...adapter} = tinyAdapterFiles()
    const trained = {'adapter_manifest.json': JSON.stringify({...JSON.parse(manifest as string), base_model})}
    await run('plain', tinyModelFiles())
    await run('run', {...adapter, ...trained, 'collateral_damage_report.json': '{"status":"pass"}'})
    await run('damaged', {...adapter, ...trained, 'collateral_damage_report.json': '{"status":"fail"}'})
    const merged = tinyModelFiles({seed: 2, layout: 'single'})['model.safetensors'] as Uint8Array
    await run('merged', {...tinyModelFiles(), 'merged.safetensors': merged})
    const greedy = ['--raw', '--temperature', '0', '--max-tokens', '12', ...oneThread]
    const text = async (name: string, ...args: string[]) => {
      const {stdout} = await svcInTurn(['generate', '-m', join(folder, name), ...greedy, ...args, 'Hello'])
      return stdout
    }
    const plain = await text('plain')
    assert.notEqual(plain, '')
    assert.notEqual(await text('run'), plain)
    assert.notEqual(await text('merged'), plain)
    for (const name of ['plain', 'run', 'damaged', 'merged'])
      assert.equal(await text(name, '--no-adapter'), plain, name)
    await run('alone', {...adapter, ...trained, 'adapter_manifest.json': manifest as string})
    assert.equal(await text('alone', '--base', join(folder, 'plain')), await text('run'))
    assert.equal(await text('alone', '--base', join(folder, 'plain'), '--no-adapter'), plain)
    // The switch of earlier versions.
    for (const old of [
      ['Hello', '--base', '--seed', '1'],
      ['--base', 'Hello'],
      ['Hello', '--base'],
    ]) {
      const {stdout, stderr} = await svcInTurn(['generate', '-m', join(folder, 'run'), ...greedy, ...old])
      assert.equal(stdout, plain)
      assert.match(stderr, /notice: --base without a directory is deprecated\. Use --no-adapter\./)
    }
  })
})
