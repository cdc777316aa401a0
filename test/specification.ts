/** A requirement in short words, and the tests that hold it: `file: title`, the file in `test/` without `.test.ts`. */
export type Requirement = readonly [requirement: string, ...tests: string[]]

export const sections = [
  '1',
  '2.1',
  '2.2',
  '2.3',
  '2.4',
  '2.5',
  '2.6',
  '2.7',
  '2.8',
  '2.9',
  '2.10',
  '3',
  '4.1',
  '4.2',
  '4.3',
  '4.4',
  '4.5',
  '4.6',
  '5',
  '6',
  '7',
  '8',
  '9',
] as const

/** A variable of the orchestrator, whose values and whose effect are tested. */
const orchestratorVariable = (name: string, setting: string): Requirement => [
  `SVC_ORCHESTRATOR_${name} sets ${setting}`,
  `config/orchestrator: SVC_ORCHESTRATOR_${name} sets`,
  `commands/orch-settings: SVC_ORCHESTRATOR_${name} controls`,
]

/** The requirements of each section of the specification. */
export const specification: Readonly<Record<(typeof sections)[number], readonly Requirement[]>> = {
  '1': [
    [
      'a server process loads a trained run directory and answers chat and generate requests',
      'commands/serve: applies the adapter to the base of the manifest; --ignore-eval-gate overrides a failed evaluation',
      'commands/serve: a published model, served',
    ],
    [
      'the server is compatible with clients of Ollama and of OpenAI',
      'commands/serve: to the official Ollama client',
      'commands/serve: to the official OpenAI client',
    ],
    [
      'the command line, the tool server and the daemon work on the same tasks',
      'mcp/story: submits a task, follows it, doubts it, resolves the doubt, claims it and completes it',
      'commands/daemon: runs command templates and prints each event as a line',
      'operations/bindings: every binding of every operation',
    ],
    [
      'tasks are routed to agents',
      'tasks/routing: without properties goes to the least loaded agent',
      'tasks/submit: is that of the group of its files, spawned if necessary',
    ],
    [
      'the number of agents follows the load',
      'scheduler/scaling-tick: starts agents for the load and gives them a share of the waiting tasks',
      'scheduler/scaling-tick: keeps min_agents and all reserved agents',
    ],
    [
      'completions pass gates by policy',
      'tasks/completion/gates: returns a task with what to correct, and accepts the corrected work',
      'tasks/gates/gates: are in the published order, each with the counter of its family',
    ],
    [
      'tasks can be delegated to nodes of the mesh',
      'commands/mesh-join: runs a task that another workspace submits, and returns its files',
      'delegation/claimer/delegator: a task with a gated role',
    ],
    [
      'nodes join the mesh, send heartbeats, are listed and leave',
      'mesh/control-plane/route-walk: join, heartbeat, list and leave',
      'mesh/client/control-plane: lists the node while it sends heartbeats and until it leaves',
    ],
    [
      'the mesh grants execution leases',
      'mesh/control-plane/route-walk: grant, renew, verify, list, release and revoke a lease',
      'mesh/store/conformance/leases: are held by one node while it renews them',
    ],
    [
      'the mesh quarantines nodes',
      'mesh/control-plane/route-walk: start and end quarantine and maintenance',
      'mesh/store/conformance/nodes: stay in quarantine after leaving, joining and restarts',
    ],
    [
      'programs declare tables, indexes, endpoints and routes, and use db',
      'lang/operations: are those of its endpoints, by kind, and those that it declares',
      'lang/operations: an operation of a table',
    ],
    [
      'recordings are transcribed and refined on the command line',
      'commands/transcribe: prints the same text in every format',
      'commands/transcribe: refines the text by profile, lexicon and settings',
    ],
    [
      'recordings are transcribed by tools and over HTTP',
      'mcp/speech: transcribe a recording like the command line and report progress',
      'speech-server/recordings: transcribes a recording of the workspace, by relative or absolute path',
    ],
    [
      'streams are transcribed',
      'commands/listen: svc listen with standard input',
      'speech-server/stream: sends ready, growing partials, and one final that equals the offline transcript',
    ],
    [
      'Speech.transcribe of the language returns Result[str]',
      'commands/db: transcribes recordings of the workspace, but not through links out of it',
      'app-server/http: returns 422 for a missing recording, and never reads outside the workspace',
    ],
    ['no native speech engine is used', 'speech/native: loads no native code other than ONNX Runtime'],
  ],
  '2.1': [
    [
      'the adapter of a run directory is a safetensors file',
      'weights/adapter: an adapter is read from',
      'commands/serve: applies the adapter to the base of the manifest; --ignore-eval-gate overrides a failed evaluation',
    ],
    [
      'tokenizer.json comes from the run directory, else from the base model',
      'weights/adapter: provides configuration and tokenizer if the run has none',
    ],
    [
      'weights may be one file, an index of shards or numbered shards',
      'weights/run-directory: finds the same tensors with',
      'weights/run-directory: uses the first of several numbered shards with the same tensor',
    ],
    [
      'external_serving_handoff_v1.json matches its contract',
      'examples/guide: has a hand-off file that matches its contract',
      'contracts/contracts: a hand-off document',
    ],
    [
      'the merge command writes the hand-off file next to its output',
      'commands/merge: writes the changed tensors to one file, with a hand-off file next to it',
      'weights/merge/prompts: has the path of its base model in the hand-off file',
    ],
    [
      'the served name is the last component of the run directory',
      'weights/run-directory: uses the last component of the path as the name',
      'commands/generate: generates text and is named after its directory',
    ],
    [
      '--model-name sets the served name, which /api/tags returns',
      'commands/serve: is listed, shown and running under its name',
      'serve/ollama/model: lists the served model under its exact name',
    ],
    [
      'svc serve --model needs an existing run directory',
      'commands/serve: a trained run directory, served',
      'weights/run-directory: reports every path tried if the model does not exist',
    ],
    [
      'svc serve --port sets the port',
      'commands/serve: reports a port that is in use',
      'net/app: chooses a free port for 0 and returns the address',
    ],
    [
      'svc serve --device is cpu or cuda, and fails if the device is not available',
      'commands/serve: refuses before opening the port: an unavailable device',
    ],
  ],
  '2.2': [
    [
      'SVC_INFERENCE_URL is preferred to SVC_LOCAL_SERVER_URL',
      'inference-client/endpoint: prefers SVC_INFERENCE_URL over all other variables',
      'config/resolve: is http://first:1, given everything',
    ],
    [
      'SVC_LOCAL_SERVER_URL is the address if SVC_INFERENCE_URL is unset',
      'inference-client/endpoint: prefers SVC_LOCAL_SERVER_URL',
      'config/resolve: is http://second:2, given all but SVC_INFERENCE_URL',
    ],
    ['the default address is that of svc serve', 'inference-client/endpoint: defaults to svc serve'],
    [
      'SVC_INFERENCE_MODEL names the local model of the registry',
      'inference-client/endpoint: contains the configured local model',
    ],
    [
      'a configured model must have a served name',
      'inference-client/endpoint: replaces the placeholder by the served models, and adds them to a configured one',
      'commands/doctor: reports the inference server, and its models if the configured one is missing',
    ],
    [
      '[mesh].control_url is the optional base of the control plane',
      'config/file: prefers [mesh], and falls back to [orchestrator]',
      'commands/orch-settings: SVC_ORCHESTRATOR_MESH_CONTROL_URL controls',
    ],
    [
      '[mesh].inference_base_url sets the inference server',
      'config/resolve: is http://mesh:4, given only the file',
      'config/orchestrator: is overridden by [mesh] and by its legacy name',
    ],
    [
      'populi_inference_base_url is accepted in [orchestrator]',
      'config/resolve: is http://populi:6, given only its older key',
    ],
    [
      'SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL sets the inference server of the mesh',
      'config/orchestrator: SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL sets',
      'commands/orch-settings: SVC_ORCHESTRATOR_MESH_INFERENCE_BASE_URL controls',
    ],
    [
      'a launcher passes the inference server of the mesh on as SVC_INFERENCE_URL',
      'commands/daemon-background: pass the inference server of the mesh on to the daemon',
    ],
    ['the table [mens] is accepted in place of [mesh]', 'config/file: a Svc.toml with the legacy table [mens]'],
    [
      'variables win over [mesh], field by field',
      'config/resolve: a setting with all sources',
      'config/resolve: an empty environment variable',
    ],
    [
      '[mesh] sets the scope and the labels',
      'commands/orch-settings: SVC_MESH_SCOPE_ID controls',
      'commands/orch-settings: SVC_MESH_LABELS controls',
    ],
  ],
  '2.3': [
    [
      'the journey envelope has a schema, which its fields match',
      'journeys/envelope: of a request with all members matches its contract',
      'journeys/envelope: the contract of the envelope',
    ],
    [
      'the envelope has journey_id, session_id, thread_id, trace_id and correlation_id',
      'journeys/envelope: of a request with all members matches its contract',
    ],
    ['the envelope has repository_id and origin_surface', 'journeys/envelope: contains the surface of the request'],
    [
      'a request without a journey id gets one',
      'journeys/envelope: has a new journey id for every request without one',
    ],
    [
      'chat messages store the envelope with both turns',
      'assistant/chat: returns the answer and stores both turns with the journey',
    ],
    [
      'tasks of the command line and of the daemon have the fields of the envelope',
      'commands/orch-submit: submits all properties of a task',
      'assistant/accounting: use the correlation id if there is no trace id',
      'tasks/submit: contains its submission and its end, with the ids of the request',
    ],
    [
      'the tables developer_journey_definitions and developer_journey_steps hold the journeys',
      'journeys/canonical-steps: has the journeys in its store with their steps in order',
    ],
    [
      'one canonical journey is seeded, and its id begins with canonical_journey.v1.',
      'journeys/canonical-steps: has the canonical journey with its steps in order',
      'contracts/journeys: and its steps match their contracts',
    ],
    [
      'limitations.v1.yaml has the limitations that steps refer to',
      'contracts/journeys: are exactly those that steps refer to',
      'contracts/journeys: match their contract',
    ],
  ],
  '2.4': [
    [
      'agent capabilities have cpu_cores, arch and hostname',
      'workspace/capabilities: has the cores, architecture and name of the machine, whatever is configured',
    ],
    [
      'agent capabilities have labels, flags of accelerators, device_class and minima',
      'workspace/capabilities: keep known members and drop unknown ones',
      'workspace/capabilities: has the configured class and minima, with gaps filled in by the machine',
    ],
    [
      'tasks have capability_requirements',
      'tasks/submit: combines the labels of its hints and requirements',
      'tasks/submission: match the contract',
    ],
    [
      'a new agent starts with the configured capabilities',
      'tasks/agents: has the configured capabilities and its own labels',
      'workspace/capabilities: keeps configured values that the machine does not report',
    ],
    [
      'the machine overrides cpu_cores, arch and hostname',
      'mesh/node/host: reports cores, architecture and hostname',
      'workspace/capabilities: has the cores, architecture and name of the machine, whatever is configured',
    ],
    ['hostname is HOSTNAME, COMPUTERNAME or that of the system', 'mesh/node/host: uses the hostname'],
    [
      'configured labels come first, and those of the machine follow without duplicates',
      'workspace/capabilities: has the configured labels first, then those of the machine, without duplicates',
    ],
    [
      'an accelerator that is configured stays',
      'workspace/capabilities: has an accelerator that is configured or advertised',
    ],
    [
      'SVC_MESH_ADVERTISE_GPU sets gpu_cuda if it is 1 or true',
      'mesh/node/host: sets only gpu_cuda with SVC_MESH_ADVERTISE_GPU',
    ],
    [
      'SVC_MESH_ADVERTISE_VULKAN sets gpu_vulkan',
      'mesh/node/host: sets only gpu_vulkan with SVC_MESH_ADVERTISE_VULKAN',
    ],
    [
      'SVC_MESH_ADVERTISE_WEBGPU sets gpu_webgpu',
      'mesh/node/host: sets only gpu_webgpu with SVC_MESH_ADVERTISE_WEBGPU',
    ],
    ['SVC_MESH_ADVERTISE_NPU sets npu', 'mesh/node/host: sets only npu with SVC_MESH_ADVERTISE_NPU'],
    [
      'SVC_MESH_DEVICE_CLASS sets device_class',
      'mesh/node/host: reads device class and labels from the environment',
      'commands/orch-settings: SVC_MESH_DEVICE_CLASS controls',
    ],
    [
      'min_vram_mb and min_cpu_cores come from the machine if they are not configured',
      'workspace/capabilities: offers the cores and the GPU memory of the machine unless they are configured',
    ],
    [
      'min_vram_mb is a soft requirement of routing',
      'tasks/routing: goes to the agent penalised by',
      'tasks/submit: a task that needs GPU memory',
    ],
    [
      'prefer_gpu_compute and min_cpu_cores are soft requirements of routing',
      'tasks/routing: explains the points of',
      'tasks/routing: goes to the agent preferred by',
    ],
    [
      'routing has soft penalties for unmet requirements',
      'tasks/routing: counts each unmet hard requirement',
      'tasks/routing: avoids the owner of its file if that lacks GPU memory',
    ],
  ],
  '2.5': [
    [
      'each node of the list becomes a routing hint',
      'tasks/remote-nodes: have the capabilities and GPU counts that they reported',
      'delegation/nodes/node-poller: stores the nodes at once and updates them',
    ],
    [
      'a node record has last_seen_unix_ms',
      'tasks/remote-nodes: are shown in the status with the times when they were last seen',
      'mesh/store/conformance/nodes: update last-seen time and load with a short heartbeat',
    ],
    [
      'leases have holder_node_id',
      'mesh/client/control-plane: is renewed beyond its first duration and free after its release',
      'mesh/control-plane/route-walk: grant, renew, verify, list, release and revoke a lease',
    ],
    [
      'a claim and a lease request have claimer_node_id',
      'mesh/control-plane/route-walk: deliver, read, claim, renew and acknowledge a message',
      'mesh/node/claimer-id: claimerId',
    ],
    [
      'a node older than stale_threshold_ms at the poll is stale (heartbeat_stale)',
      'tasks/remote-nodes: are stale by the clock of the control plane',
      'tasks/routing: becomes stale after the threshold, and never with a threshold of 0',
    ],
    [
      'routing skips stale nodes',
      'tasks/remote-nodes: ignores nodes that cannot receive work, and all nodes if it is disabled',
    ],
    [
      'nodes in maintenance or quarantine get no work',
      'tasks/remote-nodes: are not schedulable in maintenance and quarantine',
    ],
    [
      'exec_lease_id is in the envelope and in the result of a delegated task',
      'delegation/worker/result: contains the lease, the outcome and the usage',
      'delegation/claimer/delegator: is not accepted under another lease, and a second result changes nothing',
    ],
    [
      'the envelope of a delegated task may have campaign_id',
      'delegation/claimer/delegator: runs on another node, is accepted once, and its lease is released',
    ],
    [
      'each routing decision is an event and a log record with task_id, agent_id and placement_reason',
      'tasks/events: describe a task from its submission to its end',
    ],
    [
      'the lease is in the placement of a delegated task, in its record and in its envelope',
      'delegation/claimer/delegator: runs on another node, is accepted once, and its lease is released',
    ],
    [
      'placement_reason local_queue_default',
      'tasks/routing: that fits a node is local_queue_default',
      'tasks/submit: returns its placement and is stored with all defaults',
    ],
    [
      'placement_reason populi_remote_lease_hold',
      'tasks/routing: that is held for a node is populi_remote_lease_hold',
      'delegation/claimer/delegator: runs on another node, is accepted once, and its lease is released',
    ],
    [
      'placement_reason local_queue_fallback_after_remote_relay_error',
      'tasks/routing: that could not be delegated is local_queue_fallback_after_remote_relay_error',
      'delegation/claimer/delegator: if the envelope is refused, and its lease is released',
    ],
    [
      'placement_reason local_queue_fallback_insufficient_vram',
      'tasks/routing: that fits no node with known memory is local_queue_fallback_insufficient_vram',
      'delegation/claimer/delegator: if no node has the GPU memory',
    ],
  ],
  '2.6': [
    [
      'the table [orchestrator] of the workspace file sets orchestrator settings',
      'config/orchestrator: can set everything at once',
    ],
    ['variables override the workspace file', 'workspace/config: comes from the file, overridden by the environment'],
    [
      'orchestration_migration may be an inline table or a sub-table',
      'config/orchestrator: accepts orchestration_migration as an inline table',
    ],
    ['strict booleans accept true and false only', 'config/types: a strict boolean'],
    [
      'an invalid boolean is a warning and leaves the setting unchanged',
      'commands/config: a boolean variable with an invalid value',
      'config/orchestrator: SVC_ORCHESTRATOR_ENABLED is ignored with a warning if it is',
    ],
    orchestratorVariable('ENABLED', 'enabled'),
    orchestratorVariable('MAX_AGENTS', 'max_agents'),
    orchestratorVariable('LOCK_TIMEOUT_MS', 'lock_timeout_ms'),
    orchestratorVariable('TOESTUB_GATE', 'toestub_gate'),
    orchestratorVariable('MAX_DEBUG_ITERATIONS', 'max_debug_iterations'),
    orchestratorVariable('SOCRATES_GATE_SHADOW', 'socrates_gate_shadow'),
    orchestratorVariable('SOCRATES_GATE_ENFORCE', 'socrates_gate_enforce'),
    orchestratorVariable('SOCRATES_REPUTATION_ROUTING', 'socrates_reputation_routing'),
    orchestratorVariable('SOCRATES_REPUTATION_WEIGHT', 'socrates_reputation_weight'),
    orchestratorVariable('TRUST_GATE_RELAX_ENABLED', 'trust_gate_relax_enabled'),
    orchestratorVariable('TRUST_GATE_RELAX_MIN_RELIABILITY', 'trust_gate_relax_min_reliability'),
    orchestratorVariable('ATTENTION_ENABLED', 'attention_enabled'),
    orchestratorVariable('ATTENTION_BUDGET_MS', 'attention_budget_ms'),
    orchestratorVariable('ATTENTION_ALERT_THRESHOLD', 'attention_alert_threshold'),
    orchestratorVariable('ATTENTION_INTERRUPT_COST_MS', 'attention_interrupt_cost_ms'),
    orchestratorVariable('ATTENTION_TRUST_ROUTING_WEIGHT', 'attention_trust_routing_weight'),
    orchestratorVariable('LOG_LEVEL', 'log_level'),
    orchestratorVariable('FALLBACK_SINGLE', 'fallback_to_single_agent'),
    orchestratorVariable('MIN_AGENTS', 'min_agents'),
    orchestratorVariable('SCALING_THRESHOLD', 'scaling_threshold'),
    orchestratorVariable('IDLE_RETIREMENT_MS', 'idle_retirement_ms'),
    orchestratorVariable('SCALING_ENABLED', 'scaling_enabled'),
    orchestratorVariable('COST_PREFERENCE', 'cost_preference'),
    orchestratorVariable('SCALING_LOOKBACK', 'scaling_lookback_ticks'),
    orchestratorVariable('RESOURCE_WEIGHT', 'resource_weight'),
    orchestratorVariable('RESOURCE_CPU_MULT', 'resource_cpu_multiplier'),
    orchestratorVariable('RESOURCE_MEM_MULT', 'resource_mem_multiplier'),
    orchestratorVariable('RESOURCE_EXPONENT', 'resource_exponent'),
    orchestratorVariable('SCALING_PROFILE', 'scaling_profile'),
    orchestratorVariable('MAX_SPAWN_PER_TICK', 'max_spawn_per_tick'),
    orchestratorVariable('SCALING_COOLDOWN_MS', 'scaling_cooldown_ms'),
    orchestratorVariable('URGENT_REBALANCE_THRESHOLD', 'urgent_rebalance_threshold'),
    orchestratorVariable('MIGRATION_V2_ENABLED', 'orchestration_v2_enabled'),
    orchestratorVariable('MIGRATION_LEGACY_FALLBACK', 'legacy_orchestration_fallback'),
    orchestratorVariable('MESH_CONTROL_URL', 'mesh_control_url'),
    orchestratorVariable('MESH_REMOTE_EXECUTE_EXPERIMENTAL', 'mesh_remote_execute_experimental'),
    orchestratorVariable('MESH_REMOTE_LEASE_GATING_ENABLED', 'mesh_remote_lease_gating_enabled'),
    orchestratorVariable('MESH_REMOTE_LEASE_GATED_ROLES', 'mesh_remote_lease_gated_roles'),
    orchestratorVariable('MESH_REMOTE_RESULT_POLL_INTERVAL_SECS', 'mesh_remote_result_poll_interval_secs'),
    orchestratorVariable('MESH_REMOTE_WORKER_POLL_INTERVAL_SECS', 'mesh_remote_worker_poll_interval_secs'),
    orchestratorVariable('MESH_REMOTE_RESULT_MAX_MESSAGES_PER_POLL', 'mesh_remote_result_max_messages_per_poll'),
    orchestratorVariable('MESH_EXEC_LEASE_RECONCILE', 'mesh_exec_lease_reconcile'),
    orchestratorVariable('MESH_EXEC_LEASE_AUTO_REVOKE', 'mesh_exec_lease_auto_revoke'),
    [
      'attention settings meter an attention budget and gate interruptions',
      'tasks/attention/budget: is spent by approvals and rejections, with one alert',
      'tasks/attention/decide: decideInterruption',
    ],
    [
      'interruption_calibration sets gain offsets per channel and weights of backlog and trust',
      'commands/orch-settings: SVC_ORCHESTRATOR_INTERRUPTION_CAL_PLAN_GAIN controls',
      'commands/orch-settings: SVC_ORCHESTRATOR_INTERRUPTION_CAL_A2A_GAIN controls',
      'commands/orch-settings: SVC_ORCHESTRATOR_INTERRUPTION_CAL_BACKLOG_PENALTY controls',
    ],
    [
      'an agent at the minimum reliability may skip the Socrates gate, grounding and strict scope',
      'tasks/completion/trust-relax: is relaxed at exactly the minimum reliability',
      'tasks/completion/trust-relax: fails if the exemption is disabled',
      'tasks/gates/grounding: exempts reliable agents',
      'commands/orch-settings: SVC_ORCHESTRATOR_TRUST_GATE_RELAX_ENABLED controls',
    ],
    ['the log level is any word, and an unknown one is info', 'config/orchestrator: SVC_ORCHESTRATOR_LOG_LEVEL sets'],
    [
      'cost_preference is performance or economy',
      'scheduler/rebalance-queues: a rebalance',
      'tasks/choose-model: the model of a task',
    ],
    [
      'scaling_profile is conservative, balanced or aggressive',
      'scheduler/scaling-tick: a tick without load',
      'scheduler/scaling: scaling up',
    ],
    [
      'mesh_control_url does not change where tasks run',
      'delegation/nodes/node-poller: moves nothing by default, or without experimental routing',
    ],
    [
      'remote execution falls back to the local queue',
      'delegation/claimer/delegator: a delegated task falls back to the local queue',
      'delegation/claimer/delegator: if the control plane is not reachable',
    ],
    [
      'with lease gating, the relay comes before the local queue, and a delegated task has one owner',
      'delegation/claimer/delegator: runs on another node, is accepted once, and its lease is released',
      'delegation/claimer/delegator: takes no slot of its agent',
    ],
    [
      'a failed relay queues the task locally, without a second relay',
      'delegation/claimer/delegator: if the envelope is refused, and its lease is released',
      'delegation/claimer/delegator: if its lease is revoked while the envelope is being sent, and no other envelope is sent',
    ],
    [
      'gated roles are planner, builder, verifier, reproducer and researcher, in any case; unknown words are skipped',
      'config/orchestrator: SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATED_ROLES sets',
      'config/orchestrator: skips unknown words with one warning',
    ],
    [
      'an empty list of gated roles matches no task',
      'config/orchestrator: overrides the list in the file, even if no word is left',
      'commands/orch-settings: SVC_ORCHESTRATOR_MESH_REMOTE_LEASE_GATED_ROLES controls',
    ],
    [
      'workers take remote_task_envelope messages, and their parents take remote_task_result messages',
      'delegation/worker/worker: runs a command, and delivers an acknowledgement while it runs, and the result',
      'delegation/claimer/delegator: accepts a result that arrived in the meantime',
    ],
    [
      'mesh_control_url adds mesh_snapshot to the status, with SVC_MESH_TOKEN',
      'orchestrator/mesh-snapshot: includes the mesh snapshot, even a failed one',
      'orchestrator/mesh-snapshot: sends the token if one is set',
    ],
    [
      'a result poll interval of 0 disables the poller',
      'delegation/claimer/delegator: runs here if nothing polls for results',
    ],
    [
      'a worker poll interval of 0 runs no tasks of others',
      'commands/mesh-join: exits with status 2 if the poll interval is 0',
      'commands/orch-settings: SVC_ORCHESTRATOR_MESH_REMOTE_WORKER_POLL_INTERVAL_SECS controls',
    ],
    [
      'reconciliation compares the holder of each lease with the listed nodes',
      'delegation/nodes/reconcile-leases: leaseMismatches',
    ],
    [
      'automatic revocation is opt-in and needs an administrator token',
      'delegation/nodes/node-poller: revokes the lease of a stale holder but not the one of this machine',
      'delegation/nodes/node-poller: still stores the nodes if the token may not list leases',
      'delegation/nodes/reconcile-leases: reconciliation of leases',
    ],
    [
      'SVC_UNIFIED_ROUTING marks the reasons of routing decisions',
      'config/orchestrator: SVC_UNIFIED_ROUTING sets',
      'commands/orch-settings: SVC_UNIFIED_ROUTING controls',
      'tasks/choose-model: is marked only while the experiment is on',
    ],
    [
      'SVC_WORKSPACE_JOURNEY_STORE is the location of the store, .svc/store.db by default',
      'config/orchestrator: SVC_WORKSPACE_JOURNEY_STORE sets',
      'orchestrator/open: is in the workspace by default and persists between processes',
      'orchestrator/open: is the file that SVC_WORKSPACE_JOURNEY_STORE names, relative to the workspace root',
    ],
    [
      'SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL replaces a store that cannot be opened by that of the user',
      'config/orchestrator: SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL sets',
      'orchestrator/open: falls back to the user store with a warning if the fallback is enabled',
    ],
    [
      'Socrates thresholds are the policy with overrides of the configuration',
      'tasks/gates/socrates: uses the configured thresholds',
      'workspace/config: keeps the thresholds that are set',
    ],
    [
      'thresholds of confidence have no literal outside the policy',
      'workspace/policy: have no literal outside their policy',
    ],
    [
      'a submission under contract v2 may answer orchestration_contract',
      'tasks/submit: the contract reported to a client',
    ],
  ],
  '2.7': [
    [
      'SVC_WORKFLOW_JOURNAL_CODEX_OFF skips the journal of workflows',
      'workflow/run: writes no journal rows if SVC_WORKFLOW_JOURNAL_CODEX_OFF is',
    ],
    [
      'the journal is recorded in the session workflow:<repository_id>, keyed by run and activity',
      'workflow/run: writes a journal whose entries match their contract',
    ],
    [
      'SVC_BENCHMARK_TELEMETRY records benchmark_event rows',
      'commands/bench: prints the figures, and records them with SVC_BENCHMARK_TELEMETRY',
      'config/telemetry: SVC_SYNTAX_K_TELEMETRY and SVC_BENCHMARK_TELEMETRY',
    ],
    [
      'SVC_SYNTAX_K_TELEMETRY records syntax_k_event rows in the session syntaxk:<repository_id>',
      'commands/bench: records the event',
    ],
    [
      'SVC_SYNTAX_K_TELEMETRY falls back to SVC_BENCHMARK_TELEMETRY',
      'config/telemetry: unset and 1 record syntax-K',
      'commands/bench: the telemetry of svc bench syntax-k',
    ],
    [
      'SVC_MESH_MAX_STALE_MS hides stale nodes from snapshots',
      'orchestrator/mesh-snapshot: omits nodes not seen within SVC_MESH_MAX_STALE_MS',
      'commands/orch-settings: SVC_MESH_MAX_STALE_MS controls',
    ],
    [
      'SVC_MESH_CODEX_TELEMETRY records mesh_control_event rows in the session mesh:<repository_id>',
      'mesh/node/control-events: are recorded in a session of the repository',
      'mesh/node/control-events: are recorded only if enabled and not in an in-memory store',
    ],
    [
      'a publication in the local registry and the start of the tool server are recorded',
      'mesh/node/announce: is registered locally and at the control plane while it serves tools',
    ],
    ['the mesh snapshot of the status tool is recorded', 'mesh/node/announce: records its mesh request and the result'],
    ['telemetry of the mesh has no token', 'mesh/node/control-events: never contain secrets'],
    [
      'SVC_MCP_LLM_COST_EVENTS decides whether cost events are emitted; calls are always accounted for',
      'telemetry/switches: SVC_MCP_LLM_COST_EVENTS',
      'assistant/accounting: cost events',
      'plans/operations: emits 0 cost events if SVC_MCP_LLM_COST_EVENTS is',
    ],
    [
      'SVC_REPOSITORY_ROOT sets the repository of telemetry',
      'commands/bench: records in the workspace of SVC_REPOSITORY_ROOT',
      'orchestrator/workspace-journey: discovers the repository from SVC_REPOSITORY_ROOT',
    ],
  ],
  '2.8': [
    [
      '@table creates a table and a row type, with the key _id',
      'lang/operations: of a table adds the key _id',
      'lang/declared-types: distinguish partial rows from complete rows',
    ],
    ['a column named id is a warning of the compiler', 'lang/diagnostics: lint.table_id_column'],
    [
      '@index creates an index of columns',
      'lang/operations: of an index creates an index of the columns in order',
      'lang/migrate: is created when declared, and recreated when its columns change',
    ],
    [
      '@endpoint(kind: query) reads',
      'lang/operations: is refused with db.Book.',
      'lang/operations: are those of its endpoints, by kind, and those that it declares',
    ],
    [
      '@endpoint(kind: mutation) writes in a transaction',
      'app-server/live: receives nothing of a rolled-back mutation, and does not prevent the server from stopping',
      'app-server/live: loses no write, and sends each write to two clients once and in order, even after a reconnect',
    ],
    [
      '@endpoint(kind: server) runs any function',
      'lang/operations: are those of its endpoints, by kind, and those that it declares',
    ],
    [
      'http declares a route with a verb and a path',
      'lang/operations: are those of its endpoints, by kind, and those that it declares',
      'app-server/http: serves declared routes with path parameters',
    ],
    [
      'a column is NOT NULL unless its type is Option',
      'lang/operations: of a column is NOT NULL unless its type is Option',
    ],
    [
      'select may return partial rows',
      'lang/operations: select returns rows without the other columns',
      'lang/declared-types: distinguish partial rows from complete rows',
    ],
  ],
  '2.9': [
    [
      'db.Table.insert binds the values of a record',
      'lang/operations: insert returns the id of a row that get and find load, and delete removes it',
      'lang/injection: is read back unchanged:',
    ],
    [
      'db.Table.get and find load a row by _id',
      'lang/operations: insert returns the id of a row that get and find load, and delete removes it',
    ],
    [
      'db.Table.delete removes a row by _id',
      'lang/operations: insert returns the id of a row that get and find load, and delete removes it',
    ],
    ['db.Table.all returns all rows', 'lang/operations: all returns every row'],
    [
      'db.Table.filter compares columns for equality',
      'lang/operations: filter compares each of its columns',
      'lang/diagnostics: typecheck.unknown_column',
    ],
    ['where with eq', 'lang/operations: where selects rows with eq'],
    ['where with neq', 'lang/operations: where selects rows with neq'],
    ['where with lt', 'lang/operations: where selects rows with lt'],
    ['where with lte', 'lang/operations: where selects rows with lte'],
    ['where with gt', 'lang/operations: where selects rows with gt'],
    ['where with gte', 'lang/operations: where selects rows with gte'],
    ['where with in', 'lang/operations: where selects rows with in'],
    ['where with contains', 'lang/operations: where selects rows with contains'],
    ['where with is_null', 'lang/operations: where selects rows with is_null'],
    ['where with and', 'lang/operations: where selects rows with and'],
    ['where with or', 'lang/operations: where selects rows with or'],
    ['where with not', 'lang/operations: where selects rows with not'],
    ['where binds its values', 'lang/injection: a query with hostile text', 'lang/where-property: the rules for None'],
    [
      'order_by and limit follow all or filter',
      'lang/operations: order_by and limit select the first rows in either direction',
    ],
    ['count counts all or filtered rows', 'lang/operations: count counts all rows, or those of a filter'],
    [
      'sync is the capability requires_sync',
      'lang/operations: .sync() is a capability of its plan, and does not change the SQL',
    ],
    [
      'using is the capability retrieval_mode',
      'lang/operations: .using(hybrid) is a capability of its plan, and does not change the SQL',
      'lang/search: reports the retrieval mode',
      'lang/search: does not change the SQL:',
    ],
    [
      'live is the capability live_topic with emits_change_log',
      'lang/operations: .live("shelf.books") is a capability of its plan, and does not change the SQL',
      'app-server/live: loses no write, and sends each write to two clients once and in order, even after a reconnect',
    ],
    [
      'scope is the capability orchestration_scope',
      'lang/operations: .scope(orchestrator) is a capability of its plan, and does not change the SQL',
    ],
    ['db.Table.query(clause) is an error', 'lang/diagnostics: lint.unsafe_query_raw_clause'],
    ['@get(path) is deprecated in favour of http get', 'lang/diagnostics: parse.retired_decorator'],
    ['db.query(Task) is deprecated', 'lang/diagnostics: lint.db_query_root'],
    [
      'no general ORM is used',
      'lang/data-lane: uses the data language and bound statements: no dependency is an ORM, and the README explains why',
    ],
  ],
  '2.10': [
    [
      'session field timeout_ms',
      'speech/session/session: refuses a timeout that is longer than the maximum duration',
      'speech-server/stream: fails if no audio arrives, and closes with 1000',
      'mcp/speech: obey limits',
    ],
    [
      'session field max_duration_ms',
      'speech/session/session: fails if the session took longer than its maximum duration',
      'speech-server/stream: ends an utterance at its maximum duration as if it was committed',
    ],
    [
      'session field inference_deadline_ms',
      'speech/session/session: fails if recognition took longer than its deadline, without the time to load the model',
      'commands/transcribe: checks the time limits of its flags, and reports them',
    ],
    ['session field heartbeat_ms', 'speech-server/stream: sends pings as heartbeats'],
    [
      'session field language_hint',
      'speech/text/language-hint: a hint of the language',
      'speech-server/recordings: refuses a language that the model does not support',
    ],
    [
      'session field profile',
      'speech/text/refine: with the conservative profile changes no words',
      'speech/text/refine: with the aggressive profile writes',
      'mcp/speech: refine a text according to the profile and return the original',
    ],
    [
      'session field route_mode is none, tool, chat or orchestrator',
      'voice/routing/router: is none if routing is off, and nothing is remembered',
      'voice/routing/router: the tool route',
      'voice/routing/router: the chat route',
      'voice/routing/router: the orchestrator route',
    ],
    [
      'session field debug_parser_payload',
      'commands/transcribe: includes corrections and settings with --debug-parser-payload, and diagnostics of the language of a text',
    ],
    [
      'session fields are accepted by listen and by the tools',
      'commands/listen: svc listen --route',
      'mcp/speech: transcribe a recording as a session, with its limits and settings',
    ],
    [
      'responses may have language_diagnostics',
      'speech/text/language-hint: is reported with the detected language',
      'speech-server/recordings: cleans up a text, with diagnostics of the language hint',
    ],
    [
      'responses may have deadline_diagnostics',
      'speech/session/session: reports the time of each limit',
      'commands/listen: reports an utterance that missed its deadline even with --quiet, and exits with status 1',
    ],
    [
      'responses have runtime_config when debugging',
      'speech-server/recordings: includes the segments, words, corrections and settings on request',
    ],
    [
      'n_best lists the candidates, best first, if there are several',
      'mcp/speech: transcribe a text as a session',
      'speech/text/candidates: are the refined text, the raw text, and both as code, without duplicates',
      'speech/text/candidates: are sorted by the phrases they contain, and otherwise keep their order',
    ],
    ['the session of a listen response repeats n_best', 'mcp/speech: transcribe a text as a session'],
    ['SVC_SPEECH_MODEL', 'config/speech: SVC_SPEECH_MODEL sets', 'speech/model/locate-model: a speech model'],
    [
      'SVC_SPEECH_REVISION',
      'config/speech: SVC_SPEECH_REVISION sets',
      'speech/model/locate-model: accepts a branch, tag or commit with --revision, in the layout of huggingface_hub',
    ],
    [
      'SVC_SPEECH_LANGUAGE',
      'config/speech: SVC_SPEECH_LANGUAGE sets',
      'speech/service/recording-settings: SVC_SPEECH_LANGUAGE and SVC_SPEECH_TASK',
    ],
    [
      'SVC_SPEECH_CUDA; the default device is the CPU',
      'config/speech: SVC_SPEECH_CUDA sets',
      'commands/speech-status: distinguishes a GPU requested by the variable from one requested by a file',
    ],
    [
      'status has cuda_feature_enabled, cuda_requested_via_env and inference_note',
      'commands/speech-status: shows the defaults on a machine without settings',
    ],
    [
      'SVC_SPEECH_WORKSPACE is the root of paths',
      'config/speech: SVC_SPEECH_WORKSPACE sets',
      'mcp/speech: read recordings from the configured folder',
    ],
    [
      'SVC_DASH_HOST',
      'config/speech: SVC_DASH_HOST sets',
      'commands/speech-serve: serves recordings of the workspace at SVC_DASH_HOST and SVC_DASH_PORT until SIGTERM',
    ],
    [
      'SVC_DASH_PORT',
      'config/speech: SVC_DASH_PORT sets',
      'commands/speech-serve: serves recordings of the workspace at SVC_DASH_HOST and SVC_DASH_PORT until SIGTERM',
    ],
    [
      'SVC_SPEECH_SPEECH_LEXICON_PATH is applied after refinement, before that of the repository',
      'config/speech: SVC_SPEECH_SPEECH_LEXICON_PATH sets',
      'speech/text/candidates: of two files uses the first one specified',
      'commands/transcribe: refines the text by profile, lexicon and settings',
    ],
    [
      'the lexicon of SVC_REPOSITORY_ROOT or SVC_REPO_ROOT is merged, and the explicit one wins',
      'commands/transcribe: uses the lexicon of the repository for words that the specified lexicon does not have',
    ],
    [
      'the lexicon matches its contract',
      'commands/transcribe: warns about an unusable lexicon and continues',
      'contracts/contracts: lists every file of the folder by kind, and no missing files',
    ],
    [
      'SVC_SPEECH_CONTEXTUAL_BIAS',
      'config/speech: SVC_SPEECH_CONTEXTUAL_BIAS sets',
      'speech/service/constraint-settings: is off with SVC_SPEECH_CONTEXTUAL_BIAS=0',
    ],
    [
      'SVC_SPEECH_SESSION_HOTWORDS',
      'config/speech: SVC_SPEECH_SESSION_HOTWORDS sets',
      'speech/service/recording-settings: SVC_SPEECH_MAX_BIAS_PHRASES and SVC_SPEECH_SESSION_HOTWORDS',
    ],
    [
      'SVC_SPEECH_MAX_BIAS_PHRASES',
      'config/speech: SVC_SPEECH_MAX_BIAS_PHRASES sets',
      'speech/service/recording-settings: SVC_SPEECH_MAX_BIAS_PHRASES and SVC_SPEECH_SESSION_HOTWORDS',
    ],
    [
      'SVC_SPEECH_LOGIT_BIAS_STRENGTH',
      'config/speech: SVC_SPEECH_LOGIT_BIAS_STRENGTH sets',
      'speech/service/constraint-settings: has the strength of SVC_SPEECH_LOGIT_BIAS_STRENGTH',
    ],
    [
      'SVC_SPEECH_LOGIT_BIAS_MAX_TOKENS',
      'config/speech: SVC_SPEECH_LOGIT_BIAS_MAX_TOKENS sets',
      'speech/service/constraint-settings: has at most SVC_SPEECH_LOGIT_BIAS_MAX_TOKENS different tokens',
    ],
    [
      'SVC_SPEECH_LOGIT_FORBID_TOKENS',
      'config/speech: SVC_SPEECH_LOGIT_FORBID_TOKENS sets',
      'speech/service/constraint-settings: SVC_SPEECH_LOGIT_FORBID_TOKENS',
    ],
    [
      'SVC_SPEECH_CONSTRAINED_TRIE',
      'config/speech: SVC_SPEECH_CONSTRAINED_TRIE sets',
      'speech/service/constraint-settings: have no effect without SVC_SPEECH_CONSTRAINED_TRIE',
    ],
    [
      'SVC_SPEECH_CONSTRAINED_PHRASES',
      'config/speech: SVC_SPEECH_CONSTRAINED_PHRASES sets',
      'speech/service/constraint-settings: SVC_SPEECH_CONSTRAINED_PHRASES',
    ],
    [
      'SVC_SPEECH_TRIE_STUCK_STEPS',
      'config/speech: SVC_SPEECH_TRIE_STUCK_STEPS sets',
      'speech/service/constraint-settings: SVC_SPEECH_TRIE_STUCK_STEPS',
    ],
    [
      'SVC_SPEECH_ACOUSTIC_PREPROCESS is none or peak_normalize',
      'config/speech: SVC_SPEECH_ACOUSTIC_PREPROCESS sets',
      'audio/preprocess: scales the peak to 0.95 with peak_normalize',
      'audio/preprocess: changes nothing with mode none',
    ],
    [
      'SVC_SPEECH_ACOUSTIC_PREPROCESS_BUDGET_MS; the original samples are returned if it is exceeded',
      'speech/service/recording-settings: SVC_SPEECH_ACOUSTIC_PREPROCESS and its budget',
      'audio/preprocess: returns the original samples if the budget is exceeded',
    ],
    [
      'SVC_SPEECH_STREAM_PARTIAL_QUIET_MS',
      'config/speech: SVC_SPEECH_STREAM_PARTIAL_QUIET_MS sets',
      'speech/live/stable-text: makes everything stable when nothing has changed for a while',
    ],
    [
      'SVC_SPEECH_STREAM_MAX_WAIT_MS',
      'config/speech: SVC_SPEECH_STREAM_MAX_WAIT_MS sets',
      'speech/live/stable-text: makes a word stable that has waited for too long, although hypotheses disagree',
    ],
    [
      'SVC_SPEECH_CHUNK_SEC',
      'config/speech: SVC_SPEECH_CHUNK_SEC sets',
      'speech/service/recording-settings: SVC_SPEECH_CHUNK_SEC and SVC_SPEECH_CHUNK_OVERLAP_SEC',
    ],
    [
      'SVC_SPEECH_CHUNK_OVERLAP_SEC',
      'config/speech: SVC_SPEECH_CHUNK_OVERLAP_SEC sets',
      'speech/service/recording-settings: SVC_SPEECH_CHUNK_SEC and SVC_SPEECH_CHUNK_OVERLAP_SEC',
    ],
    [
      'SVC_SPEECH_EMIT_PARTIAL_PATH appends a line of JSON per chunk',
      'commands/transcribe: appends a line per chunk to the file of SVC_SPEECH_EMIT_PARTIAL_PATH',
      'commands/listen: SVC_SPEECH_EMIT_PARTIAL_PATH',
    ],
    [
      'SVC_SPEECH_STREAM_TOKENS',
      'config/speech: SVC_SPEECH_STREAM_TOKENS sets',
      'commands/listen: also receives the tokens with SVC_SPEECH_STREAM_TOKENS, as final events do',
    ],
    [
      'SVC_SPEECH_CONFIG is a flat TOML file, and accepts the keys of sessions, refinement, routes, models and constraints',
      'config/speech: SVC_SPEECH_CONFIG sets',
      'config/speech-config: accepts every key of [speech], of any type',
    ],
    [
      'SVC_SPEECH_ROUTING_SESSION_CAP',
      'config/speech: SVC_SPEECH_ROUTING_SESSION_CAP sets',
      'voice/routing/router: forgets sessions beyond its size, the least recently used first',
    ],
    [
      'SVC_SPEECH_ROUTING_SESSION_TTL_SECS',
      'config/speech: SVC_SPEECH_ROUTING_SESSION_TTL_SECS sets',
      'voice/routing/router: forgets sessions that were not used for some time',
    ],
    [
      'arguments win over variables, variables over the file, and the file over defaults',
      'config/speech-config: a speech setting with all five sources',
      'speech/service/chosen-settings: replace settings',
    ],
    [
      'RUST_LOG enables speech_gpu, which logs speech_inference_cpu_default at the first load',
      'commands/transcribe: logs the compute device once if RUST_LOG enables that',
      'log/filter: parseLogFilter',
    ],
    [
      'a mix accepts sources with record_format: asr_refine',
      'speech/corpus/mix: repeats its sources, converts their rows and reports their shares',
    ],
    [
      'asr_refine_pairs has a schema at the path of the specification',
      'speech/corpus/asr-refine-pair: appends lines that match the contract at the path of the specification',
    ],
  ],
  '3': [
    [
      'svc_doubt_task moves a task in any state to Doubted',
      'tasks/doubt: moves from',
      'mcp/story: submits a task, follows it, doubts it, resolves the doubt, claims it and completes it',
    ],
    ['a doubt emits TaskDoubted', 'tasks/doubt: moves from'],
    [
      'a resolution agent takes doubted tasks over',
      'tasks/doubt: creates only one resolution agent',
      'tasks/agents: the resolution agent',
    ],
    [
      'doubts are resolved with the user',
      'mcp/story: asks the user to resolve a doubt if the client supports elicitation',
      'operations/perform: asks the person behind the caller about a doubt, and resolves it with the answer',
    ],
    [
      'the report of a resolved doubt earns an award',
      'tasks/awards: is granted if it was',
      'commands/orch-changes: append the report of a justified doubt to the task',
    ],
    [
      'a delegated task is in remote-hold, and has a single owner',
      'delegation/claimer/delegator: takes no slot of its agent',
      'tasks/transitions: the states of a task',
    ],
    [
      'a task is not dequeued locally while another node holds it',
      'delegation/claimer/delegator: runs on another node, is accepted once, and its lease is released',
    ],
    [
      'a task whose relay failed is queued locally with the relay-error reason',
      'delegation/claimer/delegator: if the control plane is not reachable',
    ],
    [
      'task states change only by the published transitions',
      'tasks/transitions: goes through all possible transitions',
    ],
    [
      'a node is stale, in maintenance or in quarantine',
      'mesh/node/watch-nodes: nodeState',
      'mesh/store/conformance/nodes: in the condition',
    ],
    [
      'the quarantine call puts a node in quarantine',
      'mesh/control-plane/route-walk: start and end quarantine and maintenance',
      'commands/mesh-leases: turns maintenance and quarantine of nodes on and off',
    ],
    ['live speech accepts set_language', 'speech-server/stream: accepts commands before audio, and a language between'],
    ['live speech accepts commit', 'speech-server/stream: sends an empty final for a commit without audio'],
    ['live speech accepts cancel', 'speech-server/stream: cancels'],
    [
      'live speech sends ready, partial and final',
      'speech-server/stream: sends ready, growing partials, and one final that equals the offline transcript',
    ],
    ['live speech sends error', 'speech-server/stream: reports invalid messages, and closes after the tenth'],
  ],
  '4.1': [
    [
      'POST /v1/chat/completions',
      'serve/openai/chat-response: matches the specification byte for byte',
      'serve/openai/chat-request: POST /v1/chat/completions',
      'commands/serve: chats, complete and streamed with usage',
    ],
    [
      'POST /api/chat',
      'serve/ollama/response: the response to POST /api/chat',
      'serve/ollama/request: POST /api/chat',
      'commands/serve: chats, and continues from a returned context',
    ],
    [
      'POST /api/generate',
      'serve/ollama/response: the response to POST /api/generate',
      'serve/ollama/request: POST /api/generate',
      'commands/serve: generates its published story, raw, complete and streamed',
    ],
    ['GET /api/tags lists the served model', 'serve/ollama/model: GET /api/tags'],
    [
      'GET /api/version is JSON',
      'commands/serve: is listed, shown and running under its name',
      'serve/ollama/model: contains no name of a GPU runtime on the CPU',
    ],
    [
      'GET /api/version names CUDA only on a GPU',
      'serve/ollama/model: reports the GPU',
      'serve/openapi: describes failed streams and a server with a GPU',
    ],
    ['POST /api/embeddings is always 501', 'serve/openapi: rejects unsupported routes regardless of the body'],
    [
      'the routes are described by a document',
      'serve/openapi: describes exactly the routes of the server',
      'serve/openapi: every documented response has been tested',
    ],
    [
      'AI tasks call POST /api/generate of the server that SVC_INFERENCE_URL names',
      'scheduler/processors/ai: works with svc serve',
      'commands/daemon: uses the inference server of the environment',
    ],
    [
      'the tool server chats through /api/chat',
      'inference-client/chat: works with svc serve',
      'inference-client/chat: sends the request and streams the answer',
    ],
  ],
  '4.2': [
    [
      'GET /health needs no token, and is the only such route',
      'mesh/control-plane/route-walk: health without a token and metrics with one',
      'mesh/auth/identify: are tested for every authenticated route',
    ],
    [
      'GET /v1/mesh/nodes',
      'mesh/control-plane/node-list: contains every node once, ordered by id, with queue depth and server time',
      'mesh/client/control-plane: support every operation with the token for its plane',
    ],
    [
      'GET /v1/mesh/exec/leases',
      'mesh/control-plane/lease-list: reports truncation',
      'delegation/nodes/node-poller: lease reconciliation against a control plane',
    ],
    [
      'POST /v1/mesh/admin/exec-lease/revoke',
      'mesh/control-plane/route-walk: grant, renew, verify, list, release and revoke a lease',
      'mesh/client/control-plane: is lost when an administrator revokes it',
    ],
    [
      'POST /v1/mesh/admin/quarantine',
      'mesh/control-plane/route-walk: start and end quarantine and maintenance',
      'mesh/store/conformance/nodes: in the condition',
    ],
    [
      'before_message_id pages through an inbox, newest first, without a claim',
      'mesh/client/control-plane: page through a large inbox, newest message first',
      'mesh/store/conformance/messages: can be read newest or oldest first without being claimed',
    ],
    [
      'the routes of the control plane are described by a document',
      'mesh/control-plane/route-walk: describes exactly the routes of the table',
      'mesh/control-plane/route-walk: has returned every documented status and code',
    ],
  ],
  '4.3': [
    [
      'the daemon speaks JSON lines over standard input and output',
      'daemon/stdio: answers all requests and exits at the end of the input',
      'daemon/transcript: matches line by line',
    ],
    [
      'the daemon speaks JSON lines over TCP',
      'daemon/requests: can arrive in arbitrary pieces',
      'daemon/client: matches responses in any order',
    ],
    [
      'orch.workspace_journey compares the bound repository with the discovered one',
      'orchestrator/workspace-journey: reports the project store from every folder of the workspace',
      'orchestrator/workspace-journey: reports a mismatch with the repository of the current folder',
    ],
    [
      'ai.plan.new',
      'plans/operations: creates the plan without a model and returns its latest version',
      'operations/rpc-contract: includes ai.plan.new, which clients depend on',
    ],
    [
      'ai.plan.replan',
      'plans/replan: keeps completed steps and supersedes and cancels the rest',
      'operations/rpc-contract: includes ai.plan.replan, which clients depend on',
    ],
    [
      'ai.plan.status',
      'plans/operations: report the status of a plan, each in its own format',
      'operations/rpc-contract: includes ai.plan.status, which clients depend on',
    ],
    [
      'ai.plan.execute',
      'plans/plans: is completed by a daemon after one call',
      'operations/rpc-contract: includes ai.plan.execute, which clients depend on',
    ],
    ['plans are rows of the store of the orchestrator', 'plans/plans: has its steps and is visible to every process'],
    [
      'a contract describes the orch methods',
      'operations/rpc-contract: the contract of the daemon',
      'operations/rpc-contract: defines the parameters and the result of every method',
    ],
  ],
  '4.4': [
    [
      'svc_generate_code',
      'assistant/code: returns a valid first program',
      'operations/assistant: returns only the program to a tool, with the rest as metadata',
    ],
    [
      'svc_chat_message',
      'assistant/chat: returns the answer and stores both turns with the journey',
      'operations/assistant: is answered in the conversation of its session, with a journey',
    ],
    [
      'svc_journey_canonical_steps returns the steps in order',
      'journeys/canonical-steps: has the canonical journey with its steps in order',
      'commands/orch-journey: shows the steps from an empty workspace to verified work',
    ],
    [
      'svc_doubt_task',
      'mcp/story: submits a task, follows it, doubts it, resolves the doubt, claims it and completes it',
      'operations/perform: asks the person behind the caller about a doubt, and resolves it with the answer',
    ],
    [
      'svc_submit_task',
      'mcp/story: gets the errors of an invalid call, which changes nothing',
      'tasks/submit: returns its placement and is stored with all defaults',
    ],
    [
      'svc_orchestrator_status has mesh_snapshot if there is a control plane',
      'orchestrator/mesh-snapshot: includes the mesh snapshot, even a failed one',
      'orchestrator/mesh-snapshot: is undefined without a control plane',
    ],
    ['svc_plan', 'plans/operations: stores the plan of a model'],
    [
      'svc_replan',
      'plans/operations: asks a model for new plans and replans if configured',
      'mcp/registry: keeps the plan tools under their own names',
    ],
    [
      'svc_plan_status',
      'plans/operations: ai.plan.status and svc_plan_status',
      'plans/operations: cover all listed plans',
    ],
    [
      'svc_speech_transcribe transcribes and refines',
      'mcp/speech: transcribe a recording like the command line and report progress',
      'mcp/speech: refine a text according to the profile and return the original',
    ],
    [
      'svc_speech_listen has a session, routes and polishing',
      'mcp/speech: transcribe a recording as a session, with its limits and settings',
      'mcp/speech: use a text as a command, a task or a chat',
      'voice/polish/polish: is polished only if that is enabled',
    ],
    ['svc_speech_status', 'mcp/speech: report the same status as the command line'],
    [
      'the tool server lists its tools with schemas',
      'mcp/registry: each tool',
      'mcp/registry: matches the checked-in lists',
    ],
  ],
  '4.5': [
    [
      'GET /api/query/<name> serves a query',
      'lang/operations: are those of its endpoints, by kind, and those that it declares',
    ],
    [
      'POST /api/mutation/<name> serves a mutation',
      'lang/operations: are those of its endpoints, by kind, and those that it declares',
      'app-server/http: accepts integers with a zero fraction, and rejects invalid JSON and duplicates',
    ],
    [
      'POST /api/<name> serves a server function',
      'lang/operations: are those of its endpoints, by kind, and those that it declares',
    ],
    [
      'routes of http serve their verb and path',
      'lang/operations: are those of its endpoints, by kind, and those that it declares',
    ],
    [
      'clients send the parameters of queries as JSON with sorted keys',
      'lang/client: sends the parameters of a query as JSON, sorted by name',
    ],
    ['responses have the declared type', 'lang/declared-types: match the results of endpoints'],
  ],
  '4.6': [
    [
      'POST /api/audio/transcribe has path and language_hint, and relative and absolute paths',
      'speech-server/recordings: transcribes a recording of the workspace, by relative or absolute path',
      'speech-server/recordings: cleans up a text, with diagnostics of the language hint',
    ],
    [
      'POST /api/audio/transcribe/upload has the file in audio or file',
      'speech-server/recordings: transcribes a part named file or audio, and deletes it afterwards',
    ],
    [
      'GET /api/audio/transcribe/stream is a WebSocket',
      'speech-server/stream: a live connection',
      'speech-server/stream: without an upgrade',
    ],
    [
      'the stream is 16-bit mono PCM at 16 kHz',
      'speech-server/stream: joins samples that are split between messages',
      'speech-server/stream: transcribes real speech as offline',
    ],
    [
      'the stream has text messages with op',
      'speech-server/stream: accepts commands before audio, and a language between',
      'speech-server/stream: reports a language that the model does not support or that is none, and keeps the previous one',
    ],
    ['GET /api/audio/status', 'speech-server/recordings: reports status and metrics'],
    [
      'codex-api.openapi.yaml describes the audio routes',
      'speech-server/openapi: describes exactly the routes of the server',
      'speech-server/openapi: describes the response to',
      'contracts/contracts: every OpenAPI document',
    ],
  ],
  '5': [
    [
      'with secrets, every route below /v1/mesh/ needs a bearer token or a signed token',
      'mesh/auth/identify: permissions of routes',
      'mesh/auth/json-web-token: signed token',
      'mesh/control-plane/route-walk: the Bearer scheme is case-insensitive',
    ],
    [
      'a wrong or missing token is refused',
      'mesh/auth/identify: Authorization header',
      'mesh/control-plane/route-walk: expired, replayed and foreign tokens',
    ],
    [
      'workers and submitters have tokens of their own',
      'mesh/control-plane/route-walk: the table of planes matches the expected roles',
      'mesh/client/control-plane: refuse operations that the role does not permit',
    ],
    [
      'a submitter cannot configure nodes',
      'mesh/client/tokens: chooses between worker and submitter tokens per request',
      'commands/mesh-messages: require a token of the right role',
    ],
    [
      'admin calls need a mesh or admin token',
      'commands/mesh-leases: requires the token of an administrator',
      'commands/mesh-leases: lists leases only for an administrator',
    ],
    [
      'the mesh client sends SVC_MESH_TOKEN',
      'commands/orch-settings: SVC_MESH_TOKEN controls',
      'orchestrator/mesh-snapshot: sends the token if one is set',
    ],
    [
      'the mesh token is in no telemetry',
      'mesh/node/control-events: never contain secrets',
      'orchestrator/mesh-snapshot: redacts the token in node fields',
    ],
    [
      'a bootstrap token is exchanged once',
      'mesh/auth/bootstrap: grants the worker token once',
      'commands/mesh-join: exchanges a one-time token for permanent ones, and joins with them',
    ],
    [
      'SVC_MESH_BOOTSTRAP_TOKEN sets the bootstrap token',
      'config/mesh: SVC_MESH_BOOTSTRAP_TOKEN sets mesh.',
      'mesh/auth/bootstrap: fails from the expiry of the token on',
    ],
    [
      'SVC_MESH_SCOPE_ID separates tenants',
      'mesh/control-plane/route-walk: nodes of another scope or without one',
      'mesh/store/conformance/nodes: are separated by scope',
      'commands/orch-settings: SVC_MESH_SCOPE_ID controls',
    ],
    [
      'a control plane for other machines needs secrets, and can serve TLS',
      'mesh/control-plane/server: control plane without secrets',
      'commands/mesh-serve: serves HTTPS with the configured certificate',
    ],
    [
      'secrets come from a private file or the environment',
      'mesh/secrets/write-mesh-env: is private and ignored by git',
      'config/env-file: ignores a file that others can read or write, with a warning',
    ],
  ],
  '6': [
    [
      'the journal has events of the life cycle, of attempts and of steps',
      'workflow/run: writes a journal whose entries match their contract',
    ],
    [
      'the journal has replayed and recovered activities',
      'workflow/run: repeats no completed activity, and gives a failed one all its attempts again',
    ],
    [
      'the journal has ActivityAttemptFailed and ActivityRetryScheduled',
      'workflow/run: repeats a failed attempt with a doubled delay, and fails after the last',
    ],
    [
      'MeshActivity and MeshActivitySkipped describe steps of the mesh',
      'workflow/run: count the nodes of the local registry without a control plane, and skip other calls of the mesh',
    ],
    [
      'TaskDoubted is an event of the task',
      'tasks/doubt: moves from',
      'commands/orch-tasks: follows events of other processes, and resumes after an id',
    ],
    [
      'cost events of model calls depend on SVC_MCP_LLM_COST_EVENTS',
      'telemetry/switches: SVC_MCP_LLM_COST_EVENTS',
      'operations/assistant: emits its cost as an event if enabled',
      'commands/daemon: emits no cost events by default, but accounts for the calls',
    ],
    [
      'benchmark_event and syntax_k_event are opt-in',
      'commands/bench: prints the figures, and records them with SVC_BENCHMARK_TELEMETRY',
      'commands/bench: the telemetry of svc bench syntax-k',
    ],
    [
      'mesh_control_event is opt-in',
      'mesh/node/control-events: are recorded only if enabled and not in an in-memory store',
    ],
    [
      'mesh_exec_lease_reconcile is recorded if mesh telemetry is on',
      'delegation/nodes/reconcile-leases: records nothing unless mesh telemetry is enabled',
      'mesh/node/control-events: have a type of their own for reconciled leases',
    ],
    [
      'ready, partial, final and error are JSON texts of the live connection',
      'speech-server/stream: sends ready, growing partials, and one final that equals the offline transcript',
    ],
    [
      'each chunk is a line of JSON in SVC_SPEECH_EMIT_PARTIAL_PATH',
      'commands/transcribe: appends a line per chunk to the file of SVC_SPEECH_EMIT_PARTIAL_PATH',
      'speech-server/recordings: write partial results to a file',
    ],
    [
      'protocol-catalog.yaml lists the planes and their guarantees',
      'contracts/protocol-catalog: has five planes with their guarantees',
      'contracts/protocol-catalog: lists every family once, and at least one per plane',
    ],
    [
      'messages name the plane and the route',
      'messages/operations: cover the life cycle of a message, each reply with plane and route',
      'contracts/protocol-catalog: has the route names of messages',
    ],
    [
      'plane local_ephemeral, route local: in process, best effort, first in first out per receiver',
      'messages/planes: local uses the plane local_ephemeral, of which another process sees',
      'messages/bus: an in-memory inbox',
    ],
    [
      'plane local_durable, route db: rows with explicit acknowledgement',
      'messages/planes: db uses the plane local_durable, of which another process sees',
      'messages/durable: survives its process until it is acknowledged',
    ],
    [
      'plane remote_mesh, route mesh: authenticated, with claims, acknowledgements and idempotency keys',
      'messages/mesh: goes through the control plane and reports the result',
      'messages/mesh: has the chosen key, the correlation id, or a content key for one minute',
      'messages/mesh: acknowledging a mesh message',
    ],
    [
      'plane broadcast: ordered per receiver, not durable',
      'messages/bus: reaches every agent except its sender and is acknowledged by each separately',
      'messages/bus: an in-memory inbox',
    ],
    [
      'plane stream: ordered per connection',
      'daemon/events: delivers subsequent events of any process',
      'daemon/events: can be resumed at another daemon without gaps or repetitions',
    ],
  ],
  '7': [
    ['POST /api/embeddings: 501', 'commands/serve: answers 501: embeddings, whatever the body'],
    [
      '403, 404 and 409 of the control plane are typed errors with the status',
      'mesh/client/errors: with status 403 is reported as',
      'mesh/client/errors: with status 404 is reported as',
      'mesh/client/errors: with status 409 is reported as',
    ],
    [
      'delegation branches on the status',
      'delegation/claimer/delegator: if the envelope is refused, and its lease is released',
      'delegation/claimer/delegator: if the control plane is not reachable',
    ],
    [
      '429 and 503 are retried with growing delays',
      'mesh/client/retry: 429 is attempted up to four times',
      'mesh/client/retry: 503 is attempted up to four times',
      'mesh/client/retry: is random up to a bound that doubles to 30 s without Retry-After',
    ],
    [
      'an invalid boolean variable is a warning',
      'config/resolve: is ignored with a warning if it is invalid, and the next source is used',
      'commands/orch-config: warns once about an invalid variable',
    ],
    ['insert in a query is a compile error', 'lang/diagnostics: shows the calls by which a query reaches a write'],
    [
      'query(clause) is a lint error, and raises unsafe_query_raw_clause in generated output',
      'lang/diagnostics: lint.unsafe_query_raw_clause',
    ],
    ['a column named id is a warning', 'lang/diagnostics: lint.table_id_column'],
    [
      'generated TypeScript of Speech.transcribe throws, and names the HTTP route',
      'lang/client: throws instead of transcribing, and names the route',
      'commands/db: generate no client function for a transcription route that is not served',
    ],
    [
      'a failed relay is no error of the caller',
      'delegation/claimer/delegator: if the envelope is refused, and its lease is released',
    ],
    [
      'every error has a code, a message, a hint and an explanation',
      'errors/render: each error of the catalogue',
      'errors/render: exists for every code',
    ],
  ],
  '8': [
    [
      'trust_gate_relax_min_reliability is 0.85 by default',
      'config/orchestrator: SVC_ORCHESTRATOR_TRUST_GATE_RELAX_MIN_RELIABILITY sets',
    ],
    [
      'a page of results has at least 1 and by default 64 messages',
      'config/orchestrator: SVC_ORCHESTRATOR_MESH_REMOTE_RESULT_MAX_MESSAGES_PER_POLL sets',
      'mesh/client/inbox-pages: uses the page size',
    ],
    ['the poller reads a limited number of pages', 'mesh/client/inbox-pages: yields up to 32 pages by default'],
    [
      'the memory of routes holds 4096 sessions by default, and at least 64',
      'config/speech: SVC_SPEECH_ROUTING_SESSION_CAP sets',
      'voice/settings: SVC_SPEECH_ROUTING_SESSION_CAP',
    ],
    [
      'the memory of routes holds a session for 86400 s by default, and at least 60 s',
      'config/speech: SVC_SPEECH_ROUTING_SESSION_TTL_SECS sets',
      'voice/settings: SVC_SPEECH_ROUTING_SESSION_TTL_SECS',
    ],
    [
      'preprocessing takes about 25 ms at most',
      'config/speech: SVC_SPEECH_ACOUSTIC_PREPROCESS_BUDGET_MS sets',
      'audio/preprocess: returns the original samples if the budget is exceeded',
    ],
    [
      'chunks overlap by 0.5 s by default',
      'config/speech: SVC_SPEECH_CHUNK_OVERLAP_SEC sets',
      'speech/transcribe/merging: overlaps the previous one, and the last one includes a short remainder',
    ],
    [
      'poll intervals of 0 disable pollers',
      'delegation/claimer/delegator: runs here if nothing polls for results',
      'delegation/nodes/node-poller: does not poll',
    ],
    ['live audio is 16-bit mono PCM at 16 kHz', 'speech-server/stream: transcribes real speech as offline'],
    ['timeouts for a wide-area network are documented', 'examples/mesh: has the values in the table of the guide'],
    [
      'large files are not part of joins and heartbeats',
      'mesh/control-plane/route-walk: a node of 600 kB',
      'mesh/control-plane/blobs: may be empty, and have at most 8 MiB',
    ],
  ],
  '9': [
    [
      'paths of the control plane begin with /v1/',
      'mesh/control-plane/route-walk: describes exactly the routes of the table',
    ],
    [
      'the envelope, the hand-off file and the canonical journey are versioned v1',
      'contracts/contracts: lists every file of the folder by kind, and no missing files',
      'contracts/journeys: and its steps match their contracts',
    ],
    [
      'a tool name is removed only after it has become an alias',
      'mcp/registry: keeps every published name as a tool or alias',
      'mcp/registry: finds a tool by its former name',
    ],
    [
      'svc_plan, svc_replan and svc_plan_status keep their names',
      'mcp/registry: keeps the plan tools under their own names',
    ],
    ['ai.plan methods keep their names', 'operations/rpc-contract: enumerates the methods and their aliases by family'],
    [
      'orch methods match their schema',
      'operations/rpc-contract: match the contract in both formats',
      'operations/rpc-contract: includes orch.',
    ],
    [
      'sessions in files and in the database are valid',
      'sessions/journals: are read back unchanged',
      'sessions/sessions: imports a session from a file unchanged when it is loaded',
    ],
    [
      'svc db is the only command for databases',
      'cli/main: lists every command and topic once, in groups, with a summary',
    ],
    [
      'orchestration_v2_enabled and legacy_orchestration_fallback select the contract',
      'tasks/submit: the contract reported to a client',
      'orchestrator/open: fails under contract v2 without the legacy fallback',
    ],
    ['deprecated forms of the language are reported', 'lang/diagnostics: lint.db_query_root'],
    [
      'published names stay the same',
      'contracts/published-names: the published names match test/fixtures/published-names.txt',
    ],
  ],
}
