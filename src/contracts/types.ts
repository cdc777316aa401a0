// Generated from contracts/ by `npm run contracts`. Do not edit.

/** Error that a failed command prints to standard output with --json. */
export interface CliErrorV1 {
  error: {
    /** Stable code of the error. */
    code: string
    /** Error message. */
    message: string
    /** Suggested fix. */
    remediation: string
    /** Exit status of the command. */
    exit: 1 | 2 | 3 | 4 | 5 | 130 | 143
  }
}

/** Result of svc generate --json. */
export interface GenerateV1 {
  /** Name of the model, the last component of its directory. */
  model: string
  /** Precision of the weights in use. */
  precision: 'f32' | 'w8' | 'w4'
  /** Generated text, without the prompt and without the stop string. */
  text: string
  /** What the model thought; absent if it did not think. */
  thinking?: string
  /** Calls of tools; absent if there are none. */
  tool_calls?: {
    name: string
    /** Valid for the schema of the tool. */
    arguments: {[k: string]: unknown}
  }[]
  /** Digests of what the text was computed from; svc verify-receipt checks them. Absent in older versions. */
  receipt?: string
  /** stop: end token or stop string; length: max tokens or end of the context; tool_calls: calls of tools. */
  finish_reason: 'stop' | 'length' | 'tool_calls'
  /** Seed that reproduces the text. */
  seed: number
  prompt_tokens: number
  /** Prompt tokens that were not computed, because they begin an earlier prompt. */
  cached_tokens: number
  completion_tokens: number
  /** Resident memory of the process after the reply. */
  memory_bytes: number
  timings: {
    /** Time to load the model. */
    load_ms: number
    /** Time from the request to the first token, including tokenisation. */
    first_token_ms: number
    /** Time from the start of the computation to the first token. */
    prefill_ms: number
    /** Computed prompt tokens, without the cached ones. */
    prefill_tokens_per_second: number
    /** Time from the first to the last token. */
    decode_ms: number
    /** Null if fewer than two tokens were generated. */
    decode_tokens_per_second: number | null
  }
}

/** Line of svc run --json: a piece of a reply, or its end. */
export interface RunV1 {
  /** The last event of a reply is done. */
  event: 'thinking' | 'text' | 'done'
  /** With thinking and text: the next piece. The pieces join to the whole. */
  text?: string
  /** With done, as all that follow: the name of the model. */
  model?: string
  /** stop: end token or stop string; length: the reply has been truncated; interrupted: by Ctrl-C. */
  finish_reason?: 'stop' | 'length' | 'interrupted'
  prompt_tokens?: number
  /** Prompt tokens that were not computed, because they begin the earlier conversation; absent for a server. */
  cached_tokens?: number
  completion_tokens?: number
  /** Time from the request to the first event. */
  first_token_ms?: number
}

/** Conversation that /save of svc run writes and /load reads. With parameters as options, it is a body of POST /api/chat. */
export interface ConversationV1 {
  /** The model, as svc run was given it. */
  model: string
  /** Oldest first. */
  messages: {
    role: 'system' | 'user' | 'assistant'
    content: string
    /** What the model thought; absent if it did not think. */
    thinking?: string
  }[]
  parameters: Parameters
  /** What replies match: json, or a JSON Schema; absent if they are free. */
  format?: 'json' | {[k: string]: unknown}
  /** Whether the model thinks; absent if its template decides. */
  think?: boolean
}

/** Parameters that were set, by the names of the Ollama API. */
export interface Parameters {
  /** Sampling temperature; 0 always picks the most likely token. */
  temperature?: number
  /** Number of most likely tokens to sample from; below 1 is all. */
  top_k?: number
  /** Total probability of the tokens to sample from. */
  top_p?: number
  /** Minimum probability relative to the most likely token; 0 is off. */
  min_p?: number
  /** Sampling seed; -1 is a random one. */
  seed?: number
  /** Maximum tokens of a reply; below 0 is until the context is full, 0 is the default. */
  num_predict?: number
  /** Maximum tokens of conversation and reply, at most the loaded context. */
  num_ctx?: number
  /** Divides the positive logits of used tokens; 1 is off. */
  repeat_penalty?: number
  /** Number of last tokens that penalties consider; -1 is all. */
  repeat_last_n?: number
  /** Subtracted once from the logit of each used token. */
  presence_penalty?: number
  /** Subtracted from the logit of each used token for each use. */
  frequency_penalty?: number
  /** Texts that end a reply, separated by blanks, or a JSON list. */
  stop?: string[]
}

/** Result of svc config show --json. */
export interface ConfigShowV1 {
  /** Root directory of the workspace. */
  root: string
  /** Path of the Svc.toml that was read. */
  file: string | null
  /** All settings with their current values: null if unset, "(set)" for a secret. */
  settings: {
    name: string
    value: unknown
    origin: Origin
    /** Overridden sources, by descending precedence. */
    overridden: {source: Source; name?: string; value: unknown}[]
    env: string[]
    toml: string[]
    takes: string
    doc: string
  }[]
  warnings: Warning[]
}

export interface Origin {
  source: Source
  name?: string
}

export type Source = 'flag' | 'env' | 'env-file' | 'speech-config' | 'file' | 'user-file' | 'default'

export interface Warning {
  code: string
  subject: string
  message: string
}

/** Result of svc contracts list --json. */
export type ContractsListV1 = {
  id: string
  /** Absolute path of the schema. */
  file: string
  summary: string
  aliases: string[]
}[]

/** Result of svc contracts validate --json on success. */
export interface ContractsValidateV1 {
  ok: true
  /** Null if the contracts themselves were checked. */
  contract: string | null
  documents: string[]
}

/** Result of svc transcribe --json, one line per recording. */
export interface TranscribeV1 {
  /** Absolute path of the recording; - for standard input. */
  path: string
  /** Id that is new for each recording. */
  correlation_id: string
  /** Recognised text before refinement. */
  raw_text: string
  /** Text after refinement, lexicon and ranking. */
  refined_text: string
  /** refined_text, or raw_text if refinement is off. */
  text: string
  /** Base confidence of the profile minus a penalty per correction. If the model probably did not understand the audio, it is at most asr_confidence. */
  confidence: number
  /** True if the confidence is below the threshold for tools. */
  clarification_recommended: boolean
  /** Alternative readings, best first; only present if there is more than one. */
  n_best?: string[]
  language_diagnostics?: {
    /** The specified language. */
    raw: string | null
    /** Code of the specified language; null if it is not recognised. */
    normalized: string | null
    notes: (
      | 'language_hint_length_out_of_range'
      | 'language_hint_invalid_charset'
      | 'language_hint_region_stripped'
      | 'language_hint_name_mapped'
      | 'language_hint_ignored_english_only_model'
      | 'language_hint_unsupported'
    )[]
    /** Code of the language that the model detected. */
    detected?: string
    detected_probability?: number
  }
  /** Name of the speech model. */
  model?: string
  task?: 'transcribe' | 'translate'
  /** Code of the spoken language; empty if there is no speech. */
  language?: string
  duration_ms?: number
  /** True if the recording contains no speech. */
  no_speech?: boolean
  segments?: {
    id: number
    start_ms: number
    end_ms: number
    /** Name of the speaker; only if each channel was transcribed separately. */
    speaker?: string
    text: string
    /** Mean log-probability of the tokens. */
    avg_logprob: number
    no_speech_prob: number
    /** The constrained phrases did not match the audio, so that all texts were allowed. */
    constraint_escaped?: true
    /** Recognised words; only present with word timestamps. */
    words?: {word: string; start_ms: number; end_ms: number; probability: number}[]
  }[]
  /** Exponential of the mean log-probability of the tokens. */
  asr_confidence?: number
  timings?: {
    /** Time from opening the recording to the transcript. */
    total_ms: number
    /** Time to load the model; 0 after the first recording. */
    load_ms: number
    features_ms: number
    encode_ms: number
    decode_ms: number
    /** Number of windows processed by the model. */
    windows: number
    /** Number of tokens for which the logits of the whole vocabulary were computed, because the fast choice was not certain. */
    whole_heads: number
    /** Real-time factor: processing time without loading, divided by the duration of the recording. */
    rtf: number
  }
  /** Number of the transcribed audio track; only for files that can have several. */
  audio_track?: number
  /** Audio tracks of the file. */
  audio_tracks?: {
    number: number
    /** Language as in the file, such as ger. */
    language: string | null
    title: string | null
    /** True if the file marks it as the track to play. */
    default: boolean
  }[]
  /** Problems of the recording and of its text. */
  warnings?: {
    code:
      | 'audio_truncated'
      | 'audio_damaged'
      | 'audio_not_finite'
      | 'channels_opposite'
      | 'recording_quiet'
      | 'forbidden_token_ignored'
      | 'constraint_dropped'
      | 'recognition_unreliable'
    message: string
  }[]
  /** The time limits that were checked; only present if the request sets one. */
  deadline_diagnostics?: {
    phase: 'capture' | 'transcribe' | 'session_total'
    elapsed_ms: number
    limit_ms: number
    taxonomy: 'ok' | 'capture_timeout' | 'inference_timeout' | 'deadline_exceeded'
  }[]
  /** Corrections of the text, in order; only with debug_parser_payload. */
  correction_trace?: {rule: string; before: string; after: string; reason: string}[]
  /** Settings of speech sessions; only with debug_parser_payload. */
  runtime_config?: {[k: string]: unknown}
  /** Path of the transcript file, or of the first one. */
  output_path?: string
  /** Paths of the transcript files, in the order of --format; only with several formats. */
  output_paths?: string[]
}

/** Result of svc speech probe --json. */
export interface SpeechProbeV1 {
  /** Absolute path of the recording. */
  path: string
  /** Format of the file, detected from its content. */
  format: string
  /** Duration; null if the file does not contain it. */
  duration_ms: number | null
  /** Audio tracks in the order of the file. */
  tracks: {
    /** Number for --audio-track. */
    number: number
    codec: string
    /** Hz. */
    sample_rate: number
    /** Channels, such as stereo or 5.1. */
    layout: string
    /** Language as in the file, such as ger; null if it is not specified. */
    language: string | null
    title: string | null
    /** True if the file marks it as the track to play. */
    default: boolean
  }[]
}

/** Result of svc transcribe --detect-language --json. */
export interface DetectLanguageV1 {
  /** Absolute path of the recording, or - for standard input. */
  path: string
  /** Name of the model. */
  model: string
  /** Code of the language; null without speech. */
  language: string | null
  /** Probability of the language. */
  probability: number
  /** The most likely languages, best first. */
  languages: {
    /** Code of the language. */
    language: string
    probability: number
  }[]
}

/** Last line of svc listen --json: the session. */
export interface ListenV1 {
  /** Id that is new for each session. */
  correlation_id: string
  session: {
    session_id: string
    /** Absolute path of the recording, - for standard input, or mic. */
    path: string
    /** Recognised text before refinement, all utterances. */
    raw_text: string
    /** Text after refinement. */
    refined_text: string
    /** The same as refined_text. */
    text: string
    /** Lowest confidence of the utterances; 0 if there are none. Not an acoustic confidence. */
    confidence: number
    language_hint: string | null
    language_diagnostics: {
      /** The specified language. */
      raw: string | null
      /** Code of the specified language; null if it is not recognised. */
      normalized: string | null
      notes: (
        | 'language_hint_length_out_of_range'
        | 'language_hint_invalid_charset'
        | 'language_hint_region_stripped'
        | 'language_hint_name_mapped'
        | 'language_hint_ignored_english_only_model'
        | 'language_hint_unsupported'
      )[]
      /** Code of the language that the model detected. */
      detected?: string
      detected_probability?: number
    }
    /** Corrections of the text, in order. */
    correction_trace: {rule: string; before: string; after: string; reason: string}[]
    /** Alternative readings, best first; only present if there is more than one. */
    n_best?: string[]
    /** Number of utterances with text. */
    utterances: number
    timings: {
      /** Duration of the session. */
      total_ms: number
      /** Time for recognition and refinement. */
      transcribe_ms: number
      /** Part of transcribe_ms for refinement. */
      refine_ms?: number
      /** Time without audio after which the session fails; null without a limit. */
      capture_timeout_ms: number | null
      /** Maximum duration; null without a limit. */
      max_duration_ms: number | null
      /** Time limit for recognition; null without a limit. */
      effective_inference_deadline_ms: number | null
    }
    state: 'completed' | 'failed'
    /** The time limits that were checked for the last utterance. */
    deadline_diagnostics: {
      phase: 'capture' | 'transcribe' | 'session_total'
      elapsed_ms: number
      limit_ms: number
      taxonomy: 'ok' | 'capture_timeout' | 'inference_timeout' | 'deadline_exceeded'
    }[]
  }
  /** What the text was used for. */
  route: {
    mode: 'none' | 'tool' | 'chat' | 'orchestrator' | 'clarify'
    action: string
    status: string
    payload: {[k: string]: unknown}
  }
  /** True if the confidence is below the threshold for tools. */
  clarification_recommended: boolean
  /** Alternative readings, best first; only present if there is more than one. */
  n_best?: string[]
  /** What the text asks for; only with the route mode tool, if it asks for something. */
  intent_envelope?: {
    action: 'speech_status' | 'code_create' | 'code_edit' | 'explain_code' | 'run_check' | 'operation' | 'none'
    intent_confidence: number
    transcript_confidence: number
    transcript: string
    /** File that the text names. */
    target_path?: string
    /** Function or type that the text names. */
    symbol_name?: string
    /** Part of the code that the text names. */
    ast_target?: {
      node_kind: 'function' | 'struct' | 'type' | 'module'
      symbol_name?: string
      /** True if it is the one at the cursor of the editor. */
      at_cursor: boolean
    }
  }
  /** True if a stronger model or a person should be asked; only with intent_envelope. */
  speech_escalation_recommended?: boolean
  /** What is missing to act on the text; only present if something is. */
  intent_slot_gaps?: ('target_path_or_symbol' | 'test_scope' | 'explain_focus')[]
  /** Question to the user about what is missing. */
  slot_clarification?: string
  /** Refinement of the text by a language model. */
  llm_refinement: {
    applied: boolean
    skipped?: boolean
    /** Why the text was not polished, such as llm_refinement_disabled, infer_failed or parse_failed. */
    reason?: string
    error?: string
    /** The start of an answer that cannot be parsed. */
    raw_preview?: string
    deterministic_confidence?: number
    /** The model has nothing to correct. */
    keep_original?: boolean
    /** The answer of the model. */
    llm?: {[k: string]: unknown}
    effective_confidence?: number
    corrected_text?: string
    [k: string]: unknown
  }
  /** Settings of speech sessions; only with --debug-parser-payload. */
  runtime_config?: {[k: string]: unknown}
}

/** Event of a live speech session: a line of svc listen --json. */
export type SpeechEventV1 =
  SpeechReadyV1 | SpeechPartialV1 | SpeechFinalV1 | SpeechErrorV1 | SpeechHeartbeatV1 | SpeechRoutedV1

export interface SpeechReadyV1 {
  type: 'ready'
  /** Id of the session. */
  correlation_id: string
  session_id: string
  sample_rate_hz: 16000
  input_format: 'pcm_s16le_mono'
  /** First sample that the server does not hold durably, counted from the start of the session at 16 kHz; only from a server that resumes sessions. */
  next_sample?: number
}
export interface SpeechPartialV1 {
  type: 'partial'
  /** Id of the session. */
  correlation_id: string
  /** Number of the partial result within its utterance, from 1. */
  seq: number
  /** Refined text so far. */
  text: string
  /** Start of the text that no later partial result changes. */
  stable_text: string
  /** Base confidence of the profile minus a penalty per correction; not an acoustic confidence. */
  confidence: number
  /** Alternative readings, best first; null if there is only one. */
  n_best: string[] | null
  /** First sample that the server does not hold durably, counted from the start of the session at 16 kHz; only from a server that resumes sessions. */
  next_sample?: number
}
export interface SpeechFinalV1 {
  type: 'final'
  /** Id of the session. */
  correlation_id: string
  /** Number of the utterance within its session, from 0. */
  utterance: number
  /** Start of the utterance in the audio. */
  start_ms: number
  end_ms: number
  /** Recognised text before refinement. */
  raw_text: string
  /** Text after refinement. */
  refined_text: string
  /** refined_text, or raw_text if refinement is off. */
  text: string
  /** Base confidence of the profile minus a penalty per correction. If the model probably did not understand the audio, it is at most asr_confidence. */
  confidence: number
  /** Alternative readings, best first; null if there is only one. */
  n_best: string[] | null
  /** Exponential of the mean log-probability of the tokens. */
  asr_confidence?: number
  /** The time limits that were checked. */
  deadline_diagnostics: {
    phase: 'capture' | 'transcribe' | 'session_total'
    elapsed_ms: number
    limit_ms: number
    taxonomy: 'ok' | 'capture_timeout' | 'inference_timeout' | 'deadline_exceeded'
  }[]
  timings: {
    /** Time since the utterance began. */
    total_ms: number
    /** Time for recognition and refinement. */
    transcribe_ms: number
  }
  /** Tokens of the utterance; only with SVC_SPEECH_STREAM_TOKENS. */
  tokens?: {token: number; text: string; logprob: number}[]
  /** First sample that the server does not hold durably, counted from the start of the session at 16 kHz; only from a server that resumes sessions. */
  next_sample?: number
}
export interface SpeechErrorV1 {
  type: 'error'
  /** Id of the session. */
  correlation_id: string
  /** Code of the error. */
  error: string
  message: string
  hint: string
  /** Size of the audio buffer; only with buffer_overflow. */
  max_buffer_ms?: number
  /** State of the session; only with an error of a time limit. */
  state?: 'failed'
  /** The time limits that were checked; only with an error of a time limit. */
  deadline_diagnostics?: {
    phase: 'capture' | 'transcribe' | 'session_total'
    elapsed_ms: number
    limit_ms: number
    taxonomy: 'ok' | 'capture_timeout' | 'inference_timeout' | 'deadline_exceeded'
  }[]
  /** Time without audio after which the session fails. */
  timeout_ms?: number
  /** Time for recognition. */
  transcribe_ms?: number
  /** Time limit for recognition. */
  inference_deadline_ms?: number
  /** Duration of the session. */
  wall_ms?: number
  /** Maximum duration. */
  max_duration_ms?: number
  /** Number of the utterance that has no result; the session continues. */
  utterance?: number
  /** End of that utterance in the audio. */
  end_ms?: number
}
export interface SpeechHeartbeatV1 {
  type: 'heartbeat'
  /** Id of the session. */
  correlation_id: string
  /** Time since the session began. */
  elapsed_ms: number
}
export interface SpeechRoutedV1 {
  type: 'routed'
  /** Id of the session. */
  correlation_id: string
  /** Number of the utterance, from 0. */
  utterance: number
  /** Text after polishing. */
  text: string
  /** What the text was used for. */
  route: {
    mode: 'none' | 'tool' | 'chat' | 'orchestrator' | 'clarify'
    action: string
    status: string
    payload: {[k: string]: unknown}
  }
  /** Correction of the text by a language model. */
  llm_refinement: {applied: boolean; [k: string]: unknown}
}

/** Result of svc merge --json. */
export interface MergeV1 {
  /** Path of the file written, or of the directory with --full. */
  output: string
  /** Path of the hand-off file; null if it could not be written, which a warning explains. */
  handoff: string | null
  /** True if the result is a complete model directory. */
  full: boolean
  /** Number of tensors written. */
  tensors: number
  /** Number of tensors changed by the adapters. */
  changed: number
  /** How the updates of the adapters were combined. */
  method?: 'linear' | 'ties' | 'dare'
  /** Number of adapters. */
  adapters?: number
  /** Total size of the tensors, in bytes. */
  bytes: number
  /** Dtypes of the tensors. */
  dtypes: string[]
  warnings: string[]
}

/** Result of svc pull --json. */
export interface PullV1 {
  /** Id of the model on the hub. */
  id: string
  /** Requested revision. */
  revision: string
  /** Commit of that revision. */
  commit: string
  /** Kind of the model; file if a single file was requested, other if svc cannot run the files in the cache. */
  kind: 'language' | 'speech' | 'file' | 'other'
  /** Directory that contains the files, or the requested file. */
  path: string
  /** Files of the model; empty if downloads are disabled. */
  files: {
    name: string
    bytes: number
    /** True if the file was already in the cache. */
    cached: boolean
  }[]
}

/** Result of svc list --json. */
export interface ListV1 {
  /** Directory of downloaded models. */
  folder: string
  /** Models of the workspace, then downloaded ones, in the order of their names. */
  models: {
    /** Name that --model accepts. */
    name: string
    /** Partial: an interrupted download. Other: svc cannot run it. */
    kind: 'language' | 'speech' | 'partial' | 'other'
    /** Size of its files; revisions can share files. */
    bytes: number
    /** Unix time of its last change. */
    modified_at_ms: number
    /** Commit of a downloaded model; null for a partial one and for a model of the workspace. */
    commit: string | null
    path: string
  }[]
}

/** Result of svc ps --json. */
export interface PsV1 {
  /** Base URL of the server. */
  server: string
  models: {
    /** Name that requests must use. */
    name: string
    /** Approximate memory. */
    memory_bytes: number | null
    /** Tokens. */
    context_length: number | null
    /** ISO 8601 time from which an idle model is unloaded; null if it stays loaded. */
    unloads_at: string | null
  }[]
}

/** Result of svc launch PROGRAM --print --json. */
export interface LaunchV1 {
  program: string
  /** Version of the program whose documentation the settings follow. */
  version: string
  /** Base URL of the server. */
  server: string
  /** Whether the server is running and has the model. */
  is_running: boolean
  /** Name of the model on the server. */
  model: string
  /** Tokens; null if it is not known. */
  context_length: number | null
  /** What the model lacks for the program. */
  warnings: string[]
  /** Variables to remove. */
  unset: string[]
  /** Variables to set. */
  env: {[k: string]: string}
  /** Variables to set to the API key, in addition to SVC_INFERENCE_API_KEY. */
  key_variables: string[]
  /** Executable and arguments. */
  command: string[]
  /** File that the program reads; null if there is none. */
  file: {
    /** Path in the command. */
    name: string
    /** Contents of the file. */
    text: string
  } | null
}

/** Result of svc launch --json without a program. */
export interface LaunchProgramsV1 {
  programs: {
    /** Argument of svc launch. */
    program: string
    title: string
    executable: string
    /** Version whose documentation the settings follow. */
    version: string
    /** Context length that the program needs, tokens. */
    context_length: number
    /** Command that installs the program. */
    install: string
  }[]
}

/** Result of svc stop --json. */
export interface StopV1 {
  /** Base URL of the server. */
  server: string
  /** Name of the model, as it was given. */
  model: string
  /** unloading: when its running replies end. */
  state: 'unloaded' | 'unloading' | 'not_loaded'
}

/** Result of svc adapter list --json. */
export interface AdapterListV1 {
  /** Base URL of the server. */
  server: string
  adapters: {
    /** Name that clients request. */
    name: string
    /** Size of its weights. */
    size_bytes: number
    /** Whether it stays in memory. */
    pinned: boolean
    /** Whether it is in memory. */
    loaded: boolean
  }[]
}

/** Result of svc adapter add --json. */
export interface AdapterAddV1 {
  /** Base URL of the server. */
  server: string
  /** Name of the adapter. */
  adapter: string
  state: 'added' | 'replaced'
}

/** Result of svc adapter remove --json. */
export interface AdapterRemoveV1 {
  /** Base URL of the server. */
  server: string
  /** Name of the adapter. */
  adapter: string
}

/** Result of svc adapter import --json. */
export interface AdapterImportV1 {
  /** Directory of the copy. */
  path: string
  /** Base model in its manifest. */
  base_model: string | null
  /** Number of weights that it updates. */
  updates: number
}

/** Result of svc model import --json. */
export interface ModelImportV1 {
  /** The written file. */
  path: string
  /** Directory or id of the model that gets other defaults. */
  from: string
  /** Parameters of the Modelfile that have no effect and were left out. */
  ignored: string[]
}

/** Result of svc rm --json. */
export interface RmV1 {
  /** Name of the deleted model. */
  name: string
  /** Where it was. */
  path: string
  /** Size of the deleted files. */
  bytes: number
}

/** Result of svc show --json and svc model check --json. */
export interface ShowV1 {
  /** Name of the model, as it was given. */
  name: string
  kind: 'language' | 'speech'
  path: string
  /** Family of the model, or its unsupported model_type. */
  family: string | null
  /** Size of its files with weights. */
  bytes: number | null
  parameters: number | null
  /** Tokens. */
  context_length: number | null
  /** Type of most weights in the files. */
  dtype: string | null
  /** Types of weights in a GGUF file, those with the most bytes first. */
  types?: {
    type: string
    weights: number
    bytes: number
    /** Error of rounding to 8 bits for w8, relative to the weights, from a sample; null if not measured. */
    w8_error: number | null
  }[]
  /** Whether an adapter is applied. */
  adapter: boolean
  /** Empty if the model cannot be run. */
  capabilities: ('completion' | 'chat' | 'tools' | 'thinking' | 'insert' | 'transcription')[]
  /** Approximate memory of the weights, without that of the context. */
  precisions: {
    precision: 'f32' | 'w8' | 'w4'
    bytes: number
    /** Whether this memory is available now. */
    fits: boolean
  }[]
  /** Precision that is chosen on this machine; null if the weights do not fit. */
  precision: 'f32' | 'w8' | 'w4' | null
  /** Licence in the model card, or first line of the licence file. */
  license: string | null
  /** What replies get unless a request or a flag says otherwise; absent if the model declares nothing. */
  defaults?: {
    /** System message of conversations without one. */
    system?: string
    /** File with the chat template. */
    template?: string
    stop?: string[]
    /** Number of messages before those of a conversation. */
    messages?: number
    parameters: {[k: string]: number}
  }
  /** What prevents that the model is run. */
  problems: {code: string; message: string; remediation: string}[]
}

/** Result of svc cache list --json. */
export interface CacheListV1 {
  /** Path of the cache. */
  folder: string
  /** Size of all entries. */
  bytes: number
  /** Entries in the order of their last use. */
  entries: CacheEntry[]
}

export interface CacheEntry {
  /** Path relative to the cache. */
  id: string
  /** Rounded copies of weights, a model in another format, the beginning of a prompt, or a remainder of an interrupted process. */
  kind: 'quantised' | 'converted' | 'prefix' | 'partial'
  /** Path of the model; null for a prefix and a partial entry. */
  model: string | null
  /** Name, version and parameters of the conversion; null for a prefix and a partial entry. */
  recipe: string | null
  bytes: number
  /** Unix time of the last use or, of a partial entry, of the last change. */
  last_used_at_ms: number
}

/** Result of svc cache prune --json. */
export interface CachePruneV1 {
  /** Path of the cache. */
  folder: string
  /** True if nothing was removed. */
  dry_run: boolean
  /** Size of the removed entries. */
  bytes: number
  /** Entries that were removed, or are to be removed with --dry-run, in the order of their last use. */
  removed: CacheEntry[]
  /** Entries that were kept because other processes of this machine use them. */
  used: {
    /** Path relative to the cache. */
    id: string
    /** Path of the model. */
    model: string | null
    users: {
      pid: number
      /** Program and the words of its command line, without options. */
      command: string
    }[]
  }[]
}

/** Result of svc init --json. */
export interface InitV1 {
  /** The settings file that was written. */
  path: string
}

/** Result of svc verify --json. It contains no path and no name of the user. */
export interface VerifyV1 {
  /** Id on Hugging Face, or the last component of the path. */
  model: string
  kind: 'language' | 'speech'
  /** Architecture, such as qwen2 or whisper. */
  family: string
  /** Precision of the weights in use. */
  precision: string
  device: string
  /** Number of weights; null if it is unknown. */
  parameters: number | null
  /** failed if a check failed; skipped checks prove nothing. */
  result: 'passed' | 'failed'
  checks: {
    name: string
    /** skipped: it does not apply to this model. */
    state: 'passed' | 'failed' | 'skipped'
    /** What was compared, and with which result. */
    found: string
    /** What the check proves if it passes. */
    proves: string
  }[]
  figures: {
    name: string
    /** null if it could not be measured. */
    value: number | null
    unit: string
  }[]
  machine: {
    /** Version of svc. */
    svc: string
    /** Version of Node.js. */
    node: string
    /** Version of ONNX Runtime. */
    runtime: string
    /** Operating system and architecture. */
    platform: string
    processor: string
    /** Number of compute threads. */
    threads: number
  }
}

/** Result of svc verify-receipt --json. */
export interface VerifyReceiptV1 {
  receipt: string
  /** verified: exit status 0; parts_differ: 4; reply_differs: 1, the parts are the same. */
  result: 'verified' | 'parts_differ' | 'reply_differs'
  /** The parts of the receipt, in its order. */
  parts: {
    part: 'base' | 'adapter' | 'precision' | 'template' | 'tokenizer' | 'program' | 'bytes' | 'sampling' | 'seed'
    /** unchecked: neither the files nor the request determine it. */
    state: 'same' | 'different' | 'unchecked'
    /** In the receipt. */
    stated: string
    /** As computed; null if it was not. */
    found: string | null
  }[]
  /** Null without a request. */
  reply: null | {
    state: 'same' | 'different'
    /** The first difference; null if there is none. */
    difference: null | {
      choice: number
      /** Offset in the text of the reply. */
      byte: number
    }
  }
}

/** Result of svc doctor --json. */
export interface DoctorV1 {
  checks: {
    name: string
    /** Comma-separated commands that need it, or all. */
    commands: string
    /** off: not installed, started or configured. */
    state: 'ok' | 'off' | 'failed'
    /** Finding of the check; the cause if the state is not ok. */
    value: string
    /** Command or instruction that fixes the problem. */
    fix: string | null
  }[]
  /** failed if any check failed. */
  result: 'ok' | 'failed'
}

/** Result of svc ask --json. */
export interface AskV1 {
  question: string
  /** What the configured model wrote from the passages; null without a model, or if it says that they do not answer the question. */
  answer: null | {
    model: string
    /** Answer, with the numbers of passages in brackets, from 1. */
    text: string
    /** Commands that the model wrote and that do not exist; [removed] in the text. */
    removed: string[]
  }
  /** Passages that fit the question, from different pages, the best first. */
  passages: {
    /** File of the package, such as docs/listen.md, or the command that prints the passage. */
    page: string
    /** Titles of the passage, the outermost first. */
    headings: string[]
    /** Part of the passage that answers the question, as Markdown. */
    text: string
    /** Commands of svc in the text. */
    commands: string[]
    /** How well it fits, in relation to the other passages only. */
    score: number
  }[]
}

/** Result of svc explain --json: the specified code, or all codes. */
export interface ExplainV1 {
  codes: {
    /** Error of a command or server, or diagnostic of the data language. */
    kind: 'error' | 'diagnostic'
    code: string
    severity: 'error' | 'warning'
    /** Exit status of a command that fails with this error. */
    exit: number | null
    /** HTTP status of a response with this error. */
    http: number | null
    cause: string
    fix: string
    /** Example message. */
    message: string
    /** Program that causes the diagnostic. */
    example: string | null
    /** The corrected program. */
    fixed: string | null
  }[]
}

/** Result of svc speech status --json. */
export interface SpeechStatusV1 {
  /** Speech engine and device, in one line. */
  summary: string
  /** Version of svc. */
  version: string
  /** True if the CUDA files of ONNX Runtime are installed. */
  cuda_feature_enabled: boolean
  /** True if SVC_SPEECH_CUDA requests a GPU. */
  cuda_requested_via_env: boolean
  /** How to use the GPU, if it is available but not requested. */
  inference_note: string | null
  /** Compute device. */
  device: 'cpu' | 'cuda'
  /** Requested precision of the weights. */
  precision: 'auto' | 'f32' | 'int8'
  /** Configured model; null if none is configured. */
  model: string | null
  /** Local directory of the configured model; null if it is not on this machine or none is configured. */
  model_dir: string | null
  /** Model in use: the configured, the default or the bundled starter model; null if there is none. */
  active_model: {
    name: string
    /** Local directory of the model. */
    dir: string
  } | null
  engine: {
    /** Engine of the model. */
    backend: 'onnx-whisper' | 'onnx-ctc'
    /** Environment variable of the model. */
    model_env: string
    /** Environment variable of the revision. */
    revision_env: string
    /** Environment variable that requests a GPU. */
    cuda_env: string
    /** Default model. */
    default_model: string
    default_revision: string
    /** True if the model supports languages other than English. */
    multilingual: boolean
    cuda_feature_enabled: boolean
    cuda_requested_via_env: boolean
    inference_note: string | null
  }
  /** Current settings. */
  runtime: {
    session_timing: {
      capture_timeout_ms: number
      max_duration_ms: number
      inference_deadline_ms: number
      heartbeat_ms: number
    }
    refine: {
      conservative_base: number
      balanced_base: number
      aggressive_base: number
      penalty_per_trace: number
      penalty_cap: number
      conf_min: number
      conf_max: number
    }
    routing: {
      tool_route_min_confidence: number
      chat_max_messages: number
      route_max_user_turns: number
      orchestrator_min_confidence: number
    }
    hf: {retry_attempts: number; retry_delay_ms: number}
    llm: {
      llm_refinement_default: boolean
      llm_min_det_confidence: number
      llm_max_output_tokens: number
      llm_deadline_ms: number
    }
    logit: {bias_strength: number; bias_max_tokens: number; constrained_trie: boolean; trie_stuck_steps: number}
  }
}

/** Result of svc speech doctor --json. */
export interface SpeechDoctorV1 {
  checks: {
    name: string
    ok: boolean
    /** Finding of the check; the fix if it is not ok. */
    value: string
  }[]
  /** ok if every check is ok. */
  result: 'ok' | 'failed'
}

/** Result of svc speech pull --json. */
export interface SpeechPullV1 {
  /** Id of the model on the hub. */
  id: string
  /** Requested revision. */
  revision: string
  /** Commit of that revision. */
  commit: string
  /** Directory that contains the files. */
  folder: string
  /** Files of the model; empty if downloads are disabled. */
  files: {
    name: string
    bytes: number
    /** True if the file was already in the cache. */
    cached: boolean
  }[]
}

/** Result of svc speech subtitle --json. */
export interface SpeechSubtitleV1 {
  /** Absolute path of the recording. */
  path: string
  /** Path of the subtitle file; null for standard output. */
  output_path: string | null
  format: 'srt' | 'vtt'
  /** Number of subtitle blocks. */
  blocks: number
  /** Code of the spoken language; empty if there is no speech. */
  language: string
  duration_ms: number
  /** Number of the transcribed audio track; only for files that can have several. */
  audio_track?: number
  /** Audio tracks of the file. */
  audio_tracks?: {
    number: number
    /** Language as in the file, such as ger. */
    language: string | null
    title: string | null
    /** True if the file marks it as the track to play. */
    default: boolean
  }[]
  /** Only present with a reference. */
  comparison?: {
    word_error_rate: number
    character_error_rate: number
    /** Mean time difference between the start and end times of matching blocks, in milliseconds. */
    timing_offset_ms: number
  }
}

/** Result of svc speech corpus mix --json. */
export interface SpeechCorpusMixV1 {
  /** unchanged: an earlier run has already written this output. */
  state: 'mixed' | 'unchanged'
  /** Absolute path of the output. */
  output: string
  /** Absolute path of the report. */
  report: string
  output_lines: number
  sources: CorpusMixSourceResult[]
}

export interface CorpusMixSourceResult {
  /** Path as written in the mix file. */
  path: string
  record_format?: 'asr_refine' | 'speech_to_code' | 'tool_trace' | 'workflow_trace'
  /** SHA-256 of the file; null if it is missing or not read. */
  sha256: string | null
  weight: number
  sample_rate: number
  /** How many times the source is repeated. */
  repeats: number
  /** Lines of the file that are not blank. */
  input_lines: number
  /** Lines that are not valid rows. */
  invalid_lines: number
  /** Rows whose lane is excluded or not included. */
  dropped_lines: number
  /** Rows of the output, repetitions included. */
  emitted_lines: number
  /** Why the source has no rows in the output. */
  skipped_reason?: 'missing_file' | 'missing_file_optional' | 'weight_zero' | 'empty_file' | 'no_lines_passed_filters'
  share_of_output: number
}

/** Input of svc speech corpus mix: the sources of a training corpus and how often each is repeated. */
export interface CorpusMix {
  sources: CorpusMixSource[]
  /** File to write, one JSON object per line. */
  output: string
  /** Lanes of the rows to write; default: svc_codegen. */
  include_lanes?: string[]
  /** Lanes of rows to drop, even if they are included. */
  exclude_lanes?: string[]
}

export interface CorpusMixSource {
  /** File with one JSON object per line. */
  path: string
  /** How many times the source is repeated, rounded up; default: 1. A weight of 0 or less skips the source. */
  weight?: number
  /** Format of the rows; without it they are copied unchanged. */
  record_format?: 'asr_refine' | 'speech_to_code' | 'tool_trace' | 'workflow_trace'
  /** True if the file may be missing; default: false. */
  optional?: boolean
  /** Probability that a row is written; default: 1. */
  sample_rate?: number
}

/** Report that svc speech corpus mix writes next to its output, from which the next run sees whether anything changed. */
export interface CorpusMixReport {
  schema_version: '1'
  /** Name of the output file. */
  output: string
  /** SHA-256 of the mix with its defaults. */
  config_sha256: string
  output_sha256: string
  output_lines: number
  sources: CorpusMixSourceResult[]
}

/** Result of svc speech eval --json. */
export interface SpeechEvalV1 {
  dataset: string
  normalizer: 'none' | 'basic' | 'english'
  samples: {
    path: string
    expected: string
    actual: string
    word_errors: number
    words: number
    /** Word error rate after normalisation. */
    wer: number
    /** Character error rate after normalisation. */
    cer: number
    confidence: number
    /** Mean token probability. */
    asr_confidence?: number
    /** Without the time to load the model. */
    latency_ms: number
    /** Error code, if the recording could not be transcribed. */
    error?: string
  }[]
  /** Error rates of the text as written. */
  raw: Rates
  /** Error rates after normalisation. */
  normalized: Rates
  mean_latency_ms: number
  /** Word error rate over words that could be identifiers, of the text as written. */
  symbol_error_rate: number
  calibration: {confidence: ConfidenceCalibration; asr_confidence: ConfidenceCalibration}
  median_latency_ms: number
  /** 95 % of the recordings took no longer. */
  p95_latency_ms: number
  /** Comparison with the limits of quality; only present with SVC_SPEECH_CANARY_KPI. */
  kpi?: {
    passed: boolean
    metrics: {
      metric: string
      value: number
      limit: number
      ok: boolean
      /** Value in the file of SVC_SPEECH_CANARY_KPI. */
      baseline?: number
    }[]
  }
  /** Only present with --save. */
  saved?: {
    run_id: string
    /** Comparison with the previous run of the same dataset, model and normalisation; null if there is none. */
    previous: SpeechEvalComparison | null
  }
}

export interface Rates {
  /** Word errors of all recordings divided by their words. */
  wer: number
  cer: number
  errors: number
  words: number
  substitutions: number
  insertions: number
  deletions: number
}

export interface ConfidenceCalibration {
  /** Recordings with this confidence. */
  count: number
  /** Tenths of the confidence that contain recordings. */
  bins: {
    from: number
    to: number
    count: number
    mean_confidence: number
    /** Share of recordings without errors. */
    exact: number
    /** Mean of 1 - wer, at least 0. */
    word_accuracy: number
  }[]
  /** Mean difference between confidence and word accuracy of the bins, weighted by their recordings. */
  expected_calibration_error: number
}

export interface SpeechEvalComparison {
  run_id: string
  /** Unix time in seconds. */
  created_at: number
  /** This run minus the previous one; negative is better. */
  wer_delta: number
  cer_delta: number
  /** Difference of the mean latencies. */
  latency_ms_delta: number
  /** Recordings with a lower word error rate. */
  better: string[]
  /** Recordings with a higher word error rate. */
  worse: string[]
}

/** Result of svc speech eval --history --json: saved runs, newest first. */
export interface SpeechEvalHistoryV1 {
  runs: SpeechEvalRun[]
}

export interface SpeechEvalRun {
  run_id: string
  run_type: 'general_subtitle' | 'code_domain'
  /** whisper or ctc; text if only texts were read. */
  backend: string
  model_id: string
  /** Absolute path of the dataset. */
  dataset_name: string
  normalizer: 'none' | 'basic' | 'english'
  sample_count: number
  total_ref_words: number
  total_wer_errors: number
  global_wer: number
  global_cer: number
  avg_latency_ms: number
  /** Unix time in seconds. */
  created_at: number
}

/** Result of svc db check --json. */
export interface DbCheckV1 {
  files: number
  errors: number
  warnings: number
  diagnostics: {
    /** Code of the form category.problem. */
    error_code: string
    severity: 'error' | 'warning'
    category: 'parse' | 'typecheck' | 'lint'
    message: string
    file_path: string
    span: SourceSpan
    ast_node_kind: null
    missing_cases: string[]
    expected_type: string | null
    found_type: string | null
    correction_hints: string[]
    suggested_fixes: {label: string; replacement: string; span: SourceSpan}[]
    related_spans: {message: string; span: SourceSpan}[]
  }[]
}

/** Lines and columns start at 1, columns count UTF-16 code units; the end is exclusive. */
export interface SourceSpan {
  start_line: number
  start_col: number
  end_line: number
  end_col: number
}

/** Result of svc db explain --json. */
export interface DbExplainV1 {
  file: string
  query_filter: string | null
  query_function_count: number
  plan_count: number
  plans: {
    query_fn: string
    route_path: string | null
    plan: {
      fn: string
      table: string
      op: string
      predicate: {[k: string]: unknown} | null
      projection: string[] | null
      order_by: string[][]
      has_limit: boolean
      capabilities: {
        requires_sync: boolean
        retrieval_mode?: 'fts' | 'vector' | 'hybrid'
        live_topic?: string
        emits_change_log: boolean
        orchestration_scope?: string
      }
      retrieval?: string
      sql: string
    }
  }[]
}

/** Result of svc db build --json and svc db client --json. */
export interface DbFilesV1 {
  folder: string
  files: string[]
}

/** Result of svc db fmt --json. */
export type DbFmtV1 = {file: string; changed: boolean}[]

/** Result of svc db migrate --json. */
export interface DbMigrateV1 {
  database: string
  up_to_date: boolean
  steps: MigrationStep[]
  applied: number
  left: number
  /** Path of a copy of the database before the migration. */
  backup?: string
  /** Paths of older backups that were removed. */
  removed_backups?: string[]
}

/** A step of the migration from a database to a program. */
export interface MigrationStep {
  action:
    | 'create_table'
    | 'add_column'
    | 'change_column'
    | 'rebuild_table'
    | 'create_index'
    | 'drop_index'
    | 'drop_column'
    | 'drop_table'
  /** auto: applied automatically; needs_default, rebuild: applied with the flag in resolve_with; manual: applied only if named. */
  class: 'auto' | 'needs_default' | 'rebuild' | 'manual'
  /** True if the program does not work without the step. */
  blocking: boolean
  table?: string
  column?: string
  index?: string
  /** Current definition of a changed column. */
  from?: string
  /** New definition of a changed column. */
  to?: string
  sql?: string
  /** Why the step cannot be applied automatically, with the first affected rows. */
  reason?: string
  /** Flag of svc db migrate that applies the step. */
  resolve_with?: string
}

/** Result of svc db test --json. */
export interface DbTestV1 {
  tests: {
    name: string
    status: 'passed' | 'failed'
    reason?: string
    message?: string
    /** Line of the failed assertion, or of the failed test if no assertion failed. */
    line?: number
    duration_ms: number
  }[]
  passed: number
  failed: number
}

/** Result of svc db seed --json and svc db import --json. */
export interface DbWrittenV1 {
  database: string
  written: number
}

/** Result of svc db status --json. */
export interface DbStatusV1 {
  file: string
  size_bytes: number
  journal_mode: string
  tables: {name: string; rows: number}[]
  last_migration: {applied_at: string; source_digest: string} | null
  pending: MigrationStep[]
}

/** Result of svc db metrics --json. */
export type DbMetricsV1 = {
  /** Topic in the change log, or session of a metric. */
  group: string
  kind: string
  count: number
  first_at: string
  last_at: string
}[]

/** Result of svc db prune --json. */
export interface DbPruneV1 {
  database: string
  /** codex_change_log, or research_metrics with --store. */
  table: string
  /** Retention of that table. */
  days: number
  /** Old rows of that table. */
  rows: number
  /** With --store: all tables of the retention policy. */
  tables?: {
    table: string
    kind: 'keep_forever' | 'manual' | 'days' | 'ms_days' | 'expires_lt_now'
    /** Null if the kind has no age. */
    days: number | null
    /** Rows that are deleted with --apply. */
    rows: number
  }[]
  applied: boolean
}

/** How long the rows of each table of the workspace store are kept. */
export interface RetentionPolicy {
  version: 1
  tables: {[k: string]: RetentionRule}
}

export type RetentionRule =
  | {kind: 'keep_forever' | 'manual'; description?: string}
  | {
      kind: 'days' | 'ms_days'
      days: number
      time_column: string
      /** SQL condition that the deleted rows also meet. */
      condition?: string
      /** Tables whose rows are deleted with the rows, and their column that refers to the rows. */
      parts?: {[k: string]: string}
      description?: string
    }
  | {kind: 'expires_lt_now'; time_column: string; description?: string}

/** Result of svc db vacuum --json. */
export interface DbVacuumV1 {
  database: string
  bytes_before: number
  bytes_after: number
}

/** Result of svc db backup --json. */
export interface DbBackupV1 {
  database: string
  /** The backup, a complete SQLite database. */
  file: string
  /** app: the database of a program. store: a workspace store. mesh: the database of a control plane. */
  kind: 'app' | 'store' | 'mesh'
  bytes: number
  sha256: string
}

/** Result of svc db restore --json. */
export interface DbRestoreV1 {
  database: string
  /** The backup that was restored. */
  file: string
  kind: 'app' | 'store' | 'mesh'
  /** The replaced database, kept as a backup; null if there was none. */
  backup: string | null
}

/** Result of svc db reset --json. */
export interface DbResetV1 {
  database: string
  backup: string | null
}

/** Result of svc mesh init --json. */
export interface MeshInitV1 {
  /** Path of the file written. */
  path: string
  /** Names of the variables set in the file. */
  written: string[]
  /** Those variables that a source of higher precedence, such as the environment, also sets. */
  overruled: string[]
  /** Scope of the mesh; null if it has none. */
  scope_id: string | null
  /** One-time token for a new node; the only secret that is printed. */
  bootstrap_token: string
  /** Expiry time of the token, in Unix milliseconds. */
  bootstrap_expires_unix_ms: number
  /** Command to run on the other machine; it contains the token. */
  join_command: string
}

/** How a spoken request became code: a line of a trace file. */
export interface SpeechTrace {
  schema_version: '1'
  session_id: string
  correlation_id?: string
  /** Recognised text before refinement. */
  raw_transcript?: string
  /** Text after refinement. */
  refined_transcript: string
  /** Alternative readings, best first; absent if there is only one. */
  transcript_alternatives?: string[]
  intent_action?: string
  intent_slots?: {[k: string]: unknown}
  repair_attempts?: number
  compile_ok?: boolean
  failure_category?: FailureCategory
  diagnostics_snapshot?: TraceDiagnostic[]
  [k: string]: unknown
}

/** acoustic: microphone, noise, clipping. lexical: wrong word or identifier. syntactic: the text maps to invalid code. semantic: valid, but wrong. orchestration: routing, timeouts, policy. */
export type FailureCategory = 'acoustic' | 'lexical' | 'syntactic' | 'semantic' | 'orchestration' | 'unknown'

export interface TraceDiagnostic {
  message: string
  code?: string
  category?: string
  severity?: 'error' | 'warning'
  start_line?: number
  start_character?: number
  [k: string]: unknown
}

/** Measured quality of speech recognition and of code from speech. */
export interface KpiBaseline {
  schema_version: '1'
  captured_at_utc: string
  correlation_id?: string
  /** Word error rate. */
  wer?: number
  /** Character error rate. */
  cer?: number
  /** Share of programs that compile at the first attempt. */
  compile_pass_at_1?: number
  /** Share of programs that compile after repairs. */
  compile_pass_at_k?: number
  /** Share of programs that do what was said. */
  semantic_pass_rate?: number
  latency_ms_median?: number
  latency_ms_p95?: number
  notes?: string
  [k: string]: unknown
}

/** A recognised text and its correction: a line of a corpus that trains a model to correct transcripts. */
export interface AsrRefinePair {
  /** Text as recognised. */
  noisy_text: string
  /** Text as it should be. */
  corrected_text: string
  category?: string
  /** Quality of the pair; 5 is best. */
  rating?: number
  /** Origin of the pair, such as synthetic. */
  source?: string
  [k: string]: unknown
}

/** The hand-off file external_serving_handoff_v1.json: the information that an external runtime needs to serve an artifact. */
export interface ExternalServingHandoffV1 {
  schema: 'svc_external_serving_handoff_v1'
  schema_version: 1
  backend_family: 'vllm' | 'ollama' | 'hf-transformers' | 'openai-compatible' | 'other'
  base_model: string
  /** Path of tokenizer.json, or a source for it. */
  tokenizer_source: string
  /** Directory that contains the artifact. */
  artifact_dir: string
  /** Format that converts a chat to a prompt. */
  prompt_format: string
  adapter_path?: string | null
  openai_base_url?: string | null
  notes?: string | null
}

/** Estimate of the information in a source: result of svc bench syntax-k --json, and details of a syntax_k_event. */
export interface SyntaxKEvent {
  schema_version: 1
  /** Id of the source. */
  fixture_id: string
  /** Kind of the source, such as svc or ts. */
  target_kind: string
  /** SHA3-256 of the source. */
  source_hash?: string
  /** SHA3-256 of the intermediate representation, if there is one. */
  web_ir_hash?: string
  raw_bytes: number
  /** Smallest compressed size. */
  k_est_bytes: number
  compressor_results: {
    name: 'zstd' | 'bzip2' | 'gzip'
    /** Compressor and level, such as gzip:best. */
    profile: string
    compressed_bytes: number
    /** Compressed bytes divided by raw bytes. */
    ratio: number
  }[]
  /** Normalised compression distance from a baseline; near 0: equal, near 1: unrelated. */
  ncd_vs_baseline?: {per_compressor: {name: 'zstd' | 'bzip2' | 'gzip'; value: number}[]; median: number}
  support_metrics?: {
    /** The stages of the data language that accept the source. */
    representability?: {
      parse_ok: boolean
      /** The program has no errors. */
      hir_ok: boolean
      /** The description of its routes can be derived. */
      web_ir_validate_ok: boolean
      /** Its client can be generated; null if an earlier stage failed. */
      emit_preview_ok: boolean | null
      /** Such as parse or hir. */
      first_failing_stage: string | null
      [k: string]: unknown
    }
    llm_surface?: {[k: string]: unknown}
    runtime_projection?: {[k: string]: unknown}
    [k: string]: unknown
  }
  toolchain_fingerprint: {
    /** Program and version, such as svc 0.1.0. */
    compiler: string
    compressor_profiles: string[]
    /** Such as linux-x64. */
    platform?: string
    timestamp_unix_ms?: number
    [k: string]: unknown
  }
}

/** First line of svc mesh serve --json. */
export interface MeshReadyV1 {
  event: 'ready'
  /** URL for clients of the control plane. */
  base_url: string
  pid: number
  /** Authentication: open to all clients, or by tokens with roles. */
  auth: 'open' | 'tokens'
  /** Path of the database file, or server and name of the PostgreSQL database. */
  db: string
}

/** A submitted task; in a batch, an element of the array. */
export interface SubmitTaskV1 {
  description: string
  /** Priority: background, normal or urgent. */
  priority?: string
  file_manifest?: {
    path: string
    /** Access: read or write. */
    access: string
  }[]
  /** Alias of file_manifest; use only one of them. */
  files?: {
    path: string
    /** Access: read or write. */
    access: string
  }[]
  /** Ids of tasks that must be completed first. */
  depends_on?: number[]
  /** In a batch: indexes, from 0, of tasks that must be completed first. */
  temp_deps?: number[]
  /** Name of the agent; spawned if missing. */
  target_agent?: string
  processor?: 'ai' | 'exec' | 'external'
  exec?: {
    /** Command template of the workspace. */
    template: string
    params?: {[k: string]: string}
    /** Environment variables of the daemon to pass to the command; orchestrator.exec.secrets must list them. */
    secrets?: string[]
  }
  /** Capabilities that its agent must have, such as gpu_cuda or labels. */
  capability_requirements?: {[k: string]: unknown}
  enqueue_hints?: {
    task_category?: string
    /** Complexity from 1 to 10. */
    complexity?: number
    execution_role?: string
    model_preference?: string
    model_override?: string
    campaign_id?: string
    benchmark_tier?: string
    thread_id?: string
    trace_id?: string
    tenant_id?: string
    budget?: {max_cost_usd?: number; max_latency_ms?: number}
    /** What happens if the node that runs the task is lost; overrides the workspace. */
    lost_node?: {
      /** Time without a heartbeat after which the node is lost, in milliseconds. */
      after_ms?: number
      /** Wait for another node instead of running the task here. */
      replace?: boolean
      /** Whose result counts if the node returns after another one has started the task. */
      reconcile?: 'keep_original' | 'keep_replacement'
    }
    tool_hints?: string[]
    research_hints?: string[]
    required_labels?: string[]
    active_skill?: string
    is_detached?: boolean
    requires_approval?: boolean
    /** Alias of harness_spec_json. */
    harness_spec_json?: string
    /** How well sources support an answer. */
    socrates_context?: {[k: string]: unknown}
  }
  /** Acceptance lines: conditions that the finished work meets. */
  accept?: string[]
  /** JSON text that matches the contract orchestration/harness-spec.v1. */
  harness_spec_json?: string
  /** JSON text that matches the contract orchestration/context-envelope.v1; excludes retrieval. */
  context_envelope_json?: string
  /** Answer of the retrieval that the task is based on; excludes context_envelope_json. */
  retrieval?: {[k: string]: unknown}
  requires_approval?: boolean
  /** Whether the work should be tested. (default: decided by orchestrator.test_decision_policy) */
  test_decision?: 'required' | 'recommended' | 'deferred' | 'skip'
  /** Submit the goal as one task (direct), as a plan (force_plan), or as a workflow (workflow_only); auto, the default, follows the settings. Not in a batch. */
  planning_mode?: 'auto' | 'direct' | 'force_plan' | 'workflow_only'
  /** Type of the goal; recorded with the planning decision. */
  goal_type?: string
  /** Scope of the goal; recorded with the planning decision. */
  goal_scope?: string
  /** Maximum number of steps in sequence, if the goal is planned. */
  max_plan_depth?: number
  /** Timeout of one run in milliseconds; overrides the limits of the workspace. */
  task_timeout_ms?: number
  /** Maximum number of retries after a failure; overrides max_task_retries. */
  retries?: number
  /** Earliest start time, in Unix milliseconds. */
  not_before_ms?: number
  session_id?: string
  journey_id?: string
  thread_id?: string
  trace_id?: string
  correlation_id?: string
  tenant_id?: string
  /** The same key returns the same task. */
  idempotency_key?: string
}

/** Result of svc orch submit --json; for a batch, one per line. */
export interface OrchAcceptedV1 {
  task_id: number
  display_id: string
  uid: string
  agent_id: number
  agent_name: string
  status: TaskLabel
  placement_reason: PlacementReason
  trace_id: string
  /** Sentences about files outside the scope of the agent, and about a suspicious description. */
  conflict_warnings?: string[]
  /** Id of the plan that was made of the goal; the task is its first one. */
  plan_session_id?: string
  /** Ids of the tasks of the plan that were submitted. */
  task_ids?: number[]
  /** Ready steps of the plan that were not submitted; they are retried automatically. */
  held?: {node_id: string; code: string; reason: string}[]
  /** True if a task with the same key existed already. */
  duplicate?: true
  orchestration_contract?: 'v2'
}

/** Status of a task; RemoteHold is a task in progress on another node. */
export type TaskLabel =
  | 'Queued'
  | 'InProgress'
  | 'Blocked'
  | 'BlockedOnApproval'
  | 'Doubted'
  | 'Completed'
  | 'Failed'
  | 'Cancelled'
  | 'RemoteHold'

/** Reason for the placement of a task. */
export type PlacementReason =
  | 'local_queue_default'
  | 'populi_remote_lease_hold'
  | 'local_queue_fallback_after_remote_relay_error'
  | 'local_queue_fallback_insufficient_vram'

/** Result of svc orch submit --json for a goal that a workflow works on. */
export interface OrchHandedOffV1 {
  plan_session_id: string
  strategy: 'workflow_handoff'
  /** Status of the plan. */
  status: 'active'
  /** Empty: the workflow submits its own tasks. */
  task_ids: number[]
}

/** A task, as printed by svc orch task --json and by commands that change a task. */
export interface OrchTaskV1 {
  id: number
  /** Display id, such as T-0042. */
  display_id: string
  /** Id that is unique across all stores. */
  uid: string
  repository_id: string
  idempotency_key?: string
  status: TaskLabel
  /** Why the task failed or was doubted, cancelled or requeued. */
  status_reason?: string
  /** Id of the task that it waits for. */
  blocked_on?: number
  agent_id: number
  agent_name: string
  priority: 'background' | 'normal' | 'urgent'
  description: string
  category: string
  /** Complexity from 1 to 10. */
  complexity: number
  /** NAME of [PHASE:NAME] in the description, else single_shot. */
  phase_label: string
  execution_role?: 'planner' | 'builder' | 'verifier' | 'reproducer' | 'researcher'
  processor: 'ai' | 'exec' | 'external'
  exec?: {
    template: string
    params: {[k: string]: string}
    /** Names of the secrets of the command. */
    secrets?: string[]
  }
  file_manifest: ManifestEntry[]
  /** Ids of tasks that must be completed first. */
  depends_on: number[]
  /** Capabilities that its agent must have. */
  capability_requirements?: Capabilities
  model_preference?: string
  model_override?: string
  benchmark_tier?: string
  budget?: {max_cost_usd?: number; max_latency_ms?: number}
  /** What happens if the node that runs the task is lost; missing members are those of the workspace. */
  lost_node?: {after_ms?: number; replace?: boolean; reconcile?: 'keep_original' | 'keep_replacement'}
  /** What must be shown for the task to be done. */
  harness?: {
    /** Checks that must pass. */
    required_checks: {
      /** Command template that runs the check. */
      check: string
      /** Patterns of the files that the check covers. (default: all files of the task) */
      covers?: string[]
    }[]
    /** Files that the task must create or change, relative to the workspace root. */
    required_artifacts: string[]
    /** Acceptance lines: conditions that the finished work meets. */
    accept: string[]
  }
  tool_hints: string[]
  research_hints: string[]
  active_skill?: string
  is_detached: boolean
  placement_reason: PlacementReason
  /** Node that runs the task. */
  remote_delegate?: {
    idempotency_key: string
    lease_id?: string
    /** Node id under which this workspace holds the lease. */
    claimer_node_id?: string
    fence_token?: number
    /** Node that has started the task. */
    worker_node_id?: string
  }
  /** Claim of the external worker. */
  claim?: {
    owner: string
    generation: number
    /** Expiry of the claim unless it is extended, in Unix milliseconds. */
    expires_at_ms: number
  }
  /** Generation of the latest claim or run; results of earlier generations are rejected. */
  generation: number
  current_phase?: 'inspect' | 'localize' | 'hypothesize' | 'act' | 'verify' | 'decide'
  transcript: {agent_id: number; agent_name: string; message: string; timestamp_ms: number}[]
  /** Result of the task; its processor can add members. */
  result?: {text: string; [k: string]: unknown}
  /** Output of its command in the latest run. */
  output?: {
    /** Standard output and standard error; a line reports the number of missing bytes. */
    text: string
    /** Total size of the output, in bytes. */
    bytes: number
    /** Number of bytes omitted between the beginning and the end. */
    missing_bytes: number
  }
  audit_report?: string
  /** Digest of the evidence with which it was completed; svc orch verify recomputes it. */
  receipt?: string
  /** Id of the plan to which it belongs. */
  plan_session_id?: string
  /** Id of its step in the plan. */
  plan_node_id?: string
  /** Latest version of the plan with this step. */
  plan_version?: number
  /** Whether the work should be tested; deferred if the files that it changes are not known yet. */
  test_decision?: 'required' | 'recommended' | 'deferred' | 'skip'
  /** Reason for the test decision. */
  test_rationale?: string
  approval_tier?: 'auto_approve' | 'confirm' | 'review' | 'blocked'
  /** Attention that the task takes, as a multiple of one interruption; only with attention_enabled. */
  attention_weight?: number
  evaluation?: Evaluation
  retry_count: number
  debug_iterations: number
  toestub_iterations: number
  socrates_iterations: number
  handoff_count: number
  /** Time of submission, in Unix milliseconds. */
  created_at_ms: number
  /** Time of the last change, in Unix milliseconds. */
  updated_at_ms: number
  /** Time of the last start, in Unix milliseconds. */
  started_at_ms?: number
  /** Time at which it finished, in Unix milliseconds. */
  finished_at_ms?: number
  /** Timeout of one run, in milliseconds. */
  task_timeout_ms?: number
  /** Maximum number of retries after a failure. */
  retries?: number
  /** Earliest start time, in Unix milliseconds. */
  not_before_ms?: number
  journey_id?: string
  session_id?: string
  thread_id?: string
  /** W3C trace id if possible; generated if the caller passes none. */
  trace_id: string
  correlation_id?: string
  tenant_id?: string
  campaign_id?: string
}

/** A file that a task reads or writes. The path is relative to the workspace root and uses /. */
export interface ManifestEntry {
  path: string
  access: 'read' | 'write'
}

/** Capabilities that an agent has or a task requires. */
export interface Capabilities {
  gpu_cuda: boolean
  gpu_metal: boolean
  gpu_vulkan: boolean
  gpu_webgpu: boolean
  npu: boolean
  visual_eligible: boolean
  multi_modal: boolean
  /** Preference of a task: an agent without an accelerator loses routing points but can still run it. */
  prefer_gpu_compute: boolean
  /** Device class: server, desktop, mobile, browser or any other word. */
  device_class?: string
  /** Accelerator memory in MiB that an agent offers or a task requires. */
  min_vram_mb?: number
  /** CPU cores that a task requires. */
  min_cpu_cores?: number
  /** Number of logical CPUs of an agent. */
  cpu_cores?: number
  /** CPU architecture, such as x86_64 or aarch64. */
  arch?: string
  hostname?: string
  routing_tier?: string
  /** Results of the agent need strong evidence even if the Socrates gate is off. */
  is_low_confidence_bypass_blocked?: boolean
  /** Labels, key=value by convention; an agent must have all labels of a task. */
  labels: string[]
}

/** The latest evaluation of the completion gates, with its evidence. */
export interface Evaluation {
  outcome: 'completed' | 'requeued' | 'failed' | 'pending'
  /** Gate that did not accept the result. */
  gate?: string
  iteration?: number
  cap?: number
  /** Start of the work: the first claim, in Unix milliseconds. */
  since_ms: number
  evaluated_at_ms: number
  gates: GateResult[]
  files: {
    path: string
    /** absent: the file does not exist, and the task did not delete it. */
    change: 'created' | 'modified' | 'deleted' | 'unchanged' | 'absent'
    /** Who lists the file. */
    listed: 'task' | 'agent'
    bytes: number
    /** SHA-256 in hexadecimal. */
    digest?: string
    /** Time of the last write, in Unix milliseconds. */
    written_at_ms: number
  }[]
  checks: {
    check: string
    grade: Grade
    passed: boolean
    reason?: string
    exit_code?: number
    started_at_ms?: number
    finished_at_ms?: number
    /** SHA-256 in hexadecimal. */
    output_digest?: string
    /** Task that ran the check. */
    task_id?: number
  }[]
  /** Required checks, artifacts and acceptance lines. */
  owed: {
    kind: 'check' | 'artifact' | 'accept'
    item: string
    /** void: the evidence failed or is older than the last write; unverified: only the agent says so. */
    state: 'met' | 'owed' | 'void' | 'unverified'
    grade?: Grade
    /** Why the state is not met. */
    reason?: string
    /** Time of the evidence, in Unix milliseconds. */
    at_ms?: number
    /** The check or the file that is the evidence. */
    source?: string
  }[]
  observations: Finding[]
  scan: ScanReport
}

/** The result of a completion gate. */
export interface GateResult {
  gate:
    | 'behavioral'
    | 'research'
    | 'approval'
    | 'trust'
    | 'harness'
    | 'toestub'
    | 'links'
    | 'grounding'
    | 'socrates'
    | 'hidden'
  /** relaxed: the gate failed, but the agent is exempt because of its reliability. */
  verdict: 'pass' | 'fail' | 'relaxed'
  /** The gate is only recorded and prevents nothing. */
  shadow: boolean
  findings: Finding[]
  /** Values of the gate, such as a confidence. */
  details?: {[k: string]: unknown}
}

/** Something that a check found. */
export interface Finding {
  /** Stable id, such as stub/todo-comment. */
  rule: string
  /** Errors and critical findings prevent completion; findings from before the task are info. */
  severity: 'info' | 'warning' | 'error' | 'critical'
  path?: string
  line?: number
  message: string
}

/** Grade of evidence: the agent claims it, reports a check, svc observed it, or svc ran the check. */
export type Grade = 'claimed' | 'reported' | 'observed' | 'verified'

/** Findings in the files that the task wrote. */
export interface ScanReport {
  passed: boolean
  error_count: number
  warning_count: number
  findings: Finding[]
}

/** Result of svc orch cancel --json and svc orch retry --json for several tasks. */
export interface OrchOutcomesV1 {
  /** True if nothing was changed; the statuses are those that the tasks would have. */
  dry_run: boolean
  /** Number of tasks with an error. */
  failed: number
  tasks: {
    task_id: number
    display_id: string
    /** New status of the task, if it was changed. */
    status?: string
    /** Why the task was not changed. */
    error?: {code: string; message: string; remediation: string}
  }[]
}

/** Result of svc orch session create --json: a chat session without its turns. */
export interface OrchSessionInfoV1 {
  id: string
  /** Name of the agent. */
  agent_id: string
  tenant_id: string | null
  state: 'active' | 'idle' | 'compacted' | 'archived'
  /** Number of turns ever added. */
  turn_count: number
  /** Tokens of all these turns. */
  token_count: number
  /** Unix seconds. */
  created_at: number
  /** Unix seconds. */
  last_active: number
}

/** Result of svc orch session show --json. */
export interface OrchSessionV1 {
  id: string
  /** Name of the agent. */
  agent_id: string
  tenant_id: string | null
  state: 'active' | 'idle' | 'compacted' | 'archived'
  /** Number of turns ever added. */
  turn_count: number
  /** Tokens of all these turns. */
  token_count: number
  /** Unix seconds. */
  created_at: number
  /** Unix seconds. */
  last_active: number
  meta: {[k: string]: string}
  /** The latest turns since the last reset or compaction, oldest first. */
  turns: {
    role: string
    content: string
    tokens: number
    /** Unix seconds. */
    at: number
  }[]
}

/** Result of svc orch session list --json. */
export interface OrchSessionsV1 {
  sessions: {
    id: string
    /** Name of the agent. */
    agent_id: string
    tenant_id: string | null
    state: 'active' | 'idle' | 'compacted' | 'archived'
    /** Number of turns ever added. */
    turn_count: number
    /** Tokens of all these turns. */
    token_count: number
    /** Unix seconds. */
    created_at: number
    /** Unix seconds. */
    last_active: number
  }[]
}

/** Result of svc orch session reset --json. */
export interface OrchSessionResetV1 {
  session_id: string
  turns_cleared: number
}

/** Result of svc orch session compact --json. */
export interface OrchSessionCompactV1 {
  session_id: string
  turns_removed: number
  summary: string
}

/** Result of svc orch session cleanup --json. */
export interface OrchSessionCleanupV1 {
  /** Ids of the removed sessions. */
  removed: string[]
}

/** Result of svc orch stop --emergency --json. */
export interface OrchStopV1 {
  /** Ids of the tasks that were running; they are queued again. */
  requeued: number[]
}

/** Result of svc orch start --json. */
export interface OrchStartV1 {
  /** False if there was no emergency stop. */
  was_stopped: boolean
}

/** Result of svc orch prune --json. */
export interface OrchPruneV1 {
  /** True if nothing was removed. */
  dry_run: boolean
  /** Number of tasks removed, or to remove with --dry-run. */
  removed: number
  /** Number of finished tasks of that age that are kept, by reason. */
  kept: {
    /** A kept task may still need them. */
    dependency: number
    /** Their plan is unfinished. */
    plan: number
    /** A task of their journey is unfinished. */
    journey: number
    /** Their command is still being stopped. */
    run: number
  }
}

/** Result of svc orch attention --json. */
export interface OrchAttentionV1 {
  budget: AttentionBudget
  /** The latest attention events, newest first. */
  events: AttentionEvent[]
}

export interface AttentionBudget {
  /** Value of attention_enabled; while it is false, nothing is counted. */
  enabled: boolean
  max_attention_ms: number
  /** Attention spent since the start of the period. */
  spent_ms: number
  /** Share of the budget that is spent; exhausted from 1. */
  spent_ratio: number
  /** high: above the alert threshold; critical: exhausted. */
  signal: 'normal' | 'high' | 'critical'
  /** How often the user is interrupted; questions cost more with depth. */
  focus_depth: 'ambient' | 'focused' | 'deep'
  /** Share of the requests that were not rejected. */
  efficiency: number
  /** Submissions of agents. */
  total_requests: number
  auto_approved: number
  /** Tasks that were cancelled instead of approved. */
  rejected: number
  /** Questions that were deferred, batched or not asked. */
  inbox_suppressed_count: number
  /** Moving average of interruptions per hour. */
  interrupt_freq_per_hour: number
  /** Unix milliseconds; 0: never. */
  last_interrupt_ms: number
  /** Unix milliseconds; 0: not used yet. */
  period_start_ms: number
}

export interface AttentionEvent {
  /** Absent if the agent is not known. */
  agent_id?: number
  task_id?: number
  event_type:
    | 'command_approval'
    | 'code_review'
    | 'task_submission'
    | 'a2a_interrupt'
    | 'error_report'
    | 'plan_review'
    | 'policy_deferred'
    | 'policy_proceed_auto'
    | 'clarification_answered'
  tier?: 'auto_approve' | 'confirm' | 'review' | 'blocked'
  /** Attention charged. */
  cost_ms: number
  /** Absent before a decision. */
  outcome?: 'approved' | 'rejected' | 'modified' | 'auto_approved' | 'timed_out'
  trust_score_at_time: number
  effective_complexity: number
  /** Uncertainty of the outcome of the agent's tasks. */
  decision_entropy_bits: number
  /** Unix milliseconds. */
  timestamp_ms: number
  channel?: InterruptionChannel
  /** Reason for which the task waits for a person or was started. */
  policy_reason?: string
  decision?: InterruptionDecision
}

/** Where a question comes from. */
export type InterruptionChannel =
  'chat_clarification' | 'plan_review' | 'task_submit' | 'a2a_escalation' | 'inline_assist' | 'other'

/** A decision whether a question interrupts the user. */
export interface InterruptionDecision {
  surface: string
  channel?: InterruptionChannel
  decision:
    | 'interrupt_now'
    | 'defer_until_checkpoint'
    | 'batch_with_existing_prompt'
    | 'proceed_autonomously'
    | 'require_human_before_continue'
  reason: string
  scaled_cost_ms?: number
  signals?: {
    expected_information_gain_bits?: number
    expected_user_cost?: number
    confidence_estimate?: number
    contradiction_ratio?: number
    pending_clarification_backlog?: number
    trust_score?: number
    irreversible_or_high_risk?: boolean
  }
  timestamp_ms: number
}

/** The receipt of a completed task, recomputed from the stored evidence, as printed by svc orch verify --json. */
export interface OrchVerifyV1 {
  task_id: number
  display_id: string
  status: string
  /** The stored receipt equals the recomputed one. */
  valid: boolean
  /** The stored receipt; absent if no gate accepted the task. */
  receipt?: string
  recomputed: string
  /** Files that the task changed, compared with their state at the completion. */
  files: {path: string; state: 'same' | 'changed' | 'missing'}[]
}

/** Result of svc orch status --json. */
export interface OrchStatusV1 {
  enabled: boolean
  /** The emergency stop; null if tasks are accepted and started. */
  stopped: {
    /** Unix milliseconds. */
    at_ms: number
    reason?: string
  } | null
  repository_id: string
  /** Path of the store file. */
  store: string
  /** Store in use: project (of the workspace), canonical (of the user), file (as configured) or none (in memory). */
  active_store: 'project' | 'canonical' | 'file' | 'none'
  agent_count: number
  reserved_agents: number
  dynamic_agents: number
  total_queued: number
  total_in_progress: number
  total_completed: number
  total_blocked: number
  total_failed: number
  total_cancelled: number
  total_doubted: number
  locked_files: number
  /** Number of tasks waiting for a file that another agent has locked. */
  total_contention: number
  total_weighted_load: number
  predicted_load: number
  max_handoff_count: number
  scaling_profile: string
  /** Load per agent at which another agent is started. */
  effective_scale_up_threshold: number
  planning: {
    /** Number of plans being executed. */
    active_sessions: number
    total_sessions: number
  }
  /** Number of operations that can be undone or redone. */
  oplog_count: number
  /** Whether events are stored, or lost when the process exits. */
  event_feed_mode: 'database_and_transient' | 'transient_only'
  /** Number of processes that run tasks: 1 if a daemon is running. */
  registered_worker_processes: number
  /** Daemon that runs the tasks; null if there is none. */
  daemon: {
    pid: number
    host: string
    /** Start time of the daemon, in Unix milliseconds. */
    since_ms: number
  } | null
  /** The latest 100 entries of the context store by key. */
  context_entries: {
    [k: string]: {
      /** Agent that set the entry, if known. */
      agent_id: number | null
      /** The first 200 characters of the value. */
      value: string
      /** Unix seconds; 0: never. */
      expires_at: number
      /** Unix seconds. */
      set_at: number
    }
  }
  agents: {id: number; display_id: string; [k: string]: unknown}[]
  attention_budget: AttentionBudget
  mesh_federation_cache?: MeshFederationCache
}

/** The mesh nodes at the last poll of the daemon; absent if it has polled no control plane. */
export interface MeshFederationCache {
  /** Time of the poll, in Unix milliseconds. */
  fetched_at_unix_ms: number
  ok: boolean
  /** Reason why the nodes are unknown. */
  error?: string
  /** 0 if the nodes are unknown. */
  node_count: number
  /** Version of the node list of the control plane. */
  schema_version?: number
  nodes_brief: {
    id: string
    /** On the clock of the control plane. */
    last_seen_unix_ms: number
  }[]
  /** Set if nodes_brief does not contain all nodes. */
  truncated?: true
}

/** Result of svc orch agent spawn, pause and resume with --json. */
export interface OrchAgentV1 {
  id: number
  /** Display id, such as A-03. */
  display_id: string
  name: string
  /** Reserved agents are spawned by a person or to reach the minimum number. Dynamic agents are spawned by routing and scaling, and retire when idle. The resolution agent holds doubted tasks and runs none. */
  kind: 'reserved' | 'dynamic' | 'resolution'
  state: 'active' | 'paused' | 'retired'
  parent_agent_id?: number
  source_task_id?: number
  spawn_reason?: string
  /** Capabilities of the agent. */
  capabilities: Capabilities
  /** Model of the agent, if it has its own. */
  model?: string
  /** Deprecated: use agent_session_id. */
  session_id?: string
  activity: 'writing' | 'reading' | 'executing' | 'thinking' | 'waiting_for_input' | 'idle'
  /** Number of queued tasks of all priorities. */
  queued: number
  /** Deprecated: use urgent_count. */
  queued_urgent: number
  /** Deprecated: use normal_count. */
  queued_normal: number
  /** Deprecated: use background_count. */
  queued_background: number
  /** Number of tasks in progress. */
  running: number
  /** Deprecated: use doubted_count. */
  doubted: number
  /** Number of completed tasks. */
  completed: number
  /** Number of queued urgent tasks. */
  urgent_count: number
  /** Number of queued tasks with normal priority. */
  normal_count: number
  /** Number of queued background tasks. */
  background_count: number
  /** Number of doubted tasks that it holds. */
  doubted_count: number
  /** Whether a task of the agent is in progress. */
  in_progress: boolean
  /** Whether the agent is paused. */
  paused: boolean
  /** Whether the agent was spawned by routing or scaling. */
  dynamic: boolean
  /** Session that the agent is mapped to; null if there is none. */
  agent_session_id: string | null
  /** Highest number of hand-overs among its unfinished tasks. */
  max_handoff_count: number
  /** Skill of its task in progress; null if there is none. */
  active_skill: string | null
  /** Sum of priority weight times complexity / 5 over its queued and running tasks. */
  weighted_load: number
  owned_files: number
  /** Phase of its task in progress, if it has one. */
  current_phase?: 'inspect' | 'localize' | 'hypothesize' | 'act' | 'verify' | 'decide'
  tokens_used: number
  cost_usd: number
  /** Time of the spawn, in Unix milliseconds. */
  created_at_ms: number
  /** Time of its last activity, in Unix milliseconds. */
  last_active_ms: number
}

/** Result of svc orch agents --json. */
export interface OrchAgentsV1 {
  agents: {id: number; display_id: string; [k: string]: unknown}[]
}

/** Result of svc orch agent drain --json and svc orch agent retire --json. */
export interface OrchEmptiedV1 {
  agent_id: number
  display_id: string
  name: string
  state: 'active' | 'paused' | 'retired'
  /** Ids of tasks moved to other agents. */
  moved: number[]
}

/** Result of svc orch rebalance --json. */
export interface OrchRebalanceV1 {
  moves: {task_id: number; display_id: string; from_agent_id: number; to_agent_id: number}[]
}

/** Result of svc orch claim --json. */
export interface OrchClaimV1 {
  /** Matches the contract cli/orch-task.v1. */
  task: {id: number; display_id: string; [k: string]: unknown}
  /** Generation of the claim, required to complete or fail the task. */
  generation: number
}

/** Result of svc orch heartbeat --json. */
export interface OrchHeartbeatV1 {
  task_id: number
  display_id: string
  generation: number
  /** Expiry of the claim unless it is extended, in Unix milliseconds. */
  expires_at_ms: number
}

/** Result of svc orch questions --json, oldest first, and of svc orch questions answer --json, which prints the answered question. */
export interface OrchQuestionsV1 {
  questions: {
    question_id: string
    session_id: string
    /** Task that the question is about. */
    task_id?: number
    /** Number of earlier questions in this clarification. */
    turn_index: number
    question_kind: 'multiple_choice' | 'open_ended' | 'entry' | 'assumption_confirm'
    prompt: string
    options: {
      option_id: string
      label: string
      /** The answer may be any text instead. */
      is_other: boolean
    }[]
    expected_information_gain_bits: number
    expected_user_cost: number
    utility_bits_per_cost: number
    created_at_ms: number
    answered_at_ms?: number
    /** Id of the chosen option, or the text. */
    answer?: string
  }[]
}

/** Result of svc orch undo --json and svc orch redo --json. */
export interface OrchOperationV1 {
  id: number
  op_id: string
  operation: 'reorder_task' | 'pause_agent' | 'resume_agent' | 'spawn_agent' | 'submit_task'
  /** Description of the operation. */
  summary: string
  /** True if the operation is currently undone. */
  undone: boolean
  /** Time of the log entry, in Unix milliseconds. */
  timestamp_ms: number
  /** Current task of the operation. */
  task_id?: number
  /** Current agent of the operation. */
  agent_id?: number
}

/** Context of a task or a session, such as retrieved evidence or a summary, with its origin and how far it can be trusted. */
export interface ContextEnvelopeV1 {
  schema_version: number
  envelope_id: string
  envelope_type:
    | 'chat_turn'
    | 'session_summary'
    | 'retrieval_evidence'
    | 'task_context'
    | 'handoff_context'
    | 'agent_note'
    | 'policy_hint'
    | 'execution_context'
  created_at_unix_ms: number
  /** Time after which the envelope is not accepted, in Unix milliseconds. */
  expires_at_unix_ms?: number
  /** Time after its creation during which the envelope is accepted, in seconds. */
  ttl_seconds?: number
  /** Origin of the envelope. */
  provenance: {
    source_plane: 'mcp' | 'orchestrator' | 'search' | 'mesh' | 'database' | 'manual' | 'external'
    source_system: string
    capture_mode: 'inline' | 'derived' | 'retrieved' | 'compacted' | 'handed_off' | 'imported'
    source_tool?: string
    source_path?: string
    producer_agent_id?: number | string
    producer_node_id?: string
    producer_session_id?: string
    producer_thread_id?: string
    policy_version?: number | string
    observed_via?: string[]
    trace_id?: string
    correlation_id?: string
  }
  /** How far the content can be trusted. */
  trust: {
    trust_tier: 'untrusted' | 'advisory' | 'trusted' | 'system_verified'
    authority_rank: number
    freshness_tier: 'volatile' | 'recent' | 'stable' | 'archival'
    confidence?: number
    /** Share of the content that contradicts the rest. */
    contradiction_ratio?: number
    requires_citation?: boolean
    may_override_lower_authority?: boolean
  }
  /** Envelopes and records that this one was made from. */
  lineage?: {
    root_envelope_id?: string
    parent_envelope_ids?: string[]
    root_conversation_id?: string
    root_task_id?: number | string
    hop_count?: number
    compaction_generation?: number
    derived_from?: {kind: 'message' | 'task' | 'artifact' | 'retrieval' | 'summary' | 'handoff'; ref: string}[]
  }
  /** What the envelope is about. */
  subject: {
    repository_id: string
    workspace_id?: string
    session_id?: string
    thread_id?: string
    task_id?: number | string
    goal_id?: string
    agent_id?: number | string
    receiver_agent_id?: number | string
    node_id?: string
    mesh_scope_id?: string
    surface?: 'chat' | 'plan' | 'task_submit' | 'handoff' | 'retrieval' | 'remote_execute' | 'memory'
  }
  /** The context itself. */
  content: {
    summary_text: string
    facts?: {
      fact_id: string
      text: string
      /** Sources of the fact. */
      evidence_refs?: string[]
      supersedes_fact_ids?: string[]
    }[]
    repo_paths?: string[]
    artifact_refs?: string[]
    citations?: string[]
    tags?: string[]
    /** Data for programs; any members. */
    structured_payload?: {[k: string]: unknown}
  }
  /** How the envelope is combined with others about the same subject. */
  conflict_policy: {
    merge_strategy:
      | 'append_only'
      | 'last_write_wins'
      | 'confidence_weighted'
      | 'authority_precedence'
      | 'crdt_merge'
      | 'manual_review'
    stale_after_ms?: number
    dedupe_key?: string
    overwrite_requires_evidence?: boolean
    conflict_class?: 'temporal' | 'semantic' | 'authority' | 'source_trust' | 'policy'
  }
  /** How the content is passed to a model. */
  budget: {
    priority: 'low' | 'normal' | 'high' | 'critical'
    injection_mode: 'inline' | 'summary_only' | 'reference_only' | 'tool_required'
    token_estimate?: number
    max_tokens_for_injection?: number
    retrieval_cost_class?: 'cheap' | 'moderate' | 'expensive'
    must_refresh_before_use?: boolean
  }
  /** Evidence that an answer based on the content requires. */
  safety?: {
    risk_budget?: string
    /** The answer states facts. */
    factual_mode?: boolean
    required_citations?: number
  }
}

/** What must be shown for a task to be done, submitted as harness_spec_json. */
export interface HarnessSpecV1 {
  /** Checks that must pass; a string is the check of an object without other members. */
  required_checks?: (
    | string
    | {
        /** Command template of the workspace that runs the check, without placeholders of its own. */
        check: string
        /** Patterns of the files that the check covers. (default: all files of the task) */
        covers?: string[]
      }
  )[]
  /** Files that the task must create or change, relative to the workspace root. */
  required_artifacts?: string[]
  /** Acceptance lines: conditions that the finished work meets. */
  accept?: string[]
}

/** Context of a request, stored with everything that is recorded about it. Other members are allowed. */
export interface JourneyEnvelopeV1 {
  envelope_version: 1
  /** Id shared by everything that one user request starts. */
  journey_id: string
  session_id: string
  thread_id?: string | null
  /** W3C trace id if possible, 32 hexadecimal digits. */
  trace_id?: string | null
  /** Correlation id if there is no trace id. */
  correlation_id?: string | null
  /** Repository id of the workspace. */
  repository_id: string
  /** Surface that received the request. */
  origin_surface: 'mcp' | 'cli' | 'orchestrator' | 'daemon'
  /** Requested model profile: fast, reasoning or creative. */
  cognitive_profile?: string | null
  [k: string]: unknown
}

/** First line of svc daemon run --json. */
export interface DaemonReadyV1 {
  event: 'ready'
  pid: number
  /** Fencing token of this daemon: higher than that of every earlier daemon. */
  fence: number
  /** Number of tasks of the previous daemon that were requeued. */
  recovered: number
  store: string
  /** HOST:PORT that programs can connect to; absent if the daemon does not listen. */
  addr?: string
}

/** Result of svc daemon start --json. */
export interface DaemonStartV1 {
  pid: number
  /** HOST:PORT that programs can connect to. */
  addr: string
  /** Log file of the daemon. */
  log: string
}

/** Result of svc daemon status --json if a daemon is running. */
export interface DaemonStatusV1 {
  running: true
  pid: number
  /** HOST:PORT of the daemon; null if it does not listen. */
  addr: string | null
  protocol: string
  repository_id: string
  started_at_ms: number
  /** Null if the daemon cannot be queried. */
  server_version: string | null
  /** True if the daemon is stopping and waits for running tasks. */
  ending: boolean
}

/** Result of svc daemon stop --json. */
export interface DaemonStopV1 {
  /** Id of the stopped process. */
  pid: number
  stopped: true
}

/** An event in the workspace, such as a change of a task or an agent. */
export interface OrchestrationEventV1 {
  /** Id of the event; increases in chronological order. */
  id: number
  timestamp_ms: number
  /** The event: its type, and members that depend on the type. */
  kind:
    | {
        type: 'task_submitted'
        task_id: number
        agent_id: number
        description: string
        status:
          'Queued' | 'InProgress' | 'Blocked' | 'BlockedOnApproval' | 'Doubted' | 'Completed' | 'Failed' | 'Cancelled'
      }
    | {
        type: 'task_placed'
        task_id: number
        agent_id: number
        placement_reason: PlacementReason
        lease_id: string | null
        /** Queue length of the agent, including this task. */
        queue_len: number
        trace_id: string
        /** Score terms of the chosen agent; only with unified routing telemetry. */
        reason?: {[k: string]: number}
      }
    | {type: 'task_started'; task_id: number; agent_id: number; owner: string; generation: number}
    | {
        type: 'task_phase_changed'
        task_id: number
        agent_id: number
        phase: 'inspect' | 'localize' | 'hypothesize' | 'act' | 'verify' | 'decide'
      }
    | {type: 'task_completed'; task_id: number; agent_id: number; audit_report?: string}
    | {type: 'task_failed'; task_id: number; agent_id: number; error: string}
    | {type: 'task_cancelled'; task_id: number; agent_id: number; reason?: string}
    | {type: 'task_requeued'; task_id: number; agent_id: number; reason: string; not_before_ms?: number}
    | {type: 'task_unblocked'; task_id: number; agent_id: number}
    | {
        type: 'task_approved'
        task_id: number
        agent_id: number
        /** Person who approved; absent if a model did. */
        by?: string
      }
    | {
        type: 'task_gated'
        task_id: number
        agent_id: number
        outcome: 'completed' | 'requeued' | 'failed'
        /** Gate that did not accept the result. */
        gate?: string
        iteration?: number
        cap?: number
        gates: GateResult[]
        scan?: ScanReport
      }
    | {type: 'task_reordered'; task_id: number; agent_id: number; priority: 'background' | 'normal' | 'urgent'}
    | {type: 'task_moved'; task_id: number; agent_id: number; from_agent_id: number}
    | {type: 'task_handed_off'; task_id: number; agent_id: number; from_agent_id: number; handoff_count: number}
    | {
        type: 'question_asked'
        question_id: string
        question_kind: 'multiple_choice' | 'open_ended' | 'entry' | 'assumption_confirm'
        session_id: string
        task_id?: number
        agent_id?: number
      }
    | {type: 'question_answered'; question_id: string; session_id: string; task_id?: number; agent_id?: number}
    | {type: 'task_claim_expired'; task_id: number; agent_id: number; owner: string; generation: number}
    | {type: 'task_claim_overridden'; task_id: number; agent_id: number; owner: string; generation: number}
    | {type: 'task_doubted'; task_id: number; agent_id: number; reason?: string}
    | {type: 'task_resolved'; task_id: number; agent_id: number; validated: boolean; report: string}
    | {type: 'agent_spawned'; agent_id: number; name: string; reason?: string}
    | {type: 'agent_retired'; agent_id: number; name: string}
    | {type: 'agent_paused' | 'agent_resumed'; agent_id: number}
    | {
        type: 'agent_heartbeat'
        agent_id: number
        activity: 'writing' | 'reading' | 'executing' | 'thinking' | 'waiting_for_input' | 'idle'
      }
    | {type: 'scope_violation'; agent_id: number; path: string; reason: string}
    | {type: 'injection_detected'; task_id: number; agent_id: number}
    | {type: 'prompt_conflict_detected'; task_id: number; agent_id: number; paths: string[]}
    | {
        type: 'context_envelope_violation'
        task_id?: number
        agent_id?: number
        /** Key in the context store, if it was not submitted with a task. */
        key?: string
        /** The first violations. */
        violations: string[]
      }
    | {
        type: 'attention_budget_alert'
        agent_id?: number
        /** Share of the budget. */
        threshold: number
        spent_ms: number
        max_ms: number
      }
    | {
        type: 'attention_budget_reset'
        /** Attention spent before the reset. */
        spent_ms: number
        cause: 'midnight' | 'user'
      }
    | {
        type: 'cost_incurred'
        task_id?: number
        agent_id?: number
        provider: string
        model: string
        input_tokens: number
        output_tokens: number
        cost_usd: number
      }
    | {
        type: 'budget_alert'
        agent_id: number
        kind: 'tokens' | 'cost'
        /** Tokens, or millionths of a US dollar. */
        used: number
        limit: number
      }
    | {
        type: 'emergency_stop'
        /** Number of tasks that were running. */
        requeued: number
        reason?: string
      }
    | {type: 'orchestrator_started'}
    | {type: 'agent_idle'; agent_id: number; level: 'warn' | 'alert' | 'critical' | 'dead'; idle_ms: number}
    | {type: 'orchestrator_idle'; idle_ms: number}
    | {
        type: 'continuation_triggered'
        task_id: number
        agent_id: number
        /** Number since the last progress. */
        continuation: number
        idle_ms: number
      }
    | {type: 'session_created'; agent_id: number; session_id: string}
    | {type: 'session_reset'; session_id: string; turns_cleared: number}
    | {type: 'lock_acquired'; task_id: number; agent_id: number; paths: string[]}
    | {type: 'files_changed'; task_id: number; agent_id: number; paths: string[]}
    | {
        type: 'context_updated'
        key: string
        /** Agent that set the entry, if known. */
        agent_id?: number
      }
    | {
        type: 'message_broadcast'
        /** Agent that sent the message. */
        agent_id: number
        msg_type: string
        payload: string
        priority: 'low' | 'normal' | 'high' | 'critical'
        /** Number of inboxes with a new copy. */
        delivered_to: number
      }
    | {
        type: 'message_sent'
        /** Agent that owns the inbox. */
        agent_id: number
        sender_agent_id: number
        message_id: number
        message_uuid: string
        msg_type: string
      }
    | {type: 'message_claim_overridden'; message_id: number; agent_id: number; owner: string}
    | {
        type: 'message_dead_lettered'
        /** Agent that owns the inbox. */
        agent_id: number
        sender_agent_id: number
        message_id: number
        message_uuid: string
        msg_type: string
        delivery_attempts: number
        /** Why its last delivery failed, if known. */
        error?: string
      }
    | {type: 'urgent_rebalance_triggered'; moved: number}
    | {
        type: 'plan_session_created'
        plan_session_id: string
        strategy: 'immediate_act' | 'continuous_ooda' | 'sequential_dag' | 'hierarchical_htn' | 'workflow_handoff'
        nodes: number
      }
    | {type: 'workflow_started'; run_id: string; workflow: string}
    | {
        type: 'workflow_runs_pruned'
        /** Number of deleted runs. */
        runs: number
      }
    | {type: 'workflow_completed'; run_id: string; workflow: string}
    | {type: 'workflow_failed'; run_id: string; workflow: string; error: string}
    | {type: 'workflow_cancelled'; run_id: string; workflow: string}
    | {type: 'activity_started'; run_id: string; workflow: string; activity: string; activity_id: string}
    | {type: 'activity_completed'; run_id: string; workflow: string; activity: string; activity_id: string}
    | {
        type: 'activity_retried'
        run_id: string
        workflow: string
        activity: string
        activity_id: string
        /** The attempt that failed. */
        attempt: number
        error: string
      }
    | {
        type: 'planning_routed'
        planning_mode: 'auto' | 'direct' | 'force_plan' | 'workflow_only'
        strategy: 'immediate_act' | 'sequential_dag' | 'workflow_handoff'
        complexity: number
        reasons: (
          | 'planning_mode'
          | 'single_task_members'
          | 'names_workflow'
          | 'complexity'
          | 'dependencies'
          | 'tool_hints'
          | 'prior_adequacy'
          | 'simple'
          | 'rollout'
        )[]
        /** The goal was submitted as one task in spite of the strategy. */
        shadow?: true
        task_id?: number
        plan_session_id?: string
        goal_type?: string
        goal_scope?: string
      }
    | {type: 'plan_version_created'; plan_session_id: string; version: number; parent_version?: number}
    | {
        type: 'replan_triggered'
        plan_session_id: string
        version: number
        /** replan if requested by a user, else the failure that triggered it. */
        reason: string
        task_id?: number
      }
    | {
        type: 'plan_node_status'
        plan_session_id: string
        version: number
        node_id: string
        /** pending if the step could not be submitted. */
        status: 'pending' | 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'superseded'
        task_id?: number
        reason?: string
      }
    | {type: 'daemon_started' | 'daemon_stopped'; holder: string; fence: number}
    | {type: 'store_restored'; last_event_id: number}
    | {
        type: 'operation_undone' | 'operation_redone'
        op_id: string
        operation: string
        summary: string
        task_id?: number
        agent_id?: number
      }
    | {
        type: 'config_reloaded'
        /** Names of the changed settings. */
        changed: string[]
      }
  /** Ids of the request that submitted the task. */
  correlation?: {
    journey_id?: string
    session_id?: string
    thread_id?: string
    trace_id?: string
    correlation_id?: string
  }
}

/** Metrics of generating a program with a model. */
export interface RuntimeGenerationKpiV1 {
  schema: 'svc_runtime_generation_kpi_v1'
  schema_version: 1
  surface: 'svc-cli' | 'mcp' | 'daemon'
  success: boolean
  validate_requested: boolean
  /** True if the last program has no errors; null if it was not checked. */
  compile_pass: boolean | null
  /** True if the last program is formatted canonically; null if it was not checked. */
  canonical_pass: boolean | null
  /** Number of model calls. */
  attempts: number
  /** True if two consecutive programs had the same errors. */
  repair_stalled: boolean
  /** Time until the first program without errors; null if there was none. */
  time_to_first_valid_ms: number | null
  /** Output tokens of all attempts. */
  output_tokens: number
  /** Number of attempts whose answer was not a program in the requested format. */
  surface_contract_failures: number
  /** Number of attempts that failed only because of constructs that the language skips with a warning. */
  strictness_failures?: number | null
  canonicalization_failures?: number | null
  /** Reason why there is no program. */
  failure_category?: 'surface_contract' | 'repair_stall' | 'semantic' | null
}

/** Files written with a generated program. */
export interface FileOutcomesV1 {
  schema: 'svc_generate_code_file_outcomes_v1'
  schema_version: 1
  /** Paths relative to the workspace root. */
  written_paths: string[]
  bytes_written: number
  artifact_kind: 'svc_generated'
  post_write_snapshot_id?: string | number
}

/** An entry of the bulletin board: an event that other agents may act on. It has the members of the event, except its type. */
export interface BulletinEntryV1 {
  type:
    | 'A2A'
    | 'AgentSpawned'
    | 'Answer'
    | 'Broadcast'
    | 'ContextUpdate'
    | 'DependencyReady'
    | 'FileChanged'
    | 'Interrupt'
    | 'LockAcquired'
    | 'Question'
    | 'TaskAssigned'
    | 'TaskCompleted'
    | 'TaskDoubted'
    | 'TaskFailed'
  /** Id of the event; increases in chronological order. */
  event_id: number
  timestamp_ms: number
  task_id?: number
  agent_id?: number
  [k: string]: unknown
}

/** Result of svc a2a send --json. */
export interface A2ASendV1 {
  message_id: number
  display_id?: string
  /** Id of a message on the route db, unique across workspaces. */
  db_message_uuid: string | null
  sender: number
  receiver: number
  msg_type: string
  route: 'local' | 'db' | 'mesh'
  delivery_plane: 'local_ephemeral' | 'local_durable' | 'remote_mesh'
  route_ok: true
  /** True if a message with the same key existed already. */
  duplicate: boolean
  idempotency_key: string
  correlation_id: string | null
  tenant_id: string | null
  relay_attempted: boolean
  relay_ok: boolean
  /** Number of unread messages dropped to make room for this one. */
  dropped_messages: number
  sender_identity_binding: 'verified' | 'unbound'
  binding_advisory: string | null
}

/** Result of svc a2a broadcast --json. */
export interface A2ABroadcastV1 {
  /** Null on the route db, where each copy has its own id. */
  message_id: number | null
  /** Only on the route local. */
  display_id?: string
  /** On the route db, the ids of the copies. */
  message_ids: number[]
  sender: number
  msg_type: string
  route: 'local' | 'db'
  delivery_plane: 'broadcast'
  /** Number of agents that received it. */
  delivered_to: number
  /** Number of unread messages dropped to make room for this one. */
  dropped_messages: number
  sender_identity_binding: 'verified' | 'unbound'
  binding_advisory: string | null
}

/** Result of svc a2a inbox --json. */
export interface A2AInboxV1 {
  agent_id: number
  source: 'merged' | 'local' | 'db' | 'mesh'
  delivery_planes: ('local_ephemeral' | 'local_durable' | 'remote_mesh')[]
  routes: ('local' | 'db' | 'mesh')[]
  /** Number of unread messages, including those not shown; for the mesh, the number of messages read. */
  unread_count: number
  remote_attempted: boolean
  remote_ok: boolean
  /** Number of unread messages lost since the process started. */
  dropped_messages: number
  suppressed_count: number
  focus_depth_filter_active: boolean
  /** Consumer that claimed the messages. */
  consumer_id?: string
  messages: InboxMessage[]
}

/** A message in an inbox. Members without a value are omitted. */
export interface InboxMessage {
  id: number
  /** M-000012 on the route local, where ids are unique per process; mesh:1042 on the route mesh. */
  display_id?: string
  /** Only on the route db. */
  uuid?: string
  /** A string of digits if the id of a remote agent is too large for a number. */
  sender: number | string
  /** Null if sent to all agents except the sender. */
  receiver: number | null
  msg_type: string
  payload: string
  priority: 'low' | 'normal' | 'high' | 'critical'
  timestamp_ms: number
  acknowledged: boolean
  route: 'local' | 'db' | 'mesh'
  delivery_plane: 'local_ephemeral' | 'local_durable' | 'remote_mesh' | 'broadcast'
  correlation_id?: string
  thread_id?: string
  tenant_id?: string
  /** Number of claims. Like the following members, absent on the route local. */
  delivery_attempts?: number
  claim_owner?: string
  claim_until_ms?: number
  last_claim_error?: string
  /** True if the message is not redelivered: it was delivered too often, or its agent is retired. */
  dead_lettered?: boolean
}

/** Result of svc a2a history --json. */
export interface A2AHistoryV1 {
  source: 'merged' | 'local' | 'db'
  delivery_planes: ('local_ephemeral' | 'local_durable')[]
  routes: ('local' | 'db')[]
  /** Number of messages of the agent or conversation, or of all, including those not returned. */
  total_messages: number
  /** Number of unread messages lost since the process started. */
  dropped_messages: number
  returned: number
  /** Newest first. */
  messages: InboxMessage[]
}

/** Result of svc a2a ack --json. */
export interface A2AAckV1 {
  /** False if it was acknowledged before or handling it failed. */
  acknowledged: boolean
  message_id: number
  db_message_uuid: string | null
  route: 'local' | 'db' | 'mesh'
  delivery_plane: 'local_ephemeral' | 'local_durable' | 'remote_mesh' | 'broadcast'
  local_acknowledged: boolean
  remote_attempted: boolean
  remote_acknowledged: boolean
  /** True if the message is now a dead letter, which is not redelivered. */
  dead_lettered: boolean
}

export interface Task {
  id: number
  display_id: string
  status: string
  agent_name: string
  description: string
  [k: string]: unknown
}

/** Result of svc mcp config --json. */
export interface McpConfigV1 {
  /** Null without --client. */
  client: 'claude' | 'cursor' | 'vscode' | 'zed' | null
  /** Path of the configuration file of the client; null without --client. */
  file: string | null
  /** Configuration for the client: one member that contains the server by name. */
  configuration: {
    [k: string]: {
      [k: string]: {
        /** Only for VS Code. */
        type?: 'stdio'
        /** Absolute path of Node.js. */
        command: string
        args: string[]
      }
    }
  }
  /** True if the file was changed. */
  written: boolean
  /** Path of a copy of the file before the change; null if there is none. */
  backup: string | null
}

/** First line of svc dashboard --json. */
export interface DashboardReadyV1 {
  event: 'ready'
  /** URL of the server. */
  base_url: string
  /** URL of the page. It contains the secret key of the workspace, which grants access. */
  page_url: string
  pid: number
}

/** First line of svc mesh dashboard --json. */
export interface MeshDashboardReadyV1 {
  event: 'ready'
  /** URL of the page. It contains a new secret key, which grants access. */
  base_url: string
  pid: number
}

/** Result of svc mesh nodes --json. */
export interface MeshNodesV1 {
  schema_version: number
  nodes: MeshNode[]
  /** Number of messages that are neither acknowledged nor claimed. */
  queue_depth?: number
  server_time_unix_ms?: number
  /** Interval at which the nodes are to send heartbeats, in milliseconds. */
  next_heartbeat_ms?: number
  [k: string]: unknown
}

/** A node as stored by the control plane; newer nodes have more members. */
export interface MeshNode {
  id: string
  version: string
  last_seen_unix_ms: number
  capabilities?: {labels?: string[]; [k: string]: unknown}
  scope_id?: string
  /** Number of tasks of other machines that the node runs; missing if it accepts none. */
  running_tasks?: number
  maintenance?: boolean
  maintenance_until_unix_ms?: number
  quarantined?: boolean
  [k: string]: unknown
}

/** A line of svc mesh nodes --watch --json. */
export interface MeshNodesChangeV1 {
  /** Nodes that are present at the start are reported as listed. */
  event: 'listed' | 'joined' | 'changed' | 'left'
  /** Only a node in the state ok accepts work. */
  state: 'ok' | 'stale' | 'maintenance' | 'quarantined'
  node: MeshNode
}

/** A line of svc mesh join --json. */
export type MeshJoinV1 =
  | {
      event: 'paired'
      node_id: string
      /** File in which the tokens issued to this machine are stored. */
      env_file: string
      role: 'worker' | 'mesh'
      scope_id: string | null
    }
  | {event: 'joined'; node_id: string; control_url: string; scope_id: string | null; pid: number}
  | {
      event: 'failed'
      node_id: string
      operation: 'join' | 'heartbeat' | 'work'
      error: string
      /** Error code of the control plane if it sent one, else of svc. */
      code: string
      /** Number of consecutive failures. */
      failures: number
      /** Milliseconds until the next attempt. */
      next_ms: number
    }
  | {
      /** waiting: another process of this machine runs the tasks of other machines until it ends. */
      event: 'rejoining' | 'waiting'
      node_id: string
    }
  | {
      event: 'working'
      node_id: string
      /** Agent whose tasks this machine runs. */
      receiver_agent_id: string
    }
  | {
      event: 'task'
      node_id: string
      /** Number of the task on the machine that sent it; null if the message is unreadable. */
      task_id: number | null
      idempotency_key: string | null
      /** After claim_lost and draining, the task returns to its inbox. */
      state:
        | 'started'
        | 'completed'
        | 'failed'
        | 'cancelled'
        | 'stale'
        | 'duplicate'
        | 'unreadable'
        | 'claim_lost'
        | 'draining'
      error: string | null
    }
  | {
      event: 'left'
      node_id: string
      /** True if the node was a member of the mesh. */
      left: boolean
    }

/** Result of svc mesh leases --json. */
export interface MeshLeasesV1 {
  leases: {
    lease_id: string
    fence_token?: number
    scope_key: string
    holder_node_id: string
    expires_unix_ms: number
    [k: string]: unknown
  }[]
}

/** Result of svc mesh leases --json with --grant, --renew, --release or --verify. */
export interface MeshLeaseV1 {
  lease_id: string
  state: 'granted' | 'renewed' | 'released' | 'not_found' | 'held'
  scope_key?: string
  /** The lease id as a number, which increases with every change of holder. */
  fence_token?: number
  holder_node_id?: string
  expires_unix_ms?: number
  server_time_unix_ms?: number
  [k: string]: unknown
}

/** Result of svc mesh status --json. */
export interface MeshStatusV1 {
  state: 'unconfigured' | 'unreachable' | 'denied' | 'connected'
  control_url: string | null
  health_ok: boolean
  /** Why the control plane cannot be queried. */
  error: string | null
  /** File that the first secret is read from. */
  env_file: string | null
  security: MeshSecurity
  overlay: {provider: 'tailscale' | 'wireguard' | 'zerotier'; available: boolean; connected: boolean; detail: string}[]
  /** Configured endpoint of the overlay network of the mesh; svc does not connect to it. */
  wireguard_endpoint: string | null
  registry_path: string
  /** Local registry of nodes on this machine; null if its file cannot be read. */
  registry: {schema_version: number; nodes: MeshNode[]; [k: string]: unknown} | null
  registry_error: string | null
  /** Node record that this machine publishes. */
  self_record: {
    /** Null if no id is set and the node has not joined yet. */
    id: string | null
    version: string
    capabilities: {[k: string]: unknown}
    [k: string]: unknown
  }
  /** Process of this machine that runs the tasks of other machines. */
  worker: {pid: number; since_unix_ms: number} | null
  queue: {
    pending_count: number
    pending_by_kind?: {[k: string]: unknown}
    pending_by_priority?: {[k: string]: unknown}
    oldest_pending_unix_ms?: number
    dead_count?: number
    [k: string]: unknown
  } | null
  /** Control planes that share the database, oldest first; null if they are unknown. */
  replicas: {id: string; version: string; host: string; since_unix_ms: number; [k: string]: unknown}[] | null
}

/** Which mesh secrets are set. */
export interface MeshSecurity {
  token_set: boolean
  worker_token_set: boolean
  submitter_token_set: boolean
  admin_token_set: boolean
  jwt_secret_set: boolean
  bootstrap_token_set: boolean
  /** open: no secret; legacy_mesh_only: one token for all roles; role_mix: a token per role, or tokens that contain their role. */
  mesh_auth_mode: 'open' | 'legacy_mesh_only' | 'role_mix'
  scope_set: boolean
}

/** Result of svc mesh inbox --json. */
export interface MeshInboxV1 {
  messages: {
    id: number
    sender_agent_id: string
    receiver_agent_id: string
    message_type: string
    payload: string
    priority?: number
    created_unix_ms?: number
    acknowledged?: boolean
    /** Node that has claimed the message. */
    lease_holder_node_id?: string
    lease_expires_unix_ms?: number
    delivery_attempts?: number
    idempotency_key?: string
    privacy_class?: string
    task_kind?: string
    model_id?: string
    traceparent?: string
    [k: string]: unknown
  }[]
}

/** Result of svc mesh deliver --json. */
export interface MeshDeliverV1 {
  accepted: true
  message_id: number
  /** True if a message with the same key existed already. */
  duplicate?: true
  [k: string]: unknown
}

/** Result of svc mesh ack --json. */
export interface MeshAckV1 {
  receiver_agent_id: string
  message_id: number
  acknowledged: true
}

/** Result of svc mesh dead list --json. */
export interface MeshDeadV1 {
  messages: {
    id: number
    sender_agent_id: string
    receiver_agent_id: string
    message_type: string
    payload: string
    priority?: number
    created_unix_ms?: number
    delivery_attempts?: number
    idempotency_key?: string
    privacy_class?: string
    task_kind?: string
    model_id?: string
    traceparent?: string
    /** Time at which the message became a dead letter. */
    dead_unix_ms: number
    [k: string]: unknown
  }[]
  /** Value of --before for the next page, if there is one. */
  next_cursor?: string
  [k: string]: unknown
}

/** Result of svc mesh dead retry and svc mesh dead drop --json. */
export interface MeshDeadOutcomeV1 {
  /** Ids of messages returned to their inboxes or dropped, now or by an earlier command. */
  message_ids: number[]
  not_found: number[]
  [k: string]: unknown
}

/** Result of svc mesh audit --json. */
export interface MeshAuditV1 {
  entries: {
    id: number
    at_unix_ms: number
    /** Node, administrator or store. */
    actor: string
    /** Such as lease.granted, node.quarantine or message.dead. */
    action: string
    /** Lease key, node or message. */
    target: string
    detail: {[k: string]: unknown}
    [k: string]: unknown
  }[]
  /** Value of --before for the next page, if there is one. */
  next_cursor?: string
  [k: string]: unknown
}

/** Result of svc mesh stats --json. */
export interface MeshStatsV1 {
  /** Nodes that have not left; null if the control plane does not report them. */
  nodes: number | null
  /** Active leases; null if the control plane does not report them. */
  leases: number | null
  /** Messages neither acknowledged nor claimed. */
  pending_count: number
  pending_by_kind: {[k: string]: number}
  pending_by_priority: {[k: string]: number}
  /** Age of the oldest pending message; null if there is none. */
  oldest_pending_age_ms: number | null
  /** Messages claimed too often without an acknowledgement. */
  dead_count: number
}

/** Result of svc mesh export -o FILE --json and svc mesh import --json. */
export interface MeshTransferV1 {
  /** Path of the export, or - for standard input. */
  file: string
  /** Number of rows by table. */
  rows: {[k: string]: number}
}

/** Result of svc mesh admin maintenance --json. */
export interface MeshMaintenanceV1 {
  node_id: string
  maintenance: boolean
  /** End of the maintenance, if it has one, in Unix milliseconds; a duration in minutes is added to the clock of this machine. */
  maintenance_until_unix_ms?: number
}

/** Result of svc mesh admin promote --json. */
export interface MeshPromoteV1 {
  /** Last skipped fencing token; all later ones are higher. */
  fence_token: number
}

/** Result of svc mesh prove --json. */
export interface MeshProveV1 {
  seed: number
  /** Requested duration in minutes. */
  minutes: number
  /** Duration of the run including the verification, in seconds. */
  seconds: number
  /** Number of requests sent by clients. */
  operations: number
  /** Number of requests that received a response. */
  answered: number
  by_operation: {
    operation: string
    sent: number
    /** Number of responses per status; unknown counts requests without a response. */
    outcomes: {[k: string]: number}
  }[]
  /** Number of injections per fault. */
  faults: {[k: string]: number}
  invariants: {
    id: string
    /** Statement of the invariant. */
    claim: string
    held: boolean
    /** Number of facts checked. */
    checked: number
    violations: {
      what: string
      /** Ids of the requests that show the violation, in calls.jsonl in the directory. */
      calls: number[]
    }[]
    /** Number of violations that are not listed. */
    more_violations: number
  }[]
  /** True if all invariants held. */
  held: boolean
  /** Directory with the logs and database of the run; null if they were deleted after success. */
  folder: string | null
}

/** Result of svc bench run --json without a name. */
export type BenchListV1 = {
  /** Name to run it with. */
  name: string
  measures: string
  /** What the ratio compares with. */
  base: string
}[]

/** Result of svc bench run NAME --json. */
export interface BenchRunV1 {
  name: string
  /** What the ratio compares with. */
  base: string
  /** Time of svc divided by the time of the base; a lower ratio is better. */
  ratio: number
  /** Measurements behind the ratio; the names of times end in the unit. */
  figures: {[k: string]: number}
  /** Version of svc. */
  version: string
  /** Version of Node.js. */
  node: string
}

/** Result of svc bench llm --json. */
export interface BenchLlmV1 {
  /** Name of the model, the last component of its directory. */
  model: string
  /** Precision of the weights in use. */
  precision: 'f32' | 'w8' | 'w4'
  /** Number of compute threads. */
  threads: number
  /** Time to load the model. */
  load_ms: number
  /** Resident memory of the process after the first prompt. */
  memory_bytes: number
  prefill: {
    /** Length of the prompt: 512, or the context length. */
    tokens: number
    tokens_per_second: number
  }
  decode: {
    /** Number of concurrent replies. */
    streams: number
    /** Of all replies together; null if the model ends its reply at once. */
    tokens_per_second: number | null
  }[]
  /** Version of svc. */
  version: string
  /** Version of Node.js. */
  node: string
}

/** The list of the metrics and events that a program records. */
export interface TelemetryEventsV1 {
  version: 1
  events: {
    id: string
    /** Path relative to the package. */
    schema_path: string
    /** Module that records the event. */
    owner: string
    /** A: always recorded; B: recorded unless disabled; C: recorded only if enabled. */
    tier: 'A' | 'B' | 'C'
    retention_days: number
    description: string
  }[]
}

/** Metadata of a metric about the work of agents and models. Its name is the type of the metric. */
export type WorkMetricV1 =
  | {
      name: 'task_turn'
      repository_id: string
      details: {
        task_id: number
        agent_id: number
        agent_name: string
        /** The beginning of the message. */
        message: string
        timestamp_ms: number
      }
    }
  | {
      name: 'task_phase_change'
      repository_id: string
      details: {
        task_id: number
        phase: 'inspect' | 'localize' | 'hypothesize' | 'act' | 'verify' | 'decide'
        timestamp_ms: number
      }
    }
  | {
      name: 'model_call_event'
      repository_id: string
      details: {
        model: string
        category: string
        success: boolean
        input_tokens: number
        output_tokens: number
        cost_usd: number
        session_id?: string
        trace_id?: string
      }
    }
  | {
      name: 'model_route_event'
      repository_id: string
      details: {
        /** The origin of the work. */
        surface: string
        model: string
        category: string
        complexity: number
        is_fallback: boolean
        task_id?: number
        session_id?: string
      }
    }
  | {
      name: 'agent_exec_time'
      repository_id: string
      details: {
        task_id: number
        agent_id: number
        processor: 'ai' | 'exec'
        /** Whether the processor returned a result. */
        outcome: 'success' | 'failure'
        /** Absent if there is no limit. */
        timeout_budget_ms?: number
      }
    }

/** File of svc workflow: workflows by name. A step has exactly one activity or block. Text in ${{ }} is an expression of the data language. */
export interface WorkflowFile {
  /** Version of this format. */
  version: 1
  /** Workflows by name. */
  workflows: {[k: string]: WorkflowDefinition}
}

export interface WorkflowDefinition {
  /** What the workflow does, in one sentence. */
  description?: string
  /** Values that a run takes, by name. */
  input?: {[k: string]: WorkflowInput}
  /** Hosts that http activities may call, such as api.example.com or localhost:8080. */
  hosts?: string[]
  /** When the daemon starts the workflow: five fields, such as 0 3 * * 1-5. */
  cron?: string | WorkflowCron
  steps: WorkflowSteps
  /** Result of the run. Text in ${{ }} is an expression. */
  output?: {[k: string]: unknown}
}

export interface WorkflowInput {
  /** Type of the value; default: string. */
  type?: 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object'
  /** What the value is. */
  description?: string
  /** Value of a run that does not pass one. Without it, the value is required. */
  default?: {[k: string]: unknown}
}

export interface WorkflowCron {
  /** Minute, hour, day, month and weekday. */
  schedule: string
  /** Time zone of the schedule, such as Europe/Berlin; default: that of the machine. */
  time_zone?: string
  /** After times at which no daemon ran, start no run (skip, the default) or one (once). */
  missed?: 'skip' | 'once'
}

export type WorkflowSteps = WorkflowStep[]

export interface WorkflowStep {
  /** Name of the result in expressions: steps.ID. It also identifies the activity when a run is resumed. */
  id?: string
  /** Condition, an expression. With then, it selects a branch; otherwise it skips the step if false. */
  if?: string
  then?: WorkflowSteps
  else?: WorkflowSteps
  /** Branches that run at the same time, by name. */
  parallel?: {[k: string]: WorkflowSteps}
  /** List, or an expression in ${{ }} that yields one. The steps run for each item. */
  for_each?: string | unknown[]
  /** Name of the item in expressions; default: item. Its position is index. */
  as?: string
  /** Maximum number of items at the same time; default: 1. */
  concurrency?: number
  steps?: WorkflowSteps
  /** Program and its arguments, run in the workspace without a shell; with shell, the text of a script. */
  exec?: string[] | string
  /** Run the text of exec in this shell, which stops at the first failing command; true is sh. */
  shell?: true | 'sh' | 'bash'
  /** Directory of exec, inside the workspace; default: the workspace. */
  cwd?: string
  /** Environment variables of exec. */
  env?: {[k: string]: string | number | boolean}
  /** Parse the output of exec, or the answer of generate, as JSON into the member json. */
  json?: boolean
  /** Task of the orchestrator: its description, or the members of a submission. */
  task?: string | {[k: string]: unknown}
  http?: WorkflowHttp
  /** Recording to transcribe, a path inside the workspace. */
  transcribe?: string | WorkflowTranscribe
  /** Prompt for the configured model. */
  generate?: string | WorkflowGenerate
  /** Value to use as the result of the step. Text in ${{ }} is an expression. */
  value?: {[k: string]: unknown}
  /** Time to wait, such as 500ms, 30s, 5m or 2h. */
  timer?: WorkflowDuration
  /** Key of a signal to wait for. Its payload is the result. */
  signal?: string
  /** Question to a person. The run waits for svc workflow signal with the id of the step. */
  approval?: string
  mesh_noop?: WorkflowMeshCall
  mesh_join?: WorkflowMeshCall
  mesh_snapshot?: WorkflowMeshCall
  mesh_heartbeat?: WorkflowMeshCall
  mesh_dispatch?: WorkflowMeshMessage
  mesh_wait?: WorkflowMeshWait
  patch?: WorkflowPatch
  /** Additional attempts after a failure; default: 0. */
  retries?: number
  /** Delay before the second attempt, doubled for each further one up to one minute; default: 100ms. */
  initial_backoff?: WorkflowDuration
  /** Time limit of one attempt. */
  timeout?: WorkflowDuration
  /** How long a result is reused by later runs that call the activity with the same arguments; default: never. */
  cache?: WorkflowDuration
  /** Continue after a failure. The result is then an object with the member error. */
  continue_on_error?: boolean
  /** Activity that undoes this step if the run fails or is cancelled later. */
  compensate?: WorkflowStep
}

export interface WorkflowHttp {
  url: string
  /** Default: GET. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  headers?: {[k: string]: string}
  /** Sent as JSON, or unchanged if it is text. */
  body?: {[k: string]: unknown}
  /** Maximum size of the response; default: 1 MiB. */
  max_bytes?: number
}

export interface WorkflowTranscribe {
  file: string
  language?: string
}

export interface WorkflowGenerate {
  prompt: string
  system?: string
  temperature?: number
  max_tokens?: number
}

/** Milliseconds, or a number with a unit: ms, s, m, h or d. */
export type WorkflowDuration = number | string

/** Call of the mesh; skipped if no control plane is configured. */
export type WorkflowMeshCall = null | {}

export interface WorkflowMeshMessage {
  /** Agent that receives the message. */
  receiver: string
  /** Type of the message; default: free_form. */
  type?: string
  /** Text, or a value that is sent as JSON. */
  payload: {[k: string]: unknown}
}

export interface WorkflowMeshWait {
  /** Agent whose inbox is read. */
  receiver: string
  /** Type of the message; default: any. */
  type?: string
}

export interface WorkflowPatch {
  /** Id of the change. */
  change: string
  /** Oldest version that the steps support; default: 1. */
  min?: number
  /** Newest version, which new runs get; default: 1. */
  max?: number
}

/** Entry in the journal of a workflow run: a line of svc workflow run --json, and the member entry of the metadata of a workflow_journal_entry metric. */
export type WorkflowJournalEntry = {[k: string]: unknown} & {
  journal_version: 1
  event:
    | 'WorkflowStarted'
    | 'WorkflowCompleted'
    | 'WorkflowFailed'
    | 'WorkflowCancelled'
    | 'WorkflowWaiting'
    | 'ActivityTask'
    | 'ActivityStarted'
    | 'ActivityCompleted'
    | 'ActivityReplayed'
    | 'ActivitySkipped'
    | 'ActivityAttemptFailed'
    | 'ActivityRetryScheduled'
    | 'ActivityAttemptRecovered'
    | 'ActivityCacheHit'
    | 'LocalActivity'
    | 'MeshActivity'
    | 'MeshActivitySkipped'
    | 'BranchDecision'
    | 'TimerWaitCompleted'
    | 'SignalWaitSatisfied'
    | 'WorkflowPatch'
  workflow: string
  run_id: string
  steps?: number
  error?: string
  /** Result of a completed run. */
  output?: {[k: string]: unknown}
  activity?: string
  activity_id?: string
  idempotency_key?: string
  execution_boundary?: 'local' | 'mesh'
  attempt?: number
  max_attempts?: number
  next_attempt?: number
  resume_attempt?: number
  max_attempts_window?: number
  delay_ms?: number
  timeout_ms?: number | null
  replayed?: boolean
  from_cache?: boolean
  /** Result of the activity. */
  result?: {[k: string]: unknown}
  replay_source?: 'workflow_activity_log'
  result_event?: string
  reason?: string
  status?: 'executed'
  classification?: 'reconstruction' | 'verification' | 'planning' | 'local'
  mesh_op?: 'noop' | 'join' | 'snapshot' | 'heartbeat' | 'dispatch' | 'wait' | 'withdraw'
  control?:
    | 'noop'
    | 'join_ok'
    | 'snapshot_ok'
    | 'heartbeat_ok'
    | 'local_registry_only'
    | 'dispatch_ok'
    | 'wait_ok'
    | 'withdraw_ok'
    | 'cancel_requested'
    | 'withdraw_failed'
  node_id?: string
  node_count?: number
  schema_version?: number
  branch?: 'then' | 'else'
  decision_source?: 'deterministic_condition'
  waited_ms?: number
  signal_key?: string
  arg_hash?: string
  change_id?: string
  version?: number
  min_supported?: number
  max_supported?: number
  [k: string]: unknown
}
