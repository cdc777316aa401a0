import {inferenceSettings, resolveSettings, type SettingSources, type SettingWarning} from '../config/index.js'
import {createHttpClient, type HttpClient, type HttpClientOptions} from '../net/index.js'

/** Address, model and options of an inference server. */
export interface InferenceEndpoint {
  /** Without a trailing slash, `/v1` or `/api`. */
  baseUrl: string
  /** Model name, as the server lists it. */
  model: string
  apiKey: string | undefined
  temperature: number
  maxTokens: number
  /** Context length in tokens; default: that of the server. */
  contextLength?: number | undefined
}

/**
 * Resolves the inference endpoint. Sources of its address, highest precedence first: `overrides.url`,
 * `SVC_INFERENCE_URL`, `SVC_LOCAL_SERVER_URL`, the inference base URL of the mesh, the default of `svc serve`. A blank
 * variable counts as unset; an invalid URL causes a warning.
 */
export function resolveEndpoint(
  sources: SettingSources,
  overrides: {url?: string; model?: string} = {},
): {endpoint: InferenceEndpoint; warnings: SettingWarning[]} {
  const flags = Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))
  const {values, warnings} = resolveSettings(inferenceSettings, {...sources, flags})
  const {url, model, apiKey, temperature, maxTokens, contextLength} = values
  const baseUrl = inferenceSettings.rows.url.type.parse(url) ?? url
  return {endpoint: {baseUrl, model, apiKey, temperature, maxTokens, contextLength}, warnings}
}

/** An HTTP client for the endpoint that sends its API key. */
export const inferenceClient = (
  {baseUrl, apiKey}: InferenceEndpoint,
  options: Omit<HttpClientOptions, 'baseUrl' | 'token'> = {},
): HttpClient => createHttpClient({...options, baseUrl, token: apiKey})
