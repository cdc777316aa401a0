import {inferenceSettings, resolveSettings, type SettingSources, type SettingWarning} from '../config/index.js'
import {createHttpClient, type HttpClient, type HttpClientOptions} from '../net/index.js'

/** Where and how to ask for text. */
export interface InferenceEndpoint {
  /** Without a trailing slash, `/v1` or `/api`. */
  baseUrl: string
  /** The name to ask for; it must be the name under which the server serves. */
  model: string
  apiKey: string | undefined
  temperature: number
  maxTokens: number
  /** Tokens that a model reads and writes in one call; its server says when left out. */
  contextLength?: number | undefined
}

/**
 * The endpoint of a process. Its address is, in this order: one that is given, `SVC_INFERENCE_URL`,
 * `SVC_LOCAL_SERVER_URL`, the inference base of the mesh, the default of `svc serve`. A blank variable is no value, and
 * one that is no address is a warning.
 */
export function resolveEndpoint(
  sources: SettingSources,
  given: {url?: string; model?: string} = {},
): {endpoint: InferenceEndpoint; warnings: SettingWarning[]} {
  const flags = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))
  const {values, warnings} = resolveSettings(inferenceSettings, {...sources, flags})
  const {url, model, apiKey, temperature, maxTokens, contextLength} = values
  const baseUrl = inferenceSettings.rows.url.type.parse(url) ?? url
  return {endpoint: {baseUrl, model, apiKey, temperature, maxTokens, contextLength}, warnings}
}

/** A client of the endpoint that sends its key. */
export const inferenceClient = (
  {baseUrl, apiKey}: InferenceEndpoint,
  options: Omit<HttpClientOptions, 'baseUrl' | 'token'> = {},
): HttpClient => createHttpClient({...options, baseUrl, token: apiKey})
