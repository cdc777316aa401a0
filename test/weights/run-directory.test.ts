import assert from 'node:assert/strict'
import {mkdir, realpath, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {commonFolder, openRunDirectory} from '../../src/weights/index.js'
import {readShards} from '../../src/weights/shards.js'
import {safetensorsFile} from '../support/safetensors-file.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles, writeTinyModel} from '../support/tiny-model.js'

describe('a model directory', () => {
  it('goes by the last component of its path, however that is written', async (test) => {
    const folder = await temporaryFolder(test)
    const model = join(folder, 'my-model')
    await writeTinyModel(model)
    await symlink(model, join(folder, 'latest'))
    const named = async (given: string, cwd = folder) => (await openRunDirectory(given, {cwd, env: {}})).name
    assert.equal(await named('my-model'), 'my-model')
    assert.equal(await named('./my-model/'), 'my-model')
    assert.equal(await named('.', model), 'my-model')
    assert.equal(await named('latest'), 'latest')
  })

  for (const layout of ['single', 'indexed', 'numbered'] as const)
    it(`has the same tensors when its weights are ${layout}`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeTinyModel(folder, {layout})
      const {tensors} = await openRunDirectory(folder)
      assert.equal(tensors.size, 21)
      assert.deepEqual(tensors.get('lm_head.weight')?.shape, [257, 48])
    })

  it('takes a tensor that several numbered shards have from the first of them', async (test) => {
    const folder = await temporaryFolder(test)
    const shard = (length: number) =>
      safetensorsFile({twice: {dtype: 'F32', shape: [length], data: new Uint8Array(4 * length)}})
    await writeFiles(folder, {
      'model-00001-of-00002.safetensors': shard(1),
      'model-00002-of-00002.safetensors': shard(2),
    })
    assert.deepEqual((await readShards(folder)).get('twice')?.shape, [1])
  })

  it('that is not there names every place tried', async (test) => {
    const folder = await temporaryFolder(test)
    const lookup = {cwd: folder, env: {HF_HUB_CACHE: join(folder, 'hub')}}
    await assert.rejects(openRunDirectory('acme/tiny', lookup), {
      code: 'model_not_found',
      params: {
        model: 'acme/tiny',
        tried: [join(folder, 'acme/tiny'), join(folder, 'hub/models--acme--tiny/snapshots/main')],
      },
    })
    await assert.rejects(openRunDirectory('./tiny', lookup), {
      params: {model: './tiny', tried: [join(folder, 'tiny')]},
    })
  })

  it('is found in the hub cache by its id, and its shards are the files that the links lead to', async (test) => {
    const folder = await realpath(await temporaryFolder(test))
    const repository = join(folder, 'hub/models--acme--tiny')
    const files = tinyModelFiles()
    await writeFiles(repository, {'refs/main': 'abc123\n'})
    await mkdir(join(repository, 'snapshots/abc123'), {recursive: true})
    for (const [name, content] of Object.entries(files)) {
      await writeFiles(join(repository, 'blobs'), {[`blob-${name}`]: content})
      await symlink(`../../blobs/blob-${name}`, join(repository, 'snapshots/abc123', name))
    }
    const {name, tensors} = await openRunDirectory('acme/tiny', {cwd: folder, env: {HF_HOME: folder}})
    assert.equal(name, 'tiny')
    assert.equal(tensors.get('lm_head.weight')?.file, join(repository, 'blobs/blob-model-00002-of-00002.safetensors'))
  })

  const broken: readonly [string, Record<string, string | Uint8Array | undefined>, object][] = [
    ['has no config.json', {'config.json': undefined}, {code: 'model_file_missing', message: /config\.json/}],
    ['has no tokenizer.json', {'tokenizer.json': undefined}, {code: 'model_file_missing', message: /tokenizer\.json/}],
    [
      'has no weights',
      {
        'model.safetensors.index.json': undefined,
        'model-00001-of-00002.safetensors': undefined,
        'model-00002-of-00002.safetensors': undefined,
      },
      {code: 'model_file_missing', message: /index\.json[\s\S]*model\.safetensors[\s\S]*model-\*-of-\*/},
    ],
    [
      'has only PyTorch weights',
      {
        'model.safetensors.index.json': undefined,
        'model-00001-of-00002.safetensors': undefined,
        'model-00002-of-00002.safetensors': undefined,
        'pytorch_model-00001-of-00002.bin': '',
      },
      {
        code: 'model_format_unsupported',
        hint: /^Run `python .*M\.from_pretrained\('(\/.*)'\)\.save_pretrained\('\1-safetensors'\); T\.from_pretrained\('\1'\)/,
      },
    ],
    [
      'has only a GGUF file',
      {
        'model.safetensors.index.json': undefined,
        'model-00001-of-00002.safetensors': undefined,
        'model-00002-of-00002.safetensors': undefined,
        'model.Q4_K_M.gguf': '',
      },
      {
        code: 'model_format_unsupported',
        hint: /M\.from_pretrained\('\/.*', gguf_file='model\.Q4_K_M\.gguf'\).*T\.from_pretrained\('\/.*', gguf_file=/,
      },
    ],
    [
      'has only the files of its author',
      {
        'model.safetensors.index.json': undefined,
        'model-00001-of-00002.safetensors': undefined,
        'model-00002-of-00002.safetensors': undefined,
        'consolidated.00.pth': '',
      },
      {code: 'model_format_unsupported', hint: /^Download the model in Hugging Face layout/},
    ],
    [
      'has a base model that has only PyTorch weights',
      {
        'model.safetensors.index.json': undefined,
        'model-00001-of-00002.safetensors': undefined,
        'model-00002-of-00002.safetensors': undefined,
        'base/pytorch_model.bin': '',
        ...tinyAdapterFiles(),
        'adapter_manifest.json': String(tinyAdapterFiles()['adapter_manifest.json']).replace(
          '{',
          '{"base_model":"base",',
        ),
      },
      {code: 'model_format_unsupported', message: /\/base has no safetensors weights, only PyTorch weights/},
    ],
    [
      'has only a SentencePiece tokenizer',
      {'tokenizer.json': undefined, 'tokenizer.model': ''},
      {code: 'model_format_unsupported', message: /has no tokenizer\.json, only a SentencePiece model/},
    ],
    [
      'lacks a shard that the index names',
      {'model-00002-of-00002.safetensors': undefined},
      {code: 'shard_missing', message: /model-00002-of-00002/},
    ],
    [
      'lacks a shard of its numbering',
      {'model-00001-of-00002.safetensors': undefined, 'model.safetensors.index.json': undefined},
      {code: 'shard_missing', message: /model-00001-of-00002/},
    ],
    [
      'has an index without a map',
      {'model.safetensors.index.json': '{}'},
      {code: 'model_file_invalid', message: /no weight_map/},
    ],
    ['has an index that is not JSON', {'model.safetensors.index.json': '{'}, {code: 'model_file_invalid'}],
    [
      'has an index that leads out of the directory',
      {'model.safetensors.index.json': JSON.stringify({weight_map: {w: '../other.safetensors'}})},
      {code: 'model_file_invalid', message: /must be a file name, not "\.\.\/other/},
    ],
    [
      'has an index that names a tensor its shard does not have',
      {'model.safetensors.index.json': JSON.stringify({weight_map: {w: 'model-00001-of-00002.safetensors'}})},
      {code: 'tensor_missing', message: /w .*model-00001-of-00002/},
    ],
  ]
  for (const [name, changes, error] of broken)
    it(`that ${name} is refused`, async (test) => {
      const folder = await temporaryFolder(test)
      const files = Object.entries({...tinyModelFiles(), ...changes}).filter(([, content]) => content !== undefined)
      await writeFiles(folder, Object.fromEntries(files) as Record<string, string | Uint8Array>)
      await assert.rejects(openRunDirectory(folder), error)
    })
})

describe('the folder that several files have in common', () => {
  const cases: readonly [readonly string[], string][] = [
    [['/a/b/x'], '/a/b'],
    [['/a/b/x', '/a/b/y'], '/a/b'],
    [['/a/b/x', '/a/c/y'], '/a'],
    [['/a/b/x', '/a/bc/y'], '/a'],
    [['/a/x', '/a/b/y'], '/a'],
    [['/a/b/y', '/a/x'], '/a'],
    [['/a/x', '/b/y'], '/'],
  ]
  for (const [files, folder] of cases)
    it(`of ${files.join(' and ')} is ${folder}`, () => assert.equal(commonFolder(files), folder))
})
