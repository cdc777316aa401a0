/**
 * Language models: a model directory becomes a graph, the graph a session with a KV cache, and the session an engine
 * in a worker thread that turns prompts into text.
 */
export {type Engine, startEngine} from './engine.js'
export {families} from './families/index.js'
export type {GenerateEvent, GenerateRequest, GenerateSummary} from './generation.js'
export {type LanguageModel, type LoadOptions, loadLanguageModel} from './language-model.js'
