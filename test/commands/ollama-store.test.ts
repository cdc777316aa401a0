import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {readFile, rm} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {Ollama} from 'ollama'
import {contractViolations, type ListV1} from '../../src/contracts/index.js'
import {ggufOf} from '../support/gguf-model.js'
import {startServer} from '../support/server.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {writeTinyModel} from '../support/tiny-model.js'

type Content = string | Uint8Array

/** Writes a model into a store, in the layout of Ollama. @param name path of its manifest */
async function store(folder: string, name: string, layers: Readonly<Record<string, Content>>): Promise<void> {
  const written = Object.entries(layers).map(([kind, content]) => {
    const digest = createHash('sha256').update(content).digest('hex')
    const layer = {
      mediaType: `application/vnd.ollama.image.${kind}`,
      digest: `sha256:${digest}`,
      size: Buffer.byteLength(content),
    }
    return {layer, blob: [`blobs/sha256-${digest}`, content] as const}
  })
  const manifest = {schemaVersion: 2, layers: written.map(({layer}) => layer)}
  await writeFiles(folder, {
    ...Object.fromEntries(written.map(({blob}) => blob)),
    [`manifests/${name}`]: JSON.stringify(manifest),
  })
}

describe("the models in Ollama's store", () => {
  const folder = suiteFolder()
  const models = join(folder, 'ollama')
  const place = {cwd: folder, env: {HOME: folder, OLLAMA_MODELS: models, SVC_PRECISION: 'f32', SVC_THREADS: '1'}}
  const run = (...args: string[]) => svcInTurn(args, place)
  const reply = async (model: string, ...flags: string[]) => {
    const raw = ['--chat-template', 'none', '--max-tokens', '4']
    const {stdout, stderr} = await run('generate', '--model', model, ...raw, ...flags, 'Hi')
    assert.notEqual(stdout, '', stderr)
    return stdout
  }

  before(async () => {
    await writeTinyModel(join(folder, 'source'))
    const model = await ggufOf(join(folder, 'source'), {type: 'F32'})
    await writeFiles(folder, {'tiny.gguf': model})
    const texts = {license: 'MIT', system: 'Be brief.', template: '{{ .Prompt }}'}
    const params = JSON.stringify({temperature: 0, num_gpu: 1, stop: ['END']})
    await store(models, 'registry.ollama.ai/library/tiny/latest', {model, params, ...texts})
    await store(models, 'hf.co/acme/Tiny-GGUF/Q8_0', {model})
    await store(models, 'registry.ollama.ai/someone/tiny/odd', {model, params: '{"top_p": 7}'})
    await store(models, 'registry.ollama.ai/library/adapted/latest', {model, adapter: 'x'})
    await store(models, 'registry.ollama.ai/library/tensors/latest', {tensor: 'x'})
    await writeFiles(join(models, 'manifests/registry.ollama.ai/library/other'), {latest: 'not JSON'})
  })

  it('are listed with the names that --model accepts', async () => {
    const {stdout} = await run('list', '--ollama', '--json')
    const list = JSON.parse(stdout) as ListV1
    assert.deepEqual(await contractViolations('cli/list.v1', list), [])
    assert.equal(list.folder, models)
    const names = ['adapted', 'hf.co/acme/Tiny-GGUF:Q8_0', 'someone/tiny:odd', 'tiny']
    assert.deepEqual(
      list.models.map(({name}) => name),
      names.map((name) => `ollama:${name}`),
    )
    const {path, bytes} = list.models[1] as ListV1['models'][number]
    assert.equal(bytes, (await readFile(path)).length)
  })

  it('reply as their GGUF files do, with their parameters and system messages', async () => {
    const greedy = ['--set', 'temperature=0']
    const plain = await reply('./tiny.gguf', ...greedy)
    assert.equal(await reply('ollama:hf.co/acme/Tiny-GGUF:Q8_0', ...greedy), plain)
    const system = await reply('./tiny.gguf', '--system', 'Be brief.', ...greedy)
    assert.notEqual(system, plain)
    assert.equal(await reply('ollama:tiny:latest'), system)
    const {stdout} = await run('show', 'ollama:tiny', '--json')
    const {name, family, problems} = JSON.parse(stdout)
    assert.deepEqual([name, family, problems], ['tiny', 'llama', []])
  })

  it('are served to Ollama clients under their names', async (t) => {
    const server = await startServer(['--models', 'ollama', '--chat-template', 'none'], place)
    t.after(() => server.stop())
    const ollama = new Ollama({host: server.baseUrl})
    const names = (await ollama.list()).models.map(({name}) => name)
    assert.deepEqual(names, ['hf.co/acme/Tiny-GGUF:Q8_0', 'tiny'])
    const {response} = await ollama.generate({
      model: 'tiny:latest',
      prompt: 'Hi',
      raw: true,
      options: {num_predict: 4, temperature: 0},
    })
    assert.equal(`${response}\n`, await reply('./tiny.gguf', '--set', 'temperature=0'))
  })

  it('are refused if they are missing, damaged or more than a GGUF file', async () => {
    const failures = [
      ['ollama:tiny:7b', /Model ollama:tiny:7b not found\. Did you mean ollama:tiny\?/],
      ['tiny', /Model tiny not found\. Did you mean ollama:tiny\?/],
      ['someone/tiny', /Did you mean ollama:someone\/tiny:odd\?/],
      ['ollama:../../x', /not found/],
      ['ollama:someone/tiny:odd', /top_p must be a number from 0 to 1, not 7/],
      ['ollama:adapted', /an adapter of Ollama/],
      ['ollama:other', /not valid JSON/],
    ] as const
    for (const [model, message] of failures) {
      const {stderr, exitCode} = await run('generate', '--model', model, 'Hi')
      assert.match(stderr, message)
      assert.notEqual(exitCode, 0)
    }
    const none = await svcInTurn(['list', '--ollama'], {cwd: folder, env: {...place.env, OLLAMA_MODELS: folder}})
    assert.match(none.stdout, /^No models of Ollama in .*; OLLAMA_MODELS names another directory\.\n/)
    const list = JSON.parse((await run('list', '--ollama', '--json')).stdout) as ListV1
    await rm(list.models[0]?.path as string)
    assert.match((await run('generate', '--model', 'ollama:tiny', 'Hi')).stderr, /GGUF file/)
  })
})
