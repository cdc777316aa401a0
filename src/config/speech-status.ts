import type {SettingValues} from './resolve.js'
import type {hubSettings} from './tables/hub.js'
import type {speechSettings} from './tables/speech.js'
import type {speechRefineSettings} from './tables/speech-refine.js'
import type {speechSessionSettings} from './tables/speech-session.js'

type ModelValues = SettingValues<typeof speechSettings.rows>
type SessionValues = SettingValues<typeof speechSessionSettings.rows>
type RefineValues = SettingValues<typeof speechRefineSettings.rows>
type HubValues = SettingValues<typeof hubSettings.rows>

/** Model to use by default, if it is present. */
export const defaultSpeechModel = 'openai/whisper-tiny.en'

/** Session settings by group, without secrets, for diagnostic output. */
export const speechRuntime = (values: SessionValues & RefineValues & HubValues) => ({
  session_timing: {
    capture_timeout_ms: values.captureTimeoutMs,
    max_duration_ms: values.maxDurationMs,
    inference_deadline_ms: values.inferenceDeadlineMs,
    heartbeat_ms: values.heartbeatMs,
  },
  refine: {
    conservative_base: values.refineConservativeBase,
    balanced_base: values.refineBalancedBase,
    aggressive_base: values.refineAggressiveBase,
    penalty_per_trace: values.refinePenaltyPerTrace,
    penalty_cap: values.refinePenaltyCap,
    conf_min: values.refineConfidenceMin,
    conf_max: values.refineConfidenceMax,
  },
  routing: {
    tool_route_min_confidence: values.toolRouteMinConfidence,
    chat_max_messages: values.chatMaxMessages,
    route_max_user_turns: values.routeMaxUserTurns,
    orchestrator_min_confidence: values.orchestratorMinConfidence,
  },
  hf: {retry_attempts: values.hfRetryAttempts, retry_delay_ms: values.hfRetryDelayMs},
  llm: {
    llm_refinement_default: values.llmRefinementDefault,
    llm_min_det_confidence: values.llmMinDetConfidence,
    llm_max_output_tokens: values.llmMaxOutputTokens,
    llm_deadline_ms: values.llmDeadlineMs,
  },
  logit: {
    bias_strength: values.logitBiasStrength,
    bias_max_tokens: values.logitBiasMaxTokens,
    constrained_trie: values.constrainedTrie,
    trie_stuck_steps: values.trieStuckSteps,
  },
})

/** Contradictions between session settings, one sentence each. */
export function speechRuntimeFaults({session_timing: timing, refine}: ReturnType<typeof speechRuntime>): string[] {
  const rules: readonly [broken: boolean, sentence: string][] = [
    [timing.capture_timeout_ms === 0, 'capture_timeout_ms is 0; set it above 0.'],
    [timing.max_duration_ms === 0, 'max_duration_ms is 0; set it above 0.'],
    [
      timing.capture_timeout_ms > timing.max_duration_ms,
      `capture_timeout_ms (${timing.capture_timeout_ms}) must not exceed max_duration_ms (${timing.max_duration_ms}).`,
    ],
    [
      refine.conf_min > refine.conf_max,
      `refine_confidence_min (${refine.conf_min}) must not exceed refine_confidence_max (${refine.conf_max}).`,
    ],
  ]
  return rules.filter(([broken]) => broken).map(([, sentence]) => sentence)
}

export type SpeechFamily = 'whisper' | 'ctc'

export const speechSummary = ({device}: Pick<ModelValues, 'device'>, family: SpeechFamily = 'whisper'): string =>
  `Speech: ONNX ${family === 'ctc' ? 'CTC' : 'Whisper'} on ${device === 'cuda' ? 'CUDA' : 'CPU'}; .txt/.md passthrough`

/** Facts about the machine and the installation. */
export interface SpeechFacts {
  version: string
  cudaInstalled: boolean
  /** Whether `SVC_SPEECH_CUDA` requests a GPU. */
  cudaRequested: boolean
  /** Model in use: the configured, the default or the bundled starter model; null if there is none. */
  activeModel: {name: string; dir: string} | null
  /** Family of the model in use. */
  family?: SpeechFamily | undefined
}

/** Speech status, the same on every surface. */
export function speechStatus(
  values: ModelValues & SessionValues & RefineValues & HubValues,
  {version, cudaInstalled, cudaRequested, activeModel, family = 'whisper'}: SpeechFacts,
) {
  const model = values.model ?? null
  const cuda = {
    cuda_feature_enabled: cudaInstalled,
    cuda_requested_via_env: cudaRequested,
    inference_note:
      cudaInstalled && !cudaRequested ? 'CPU is the default device; set SVC_SPEECH_CUDA=1 for GPU 0' : null,
  }
  return {
    summary: speechSummary(values, family),
    version,
    ...cuda,
    device: values.device,
    precision: values.precision,
    model,
    model_dir: model === null ? null : (activeModel?.dir ?? null),
    active_model: activeModel,
    engine: {
      backend: `onnx-${family}` as const,
      model_env: 'SVC_SPEECH_MODEL',
      revision_env: 'SVC_SPEECH_REVISION',
      cuda_env: 'SVC_SPEECH_CUDA',
      default_model: defaultSpeechModel,
      default_revision: 'main',
      multilingual: !(model ?? defaultSpeechModel).includes('.en'),
      ...cuda,
    },
    runtime: speechRuntime(values),
  }
}
