import {failed, notFound, rows, unavailable, usage} from '../row.js'

const shape = (dims: readonly number[]) => `[${dims.join(', ')}]`
const places = (tried: readonly string[]) => tried.map((place) => `\n  ${place}`).join('')

/** Errors of model directories, weights and generation. */
export const modelErrors = rows(() => ({
  model_not_found: notFound({
    http: 500,
    message: (p: {model: string; tried: readonly string[]}) =>
      `There is no model directory ${p.model}. Places tried:${places(p.tried)}`,
    hint: 'Give the path of a directory that holds config.json, tokenizer.json and safetensors shards.',
  }),
  model_not_served: notFound({
    openai: 'model_not_found',
    message: (p: {model: string; served: string; suggestion?: string | undefined}) =>
      `model '${p.model}' not found${p.suggestion === undefined ? `; this server serves '${p.served}'` : `, did you mean '${p.suggestion}'?`}`,
    hint: (p: {served: string}) => `Ask for ${p.served}; GET /api/tags lists what is served.`,
    param: (_: object) => 'model',
  }),
  device_unavailable: unavailable({
    http: 500,
    message: (p: {device: string; reason: string}) => `The device ${p.device} cannot be used: ${p.reason}.`,
    hint: 'Install the CUDA files as the README describes, or use --device cpu.',
  }),
  model_file_missing: notFound({
    http: 500,
    message: (p: {file: string; tried: readonly string[]}) =>
      `The model has no ${p.file}. Places tried:${places(p.tried)}`,
    hint: 'Copy the missing file from the model you trained or downloaded into the directory.',
  }),
  model_format_unsupported: failed({
    message: (p: {path: string; missing: string; found: string; convert?: string}) =>
      `${p.path} has no ${p.missing}, only ${p.found}.`,
    hint: ({convert}: {convert?: string}) =>
      convert === undefined
        ? 'Download the same model in the layout of Hugging Face, with config.json and model*.safetensors.'
        : `Run \`${convert}\` to convert it.`,
  }),
  model_file_invalid: failed({
    message: (p: {file: string; reason: string}) => `${p.file} cannot be used: ${p.reason}.`,
    hint: 'Copy the file again from its source.',
  }),
  model_family_unknown: failed({
    message: (p: {file: string; family: string; known: readonly string[]}) =>
      `${p.file} describes the model family "${p.family}"; this version runs ${p.known.join(', ')}.`,
    hint: 'Choose a model of a known family.',
  }),
  model_config_unsupported: failed({
    message: (p: {file: string; key: string; value: string}) =>
      `${p.file} sets ${p.key} to ${p.value}, which this version does not compute.`,
    hint: 'Results would be wrong if the key were ignored; if it does not change the computation, remove it.',
  }),
  base_model_not_found: notFound({
    http: 500,
    message: (p: {base: string; tried: readonly string[]}) =>
      `The base model ${p.base} of the adapter is not there. Places tried:${places(p.tried)}`,
    hint: 'Give the directory of the base model with --base, or put its shards into the run directory.',
  }),
  adapter_missing: notFound({
    http: 500,
    message: (p: {path: string}) => `${p.path} was left by a training run, but its adapter weights are not there.`,
    hint: 'Copy candle_qlora_adapter.safetensors (or adapter_model.safetensors) into the directory.',
  }),
  adapter_invalid: failed({
    message: (p: {file: string; reason: string}) => `The adapter cannot be used: ${p.reason} (${p.file}).`,
    hint: 'Copy the adapter and its manifest again from where they were trained.',
  }),
  adapter_unsupported: failed({
    message: (p: {file: string; key: string; value: string}) =>
      `The adapter sets ${p.key} to ${p.value}, which this version does not compute (${p.file}).`,
    hint: 'Train or export the adapter as plain LoRA, or merge it into the base model first.',
  }),
  adapter_tensor_missing: failed({
    message: (p: {tensor: string; manifest: string}) =>
      `The adapter has no tensor ${p.tensor}, which ${p.manifest} asks for.`,
    hint: 'The weights and the manifest belong to different adapters.',
  }),
  adapter_mismatch: usage({
    http: 500,
    message: (p: {tensor: string; adapter: readonly number[]; base: string; found: readonly number[]}) =>
      `The adapter tensor ${p.tensor} is ${shape(p.adapter)} and does not fit the base tensor ${p.base}, which is ${shape(p.found)}.`,
    hint: 'The adapter was trained on another base model: check base_model in its manifest.',
  }),
  adapter_ambiguous: failed({
    message: (p: {adapter: string; tensor: string}) =>
      `merged.safetensors holds a part of what ${p.adapter} changes, but not ${p.tensor}.`,
    hint: 'Remove merged.safetensors or the adapter: applying both would change some weights twice.',
  }),
  eval_gate_failed: failed({
    message: (p: {file: string}) => `The evaluation of this run failed: ${p.file}.`,
    hint: 'Train again, or serve it all the same with --ignore-eval-gate.',
  }),
  safetensors_invalid: failed({
    message: (p: {file: string; reason: string}) => `${p.file} is not a sound safetensors file: ${p.reason}.`,
    hint: 'The file is truncated or damaged; copy or download it again.',
  }),
  shard_missing: notFound({
    http: 500,
    message: (p: {shard: string; index: string}) => `The shard ${p.shard}, which ${p.index} names, is not there.`,
    hint: 'Copy or download every shard of the model.',
  }),
  adapter_legacy: failed({
    message: (p: {file: string}) => `${p.file} is a legacy checkpoint; only adapters in safetensors are merged.`,
    hint: 'Export the adapter as safetensors where it was trained.',
  }),
  merge_families: failed({
    message: (p: {file: string; counts: readonly string[]}) =>
      `${p.file} names tensors of more than one model family: ${p.counts.join(', ')}.`,
    hint: 'An adapter belongs to one base model: copy the manifest again from where it was trained.',
  }),
  tensor_overflow: failed({
    message: (p: {tensor: string; dtype: string}) => `${p.dtype} cannot hold a value of the tensor ${p.tensor}.`,
    hint: 'Merge into bf16 or f32.',
  }),
  tensor_missing: failed({
    message: (p: {tensor: string; files: readonly string[]}) =>
      `The tensor ${p.tensor} is not in ${p.files.join(', ')}.`,
    hint: 'The weights and config.json belong to different models, or a shard is missing.',
  }),
  tensor_shape: failed({
    message: (p: {tensor: string; file: string; found: readonly number[]; expected: readonly number[]}) =>
      `The tensor ${p.tensor} in ${p.file} is ${shape(p.found)}; config.json asks for ${shape(p.expected)}.`,
    hint: 'The weights and config.json belong to different models.',
  }),
  tensor_dtype: failed({
    message: (p: {tensor: string; file: string; dtype: string; accepted: readonly string[]}) =>
      `The tensor ${p.tensor} in ${p.file} has dtype ${p.dtype}; this version reads ${p.accepted.join(', ')}.`,
    hint: 'Convert the weights to one of these dtypes.',
  }),
  prompt_missing: usage({
    message: () => 'There is no prompt.',
    hint: 'Give one as an argument, or - to read it from standard input; --raw alone starts from the beginning-of-text token.',
  }),
  prompt_empty: usage({
    message: () => 'The prompt is empty.',
    hint: 'Write at least one character; leave the prompt out with --raw to start from the beginning-of-text token.',
  }),
  prompt_too_long: usage({
    openai: 'context_length_exceeded',
    message: (p: {length: string; context: number}) =>
      `The prompt is ${p.length} long and leaves no room in the context of ${p.context} tokens.`,
    hint: 'Shorten the prompt, or raise --num-ctx where the model allows more.',
  }),
  chat_template_failed: failed({
    message: (p: {file: string; reason: string}) => `The chat template of ${p.file} cannot be used: ${p.reason}.`,
    hint: 'Repair the template, or send prompts without it: svc generate --raw.',
  }),
  chat_refused: usage({
    message: (p: {reason: string}) => `The chat template of the model refuses this conversation: ${p.reason}.`,
    hint: 'Send the roles in the order that the model expects, mostly user and assistant in turn.',
  }),
  generation_failed: failed({
    message: (p: {reason: string}) => `The model could not be run: ${p.reason}.`,
    hint: 'Check that the machine has enough free memory; --debug shows more.',
  }),
}))
