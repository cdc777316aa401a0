import type {ErrorCode, ErrorParams} from './catalogue.js'

/** The cause of an error in one sentence, with realistic parameters if its message has any. */
export type ErrorExplanation<C extends ErrorCode> = keyof ErrorParams<C> extends never
  ? string
  : readonly [cause: string, example: ErrorParams<C>]

/** Loaded only by `svc explain`, so that other commands start faster. */
export const errorExplanations: {readonly [C in ErrorCode]: ErrorExplanation<C>} = {
  context_file_unusable: [
    'The context file exists, but it is not a readable UTF-8 text file within the size limit.',
    {path: 'assets/logo.png', reason: 'it is not UTF-8 text'},
  ],
  request_timeout: 'The headers of a request must arrive within seconds, and its body within a minute.',
  headers_too_large: [
    'Node.js limits the first line and the headers of a request; most often, the arguments in a URL are too long.',
    {limit: 16 << 10},
  ],
  context_file_missing: ['context_files names a file that does not exist.', {path: 'src/parser.ts'}],
  column_unknown: [
    '--columns names the columns of the table, in lower case, with dashes instead of spaces.',
    {column: 'stat', columns: 'task, status, age, description', suggestion: 'status'},
  ],
  output_closed: 'A program such as head read only the beginning of the output of a command that had more to do.',
  answer_empty: ['The model stopped before it generated any text.', {model: 'guide'}],
  fix_unusable: [
    'A fix must be the complete file in one fenced block, so that it can be checked and written.',
    {model: 'small', reason: 'it has no fenced block'},
  ],
  answer_not_json: [
    'The answer was cut off, or both attempts returned invalid JSON.',
    {model: 'guide', attempts: 1, reason: 'the answer was cut off at 512 tokens', cut: true},
  ],
  surface_contract: [
    'No answer had the requested output format: either only code, or one fenced code block.',
    {attempts: 3, category: 'surface_contract', model: 'guide', reason: 'the answer has no fenced block'},
  ],
  repair_stalled: [
    'A repair attempt produced the same diagnostics as the previous one, so no further attempt was made.',
    {
      attempts: 2,
      category: 'repair_stall',
      model: 'guide',
      reason: "typecheck.unknown_table: Unknown table 'Tasks'",
    },
  ],
  validation_failed: [
    'The checker reported errors for the program of every attempt.',
    {
      attempts: 4,
      category: 'semantic',
      model: 'guide',
      reason: 'typecheck.mismatch: Expected int, found str, and 1 more',
    },
  ],
  audio_unrecognized: [
    'The format is detected from the first bytes of the file, not from its name, and these bytes match no audio format.',
    {file: 'minutes.wav', found: 'a PDF document'},
  ],
  audio_invalid: [
    'The file is damaged or truncated, or its samples or header are not usable.',
    {file: 'meeting.flac', reason: 'it has no valid FLAC frame'},
  ],
  audio_empty: ['The file is empty, or has a valid header and no samples.', {file: 'take-3.wav'}],
  audio_track_missing: ['The file contains only video.', {file: 'screencast.mp4'}],
  audio_track_unknown: [
    'The number of --audio-track is larger than the number of audio tracks, or no track is marked with the language.',
    {file: 'film.mkv', track: 'fr', tracks: '1 (eng, default), 2 (ger, "Commentary")'},
  ],
  audio_tracks_need_file: ['--audio-track with a language was used with standard input.', {file: 'standard input'}],
  audio_channel_missing: [
    'The number of --channels is larger than the number of channels of the recording.',
    {file: 'call.wav', channel: 3, channels: 2},
  ],
  channels_need_file: ['--channels split was used with standard input or a pipe.', {file: 'standard input'}],
  invalid_path: [
    'The path is empty, longer than 4096 bytes, a URL or a network path, or it contains a NUL character.',
    {path: 'https://example.com/a.wav', reason: 'it is a URL'},
  ],
  not_a_file: ['The path refers to a directory, a pipe or a device.', {path: '/srv/recordings/today'}],
  missing_audio_field: 'No part of the form is named audio or file, or all of them are empty.',
  multipart_read_failed: ['The body is not multipart/form-data, or it ended early.', {reason: 'the body ended early'}],
  write_failed: [
    'The temporary directory of the server is full or cannot be written to.',
    {reason: 'no disk space left'},
  ],
  invalid_message: ['A text message of a live connection is not a JSON object with an op.', {reason: 'it is not JSON'}],
  unknown_op: ['A text message of a live connection has an op that the server does not know.', {op: 'stop'}],
  recorder_missing: [
    'svc records with an external program, and none of the supported programs is installed.',
    {programs: ['pw-record', 'arecord', 'parecord', 'rec', 'ffmpeg']},
  ],
  recorder_failed: [
    'The recording program could not open the microphone, or it exited unexpectedly.',
    {program: 'arecord', reason: 'audio open error: No such file or directory'},
  ],
  decoder_unavailable: [
    'WAV, FLAC, MP3 and Ogg are decoded by svc itself; every other format needs ffmpeg.',
    {file: 'interview.m4a', format: 'an MP4 or M4A file'},
  ],
  internal: ['This is a bug in svc.', {reason: 'Invalid array length.'}],
  interrupted: 'The command received SIGINT, for instance from Ctrl-C.',
  terminated: 'The command received SIGTERM, for instance from kill or from a service manager.',
  usage: [
    'The arguments and flags of the command contradict each other, or one is missing or invalid.',
    {reason: '--seed cannot be used together with --temperature 0.'},
  ],
  command_unknown: [
    'The first words of the command line are not the name of a command.',
    {command: 'transcibe', suggestion: 'transcribe'},
  ],
  flag_unknown: ['The command has no flag with this name.', {flag: '--thread', suggestion: '--threads'}],
  flag_value: [
    'The value of a flag has the wrong type or is out of range.',
    {flag: '--port', value: '70000', expected: 'a whole number from 0 to 65535'},
  ],
  code_unknown: [
    'The argument is neither an error code nor a diagnostic code.',
    {code: 'audio_unrecognised', suggestion: 'audio_unrecognized'},
  ],
  question_unknown: 'No passage of the documentation has enough of the words of the question.',
  stdin_not_utf8: ['The command reads text, and the input has another encoding or is binary.', {offset: 412}],
  stdin_used_twice: 'A program reads its standard input once, so only one of these can be -.',
  tool_choice_unknown: [
    'The value of --tool-choice is neither auto nor required, and no tool in the file of --tools has this name.',
    {name: 'get_whether', names: 'get_weather, clock'},
  ],
  stdin_too_long: ['The input is read into memory, so its length is limited.', {limit: 16_777_216}],
  file_not_found: ['A file or directory that the command reads does not exist.', {path: 'notes/meeting.wav'}],
  file_unreadable: [
    'The path is a directory, the file is too large or has invalid content, or you have no permission to read it.',
    {path: '/srv/recordings/meeting.wav', reason: 'permission denied'},
  ],
  file_unwritable: [
    'The operating system refuses to create or replace the file, or another process has locked the file.',
    {path: '/srv/subtitles/film.srt', reason: 'permission denied'},
  ],
  output_exists: [
    'Existing files are replaced only if a flag requests it; directories, devices and pipes are never replaced.',
    {path: 'subtitles/meeting.srt', flag: '--overwrite'},
  ],
  output_in_use: [
    'Another command of svc is still writing to the file, so --overwrite does not replace it.',
    {path: 'notes.txt', user: 'process 4711 (svc listen)'},
  ],
  output_is_input: ['The output path is a file that the command reads.', {path: 'meeting.wav', input: 'meeting.wav'}],
  directory_not_found: ['The directory given with -C does not exist.', {path: '/srv/workspace'}],
  disk_full: [
    'The file system ran out of space while the file was being written.',
    {path: 'models/merged/model.safetensors'},
  ],
  config_exists: [
    'The directory already has a settings file, which is never replaced.',
    {path: '/home/ann/project/Svc.toml'},
  ],
  config_unparsable: [
    'A settings file has a syntax error.',
    {file: 'Svc.toml', line: 3, column: 11, reason: 'the string is not closed'},
  ],
  config_type: [
    'A setting in a settings file has the wrong type or is out of range.',
    {file: 'Svc.toml', key: 'engine.threads', expected: 'a whole number from 0 to 256', found: '"four"'},
  ],
  config_variable: [
    'An environment variable has a value that its setting does not accept.',
    {variable: 'SVC_SPEECH_BACKEND', expected: 'one of auto, onnx-whisper, whisper', found: '"kaldi"'},
  ],
  config_user_only: [
    'The setting decides what workers can do or see, so only the settings file of the user may contain it.',
    {file: 'Svc.toml', key: 'orchestrator.exec.user'},
  ],
  hidden_check_unusable: [
    'A hidden check, its files or its workspace cannot be used. Neither its command nor its files are named, since workers may read this.',
    {position: 2, reason: 'its file 1 does not exist'},
  ],
  orchestrator_config_invalid: [
    'Each setting is valid on its own, but two of them contradict each other.',
    {faults: ['orchestrator.min_agents (4) is larger than orchestrator.max_agents (2)']},
  ],
  setting_unknown: [
    'No setting has this name. Names are those of svc config show, such as orchestrator.max_agents.',
    {key: 'orchestrator.max_agnets', suggestion: 'orchestrator.max_agents'},
  ],
  contract_unknown: ['No contract has this id.', {id: 'cli/eror.v1', suggestion: 'cli/error.v1'}],
  contract_broken: [
    'A schema in the contracts directory of this installation cannot be read or compiled.',
    {file: 'contracts/cli/error.v1.schema.json', reason: 'strict mode: unknown keyword: "typ"'},
  ],
  contract_violation: [
    'A document was validated against a contract and does not match its schema.',
    {
      subject: 'handoff.json',
      contract: 'eval/external-serving-handoff',
      violations: ['/schema_version must be 1'],
    },
  ],
  document_unparsable: [
    'The document, or the response of a server, is not valid JSON or YAML.',
    {subject: 'handoff.json', reason: "Expected ',' or '}' after property value in JSON at position 31"},
  ],
  request_unparsable: [
    'A line sent to the daemon is not UTF-8 or not valid JSON.',
    {reason: 'it is not JSON (at character 17)'},
  ],
  request_invalid: ['A line sent to the daemon is JSON, but not a valid request.', {reason: 'the batch is empty'}],
  request_too_long: ['A line sent to the daemon or to the MCP server exceeds the maximum length.', {limit: 1_048_576}],
  batch_answer_too_large: ['Together, the responses of one JSON-RPC batch exceed the limit.', {limit: 33_554_432}],
  method_unknown: [
    'The daemon has no JSON-RPC method with this name.',
    {method: 'orch.submit_tasks', suggestion: 'orch.submit_task'},
  ],
  subscription_not_found: ['The subscription was cancelled or belongs to another connection.', {subscription: 's-4'}],
  subscriptions_exhausted: ['One connection has opened the maximum number of event subscriptions.', {limit: 64}],
  daemon_token_refused:
    'The daemon was started with SVC_DAEMON_TOKEN, and the client sent no token or a different one.',
  daemon_full: ['The maximum number of connections to the daemon is open.', {limit: 256}],
  daemon_address_invalid: ['A daemon address needs a host and a port.', {address: 'localhost'}],
  daemon_address_in_use: ['Another process, perhaps another daemon, uses this address.', {address: '127.0.0.1:9745'}],
  daemon_address_unavailable: [
    'The address does not belong to this machine, or the port requires more privileges.',
    {address: '192.0.2.7:9745', reason: 'address not available (EADDRNOTAVAIL)'},
  ],
  daemon_exposed: [
    'An address other than loopback lets other machines run tasks, so it requires a flag and a token.',
    {
      address: '0.0.0.0:9745',
      missing: ['--allow-remote', 'a token of 16 characters or more in SVC_DAEMON_TOKEN'],
    },
  ],
  daemon_not_running: 'The command needs the daemon of this workspace, and none is running.',
  daemon_silent: [
    'The daemon is stopping, or it was started with --listen off, or with --listen stdio and serves only its standard input.',
    {pid: 4711, isEnding: false},
  ],
  daemon_unverified: [
    'The daemon does not listen, and the system does not report when a process started, so the pid may be reused.',
    {pid: 4711},
  ],
  daemon_died: [
    'The daemon process exited during startup; the message ends with the last lines of its log.',
    {
      ended: 'status 5',
      log: '.svc/daemon.log',
      tail: 'The database .svc/store.db is locked by another process.',
    },
  ],
  daemon_start_timeout: ['The daemon started, but was not ready in time.', {seconds: 30, log: '.svc/daemon.log'}],
  daemon_stop_timeout: ['The daemon is stopping and still waits for its running tasks.', {pid: 4711, seconds: 10}],
  daemon_connection_lost: [
    'The daemon stopped or crashed while a request was waiting for a response.',
    {address: '127.0.0.1:9745'},
  ],
  daemon_answer_invalid: ['A server that does not speak JSON-RPC listens on the address.', {address: '127.0.0.1:9745'}],
  call_invalid: [
    'The daemon rejected the parameters of a call. The message comes from the daemon.',
    {message: 'The task cannot be submitted: its description is blank.'},
  ],
  call_not_found: [
    'The call refers to something that does not exist. The message comes from the daemon.',
    {message: 'Task T-0042 does not exist in this workspace.'},
  ],
  call_refused: [
    'The call conflicts with the current state. The message comes from the daemon.',
    {message: 'T-0042 is claimed by builder, and the request contains no claim.'},
  ],
  call_unavailable: [
    'The daemon cannot execute the call now. The message comes from the daemon.',
    {message: 'The database .svc/store.db is locked by another process.'},
  ],
  call_failed: [
    'The daemon executed the call, and it failed. The message comes from the daemon.',
    {message: 'T-0042 failed: test exited with status 1.'},
  ],
  model_id_invalid: ['The argument is neither OWNER/NAME nor the size of a Whisper model.', {id: 'whisper tiny'}],
  grammar_limit: [
    'Grammars are limited in size, depth and ambiguity, so that no request can use all time or memory of the server.',
    {what: 'nested parts', limit: 1000},
  ],
  grammar_unsatisfiable: 'Every alternative has a condition that no text meets, or refers to itself without an end.',
  hub_model_unknown: [
    'Hugging Face has no model with this id, or it is not visible without a token.',
    {id: 'openai/whisper-tinny', endpoint: 'https://huggingface.co'},
  ],
  hub_revision_unknown: [
    'The model exists, but it has no branch, tag or commit with this name.',
    {id: 'openai/whisper-tiny.en', revision: 'v9'},
  ],
  hub_files_missing: [
    'The repository has only formats that svc does not read, for example PyTorch checkpoints.',
    {id: 'acme/whisper-pickled'},
  ],
  hub_file_unknown: [
    'The name of the file behind the colon is wrong, or the file is in a folder that must be part of the name.',
    {id: 'ggerganov/whisper.cpp', file: 'ggml-tiny.bin'},
  ],
  model_in_use: [
    'Another process has loaded the model or downloads it, and deleting its files would break that process.',
    {model: 'acme/llama', users: 'process 7 (svc serve)'},
  ],
  model_not_downloaded: [
    'The name is that of another file or directory, and `svc rm` deletes only models of the Hugging Face cache.',
    {path: '/work/models/mine'},
  ],
  hub_access_denied: [
    'The model is private or gated, and the token is missing, expired or without access to it.',
    {id: 'acme/private-whisper', status: 401, tokenSent: false},
  ],
  hub_unreachable: [
    'The host name could not be resolved, no connection could be opened, or the connection was lost.',
    {endpoint: 'https://huggingface.co', reason: 'host name not found (ENOTFOUND)'},
  ],
  hub_failed: [
    'Hugging Face, or a proxy in front of it, responded with an unexpected status.',
    {endpoint: 'https://huggingface.co', status: 503},
  ],
  hub_answer_invalid: [
    'The response is not a model listing; it may come from a proxy or mirror.',
    {endpoint: 'https://proxy.example', reason: 'it is not JSON'},
  ],
  hub_offline: [
    'A flag, a variable or a setting disables downloads, and the model was never downloaded.',
    {id: 'openai/whisper-base', by: ['HF_HUB_OFFLINE']},
  ],
  checksum_mismatch: [
    'The downloaded file does not match its published checksum, for example because a proxy changed it.',
    {
      file: 'model.safetensors',
      expected: 'checksum db59695928ded6043adaef491a53ba83',
      actual: '0f1c2d3e4a5b6978812233445566778a',
    },
  ],
  journey_not_found: [
    'This workspace has no journey with this id.',
    {journey: 'j-spring-release', known: ['canonical', 'j-winter-release']},
  ],
  journey_invalid: [
    'An id of the journey is too long, or its cognitive_profile is not a known value.',
    {member: 'session_id', fault: 'has 3120 characters; the limit is 2048'},
  ],
  operation_not_found: [
    'The operation log has no entry with this number, or no submission of this task.',
    {operation: 'OP-000042'},
  ],
  operation_conflict: [
    'The operation was already undone or redone, or later changes depend on it.',
    {operation: 'OP-000007', what: 'undone', reason: 'it is already undone'},
  ],
  program_not_found: [
    'The file does not exist, or no program was named and src/main.svc does not exist.',
    {path: 'src/main.svc'},
  ],
  program_invalid: ['The checker found errors, so the program does not run.', {path: 'src/main.svc', errors: 2}],
  endpoint_auth_not_enforced: [
    'Ignoring a decorator such as @auth or @rule would expose what the program marks as protected.',
    {decorator: '@auth', place: 'src/main.svc:7:1'},
  ],
  app_unprotected: [
    'A server on an address other than loopback requires a token.',
    {host: '0.0.0.0', variable: 'SVC_APP_TOKEN'},
  ],
  endpoint_unknown: ['The program declares no endpoint with this name.', {name: 'lst', suggestion: 'list'}],
  endpoint_writes: ['A query must not change anything.', {name: 'create'}],
  endpoint_failed: [
    'The arguments were valid, and an operation in the body of the endpoint failed.',
    {name: 'share', reason: 'DIVISION_BY_ZERO', detail: 'division by zero'},
  ],
  endpoint_refused: ['The endpoint returned Error(...).', {name: 'add', detail: 'a task needs a title'}],
  argument_invalid: [
    "The value of an argument does not match the parameter's type in the program.",
    {name: 'id', fault: 'it must be int, not "first"'},
  ],
  topic_unknown: ['No query of the program uses .live(...) with this topic.', {topic: 'task', suggestion: 'tasks'}],
  table_unknown: ['The program, or the database, has no table with this name.', {name: 'Tasks', suggestion: 'Task'}],
  record_invalid: [
    'A record to import does not match the columns of its table.',
    {path: 'tasks.jsonl', place: 'line 3', fault: 'column title must be str'},
  ],
  database_missing: ['The command reads an existing database, and this file does not exist.', {path: '.svc/app.db'}],
  migration_blocked: [
    'The program and the database differ in a way that could lose data, so a person must decide.',
    {path: '.svc/app.db', blocking: 1},
  ],
  schema_changed: [
    'Another process migrated the database while a server used it, and the program of the server cannot work with it.',
    {path: '.svc/app.db'},
  ],
  migration_failed: [
    'SQLite rejected a step of the migration, and all steps were rolled back.',
    {path: '.svc/app.db', reason: 'UNIQUE constraint failed: task.title'},
  ],
  migration_choice: [
    'A migration flag names a table or column that does not exist or that no migration step changes.',
    {flag: '--rebuild', value: 'Taks', fault: 'the program declares no table Taks'},
  ],
  expression_invalid: [
    'The text of a query is not one expression of the data language, or the checker found an error in it.',
    {place: '1:4', reason: "Unknown table 'Tsk'.", code: 'typecheck.unknown_table'},
  ],
  expression_failed: [
    'The expression is valid, and an operation failed when it was evaluated.',
    {reason: 'DIVISION_BY_ZERO', detail: 'division by zero'},
  ],
  sql_invalid: ['SQLite rejected the statement, or the statement is not read-only.', {reason: 'no such table: tasks'}],
  shell_command_unknown: [
    'A line of svc db shell that starts with a dot must be one of its commands.',
    {command: '.table', suggestion: '.tables'},
  ],
  unconfirmed: [
    'The command replaces or changes existing data, and it was not confirmed with --yes or at the prompt.',
    {what: 'The reset'},
  ],
  unknown_tool: ['The MCP server has no tool with this name.', {name: 'svc_submit', suggestion: 'svc_submit_task'}],
  prompt_invalid: [
    'The MCP server has no prompt with this name, or a required argument is missing.',
    {name: 'svc_review', fault: 'the prompt does not exist'},
  ],
  resource_not_found: ['The MCP server has no resource at this URI.', {uri: 'svc://tasks/T-0042'}],
  tool_name_taken: [
    'Two endpoints, or an endpoint and a built-in tool, would have the same tool name.',
    {endpoint: 'list', name: 'todo_list'},
  ],
  speech_unavailable: 'The operation was called in a process that loads no speech model, such as a daemon.',
  remote_bind_refused: [
    'An address other than loopback lets other machines use the tools, so it requires a flag and a token.',
    {host: '0.0.0.0', missing: ['--allow-remote', 'a token of 16 characters or more in SVC_MCP_HTTP_BEARER_TOKEN']},
  ],
  mcp_client_file_invalid: [
    'The configuration file of the client cannot be parsed or extended, so it is left unchanged.',
    {path: '~/.cursor/mcp.json', reason: 'it is not UTF-8'},
  ],
  origin_denied: ['The request came from a web page of another origin.', {origin: 'https://page.example'}],
  dashboard_read_only: [
    'A dashboard that was started with --read-only performs only operations that read the workspace.',
    {method: 'orch.cancel_task'},
  ],
  mcp_task_not_found: [
    'A finished tool call expires after a day, or after the time that the client requested.',
    {id: '0b9f5c1e-93a5-4a39-8d3b-2f6c1d6a7f10'},
  ],
  mcp_task_failed: ['The orchestrator task that a tool call created has failed.', {task: 'T-0007', reason: 'exit_1'}],
  mcp_task_cancelled: ['A cancelled task has no result.', {id: '0b9f5c1e-93a5-4a39-8d3b-2f6c1d6a7f10'}],
  mcp_task_ended: [
    'Only a task that has not ended can be cancelled.',
    {id: '0b9f5c1e-93a5-4a39-8d3b-2f6c1d6a7f10', status: 'completed'},
  ],
  mcp_tasks_full: ['Too many tool calls run in the background, and none of them has finished.', {limit: 1000}],
  mcp_call_lost: [
    'A tool call that runs in the background starts again when its server ends, but only a few times.',
    {tool: 'svc_generate_code', attempts: 3},
  ],
  role_denied: [
    'A client with the token of SVC_MCP_HTTP_READ_BEARER_TOKEN sent a request that needs the other token.',
    {method: 'resources/read'},
  ],
  calls_exhausted: ['A WebSocket connection has too many calls at a time.', {limit: 16}],
  mcp_session_missing:
    'Up to protocol revision 2025-11-25, every MCP request except initialize must have the header Mcp-Session-Id.',
  mcp_session_not_found: 'The session expired, was closed, or belongs to a server that was restarted.',
  mcp_sessions_full: ['The number of MCP sessions reached its limit, and none of them is idle.', {limit: 64}],
  missing_field: [
    'The field is missing, or its value has the wrong type or is out of range.',
    {field: 'quarantined', expected: 'true or false'},
  ],
  invalid_agent_id: ['Agent ids in mesh messages are 64-bit numbers in decimal strings.', {field: 'receiver_agent_id'}],
  scope_key_too_long: ['The scope key of a lease request exceeds the limit.', {limit: 2048}],
  attestation_invalid: [
    'The digest or signature of a message is missing, malformed or wrong, or messages of its type are not signed.',
    {reason: 'the digest does not match the payload'},
  ],
  token_expired: 'The exp, nbf or iat claim of the JWT excludes the current time.',
  token_replayed: 'A JWT with the role mesh or admin works once, and the control plane has seen its jti claim before.',
  bootstrap_invalid: 'The bootstrap token is missing, or the control plane does not accept it.',
  role_forbidden: ['The token is valid, but its role does not include this operation.', {role: 'worker'}],
  scope_mismatch:
    'SVC_MESH_SCOPE_ID of the node, or the scp claim of its token, differs from that of the control plane.',
  unknown_node: ['The node never joined, has left, or was removed because its heartbeats stopped.', {node: 'laptop'}],
  node_quarantined: [
    'An administrator quarantined the node, so it cannot receive messages or hold leases.',
    {node: 'laptop'},
  ],
  node_maintenance: ['An administrator turned on maintenance mode for the node.', {node: 'laptop'}],
  node_identity_mismatch: [
    'The token was issued to one node (its sub claim), and the request names another.',
    {node: 'laptop'},
  ],
  node_not_found: ['No node with this id is registered.', {node: 'laptop'}],
  lease_not_found: [
    'The lease expired, was released or revoked, never existed, or has a different scope key.',
    {lease: '42'},
  ],
  dead_message_not_found: ['The message is not a dead letter; it may have been retried or dropped.', {message: 17}],
  bootstrap_disabled: 'No bootstrap token is configured for the control plane.',
  lease_held: [
    'A lease is exclusive, and another node holds this one until it expires or is released.',
    {scopeKey: 'task:42'},
  ],
  not_lease_holder: [
    'The lease or the claim on the message expired or was revoked, or another node took it over.',
    {what: 'the claim on message 17'},
  ],
  duplicate_node_id: ['Two running processes use the same node id.', {node: 'laptop'}],
  bootstrap_consumed: 'A bootstrap token works once, and a node has already joined with it.',
  bootstrap_expired:
    'A bootstrap token is valid for 10 minutes, unless svc mesh init --bootstrap-minutes set another time.',
  idempotency_key_reused: ['An earlier message has the same idempotency key and different content.', {message: 17}],
  promotion_unsupported:
    'svc mesh admin promote skips fencing tokens that a standby of PostgreSQL may have lost; a file loses none.',
  inbox_full: ['The receiver does not acknowledge its messages, or all inboxes together are full.', {limit: 10_000}],
  blob_not_found: [
    'The file was never uploaded to this scope of the control plane, or its storage time of 24 hours is over.',
    {sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'},
  ],
  blob_damaged: [
    'The bytes received differ from those sent, for example because a proxy changed or truncated them.',
    {
      sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      found: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    },
  ],
  blobs_full: [
    'The control plane keeps the files of delegated tasks for 24 hours, up to a total size.',
    {limit: 268_435_456},
  ],
  store_unavailable: [
    'The database of the control plane is locked, damaged, not writable or not reachable, or its disk is full or failing.',
    {reason: 'the disk is full'},
  ],
  store_outcome_unknown: [
    'The PostgreSQL server has ended the connection before it answered a statement, which may have been executed.',
    {reason: 'db.example.com:5432/mesh: Connection terminated unexpectedly'},
  ],
  control_plane_stopping:
    'The control plane has received SIGTERM, finishes the running requests and is no longer ready for others.',
  attestation_key_missing: 'A signed result arrived, and the control plane has no key to verify it.',
  server_token_missing:
    'A new node exchanges its bootstrap token for the token of a role, and that token is not configured.',
  store_url_invalid: [
    'The URL has another scheme than postgres, is malformed, or names a certificate file that cannot be read.',
    {reason: 'its scheme is not postgres'},
  ],
  store_password_exposed: 'The arguments of a process are visible to all users, and shells record them.',
  mesh_in_use: [
    'The control plane keeps writing after the export has read its rows.',
    {path: '/home/ada/.svc/mesh/mesh.db'},
  ],
  mesh_not_empty: [
    'An import does not merge two meshes, because their ids and fencing tokens would collide.',
    {path: 'db.example.com:5432/mesh'},
  ],
  mesh_export_invalid: [
    'The file is not an export, or was cut off or changed after it was written.',
    {path: 'mesh.ndjson', place: 'line 4', fault: 'the file ends before its last line'},
  ],
  mesh_unprotected: [
    'No secret is configured, and the control plane would listen on an address other than loopback.',
    {host: '0.0.0.0'},
  ],
  mesh_tokens_equal: [
    'If two roles share a secret, the weaker role has the rights of the stronger one.',
    {first: 'SVC_MESH_WORKER_TOKEN', second: 'SVC_MESH_ADMIN_TOKEN'},
  ],
  mesh_secret_weak: [
    'A token, or the key that signs tokens, is too short to resist guessing.',
    {variable: 'SVC_MESH_JWT_HMAC_SECRET', least: '32 bytes'},
  ],
  mesh_exists: [
    'The directory already has mesh secrets, and they are replaced only with --force.',
    {path: '.svc/mesh/mesh.env'},
  ],
  mesh_secrets_overruled: [
    'An environment variable or another mesh.env would take precedence over the tokens issued to this machine.',
    {variables: ['SVC_MESH_WORKER_TOKEN']},
  ],
  mesh_secrets_ignored: [
    'mesh.env is unreadable, invalid, accessible to others or for another control plane, and there are no other secrets.',
    {fault: '.svc/mesh/mesh.env is ignored: it belongs to another user'},
  ],
  mesh_rejected: [
    'The control plane rejected the content of a request.',
    {operation: 'exec_lease_grant', status: 422, detail: 'scope_key is too long'},
  ],
  mesh_denied: [
    'The control plane refused the token, its role or the node, or another node holds the lease or the claim.',
    {operation: 'join', status: 403},
  ],
  mesh_missing: [
    'The node, lease or message of the request does not exist on the control plane, or no longer exists.',
    {operation: 'exec_lease_renew', status: 404},
  ],
  mesh_unavailable: [
    'The control plane, or a proxy in front of it, is overloaded, restarting or failing.',
    {operation: 'heartbeat', status: 503, detail: 'upstream is restarting'},
  ],
  mesh_token_missing: [
    'None of the token variables that the operation accepts is set on this machine.',
    {operation: 'join', variables: ['SVC_MESH_WORKER_TOKEN']},
  ],
  control_plane_missing: [
    'A different server responds at the configured address.',
    {url: 'http://127.0.0.1:9847', reason: 'the response is not JSON'},
  ],
  remote_task_invalid: [
    'The message that requests a task does not have the expected format, for example because another version sent it.',
    {reason: 'it has no exec_lease_id or no task_uid'},
  ],
  remote_task_rejected: [
    'The node that received the task lacks a capability, is in another scope, or would need secrets of the sender.',
    {reason: 'this node lacks a required capability'},
  ],
  secretbox_unusable: [
    'The key that encrypts the secrets of delegated tasks is missing, too short or differs between the machines.',
    {reason: 'SVC_MESH_SECRETBOX_KEY is not set'},
  ],
  remote_file_unusable: [
    'The file is too large, is not a regular file, or its content is not on the control plane.',
    {path: 'dist/model.bin', reason: 'it has 9000000 bytes, more than 8388608'},
  ],
  mesh_address_missing:
    'The command connects to a control plane, and no flag, environment variable or setting contains its address.',
  control_plane_silent: [
    'The control plane that svc mesh prove started exited, or did not become ready in time.',
    {seconds: 10, log: '/tmp/svc-mesh-prove/control-plane.log'},
  ],
  message_not_found: ['The message was acknowledged and purged, or it belongs to another inbox.', {message: '42'}],
  message_invalid: [
    'An id or the payload of the message is blank or too long, or its route does not support a field.',
    {fault: 'its payload is longer than 131072 characters'},
  ],
  message_key_conflict: [
    'An earlier message has the same idempotency key and different content.',
    {key: 'review-42', message: '0f8fad5b-d9cb-469f-a165-70867728950e'},
  ],
  message_claim_lost: [
    'The claim expired, or another consumer holds the message.',
    {message: '42', owner: 'reviewer-laptop', holder: 'reviewer-desk', canForce: true},
  ],
  agent_session_mismatch: [
    'An agent works in one session at a time, and the call names a different one.',
    {agent: 'reviewer'},
  ],
  mesh_not_configured: 'The message uses the route mesh, and no control plane is configured.',
  model_not_found: [
    'None of the listed locations contains the model.',
    {model: 'modells/guide', tried: ['/home/ann/modells/guide']},
  ],
  launch_program_unknown: [
    'svc launch has the settings of a few programs only; svc launch lists them.',
    {program: 'claud', known: 'claude, codex, opencode, continue', suggestion: 'claude'},
  ],
  launch_program_missing: [
    'svc launch starts a program that is installed separately.',
    {title: 'Codex', executable: 'codex', install: 'npm install -g @openai/codex'},
  ],
  launch_server_failed: [
    'svc launch started svc serve for the program, and that ended with an error.',
    {reason: 'Model ./runs/r7 not found. Pass the path of a model directory.'},
  ],
  launch_server_unusable: [
    '--server names the server that the program must use, and it did not list the model.',
    {server: 'http://127.0.0.1:11435', model: 'small'},
  ],
  launch_model_ambiguous: [
    'The running server has several models, and neither --model nor SVC_INFERENCE_MODEL names one.',
    {server: 'http://127.0.0.1:11435', models: ['small', 'large']},
  ],
  model_ambiguous: [
    'No flag, variable or setting names a model, and the workspace and the Hugging Face cache contain several.',
    {models: ['./runs/r7', 'acme/small-llama']},
  ],
  examples_invalid: [
    'The file of --examples has a line that is not an example.',
    {file: 'examples.jsonl', line: 3, input: 'prompt'},
  ],
  receipt_malformed: [
    'The receipt was cut off or changed when it was copied, or it is of another version of svc.',
    {reason: 'its part seed is missing or damaged'},
  ],
  exchange_invalid: [
    'The file with a receipt, a request and a reply is no JSON, or its reply is not that of a route of svc serve.',
    {reason: 'it is not JSON'},
  ],
  exchange_refused: [
    'The server that answered was started with other flags, or the request of the file was changed.',
    {status: 400, reason: 'the prompt has 17 tokens, but the context has 16'},
  ],
  model_not_served: [
    'The request names a model that the server does not serve.',
    {model: 'giude', served: 'guide', suggestion: 'guide'},
  ],
  model_removed: [
    'The directory of the model was deleted or renamed while the server was running.',
    {model: 'guide', path: '/home/ann/runs/guide'},
  ],
  model_too_large: [
    'The weights, the context and the saved prompts of the model need more memory than all models of the server may use.',
    {model: 'large', bytes: 16_100_000_000, limit: 8_000_000_000},
  ],
  models_read_only: [
    'Only a server that was started with --manage-models lets its clients download and delete models.',
    {path: '/api/pull'},
  ],
  modelfile_invalid: [
    'The Modelfile has an instruction or a value that svc cannot obey, so nothing was written.',
    {file: 'Modelfile', line: 3, reason: 'PARAMETER top_p must be a number from 0 to 1, not 7'},
  ],
  model_defaults_exist: [
    'The directory has defaults already, perhaps of an earlier import.',
    {path: 'models/mario/svc.model.toml'},
  ],
  model_defaults_invalid: [
    'The defaults of a model are TOML with the keys that the guide lists; what is not understood is not ignored.',
    {file: 'runs/r7/svc.model.toml', reason: 'parameters: top_p must be a number from 0 to 1, not 7'},
  ],
  device_unavailable: [
    'The driver, library or execution provider of the device is not installed on this machine.',
    {device: 'cuda', reason: 'libcudart.so.12: cannot open shared object file'},
  ],
  model_file_missing: [
    'The directory lacks a file that every model of this kind requires.',
    {file: 'config.json', tried: ['runs/r7/config.json']},
  ],
  model_format_unsupported: [
    'The weights are not in safetensors, or the tokenizer is not a tokenizer.json.',
    {
      path: 'models/acme',
      missing: 'safetensors weights',
      found: 'PyTorch weights (pytorch_model.bin)',
      convert: `python -c 'from transformers import AutoModelForCausalLM as M; M.from_pretrained("models/acme").save_pretrained("models/acme-safetensors")'`,
    },
  ],
  model_file_invalid: [
    'A file of the model is damaged or incomplete, or has an unknown layout.',
    {file: 'runs/r7/tokenizer.json', reason: 'it has no key "model"'},
  ],
  lfs_pointer: [
    'The model was cloned with Git without Git LFS, so its large files are missing.',
    {file: 'models/acme/model.safetensors', size: 988097824},
  ],
  tokenizer_unsupported: [
    'tokenizer.json has a part or an option that is not implemented.',
    {file: 'models/acme/tokenizer.json', feature: 'the pre-tokenizer UnicodeScripts'},
  ],
  model_family_unknown: [
    'model_type in config.json names an architecture that svc does not implement.',
    {file: 'models/acme/config.json', family: 'gemma', known: ['llama', 'qwen3', 'gemma2', 'gemma3_text']},
  ],
  model_config_unsupported: [
    'config.json enables a feature that affects the result and is not implemented.',
    {file: 'models/acme/config.json', key: 'attn_logit_softcapping', value: '50', isKnown: false},
  ],
  base_model_not_found: [
    'The manifest of the adapter names a base model that is at none of the listed locations.',
    {base: '/models/small-base', tried: ['runs/r7', '/models/small-base']},
  ],
  adapter_missing: [
    'The directory contains the manifest or the reports of a training run, but no adapter weights.',
    {path: 'runs/r7'},
  ],
  merge_adapter_missing: [
    'The directory is a base model or an already merged run directory.',
    {path: 'runs/guide', isMerged: true},
  ],
  adapter_invalid: [
    'The adapter or its manifest is incomplete or contradicts itself.',
    {file: 'runs/r7/adapter_config.json', reason: 'r must be a number above 0, not "8"'},
  ],
  adapter_unsupported: [
    'The adapter uses a LoRA variant that is not implemented.',
    {file: 'runs/r7/adapter_config.json', key: 'use_dora', value: 'true', isKnown: true},
  ],
  adapter_tensor_missing: [
    'The manifest of the adapter names a tensor that its weights do not contain.',
    {tensor: 'layers.3.q_proj.lora_b', manifest: 'runs/r7/adapter_manifest.json'},
  ],
  adapter_mismatch: [
    'The adapter was trained on a base model with different dimensions.',
    {
      tensor: 'layers.0.q_proj.lora_a',
      adapter: [8, 4096],
      base: 'model.layers.0.self_attn.q_proj.weight',
      found: [2048, 2048],
    },
  ],
  adapter_refused: [
    'The files of the adapter are incomplete, of an unsupported kind, or made for another model.',
    {adapter: 'legal', reason: 'The run directory adapters/legal has no adapter weights.'},
  ],
  adapter_name_invalid: ['Clients request an adapter by its name, as they request a model.', {adapter: 'my adapter'}],
  adapter_name_taken: ['A request with this name would be for either.', {adapter: 'small-base'}],
  adapter_pinned: ['The adapters of --adapter stay as they are while the server runs.', {adapter: 'legal'}],
  adapter_outside: [
    'Clients can add only adapters that are below the directory of --adapters. Links are followed first.',
    {path: '../private', folder: 'adapters'},
  ],
  adapter_not_served: ['The name is misspelled, or the adapter was removed.', {adapter: 'legl'}],
  adapters_read_only: 'The server has no directory of adapters or no admin key.',
  adapter_too_large: [
    'The adapters in use and those of --adapter leave too little of --adapter-memory.',
    {adapter: 'legal', bytes: 300_000_000, pinned: 100_000_000, limit: 256_000_000},
  ],
  adapter_changed: [
    'The files of an adapter were replaced between the arrival of a request and its start.',
    {adapter: 'legal', path: 'adapters/legal'},
  ],
  adapter_ambiguous: [
    'Merged weights next to the adapter cover only some of the layers that the adapter changes.',
    {adapter: 'runs/r7/adapter.safetensors', tensor: 'model.layers.3.self_attn.q_proj.weight'},
  ],
  eval_gate_failed: [
    'The report of the training run has the status fail: training damaged other abilities of the model.',
    {file: 'runs/r7/collateral_damage_report.json'},
  ],
  gguf_invalid: [
    'A copy or a download of the file was interrupted, or the program that wrote it has a fault.',
    {file: 'models/mine.gguf', reason: 'it ends at byte 4096, within its header'},
  ],
  gguf_unsupported: [
    'GGUF files can contain many types of weights, and tensors of many architectures. svc reads those in the guide "Models".',
    {file: 'models/mine.gguf', feature: 'the type IQ2_XXS (tensor blk.0.attn_q.weight)'},
  ],
  gguf_inexpressible: [
    'The metadata of GGUF files has a fixed set of keys for each architecture and tokenizer. A model directory can say more.',
    {file: 'models/mine/config.json', feature: 'dynamic scaling of the rotary embedding'},
  ],
  gguf_several: [
    'Repositories of GGUF files contain the same model with several types of weights, and each file is a model.',
    {path: 'models/mine', files: ['models/mine/mine-q8_0.gguf', 'models/mine/mine-q4_k_m.gguf']},
  ],
  safetensors_invalid: [
    'The file is damaged, or was not copied or downloaded completely.',
    {
      file: 'model-00001-of-00002.safetensors',
      reason: 'its header specifies a length of 9871 bytes, but the file has 4096',
    },
  ],
  shard_missing: [
    'A weights file was not copied or downloaded.',
    {shard: 'model-00002-of-00002.safetensors', index: 'model.safetensors.index.json'},
  ],
  adapter_legacy: [
    'The adapter is a pickled PyTorch file (.bin); svc does not load such files, because they can execute code.',
    {file: 'runs/r2/adapter.bin'},
  ],
  merge_families: [
    'An adapter belongs to one base model, and this manifest mixes tensor names of several.',
    {file: 'runs/r7/adapter_manifest.json', counts: ['168 llama', '4 gpt2']},
  ],
  tensor_overflow: [
    'A merged value is larger than the output type can represent.',
    {tensor: 'model.layers.11.mlp.down_proj.weight', dtype: 'F16'},
  ],
  tensor_missing: [
    'The architecture, the index or the adapter needs a tensor that the weights files do not contain.',
    {tensor: 'model.norm.weight', files: ['model-00001-of-00002.safetensors']},
  ],
  tensor_shape: [
    'The weights and config.json come from different models.',
    {
      tensor: 'model.embed_tokens.weight',
      file: 'model.safetensors',
      found: [32_000, 2048],
      expected: [32_064, 2048],
    },
  ],
  tensor_dtype: [
    'The weights have a type that is not supported, such as quantised integers.',
    {tensor: 'model.norm.weight', file: 'model.safetensors', dtype: 'I8', accepted: ['F32', 'F16', 'BF16']},
  ],
  prompt_missing: 'svc generate requires a prompt, unless --raw is set and the model has a beginning-of-text token.',
  thinking_unsupported: ['A model thinks if its chat template has tags for that.', {model: 'guide'}],
  chat_command_unknown: [
    'A line that begins with a slash is a command of the chat.',
    {command: '/lod', suggestion: '/load'},
  ],
  chat_command_misused: ['The argument of a command is missing or has an unknown value.', {usage: '/set think on|off'}],
  parameter_unknown: ['Parameters have the names of the Ollama API.', {name: 'temprature', suggestion: 'temperature'}],
  parameter_invalid: [
    'Each parameter has a type and limits.',
    {name: 'top_p', value: '3', reason: 'top_p must be <= 1'},
  ],
  parameter_unsupported: [
    'A server without the Ollama API would ignore it.',
    {name: 'top_k', url: 'https://api.example.com'},
  ],
  conversation_name_invalid: ['The name becomes the name of a file.', {name: '../x'}],
  conversation_not_found: [
    'No conversation of this name has been saved by this user.',
    {name: 'trip', folder: '~/.local/share/svc/conversations', saved: 'trips', suggestion: 'trips'},
  ],
  prompt_empty: 'The prompt, or every message of the conversation, is empty.',
  prompt_too_long: [
    'The prompt and at least one generated token must fit in the context window.',
    {length: '5120 tokens', context: 4096},
  ],
  chat_template_failed: [
    'The Jinja template of the model has an error, or uses a function or syntax that is not supported. svc serve still completes raw prompts.',
    {file: 'runs/r7/tokenizer_config.json', reason: "unknown statement 'include' (line 1)"},
  ],
  chat_refused: [
    'The chat template raised an exception for this conversation, usually because of the order of roles.',
    {reason: 'Conversation roles must alternate user/assistant'},
  ],
  quantisation_failed: [
    'A thread that rounds the weights to fewer bits exited unexpectedly, for example because the memory is exhausted.',
    {reason: 'Worker terminated due to reaching memory limit: JS heap out of memory'},
  ],
  generation_failed: [
    'ONNX Runtime reported an error, its worker exited unexpectedly, or the logits were not finite.',
    {reason: 'no token can be selected because no logit is finite'},
  ],
  port_in_use: ['Another process, perhaps another svc server, uses this port.', {host: '127.0.0.1', port: 11_435}],
  address_unavailable: [
    'The address does not belong to this machine, or the port requires more privileges.',
    {host: '192.0.2.7', port: 11_435, reason: 'address not available (EADDRNOTAVAIL)'},
  ],
  tls_unusable: [
    'The TLS certificate and the private key are invalid, do not belong together, or one of them is missing.',
    {reason: 'the certificate has no key'},
  ],
  tls_ca_unusable: [
    'The file in SVC_TLS_CA_FILE cannot be read or contains no PEM certificate.',
    {path: '/etc/ssl/company.pem', reason: 'it contains no certificate'},
  ],
  certificate_untrusted: [
    "The server's certificate is self-signed or issued by an unknown authority.",
    {url: 'https://mesh.example:9847', reason: 'self-signed certificate'},
  ],
  unreachable: [
    'No connection could be opened to the server.',
    {url: 'http://127.0.0.1:11434', reason: 'connection refused'},
  ],
  timeout: [
    'The server did not accept the connection, or did not respond, in time.',
    {url: 'http://127.0.0.1:11434/api/generate', ms: 30_000},
  ],
  http_status: [
    'The server responded with an error status, or with a redirect, which is not followed.',
    {url: 'http://127.0.0.1:11434/api/generate', status: 500, detail: 'out of memory'},
  ],
  response_too_large: [
    'The response exceeds the limit for data that is read into memory.',
    {url: 'http://127.0.0.1:11434/api/tags', limit: 1_048_576},
  ],
  bad_request: [
    'A field of the request is missing, of the wrong type or out of range.',
    {reason: 'temperature must be a number from 0 to 2, not "hot".', param: 'temperature'},
  ],
  unsupported_value: [
    'The request asks for a feature of the API that this server does not have.',
    {reason: 'This server does not support tools.', param: 'tools'},
  ],
  invalid_json: ['The request body does not parse as JSON.', {reason: 'Unexpected end of JSON input'}],
  body_missing: 'The request requires a JSON body, and none was sent.',
  body_too_large: ['The server limits the size of request bodies.', {limit: 8_388_608}],
  media_type_unsupported: ['The Content-Type header is missing or is not application/json.', {}],
  unauthorized: 'The server requires a token, and the request has none or an invalid one.',
  origin_forbidden: [
    'The request came from a web page, and its origin is not on the list of allowed origins.',
    {origin: 'https://page.example'},
  ],
  serve_unprotected: [
    'No API key is set, and the server would listen on an address other than loopback.',
    {host: '0.0.0.0', variable: 'SVC_INFERENCE_API_KEY'},
  ],
  host_forbidden: [
    'Requests with an unknown Host header are rejected to prevent DNS rebinding.',
    {host: 'rebound.example', remedy: 'allow the host with --allowed-hosts'},
  ],
  route_unknown: ['The server has no route with this path.', {method: 'GET', path: '/v1/model'}],
  method_not_allowed: [
    'The route exists, but not for this HTTP method.',
    {method: 'GET', path: '/api/generate', allowed: ['POST']},
  ],
  not_implemented: ['The route belongs to the API, but this server does not implement it.', {what: 'embeddings are'}],
  token_budget_exhausted: [
    'The replies to a client used more tokens than its budget in the file of --api-keys.',
    {limit: 100_000},
  ],
  api_keys_invalid: [
    'The file of --api-keys is not TOML, has unknown fields or short keys, or other users can read it.',
    {path: 'keys.toml', reason: 'the key of alice is not a text of at least 16 visible ASCII characters'},
  ],
  rate_limited: ['A client sent more requests than the limit allows.', {limit: 600, within: 'minute'}],
  overloaded: ['The queue of waiting requests is full.', {reason: 'The queue is full: 32 requests are waiting.'}],
  params_invalid: [
    'The parameters do not match the schema of the operation.',
    {operation: 'orch.submit_task', violations: ["the document must have required property 'description'"]},
  ],
  path_denied: [
    'The path is outside the workspace, possibly through a symbolic link, or in a protected directory such as .git.',
    {path: '../secrets.env', reason: 'it is outside the workspace'},
  ],
  orchestrator_disabled: 'svc orch and svc daemon are not available while orchestrator.enabled is false.',
  stopped: [
    'A person or a program ran svc orch stop --emergency; nothing is accepted or started until svc orch start.',
    {reason: 'the model deletes files'},
  ],
  doom_loop: [
    'The agent has spent more than 2.00 USD since its last completed task, so it probably repeats failing work.',
    {agent: 'builder', used: 2_410_000, limit: 2_000_000},
  ],
  budget_exceeded: [
    'The tokens or the cost of the agent have reached its limit for this day (UTC).',
    {agent: 'builder', kind: 'tokens', used: 99_400, estimate: 850, limit: 100_000},
  ],
  orchestration_store_missing: [
    'The store of the workspace cannot be opened, and the fallback to the canonical store is not enabled.',
    {reason: 'Cannot open the database .svc/store.db: unable to open database file.'},
  ],
  hidden_checks_unread: [
    'The workspace has hidden checks, which only its daemon runs: no task is claimed or completed without it.',
    {isRunning: false},
  ],
  task_not_found: ['No task of this workspace has this id; it may have been pruned.', {task: 'T-0042'}],
  task_invalid: [
    'A field of the task is missing, too long, of the wrong type, or contradicts another.',
    {place: 'Task 3 of the batch ("Review it")', fault: 'its description is blank'},
  ],
  invalid_transition: [
    'The status of a task allows only certain changes; for example, a completed task cannot be cancelled.',
    {task: 'T-0042', from: 'Completed', to: 'Cancelled'},
  ],
  task_path_escapes: ['A path is blank or too long, or leads out of the workspace.', {path: '../other/readme.md'}],
  completion_refused: [
    'A completion gate of the workspace found that the evidence does not support the result.',
    {task: 'T-0042', gate: 'toestub', outcome: 'requeued', iteration: 1, cap: 3},
  ],
  receipt_invalid: [
    'The task was completed without gates, or its description, result or evidence was changed in the store.',
    {task: 'T-0042', receipt: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'},
  ],
  dependency_unknown: ['--after, or depends_on in a batch, names a task that does not exist.', {dependency: 'T-0041'}],
  dependency_failed: [
    '--after, or depends_on in a batch, names a task that failed or was cancelled.',
    {dependency: 'T-0041', status: 'Cancelled'},
  ],
  dependency_cycle: [
    'The dependencies of a batch form a cycle, so none of its tasks could start.',
    {cycle: ['build', 'test', 'build']},
  ],
  idempotency_mismatch: [
    'An earlier task has the same idempotency key and different content.',
    {key: 'release-7', task: 'T-0042'},
  ],
  lock_conflict: [
    'The task was assigned to one agent, and an unfinished task of another agent uses the same file.',
    {path: 'src/parser.ts', holder: 'builder', kind: 'exclusively_held'},
  ],
  scope_denied: [
    'orchestrator.scope_enforcement is strict, and the scope of the agent does not include the file.',
    {agent: 'reviewer', path: 'src/parser.ts'},
  ],
  evidence_insufficient: [
    'orchestrator.socrates_gate_enforce is true, and the evidence of the task is too weak or contradicts itself.',
    {confidence: 0.12},
  ],
  question_not_found: [
    'No question of this workspace has this id, or it was closed because its task has ended.',
    {question: 'Q-0007'},
  ],
  question_answered: ['Each question is answered exactly once.', {question: 'Q-0007', answer: 'yaml'}],
  question_invalid: [
    'A question or an answer violates a limit, or the answer is not one of the options of the question.',
    {place: 'The answer to Q-0007', fault: 'it must be one of: json, yaml'},
  ],
  question_refused: [
    'A session has asked as many questions as allowed, or the question costs the user too much for what it gains.',
    {session: 's1', reason: 'max_clarification_turns'},
  ],
  question_pending: [
    'A session with an unanswered question cannot submit tasks, and a task that waits for an answer cannot be approved.',
    {subject: 'The session "s1"', question: 'Q-0007'},
  ],
  context_invalid: [
    'The key or the value of an entry of the context store violates a limit, or the value is not a context envelope.',
    {key: 'context_envelope:s1', fault: 'its context envelope is not a JSON object'},
  ],
  context_full: ['The number of entries of the context store reached its limit.', {limit: 10_000}],
  approval_blocked: [
    'orchestrator.attention_enabled is true, and a model tried to approve a task that is risky or has effects outside the workspace.',
    {task: 'T-0042'},
  ],
  plan_review_required: [
    'orchestrator.attention_enabled is true, and a model tried to execute a plan that is risky, or that the user rejected.',
    {plan: 'plan-3d0f8a52-6b1e-4c53-9a6a-0f9f2f1f7a11'},
  ],
  attention_exhausted: [
    'orchestrator.attention_enabled is true, and an agent submitted work after the user had approved and rejected enough for the day.',
    {spentMs: 3_600_000, maxMs: 3_600_000},
  ],
  queue_full: ['The number of queued tasks reached its limit.', {queued: 1000, limit: 1000}],
  agent_not_found: ['No agent of this workspace has this name or id.', {agent: 'bulider', suggestion: 'builder'}],
  agent_exists: ['Agent names are unique within a workspace.', {name: 'builder', agent: 'A-01'}],
  max_agents_reached: ['The number of agents reached its limit.', {limit: 8}],
  last_agent: [
    'Draining or retiring the agent would leave its tasks without an agent.',
    {agent: 'builder (A-01)', tasks: 3},
  ],
  delegation_parent_not_found: ['The parent named for the new agent does not exist.', {parent: 'A-09'}],
  claim_required: [
    'The task is claimed, and only the holder of the claim may change it.',
    {task: 'T-0042', owner: 'builder'},
  ],
  claim_lost: [
    'The claim expired, another client took the task over, or the task is finished.',
    {task: 'T-0042', generation: 1, current: 2, status: 'InProgress'},
  ],
  stale_handoff: [
    'The task has moved to another agent, or its claim has changed, since the agent decided to hand it over.',
    {task: 'T-0042', reason: 'it belongs to builder, not to core'},
  ],
  handoff_invariant: [
    'Only unfinished tasks can be handed over, to a different agent, and everything that a task owes stays owed.',
    {task: 'T-0042', reason: 'the task is Completed'},
  ],
  no_task_to_claim: 'No queued task uses the processor external, or none of them belongs to the specified agent.',
  task_not_successful: [
    'The task that the command waited for failed or was cancelled.',
    {task: 'T-0042', status: 'Failed', reason: 'test exited with status 1'},
  ],
  task_wait_timeout: [
    'The wait reached the limit of --timeout, which does not affect the task.',
    {task: 'T-0042', status: 'Queued', seconds: 60},
  ],
  wait_interrupted: [
    'Ctrl-C stopped the wait, which does not affect the task.',
    {task: 'T-0042', status: 'InProgress'},
  ],
  wait_terminated: [
    'SIGTERM stopped the wait, which does not affect the task.',
    {task: 'T-0042', status: 'InProgress'},
  ],
  daemon_running: ['Only one daemon can run in a workspace.', {pid: 4711, host: 'workstation'}],
  daemon_replaced: [
    'The daemon did not renew its lease on the workspace in time, so another daemon took over.',
    {fence: 8},
  ],
  plan_not_found: ['No plan of this workspace has this id.', {plan: 'plan-42', suggestion: undefined}],
  workflow_invalid: [
    'The workflow file does not match the format, or one of its steps has no or several activities or an invalid expression.',
    {place: 'release.yaml:7:5', reason: 'Unknown member "retires"'},
  ],
  workflow_unknown: [
    'The name is not one of the workflows of the file, or the file has several and none was named.',
    {file: 'release.yaml', name: 'relaese', names: ['release'], suggestion: 'release'},
  ],
  workflow_input_invalid: [
    'An input is missing, unknown, or of another type than the workflow declares.',
    {workflow: 'release', name: 'version', reason: 'it is required'},
  ],
  workflow_run_not_found: ['No run of this workspace has this id.', {run: 'wf-release-1'}],
  workflow_run_id_invalid: ['A run id is a short line of text.', {limit: 200}],
  workflow_run_exists: ['A run id is used once.', {run: 'wf-release-1'}],
  workflow_finished: [
    'A run that has ended takes no signals and cannot be continued.',
    {run: 'wf-release-1', status: 'completed', canResume: false},
  ],
  workflow_changed: [
    'The file was edited after the run had started. Results of activities are kept by their ids, so a change can be adopted.',
    {run: 'wf-release-1', workflow: 'release', file: 'release.yaml'},
  ],
  workflow_lease_held: ['One process drives a run at a time.', {run: 'wf-release-1', pid: 4711, host: 'ada'}],
  workflow_lease_lost: [
    'The process did not renew its lease on the run in time, so another process took over.',
    {run: 'wf-release-1'},
  ],
  workflow_signal_invalid: [
    'The payload of a signal, and the number of signals that a run has not consumed, are limited.',
    {run: 'wf-release-1', reason: '1000 signals wait for the run'},
  ],
  workflow_activity_failed: [
    'An attempt of an activity failed.',
    {activity: 'test', reason: 'npm exited with status 1'},
  ],
  workflow_activity_timeout: [
    'An attempt of an activity exceeded the timeout of its step.',
    {activity: 'test', ms: 60_000},
  ],
  workflow_host_refused: [
    'The http activities of a workflow can only call the hosts that the workflow lists.',
    {activity: 'notify', host: 'example.com'},
  ],
  workflow_failed: [
    'An activity failed for good, and the compensations of the completed activities, if any, have run.',
    {run: 'wf-release-1', reason: 'test failed: npm exited with status 1.', canResume: true},
  ],
  workflow_interrupted: ['Ctrl-C ended the command that ran the workflow.', {run: 'wf-release-1'}],
  workflow_terminated: ['SIGTERM ended the command that ran the workflow.', {run: 'wf-release-1'}],
  workflow_signal_unknown: [
    'A signal must have the key of a step of the workflow, so that a typing error does not leave the run waiting.',
    {run: 'wf-release-1', key: 'publsh', known: 'publish'},
  ],
  workflow_decision_invalid: [
    'An approval takes only a payload that clearly says yes or no.',
    {run: 'wf-release-1', key: 'publish'},
  ],
  workflow_decided: [
    'The approval has a decision that the run uses, and the new one differs from it.',
    {run: 'wf-release-0b7c', key: 'publish', approved: false, reason: 'wrong version'},
  ],
  workflow_cancelled: ['The run was cancelled, and its compensations have run.', {run: 'wf-release-1'}],
  planning_disabled: 'svc orch plan cannot create plans while orchestrator.planning_enabled is false.',
  plan_goal_invalid: ['The goal, or the change that replan adds to it, is blank or too long.', {fault: 'is blank'}],
  plan_mode_unsupported: [
    'A goal is handed to a workflow only by svc orch submit, if orchestrator.planning_workflow_handoff_enabled is on and the program has a workflow engine.',
    {mode: 'workflow_only'},
  ],
  plan_rejected: [
    'orchestrator.plan_adequacy_enforce is on, and the plan has vague or risky steps or covers too little of its goal.',
    {faults: ['step 2 names no action']},
  ],
  plan_model_answer: [
    'Neither of the two answers of the model matched the schema of a plan.',
    {fault: 'step 2 has no description'},
  ],
  plan_model_slow: ['The model did not finish its plan within the time limit.', {ms: 60_000}],
  plan_id_too_long: ['An identifier of the plan exceeds the limit.', {name: 'session_id', length: 3120, limit: 2048}],
  plan_changed: [
    'The plan was revised by another client after the request was prepared.',
    {plan: 'plan-42', version: 1, current: 2},
  ],
  plan_stuck: ['Every remaining step depends on a failed or cancelled step.', {plan: 'plan-42', nodes: ['n2']}],
  plan_step_replaced: [
    'The plan was revised, so retrying a task of an older version would repeat the work.',
    {task: 'T-0042', plan: 'plan-42', node: 'n2', version: 2},
  ],
  plan_file_blocked: [
    'With --write, the plan is written to PLAN.md, which is a directory, a device or a pipe.',
    {path: 'PLAN.md'},
  ],
  plan_file_escapes: [
    'With --write, the plan is written to PLAN.md, which must not be a broken link or a link out of the workspace.',
    {path: 'PLAN.md'},
  ],
  task_run_failed: [
    'The command or model that ran the task reported a failure.',
    {reason: 'test exited with status 1', exitCode: 1, stderr: ['1 test failed']},
  ],
  inference_protocol: [
    'The address belongs to another kind of server, or to one with an incompatible API.',
    {url: 'http://127.0.0.1:8080', reason: 'a line is not JSON'},
  ],
  inference_profile_offline: [
    'SVC_INFERENCE_PROFILE names a profile whose models run on a mobile device.',
    {profile: 'mobile_coreml'},
  ],
  inference_failed: [
    'The inference server ended a streamed response with an error.',
    {url: 'http://127.0.0.1:11435', reason: 'the model ran out of memory'},
  ],
  exec_secret_unlisted: [
    'A task can only request the environment variables that the workspace lists.',
    {name: 'DEPLOY_KEY'},
  ],
  exec_secret_missing: [
    'The daemon does not have the environment variables that the task requests.',
    {names: ['DEPLOY_KEY']},
  ],
  exec_user_unusable: [
    'orchestrator.exec.user names an account, and this process cannot run programs under it.',
    {user: 'runner', reason: 'only root can run programs as another user'},
  ],
  exec_disabled: 'orchestrator.exec.enabled is false, so the workspace runs no command templates.',
  exec_template_missing: 'The task is for the exec processor, which runs named command templates only.',
  exec_template_unknown: ['The settings define no such command template.', {template: 'tset', suggestion: 'test'}],
  exec_template_invalid: [
    'The definition of the command template in the settings is incomplete.',
    {template: 'test', reason: 'it names no program'},
  ],
  exec_params_missing: [
    'The command template has placeholders for which the task has no value.',
    {template: 'test', names: ['file']},
  ],
  exec_params_unused: [
    'The task has a value that the command template does not use.',
    {template: 'test', names: ['fiel'], suggestion: 'file'},
  ],
  exec_param_invalid: [
    'The value could be parsed as an option or contains a NUL character, or its name is reserved.',
    {template: 'test', name: 'file', reason: 'it begins with a dash, and the template has no -- before it'},
  ],
  session_not_found: ['No session has this id, or the session was removed.', {id: 'builder-20260401'}],
  session_limit: ['The number of open sessions reached its limit.', {limit: 32}],
  session_damaged: [
    'Another program changed or truncated the journal of the session.',
    {id: 'builder-20260401', reason: 'line 12 of its journal is not a valid event'},
  ],
  cache_unwritable: [
    'The cache directory cannot be created or written, or its disk is full.',
    {folder: '/home/ann/.cache/svc/speech', reason: 'no space is left on the disk'},
  ],
  transcription_interrupted: ['Ctrl-C ended the transcription of a file.', {recording: 'talk.mp3'}],
  transcription_terminated: ['SIGTERM ended the transcription of a file.', {recording: 'talk.mp3'}],
  speech_model_missing:
    'Neither a flag nor a setting selects a model, none was downloaded, and the included model is not installed.',
  speech_model_unknown: [
    'The model is neither Whisper nor CTC, or it is a CTC model without an ONNX export.',
    {path: 'models/acme', found: 'its model_type is bert'},
  ],
  speech_backend_mismatch: [
    'The selected backend does not run this kind of model.',
    {model: 'models/starter', backend: 'whisper'},
  ],
  tokenizer_mismatch: [
    'The tokenizer in the directory belongs to a different model.',
    {file: 'models/whisper/tokenizer.json', reason: 'it has no token <|startoftranscript|>'},
  ],
  recognition_failed: [
    'ONNX Runtime failed on the model, or its worker exited unexpectedly.',
    {reason: 'the worker exited with status 134'},
  ],
  phrase_unwritable: [
    'Constrained phrases are decoded token by token, and the model has no tokens for a character of this phrase. For instance, many CTC models have letters but no digits.',
    {phrase: 'port 8080'},
  ],
  words_unsupported: [
    'Word timestamps are computed from the cross-attention of the decoder, and this export does not output it.',
    {model: 'models/whisper-base-onnx'},
  ],
  task_unsupported: ['English-only Whisper models and CTC models cannot translate.', {model: 'openai/whisper-tiny.en'}],
  language_detection_unsupported: [
    'English-only Whisper models and CTC models have no tokens for languages, whose probabilities could be compared.',
    {model: 'openai/whisper-tiny.en'},
  ],
  language_unsupported: [
    'The model was not trained on this language, or its name is misspelt.',
    {language: 'gerrman', model: 'openai/whisper-tiny', known: ['en', 'de', 'fr'], suggestion: 'german'},
  ],
  corpus_mix_incomplete: [
    'With --strict, each source that is not optional must contribute rows, and the output must not be empty.',
    {problems: ['data/pairs.jsonl is missing']},
  ],
  speech_kpi_violated: [
    'svc speech serve starts only if the measured quality in the file of SVC_SPEECH_CANARY_KPI is within the limits.',
    {path: 'kpi.json', violations: ['wer is 0.42, and the limit is 0.35']},
  ],
  dataset_invalid: [
    'The dataset has an invalid line, lists no recordings, or is too large.',
    {file: 'clips.jsonl', line: 3, reason: 'the key "path" is missing'},
  ],
  excerpt_empty: ['--offset starts after the last sample of the recording.', {offset: 90, duration: 61.5}],
  resume_mismatch: [
    'Finished windows are used again only for the same recording, model, options and version of svc.',
    {path: 'subtitles/meeting.srt.progress', changed: ['model', 'beam size']},
  ],
  recording_missing: 'The command was run without a file, a directory or -.',
  audio_folder_empty: ['The directory contains no file with a known audio extension.', {folder: 'talks'}],
  subtitle_format_unknown: [
    'The extension of the output file selects its format, and only .srt and .vtt are known.',
    {path: 'film.txt'},
  ],
  output_extension_unknown: [
    'The output is a new file whose extension is that of a document or of media, so a directory with that name is hardly meant.',
    {path: 'talk.docx', extensions: '.txt, .srt, .vtt'},
  ],
  output_dir_needed: ['A file of this format cannot contain several transcripts.', {formats: ['srt']}],
  speech_session_not_found: [
    'The session has ended, or no client was connected to it for SVC_SPEECH_SESSION_TTL_SECS.',
    {id: 'speech-1760000000000-ab12'},
  ],
  speech_gap_too_long: [
    'A client resumes a session without the audio after the last sample of the server, because its buffer was too small.',
    {from: 9_600_000, next_sample: 16_000, limit: 300},
  ],
  speech_capture_timeout: [
    'A live session received no audio at all, not even silence, for the time limit.',
    {timeout_ms: 12_000, state: 'failed', deadline_diagnostics: []},
  ],
  buffer_overflow: ['A client sent more audio without a commit than the server buffers.', {max_buffer_ms: 300_000}],
  speech_inference_timeout: [
    'Recognition and refinement took longer than inference_deadline_ms.',
    {transcribe_ms: 5210, inference_deadline_ms: 5000, state: 'failed', deadline_diagnostics: []},
  ],
  speech_deadline_exceeded: [
    'The entire session took longer than max_duration_ms.',
    {wall_ms: 121_000, max_duration_ms: 120_000, state: 'failed', deadline_diagnostics: []},
  ],
  vad_model_missing: '--vad neural needs an ONNX file, and no flag or setting names one.',
  store_engine_missing: [
    'The prebuilt SQLite driver is not installed, or was built for another version of Node.js.',
    {reason: 'Could not locate the bindings file'},
  ],
  store_node_unsupported: [
    'The SQLite driver that comes with svc is built for newer versions of Node.js.',
    {version: '20.19.0', oldestMajor: 22},
  ],
  store_unopenable: [
    'The database file or its directory cannot be opened for reading and writing.',
    {path: '.svc/store.db', reason: 'unable to open database file'},
  ],
  store_unwritable: [
    'The disk is full, failing or read-only, or the file is write-protected.',
    {path: '.svc/store.db', reason: 'database or disk is full'},
  ],
  store_damaged: [
    'The file was overwritten or truncated, or was never a database.',
    {path: '.svc/store.db', reason: 'file is not a database'},
  ],
  store_busy: ['Another process holds the lock of the database.', {path: '.svc/store.db'}],
  store_moved: [
    'The directory of the database was renamed or deleted, or another program replaced the file. Later changes would be lost, so they are refused.',
    {path: '.svc/store.db'},
  ],
  database_in_use: [
    'The command replaces or rewrites a database file that another process has open, such as a server.',
    {path: '.svc/app.db', user: 'process 4711 (svc db serve)'},
  ],
  backup_damaged: [
    'The file to restore is not a SQLite database, is incomplete, or its contents were changed by a fault.',
    {path: '.svc/app.db.backup-20260102T030405Z', reason: 'file is not a database'},
  ],
  backup_target_open: [
    'A process uses a database with the name of the backup, or was killed. SQLite would apply its changes to the backup.',
    {path: 'copy.db', journal: 'copy.db-wal'},
  ],
  database_kind_differs: [
    'Each flag selects one kind of database, and a backup can only replace a database of its own kind.',
    {path: 'backup.db', found: 'a workspace store', expected: 'an application database'},
  ],
  store_unreachable: [
    'The PostgreSQL server is stopped, rejects the user or password, or has no such database.',
    {path: 'db.example.com:5432/mesh', reason: 'it rejects the user or password'},
  ],
  store_server_unsupported: [
    'The version of the server is too old, or the database cannot store all characters.',
    {path: 'db.example.com:5432/mesh', reason: 'the server is PostgreSQL 14.9'},
  ],
  store_session_missing: [
    'A proxy with transaction or statement pooling runs each transaction of a connection in another session.',
    {path: 'pool.example.com:6432/mesh'},
  ],
  store_rights_missing: [
    'Since PostgreSQL 15, only the owner of a database may create tables in its schema public.',
    {path: 'db.example.com:5432/mesh'},
  ],
  store_migration_failed: [
    'The database rejected a step of the schema migration, and all steps were rolled back.',
    {path: '.svc/store.db', fragment: 'orchestrator', version: 12, reason: 'no such column: priority'},
  ],
  store_newer: [
    'A newer version of svc changed the schema, and an older version could damage the data.',
    {path: '.svc/store.db', fragment: 'orchestrator', found: 14, known: 12},
  ],
  vector_engine_missing: [
    'The program uses a vector index, and the package sqlite-vec is not installed.',
    {reason: 'Cannot find package sqlite-vec'},
  ],
  benchmark_unknown: ['No benchmark has this name.', {name: 'lang-chek', suggestion: 'lang-check'}],
  syntax_k_limit_exceeded: [
    'SVC_SYNTAX_K_GATE is enforce, and the smallest compressed size of the source exceeds SVC_SYNTAX_K_MAX_BYTES.',
    {fixture: 'todo', bytes: 702, limit: 600},
  ],
  schema_keyword_unsupported: [
    'A grammar enforces the schema while the reply is written, and cannot express this keyword. Nothing is ignored.',
    {keyword: 'uniqueItems', pointer: '#/properties/tags/uniqueItems', reason: 'items have too many values'},
  ],
  schema_invalid: [
    'A keyword has a value that JSON Schema does not allow, or refers to a place that does not exist.',
    {keyword: 'minLength', pointer: '#/properties/name/minLength', fault: 'is not a whole number'},
  ],
  schema_unsatisfiable: ['Keywords of the schema contradict each other.', {field: 'format'}],
  schema_too_large: [
    'The alternatives of a schema are combined, and their number is limited.',
    {keyword: 'anyOf', pointer: '#/anyOf', limit: '1000 alternatives'},
  ],
  schema_not_strict: [
    'With strict: true, every object lists all its properties as required and allows no others.',
    {keyword: 'additionalProperties', pointer: '#/properties/address', rule: 'must be false'},
  ],
  pattern_unsupported: [
    'Only regular expressions without back references, lookbehind and word boundaries can be enforced.',
    {pattern: '(a)\\1', reason: 'it has a back reference', column: 4},
  ],
  grammar_invalid: ['The text of a grammar has a fault.', {line: 3, column: 9, fault: 'the rule item is not defined'}],
}
