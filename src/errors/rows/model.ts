import {failed, notFound, rows, unavailable, usage} from '../row.js'

const shape = (dims: readonly number[]) => `[${dims.join(', ')}]`
const places = (tried: readonly string[]) => tried.map((place) => `\n  ${place}`).join('')

/** Errors of model directories, weights and generation. */
export const modelErrors = rows(() => ({
  model_not_found: notFound({
    http: 500,
    message: (p: {model: string; tried: readonly string[]}) =>
      `Model directory not found: ${p.model}. Searched:${places(p.tried)}`,
    hint: 'Pass a directory that contains config.json, tokenizer.json and safetensors shards.',
  }),
  model_not_served: notFound({
    openai: 'model_not_found',
    message: (p: {model: string; served: string; suggestion?: string | undefined}) =>
      `model '${p.model}' not found${p.suggestion === undefined ? `; this server serves '${p.served}'` : `, did you mean '${p.suggestion}'?`}`,
    hint: (p: {served: string}) => `Request the model ${p.served}. GET /api/tags lists the served models.`,
    param: (_: object) => 'model',
  }),
  device_unavailable: unavailable({
    http: 500,
    message: (p: {device: string; reason: string}) => `The device ${p.device} is not available: ${p.reason}.`,
    hint: 'Install the CUDA files (docs/getting-started.md), or use --device cpu.',
  }),
  model_file_missing: notFound({
    http: 500,
    message: (p: {file: string; tried: readonly string[]}) => `The model has no ${p.file}. Searched:${places(p.tried)}`,
    hint: 'Copy the missing file from the original model into the directory.',
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
    message: (p: {file: string; reason: string}) => `${p.file} is invalid: ${p.reason}.`,
    hint: 'Copy or download the file again.',
  }),
  model_family_unknown: failed({
    message: (p: {file: string; family: string; known: readonly string[]}) =>
      `${p.file} names the model family "${p.family}", which is not supported. Supported families: ${p.known.join(', ')}.`,
    hint: 'Choose a model of a supported family.',
  }),
  model_config_unsupported: failed({
    message: (p: {file: string; key: string; value: string}) =>
      `${p.file} sets ${p.key} to ${p.value}, which is not supported.`,
    hint: 'If the key does not affect the computation, remove it; ignoring it could give wrong results.',
  }),
  base_model_not_found: notFound({
    http: 500,
    message: (p: {base: string; tried: readonly string[]}) =>
      `Base model of the adapter not found: ${p.base}. Searched:${places(p.tried)}`,
    hint: "Pass the base model's directory with --base, or copy its shards into the run directory.",
  }),
  adapter_missing: notFound({
    http: 500,
    message: (p: {path: string}) => `The run directory ${p.path} has no adapter weights.`,
    hint: 'Copy candle_qlora_adapter.safetensors (or adapter_model.safetensors) into the directory.',
  }),
  adapter_invalid: failed({
    message: (p: {file: string; reason: string}) => `Invalid adapter: ${p.reason} (${p.file}).`,
    hint: 'Copy the adapter and its manifest again from the training output.',
  }),
  adapter_unsupported: failed({
    message: (p: {file: string; key: string; value: string}) =>
      `The adapter sets ${p.key} to ${p.value}, which is not supported (${p.file}).`,
    hint: 'Train or export the adapter as plain LoRA, or merge it into the base model first.',
  }),
  adapter_tensor_missing: failed({
    message: (p: {tensor: string; manifest: string}) =>
      `The adapter has no tensor ${p.tensor}, which ${p.manifest} requires.`,
    hint: 'Copy weights and manifest of the same adapter.',
  }),
  adapter_mismatch: usage({
    http: 500,
    message: (p: {tensor: string; adapter: readonly number[]; base: string; found: readonly number[]}) =>
      `The adapter tensor ${p.tensor} has shape ${shape(p.adapter)}, which does not match ${p.base} of the base model, ${shape(p.found)}.`,
    hint: 'Check base_model in the manifest: the adapter was trained on another base model.',
  }),
  adapter_ambiguous: failed({
    message: (p: {adapter: string; tensor: string}) =>
      `merged.safetensors contains some of the tensors that ${p.adapter} changes, but not ${p.tensor}.`,
    hint: 'Remove merged.safetensors or the adapter. Applying both would change some weights twice.',
  }),
  eval_gate_failed: failed({
    message: (p: {file: string}) => `The evaluation of this run failed: ${p.file}.`,
    hint: 'Train again, or pass --ignore-eval-gate to use the run anyway.',
  }),
  safetensors_invalid: failed({
    message: (p: {file: string; reason: string}) => `${p.file} is not a valid safetensors file: ${p.reason}.`,
    hint: 'Copy or download the file again; it is truncated or damaged.',
  }),
  shard_missing: notFound({
    http: 500,
    message: (p: {shard: string; index: string}) => `The shard ${p.shard} listed in ${p.index} is missing.`,
    hint: 'Copy or download all shards of the model.',
  }),
  adapter_legacy: failed({
    message: (p: {file: string}) => `${p.file} is a legacy checkpoint; only safetensors adapters can be merged.`,
    hint: 'Export the adapter as safetensors from the training program.',
  }),
  merge_families: failed({
    message: (p: {file: string; counts: readonly string[]}) =>
      `${p.file} lists tensors of several model families: ${p.counts.join(', ')}.`,
    hint: 'Copy the manifest again from the training output; an adapter belongs to one base model.',
  }),
  tensor_overflow: failed({
    message: (p: {tensor: string; dtype: string}) =>
      `A value of the tensor ${p.tensor} is out of range for ${p.dtype}.`,
    hint: 'Pass --dtype bf16 or --dtype f32.',
  }),
  tensor_missing: failed({
    message: (p: {tensor: string; files: readonly string[]}) =>
      `Tensor ${p.tensor} not found in ${p.files.join(', ')}.`,
    hint: 'Check that config.json belongs to these weights and that no shard is missing.',
  }),
  tensor_shape: failed({
    message: (p: {tensor: string; file: string; found: readonly number[]; expected: readonly number[]}) =>
      `The tensor ${p.tensor} in ${p.file} has shape ${shape(p.found)}; config.json requires ${shape(p.expected)}.`,
    hint: 'Use the config.json that belongs to these weights.',
  }),
  tensor_dtype: failed({
    message: (p: {tensor: string; file: string; dtype: string; accepted: readonly string[]}) =>
      `The tensor ${p.tensor} in ${p.file} has dtype ${p.dtype}; supported: ${p.accepted.join(', ')}.`,
    hint: 'Convert the weights to a supported dtype.',
  }),
  prompt_missing: usage({
    message: () => 'Missing prompt.',
    hint: 'Pass it as an argument, or - to read standard input. --raw alone starts from the beginning-of-text token.',
  }),
  prompt_empty: usage({
    message: () => 'The prompt is empty.',
    hint: 'Pass at least one character, or --raw without a prompt to start from the beginning-of-text token.',
  }),
  prompt_too_long: usage({
    openai: 'context_length_exceeded',
    message: (p: {length: string; context: number}) =>
      `The prompt is too long: ${p.length}, in a context of ${p.context} tokens.`,
    hint: 'Shorten the prompt, or increase --num-ctx if the model supports it.',
  }),
  chat_template_failed: failed({
    message: (p: {file: string; reason: string}) => `The chat template of ${p.file} failed: ${p.reason}.`,
    hint: 'Fix the template, or use svc generate --raw, which does not use it.',
  }),
  chat_refused: usage({
    message: (p: {reason: string}) => `The model's chat template rejected the conversation: ${p.reason}.`,
    hint: 'Send the roles in the order that the model expects, usually alternating user and assistant.',
  }),
  generation_failed: failed({
    message: (p: {reason: string}) => `The model failed: ${p.reason}.`,
    hint: 'Check that the machine has enough free memory; --debug shows more.',
  }),
}))
