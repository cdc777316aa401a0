import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it, type TestContext} from 'node:test'
import {openRunDirectory} from '../../src/weights/index.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {type TinyAdapter, tinyAdapterFiles, tinyModelFiles, writeTinyModel} from '../support/tiny-model.js'

type Files = Record<string, string | Uint8Array>

async function run(test: TestContext, files: Files, base: Files = tinyModelFiles()): Promise<string> {
  const folder = await temporaryFolder(test)
  await writeFiles(folder, {...base, ...files})
  return folder
}

/** The files of a PEFT adapter with changes to its configuration. */
function peft(changes: object): Files {
  const files = tinyAdapterFiles({}, {form: 'peft'})
  const config = JSON.parse(files['adapter_config.json'] as string)
  return {...files, 'adapter_config.json': JSON.stringify({...config, ...changes})}
}

describe('an adapter is read from', () => {
  const forms: readonly [string, Partial<TinyAdapter>, number][] = [
    ['manifest v3 with nested quantisation', {form: 'v3'}, 2],
    ['manifest v3 with flat quantisation', {form: 'v3-flat'}, 2],
    ['meta v2', {form: 'v2'}, 2],
    ['a PEFT configuration', {form: 'peft'}, 2],
    ['a rank-stabilised PEFT configuration', {form: 'peft-rs'}, 4],
    ['tensors whose names end in .weight', {suffix: true}, 2],
  ]
  it('PEFT initialisations that do not change the base model', async (test) => {
    for (const init_lora_weights of [true, false, null, 'gaussian'])
      assert.ok((await openRunDirectory(await run(test, peft({init_lora_weights, layer_replication: null})))).adapter)
  })
  it('a PEFT configuration with keys that do not affect inference', async (test) => {
    const inert = {
      ...{task_type: 'CAUSAL_LM', lora_dropout: 0.1, target_modules: ['q_proj'], layers_to_transform: [0, 1]},
      ...{peft_version: '0.21.0', eva_config: {rho: 2}, loftq_config: {}, target_parameters: null, arrow_config: null},
      ...{unsloth_fixed: true, qalora_group_size: 16, ensure_weight_tying: false, kasa_config: null},
    }
    assert.ok((await openRunDirectory(await run(test, peft(inert)))).adapter)
  })
  it('a PEFT configuration with unknown keys that are to be ignored', async (test) => {
    const ignoreConfigKeys = ['sparse_rank', 'use_dora']
    const open = async (changes: object) => openRunDirectory(await run(test, peft(changes)), {ignoreConfigKeys})
    assert.ok((await open({sparse_rank: 4})).adapter)
    await assert.rejects(open({use_dora: true}), {code: 'adapter_unsupported', message: /use_dora/})
  })
  for (const [name, form, scale] of forms)
    it(name, async (test) => {
      const {adapter, trained} = await openRunDirectory(await run(test, tinyAdapterFiles({}, form)))
      assert.equal(trained, true)
      assert.equal(adapter?.deltas.length, 15)
      assert.ok(adapter?.deltas.every((delta) => delta.scale === scale))
      assert.ok(adapter?.deltas.some(({target}) => target === 'model.layers.1.mlp.down_proj.weight'))
    })
})

describe('an adapter is rejected', () => {
  const manifest = (changes: object) => {
    const files = tinyAdapterFiles()
    const json = JSON.parse(files['adapter_manifest.json'] as string)
    return {...files, 'adapter_manifest.json': JSON.stringify({...json, ...changes})}
  }
  const {'adapter_manifest.json': manifestAlone} = tinyAdapterFiles()
  const {'candle_qlora_adapter.safetensors': weightsAlone} = tinyAdapterFiles()
  const cases: readonly [string, Files, object][] = [
    ['with DoRA', peft({use_dora: true}), {code: 'adapter_unsupported', message: /use_dora to true/}],
    ['with biases', peft({bias: 'all'}), {code: 'adapter_unsupported', message: /bias to "all"/}],
    [
      'with complete modules',
      peft({modules_to_save: ['lm_head']}),
      {code: 'adapter_unsupported', message: /modules_to_save/},
    ],
    ...(
      [
        ['updates of parameters', {target_parameters: ['mlp.experts.down_proj']}, false],
        ['trained embeddings', {trainable_token_indices: [5, 6]}, false],
        ['a choice of adapters per token', {arrow_config: {top_k: 2}}, false],
        ['a key that is not known', {sparse_rank: 4}, true],
      ] as const
    ).map(([name, changes, unknown]): [string, Files, object] => [
      `with ${name}`,
      peft(changes),
      {
        code: 'adapter_unsupported',
        hint: unknown ? /pass --ignore-config-key sparse_rank if this/ : /^Train or export/,
      },
    ]),
    ['with transposed weights', peft({fan_in_fan_out: true}), {code: 'adapter_unsupported'}],
    ...(
      [
        ['PiSSA', {init_lora_weights: 'pissa'}],
        ['PiSSA in steps', {init_lora_weights: 'pissa_niter_16'}],
        ['OLoRA', {init_lora_weights: 'olora'}],
        ['CorDA', {init_lora_weights: 'corda'}],
        ['LoftQ', {init_lora_weights: 'loftq'}],
        ['aLoRA', {alora_invocation_tokens: [1, 2]}],
        ['repeated layers', {layer_replication: [[0, 2]]}],
        ['QALoRA', {use_qalora: true}],
      ] as const
    ).map(([name, changes]): [string, Files, object] => [
      `that is ${name}`,
      peft(changes),
      {code: 'adapter_unsupported', message: new RegExp(`sets ${Object.keys(changes)[0]} to `)},
    ]),
    [
      'with another rank than its tensors',
      manifest({rank: 8}),
      {code: 'adapter_invalid', message: /have rank \d+ and/},
    ],
    ['with another rank in PEFT', peft({r: 64}), {code: 'adapter_invalid', message: /its manifest declares rank 64/}],
    ['of another type', peft({peft_type: 'IA3'}), {code: 'adapter_unsupported', message: /peft_type to "IA3"/}],
    ['of an unknown format', manifest({format: 'other'}), {code: 'adapter_invalid', message: /format is "other"/}],
    ['without a rank', manifest({rank: null}), {code: 'adapter_invalid', message: /rank must be a number above 0/}],
    ['without a map', manifest({base_key_map: []}), {code: 'adapter_invalid', message: /base_key_map/}],
    [
      'without its tensors',
      manifest({layer_order: ['l7.q'], base_key_map: {'l7.q': 'x'}}),
      {code: 'adapter_tensor_missing', message: /l7\.q\.lora_a/},
    ],
    ['that updates nothing', manifest({layer_order: []}), {code: 'adapter_invalid', message: /updates no weight/}],
    ['without weights', {'adapter_manifest.json': manifestAlone as string}, {code: 'adapter_missing'}],
    [
      'without a manifest',
      {'candle_qlora_adapter.safetensors': weightsAlone as Uint8Array},
      {code: 'adapter_invalid', message: /no manifest/},
    ],
    ['if the run has only a training manifest', {'training_manifest.json': '{}'}, {code: 'adapter_missing'}],
    ['if its evaluation failed', {'collateral_damage_report.json': '{"status":"fail"}'}, {code: 'eval_gate_failed'}],
  ]
  for (const [name, files, error] of cases)
    it(name, async (test) => assert.rejects(openRunDirectory(await run(test, files)), error))
})

describe('the base model of an adapter', () => {
  const withBase = (base: string): Files => {
    const files = tinyAdapterFiles()
    const json = JSON.parse(files['adapter_manifest.json'] as string)
    return {...files, 'adapter_manifest.json': JSON.stringify({...json, base_model: base})}
  }

  it('is found in the run directory, relative to it or to the current folder, or by an explicit path', async (test) => {
    const root = await temporaryFolder(test)
    await writeTinyModel(join(root, 'base'))
    await writeFiles(join(root, 'runs/a'), withBase('../../base'))
    await writeFiles(join(root, 'runs/b'), withBase('base'))
    await writeFiles(join(root, 'runs/c'), withBase(join(root, 'base')))
    const base = async (model: string, lookup = {}) =>
      (await openRunDirectory(model, {cwd: root, env: {}, ...lookup})).basePath
    for (const name of ['runs/a', 'runs/b', 'runs/c']) assert.equal(await base(name), join(root, 'base'))
    await writeFiles(join(root, 'runs/d'), withBase('acme/nowhere'))
    assert.equal(await base('runs/d', {base: 'base'}), join(root, 'base'))
    await assert.rejects(base('runs/d', {env: {HF_HOME: root}}), {
      code: 'base_model_not_found',
      message: /acme\/nowhere[\s\S]*runs\/d\/acme\/nowhere[\s\S]*models--acme--nowhere/,
    })
  })

  it('provides configuration and tokenizer if the run has none', async (test) => {
    const root = await temporaryFolder(test)
    await writeTinyModel(join(root, 'base'))
    await writeFiles(join(root, 'run'), {...withBase('../base'), 'tokenizer.json': '{}'})
    const {config, tokenizer} = await openRunDirectory(join(root, 'run'))
    assert.deepEqual([config, tokenizer], [join(root, 'base/config.json'), join(root, 'run/tokenizer.json')])
  })
})

describe('merged weights', () => {
  it('replace those of the base model, and the adapter is not applied again', async (test) => {
    const merged = tinyModelFiles({layout: 'single', seed: 99})['model.safetensors'] as Uint8Array
    const folder = await run(test, {...tinyAdapterFiles(), 'merged.safetensors': merged})
    const {adapter, tensors} = await openRunDirectory(folder)
    assert.equal(adapter, undefined)
    assert.match(tensors.get('lm_head.weight')?.file ?? '', /merged\.safetensors$/)
  })

  it('are rejected if they contain only part of the adapter', async (test) => {
    const part = tinyModelFiles({layout: 'numbered'})['model-00001-of-00002.safetensors'] as Uint8Array
    const folder = await run(test, {...tinyAdapterFiles(), 'merged.safetensors': part})
    await assert.rejects(openRunDirectory(folder), {code: 'adapter_ambiguous', message: /but not model\.layers/})
  })
})
