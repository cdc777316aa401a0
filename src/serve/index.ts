/**
 * The inference server: serves models over the APIs of Ollama and OpenAI. Pure functions translate both to and from
 * the internal request; the routes connect them to the model.
 */
export type {CatalogOptions} from './adapter-catalog.js'
export type {DownloadProgress, ModelManagement} from './model-management.js'
export {type Exchange, parseExchange} from './receipts/exchange.js'
export {
  type ReceiptReport,
  verifyReceipt,
} from './receipts/verify-receipt.js'
export {type InferenceServer, type ServerOptions, startServer} from './server.js'
