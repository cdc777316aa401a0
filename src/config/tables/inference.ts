import {settings} from '../setting.js'
import {aliasedChoice, baseUrl, integer, number, text} from '../types.js'

/** Clients of the inference server. */
export const inferenceSettings = settings('inference', () => ({
  url: {
    type: baseUrl(),
    env: ['SVC_INFERENCE_URL', 'SVC_LOCAL_SERVER_URL', 'SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'],
    toml: ['mesh.inference_base_url', 'orchestrator.mesh_inference_base_url', 'orchestrator.populi_inference_base_url'],
    clears: ['SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL'],
    default: 'http://127.0.0.1:11435',
    doc: 'Base URL of the inference server.',
  },
  model: {
    type: text('a model name'),
    env: ['SVC_INFERENCE_MODEL'],
    default: 'default-model',
    doc: 'Model that clients request, by the name under which it is served.',
  },
  apiKey: {
    type: text('a token'),
    env: ['SVC_INFERENCE_API_KEY'],
    secret: true,
    doc: 'Bearer token for the inference server.',
  },
  profile: {
    type: aliasedChoice({
      desktop_ollama: ['ollama'],
      lan_gateway: ['lan'],
      cloud_openai_compatible: ['cloud'],
      mobile_litert: [],
      mobile_coreml: [],
    }),
    env: ['SVC_INFERENCE_PROFILE'],
    default: 'desktop_ollama',
    doc: 'Kind of inference server: desktop_ollama and lan_gateway have the Ollama API, cloud_openai_compatible only the OpenAI API; the mobile profiles have no server.',
  },
  temperature: {
    type: number({min: 0, max: 2}),
    env: ['SVC_INFERENCE_TEMPERATURE'],
    default: 0.7,
    doc: 'Sampling temperature that clients request.',
  },
  maxTokens: {
    type: integer({min: 1}),
    env: ['SVC_INFERENCE_MAX_TOKENS'],
    default: 2048,
    doc: 'Maximum number of tokens that clients request.',
  },
  contextLength: {
    type: integer({min: 256}),
    env: ['SVC_INFERENCE_CONTEXT_LENGTH'],
    doc: 'Context length that tasks request, in tokens; default: the length that the server reports.',
  },
}))
