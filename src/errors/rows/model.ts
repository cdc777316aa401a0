import {command, commandLine} from '../command.js'
import {conflict, failed, notFound, rows, unavailable, usage} from '../row.js'
import {didYouMean, nearestVersion} from '../suggestion.js'

const shape = (dims: readonly number[]) => `[${dims.join(', ')}]`
const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1)
const places = (tried: readonly string[]) => tried.map((place) => `\n  ${place}`).join('')

/** Errors of model directories, weights and generation. */
export const modelErrors = rows(() => ({
  model_not_found: notFound({
    http: 500,
    message: (p: {model: string; tried: readonly string[]; suggestion?: string | undefined}) =>
      `Model ${p.model} not found.${didYouMean(p.suggestion)} Searched:${places(p.tried)}`,
    hint: ({model}: {model: string}) =>
      /^\w[\w.-]*\/\w[\w.-]*([:@].+)?$/.test(model)
        ? `Run ${command`svc pull ${model}`} to download it, or pass the path of a model directory or GGUF file.`
        : 'Pass the path of a model directory or GGUF file, or the OWNER/NAME id of a model that was downloaded before.',
  }),
  model_ambiguous: usage({
    message: (p: {models: readonly string[]}) =>
      `No model is selected, and there are several on this machine:${places(p.models)}`,
    hint: (p: {models: readonly string[]}) =>
      `Select one, as in ${commandLine`--model ${p.models[0] ?? ''}`}, or set engine.model in Svc.toml.`,
  }),
  examples_invalid: usage({
    message: (p: {file: string; line: number; input: string}) =>
      `Line ${p.line} of ${p.file} is not a JSON object with the texts ${p.input} and text.`,
    hint: (p: {input: string}) => `Write one object per line, such as {"${p.input}": "…", "text": "…"}.`,
  }),
  receipt_malformed: usage({
    message: (p: {reason: string}) => `The receipt cannot be read: ${p.reason}.`,
    hint: 'Pass the complete value of the header x-svc-receipt, or a file with it.',
  }),
  exchange_invalid: usage({
    message: (p: {reason: string}) => `The exchange cannot be read: ${p.reason}.`,
    hint: 'Write {"receipt": "svc1:…", "request": {…}, "reply": {…}}, with the bodies as they were sent and received.',
  }),
  exchange_refused: failed({
    message: (p: {status: number; reason: string}) => `The request was refused with status ${p.status}: ${p.reason}.`,
    hint: 'Use the flags of the server that answered, such as --chat-template, --num-ctx and --set.',
  }),
  model_not_served: notFound({
    openai: 'model_not_found',
    message: (p: {model: string; served: string; suggestion?: string | undefined}) =>
      `model '${p.model}' not found${p.suggestion === undefined ? (p.served === '' ? '; this server has no models' : `; this server serves '${p.served}'`) : `, did you mean '${p.suggestion}'?`}`,
    hint: (p: {served: string}) =>
      p.served === ''
        ? 'Copy a model into the directory that the server was started with.'
        : `Request the model ${p.served}; GET /api/tags lists it.`,
    param: (_: object) => 'model',
  }),
  model_removed: notFound({
    openai: 'model_not_found',
    message: (p: {model: string; path: string}) => `model '${p.model}' was deleted: ${p.path} does not exist any more`,
    hint: 'Request another model that GET /api/tags lists, or copy the model there again.',
    param: (_: object) => 'model',
  }),
  model_too_large: unavailable({
    http: 400,
    openai: 'model_too_large',
    message: (p: {model: string; bytes: number; limit: number}) =>
      `model '${p.model}' needs about ${megabytes(p.bytes)} MB, and this server has ${megabytes(p.limit)} MB for models`,
    hint: 'Start the server with a larger --memory-limit, a lower --precision, a smaller --num-ctx or a smaller --prefix-cache.',
    param: (_: object) => 'model',
  }),
  models_read_only: usage({
    http: 403,
    message: (p: {path: string}) => `${p.path} is disabled: this server was not started to download and delete models`,
    hint: 'Download or delete the model on the machine of the server, or start it with --models pulled --manage-models.',
  }),
  device_unavailable: unavailable({
    http: 500,
    message: (p: {device: string; reason: string}) => `The device ${p.device} cannot be used: ${p.reason}.`,
    hint: 'Use --device cpu, or install the CUDA files: see "NVIDIA GPUs" in the getting-started guide.',
  }),
  model_file_missing: notFound({
    http: 500,
    message: (p: {file: string; tried: readonly string[]}) => `The model has no ${p.file}. Searched:${places(p.tried)}`,
    hint: 'Copy the file from the original model to one of these locations.',
  }),
  model_format_unsupported: failed({
    message: (p: {path: string; missing: string; found: string; convert?: string}) =>
      `${p.path} has no ${p.missing}, only ${p.found}.`,
    hint: ({convert}: {convert?: string}) =>
      convert === undefined
        ? 'Download the model in Hugging Face layout, with config.json and model*.safetensors.'
        : `Run \`${convert}\` to convert it.`,
  }),
  model_file_invalid: failed({
    message: (p: {file: string; reason: string}) => `${p.file} cannot be used: ${p.reason}.`,
    hint: 'Copy or download the file again.',
  }),
  modelfile_invalid: usage({
    message: (p: {file: string; line: number; reason: string}) =>
      `Line ${p.line} of ${p.file} cannot be imported: ${p.reason}.`,
    hint: 'Correct the line, then run the command again.',
  }),
  model_defaults_exist: conflict({
    message: (p: {path: string}) => `${p.path} already exists.`,
    hint: 'Pass --overwrite to replace it, or --output with another directory.',
  }),
  model_defaults_invalid: usage({
    http: 500,
    message: (p: {file: string; reason: string}) => `${p.file} cannot be used: ${p.reason}.`,
    hint: 'Correct the file, or delete it to use the model without other defaults.',
  }),
  lfs_pointer: failed({
    message: (p: {file: string; size?: number}) =>
      `${p.file} is only a Git LFS pointer${p.size === undefined ? '' : ` to a file of ${p.size} bytes`}, which was not downloaded.`,
    hint: 'Run `git lfs pull` in the directory of the file, or download the file again.',
  }),
  tokenizer_unsupported: failed({
    message: (p: {file: string; feature: string}) => `${p.file} uses ${p.feature}, which is not supported.`,
    hint: 'Use another model; without this feature, prompts would be other tokens than in its training.',
  }),
  model_family_unknown: failed({
    message: (p: {file: string; family: string; known: readonly string[]}) =>
      `${p.file} has the model type "${p.family}", which is not supported; supported types: ${p.known.join(', ')}.`,
    hint: ({family, known}: {family: string; known: readonly string[]}) => {
      const related = nearestVersion(family, known)
      return `Use a model of a supported type${related === undefined ? '' : `; the nearest one is ${related}`}.`
    },
  }),
  model_config_unsupported: failed({
    message: (p: {file: string; key: string; value: string; isKnown: boolean}) =>
      `${p.file} sets ${p.key} to ${p.value}, which is not supported.`,
    hint: ({key, isKnown}: {key: string; isKnown: boolean}) =>
      isKnown
        ? 'Use another model; results without this feature would be wrong.'
        : `Use another model, or pass --ignore-config-key ${key} if this key does not affect the computation.`,
  }),
  base_model_not_found: notFound({
    http: 500,
    message: (p: {base: string; tried: readonly string[]}) =>
      `The base model ${p.base} of the adapter was not found. Searched:${places(p.tried)}`,
    hint: 'Copy the shards of the base model into the run directory, or pass its directory with --base.',
  }),
  adapter_missing: notFound({
    http: 500,
    message: (p: {path: string; isRepository?: boolean}) =>
      p.isRepository === true
        ? `The repository ${p.path} has no adapter that svc can read.`
        : `The run directory ${p.path} has no adapter weights.`,
    hint: ({isRepository}) =>
      isRepository === true
        ? 'Choose a repository with adapter_model.safetensors and adapter_config.json.'
        : 'Copy candle_qlora_adapter.safetensors (or adapter_model.safetensors) into the directory.',
  }),
  merge_adapter_missing: notFound({
    http: 500,
    message: (p: {path: string; isMerged: boolean}) =>
      `${p.path} has no adapter to merge${p.isMerged ? ': its merged.safetensors already contains it' : ''}.`,
    hint: 'Use the model as it is, or pass the run directory of an adapter.',
  }),
  adapter_invalid: failed({
    message: (p: {file: string; reason: string}) => `The adapter cannot be used: ${p.reason} (${p.file}).`,
    hint: 'Copy the adapter and its manifest again from the training run.',
  }),
  adapter_unsupported: failed({
    message: (p: {file: string; key: string; value: string; isKnown: boolean}) =>
      `The adapter sets ${p.key} to ${p.value}, which is not supported (${p.file}).`,
    hint: ({key, isKnown}: {key: string; isKnown: boolean}) =>
      isKnown
        ? 'Train or export the adapter as plain LoRA, or merge it with the program that trained it.'
        : `Export the adapter as plain LoRA, or pass --ignore-config-key ${key} if this key does not affect the computation.`,
  }),
  adapter_tensor_missing: failed({
    message: (p: {tensor: string; manifest: string}) =>
      `The adapter has no tensor ${p.tensor}, which ${p.manifest} requires.`,
    hint: 'Copy the weights and the manifest again from the same adapter.',
  }),
  adapter_mismatch: usage({
    http: 500,
    message: (p: {tensor: string; adapter: readonly number[]; base: string; found: readonly number[]}) =>
      `The adapter tensor ${p.tensor} of shape ${shape(p.adapter)} does not fit the base tensor ${p.base} of shape ${shape(p.found)}.`,
    hint: 'Use the base model that the adapter was trained on; its manifest names it.',
  }),
  adapter_refused: usage({
    message: (p: {adapter: string; reason: string}) => `The adapter ${p.adapter} cannot be served. ${p.reason}`,
    hint: 'Copy the adapter again from the training run, or use the base model that it was trained on.',
  }),
  adapter_name_invalid: usage({
    message: (p: {adapter: string}) => `${JSON.stringify(p.adapter)} is not a name for an adapter.`,
    hint: 'Use up to 128 letters, digits, dots, underscores and hyphens, and a letter or digit first.',
    param: (_: object) => 'name',
  }),
  adapter_name_taken: conflict({
    message: (p: {adapter: string}) => `The name ${p.adapter} is that of the base model.`,
    hint: 'Choose another name for the adapter, or give the model one with --model-name.',
    param: (_: object) => 'name',
  }),
  adapter_pinned: conflict({
    message: (p: {adapter: string}) => `The adapter ${p.adapter} cannot be changed: the server was started with it.`,
    hint: 'Choose another name, or restart the server without --adapter for this one.',
  }),
  adapter_outside: conflict({
    http: 403,
    message: (p: {path: string; folder: string}) => `${p.path} is not a directory below ${p.folder}.`,
    hint: 'Copy the adapter into the directory of --adapters, and pass the name of its directory.',
    param: (_: object) => 'path',
  }),
  adapter_not_served: notFound({
    message: (p: {adapter: string}) => `This server has no adapter ${p.adapter}.`,
    hint: 'GET /api/adapters lists the adapters of the server.',
  }),
  adapters_read_only: usage({
    http: 403,
    message: () => 'The adapters of this server cannot be changed.',
    hint: 'Start the server with --adapters DIR, and with an admin key in SVC_ADMIN_KEY.',
  }),
  adapter_too_large: unavailable({
    http: 400,
    message: (p: {adapter: string; bytes: number; pinned: number; limit: number}) =>
      `The adapter ${p.adapter} needs ${megabytes(p.bytes)} MB; adapters may use ${megabytes(p.limit)} MB${p.pinned === 0 ? '' : `, of which ${megabytes(p.pinned)} MB are always in use`}.`,
    hint: 'Start the server with a larger --adapter-memory.',
  }),
  adapter_changed: unavailable({
    message: (p: {adapter: string; path: string}) =>
      `The files of the adapter ${p.adapter} in ${p.path} changed while it was loaded.`,
    hint: 'Send the request again when they are complete.',
  }),
  adapter_ambiguous: failed({
    message: (p: {adapter: string; tensor: string}) =>
      `merged.safetensors has some of the tensors that ${p.adapter} changes, but not ${p.tensor}.`,
    hint: 'Remove merged.safetensors or the adapter; applying both would change some weights twice.',
  }),
  eval_gate_failed: failed({
    message: (p: {file: string}) => `The training run failed its evaluation; see ${p.file}.`,
    hint: 'Train the adapter again, or pass --ignore-eval-gate to use it anyway.',
  }),
  safetensors_invalid: failed({
    message: (p: {file: string; reason: string}) => `${p.file} is not a valid safetensors file: ${p.reason}.`,
    hint: 'Copy or download the file again.',
  }),
  gguf_invalid: failed({
    message: (p: {file: string; reason: string}) => `${p.file} is not a valid GGUF file: ${p.reason}.`,
    hint: 'Copy or download the file again.',
  }),
  gguf_unsupported: failed({
    message: (p: {file: string; feature: string}) => `${p.file} uses ${p.feature}, which is not supported.`,
    hint: ({feature}: {feature: string}) =>
      feature.includes('byte order')
        ? 'Convert the file with the program gguf-convert-endian of the Python package gguf, or use a little-endian file.'
        : 'Use a file of the model in another type, such as Q8_0 or Q4_K_M, or its safetensors files.',
  }),
  gguf_inexpressible: failed({
    message: (p: {file: string; feature: string}) => `${p.file} has ${p.feature}, which GGUF files cannot express.`,
    hint: 'Merge into a model directory instead, with --full.',
  }),
  gguf_several: usage({
    http: 500,
    message: (p: {path: string; files: readonly string[]}) =>
      `${p.path} contains several GGUF models:${places(p.files)}`,
    hint: (p: {files: readonly string[]}) => `Use the name of one of them, such as ${p.files[0] ?? ''}.`,
  }),
  shard_missing: notFound({
    http: 500,
    message: (p: {shard: string; index: string}) => `The shard ${p.shard}, which ${p.index} requires, is missing.`,
    hint: 'Copy or download every shard of the model.',
  }),
  adapter_legacy: failed({
    message: (p: {file: string}) => `${p.file} is a legacy checkpoint; only adapters in safetensors can be merged.`,
    hint: 'Export the adapter again as safetensors.',
  }),
  merge_families: failed({
    message: (p: {file: string; counts: readonly string[]}) =>
      `${p.file} names tensors of more than one model family: ${p.counts.join(', ')}.`,
    hint: 'Copy the manifest again from the training run.',
  }),
  tensor_overflow: failed({
    message: (p: {tensor: string; dtype: string}) => `A value of the tensor ${p.tensor} is too large for ${p.dtype}.`,
    hint: 'Merge with --dtype bf16 or --dtype f32.',
  }),
  tensor_missing: failed({
    message: (p: {tensor: string; files: readonly string[]}) =>
      `The tensor ${p.tensor} is not in ${p.files.join(', ')}.`,
    hint: 'Copy all shards and config.json again from the same model.',
  }),
  tensor_shape: failed({
    message: (p: {tensor: string; file: string; found: readonly number[]; expected: readonly number[]}) =>
      `The tensor ${p.tensor} in ${p.file} has shape ${shape(p.found)}; config.json requires ${shape(p.expected)}.`,
    hint: 'Copy the weights and config.json again from the same model.',
  }),
  tensor_dtype: failed({
    message: (p: {tensor: string; file: string; dtype: string; accepted: readonly string[]}) =>
      `The tensor ${p.tensor} in ${p.file} has dtype ${p.dtype}; supported dtypes: ${p.accepted.join(', ')}.`,
    hint: 'Convert the weights to one of these dtypes.',
  }),
  prompt_missing: usage({
    message: () => 'Missing prompt.',
    hint: 'Pass the prompt as an argument, or - to read it from standard input.',
  }),
  prompt_empty: usage({
    message: () => 'The prompt is empty.',
    hint: 'Pass a prompt of at least one character.',
  }),
  prompt_too_long: usage({
    openai: 'context_length_exceeded',
    message: (p: {length: string; context: number}) =>
      `The prompt is ${p.length} long and does not fit in the context window of ${p.context} tokens.`,
    hint: 'Shorten the prompt, or raise --num-ctx if the model allows more.',
  }),
  chat_template_failed: failed({
    http: 400,
    message: (p: {file: string; reason: string}) => `The chat template of ${p.file} cannot be used: ${p.reason}.`,
    hint: 'Pass a corrected one with --chat-template FILE, or skip it with --raw, or with raw or /v1/completions on a server.',
  }),
  chat_refused: usage({
    message: (p: {reason: string}) => `The chat template of the model rejected the conversation: ${p.reason}.`,
    hint: 'Send the roles in the order that the model expects, usually user and assistant alternating.',
  }),
  thinking_unsupported: usage({
    message: (p: {model: string}) => `The model ${p.model} does not think: its chat template has no thinking.`,
    hint: 'Leave thinking off, or use a model that thinks, such as one of Qwen3.',
  }),
  chat_command_unknown: usage({
    message: (p: {command: string; suggestion?: string | undefined}) =>
      `Unknown command ${p.command}.${didYouMean(p.suggestion)}`,
    hint: 'Type /? for the commands.',
  }),
  chat_command_misused: usage({
    message: (p: {usage: string}) => `The command is ${p.usage}.`,
    hint: 'Type /? for the commands.',
  }),
  parameter_unknown: usage({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `There is no parameter ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Type /set parameter for the list.',
  }),
  parameter_invalid: usage({
    message: (p: {name: string; value: string; reason: string}) => `Cannot set ${p.name} to ${p.value}: ${p.reason}.`,
    hint: 'Type /set parameter for the list.',
  }),
  parameter_unsupported: usage({
    message: (p: {name: string; url: string}) => `The server at ${p.url} does not accept ${p.name} by the OpenAI API.`,
    hint: 'Leave it unset, or use a server of the Ollama API.',
  }),
  conversation_name_invalid: usage({
    message: (p: {name: string}) => `${p.name} is not a name of a conversation.`,
    hint: 'Use letters, digits, dots, dashes and underscores, at most 100 characters.',
  }),
  conversation_not_found: notFound({
    message: (p: {name: string; folder: string; saved: string; suggestion?: string | undefined}) =>
      `There is no conversation ${p.name} in ${p.folder}.${didYouMean(p.suggestion)}`,
    hint: (p: {saved: string}) => (p.saved === '' ? 'Save one with /save NAME.' : `Load one of these: ${p.saved}.`),
  }),
  quantisation_failed: failed({
    message: (p: {reason: string}) => `Cannot quantise the weights of the model: ${p.reason}.`,
    hint: 'Check that the machine has enough free memory, or use --precision f32.',
  }),
  generation_failed: failed({
    message: (p: {reason: string}) => `Generation failed: ${p.reason}.`,
    hint: 'Check that the machine has enough free memory, or run again with --debug for details.',
  }),
}))
