/**
 * Language models: a model directory becomes a graph, the graph a session with a KV cache, and the session an engine
 * in a worker thread that turns prompts into text.
 */
export type {CounterName} from './counters.js'
export {type Engine, type EngineOptions, startEngine} from './engine.js'

export {type LanguageModel, loadLanguageModel} from './language-model.js'
export type {ModelDescription} from './model-description.js'
export {mostBytes} from './prompt.js'
export type * from './request.js'
