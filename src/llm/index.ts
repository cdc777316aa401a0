/**
 * Language models: builds an ONNX graph from a model directory, runs it with a KV cache, and generates text in a worker
 * thread.
 */

export type {ReplyFormat} from '../grammar/index.js'
export {type Abilities, type Ability, capabilitiesOf} from './abilities.js'
export type {AdapterSource, ResidentAdapter} from './adapters/resident-adapters.js'
export type {CounterName} from './counters.js'
export {declaredMaxTokens, declaredRequest, declaredSampling, declaredSeed} from './default-sampling.js'
export {describeGguf} from './describe-gguf.js'
export {describeModelFiles, type Engine, type EngineOptions, startEngine} from './engine.js'
export type {RequestClient} from './fair-queue.js'
export {isLanguageModel, languageModelTypes} from './families/index.js'
export {
  findLanguageModels,
  findNamedModels,
  findWorkspaceModels,
  isFolderOfModels,
  isLanguageModelFolder,
  type NamedModel,
} from './find-models.js'
export {type Inspection, inspectModel, readLicense} from './inspect.js'
export {type LanguageModel, loadLanguageModel} from './language-model.js'
export type {AdapterOptions, LoadOptions} from './load-options.js'
export {mergeDefaults, parameterFault} from './model-defaults.js'
export type {ModelDescription} from './model-description.js'
export {maxPromptBytes, withDefaults} from './prompt.js'
export {ModelIdentity} from './receipt/model-identity.js'
export {type ModelPart, modelParts, Receipt, type ReceiptPart, requestParts} from './receipt/receipt.js'
export type * from './request.js'
export {thinkingOf} from './requested-thinking.js'
export {modelWeightTypes, type WeightType} from './weight-types.js'
