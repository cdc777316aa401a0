import {counted, SvcError} from '../errors/index.js'
import {architectureFor, type DescribeConfig, type GgufDescription, type GgufEntry} from '../weights/index.js'
import {readDecoderSpec} from './families/index.js'
import type {RecurrentSpec} from './recurrent/index.js'
import {rotaryFrequencies, yarnMagnitude} from './rope.js'
import {type AttentionSpec, attentionsOf, type DecoderSpec, type RopeSpec} from './spec.js'

type Entries = Record<string, GgufEntry>

/**
 * Describes a decoder as GGUF files do. What is read again from the file is compared with the decoder, so that features that
 * the metadata does not have are refused.
 * @param ignored unknown keys that may be present
 */
export const describeGguf =
  (ignored: readonly string[] = []): DescribeConfig =>
  (config, file, has) => {
    const spec = readDecoderSpec(config, file, has, ignored)
    const {tensors, vocabSize, family, fused} = spec
    const inexpressible = (feature: string) => new SvcError('gguf_inexpressible', {file, feature})
    const architecture = architectureFor(family)
    const attentions = attentionsOf(spec)
    const [first] = attentions
    if (architecture === undefined || first === undefined) throw inexpressible(`the model type ${family}`)
    if (spec.layerInputs !== undefined) throw inexpressible('inputs of layers that depend on the tokens')
    const root = tensors.embedding.replace(/\.embed_tokens\.weight$/, '')
    const entries = entriesOf(spec, architecture.name, inexpressible)
    return {
      ...architecture,
      entries: Object.fromEntries(
        Object.entries(entries).map(([key, entry]) => [`${architecture.name}.${key}`, entry]),
      ),
      divisors: divisorsOf(fullRope(spec)),
      heads: headSizes(spec),
      fused,
      vocabSize,
      tied: tensors.head === tensors.embedding,
      root,
      warnings: windowWarning(spec, architecture.name),
      check(written, hasTensor) {
        const found = readDecoderSpec(written, file, hasTensor)
        const attentive = ({layers}: DecoderSpec) =>
          layers.flatMap(({attention}, i) => (attention ? [i] : [])).join(', ')
        if (attentive(found) !== attentive(spec)) throw inexpressible(`attention in the layers ${attentive(spec)} only`)
        const difference = differenceOf(comparable(spec, root), comparable(found, 'model'))
        if (difference !== undefined) throw inexpressible(difference)
      },
    }
  }

function headSizes(spec: DecoderSpec): GgufDescription['heads'] {
  return {
    headDim: attentionsOf(spec)[0]?.headDim ?? 0,
    delta: recurrentOf(spec, 'delta-net'),
    groups: recurrentOf(spec, 'mamba2')?.groups,
  }
}

/** Architectures whose windows llama.cpp ignores. */
const unwindowed: readonly string[] = ['llama', 'phi3']

function windowWarning(spec: DecoderSpec, name: string): string[] {
  const window = attentionsOf(spec).find((attention) => attention.window !== undefined)?.window
  if (window === undefined || !unwindowed.includes(name)) return []
  return [`llama.cpp ignores the attention window in this file, ${counted(window, 'token')}; svc uses it.`]
}

/** The rotary embedding of layers without a window. */
const fullRope = (spec: DecoderSpec): RopeSpec | undefined => {
  const ropes = attentionsOf(spec).filter(({rope}) => rope !== undefined)
  return (ropes.find(({window}) => window === undefined) ?? ropes[0])?.rope
}

function entriesOf(spec: DecoderSpec, name: string, inexpressible: (feature: string) => SvcError): Entries {
  const {layers, vocabSize, hiddenSize, contextLength, normEps, logitCap} = spec
  const attentions = attentionsOf(spec) as [AttentionSpec, ...AttentionSpec[]]
  const [{heads, kvHeads, headDim, cap}] = attentions
  const plain = layers.find(({mlp}) => mlp.routing === undefined) ?? layers[0]
  const windowed = attentions.find(({window}) => window !== undefined)
  const rope = fullRope(spec)
  return {
    vocab_size: {u32: vocabSize},
    context_length: {u32: contextLength},
    embedding_length: {u32: hiddenSize},
    block_count: {u32: layers.length},
    feed_forward_length: {u32: plain?.mlp.intermediateSize ?? 0},
    'attention.head_count': {u32: heads},
    'attention.head_count_kv': {u32: kvHeads},
    'attention.key_length': {u32: headDim},
    'attention.value_length': {u32: headDim},
    'attention.layer_norm_rms_epsilon': {f32: normEps},
    ...(windowed?.window === undefined ? {} : {'attention.sliding_window': {u32: windowed.window}}),
    ...(cap === undefined ? {} : {attn_logit_softcapping: {f32: cap}}),
    ...(logitCap === undefined ? {} : {final_logit_softcapping: {f32: logitCap}}),
    ...(rope === undefined ? {} : ropeEntries(rope, inexpressible)),
    ...(own[name]?.(spec, windowed?.rope) ?? {}),
  }
}

function graniteFactors({embeddingScale, residualScale, logitScale, ...spec}: DecoderSpec): Entries {
  return {
    embedding_scale: {f32: embeddingScale},
    residual_scale: {f32: residualScale},
    logit_scale: {f32: 1 / logitScale},
    'attention.scale': {f32: attentionsOf(spec)[0]?.scale ?? 1},
  }
}

/** The heads of keys of each layer; those without attention have none. */
const keyHeadsOf = ({layers}: DecoderSpec): GgufEntry => ({
  integers: layers.map(({attention}) => attention?.kvHeads ?? 0),
})

/** The first recurrent layer of a kind. */
const recurrentOf = <Kind extends RecurrentSpec['kind']>({layers}: DecoderSpec, kind: Kind) =>
  layers.map(({recurrent}) => recurrent).find((layer) => layer?.kind === kind) as
    | Extract<RecurrentSpec, {kind: Kind}>
    | undefined

/** Metadata that only one architecture has. */
const own: Readonly<Record<string, (spec: DecoderSpec, windowedRope: RopeSpec | undefined) => Entries>> = {
  gemma3: (spec, rope) => {
    const period = attentionsOf(spec).findIndex(({window}) => window === undefined) + 1
    return {
      ...(rope === undefined ? {} : {'rope.freq_base_swa': {f32: rope.theta}}),
      ...(period === 0 ? {} : {'attention.sliding_window_pattern': {u32: period}}),
    }
  },
  granite: graniteFactors,
  granitehybrid(spec) {
    const mamba = recurrentOf(spec, 'mamba2')
    return {
      ...graniteFactors(spec),
      'attention.head_count_kv': keyHeadsOf(spec),
      'ssm.conv_kernel': {u32: mamba?.convolution.width ?? 0},
      'ssm.state_size': {u32: mamba?.stateSize ?? 0},
      'ssm.group_count': {u32: mamba?.groups ?? 0},
      'ssm.time_step_rank': {u32: mamba?.heads ?? 0},
      'ssm.inner_size': {u32: mamba === undefined ? 0 : mamba.heads * mamba.headDim},
      'rope.scaling.finetuned': {flag: fullRope(spec) !== undefined},
    }
  },
  lfm2: (spec) => ({
    'attention.head_count_kv': keyHeadsOf(spec),
    'shortconv.l_cache': {u32: recurrentOf(spec, 'short-convolution')?.convolution.width ?? 0},
  }),
  qwen35(spec) {
    const delta = recurrentOf(spec, 'delta-net')
    const pairs = (fullRope(spec)?.dims ?? 0) / 2
    return {
      full_attention_interval: {u32: spec.layers.findIndex(({attention}) => attention !== undefined) + 1},
      'ssm.conv_kernel': {u32: delta?.convolution.width ?? 0},
      'ssm.state_size': {u32: delta?.keyDim ?? 0},
      'ssm.group_count': {u32: delta?.keyHeads ?? 0},
      'ssm.time_step_rank': {u32: delta?.valueHeads ?? 0},
      'ssm.inner_size': {u32: delta === undefined ? 0 : delta.valueHeads * delta.valueDim},
      // Pairs of time, height and width in images. The positions of a text are equal in all three.
      'rope.dimension_sections': {integers: [...[2, 1, 0].map((more) => Math.floor((pairs + more) / 3)), 0]},
    }
  },
  qwen3moe: ({layers}) => {
    const mlp = layers.find(({mlp: {routing}}) => routing !== undefined)?.mlp
    return {
      expert_count: {u32: mlp?.experts.length ?? 0},
      expert_used_count: {u32: mlp?.routing?.used ?? 0},
      expert_feed_forward_length: {u32: mlp?.intermediateSize ?? 0},
    }
  },
}

function ropeEntries(
  {theta, dims, scaling, queryGrowth}: RopeSpec,
  inexpressible: (feature: string) => SvcError,
): Entries {
  const plain: Entries = {
    'rope.freq_base': {f32: theta},
    'rope.dimension_count': {u32: dims},
    ...(queryGrowth === undefined ? {} : {'attention.temperature_scale': {f32: queryGrowth.beta}}),
  }
  const key = (name: string) => `rope.scaling.${name}`
  switch (scaling.kind) {
    case 'none':
    case 'divided':
    case 'llama3':
      return plain
    case 'dynamic':
      throw inexpressible('dynamic scaling of the rotary embedding')
    case 'linear':
      return {...plain, [key('type')]: {text: 'linear'}, [key('factor')]: {f32: scaling.factor}}
    case 'longrope':
      return {
        ...plain,
        [key('original_context_length')]: {u32: scaling.originalContext},
        [key('attn_factor')]: {f32: scaling.attentionFactor},
      }
    case 'yarn': {
      const {factor, originalContext, betaFast, betaSlow, attentionFactor} = scaling
      // Equal weights of both magnitudes, whose quotient is 1.
      const isEven = attentionFactor === 1 && yarnMagnitude(factor) !== 1
      return {
        ...plain,
        [key('type')]: {text: 'yarn'},
        [key('factor')]: {f32: factor},
        [key('original_context_length')]: {u32: originalContext},
        [key('yarn_beta_fast')]: {f32: betaFast},
        [key('yarn_beta_slow')]: {f32: betaSlow},
        ...(isEven ? {[key('yarn_log_multiplier')]: {f32: 1}} : {}),
      }
    }
  }
}

/** The divisors that files have instead of a formula. */
function divisorsOf(rope: RopeSpec | undefined): GgufDescription['divisors'] {
  if (rope === undefined) return {}
  const {scaling} = rope
  if (scaling.kind === 'longrope') return {short: scaling.short, long: scaling.long}
  if (scaling.kind !== 'llama3' && scaling.kind !== 'divided') return {}
  const plain = rotaryFrequencies({...rope, scaling: {kind: 'none'}}, 1).frequencies
  const {frequencies} = rotaryFrequencies(rope, 1)
  return {all: plain.map((frequency, pair) => frequency / (frequencies[pair] as number))}
}

/** What a decoder computes: without its name and fused matrices, and with frequencies instead of their formula. */
function comparable({family: _, fused: _fused, ...spec}: DecoderSpec, root: string): unknown {
  const {contextLength, layers} = spec
  const ropeOf = (rope: RopeSpec | undefined) =>
    rope && {
      rotary_embedding: [1, contextLength].map((length) => rotaryFrequencies(rope, length)),
      query_growth: rope.queryGrowth,
    }
  const found = {
    ...spec,
    layers: layers.map(({attention, ...others}) => ({
      attention: attention && {...attention, rope: ropeOf(attention.rope)},
      ...others,
    })),
  }
  const named = JSON.stringify(found, (_key, value: unknown) =>
    typeof value === 'string' && value.startsWith(`${root}.`) ? `model${value.slice(root.length)}` : value,
  )
  return JSON.parse(named.replaceAll('"language_model.lm_head.weight"', '"lm_head.weight"'))
}

/** Rounding to 32-bit floats in the file. */
const tolerance = 1e-6

/** The first difference between what a model computes and what the file says, as a feature of the model. */
function differenceOf(expected: unknown, found: unknown, path = ''): string | undefined {
  if (typeof expected === 'number' && typeof found === 'number')
    return Math.abs(expected - found) <= tolerance * Math.abs(expected) ? undefined : `${path} ${expected}`
  if (!isObject(expected) || !isObject(found))
    return expected === found ? undefined : `${path} ${JSON.stringify(expected)}`
  for (const key of new Set([...Object.keys(expected), ...Object.keys(found)])) {
    const difference = differenceOf(expected[key], found[key], path === '' ? key : `${path}.${key}`)
    if (difference !== undefined) return difference
  }
  return undefined
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
