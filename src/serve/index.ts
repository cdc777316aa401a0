/**
 * The inference server: serves one model over the APIs of Ollama and OpenAI. Pure functions translate both to and from
 * the internal request; the routes connect them to the model.
 */
export {type InferenceServer, type ServerOptions, startServer} from './server.js'
