import assert from 'node:assert/strict'
import {mkdir, realpath, symlink} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {commonFolder, openRunDirectory} from '../../src/weights/index.js'
import {readShards} from '../../src/weights/shards.js'
import {safetensorsFile} from '../support/safetensors-file.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles, writeTinyModel} from '../support/tiny-model.js'

describe('openRunDirectory', () => {
  it('uses the last component of the path as the name', async (test) => {
    const folder = await temporaryFolder(test)
    const model = join(folder, 'my-model')
    await writeTinyModel(model)
    await symlink(model, join(folder, 'latest'))
    const named = async (path: string, cwd = folder) => (await openRunDirectory(path, {cwd, env: {}})).name
    assert.equal(await named('my-model'), 'my-model')
    assert.equal(await named('./my-model/'), 'my-model')
    assert.equal(await named('.', model), 'my-model')
    assert.equal(await named('latest'), 'latest')
  })

  for (const layout of ['single', 'indexed', 'numbered'] as const)
    it(`finds the same tensors with ${layout} weights`, async (test) => {
      const folder = await temporaryFolder(test)
      await writeTinyModel(folder, {layout})
      const {tensors} = await openRunDirectory(folder)
      assert.equal(tensors.size, 21)
      assert.deepEqual(tensors.get('lm_head.weight')?.shape, [257, 48])
    })

  it('uses the first of several numbered shards with the same tensor', async (test) => {
    const folder = await temporaryFolder(test)
    const shard = (length: number) =>
      safetensorsFile({twice: {dtype: 'F32', shape: [length], data: new Uint8Array(4 * length)}})
    await writeFiles(folder, {
      'model-00001-of-00002.safetensors': shard(1),
      'model-00002-of-00002.safetensors': shard(2),
    })
    assert.deepEqual((await readShards(folder)).get('twice')?.shape, [1])
  })

  it('reports every path tried if the model does not exist', async (test) => {
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

  it('finds a model in the hub cache by its id, and resolves links to its shards', async (test) => {
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
        hint: /^Run `python .*M\.from_pretrained\("(\/.*)"\)\.save_pretrained\("\1-safetensors"\); T\.from_pretrained\("\1"\)/,
      },
    ],
    [
      'has only weights in the original layout of the publisher',
      {
        'model.safetensors.index.json': undefined,
        'model-00001-of-00002.safetensors': undefined,
        'model-00002-of-00002.safetensors': undefined,
        'consolidated.00.pth': '',
      },
      {code: 'model_format_unsupported', hint: /^Download the model in Hugging Face layout/},
    ],
    [
      'has a base model with only PyTorch weights',
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
      'lacks a shard in the index',
      {'model-00002-of-00002.safetensors': undefined},
      {code: 'shard_missing', message: /model-00002-of-00002/},
    ],
    [
      'lacks a numbered shard',
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
      'has an index with a path outside of the directory',
      {'model.safetensors.index.json': JSON.stringify({weight_map: {w: '../other.safetensors'}})},
      {code: 'model_file_invalid', message: /must be a file name, not "\.\.\/other/},
    ],
    [
      'has an index with a tensor that is not in its shard',
      {'model.safetensors.index.json': JSON.stringify({weight_map: {w: 'model-00001-of-00002.safetensors'}})},
      {code: 'tensor_missing', message: /w .*model-00001-of-00002/},
    ],
  ]
  for (const [name, changes, error] of broken)
    it(`rejects a directory that ${name}`, async (test) => {
      const folder = await temporaryFolder(test)
      const files = Object.entries({...tinyModelFiles(), ...changes}).filter(([, content]) => content !== undefined)
      await writeFiles(folder, Object.fromEntries(files) as Record<string, string | Uint8Array>)
      await assert.rejects(openRunDirectory(folder), error)
    })
})

describe('commonFolder', () => {
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
    it(`returns ${folder} for ${files.join(' and ')}`, () => assert.equal(commonFolder(files), folder))
})
