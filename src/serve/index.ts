/**
 * The inference server: serves models over the APIs of Ollama, OpenAI and Anthropic. Each dialect translates its
 * requests to the internal one, and the events of a reply to its responses; `answer.ts` connects them to the model.
 */
export type {CatalogOptions} from './adapter-catalog.js'
export {type ClientKey, readApiKeys} from './api-keys.js'
export type {DownloadProgress, ModelManagement} from './model-management.js'
export {type Exchange, parseExchange} from './receipts/exchange.js'
export {
  type ReceiptReport,
  verifyReceipt,
} from './receipts/verify-receipt.js'
export {type InferenceServer, type ServerOptions, startServer} from './server.js'
