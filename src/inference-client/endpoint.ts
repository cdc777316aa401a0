import {inferenceSettings, resolveSettings, type SettingSources, type SettingWarning} from '../config/index.js'
import {createHttpClient, type HttpClient, type HttpClientOptions} from '../net/index.js'
import {type InferenceProfile, requireServer} from './profile.js'

/** A client of an inference server. Its profile decides how `chat`, `generate` and `servedModels` call the server. */
export interface InferenceClient extends HttpClient {
  readonly profile: InferenceProfile
}

/** Address, model and options of an inference server. */
export interface InferenceEndpoint {
  /** Without a trailing slash, `/v1` or `/api`. */
  baseUrl: string
  /** Model name, as the server lists it. */
  model: string
  apiKey: string | undefined
  profile: InferenceProfile
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
  const {url, model, apiKey, profile, temperature, maxTokens, contextLength} = values
  const baseUrl = inferenceSettings.rows.url.type.parse(url) ?? url
  return {endpoint: {baseUrl, model, apiKey, profile, temperature, maxTokens, contextLength}, warnings}
}

/** A client for the endpoint that sends its API key. @throws inference_profile_offline if its profile has no server */
export function inferenceClient(
  {baseUrl, apiKey, profile}: InferenceEndpoint,
  options: Omit<HttpClientOptions, 'baseUrl' | 'token'> = {},
): InferenceClient {
  requireServer(profile)
  return {...createHttpClient({...options, baseUrl, token: apiKey}), profile}
}
