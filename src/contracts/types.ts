// Generated from contracts/ by `npm run contracts`. Do not edit.

/** What a failed command prints on standard output under --json. */
export interface CliErrorV1 {
  error: {
    /** Stable code of the error. */
    code: string
    /** What is wrong, and where. */
    message: string
    /** What to do about it. */
    remediation: string
    /** Exit status of the command. */
    exit: 1 | 2 | 3 | 4 | 5 | 130 | 143
  }
}

/** Result of svc generate --json. */
export interface GenerateV1 {
  /** Name of the model: the last component of its directory. */
  model: string
  /** The generated text, without the prompt and without stop text. */
  text: string
  /** stop: an end token or a stop string; length: max tokens, or the end of the context. */
  finish_reason: 'stop' | 'length'
  /** Seed that gives the same text again. */
  seed: number
  prompt_tokens: number
  completion_tokens: number
  timings: {
    /** From the start of loading to a model that is ready. */
    load_ms: number
    /** From the request to the first token. */
    prefill_ms: number
    /** From the first token to the last. */
    decode_ms: number
    /** Null with fewer than two tokens. */
    decode_tokens_per_second: number | null
  }
}

/** Result of svc config show --json. */
export interface ConfigShowV1 {
  /** Root of the workspace. */
  root: string
  /** The Svc.toml that was read. */
  file: string | null
  /** The value in force of each; null when unset, "(set)" for a secret. */
  settings: {
    name: string
    value: unknown
    origin: Origin
    /** Sources that also gave a value and lost, the strongest first. */
    overridden: {source: Source; name?: string; value: unknown}[]
    env: string[]
    toml: string[]
    takes: string
    doc: string
    /** This version does not use it. */
    planned: boolean
  }[]
  warnings: Warning[]
}

export interface Origin {
  source: Source
  name?: string
}

export type Source = 'flag' | 'env' | 'env-file' | 'speech-config' | 'file' | 'default'

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

/** Result of svc contracts validate --json, when all is well. */
export interface ContractsValidateV1 {
  ok: true
  /** Null when the contracts themselves were checked. */
  contract: string | null
  documents: string[]
}

/** Result of svc transcribe --json, one line per recording. */
export interface TranscribeV1 {
  /** Absolute path of the recording; - for standard input. */
  path: string
  /** New for every recording. */
  correlation_id: string
  /** What was recognised. */
  raw_text: string
  /** The same after refinement, lexicon and ranking. */
  refined_text: string
  /** refined_text, or raw_text where refinement is off. */
  text: string
  /** Of the profile, less for each correction; not acoustic. */
  confidence: number
  /** The confidence is below what tools need. */
  clarification_recommended: boolean
  /** Readings, best first; only where there is more than one. */
  n_best?: string[]
  language_diagnostics?: {
    /** The language as it was given. */
    raw: string | null
    /** Its code; null where it says nothing. */
    normalized: string | null
    notes: (
      | 'language_hint_length_out_of_range'
      | 'language_hint_invalid_charset'
      | 'language_hint_region_stripped'
      | 'language_hint_name_mapped'
      | 'language_hint_ignored_english_only_model'
      | 'language_hint_unsupported'
    )[]
    /** Code of the language that the model heard. */
    detected?: string
    detected_probability?: number
  }
  /** Name of the speech model. */
  model?: string
  task?: 'transcribe' | 'translate'
  /** Code of the language spoken; empty where nobody spoke. */
  language?: string
  duration_ms?: number
  /** Nobody spoke. */
  no_speech?: boolean
  segments?: {
    id: number
    start_ms: number
    end_ms: number
    text: string
    /** Mean log-probability of the tokens. */
    avg_logprob: number
    no_speech_prob: number
    /** Only with word timestamps; the words as they were recognised. */
    words?: {word: string; start_ms: number; end_ms: number; probability: number}[]
  }[]
  /** exp of the mean log-probability of the tokens. */
  asr_confidence?: number
  timings?: {
    /** From opening the recording to its transcript. */
    total_ms: number
    /** Of the model; 0 after the first recording. */
    load_ms: number
    features_ms: number
    encode_ms: number
    decode_ms: number
    /** Windows that the model looked at. */
    windows: number
    /** Time of work per time of sound, without loading. */
    rtf: number
  }
  /** What is not as it should be with the recording. */
  warnings?: {code: 'audio_truncated' | 'audio_damaged' | 'audio_not_finite'; message: string}[]
  /** File that the transcript was written to. */
  output_path?: string
}

/** Result of svc merge --json. */
export interface MergeV1 {
  /** The file that was written, or with --full the folder. */
  output: string
  /** The hand-off file; null where it could not be written, and then a warning says why. */
  handoff: string | null
  /** Whether the result is a complete model directory. */
  full: boolean
  /** How many tensors were written. */
  tensors: number
  /** How many of them the adapter changed. */
  changed: number
  /** Bytes of the tensors. */
  bytes: number
  /** Dtypes of the tensors. */
  dtypes: string[]
  warnings: string[]
}

/** Result of svc doctor --json. */
export interface DoctorV1 {
  checks: {
    name: string
    /** The commands that need it, separated by commas, or all. */
    commands: string
    /** off is what is not installed, started or configured. */
    state: 'ok' | 'off' | 'failed'
    /** What was found; where it is not ok, the cause. */
    value: string
    /** A command or a sentence that fixes it or sets it up. */
    fix: string | null
  }[]
  /** failed when a check failed. */
  result: 'ok' | 'failed'
}

/** Result of svc explain --json: the code that was named, or all of them. */
export interface ExplainV1 {
  codes: {
    /** An error of a command or server, or a diagnostic of the data language. */
    kind: 'error' | 'diagnostic'
    code: string
    severity: 'error' | 'warning'
    /** Exit status of a command that fails with the error. */
    exit: number | null
    /** HTTP status of a server that answers with the error. */
    http: number | null
    cause: string
    fix: string
    /** The message for an example, as people see it. */
    message: string
    /** A program that earns the diagnostic. */
    example: string | null
    /** The same program without it. */
    fixed: string | null
  }[]
}

/** Result of svc speech status --json. */
export interface SpeechStatusV1 {
  /** What recognises speech, on what, in one line. */
  summary: string
  /** Version of svc. */
  version: string
  /** Whether the CUDA files of ONNX Runtime are installed. */
  cuda_feature_enabled: boolean
  /** Whether SVC_SPEECH_CUDA asks for a GPU. */
  cuda_requested_via_env: boolean
  /** How to use the GPU, where that is possible and not asked for. */
  inference_note: string | null
  /** What speech is computed on. */
  device: 'cpu' | 'cuda'
  /** Precision of the weights that is asked for. */
  precision: 'auto' | 'f32' | 'int8'
  /** The model that is asked for; null when none is. */
  model: string | null
  /** Where that model lies on this machine; null when it does not, or when none is asked for. */
  model_dir: string | null
  /** The model that recordings are recognised with: the one asked for, the default one, or the one that comes with the program; null when none is there. */
  active_model: {
    name: string
    /** Where it lies on this machine. */
    dir: string
  } | null
  engine: {
    backend: 'onnx-whisper'
    /** Variable that names the model. */
    model_env: string
    /** Variable that names its revision. */
    revision_env: string
    /** Variable that asks for a GPU. */
    cuda_env: string
    /** Model that is looked for when none is named. */
    default_model: string
    default_revision: string
    /** Whether the model knows more languages than English. */
    multilingual: boolean
    cuda_feature_enabled: boolean
    cuda_requested_via_env: boolean
    inference_note: string | null
  }
  /** The settings in force. */
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
    llm: {llm_refinement_default: boolean; llm_min_det_confidence: number; llm_max_output_tokens: number}
    logit: {bias_strength: number; bias_max_tokens: number; constrained_trie: boolean; trie_stuck_steps: number}
  }
}

/** Result of svc speech doctor --json. */
export interface SpeechDoctorV1 {
  checks: {
    name: string
    ok: boolean
    /** What was found; where it is not ok, what to do. */
    value: string
  }[]
  /** ok when every check is. */
  result: 'ok' | 'failed'
}

/** Result of svc speech pull --json. */
export interface SpeechPullV1 {
  /** The model on the hub. */
  id: string
  /** What was asked for. */
  revision: string
  /** What that is. */
  commit: string
  /** Folder of the files. */
  folder: string
  /** Empty where downloads are switched off. */
  files: {
    name: string
    bytes: number
    /** It was there already. */
    cached: boolean
  }[]
}

/** Result of svc speech subtitle --json. */
export interface SpeechSubtitleV1 {
  /** Absolute path of the recording. */
  path: string
  /** The subtitle file; null for standard output. */
  output_path: string | null
  format: 'srt' | 'vtt'
  /** How many blocks were written. */
  blocks: number
  /** Code of the language spoken; empty where nobody spoke. */
  language: string
  duration_ms: number
  /** Only with a reference. */
  comparison?: {
    word_error_rate: number
    character_error_rate: number
    /** Mean distance of beginnings and ends of blocks at the same place. */
    timing_offset_ms: number
  }
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
    /** After normalisation. */
    wer: number
    /** After normalisation. */
    cer: number
    confidence: number
    latency_ms: number
    /** Code of the error, where nothing could be heard. */
    error?: string
  }[]
  /** As written. */
  raw: Rates
  /** After normalisation. */
  normalized: Rates
  mean_latency_ms: number
  median_latency_ms: number
}

export interface Rates {
  /** Errors of all recordings per word of all. */
  wer: number
  cer: number
  errors: number
  words: number
  substitutions: number
  insertions: number
  deletions: number
}

/** Result of svc db check --json. */
export interface DbCheckV1 {
  files: number
  errors: number
  warnings: number
  diagnostics: {
    /** Category, a dot, and what is wrong. */
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

/** Lines and columns count from 1, columns in UTF-16 units; the end is not included. */
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
  /** A copy of the database as it was. */
  backup?: string
  /** Older copies that were removed. */
  removed_backups?: string[]
}

/** A step from a live database to a program. */
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
  /** auto: applied automatically; needs_default, rebuild: once the named flag is passed; manual: only when named. */
  class: 'auto' | 'needs_default' | 'rebuild' | 'manual'
  /** Without the step the program does not work. */
  blocking: boolean
  table?: string
  column?: string
  index?: string
  /** Of a changed column: what it is. */
  from?: string
  /** Of a changed column: what it becomes. */
  to?: string
  sql?: string
  /** What stands in the way, with the first rows that do. */
  reason?: string
  /** The flag of svc db migrate that decides it. */
  resolve_with?: string
}

/** Result of svc db test --json. */
export interface DbTestV1 {
  tests: {
    name: string
    status: 'passed' | 'failed'
    reason?: string
    message?: string
    /** Of a failed test: the line of the assertion, or of the test where none failed. */
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
  /** Topic of the change log, or session of a metric. */
  group: string
  kind: string
  count: number
  first_at: string
  last_at: string
}[]

/** Result of svc db prune --json. */
export interface DbPruneV1 {
  database: string
  table: string
  days: number
  rows: number
  applied: boolean
}

/** Result of svc db vacuum --json. */
export interface DbVacuumV1 {
  database: string
  bytes_before: number
  bytes_after: number
}

/** Result of svc db reset --json. */
export interface DbResetV1 {
  database: string
  backup: string | null
}

/** Result of svc mesh init --json. */
export interface MeshInitV1 {
  /** The file that was written. */
  path: string
  /** Names of the variables that were set in it. */
  written: string[]
  /** Those among them that a stronger source, such as the environment, sets too. */
  overruled: string[]
  /** Scope of the mesh; null where it has none. */
  scope_id: string | null
  /** Lets one node in, once; the only secret that is shown. */
  bootstrap_token: string
  /** When it ends, Unix ms. */
  bootstrap_expires_unix_ms: number
  /** The line for the other machine, with that token in it. */
  join_command: string
}

/** The hand-off file external_serving_handoff_v1.json: what an external runtime needs to serve an artifact. */
export interface ExternalServingHandoffV1 {
  schema: 'svc_external_serving_handoff_v1'
  schema_version: 1
  backend_family: 'vllm' | 'ollama' | 'hf-transformers' | 'openai-compatible' | 'other'
  base_model: string
  /** Path of tokenizer.json, or where to find it. */
  tokenizer_source: string
  /** Folder that holds the artifact. */
  artifact_dir: string
  /** How a chat becomes a prompt. */
  prompt_format: string
  adapter_path?: string | null
  openai_base_url?: string | null
  notes?: string | null
}

/** First line of svc mesh serve --json. */
export interface MeshReadyV1 {
  event: 'ready'
  /** What clients take as the address of the control plane. */
  base_url: string
  pid: number
  /** Whether whoever comes may do everything, or a token says who may do what. */
  auth: 'open' | 'tokens'
  /** File that everything is kept in. */
  db: string
}

/** A task that is submitted; one of an array in a batch. */
export interface SubmitTaskV1 {
  description: string
  /** background, normal or urgent. */
  priority?: string
  file_manifest?: {
    path: string
    /** read or write. */
    access: string
  }[]
  /** Another name of file_manifest; only one of them is given. */
  files?: {
    path: string
    /** read or write. */
    access: string
  }[]
  /** Tasks to be completed first. */
  depends_on?: number[]
  /** In a batch: places, from 0, of its tasks to be completed first. */
  temp_deps?: number[]
  /** Spawned where it is not there. */
  target_agent?: string
  processor?: 'ai' | 'exec' | 'external'
  exec?: {
    /** A command template of the workspace. */
    template: string
    params?: {[k: string]: string}
  }
  /** What its agent must have, such as gpu_cuda or labels. */
  capability_requirements?: {[k: string]: unknown}
  enqueue_hints?: {
    task_category?: string
    /** 1 to 10. */
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
    tool_hints?: string[]
    research_hints?: string[]
    required_labels?: string[]
    active_skill?: string
    is_detached?: boolean
    requires_approval?: boolean
  }
  requires_approval?: boolean
  /** Milliseconds after which a run of it ends, in the place of the limits of the workspace. */
  task_timeout_ms?: number
  /** How often it is run again after a failure, in the place of max_task_retries. */
  retries?: number
  /** When it may be started at the earliest, Unix ms. */
  not_before_ms?: number
  session_id?: string
  journey_id?: string
  thread_id?: string
  trace_id?: string
  correlation_id?: string
  tenant_id?: string
  /** The same key again gives the same task. */
  idempotency_key?: string
}

/** Result of svc orch submit --json, for a batch one per line. */
export interface OrchAcceptedV1 {
  task_id: number
  display_id: string
  uid: string
  agent_id: number
  agent_name: string
  status: TaskLabel
  placement_reason: PlacementReason
  trace_id: string
  /** It was there already, under the same key. */
  duplicate?: true
  orchestration_contract?: 'v2'
}

/** The state of a task; RemoteHold is one in progress that another node has. */
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

/** Why a task was placed where it is. */
export type PlacementReason =
  | 'local_queue_default'
  | 'populi_remote_lease_hold'
  | 'local_queue_fallback_after_remote_relay_error'
  | 'local_queue_fallback_insufficient_vram'

/** A task, as svc orch task --json and the commands that change one print it. */
export interface OrchTaskV1 {
  id: number
  /** Such as T-0042. */
  display_id: string
  /** Unique across all stores. */
  uid: string
  repository_id: string
  idempotency_key?: string
  status: TaskLabel
  /** Why it failed, was doubted, cancelled or queued again. */
  status_reason?: string
  /** The task that it waits for. */
  blocked_on?: number
  agent_id: number
  agent_name: string
  priority: 'background' | 'normal' | 'urgent'
  description: string
  category: string
  /** 1 to 10. */
  complexity: number
  /** Label of [PHASE:NAME] in the description, else single_shot. */
  phase_label: string
  execution_role?: 'planner' | 'builder' | 'verifier' | 'reproducer' | 'researcher'
  processor: 'ai' | 'exec' | 'external'
  exec?: {template: string; params: {[k: string]: string}}
  file_manifest: ManifestEntry[]
  /** Tasks that must be completed first. */
  depends_on: number[]
  /** What its agent must have. */
  capability_requirements?: Capabilities
  model_preference?: string
  model_override?: string
  benchmark_tier?: string
  budget?: {max_cost_usd?: number; max_latency_ms?: number}
  tool_hints: string[]
  research_hints: string[]
  active_skill?: string
  is_detached: boolean
  placement_reason: PlacementReason
  /** The node that has it. */
  remote_delegate?: {idempotency_key: string; lease_id?: string; claimer_node_id?: string}
  /** The client that works on it. */
  claim?: {
    owner: string
    generation: number
    /** When it ends unless it is renewed, Unix ms. */
    expires_at_ms: number
  }
  /** Of its latest claim or run: what was done under an earlier one no longer counts. */
  generation: number
  current_phase?: 'inspect' | 'localize' | 'hypothesize' | 'act' | 'verify' | 'decide'
  transcript: {agent_id: number; agent_name: string; message: string; timestamp_ms: number}[]
  /** What came of it; its processor may have added more. */
  result?: {text: string; [k: string]: unknown}
  /** What its command has written, in its latest run. */
  output?: {
    /** Both pipes; a line counts the bytes that are missing. */
    text: string
    /** All that it has written. */
    bytes: number
    /** Bytes between its beginning and its end that are not kept. */
    missing_bytes: number
  }
  audit_report?: string
  retry_count: number
  debug_iterations: number
  toestub_iterations: number
  socrates_iterations: number
  handoff_count: number
  /** When it was submitted, Unix ms. */
  created_at_ms: number
  /** When it last changed, Unix ms. */
  updated_at_ms: number
  /** When it was last started, Unix ms. */
  started_at_ms?: number
  /** When it was over, Unix ms. */
  finished_at_ms?: number
  /** After which a run of it ends. */
  task_timeout_ms?: number
  /** How often it is run again after a failure. */
  retries?: number
  /** When it may be started at the earliest, Unix ms. */
  not_before_ms?: number
  journey_id?: string
  session_id?: string
  thread_id?: string
  /** W3C trace id where possible; generated when the caller passes none. */
  trace_id: string
  correlation_id?: string
  tenant_id?: string
  campaign_id?: string
}

/** A file that a task reads or writes: a path relative to the root of the workspace, with /. */
export interface ManifestEntry {
  path: string
  access: 'read' | 'write'
}

/** What an agent has, or what a task needs. */
export interface Capabilities {
  gpu_cuda: boolean
  gpu_metal: boolean
  gpu_vulkan: boolean
  gpu_webgpu: boolean
  npu: boolean
  visual_eligible: boolean
  multi_modal: boolean
  /** A wish of a task, which costs an agent without an accelerator points but no more. */
  prefer_gpu_compute: boolean
  /** server, desktop, mobile, browser, or any other word. */
  device_class?: string
  /** MiB: offered by an agent, needed by a task. */
  min_vram_mb?: number
  /** Needed by a task. */
  min_cpu_cores?: number
  /** Logical CPUs of an agent. */
  cpu_cores?: number
  /** x86_64, aarch64. */
  arch?: string
  hostname?: string
  routing_tier?: string
  /** key=value by convention; a task's must all be covered. */
  labels: string[]
}

/** Result of svc orch cancel --json and svc orch retry --json for several tasks. */
export interface OrchOutcomesV1 {
  /** Nothing was changed; the states are those that tasks would have. */
  dry_run: boolean
  /** How many tasks have an error. */
  failed: number
  tasks: {
    task_id: number
    display_id: string
    /** Its state now, where it was changed. */
    status?: string
    /** Why it was not changed. */
    error?: {code: string; message: string; remediation: string}
  }[]
}

/** Result of svc orch prune --json. */
export interface OrchPruneV1 {
  /** Nothing was removed. */
  dry_run: boolean
  /** How many tasks were removed, or would be. */
  removed: number
  /** How many finished tasks of that age stay, by the reason. */
  kept: {
    /** A task that stays may still need them. */
    dependency: number
    /** Their plan is not over. */
    plan: number
    /** A task of their journey is not over. */
    journey: number
    /** Their command is still being ended. */
    run: number
  }
}

/** Result of svc orch status --json. */
export interface OrchStatusV1 {
  enabled: boolean
  repository_id: string
  /** File that the tasks are kept in. */
  store: string
  /** Whose store it is: the workspace's own, the user's, or none that is kept. */
  active_store: 'project' | 'canonical' | 'none'
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
  /** Tasks that wait because another agent has one of their files. */
  total_contention: number
  total_weighted_load: number
  predicted_load: number
  max_handoff_count: number
  scaling_profile: string
  /** Load of each agent from which another one is started. */
  effective_scale_up_threshold: number
  planning: {
    /** Plans whose steps are being done. */
    active_sessions: number
    total_sessions: number
  }
  /** Operations that can be undone or done again. */
  oplog_count: number
  /** Whether events are kept, or gone with the process. */
  event_feed_mode: 'database_and_transient' | 'transient_only'
  /** Processes that run tasks of themselves: the daemon, where there is one. */
  registered_worker_processes: number
  /** The process that runs the tasks; null while none does. */
  daemon: {
    pid: number
    host: string
    /** Since when, Unix ms. */
    since_ms: number
  } | null
  agents: {id: number; display_id: string; [k: string]: unknown}[]
}

/** Result of svc orch agent spawn, pause and resume under --json. */
export interface OrchAgentV1 {
  id: number
  /** Such as A-03. */
  display_id: string
  name: string
  /** Reserved agents are spawned by a person or to reach the least number; dynamic ones by routing and scaling, and they retire when they are idle; the resolution agent has the tasks in doubt and never runs any. */
  kind: 'reserved' | 'dynamic' | 'resolution'
  state: 'active' | 'paused' | 'retired'
  parent_agent_id?: number
  source_task_id?: number
  spawn_reason?: string
  /** What it has. */
  capabilities: Capabilities
  /** Name of the model that it asks, where it has one of its own. */
  model?: string
  session_id?: string
  activity: 'writing' | 'reading' | 'executing' | 'thinking' | 'waiting_for_input' | 'idle'
  queued: number
  queued_urgent: number
  queued_normal: number
  queued_background: number
  running: number
  doubted: number
  completed: number
  /** Sum over its queued and running tasks of priority weight times complexity / 5. */
  weighted_load: number
  owned_files: number
  current_phase?: 'inspect' | 'localize' | 'hypothesize' | 'act' | 'verify' | 'decide'
  tokens_used: number
  cost_usd: number
  /** When it was spawned, Unix ms. */
  created_at_ms: number
  /** When it last did something, Unix ms. */
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
  /** Tasks that went to other agents. */
  moved: number[]
}

/** Result of svc orch rebalance --json. */
export interface OrchRebalanceV1 {
  moves: {task_id: number; display_id: string; from_agent_id: number; to_agent_id: number}[]
}

/** Result of svc orch claim --json. */
export interface OrchClaimV1 {
  /** As the contract cli/orch-task.v1 describes it. */
  task: {id: number; display_id: string; [k: string]: unknown}
  /** Under which the task is to be completed or failed. */
  generation: number
}

/** Result of svc orch heartbeat --json. */
export interface OrchHeartbeatV1 {
  task_id: number
  display_id: string
  generation: number
  /** When the claim ends unless it is renewed, Unix ms. */
  expires_at_ms: number
}

/** Result of svc orch undo --json and svc orch redo --json. */
export interface OrchOperationV1 {
  id: number
  op_id: string
  operation: 'reorder_task' | 'pause_agent' | 'resume_agent' | 'spawn_agent' | 'submit_task'
  /** What was done. */
  summary: string
  /** Whether it is taken back at present. */
  undone: boolean
  /** When it came into the log, Unix ms. */
  timestamp_ms: number
  /** The task that it is about now. */
  task_id?: number
  /** The agent that it is about now. */
  agent_id?: number
}

/** What a request says of itself to everything that is written down of it. Other members are allowed. */
export interface JourneyEnvelopeV1 {
  envelope_version: 1
  /** The same for all that one wish of a user sets going. */
  journey_id: string
  session_id: string
  thread_id?: string | null
  /** W3C trace id, 32 hexadecimal digits, where possible. */
  trace_id?: string | null
  /** Stands in where there is no trace id. */
  correlation_id?: string | null
  /** Of the workspace. */
  repository_id: string
  /** Where the request came in. */
  origin_surface: 'mcp' | 'cli' | 'orchestrator' | 'daemon'
  /** How it wants to be thought about: fast, reasoning or creative. */
  cognitive_profile?: string | null
  [k: string]: unknown
}

/** First line of svc daemon run --json. */
export interface DaemonReadyV1 {
  event: 'ready'
  pid: number
  /** Term of this daemon: each one has a higher number than the last. */
  fence: number
  /** Tasks of the last daemon that are queued again. */
  recovered: number
  store: string
  /** HOST:PORT where programs can connect to it; absent where none can. */
  addr?: string
}

/** Result of svc daemon start --json. */
export interface DaemonStartV1 {
  pid: number
  /** HOST:PORT where programs can connect to it. */
  addr: string
  /** File that what it has to say goes to. */
  log: string
}

/** Result of svc daemon status --json, where a daemon runs. */
export interface DaemonStatusV1 {
  running: true
  pid: number
  /** HOST:PORT where it answers; null where it listens nowhere. */
  addr: string | null
  protocol: string
  repository_id: string
  started_at_ms: number
  /** Null where it cannot be asked. */
  server_version: string | null
  /** It was asked to end, and lets its tasks end first. */
  ending: boolean
}

/** Result of svc daemon stop --json. */
export interface DaemonStopV1 {
  /** The process that has ended. */
  pid: number
  stopped: true
}

/** Something that happened to a task or an agent. */
export interface OrchestrationEventV1 {
  /** Grows in the order in which things happened. */
  id: number
  timestamp_ms: number
  /** What has happened: type says what, the members beside it are its facts. */
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
        /** Tasks queued for the agent once this one is in. */
        queue_len: number
        trace_id: string
        /** Terms of the score of the chosen agent; only while unified routing telemetry is on. */
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
    | {type: 'task_unblocked' | 'task_approved'; task_id: number; agent_id: number}
    | {type: 'task_reordered'; task_id: number; agent_id: number; priority: 'background' | 'normal' | 'urgent'}
    | {type: 'task_moved'; task_id: number; agent_id: number; from_agent_id: number}
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
        type: 'message_sent'
        /** Whose inbox it is. */
        agent_id: number
        sender_agent_id: number
        message_id: number
        message_uuid: string
        msg_type: string
      }
    | {
        type: 'message_dead_lettered'
        /** Whose inbox it is. */
        agent_id: number
        sender_agent_id: number
        message_id: number
        message_uuid: string
        msg_type: string
        delivery_attempts: number
        /** Why its last delivery failed, where a reason is known. */
        error?: string
      }
    | {type: 'urgent_rebalance_triggered'; moved: number}
    | {
        type: 'plan_session_created'
        plan_session_id: string
        strategy: 'immediate_act' | 'continuous_ooda' | 'sequential_dag' | 'hierarchical_htn' | 'workflow_handoff'
        nodes: number
      }
    | {type: 'plan_version_created'; plan_session_id: string; version: number; parent_version?: number}
    | {
        type: 'replan_triggered'
        plan_session_id: string
        version: number
        /** replan where somebody asked for it, else what failed. */
        reason: string
        task_id?: number
      }
    | {
        type: 'plan_node_status'
        plan_session_id: string
        version: number
        node_id: string
        /** pending where it could not be submitted. */
        status: 'pending' | 'queued' | 'in_progress' | 'completed' | 'failed' | 'cancelled' | 'superseded'
        task_id?: number
        reason?: string
      }
    | {type: 'daemon_started' | 'daemon_stopped'; holder: string; fence: number}
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
        /** Names of the settings that are others now. */
        changed: string[]
      }
  /** Ids of the request that the task came with. */
  correlation?: {
    journey_id?: string
    session_id?: string
    thread_id?: string
    trace_id?: string
    correlation_id?: string
  }
}

/** How the writing of a program by a model went. */
export interface RuntimeGenerationKpiV1 {
  schema: 'svc_runtime_generation_kpi_v1'
  schema_version: 1
  surface: 'svc-cli' | 'mcp' | 'daemon'
  success: boolean
  validate_requested: boolean
  /** Whether the last program is without errors; null where nobody looked. */
  compile_pass: boolean | null
  /** Whether the last program is written as the formatter writes it; null where nobody looked. */
  canonical_pass: boolean | null
  /** Calls of the model. */
  attempts: number
  /** Two programs running had the same errors. */
  repair_stalled: boolean
  /** Until a program was found to be without errors; null where none was. */
  time_to_first_valid_ms: number | null
  /** Of all attempts. */
  output_tokens: number
  /** Attempts whose answer was no program in the form that was asked for. */
  surface_contract_failures: number
  /** Attempts whose program was refused only for what the language skips with a warning. */
  strictness_failures?: number | null
  canonicalization_failures?: number | null
  /** Why there is no program. */
  failure_category?: 'surface_contract' | 'repair_stall' | 'semantic' | null
}

/** Files that were written with a program of a model. */
export interface FileOutcomesV1 {
  schema: 'svc_generate_code_file_outcomes_v1'
  schema_version: 1
  /** Relative to the root of the workspace. */
  written_paths: string[]
  bytes_written: number
  artifact_kind: 'svc_generated'
  post_write_snapshot_id?: string | number
}

/** Result of svc a2a send --json. */
export interface A2ASendV1 {
  message_id: number
  display_id?: string
  /** Names a message of the route db in all workspaces. */
  db_message_uuid: string | null
  sender: number
  receiver: number
  msg_type: string
  route: 'local' | 'db' | 'mesh'
  delivery_plane: 'local_ephemeral' | 'local_durable' | 'remote_mesh'
  route_ok: true
  /** The message was there already, under the same key. */
  duplicate: boolean
  idempotency_key: string
  correlation_id: string | null
  tenant_id: string | null
  relay_attempted: boolean
  relay_ok: boolean
  /** Unread messages that had to make room for this one. */
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
  /** Unread messages, also those that are not shown; of the mesh those that were read. */
  unread_count: number
  remote_attempted: boolean
  remote_ok: boolean
  /** Unread messages that were lost since the process started. */
  dropped_messages: number
  suppressed_count: number
  focus_depth_filter_active: boolean
  /** For whom the messages were claimed. */
  consumer_id?: string
  messages: InboxMessage[]
}

/** A message in an inbox. Members that say nothing are left out. */
export interface InboxMessage {
  id: number
  /** M-000012 of the route local, whose ids are those of the process; mesh:1042 of the route mesh. */
  display_id?: string
  /** Only of the route db. */
  uuid?: string
  /** Digits where an agent of another machine has an id that a number cannot hold. */
  sender: number | string
  /** Null is every agent but the sender. */
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
  /** How often it was claimed; not of the route local, as what follows. */
  delivery_attempts?: number
  claim_owner?: string
  claim_until_ms?: number
  last_claim_error?: string
  /** It was delivered too often, or its agent is retired: it is not delivered again. */
  dead_lettered?: boolean
}

/** Result of svc a2a ack --json. */
export interface A2AAckV1 {
  /** False where it had been acknowledged before, or failed. */
  acknowledged: boolean
  message_id: number
  db_message_uuid: string | null
  route: 'local' | 'db' | 'mesh'
  delivery_plane: 'local_ephemeral' | 'local_durable' | 'remote_mesh' | 'broadcast'
  local_acknowledged: boolean
  remote_attempted: boolean
  remote_acknowledged: boolean
  /** It is not delivered again. */
  dead_lettered: boolean
}

/** Result of svc mcp config --json. */
export interface McpConfigV1 {
  /** Null without --client. */
  client: 'claude' | 'cursor' | 'vscode' | 'zed' | null
  /** Configuration file of the client; null without --client. */
  file: string | null
  /** What the client reads: one member that holds the server by its name. */
  configuration: {
    [k: string]: {
      [k: string]: {
        /** Of VS Code. */
        type?: 'stdio'
        /** Absolute path of Node.js. */
        command: string
        args: string[]
      }
    }
  }
  /** Whether the file was changed. */
  written: boolean
  /** Copy of the file before the change; null where there is none. */
  backup: string | null
}

/** First line of svc mesh dashboard --json. */
export interface MeshDashboardReadyV1 {
  event: 'ready'
  /** Address of the page. It has a key in it, which is a new one each time and lets in whoever has it. */
  base_url: string
  pid: number
}

/** Result of svc mesh nodes --json. */
export interface MeshNodesV1 {
  schema_version: number
  nodes: MeshNode[]
  /** Messages that are neither acknowledged nor claimed. */
  queue_depth?: number
  server_time_unix_ms?: number
  [k: string]: unknown
}

/** A node as the control plane has it; newer ones tell more. */
export interface MeshNode {
  id: string
  version: string
  last_seen_unix_ms: number
  capabilities?: {labels?: string[]; [k: string]: unknown}
  scope_id?: string
  maintenance?: boolean
  maintenance_until_unix_ms?: number
  quarantined?: boolean
  [k: string]: unknown
}

/** A line of svc mesh nodes --watch --json. */
export interface MeshNodesChangeV1 {
  /** Nodes that are there at first are listed. */
  event: 'listed' | 'joined' | 'changed' | 'left'
  /** Only a node that is ok takes work. */
  state: 'ok' | 'stale' | 'maintenance' | 'quarantined'
  node: MeshNode
}

/** A line of svc mesh join --json. */
export type MeshJoinV1 =
  | {
      event: 'paired'
      node_id: string
      /** Where the tokens are kept that this machine was given. */
      env_file: string
      role: 'worker' | 'mesh'
      scope_id: string | null
    }
  | {event: 'joined'; node_id: string; control_url: string; scope_id: string | null; pid: number}
  | {
      event: 'failed'
      node_id: string
      operation: 'join' | 'heartbeat'
      error: string
      /** Of the control plane where it gave one, else of svc. */
      code: string
      /** One after the other. */
      failures: number
      /** Until the next try. */
      next_ms: number
    }
  | {event: 'rejoining'; node_id: string}
  | {
      event: 'left'
      node_id: string
      /** Whether the mesh had it. */
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
  /** The id as a number: it grows with every change of holder. */
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
  /** Why the control plane cannot be asked. */
  error: string | null
  /** Where the first of the secrets comes from that lie in a file. */
  env_file: string | null
  security: MeshSecurity
  overlay: {provider: 'tailscale' | 'wireguard' | 'zerotier'; available: boolean; connected: boolean; detail: string}[]
  registry_path: string
  /** The nodes that this machine was started as; null where its file cannot be read. */
  registry: {schema_version: number; nodes: MeshNode[]; [k: string]: unknown} | null
  registry_error: string | null
  /** What this machine tells of itself as a node. */
  self_record: {
    /** Null before it has joined, where none is set. */
    id: string | null
    version: string
    capabilities: {[k: string]: unknown}
    [k: string]: unknown
  }
  queue: {
    pending_count: number
    pending_by_kind?: {[k: string]: unknown}
    pending_by_priority?: {[k: string]: unknown}
    dead_count?: number
    [k: string]: unknown
  } | null
}

/** Which secrets of the mesh are set. */
export interface MeshSecurity {
  token_set: boolean
  worker_token_set: boolean
  submitter_token_set: boolean
  admin_token_set: boolean
  jwt_secret_set: boolean
  bootstrap_token_set: boolean
  /** open: no secret at all; legacy_mesh_only: one token for everything; role_mix: one for each role, or tokens that name theirs. */
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
    /** Who has claimed it. */
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
  /** It was there already, under its key. */
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
    /** When it was given up. */
    dead_unix_ms: number
    [k: string]: unknown
  }[]
  /** What --before takes for the next page, where there is one. */
  next_cursor?: string
  [k: string]: unknown
}

/** Result of svc mesh dead retry and svc mesh dead drop --json. */
export interface MeshDeadOutcomeV1 {
  /** In their inboxes, or dropped, now or by an earlier command. */
  message_ids: number[]
  not_found: number[]
  [k: string]: unknown
}

/** Result of svc mesh audit --json. */
export interface MeshAuditV1 {
  entries: {
    id: number
    at_unix_ms: number
    /** A node, an administrator, or store. */
    actor: string
    /** Such as lease.granted, node.quarantine or message.dead. */
    action: string
    /** The key of a lease, a node, a message. */
    target: string
    detail: {[k: string]: unknown}
    [k: string]: unknown
  }[]
  /** What --before takes for the next page, where there is one. */
  next_cursor?: string
  [k: string]: unknown
}

/** Result of svc mesh admin maintenance --json. */
export interface MeshMaintenanceV1 {
  node_id: string
  maintenance: boolean
  /** When it ends by itself, where it does; what was asked for in minutes is reckoned by the clock of this machine. */
  maintenance_until_unix_ms?: number
}

/** Result of svc mesh prove --json. */
export interface MeshProveV1 {
  seed: number
  /** As it was asked for. */
  minutes: number
  /** It took, with the judgement. */
  seconds: number
  /** Requests that clients sent. */
  operations: number
  /** Of those, the ones that were answered. */
  answered: number
  by_operation: {
    operation: string
    sent: number
    /** How often each status was answered; unknown where no answer came. */
    outcomes: {[k: string]: number}
  }[]
  /** How often each fault was made. */
  faults: {[k: string]: number}
  invariants: {
    id: string
    /** What is always so. */
    claim: string
    held: boolean
    /** Facts that it was held against. */
    checked: number
    violations: {
      what: string
      /** Ids, in calls.jsonl of the folder, of the requests that show it. */
      calls: number[]
    }[]
    /** Those beyond the ones that are told. */
    more_violations: number
  }[]
  /** All of them held. */
  held: boolean
  /** Logs and database of the run; null where everything held and they were not to be kept. */
  folder: string | null
}
