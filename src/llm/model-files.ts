import type {ReplyRules} from '../sampling/index.js'
import {openRunDirectory, type RunDirectory} from '../weights/index.js'
import {abilitiesOf} from './abilities.js'
import {readDecoderSpec} from './families/index.js'
import type {LoadOptions} from './load-options.js'
import {describeModel, type ModelDescription} from './model-description.js'
import {type ModelText, readModelText} from './model-text.js'
import {choosePrecision, memoryOf, type Precision} from './precision.js'
import {sourcesOf} from './receipt/model-sources.js'
import {readReplyRules} from './reply-rules-config.js'
import {cacheBytes, cacheShapeOf, keptBytes} from './sequence-cache.js'
import type {DecoderSpec} from './spec.js'

/** Everything of a model but its weights, which are not read. */
export interface ModelFiles {
  directory: RunDirectory
  spec: DecoderSpec
  text: ModelText
  rules: ReplyRules
  precision: Precision
  description: ModelDescription
}

const defaultContext = 8192

/** For models whose chat template does not write calls, or in an unknown form. */
const toolNote =
  'The chat template has no known form of tool calls. Tools are described in a message, and calls are JSON in <tool_call> tags.'

/**
 * Reads the configuration, the tokenizer and the headers of the weights.
 * @throws every error of `openRunDirectory`, `readDecoderSpec`, `readModelText` and `readReplyRules`
 */
export async function readModelFiles(
  model: string,
  {numCtx, device = 'cpu', precision: requested = 'f32', prefixBytes = 0, chatTemplate, ...others}: LoadOptions,
): Promise<ModelFiles> {
  const directory = await openRunDirectory(model, others)
  const declared = await directory.readConfig()
  const config = directory.untied ? {...declared, tie_word_embeddings: false} : declared
  const {tensors, declarations, defaults} = directory
  const spec = readDecoderSpec(config, directory.config, (tensor) => tensors.has(tensor), others.ignoreConfigKeys)
  const text = await readModelText(directory, config, chatTemplate)
  const rules = readReplyRules(declarations.generation, directory)
  const precision = choosePrecision(requested, tensors, device)
  const wantedContext = numCtx || defaults.parameters.num_ctx || defaultContext
  const contextLength = Math.min(wantedContext, spec.contextLength)
  const {tokenizer, template, templateSource, style, ends, templates} = text
  const {promptLookup = false} = others
  const shape = cacheShapeOf(spec)
  // Checkpoints are kept only to save prompts.
  const saved = prefixBytes === 0 ? 0 : prefixBytes + keptBytes(shape, contextLength)
  return {
    directory,
    spec,
    text,
    rules,
    precision,
    description: {
      ...(await describeModel(directory, spec)),
      contextLength,
      precision,
      memoryBytes: memoryOf(tensors, precision) + cacheBytes(shape, contextLength) + saved,
      template: templateSource,
      templateError: template?.error?.toRecord(),
      abilities: abilitiesOf(text),
      toolNote: style?.isNative === false ? toolNote : undefined,
      stop: [...ends].map((id) => tokenizer.bytes(id).toString('utf8')),
      longestToken: tokenizer.longestToken,
      repetitionPenalty: rules.repetitionPenalty,
      sources: sourcesOf(
        {directory, config, spec, precision, templates, ends},
        {promptLookup, savesPrefixes: prefixBytes > 0, device},
      ),
    },
  }
}
