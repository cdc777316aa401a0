import type {ErrorCode, ErrorParams} from './catalogue.js'

/** Why an error occurs, in one sentence, and realistic parameters for its message where it takes any. */
export type ErrorExplanation<C extends ErrorCode> = keyof ErrorParams<C> extends never
  ? {cause: string}
  : {cause: string; example: ErrorParams<C>}

/** Loaded by `svc explain` alone, so that no other command pays for it. */
export const errorExplanations: {readonly [C in ErrorCode]: ErrorExplanation<C>} = {
  context_file_unusable: {
    cause: 'A context file exists, but it is not a readable UTF-8 text file within the size limit.',
    example: {path: 'assets/logo.png', reason: 'it is no UTF-8 text'},
  },
  context_file_missing: {
    cause: 'A context file was named that does not exist.',
    example: {path: 'src/parser.ts'},
  },
  answer_empty: {
    cause: 'The model ended its answer before it wrote a character.',
    example: {model: 'guide'},
  },
  answer_not_json: {
    cause: 'JSON output was requested, and the answer did not parse as JSON, even after one repair attempt.',
    example: {model: 'guide', attempts: 2, reason: 'the answer ends inside of a string', cut: true},
  },
  surface_contract: {
    cause: 'Generated code must arrive in the requested output form, and no attempt did.',
    example: {attempts: 3, category: 'surface_contract', model: 'guide', reason: 'the answer has no fenced block'},
  },
  repair_stalled: {
    cause: 'A repair attempt produced the same diagnostics as the attempt before it, so the loop stopped.',
    example: {
      attempts: 2,
      category: 'repair_stall',
      model: 'guide',
      reason: 'typecheck.unknown_table is reported again',
    },
  },
  validation_failed: {
    cause: 'Every attempt at generating a program ended with errors from the checker.',
    example: {attempts: 4, category: 'semantic', model: 'guide', reason: '2 errors are left'},
  },
  audio_unrecognized: {
    cause:
      'The format is recognised by the first bytes of the file, never by its name, and these belong to no audio format.',
    example: {file: 'minutes.wav', found: 'a PDF document'},
  },
  audio_invalid: {
    cause: 'The file has the header of an audio format, but its content is damaged or cut short.',
    example: {file: 'meeting.flac', reason: 'no flac frame in it is sound'},
  },
  audio_empty: {
    cause: 'The file has a valid header and no samples.',
    example: {file: 'take-3.wav'},
  },
  audio_track_missing: {
    cause: 'The file is a film, and it contains video only.',
    example: {file: 'screencast.mp4'},
  },
  decoder_unavailable: {
    cause: 'WAV, FLAC, MP3 and Ogg are decoded by svc itself; every other format needs ffmpeg.',
    example: {file: 'interview.m4a', format: 'an MP4 or M4A file'},
  },
  internal: {
    cause: 'A defect of svc, not of its input.',
    example: {reason: 'Invalid array length.'},
  },
  interrupted: {
    cause: 'The command received SIGINT, for instance from Ctrl-C.',
  },
  terminated: {
    cause: 'The command received SIGTERM, for instance from kill or from a service manager.',
  },
  usage: {
    cause: 'The arguments and flags of the command do not fit together, or one is missing.',
    example: {reason: 'No document to validate against cli/error.v1.'},
  },
  command_unknown: {
    cause: 'The first words of the command line name no command.',
    example: {command: 'transcibe', suggestion: 'transcribe'},
  },
  flag_unknown: {
    cause: 'The command has no flag of this name.',
    example: {flag: '--thread', suggestion: '--threads'},
  },
  flag_value: {
    cause: 'The value of a flag has the wrong type or is out of range.',
    example: {flag: '--port', value: '70000', expected: 'a whole number from 0 to 65535'},
  },
  code_unknown: {
    cause: 'The argument is neither an error code nor a diagnostic code.',
    example: {code: 'audio_unrecognised', suggestion: 'audio_unrecognized'},
  },
  stdin_not_utf8: {
    cause: 'The command reads text, and the input has another encoding or is not text.',
    example: {offset: 412},
  },
  stdin_too_long: {
    cause: 'Text from standard input is read into memory as a whole, so its length is limited.',
    example: {limit: 16_777_216},
  },
  file_not_found: {
    cause: 'A file or folder that the command reads does not exist.',
    example: {path: 'notes/meeting.wav'},
  },
  file_unreadable: {
    cause: 'The file exists, but the operating system refuses to read it, or it is a directory.',
    example: {path: '/srv/recordings/meeting.wav', reason: 'permission denied'},
  },
  file_unwritable: {
    cause: 'The operating system refuses to create or replace the file.',
    example: {path: '/srv/subtitles/film.srt', reason: 'permission denied'},
  },
  output_exists: {
    cause: 'An existing file is replaced only when a flag asks for it.',
    example: {path: 'subtitles/meeting.srt', flag: '--overwrite'},
  },
  output_is_input: {
    cause: 'The output path is the file that the command reads.',
    example: {path: 'meeting.wav', input: 'meeting.wav'},
  },
  directory_not_found: {
    cause: 'The directory that was named does not exist.',
    example: {path: '/srv/workspace'},
  },
  disk_full: {
    cause: 'The file system ran out of space while the file was written.',
    example: {path: 'models/merged/model.safetensors'},
  },
  config_unparsable: {
    cause: 'A settings file has a syntax error.',
    example: {file: 'Svc.toml', line: 3, column: 11, reason: 'the string is not closed'},
  },
  config_type: {
    cause: 'A setting in Svc.toml has a value of the wrong type or out of range.',
    example: {file: 'Svc.toml', key: 'engine.threads', expected: 'a whole number from 1 to 1024', found: '"four"'},
  },
  config_variable: {
    cause: 'An environment variable that the command reads has a value it does not accept.',
    example: {variable: 'SVC_SPEECH_BACKEND', expected: 'one of auto, onnx-whisper, whisper', found: '"kaldi"'},
  },
  orchestrator_config_invalid: {
    cause: 'Each setting is valid alone, but two of them contradict each other.',
    example: {faults: ['min_agents (4) is larger than max_agents (2)']},
  },
  contract_unknown: {
    cause: 'No contract in the catalogue has this id.',
    example: {id: 'cli/eror.v1', suggestion: 'cli/error.v1'},
  },
  contract_broken: {
    cause: 'A schema in the contracts folder of this installation cannot be compiled.',
    example: {file: 'contracts/cli/error.v1.schema.json', reason: 'strict mode: unknown keyword: "typ"'},
  },
  contract_violation: {
    cause: 'A document was validated against a contract and does not match its schema.',
    example: {
      subject: 'handoff.json',
      contract: 'eval/external-serving-handoff',
      violations: ['/schema_version must be 1'],
    },
  },
  document_unparsable: {
    cause: 'The document is not valid JSON or YAML.',
    example: {subject: 'handoff.json', reason: "Expected ',' or '}' after property value in JSON at position 31"},
  },
  request_unparsable: {
    cause: 'A line sent to the daemon is not valid JSON.',
    example: {reason: 'the line is not JSON (at character 17)'},
  },
  request_invalid: {
    cause: 'A line sent to the daemon is JSON, but not a JSON-RPC 2.0 request.',
    example: {reason: 'the batch is empty'},
  },
  request_too_long: {
    cause: 'A request to the daemon is longer than one line may be.',
    example: {limit: 1_048_576},
  },
  batch_answer_too_large: {
    cause: 'The results of all requests in one JSON-RPC batch exceed the limit together.',
    example: {limit: 33_554_432},
  },
  method_unknown: {
    cause: 'The daemon has no JSON-RPC method of this name.',
    example: {method: 'orch.submit_tasks', suggestion: 'orch.submit_task'},
  },
  subscription_not_found: {
    cause: 'The subscription was cancelled before, or it belongs to another connection.',
    example: {subscription: 's-4'},
  },
  subscriptions_exhausted: {
    cause: 'One connection opened the maximum number of event subscriptions.',
    example: {limit: 64},
  },
  daemon_token_refused: {
    cause: 'The daemon was started with SVC_DAEMON_TOKEN, and the client sent no token or a different one.',
  },
  daemon_full: {
    cause: 'The daemon limits the number of connections that are open at once.',
    example: {limit: 256},
  },
  daemon_address_invalid: {
    cause: 'A listen address needs a host and a port.',
    example: {address: 'localhost'},
  },
  daemon_address_in_use: {
    cause: 'Another process, perhaps another daemon, listens on this address.',
    example: {address: '127.0.0.1:9745'},
  },
  daemon_address_unavailable: {
    cause: 'The address does not belong to this machine, or the port needs more rights.',
    example: {address: '192.0.2.7:9745', reason: 'listen EADDRNOTAVAIL: address not available 192.0.2.7:9745'},
  },
  daemon_exposed: {
    cause: 'An address other than loopback lets other machines run tasks, so it needs a flag and a token.',
    example: {
      address: '0.0.0.0:9745',
      missing: ['--allow-remote', 'a token of 16 characters or more in SVC_DAEMON_TOKEN'],
    },
  },
  daemon_not_running: {
    cause: 'The command needs the daemon of this workspace, and none is running.',
  },
  daemon_silent: {
    cause: 'The daemon was started without --listen, so no program can call it.',
    example: {pid: 4711},
  },
  daemon_died: {
    cause: 'The daemon process exited during start-up; the end of its log is quoted.',
    example: {
      ended: 'status 5',
      log: '.svc/daemon.log',
      tail: 'The database .svc/store.db is locked by another process.',
    },
  },
  daemon_start_timeout: {
    cause: 'The daemon process started, but did not report that it was ready in time.',
    example: {seconds: 30, log: '.svc/daemon.log'},
  },
  daemon_stop_timeout: {
    cause: 'The daemon was asked to stop and is still finishing its work.',
    example: {pid: 4711, seconds: 10},
  },
  daemon_connection_lost: {
    cause: 'The daemon stopped or crashed while a request was waiting for its answer.',
    example: {address: '127.0.0.1:9745'},
  },
  daemon_answer_invalid: {
    cause: 'Another server, which does not speak JSON-RPC, listens on the address.',
    example: {address: '127.0.0.1:9745'},
  },
  call_invalid: {
    cause: "The daemon rejected the parameters of a call; the sentence is the daemon's own.",
    example: {message: 'The task cannot be submitted: its description is blank.'},
  },
  call_not_found: {
    cause: "The daemon did not find what a call names; the sentence is the daemon's own.",
    example: {message: 'There is no task T-0042 in this workspace.'},
  },
  call_refused: {
    cause: "A call conflicts with the present state; the sentence is the daemon's own.",
    example: {message: 'T-0042 is held by builder, and no claim was given.'},
  },
  call_unavailable: {
    cause: "The daemon could not serve the call now; the sentence is the daemon's own.",
    example: {message: 'The database .svc/store.db is locked by another process.'},
  },
  call_failed: {
    cause: "The daemon ran the call and it failed; the sentence is the daemon's own.",
    example: {message: 'T-0042 ended as Failed: test ended with status 1.'},
  },
  model_id_invalid: {
    cause: 'The argument is no existing directory, and it does not have the form OWNER/NAME of a model on the hub.',
    example: {id: './models/whisper tiny'},
  },
  hub_model_unknown: {
    cause: 'The hub has no public model with this id.',
    example: {id: 'openai/whisper-tinny', endpoint: 'https://huggingface.co'},
  },
  hub_revision_unknown: {
    cause: 'The model exists, but it has no branch, tag or commit of this name.',
    example: {id: 'openai/whisper-tiny.en', revision: 'v9'},
  },
  hub_files_missing: {
    cause: 'The repository has only formats that svc does not read, for example PyTorch checkpoints.',
    example: {id: 'acme/whisper-pickled'},
  },
  hub_access_denied: {
    cause: 'The hub gives the same answer for a private model, a gated model and an id that does not exist.',
    example: {id: 'acme/private-whisper', status: 401, tokenSent: false},
  },
  hub_unreachable: {
    cause: 'The host name could not be resolved, or no connection could be opened.',
    example: {endpoint: 'https://huggingface.co', reason: 'ENOTFOUND'},
  },
  hub_failed: {
    cause: 'The hub answered with an error that is not about this model.',
    example: {endpoint: 'https://huggingface.co', status: 503},
  },
  hub_answer_invalid: {
    cause: 'A proxy or a mirror answered instead of the hub, with something that is not a model listing.',
    example: {endpoint: 'https://proxy.example', reason: 'it redirects to what is no web address'},
  },
  hub_offline: {
    cause: 'Downloads are disabled with HF_HUB_OFFLINE or the matching setting, and the model was never downloaded.',
    example: {id: 'openai/whisper-base'},
  },
  checksum_mismatch: {
    cause: 'The downloaded file differs from what the hub announced, for instance because a proxy changed it.',
    example: {
      file: 'model.safetensors',
      expected: 'db59695928ded6043adaef491a53ba83',
      actual: '0f1c2d3e4a5b6978812233445566778a',
    },
  },
  journey_not_found: {
    cause: 'No journey of this workspace has this id.',
    example: {journey: 'j-spring-release', known: ['canonical', 'j-winter-release']},
  },
  journey_invalid: {
    cause: 'A field of the journey is missing, too long or of the wrong type.',
    example: {member: 'session_id', fault: 'has 3120 characters, and 2048 are allowed'},
  },
  operation_not_found: {
    cause: 'The operation log has no entry with this number.',
    example: {operation: 'OP-000042'},
  },
  operation_conflict: {
    cause: 'The operation was undone or redone before, or later changes depend on it.',
    example: {operation: 'OP-000007', what: 'undone', reason: 'it is undone already'},
  },
  program_not_found: {
    cause: 'No program was named and the default place has none, or the named file does not exist.',
    example: {path: 'src/main.svc'},
  },
  program_invalid: {
    cause: 'The checker found errors, so the program is not run.',
    example: {path: 'src/main.svc', errors: 2},
  },
  endpoint_auth_not_enforced: {
    cause: 'Ignoring the decorator would leave open an endpoint that its author meant to protect.',
    example: {place: 'src/main.svc:7:1'},
  },
  app_unprotected: {
    cause: 'A server on an address other than loopback needs a token.',
    example: {host: '0.0.0.0', variable: 'SVC_APP_TOKEN'},
  },
  endpoint_unknown: {
    cause: 'The program declares no endpoint of this name.',
    example: {name: 'lst', suggestion: 'list'},
  },
  endpoint_failed: {
    cause: 'The arguments were valid, and an operation in the body of the endpoint failed.',
    example: {name: 'share', reason: 'DIVISION_BY_ZERO', detail: 'Division by zero'},
  },
  endpoint_refused: {
    cause: 'The endpoint returned Error(...).',
    example: {name: 'add', detail: 'a task needs a title'},
  },
  argument_invalid: {
    cause: "The value of an argument does not match the parameter's type in the program.",
    example: {name: 'id', fault: 'expected an int, found "first"'},
  },
  topic_unknown: {
    cause: 'No query of the program uses .live(...) with this topic.',
    example: {topic: 'task', suggestion: 'tasks'},
  },
  table_unknown: {
    cause: 'The program declares no table of this name.',
    example: {name: 'Tasks', suggestion: 'Task'},
  },
  record_invalid: {
    cause: 'A row to import does not match the columns of its table.',
    example: {path: 'tasks.jsonl', place: 'line 3', fault: 'title must be a str, found 7'},
  },
  database_missing: {
    cause: 'The command reads an existing database, and there is no file at this path.',
    example: {path: '.svc/app.db'},
  },
  migration_blocked: {
    cause: 'The program and the database differ in a way that could lose data, so a person must decide.',
    example: {path: '.svc/app.db', blocking: 1},
  },
  migration_failed: {
    cause: 'SQLite refused a step of the migration, and all steps were rolled back.',
    example: {path: '.svc/app.db', reason: 'UNIQUE constraint failed: task.title'},
  },
  migration_choice: {
    cause: 'A flag that decides about a migration names a table or column that the migration does not change.',
    example: {flag: '--rebuild', value: 'Taks', fault: 'the program declares no table Taks'},
  },
  sql_invalid: {
    cause: 'SQLite refused the statement.',
    example: {reason: 'no such table: tasks'},
  },
  unconfirmed: {
    cause: 'The command deletes data and runs without a terminal to ask on, or the answer was no.',
    example: {what: 'A reset'},
  },
  unknown_tool: {
    cause: 'The MCP server has no tool of this name.',
    example: {name: 'svc_submit', suggestion: 'svc_submit_task'},
  },
  prompt_invalid: {
    cause: 'The MCP server has no prompt of this name, or an argument of the prompt is missing.',
    example: {name: 'svc_review', fault: 'there is no such prompt'},
  },
  resource_not_found: {
    cause: 'The MCP server has no resource at this URI.',
    example: {uri: 'svc://tasks/T-0042'},
  },
  tool_name_taken: {
    cause: 'Two endpoints, or an endpoint and a built-in tool, would have the same tool name.',
    example: {endpoint: 'list', name: 'todo_list'},
  },
  speech_unavailable: {
    cause: 'The tool server runs in a process that loads no speech model, such as a daemon.',
  },
  remote_bind_refused: {
    cause: 'An address other than loopback lets other machines use the tools, so it needs a flag.',
    example: {host: '0.0.0.0', missing: ['--allow-remote']},
  },
  mcp_client_file_invalid: {
    cause: 'The configuration file of the editor exists and cannot be parsed, so it is left untouched.',
    example: {path: '~/.cursor/mcp.json', reason: 'it is not UTF-8'},
  },
  origin_denied: {
    cause: 'The request came from a web page, and its origin is not on the list of allowed origins.',
    example: {origin: 'https://page.example'},
  },
  mcp_session_missing: {
    cause: 'Every MCP request except initialize must carry the header Mcp-Session-Id.',
  },
  mcp_session_not_found: {
    cause: 'The session expired, was closed, or belongs to a server that was restarted.',
  },
  mcp_sessions_full: {
    cause: 'The MCP server limits the number of sessions, and none of them is idle.',
    example: {limit: 64},
  },
  missing_field: {
    cause: 'The field is missing, or its value has the wrong type.',
    example: {field: 'claimer_node_id', expected: 'a text'},
  },
  invalid_agent_id: {
    cause: 'Agent ids in mesh messages are decimal numbers in a string.',
    example: {field: 'receiver_agent_id'},
  },
  scope_key_too_long: {
    cause: 'The scope key of a lease request exceeds the limit.',
    example: {limit: 2048},
  },
  attestation_invalid: {
    cause: 'The digest or signature of a result does not match its payload.',
    example: {reason: 'the digest is not that of the payload'},
  },
  token_expired: {
    cause: 'The exp or nbf claim of the JWT excludes the present time.',
  },
  token_replayed: {
    cause: 'The token names its use in its jti claim, and the control plane has seen that id before.',
  },
  bootstrap_invalid: {
    cause: 'The join request carries a bootstrap token that this control plane did not issue.',
  },
  role_forbidden: {
    cause: 'The token is valid, but its role does not include this operation.',
    example: {role: 'worker'},
  },
  scope_mismatch: {
    cause: 'SVC_MESH_SCOPE_ID differs between the node and the control plane.',
  },
  unknown_node: {
    cause: 'The node never joined, or it left or was silent for too long.',
    example: {node: 'laptop'},
  },
  node_quarantined: {
    cause: 'An administrator, or the control plane itself, excluded the node from new work.',
    example: {node: 'laptop'},
  },
  node_maintenance: {
    cause: 'An administrator put the node into maintenance.',
    example: {node: 'laptop'},
  },
  node_identity_mismatch: {
    cause: 'The token was issued to one node, and the request names another.',
    example: {node: 'laptop'},
  },
  node_not_found: {
    cause: 'No node with this id is registered.',
    example: {node: 'laptop'},
  },
  lease_not_found: {
    cause: 'The lease expired, was released or revoked, or never existed.',
    example: {lease: '5f0c7c1e-9a3b-4d55-8f0e-2b6c1d7e8f90'},
  },
  dead_message_not_found: {
    cause: 'The message is not in the dead-letter list; it may have been requeued or purged.',
    example: {message: 17},
  },
  bootstrap_disabled: {
    cause: 'The control plane was started without a bootstrap token.',
  },
  lease_held: {
    cause: 'A lease is exclusive, and another node holds this one until it expires or is released.',
    example: {scopeKey: 'task:42'},
  },
  not_lease_holder: {
    cause: 'The lease or claim expired before the work was done, and another node took it over.',
    example: {what: 'message 17'},
  },
  duplicate_node_id: {
    cause: 'Two processes use the same node id, and only the newer one counts.',
    example: {node: 'laptop'},
  },
  bootstrap_consumed: {
    cause: 'A bootstrap token works once, and a node has already joined with it.',
  },
  bootstrap_expired: {
    cause: 'A bootstrap token is valid for a few minutes only.',
  },
  idempotency_key_reused: {
    cause: 'A message with the same idempotency key but a different content was sent before.',
    example: {message: 17},
  },
  inbox_full: {
    cause: 'The receiver does not read its messages, and no unread message is dropped.',
    example: {limit: 10_000},
  },
  store_unavailable: {
    cause: 'The database of the control plane is full, locked or unreachable.',
    example: {reason: 'database or disk is full'},
  },
  attestation_key_missing: {
    cause: 'A signed result arrived, and the control plane has no key to verify it.',
  },
  server_token_missing: {
    cause: 'The control plane issues worker tokens to new nodes, and it has none configured.',
  },
  mesh_unprotected: {
    cause: 'A control plane on an address other than loopback needs tokens.',
    example: {host: '0.0.0.0'},
  },
  mesh_tokens_equal: {
    cause: "A worker whose token equals the administrator's token would be an administrator.",
    example: {first: 'SVC_MESH_WORKER_TOKEN', second: 'SVC_MESH_ADMIN_TOKEN'},
  },
  mesh_secret_weak: {
    cause: 'A secret that signs tokens or guards the control plane is too short to resist guessing.',
    example: {variable: 'SVC_MESH_JWT_HMAC_SECRET', least: '32 bytes'},
  },
  mesh_exists: {
    cause: 'svc mesh init was run before, and its secrets are not replaced without being told to.',
    example: {path: '.svc/mesh/mesh.env'},
  },
  mesh_secrets_overruled: {
    cause: 'An environment variable or settings file would override the tokens issued to this machine.',
    example: {variables: ['SVC_MESH_WORKER_TOKEN']},
  },
  mesh_secrets_ignored: {
    cause: 'The secrets are used only with the control plane that they were issued by.',
    example: {fault: 'a stronger file than .svc/mesh/mesh.env names the control plane'},
  },
  mesh_rejected: {
    cause: 'The control plane did not accept the content of a request.',
    example: {operation: 'exec_lease_grant', status: 422, detail: 'the body has an unknown member'},
  },
  mesh_denied: {
    cause: 'The control plane did not accept the token, or its role does not include the operation.',
    example: {operation: 'join', status: 403},
  },
  mesh_missing: {
    cause: 'The control plane does not know what the request names.',
    example: {operation: 'exec_lease_renew', status: 404},
  },
  mesh_unavailable: {
    cause: 'The control plane, or a proxy in front of it, cannot serve requests now.',
    example: {operation: 'heartbeat', status: 503, detail: 'upstream is restarting'},
  },
  mesh_token_missing: {
    cause: 'None of the token variables is set on this machine.',
    example: {operation: 'join', variables: ['SVC_MESH_WORKER_TOKEN']},
  },
  control_plane_missing: {
    cause: 'The address is not that of a control plane.',
    example: {url: 'http://127.0.0.1:9847', reason: 'its answer is a page of another server'},
  },
  mesh_address_missing: {
    cause: 'SVC_MESH_CONTROL_ADDR is not set, and no flag names the control plane.',
  },
  control_plane_silent: {
    cause: 'The control plane process was started for this command and did not become ready in time.',
    example: {seconds: 10, log: '/tmp/svc-mesh-prove/control-plane.log'},
  },
  message_not_found: {
    cause: 'The message was acknowledged and purged, or it belongs to another inbox.',
    example: {message: '42'},
  },
  message_invalid: {
    cause: 'A field of the message is missing, too long or of the wrong type.',
    example: {fault: 'its payload is longer than 131072 characters'},
  },
  message_key_conflict: {
    cause: 'A message with the same idempotency key but a different content was sent before.',
    example: {key: 'review-42', message: '0f8fad5b-d9cb-469f-a165-70867728950e'},
  },
  message_claim_lost: {
    cause: 'The claim expired, or another consumer holds the message.',
    example: {message: '42', owner: 'reviewer-laptop'},
  },
  agent_session_mismatch: {
    cause: 'An agent works in one session at a time, and the call names a different one.',
    example: {agent: 'reviewer'},
  },
  mesh_not_configured: {
    cause: 'The receiver is on another machine, and this workspace belongs to no mesh.',
  },
  model_not_found: {
    cause: 'The model was looked for in every listed place and found in none.',
    example: {model: 'modells/guide', tried: ['/home/ann/modells/guide']},
  },
  model_not_served: {
    cause: 'The server serves one model, and the request names a different one.',
    example: {model: 'giude', served: 'guide', suggestion: 'guide'},
  },
  device_unavailable: {
    cause: 'The driver, library or execution provider of the device is not installed on this machine.',
    example: {device: 'cuda', reason: 'libcudart.so.12: cannot open shared object file'},
  },
  model_file_missing: {
    cause: 'A file that every model of this kind has is not in the directory.',
    example: {file: 'config.json', tried: ['runs/r7/config.json']},
  },
  model_format_unsupported: {
    cause: 'Weights are read from safetensors only, and the directory has a different format.',
    example: {
      path: 'models/acme',
      missing: 'safetensors weights',
      found: 'PyTorch weights (pytorch_model.bin)',
      convert: `python -c "from transformers import AutoModelForCausalLM as M; M.from_pretrained('models/acme').save_pretrained('models/acme-safetensors')"`,
    },
  },
  model_file_invalid: {
    cause: 'A file of the model is damaged, incomplete or of an unknown layout.',
    example: {file: 'runs/r7/tokenizer.json', reason: 'it has no member model'},
  },
  model_family_unknown: {
    cause: 'model_type in config.json names an architecture that svc does not implement.',
    example: {file: 'models/acme/config.json', family: 'mamba', known: ['llama', 'mistral', 'qwen2', 'qwen3']},
  },
  model_config_unsupported: {
    cause: 'config.json enables a feature that would change the result and is not implemented.',
    example: {file: 'models/acme/config.json', key: 'attn_logit_softcapping', value: '50'},
  },
  base_model_not_found: {
    cause: 'The run directory names its base model by a path that does not exist on this machine.',
    example: {base: '/models/small-base', tried: ['runs/r7', '/models/small-base']},
  },
  adapter_missing: {
    cause: 'The directory has the reports of a training run, but no adapter weights.',
    example: {path: 'runs/r7'},
  },
  adapter_invalid: {
    cause: 'The description of the adapter is incomplete or contradicts itself.',
    example: {file: 'runs/r7/adapter_config.json', reason: 'r must be a number above 0, not "8"'},
  },
  adapter_unsupported: {
    cause: 'The adapter uses a LoRA variant that is not implemented.',
    example: {file: 'runs/r7/adapter_config.json', key: 'use_dora', value: 'true'},
  },
  adapter_tensor_missing: {
    cause: 'The manifest of the adapter names a tensor that its weights do not contain.',
    example: {tensor: 'layers.3.q_proj.lora_b', manifest: 'runs/r7/adapter_manifest.json'},
  },
  adapter_mismatch: {
    cause: 'The adapter was trained on a base model with different dimensions.',
    example: {
      tensor: 'layers.0.q_proj.lora_a',
      adapter: [8, 4096],
      base: 'model.layers.0.self_attn.q_proj.weight',
      found: [2048, 2048],
    },
  },
  adapter_ambiguous: {
    cause: 'Merged weights next to the adapter cover only some of the layers that the adapter changes.',
    example: {adapter: 'runs/r7/adapter.safetensors', tensor: 'model.layers.3.self_attn.q_proj.weight'},
  },
  eval_gate_failed: {
    cause: 'The training run was evaluated, and its report says that the model became worse.',
    example: {file: 'runs/r7/eval_gate.json'},
  },
  safetensors_invalid: {
    cause: 'The file is damaged or was not downloaded completely.',
    example: {file: 'model-00001-of-00002.safetensors', reason: 'its header claims 9871 bytes, the file has 4096'},
  },
  shard_missing: {
    cause: 'The index names a weights file that was not copied or downloaded.',
    example: {shard: 'model-00002-of-00002.safetensors', index: 'model.safetensors.index.json'},
  },
  adapter_legacy: {
    cause: 'The adapter is a pickled PyTorch file; those can run code when they are loaded, so they are not read.',
    example: {file: 'runs/r2/adapter.bin'},
  },
  merge_families: {
    cause: 'An adapter must belong to one base model, and this one mixes tensor names of several.',
    example: {file: 'runs/r7/adapter_manifest.json', counts: ['168 of llama', '4 of gpt2']},
  },
  tensor_overflow: {
    cause: 'The merged value is larger than the output type can represent.',
    example: {tensor: 'model.layers.11.mlp.down_proj.weight', dtype: 'F16'},
  },
  tensor_missing: {
    cause: 'The architecture needs a tensor that none of the weights files contains.',
    example: {tensor: 'model.norm.weight', files: ['model-00001-of-00002.safetensors']},
  },
  tensor_shape: {
    cause: 'The weights and config.json come from different models.',
    example: {
      tensor: 'model.embed_tokens.weight',
      file: 'model.safetensors',
      found: [32_000, 2048],
      expected: [32_064, 2048],
    },
  },
  tensor_dtype: {
    cause: 'The weights are stored in a type that is not read, such as an integer quantisation.',
    example: {tensor: 'model.norm.weight', file: 'model.safetensors', dtype: 'I8', accepted: ['F32', 'F16', 'BF16']},
  },
  prompt_missing: {
    cause: 'No prompt was given as an argument, and standard input is a terminal.',
  },
  prompt_empty: {
    cause: 'The prompt has no characters.',
  },
  prompt_too_long: {
    cause: 'The prompt fills the whole context window of the model.',
    example: {length: '5120 tokens', context: 4096},
  },
  chat_template_failed: {
    cause: 'The Jinja template of the model uses a function or syntax that is not supported.',
    example: {file: 'runs/r7/tokenizer_config.json', reason: 'Unknown function strftime_now'},
  },
  chat_refused: {
    cause: 'The chat template raised an exception for this sequence of roles.',
    example: {reason: 'Conversation roles must alternate user/assistant'},
  },
  generation_failed: {
    cause: 'ONNX Runtime reported an error, or the logits were not finite.',
    example: {reason: 'no token is left to choose from: no logit is finite'},
  },
  port_in_use: {
    cause: 'Another process, perhaps another svc server, listens on this port.',
    example: {host: '127.0.0.1', port: 11_435},
  },
  address_unavailable: {
    cause: 'The address does not belong to this machine, or the port needs more rights.',
    example: {host: '192.0.2.7', port: 11_435, reason: 'listen EADDRNOTAVAIL: address not available 192.0.2.7:11435'},
  },
  tls_unusable: {
    cause: 'The TLS certificate and the private key are unreadable, or they do not belong together.',
    example: {reason: 'the certificate has no key'},
  },
  tls_ca_unusable: {
    cause: 'The file named for additional certificate authorities is unreadable or not PEM.',
    example: {path: '/etc/ssl/company.pem', reason: 'it holds no certificate'},
  },
  certificate_untrusted: {
    cause: "The server's certificate is self-signed or issued by an unknown authority.",
    example: {url: 'https://mesh.example:9847', reason: 'self-signed certificate'},
  },
  unreachable: {
    cause: 'No connection could be opened to the server.',
    example: {url: 'http://127.0.0.1:11434', reason: 'nothing listens there'},
  },
  timeout: {
    cause: 'The connection was opened, but no answer came in time.',
    example: {url: 'http://127.0.0.1:11434/api/generate', ms: 30_000},
  },
  http_status: {
    cause: 'The server answered, with a status that means failure.',
    example: {url: 'http://127.0.0.1:11434/api/generate', status: 500, detail: 'out of memory'},
  },
  response_too_large: {
    cause: 'The answer exceeds what is read into memory.',
    example: {url: 'http://127.0.0.1:11434/api/tags', limit: 1_048_576},
  },
  bad_request: {
    cause: 'A field of the request body is missing, of the wrong type or out of range.',
    example: {reason: 'temperature must be a number from 0 to 2, not "hot".', param: 'temperature'},
  },
  unsupported_value: {
    cause: 'The request asks for a feature of the API that this server does not have.',
    example: {reason: 'This server does not support tools.', param: 'tools'},
  },
  invalid_json: {
    cause: 'The request body does not parse as JSON.',
    example: {reason: 'Unexpected end of JSON input'},
  },
  body_missing: {
    cause: 'The request needs a JSON body, and none was sent.',
  },
  body_too_large: {
    cause: 'The server limits the size of request bodies.',
    example: {limit: 8_388_608},
  },
  media_type_unsupported: {
    cause: 'The Content-Type header is not application/json.',
  },
  unauthorized: {
    cause: 'The server was started with a token, and the request has none or a different one.',
  },
  origin_forbidden: {
    cause: 'The request came from a web page, and its origin is not on the list of allowed origins.',
    example: {origin: 'https://page.example'},
  },
  host_forbidden: {
    cause:
      'A web page could reach a local server through a host name of its own (DNS rebinding), so unknown names are refused.',
    example: {host: 'rebound.example'},
  },
  route_unknown: {
    cause: 'The server has no route with this path.',
    example: {method: 'GET', path: '/v1/model'},
  },
  method_not_allowed: {
    cause: 'The route exists, but not for this HTTP method.',
    example: {method: 'GET', path: '/api/generate', allowed: ['POST']},
  },
  not_implemented: {
    cause: 'The route belongs to the API, but this server does not implement it.',
    example: {what: 'embeddings are'},
  },
  rate_limited: {
    cause: 'One client sent more requests than the limit allows.',
    example: {limit: 600, within: 'minute'},
  },
  overloaded: {
    cause: 'The queue of waiting requests is full.',
    example: {reason: '32 requests are waiting already.'},
  },
  params_invalid: {
    cause: 'The parameters do not match the schema of the operation.',
    example: {operation: 'orch.submit_task', violations: ["the document must have required property 'description'"]},
  },
  path_denied: {
    cause: 'A path must lie inside the workspace, also after links are followed.',
    example: {path: '../secrets.env', reason: 'it lies outside of the workspace'},
  },
  orchestrator_disabled: {
    cause: 'orchestrator.enabled is false in this workspace.',
  },
  orchestration_store_missing: {
    cause: 'The database of the workspace cannot be opened, and tasks are never kept in memory only.',
    example: {reason: 'Cannot open the database .svc/store.db: unable to open database file.'},
  },
  task_not_found: {
    cause: 'No task of this workspace has this id; it may have been pruned.',
    example: {task: 'T-0042'},
  },
  task_invalid: {
    cause: 'A field of the task is missing, too long or contradicts another.',
    example: {place: 'Task 3 of the batch ("Review it")', fault: 'its description is blank'},
  },
  invalid_transition: {
    cause: 'A task that has ended cannot change its status, and some steps need a certain status before.',
    example: {task: 'T-0042', from: 'Completed', to: 'Cancelled'},
  },
  task_path_escapes: {
    cause: 'A file of a task must lie inside the workspace, also after links are followed.',
    example: {path: '../other/readme.md'},
  },
  dependency_unknown: {
    cause: '--depends-on names a task that does not exist.',
    example: {dependency: 'T-0041'},
  },
  dependency_failed: {
    cause: '--depends-on names a task that failed or was cancelled.',
    example: {dependency: 'T-0041', status: 'Cancelled'},
  },
  dependency_cycle: {
    cause: 'Tasks of a batch depend on each other in a circle, so none could ever start.',
    example: {cycle: ['build', 'test', 'build']},
  },
  idempotency_mismatch: {
    cause: 'A task with the same idempotency key but different content was submitted before.',
    example: {key: 'release-7', task: 'T-0042'},
  },
  lock_conflict: {
    cause: 'Another task that has not ended writes the same file.',
    example: {path: 'src/parser.ts', holder: 'builder', kind: 'exclusively_held'},
  },
  scope_denied: {
    cause: 'The scope of the agent does not include the file.',
    example: {agent: 'reviewer', path: 'src/parser.ts'},
  },
  queue_full: {
    cause: 'The number of queued tasks reached its limit.',
    example: {queued: 1000, limit: 1000},
  },
  agent_not_found: {
    cause: 'No agent of this workspace has this name or id.',
    example: {agent: 'bulider', suggestion: 'builder'},
  },
  agent_exists: {
    cause: 'Agent names are unique within a workspace.',
    example: {name: 'builder', agent: 'A-01'},
  },
  max_agents_reached: {
    cause: 'The number of agents reached its limit.',
    example: {limit: 8},
  },
  last_agent: {
    cause: 'Retiring the agent would leave its tasks without anyone to run them.',
    example: {agent: 'builder (A-01)', tasks: 3},
  },
  delegation_parent_not_found: {
    cause: 'The parent that was named for the new agent does not exist.',
    example: {parent: 'A-09'},
  },
  claim_required: {
    cause: 'The task is claimed, and only the holder of the claim may change it.',
    example: {task: 'T-0042', owner: 'builder'},
  },
  claim_lost: {
    cause: 'The claim was not renewed in time, so the task was given to another client.',
    example: {task: 'T-0042', generation: 1, current: 2, status: 'InProgress'},
  },
  no_task_to_claim: {
    cause: 'No queued task is for an external worker.',
  },
  task_not_successful: {
    cause: '--wait ended with the task, and the task failed or was cancelled.',
    example: {task: 'T-0042', status: 'Failed', reason: 'test ended with status 1'},
  },
  task_wait_timeout: {
    cause: '--timeout ended the wait; the task itself goes on.',
    example: {task: 'T-0042', status: 'Queued', seconds: 60},
  },
  wait_interrupted: {
    cause: 'Ctrl-C ends the wait, not the task.',
    example: {task: 'T-0042', status: 'InProgress'},
  },
  wait_terminated: {
    cause: 'SIGTERM ends the wait, not the task.',
    example: {task: 'T-0042', status: 'InProgress'},
  },
  daemon_running: {
    cause: 'One daemon runs per workspace.',
    example: {pid: 4711, host: 'workstation'},
  },
  daemon_replaced: {
    cause: 'The daemon did not renew its lease on the workspace in time, so another one took over.',
    example: {fence: 8},
  },
  plan_not_found: {
    cause: 'No plan of this workspace has this id.',
    example: {plan: 'plan-42', suggestion: undefined},
  },
  planning_disabled: {
    cause: 'planning.enabled is false in this workspace.',
  },
  plan_goal_invalid: {
    cause: 'The goal is blank, too long or contains control characters.',
    example: {fault: 'is blank'},
  },
  plan_mode_unsupported: {
    cause: 'The requested mode needs a workflow, and the goal is not one.',
    example: {mode: 'workflow_only'},
  },
  plan_rejected: {
    cause: 'The quality checks on plans found faults that the settings do not allow.',
    example: {faults: ['step 2 is vague and untested']},
  },
  plan_model_answer: {
    cause: 'The model answered with something that does not match the schema of a plan.',
    example: {fault: 'step 2 has no description'},
  },
  plan_model_slow: {
    cause: 'The model did not finish its plan within the time limit.',
    example: {ms: 60_000},
  },
  plan_id_too_long: {
    cause: 'An identifier of the plan exceeds the limit.',
    example: {name: 'session_id', length: 3120, limit: 2048},
  },
  plan_changed: {
    cause: 'The plan was changed by another client after it was read.',
    example: {plan: 'plan-42', version: 1, current: 2},
  },
  plan_stuck: {
    cause: 'Every step that is left depends on a step that failed or was cancelled.',
    example: {plan: 'plan-42', nodes: ['step-2']},
  },
  plan_step_replaced: {
    cause: 'The plan was revised, and the step of this task is no longer part of it.',
    example: {task: 'T-0042', plan: 'plan-42', node: 'step-2', version: 2},
  },
  plan_file_blocked: {
    cause: 'The file that would show the plan is a directory, a device or a pipe.',
    example: {path: 'docs/plan.md'},
  },
  plan_file_escapes: {
    cause: 'The file that would show the plan is a link out of the workspace.',
    example: {path: 'docs/plan.md'},
  },
  task_run_failed: {
    cause: 'The command or model that ran the task reported a failure.',
    example: {reason: 'test ended with status 1', exitCode: 1, stderr: ['1 test failed']},
  },
  inference_protocol: {
    cause: 'The address belongs to a different kind of server, or to one with an incompatible API.',
    example: {url: 'http://127.0.0.1:8080', reason: 'a line is not JSON'},
  },
  inference_failed: {
    cause: 'The inference server ended a streamed answer with an error.',
    example: {url: 'http://127.0.0.1:11435', reason: 'the model ran out of memory'},
  },
  exec_disabled: {
    cause: 'Commands run only in workspaces whose settings allow it.',
  },
  exec_template_missing: {
    cause: 'The task is for the exec processor, which runs named command templates only.',
  },
  exec_template_unknown: {
    cause: 'The settings define no command template of this name.',
    example: {template: 'tset', suggestion: 'test'},
  },
  exec_template_invalid: {
    cause: 'The definition of the command template in the settings is incomplete.',
    example: {template: 'test', reason: 'it names no program'},
  },
  exec_params_missing: {
    cause: 'The command template has placeholders that the task gives no value for.',
    example: {template: 'test', names: ['file']},
  },
  exec_params_unused: {
    cause: 'The task gives a value that the command template does not use.',
    example: {template: 'test', names: ['fiel'], suggestion: 'file'},
  },
  exec_param_invalid: {
    cause: 'A value could be read as an option by the program, or contains a null character.',
    example: {template: 'test', name: 'file', reason: 'it begins with a dash, and the template has no -- before it'},
  },
  session_not_found: {
    cause: 'No session has this id, or it was removed.',
    example: {id: 'builder-20260401'},
  },
  session_limit: {
    cause: 'The number of open sessions reached its limit.',
    example: {limit: 32},
  },
  session_damaged: {
    cause: 'The journal of the session was changed or cut by something other than svc.',
    example: {id: 'builder-20260401', reason: 'line 12 of its journal is no event'},
  },
  cache_unwritable: {
    cause: 'The folder cannot be created or written, or its disk is full.',
    example: {folder: '/home/ann/.cache/svc/speech', reason: 'no space is left on the disk'},
  },
  speech_model_missing: {
    cause: 'Neither a flag nor a setting names a model, and none was downloaded before.',
  },
  speech_model_unknown: {
    cause: 'The directory holds a model that is neither Whisper nor CTC.',
    example: {path: 'models/acme', found: 'its model_type is bert'},
  },
  speech_backend_mismatch: {
    cause: 'The backend that was chosen runs another kind of model.',
    example: {model: 'models/starter', backend: 'whisper'},
  },
  tokenizer_mismatch: {
    cause: 'The tokenizer in the directory belongs to a different model.',
    example: {file: 'models/whisper/tokenizer.json', reason: 'it has no token <|startoftranscript|>'},
  },
  recognition_failed: {
    cause: 'ONNX Runtime failed on the model, or its worker ended unexpectedly.',
    example: {reason: 'the worker ended with status 134'},
  },
  words_unsupported: {
    cause: 'Word times come from the cross-attention of the decoder, and this export does not output it.',
    example: {model: 'models/whisper-base-onnx'},
  },
  task_unsupported: {
    cause: 'English-only Whisper models and CTC models cannot translate.',
    example: {model: 'openai/whisper-tiny.en'},
  },
  language_unsupported: {
    cause: 'The model was not trained on this language, or its name is misspelt.',
    example: {language: 'gerrman', model: 'openai/whisper-tiny', known: ['en', 'de', 'fr'], suggestion: 'german'},
  },
  dataset_invalid: {
    cause: 'A line of the evaluation data set is not a JSON object with the required fields.',
    example: {file: 'clips.jsonl', line: 3, reason: 'path is missing'},
  },
  recording_missing: {
    cause: 'No file was named, and standard input is a terminal.',
  },
  audio_folder_empty: {
    cause: 'The folder contains no file with the name of an audio format.',
    example: {folder: 'talks'},
  },
  subtitle_format_unknown: {
    cause: 'The extension of the output file decides its format, and only two are known.',
    example: {path: 'film.txt'},
  },
  output_dir_needed: {
    cause: 'Formats with times cannot be concatenated.',
    example: {format: 'srt'},
  },
  vad_model_missing: {
    cause: '--vad neural needs the ONNX file of a voice activity detector.',
  },
  store_engine_missing: {
    cause: 'The prebuilt SQLite driver is not installed, or was built for another version of Node.js.',
    example: {reason: 'Could not locate the bindings file'},
  },
  store_node_unsupported: {
    cause: 'The SQLite driver that comes with svc is built for newer versions of Node.js.',
    example: {version: '20.19.0', oldestMajor: 22},
  },
  store_unopenable: {
    cause: 'The database file or its folder cannot be opened for reading and writing.',
    example: {path: '.svc/store.db', reason: 'unable to open database file'},
  },
  store_unwritable: {
    cause: 'The disk is full or read-only.',
    example: {path: '.svc/store.db', reason: 'database or disk is full'},
  },
  store_damaged: {
    cause: 'The file was overwritten or cut, or was never a database.',
    example: {path: '.svc/store.db', reason: 'file is not a database'},
  },
  store_busy: {
    cause: 'Another process kept the write lock of the database for longer than the time limit.',
    example: {path: '.svc/store.db'},
  },
  store_migration_failed: {
    cause: 'SQLite refused a step of the schema migration, and all steps were rolled back.',
    example: {path: '.svc/store.db', fragment: 'orchestrator', version: 12, reason: 'database or disk is full'},
  },
  store_newer: {
    cause: 'A newer version of svc changed the schema, and an older version could damage the data.',
    example: {path: '.svc/store.db', fragment: 'orchestrator', found: 14, known: 12},
  },
  vector_engine_missing: {
    cause: 'The program uses a vector index, and the package sqlite-vec is not installed.',
    example: {reason: 'Cannot find package sqlite-vec'},
  },
}
