import assert from 'node:assert/strict'
import {chmod, mkdir, readdir, readFile, stat, truncate, writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it, type TestContext} from 'node:test'
import {assertContract} from '../../src/contracts/index.js'
import {readTensors} from '../support/read-tensors.js'
import {floatBytes, safetensorsFile, withHeader} from '../support/safetensors-file.js'
import {startSvc, svc} from '../support/svc.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder, writeFiles} from '../support/temporary.js'
import {tinyAdapterFiles, tinyModelFiles} from '../support/tiny-model.js'

const handoffName = 'external_serving_handoff_v1.json'
const weights = 'candle_qlora_adapter.safetensors'

const runFiles = {...tinyModelFiles(), ...tinyAdapterFiles()}

/** Creates a folder with a run directory. */
async function tinyRun(test: TestContext, files: Record<string, string | Uint8Array> = {}): Promise<string> {
  const cwd = await temporaryFolder(test)
  await writeFiles(join(cwd, 'run'), {...runFiles, ...files})
  return cwd
}

const json = async (file: string) => JSON.parse(await readFile(file, 'utf8'))

describe('svc merge', () => {
  it('writes the changed tensors to one file, with a hand-off file next to it', async (test) => {
    const cwd = await tinyRun(test)
    const {stdout, stderr, exitCode} = await svc(['merge', 'run', '-o', 'out/merged.safetensors'], {cwd})
    assert.equal(exitCode, 0)
    assert.equal(stdout, `${join(cwd, 'out/merged.safetensors')}\n`)
    assert.match(stderr, /Hand-off: .*out\/external_serving_handoff_v1\.json\n$/)
    assert.equal(Object.keys(await readTensors(join(cwd, 'out/merged.safetensors'))).length, 15)
    const handoff = await json(join(cwd, 'out', handoffName))
    await assertContract('eval/external-serving-handoff', handoff, handoffName)
    assert.deepEqual(handoff, {
      schema: 'svc_external_serving_handoff_v1',
      schema_version: 1,
      backend_family: 'other',
      base_model: 'unknown',
      tokenizer_source: join(cwd, 'run/tokenizer.json'),
      artifact_dir: join(cwd, 'out'),
      prompt_format: 'none',
      adapter_path: join(cwd, 'out/merged.safetensors'),
      notes: 'Only the tensors that the adapter updates, in F32. They replace those of the base model.',
    })
    assert.deepEqual((await readdir(join(cwd, 'out'))).sort(), [handoffName, 'merged.safetensors'])
  })

  it('accepts separate shards, adapter and manifest', async (test) => {
    const cwd = await tinyRun(test)
    const {'adapter_manifest.json': manifest = ''} = tinyAdapterFiles()
    await writeFiles(cwd, {
      'elsewhere/meta.json': JSON.stringify({...JSON.parse(manifest as string), base_model: 'acme/tiny'}),
    })
    const shards = ['run/model-00001-of-00002.safetensors', 'run/model-00002-of-00002.safetensors']
    const args = shards.flatMap((shard) => ['--base-shard', shard])
    for (const command of ['merge', 'merge-qlora', 'merge-adapter']) {
      const output = `${command}.safetensors`
      const rest = ['--adapter', `run/${weights}`, '--meta', 'elsewhere/meta.json', '--output', output, '--json']
      const {stdout, exitCode} = await svcInTurn([command, ...args, ...rest], {cwd})
      assert.equal(exitCode, 0)
      const result = JSON.parse(stdout)
      await assertContract('cli/merge.v1', result, 'the result')
      assert.equal(result.changed, 15)
      assert.equal(result.tensors, 15)
      assert.deepEqual(result.dtypes, ['F32'])
      assert.equal((await json(join(cwd, handoffName))).base_model, 'acme/tiny')
    }
    assert.deepEqual((await readdir(join(cwd, 'run'))).length, 8, 'no file beside the adapter')
  })

  it('writes a complete model that can be served with --full', async (test) => {
    const cwd = await tinyRun(test, {LICENSE: 'Mine.', 'special_tokens_map.json': '{}'})
    const {exitCode} = await svcInTurn(['merge', 'run', '--full', '--dtype', 'bf16', '-o', 'model'], {cwd})
    assert.equal(exitCode, 0)
    assert.deepEqual((await readdir(join(cwd, 'model'))).sort(), [
      'LICENSE',
      'README.md',
      'config.json',
      handoffName,
      'merge_recipe.json',
      'model-00001-of-00002.safetensors',
      'model-00002-of-00002.safetensors',
      'model.safetensors.index.json',
      'special_tokens_map.json',
      'tokenizer.json',
      'tokenizer_config.json',
    ])
    const {weight_map: map, metadata} = await json(join(cwd, 'model/model.safetensors.index.json'))
    const {weight_map: before} = await json(join(cwd, 'run/model.safetensors.index.json'))
    assert.deepEqual(map, before)
    const shards = await Promise.all(
      [1, 2].map((i) => readTensors(join(cwd, `model/model-0000${i}-of-00002.safetensors`))),
    )
    const tensors = shards.flatMap((shard) => Object.values(shard))
    assert.ok(tensors.every(({dtype}) => dtype === 'BF16'))
    assert.equal(metadata.total_size, 2 * tensors.reduce((sum, {values}) => sum + values.length, 0))
    assert.equal((await json(join(cwd, 'model/config.json'))).torch_dtype, 'bfloat16')
    const handoff = await json(join(cwd, 'model', handoffName))
    await assertContract('eval/external-serving-handoff', handoff, handoffName)
    assert.equal(handoff.backend_family, 'hf-transformers')
    assert.equal(handoff.tokenizer_source, join(cwd, 'model/tokenizer.json'))
    const generate = ['generate', '-m', 'model', '--temperature', '0', '--max-tokens', '5', '--threads', '1', 'Hi']
    assert.equal((await svcInTurn(generate, {cwd})).exitCode, 0)
  })

  it('merges adapters with weights, which add up', async (test) => {
    const cwd = await tinyRun(test)
    assert.equal((await svcInTurn(['merge', 'run', '-o', 'one.safetensors'], {cwd})).exitCode, 0)
    const halves = ['--adapter', 'run:0.5', '--adapter', `run/${weights}:.5`]
    const {stdout, exitCode} = await svcInTurn(['merge', ...halves, '-o', 'two.safetensors', '--json'], {cwd})
    assert.equal(exitCode, 0, stdout)
    const result = JSON.parse(stdout)
    await assertContract('cli/merge.v1', result, 'the result')
    assert.deepEqual([result.method, result.adapters, result.changed], ['linear', 2, 15])
    assert.deepEqual(await readTensors(join(cwd, 'two.safetensors')), await readTensors(join(cwd, 'one.safetensors')))
    const file = await readFile(join(cwd, 'two.safetensors'))
    const {__metadata__: metadata} = JSON.parse(file.toString('utf8', 8, 8 + Number(file.readBigUInt64LE(0))))
    const {adapters} = JSON.parse(metadata.merge_recipe)
    assert.deepEqual(
      adapters.map(({weight}: {weight: number}) => weight),
      [0.5, 0.5],
    )
  })

  it('sets tie_word_embeddings to false with --untie', async (test) => {
    const cwd = await temporaryFolder(test)
    const tied = {tied: true, layout: 'single'} as const
    await writeFiles(join(cwd, 'run'), {...tinyModelFiles(tied), ...tinyAdapterFiles(tied)})
    for (const [output, ...flags] of [['whole', '--full'], ['part/merged.safetensors']])
      assert.equal((await svcInTurn(['merge', 'run', '--untie', '-o', output as string, ...flags], {cwd})).exitCode, 0)
    for (const folder of ['whole', 'part'])
      assert.equal((await json(join(cwd, folder, 'config.json'))).tie_word_embeddings, false)
    const whole = await readTensors(join(cwd, 'whole/model.safetensors'))
    assert.notDeepEqual(whole['lm_head.weight']?.values, whole['model.embed_tokens.weight']?.values)
  })

  it('overwrites files only with --overwrite, and never its inputs', async (test) => {
    const cwd = await tinyRun(test)
    await writeFiles(cwd, {'out.safetensors': 'mine', 'folder/mine.txt': 'mine'})
    const code = async (...args: string[]) => {
      const {stdout, exitCode} = await svcInTurn(['merge', 'run', '--json', ...args], {cwd})
      return [exitCode, JSON.parse(stdout).error?.code]
    }
    assert.deepEqual(await code('-o', 'out.safetensors'), [4, 'output_exists'])
    assert.equal(await readFile(join(cwd, 'out.safetensors'), 'utf8'), 'mine')
    assert.deepEqual(await code('-o', 'out.safetensors', '--overwrite'), [0, undefined])
    assert.deepEqual(await code('-o', 'folder', '--overwrite'), [4, 'output_exists'])
    assert.deepEqual(await code('-o', 'folder', '--overwrite', '--full'), [4, 'output_exists'])
    assert.deepEqual(await code('-o', 'run', '--overwrite', '--full'), [4, 'output_is_input'])
    assert.deepEqual(await code('-o', `run/${weights}`, '--overwrite'), [4, 'output_is_input'])
    assert.deepEqual(await code('-o', 'model', '--full'), [0, undefined])
    await writeFile(join(cwd, 'model/old.txt'), '')
    assert.deepEqual(await code('-o', 'model', '--full', '--overwrite'), [0, undefined])
    assert.equal((await readdir(join(cwd, 'model'))).includes('old.txt'), false)
    assert.deepEqual((await readdir(cwd)).sort(), [handoffName, 'folder', 'model', 'out.safetensors', 'run'])
  })

  it('keeps the hand-off file of a run unchanged', async (test) => {
    const cwd = await tinyRun(test, {[handoffName]: JSON.stringify({prompt_format: 'plain'})})
    for (const flags of [[], ['--overwrite']]) {
      const {stderr, exitCode} = await svcInTurn(['merge', 'run', '-o', 'run/merged.safetensors', ...flags], {cwd})
      assert.equal(exitCode, 0)
      assert.match(stderr, /warning: .*external_serving_handoff_v1\.json already exists and was not changed\./)
      assert.deepEqual(await json(join(cwd, 'run', handoffName)), {prompt_format: 'plain'})
    }
  })

  it('succeeds even if the hand-off file cannot be written', async (test) => {
    const cwd = await tinyRun(test)
    await mkdir(join(cwd, handoffName, 'in the way'), {recursive: true})
    await chmod(join(cwd, handoffName), 0o500)
    const {stdout, exitCode} = await svcInTurn(['merge', 'run', '-o', 'out.safetensors', '--overwrite', '--json'], {
      cwd,
    })
    const {warnings, handoff, output} = JSON.parse(stdout)
    assert.equal(exitCode, 0)
    // Who may do everything replaces even a folder.
    if (handoff === null) assert.match(warnings.at(-1), /hand-off file was not written/)
    assert.ok((await stat(output)).isFile())
  })

  it('removes the leftovers of killed processes, and leaves none when interrupted', async (test) => {
    const cwd = await tinyRun(test)
    const rows = 120_000
    const manifest = {
      format: 'svc_mens_adapter',
      base_key_map: {lm_head: 'wte.weight'},
      layer_order: ['lm_head'],
      rank: 8,
      alpha: 8,
    }
    const floats = (shape: [number, number]) => ({
      dtype: 'F32',
      shape,
      data: floatBytes(new Float32Array(shape[0] * shape[1]), 'F32'),
    })
    const baseBytes = 4 * rows * 1024
    const base = withHeader(
      JSON.stringify({'wte.weight': {dtype: 'F32', shape: [rows, 1024], data_offsets: [0, baseBytes]}}),
    )
    await writeFiles(cwd, {
      'base.safetensors': base,
      'adapter/adapter.safetensors': safetensorsFile({
        'lm_head.lora_a': floats([8, 1024]),
        'lm_head.lora_b': floats([rows, 8]),
      }),
      'adapter/adapter_manifest.json': JSON.stringify(manifest),
      'out/out.safetensors.999999999.partial': 'of a process that is no more',
      [`out/out.safetensors.${process.pid}.partial`]: 'of a process that lives',
    })
    // A sparse file.
    await truncate(join(cwd, 'base.safetensors'), base.length + baseBytes)
    const args = [
      'merge',
      '--base-shard',
      'base.safetensors',
      '--adapter',
      'adapter/adapter.safetensors',
      '-o',
      'out/out.safetensors',
    ]
    const running = startSvc(args, {cwd})
    const names = async () => (await readdir(join(cwd, 'out'))).sort()
    const started = () => names().then((found) => found.some((name) => name.endsWith(`${running.pid}.partial`)))
    while (!(await started())) await new Promise((resolve) => setTimeout(resolve, 5))
    running.kill('SIGINT')
    assert.equal((await running).exitCode, 130)
    assert.deepEqual(await names(), [`out.safetensors.${process.pid}.partial`])
  })
})

describe('svc merge, invalid input', () => {
  const manifest = (changes: object) => {
    const {'adapter_manifest.json': file} = tinyAdapterFiles()
    return {'adapter_manifest.json': JSON.stringify({...JSON.parse(file as string), ...changes})}
  }
  const {base_key_map: map} = JSON.parse(tinyAdapterFiles()['adapter_manifest.json'] as string)
  const onRun: readonly [string, Record<string, string | Uint8Array>, number, string, RegExp][] = [
    ['a manifest of another format', manifest({format: 'other'}), 1, 'adapter_invalid', /format is "other"/],
    [
      'tensors of two model families',
      manifest({base_key_map: {...map, lm_head: 'wte.weight'}}),
      1,
      'merge_families',
      /1 GPT-2, 14 decoder/,
    ],
    [
      'an adapter matrix without its counterpart',
      manifest({layer_order: ['l7.q'], base_key_map: {...map, 'l7.q': 'model.layers.7.self_attn.q_proj.weight'}}),
      1,
      'adapter_tensor_missing',
      /l7\.q\.lora_a/,
    ],
    [
      'a missing base tensor',
      manifest({base_key_map: {...map, 'l0.q': 'model.layers.9.self_attn.q_proj.weight'}}),
      1,
      'tensor_missing',
      /model\.layers\.9/,
    ],
    [
      'mismatched shapes',
      manifest({base_key_map: {...map, 'l0.q': map['l0.down'], 'l0.down': map['l0.q']}}),
      2,
      'adapter_mismatch',
      /does not fit/,
    ],
    [
      'a weight that is changed twice',
      manifest({base_key_map: {...map, 'l0.k': map['l0.v']}}),
      1,
      'adapter_invalid',
      /twice/,
    ],
    [
      'a run whose evaluation failed',
      {'collateral_damage_report.json': '{"status": "fail"}'},
      1,
      'eval_gate_failed',
      /./,
    ],
  ]
  for (const [name, files, exit, code, message] of onRun)
    it(name, async (test) => {
      const cwd = await tinyRun(test, files)
      const {stdout, exitCode} = await svcInTurn(['merge', 'run', '-o', 'out.safetensors', '--json'], {cwd})
      const {error} = JSON.parse(stdout)
      assert.deepEqual([exitCode, error.code], [exit, code])
      assert.match(error.message, message)
      assert.deepEqual(await readdir(cwd), ['run'])
    })

  const shard = ['--base-shard', 'run/model-00001-of-00002.safetensors']
  const out = ['-o', 'out.safetensors']
  const onFiles: readonly [string, readonly string[], number, string, RegExp][] = [
    ['nothing to merge', out, 2, 'usage', /--adapter/],
    ['no base model', ['--adapter', `run/${weights}`, ...out], 2, 'usage', /--base-shard/],
    ['a run and an adapter', ['run', '--adapter', `run/${weights}`, ...out], 2, 'usage', /cannot be combined/],
    ['no output', ['run'], 2, 'usage', /output/],
    ['a density above 1', ['run', '--method', 'ties', '--density', '2', ...out], 2, 'flag_value', /--density.*"2"/],
    ['a density of 0', ['run', '--method', 'dare', '--density', '0', ...out], 2, 'flag_value', /--density.*"0"/],
    ['a density of a sum', ['run', '--density', '0.5', ...out], 2, 'usage', /--method ties or dare/],
    ['a seed without dare', ['run', '--method', 'ties', '--seed', '1', ...out], 2, 'usage', /--method dare/],
    ['weights without a base', ['--adapter', `run/${weights}`, ...out], 2, 'usage', /--base/],
    [
      'a missing shard',
      ['--base-shard', 'no.safetensors', '--adapter', `run/${weights}`, ...out],
      3,
      'file_not_found',
      /no\.safetensors/,
    ],
    ['a missing adapter', [...shard, '--adapter', 'no.safetensors', ...out], 3, 'file_not_found', /no\.safetensors/],
    [
      'a missing manifest',
      [...shard, '--adapter', `run/${weights}`, '--meta', 'no.json', ...out],
      3,
      'file_not_found',
      /no\.json/,
    ],
    [
      'a shard that is a folder',
      ['--base-shard', 'run', '--adapter', `run/${weights}`, ...out],
      1,
      'file_unreadable',
      /not a file/,
    ],
    ['a legacy checkpoint', [...shard, '--adapter', 'old.BIN', ...out], 1, 'adapter_legacy', /old\.BIN/],
    ['a missing run directory', ['nowhere', ...out], 3, 'model_not_found', /nowhere/],
  ]
  const cwd = suiteFolder()
  before(async () => {
    await writeFiles(join(cwd, 'run'), runFiles)
    await writeFile(join(cwd, 'old.BIN'), '')
  })
  for (const [name, args, exit, code, message] of onFiles)
    it(name, async () => {
      const {stdout, exitCode} = await svcInTurn(['merge', ...args, '--json'], {cwd})
      const {error} = JSON.parse(stdout)
      assert.deepEqual([exitCode, error.code], [exit, code])
      assert.match(error.message, message)
      assert.deepEqual((await readdir(cwd)).sort(), ['old.BIN', 'run'])
    })
})
