/**
 * The inference server: one model, served in the dialects of Ollama and OpenAI. The dialects are pure translators
 * around the internal request; the routes connect them to the model.
 */
export {type InferenceServer, startServer} from './server.js'
