/**
 * Client for inference servers: endpoint resolution, model registry, choice and price of a model, probing and text
 * generation.
 */
export {addAdapter, listAdapters, removeAdapter, type ServedAdapter} from './adapters.js'
export {type Ask, askEndpoint} from './ask-endpoint.js'
export {chat} from './chat.js'
export {completionModel} from './chat-completion.js'
export {anyJson, type ChatMessage, type ChatRequest, type ChatTool, type ToolCall} from './chat-request.js'
export {
  assumedPrice,
  type CostPreference,
  chooseModel,
  costOf,
  localProvider,
  type ModelChoice,
  type ModelPrices,
} from './choose-model.js'
export {type InferenceClient, type InferenceEndpoint, inferenceClient, resolveEndpoint} from './endpoint.js'
export {generate} from './generation.js'
export {type RunningModel, runningModels, unloadModel} from './loaded-models.js'
export {contextLengthOf, type ModelFacts, modelFacts} from './model-facts.js'
export {probeEndpoint} from './probe.js'
export {type InferenceProfile, isLocalServer} from './profile.js'
export {type ModelEntry, modelRegistry} from './registry.js'
export {servedModels} from './served-models.js'
export {defaultGenerationLimits, type Generation} from './streamed-answer.js'
