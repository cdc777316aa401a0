import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import type {SvcError} from '../../src/errors/index.js'
import {readDecoderSpec} from '../../src/llm/families/index.js'
import {rotaryFrequencies} from '../../src/llm/rope.js'
import type {RopeScaling, RopeSpec} from '../../src/llm/spec.js'
import {tinyConfig, tinyModel} from '../support/tiny-model.js'

const read = (changes: object, tensors: readonly string[] = ['lm_head.weight'], ignored: readonly string[] = []) =>
  readDecoderSpec(
    {...tinyConfig({...tinyModel, layers: 3}), ...changes},
    'config.json',
    (name) => tensors.includes(name),
    ignored,
  )

/** The configuration of the model with 1 billion parameters. */
const gemma3 = {
  ...{architectures: ['Gemma3ForCausalLM'], model_type: 'gemma3_text', vocab_size: 262_144},
  ...{attention_bias: false, attention_dropout: 0, attn_logit_softcapping: null, final_logit_softcapping: null},
  ...{bos_token_id: 2, eos_token_id: [1, 106], pad_token_id: 0, cache_implementation: 'hybrid', use_cache: true},
  ...{head_dim: 256, hidden_activation: 'gelu_pytorch_tanh', hidden_size: 1152, intermediate_size: 6912},
  ...{max_position_embeddings: 32_768, num_attention_heads: 4, num_key_value_heads: 1, num_hidden_layers: 26},
  ...{query_pre_attn_scalar: 256, rms_norm_eps: 1e-6, rope_local_base_freq: 10_000, rope_theta: 1_000_000},
  ...{rope_scaling: null, sliding_window: 512, sliding_window_pattern: 6, torch_dtype: 'bfloat16'},
}

const ropeOf = (theta: number, dims: number, scaling: RopeScaling): RopeSpec => ({
  ...{theta, dims, scaling},
  queryGrowth: undefined,
})

const windows = (changes: object) => read(changes).layers.map(({attention}) => attention?.window)

describe('readDecoderSpec', () => {
  it('applies the defaults of older configurations', () => {
    const {layers, contextLength, normEps} = read({
      num_key_value_heads: undefined,
      head_dim: undefined,
      max_position_embeddings: undefined,
      rms_norm_eps: undefined,
      rope_theta: undefined,
      rope_scaling: undefined,
    })
    const {attention} = layers[0] ?? {}
    assert.deepEqual([attention?.kvHeads, attention?.headDim, contextLength, normEps], [4, 12, 2048, 1e-6])
    assert.deepEqual(attention?.rope, ropeOf(10_000, 12, {kind: 'none'}))
  })

  const windowed: readonly [string, object, (number | undefined)[]][] = [
    ['every layer of Mistral', {model_type: 'mistral', sliding_window: 8}, [8, 8, 8]],
    ['Mistral without a window', {model_type: 'mistral', sliding_window: null}, [undefined, undefined, undefined]],
    [
      'Qwen2 with a disabled window',
      {model_type: 'qwen2', use_sliding_window: false, sliding_window: 8, max_window_layers: 1},
      [undefined, undefined, undefined],
    ],
    [
      'Qwen2 from max_window_layers on',
      {model_type: 'qwen2', use_sliding_window: true, sliding_window: 8, max_window_layers: 2},
      [undefined, undefined, 8],
    ],
    [
      'layer_types of Qwen3',
      {
        model_type: 'qwen3',
        use_sliding_window: true,
        sliding_window: 8,
        layer_types: ['sliding_attention', 'full_attention', 'sliding_attention'],
      },
      [8, undefined, 8],
    ],
  ]
  for (const [name, changes, expected] of windowed)
    it(`reads the attention window: ${name}`, () => assert.deepEqual(windows(changes), expected))

  it('detects a tied head from the configuration, else from the weights', () => {
    assert.equal(read({tie_word_embeddings: true}).tensors.head, 'model.embed_tokens.weight')
    assert.equal(read({tie_word_embeddings: false}, []).tensors.head, 'lm_head.weight')
    assert.equal(read({tie_word_embeddings: undefined}, []).tensors.head, 'model.embed_tokens.weight')
    assert.equal(read({tie_word_embeddings: undefined}).tensors.head, 'lm_head.weight')
  })

  it('reads the text part of a multimodal model, with its tensor prefix', () => {
    const inner = tinyConfig({...tinyModel, family: 'qwen3'})
    const root = 'model.language_model.embed_tokens.weight'
    const spec = readDecoderSpec({model_type: 'whole', text_config: inner}, 'config.json', (name) => name === root)
    assert.equal(spec.family, 'qwen3')
    assert.equal(spec.layers[0]?.attention?.headNorms?.q, 'model.language_model.layers.0.self_attn.q_norm.weight')
  })

  it('rejects a multimodal model with other tensor names by the family of the complete model', () => {
    const inner = tinyConfig({...tinyModel, family: 'mistral'})
    assert.throws(
      () => readDecoderSpec({model_type: 'mistral3', text_config: inner}, 'config.json', (name) => name === 'text.tok'),
      {
        code: 'model_family_unknown',
        message: /type "mistral3", which is not supported; supported types: llama, mistral, ministral3, qwen2/,
      },
    )
  })

  const rejected: readonly [object, RegExp][] = [
    [{logit_scale: 0.5}, /logit_scale to 0\.5/],
    [{hidden_act: 'gelu_new'}, /hidden_act to "gelu_new"/],
    [{mlp_bias: true}, /mlp_bias to true/],
    [{partial_rotary_factor: 0.5}, /partial_rotary_factor to 0\.5/],
    [{rope_scaling: {type: 'ntk', factor: 2}}, /rope_type to "ntk"/],
    [{rope_scaling: {rope_type: 'linear', factor: 2, extra: 1}}, /extra to 1/],
    [{quantization_config: {bits: 4}}, /quantization_config/],
    [{num_nextn_predict_layers: 1}, /num_nextn_predict_layers to 1/],
    [{is_causal: 0}, /is_causal to 0/],
    [{rope_scaling: {rope_type: 'default', logit_scale: 2}}, /rope_scaling\.logit_scale to 2/],
    [{unslothed: 1}, /unslothed to 1/],
    [{toString: 1}, /toString to 1/],
    [{model_type: 'qwen3', layer_types: ['linear_attention']}, /layer_types to "linear_attention"/],
    [{layer_types: ['full_attention', 'sliding_attention']}, /layer_types to "sliding_attention"/],
    [{model_type: 'mistral', sliding_window: 8, layer_types: ['full_attention']}, /layer_types to "full_attention"/],
    [{pruned_heads: {1: [0]}}, /pruned_heads/],
    [{model_type: 'gpt2'}, /"gpt2", which is not supported; supported types: llama, mistral, ministral3, qwen2, qwen3/],
    [{model_type: undefined}, /"\(none\)", which is not supported; supported types: llama/],
  ]
  for (const [changes, message] of rejected)
    it(`rejects ${JSON.stringify(changes)}`, () => assert.throws(() => read(changes), {message}))

  it('accepts keys that do not affect inference', () => {
    const neutral = {_name_or_path: 'x', use_cache: true, attention_dropout: 0.1, logit_scale: null, alt_up: false}
    assert.deepEqual(read(neutral), read({}))
  })

  const neutral: readonly object[] = [
    ...[{max_sequence_length: 2048}, {attn_implementation: 'flash_attention_2'}, {_attn_implementation: 'sdpa'}],
    ...[{num_logits_to_keep: 1}, {model_max_length: 4096}, {max_window_layers: 28}, {num_nextn_predict_layers: 0}],
    ...[{logit_scale: 1}, {is_causal: true}, {unsloth_version: '2026.1'}, {unsloth_training_args: {r: 16}}],
    ...[
      {min_p: 0.1},
      {max_new_tokens: 512},
      {no_repeat_ngram_size: 3},
      {stop_strings: ['x']},
      {residual_multiplier: 1},
    ],
  ]
  for (const changes of neutral)
    it(`accepts ${JSON.stringify(changes)}, which does not affect the computation`, () =>
      assert.deepEqual(read(changes), read({})))

  it('reads Gemma 3 as published for models of text', () => {
    const {layers, ...spec} = readDecoderSpec(gemma3, 'config.json', () => false)
    assert.deepEqual([spec.normOffset, spec.embeddingScale, spec.logitCap], [1, Math.sqrt(1152), undefined])
    assert.deepEqual(
      layers.slice(4, 7).map(({attention}) => [attention?.window, attention?.rope?.theta]),
      [
        [512, 10_000],
        [undefined, 1_000_000],
        [512, 10_000],
      ],
    )
    assert.deepEqual(
      [layers[0]?.attention?.scale, layers[0]?.attention?.cap, layers[0]?.mlp.activation],
      [1 / 16, undefined, 'gelu-tanh'],
    )
  })

  it('reads Gemma 3 with the table of each type of layer of newer configurations', () => {
    const {rope_theta: _, rope_local_base_freq: _local, sliding_window_pattern: _pattern, ...others} = gemma3
    const rope_parameters = {
      full_attention: {rope_type: 'default', rope_theta: 1_000_000},
      sliding_attention: {rope_type: 'default', rope_theta: 10_000},
    }
    const layer_types = Array.from({length: 26}, (_, i) => (i % 6 === 5 ? 'full_attention' : 'sliding_attention'))
    const changed = {...others, dtype: 'bfloat16', layer_types, rope_parameters}
    const read = (config: object) => readDecoderSpec({...config}, 'config.json', () => false)
    assert.deepEqual(read(changed), read(gemma3))
  })

  it('reads the text part of Gemma 3, whose configuration omits sizes', () => {
    const text_config = {
      ...{model_type: 'gemma3_text', hidden_size: 2560, intermediate_size: 10_240, num_hidden_layers: 34},
      ...{rope_scaling: {factor: 8, rope_type: 'linear'}, sliding_window: 1024},
    }
    const has = (name: string) => name === 'language_model.model.embed_tokens.weight'
    const {layers, vocabSize, tensors} = readDecoderSpec({model_type: 'gemma3', text_config}, 'config.json', has)
    assert.deepEqual([layers[0]?.attention?.kvHeads, layers[0]?.attention?.headDim, vocabSize], [4, 256, 262_208])
    assert.deepEqual(layers[5]?.attention?.rope?.scaling, {kind: 'linear', factor: 8})
    assert.equal(tensors.head, 'language_model.model.embed_tokens.weight')
    assert.equal(layers[0]?.mlp.names.norm, 'language_model.model.layers.0.pre_feedforward_layernorm.weight')
  })

  it('reads Gemma 2, with a window in every other layer', () => {
    const config = {model_type: 'gemma2', hidden_act: 'gelu_pytorch_tanh', query_pre_attn_scalar: 224}
    const {layers, logitCap} = readDecoderSpec(config, 'config.json', () => false)
    assert.deepEqual([logitCap, layers[0]?.attention?.cap, layers[0]?.attention?.scale], [30, 50, 1 / Math.sqrt(224)])
    assert.deepEqual(
      layers.slice(0, 3).map(({attention}) => attention?.window),
      [4096, undefined, 4096],
    )
  })

  describe('of Gemma 4', () => {
    /** The configuration of the text part of E2B. */
    const gemma4 = {
      ...{model_type: 'gemma4_text', vocab_size: 262_144, vocab_size_per_layer_input: 262_144, hidden_size: 1536},
      ...{intermediate_size: 6144, num_hidden_layers: 35, num_attention_heads: 8, num_key_value_heads: 1},
      ...{head_dim: 256, global_head_dim: 512, num_global_key_value_heads: null, num_kv_shared_layers: 20},
      ...{hidden_size_per_layer_input: 256, use_double_wide_mlp: true, sliding_window: 512, attention_k_eq_v: false},
      ...{final_logit_softcapping: 30, hidden_activation: 'gelu_pytorch_tanh', max_position_embeddings: 131_072},
      ...{rms_norm_eps: 1e-6, attention_bias: false, attention_dropout: 0, dtype: 'bfloat16', use_cache: true},
      ...{enable_moe_block: false, num_experts: null, top_k_experts: null, moe_intermediate_size: null},
      ...{bos_token_id: 2, eos_token_id: 1, pad_token_id: 0, tie_word_embeddings: true},
      use_bidirectional_attention: null,
      layer_types: Array.from({length: 35}, (_, i) => (i % 5 === 4 ? 'full_attention' : 'sliding_attention')),
      rope_parameters: {
        full_attention: {partial_rotary_factor: 0.25, rope_theta: 1_000_000, rope_type: 'proportional'},
        sliding_attention: {rope_theta: 10_000, rope_type: 'default'},
      },
    }
    const readText = (changes: object) =>
      readDecoderSpec({model_type: 'gemma4', text_config: {...gemma4, ...changes}}, 'config.json', (name) =>
        name.endsWith('language_model.embed_tokens.weight'),
      )

    it('reads the text part of E2B', () => {
      const {layers, layerInputs, logitCap, normOffset} = readText({})
      assert.deepEqual([layerInputs?.size, logitCap, normOffset], [256, 30, 0])
      assert.deepEqual(
        [13, 14, 15, 19].map((i) => layers[i]?.attention?.source),
        [undefined, undefined, 13, 14],
      )
      assert.deepEqual(
        [13, 14, 15].map((i) => [layers[i]?.attention?.headDim, layers[i]?.mlp.intermediateSize]),
        [
          [256, 6144],
          [512, 6144],
          [256, 12_288],
        ],
      )
      const [windowed, full] = [layers[0]?.attention, layers[4]?.attention]
      assert.deepEqual([windowed?.window, windowed?.scale, full?.window], [512, 1, undefined])
      assert.deepEqual(windowed?.rope, ropeOf(10_000, 256, {kind: 'none'}))
      const {frequencies} = rotaryFrequencies(full?.rope as RopeSpec, 1024)
      assert.deepEqual([frequencies.length, frequencies[63]], [256, 1e6 ** (-126 / 512)])
      assert.ok((frequencies[64] as number) < 1e-29)
    })

    it('has the rotary embeddings and the types of layers of a configuration without them', () => {
      const {layers} = readText({rope_parameters: undefined, layer_types: undefined})
      assert.deepEqual(
        layers.flatMap(({attention}, i) => (attention?.window === undefined ? [i] : [])),
        [5, 11, 17, 23, 29, 34],
      )
      assert.equal(layers[5]?.attention?.rope?.theta, 1_000_000)
    })

    for (const [changes, message] of [
      [{enable_moe_block: true}, /enable_moe_block to true/],
      [{attention_k_eq_v: true}, /attention_k_eq_v to true/],
      [{num_kv_shared_layers: 34}, /no layer before 1 has keys and values/],
      [{num_kv_shared_layers: -1}, /num_kv_shared_layers must be an integer of at least 0/],
      [{use_bidirectional_attention: 'all'}, /use_bidirectional_attention to "all"/],
    ] as const)
      it(`rejects ${JSON.stringify(changes)}`, () => assert.throws(() => readText(changes), {message}))
  })

  it('extends the context by the factor of dynamic scaling', () => {
    const {contextLength} = read({rope_scaling: {type: 'dynamic', factor: 2.5}})
    assert.equal(contextLength, 2560)
  })

  it('reads the layers of SmolLM3 without positions', () => {
    const unpositioned = (changes: object) =>
      read({model_type: 'smollm3', num_hidden_layers: 8, ...changes}).layers.flatMap(({attention: {rope} = {}}, i) =>
        rope === undefined ? [i] : [],
      )
    assert.deepEqual(unpositioned({}), [3, 7])
    assert.deepEqual(unpositioned({no_rope_layer_interval: 3}), [2, 5])
    assert.deepEqual(unpositioned({no_rope_layers: [1, 0, 1, 1, 1, 1, 1, 0]}), [1, 7])
  })

  it('reads Ministral 3, whose queries grow', () => {
    const rope_parameters = {
      ...{type: 'yarn', rope_type: 'yarn', rope_theta: 1e6, factor: 16, original_max_position_embeddings: 16_384},
      ...{max_position_embeddings: 262_144, beta_fast: 32, beta_slow: 1, mscale: 1, mscale_all_dim: 1},
      llama_4_scaling_beta: 0.1,
    }
    const changes = {rope_theta: undefined, rope_scaling: undefined, rope_parameters, sliding_window: null}
    const [layer] = read({...changes, model_type: 'ministral3'}).layers
    const {queryGrowth, scaling} = layer?.attention?.rope ?? {}
    assert.deepEqual(queryGrowth, {beta: 0.1, originalContext: 16_384})
    assert.equal(scaling?.kind === 'yarn' ? scaling.attentionFactor : undefined, 1)
    assert.throws(() => read(changes), {message: /rope_parameters\.(mscale|max_position|llama_4)/})
  })

  it('reads Phi-4-mini, with LongRoPE of three quarters of each head', () => {
    const factors = (value: number) => Array.from({length: 6}, () => value)
    const rope = {type: 'longrope', short_factor: factors(1), long_factor: factors(4)}
    const phi = {
      ...{model_type: 'phi3', max_position_embeddings: 131_072, original_max_position_embeddings: 4096},
      ...{partial_rotary_factor: 0.75, rope_scaling: rope, rope_theta: 10_000, sliding_window: 262_144},
      ...{full_attn_mod: 1, interpolate_factor: 1, lm_head_bias: false, embd_pdrop: 0, resid_pdrop: 0},
    }
    const spec = read(phi)
    const {dims, scaling} = spec.layers[0]?.attention?.rope ?? {}
    assert.deepEqual([dims, scaling?.kind], [12, 'longrope'])
    assert.equal(
      scaling?.kind === 'longrope' ? scaling.attentionFactor : 0,
      Math.sqrt(1 + Math.log(32) / Math.log(4096)),
    )
    const [qkv, gateUp] = spec.fused
    assert.equal(qkv?.name, 'model.layers.0.self_attn.qkv_proj.weight')
    assert.deepEqual(
      [qkv, gateUp].map((matrix) => matrix?.parts.map(({rows}) => rows)),
      [
        [64, 32, 32],
        [80, 80],
      ],
    )
    assert.deepEqual(read({...phi, rope_scaling: {...rope, type: 'su'}}), spec)
    const newer = {...phi, rope_theta: undefined, rope_scaling: undefined, partial_rotary_factor: undefined}
    const parameters = {...rope, rope_type: 'longrope', rope_theta: 10_000, partial_rotary_factor: 0.75}
    assert.deepEqual(read({...newer, rope_parameters: parameters}), spec)
    assert.throws(() => read({...phi, partial_rotary_factor: 1}), {message: /has 6 divisors, but 8 pairs/})
    assert.throws(() => read({...phi, partial_rotary_factor: 0.7}), {message: /is not a number of pairs/})
  })

  describe('of Qwen3.5', () => {
    /** The configuration of the text part of the model with 0.8 billion parameters. */
    const qwen35 = {
      ...{model_type: 'qwen3_5_text', vocab_size: 248_320, hidden_size: 1024, intermediate_size: 3584, head_dim: 256},
      ...{num_hidden_layers: 24, num_attention_heads: 8, num_key_value_heads: 2, max_position_embeddings: 262_144},
      ...{attention_bias: false, attention_dropout: 0, attn_output_gate: true, hidden_act: 'silu', rms_norm_eps: 1e-6},
      ...{full_attention_interval: 4, mamba_ssm_dtype: 'float32', mlp_only_layers: [], mtp_num_hidden_layers: 1},
      ...{linear_conv_kernel_dim: 4, linear_key_head_dim: 128, linear_value_head_dim: 128, linear_num_key_heads: 16},
      ...{linear_num_value_heads: 16, mtp_use_dedicated_embeddings: false, tie_word_embeddings: true, use_cache: true},
      rope_parameters: {
        ...{mrope_interleaved: true, mrope_section: [11, 11, 10], rope_type: 'default'},
        ...{partial_rotary_factor: 0.25, rope_theta: 10_000_000},
      },
    }
    const readText = (changes: object) =>
      readDecoderSpec({model_type: 'qwen3_5', text_config: {...qwen35, ...changes}}, 'config.json', (name) =>
        name.endsWith('language_model.embed_tokens.weight'),
      )

    it('reads the text part as published', () => {
      const {layers, normOffset, tensors} = readText({})
      assert.deepEqual(
        layers.flatMap(({attention}, i) => (attention === undefined ? [] : [i])),
        [3, 7, 11, 15, 19, 23],
      )
      const {recurrent} = layers[0] ?? {}
      assert.deepEqual(
        recurrent?.states.map(({shape}) => shape),
        [
          [3, 6144],
          [16, 128, 128],
        ],
      )
      assert.equal(recurrent?.projections[0]?.name, 'model.language_model.layers.0.linear_attn.in_proj_qkv.weight')
      const {isGated, rope} = layers[3]?.attention ?? {}
      assert.deepEqual([isGated, rope?.dims, rope?.theta, normOffset], [true, 64, 10_000_000, 1])
      assert.equal(tensors.head, 'model.language_model.embed_tokens.weight')
    })

    it('has the same layers without layer_types as with them', () => {
      const types = Array.from({length: 24}, (_, i) => (i % 4 === 3 ? 'full_attention' : 'linear_attention'))
      assert.deepEqual(readText({layer_types: types, full_attention_interval: undefined}), readText({}))
    })

    it('is refused with heads that are not shared evenly, or without gates', () => {
      assert.throws(() => readText({linear_num_value_heads: 24}), {
        message: /linear_num_value_heads 24 is not a multiple/,
      })
      assert.throws(() => readText({attn_output_gate: 'no'}), {message: /attn_output_gate to "no"/})
    })
  })

  describe('of Granite 4', () => {
    const attention = [10, 13, 17, 27]
    /** The configuration of the hybrid model with 350 million parameters. */
    const granite4 = {
      ...{model_type: 'granitemoehybrid', vocab_size: 100_352, hidden_size: 768, intermediate_size: 2048},
      ...{num_hidden_layers: 32, num_attention_heads: 12, num_key_value_heads: 4, max_position_embeddings: 32_768},
      ...{attention_bias: false, attention_multiplier: 0.015625, embedding_multiplier: 12, logits_scaling: 3},
      ...{residual_multiplier: 0.246, rms_norm_eps: 1e-5, rope_theta: 10_000, shared_intermediate_size: 2048},
      ...{mamba_chunk_size: 256, mamba_conv_bias: true, mamba_d_conv: 4, mamba_d_head: 32, mamba_d_state: 128},
      ...{mamba_expand: 2, mamba_n_groups: 1, mamba_n_heads: 48, mamba_proj_bias: false, num_local_experts: 0},
      ...{num_experts_per_tok: 0, position_embedding_type: 'nope', tie_word_embeddings: true, init_method: 'mup'},
      ...{normalization_function: 'rmsnorm', output_router_logits: false, router_aux_loss_coef: 0.01},
      layer_types: Array.from({length: 32}, (_, i) => (attention.includes(i) ? 'attention' : 'mamba')),
    }
    const readGranite = (changes: object) => readDecoderSpec({...granite4, ...changes}, 'config.json', () => false)

    it('reads the hybrid model as published', () => {
      const {layers, fused} = readGranite({})
      const found = layers.flatMap((layer, i) => (layer.attention === undefined ? [] : [i]))
      assert.deepEqual(found, attention)
      assert.deepEqual(
        layers[0]?.recurrent?.states.map(({shape}) => shape),
        [
          [3, 1792],
          [48, 128, 32],
        ],
      )
      assert.deepEqual([layers[10]?.attention?.rope, layers[10]?.attention?.scale], [undefined, 0.015625])
      assert.equal(fused[0]?.name, 'model.layers.0.shared_mlp.input_linear.weight')
    })

    it('reads a model with attention in all layers, and with positions', () => {
      const types = Array.from({length: 32}, () => 'attention')
      const {layers} = readGranite({layer_types: types, position_embedding_type: 'rope'})
      assert.ok(layers.every((layer) => layer.attention?.rope?.dims === 64))
    })

    it('is refused with experts', () => {
      assert.throws(() => readGranite({num_local_experts: 64}), {message: /num_local_experts to 64/})
      assert.throws(() => readGranite({num_local_experts: undefined}), {message: /num_local_experts to 8/})
    })
  })

  describe('of LFM2', () => {
    /** The configuration of the model with 1.2 billion parameters. */
    const lfm2 = {
      ...{architectures: ['Lfm2ForCausalLM'], model_type: 'lfm2', vocab_size: 65_536, hidden_size: 2048},
      ...{num_hidden_layers: 16, num_attention_heads: 32, num_heads: 32, num_key_value_heads: 8, norm_eps: 1e-5},
      ...{block_auto_adjust_ff_dim: true, block_dim: 2048, block_ff_dim: 12_288, block_ffn_dim_multiplier: 1},
      ...{block_mlp_init_scale: 1, block_multiple_of: 256, block_norm_eps: 1e-5, block_out_init_scale: 1},
      ...{block_use_swiglu: true, block_use_xavier_init: true, conv_L_cache: 3, conv_bias: false, conv_dim: 2048},
      ...{conv_dim_out: 2048, conv_use_xavier_init: true, full_attn_idxs: [2, 5, 8, 10, 12, 14], rope_theta: 1_000_000},
      ...{max_position_embeddings: 128_000, use_pos_enc: true, use_cache: true, torch_dtype: 'bfloat16'},
    }
    const readLfm2 = (changes: object, tensors: readonly string[] = []) =>
      readDecoderSpec({...lfm2, ...changes}, 'config.json', (name) => tensors.includes(name))

    it('reads the configuration as published', () => {
      const {layers, tensors, normEps, contextLength} = readLfm2({})
      assert.deepEqual(
        layers.flatMap(({attention}, i) => (attention === undefined ? [] : [i])),
        lfm2.full_attn_idxs,
      )
      const [{recurrent, mlp} = {}, , {attention} = {}] = layers
      assert.ok(recurrent?.kind === 'short-convolution')
      assert.deepEqual(recurrent.states, [{name: 'inputs', shape: [2, 2048]}])
      assert.deepEqual([recurrent.hasBiases, recurrent.convolution.bias], [false, undefined])
      assert.deepEqual([mlp?.intermediateSize, mlp?.experts[0]?.down], [8192, 'model.layers.0.feed_forward.w2.weight'])
      assert.deepEqual([attention?.headDim, attention?.kvHeads, attention?.rope?.theta], [64, 8, 1_000_000])
      assert.equal(attention?.headNorms?.q, 'model.layers.2.self_attn.q_layernorm.weight')
      assert.equal(attention?.names.norm, 'model.layers.2.operator_norm.weight')
      assert.deepEqual([tensors.norm, tensors.head], ['model.embedding_norm.weight', 'model.embed_tokens.weight'])
      assert.deepEqual([normEps, contextLength], [1e-5, 128_000])
    })

    it('reads newer configurations, with a list of the types of layers and the size of the feed-forwards', () => {
      const types = Array.from({length: 16}, (_, i) => (lfm2.full_attn_idxs.includes(i) ? 'full_attention' : 'conv'))
      const newer = {
        ...{full_attn_idxs: undefined, layer_types: types, block_ff_dim: undefined, intermediate_size: 12_288},
        ...{rope_theta: undefined, rope_parameters: {rope_theta: 1_000_000, rope_type: 'default'}, dtype: 'bfloat16'},
      }
      assert.deepEqual(readLfm2(newer), readLfm2({}))
    })

    it('reads sizes of the feed-forwards that are used as they are, or rounded up', () => {
      const size = (changes: object) => readLfm2(changes).layers[0]?.mlp.intermediateSize
      assert.equal(size({block_auto_adjust_ff_dim: false}), 12_288)
      assert.equal(size({block_ff_dim: 6656}), 4608)
      assert.equal(size({block_ff_dim: 10_000, block_ffn_dim_multiplier: 1.5, block_multiple_of: 100}), 10_000)
    })

    it('reads a head of its own, and biases', () => {
      const {tensors, layers} = readLfm2({tie_embedding: false, conv_bias: true}, ['lm_head.weight'])
      assert.equal(tensors.head, 'lm_head.weight')
      const [{recurrent} = {}] = layers
      assert.ok(recurrent?.kind === 'short-convolution' && recurrent.hasBiases)
      assert.equal(recurrent.convolution.bias, 'model.layers.0.conv.conv.bias')
    })

    it('refuses layers of another type', () => {
      assert.throws(() => readLfm2({layer_types: ['conv', 'sliding_attention']}), {message: /layer_types/})
    })
  })

  it('reads the experts of Qwen3-MoE', () => {
    const moe = {
      ...{model_type: 'qwen3_moe', num_experts: 4, num_experts_per_tok: 2, moe_intermediate_size: 40},
      ...{norm_topk_prob: true, router_aux_loss_coef: 0.001, output_router_logits: false, mlp_only_layers: []},
    }
    const experts = (changes: object) => read({...moe, ...changes}).layers.map(({mlp}) => mlp.experts.length)
    assert.deepEqual(experts({}), [4, 4, 4])
    assert.deepEqual(experts({mlp_only_layers: [0]}), [1, 4, 4])
    assert.deepEqual(experts({decoder_sparse_step: 2}), [1, 4, 1])
    const {mlp} = read(moe).layers[1] ?? {}
    assert.deepEqual(mlp?.routing, {router: 'model.layers.1.mlp.gate.weight', used: 2, isNormalised: true})
    assert.deepEqual([mlp?.intermediateSize, mlp?.experts[3]?.up], [40, 'model.layers.1.mlp.experts.3.up_proj.weight'])
    assert.throws(() => read({...moe, mlp_only_layers: [-1]}), {message: /mlp_only_layers must be a list of integers/})
  })

  it('names the nearest family of an unknown one', () => {
    for (const [type, nearest] of [
      ['gemma', 'gemma2'],
      ['gemma9_text', 'gemma3_text'],
      ['qwen3_5', 'qwen3'],
      ['lama', 'llama'],
    ])
      assert.throws(() => read({model_type: type}), {
        hint: `Use a model of a supported type; the nearest one is ${nearest}.`,
      })
    assert.throws(() => read({model_type: 'rwkv7'}), {hint: 'Use a model of a supported type.'})
  })

  it('ignores unknown keys on request, also nested ones', () => {
    const unknown = {residual_multiplier: 0.22, rope_scaling: {rope_type: 'linear', factor: 2, extra: 1}}
    const spec = read(unknown, undefined, ['residual_multiplier', 'rope_scaling.extra', 'absent'])
    assert.deepEqual(spec, read({rope_scaling: {rope_type: 'linear', factor: 2}}))
  })

  it('names the option in the hint of an unknown key only', () => {
    const hintOf = (changes: object) => {
      try {
        read(changes)
        return ''
      } catch (error) {
        return (error as SvcError).hint
      }
    }
    assert.match(hintOf({residual_multiplier: 0.22}), /pass --ignore-config-key residual_multiplier if this key/)
    assert.doesNotMatch(hintOf({mlp_bias: true}), /--ignore-config-key/)
  })

  it('refuses to ignore keys that are known to affect the computation', () => {
    for (const [key, message] of [
      ['rope_theta', /rope_theta in config\.json affects the computation and cannot be ignored/],
      ['mlp_bias', /mlp_bias to true/],
    ] as const)
      assert.throws(() => read({mlp_bias: key === 'mlp_bias'}, undefined, [key]), {message})
  })

  it('accepts the keys of SmolLM2 that transformers does not read', () => {
    const published = {
      is_llama_config: true,
      rope_interleaved: false,
      'transformers.js_config': {dtype: {}},
      pruned_heads: {},
    }
    assert.deepEqual(read(published), read({}))
  })

  it('accepts layer_types with the default attention of the family', () => {
    const full = ['full_attention', 'full_attention', 'full_attention']
    for (const family of ['llama', 'mistral', 'qwen2', 'qwen3'])
      assert.deepEqual(read({model_type: family, layer_types: full}), read({model_type: family}))
    const sliding = {model_type: 'mistral', sliding_window: 8, layer_types: Array(3).fill('sliding_attention')}
    assert.deepEqual(windows(sliding), [8, 8, 8])
  })

  it('reads rope_scaling and rope_parameters', () => {
    const rope = (changes: object) =>
      read({rope_theta: undefined, rope_scaling: undefined, ...changes}).layers[0]?.attention?.rope
    const old = rope({rope_theta: 5e5, rope_scaling: {type: 'linear', factor: 4}})
    assert.deepEqual(old, rope({rope_parameters: {rope_type: 'linear', factor: 4, rope_theta: 5e5}}))
    assert.deepEqual(old, ropeOf(5e5, 16, {kind: 'linear', factor: 4}))
  })
})

describe('rotary frequencies', () => {
  const plain = rotaryFrequencies(ropeOf(10_000, 8, {kind: 'none'}), 1024).frequencies

  it('fall from 1 by powers of theta', () =>
    assert.deepEqual(
      plain.map((f) => Number(f.toPrecision(6))),
      [1, 0.1, 0.01, 0.001],
    ))

  it('keep short wavelengths and scale long ones in Llama 3.1', () => {
    const scaling = {kind: 'llama3', factor: 8, lowFactor: 1, highFactor: 4, originalContext: 8192} as const
    const {frequencies} = rotaryFrequencies(ropeOf(500_000, 128, scaling), 1024)
    const base = rotaryFrequencies(ropeOf(500_000, 128, {kind: 'none'}), 1024).frequencies
    assert.equal(frequencies[0], base[0])
    assert.equal(frequencies[63], (base[63] as number) / 8)
    assert.ok(frequencies.every((f, i) => f <= (base[i] as number) && f >= (base[i] as number) / 8))
  })

  it('use the YaRN defaults for omitted values', () => {
    const scaling = {rope_type: 'yarn', factor: 4, original_max_position_embeddings: 1024}
    const {layers} = read({rope_parameters: undefined, rope_scaling: scaling})
    assert.deepEqual(layers[0]?.attention?.rope?.scaling, {
      kind: 'yarn',
      factor: 4,
      attentionFactor: 0.1 * Math.log(4) + 1,
      betaFast: 32,
      betaSlow: 1,
      originalContext: 1024,
      truncate: true,
    })
  })

  it('change from unscaled to scaled in YaRN, with an attention factor', () => {
    const scaling = {
      kind: 'yarn',
      factor: 4,
      attentionFactor: 1.1386,
      betaFast: 32,
      betaSlow: 1,
      originalContext: 32_768,
      truncate: true,
    } as const
    const {frequencies, magnitude} = rotaryFrequencies(ropeOf(1_000_000, 128, scaling), 1024)
    const base = rotaryFrequencies(ropeOf(1_000_000, 128, {kind: 'none'}), 1024).frequencies
    assert.equal(magnitude, 1.1386)
    const scales = frequencies.map((f, i) => f / (base[i] as number))
    assert.deepEqual([scales[0], scales[63]], [1, 0.25])
    assert.deepEqual(
      scales,
      [...scales].sort((a, b) => b - a),
    )
  })
})
