/**
 * The client's side of inference: where the server is, which models there are by default, and whether the server
 * answers. Everything that generates text elsewhere asks here.
 */
export {type ChatMessage, type ChatRequest, chat} from './chat.js'
export {contextLengthOf} from './context-length.js'
export {type InferenceEndpoint, inferenceClient, resolveEndpoint} from './endpoint.js'
export {generate} from './generation.js'
export {probeEndpoint} from './probe.js'
export {type ModelEntry, modelRegistry} from './registry.js'
export {servedModels} from './served-models.js'
export {defaultGenerationLimits, type Generation} from './streamed-answer.js'
