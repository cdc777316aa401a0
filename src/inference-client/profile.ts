import {SvcError} from '../errors/index.js'

/**
 * The API of the server by profile. A server on this machine or in the local network has the Ollama API, a remote one
 * only the OpenAI API. A profile whose models run on the device has no server.
 */
const apis = {
  desktop_ollama: 'ollama',
  lan_gateway: 'ollama',
  cloud_openai_compatible: 'openai',
  mobile_litert: undefined,
  mobile_coreml: undefined,
} as const

/** Where the models of a client run, which decides how they are called. */
export type InferenceProfile = keyof typeof apis

/** True if the server has the Ollama API, and may be asked for its models, version and context length. */
export const isLocalServer = (profile: InferenceProfile): boolean => apis[profile] === 'ollama'

/** @throws inference_profile_offline if the profile has no server */
export function requireServer(profile: InferenceProfile): void {
  if (apis[profile] === undefined) throw new SvcError('inference_profile_offline', {profile})
}
