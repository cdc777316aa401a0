import {Exit, rows} from '../row.js'

const shape = (dims: readonly number[]) => `[${dims.join(', ')}]`
const places = (tried: readonly string[]) => tried.map((place) => `\n  ${place}`).join('')

/** Errors of model directories, weights and generation. */
export const modelErrors = rows({
  model_not_found: {
    exit: Exit.notFound,
    http: 404,
    openai: 'model_not_found',
    say: (p: {model: string; tried: readonly string[]}) =>
      `There is no model directory ${p.model}. Places tried:${places(p.tried)}`,
    hint: 'Give the path of a directory that holds config.json, tokenizer.json and safetensors shards.',
  },
  model_file_missing: {
    exit: Exit.notFound,
    http: 500,
    say: (p: {file: string; tried: readonly string[]}) => `The model has no ${p.file}. Places tried:${places(p.tried)}`,
    hint: 'Copy the missing file from the model you trained or downloaded into the directory.',
  },
  model_file_invalid: {
    exit: Exit.failed,
    http: 500,
    say: (p: {file: string; reason: string}) => `${p.file} cannot be used: ${p.reason}.`,
    hint: 'Copy the file again from its source.',
  },
  model_family_unknown: {
    exit: Exit.failed,
    http: 500,
    say: (p: {file: string; family: string; known: readonly string[]}) =>
      `${p.file} describes the model family "${p.family}"; this version runs ${p.known.join(', ')}.`,
    hint: 'Choose a model of a known family.',
  },
  model_config_unsupported: {
    exit: Exit.failed,
    http: 500,
    say: (p: {file: string; key: string; value: string}) =>
      `${p.file} sets ${p.key} to ${p.value}, which this version does not compute.`,
    hint: 'Results would be wrong if the key were ignored; if it does not change the computation, remove it.',
  },
  adapter_unsupported: {
    exit: Exit.failed,
    http: 500,
    say: (p: {file: string}) => `The model directory has an adapter, ${p.file}, which this version does not apply.`,
    hint: 'Merge the adapter into the base model first, or move it out of the directory to run the base model.',
  },
  safetensors_invalid: {
    exit: Exit.failed,
    http: 500,
    say: (p: {file: string; reason: string}) => `${p.file} is not a sound safetensors file: ${p.reason}.`,
    hint: 'The file is truncated or damaged; copy or download it again.',
  },
  shard_missing: {
    exit: Exit.notFound,
    http: 500,
    say: (p: {shard: string; index: string}) => `The shard ${p.shard}, which ${p.index} names, is not there.`,
    hint: 'Copy or download every shard of the model.',
  },
  tensor_missing: {
    exit: Exit.failed,
    http: 500,
    say: (p: {tensor: string; files: readonly string[]}) => `The tensor ${p.tensor} is not in ${p.files.join(', ')}.`,
    hint: 'The weights and config.json belong to different models, or a shard is missing.',
  },
  tensor_shape: {
    exit: Exit.failed,
    http: 500,
    say: (p: {tensor: string; file: string; found: readonly number[]; expected: readonly number[]}) =>
      `The tensor ${p.tensor} in ${p.file} is ${shape(p.found)}; config.json asks for ${shape(p.expected)}.`,
    hint: 'The weights and config.json belong to different models.',
  },
  tensor_dtype: {
    exit: Exit.failed,
    http: 500,
    say: (p: {tensor: string; file: string; dtype: string; accepted: readonly string[]}) =>
      `The tensor ${p.tensor} in ${p.file} has dtype ${p.dtype}; this version reads ${p.accepted.join(', ')}.`,
    hint: 'Convert the weights to one of these dtypes.',
  },
  prompt_missing: {
    exit: Exit.usage,
    http: 400,
    say: (_: object) => 'There is no prompt.',
    hint: 'Give one as an argument, or - to read it from standard input; --raw alone starts from the beginning-of-text token.',
  },
  prompt_empty: {
    exit: Exit.usage,
    http: 400,
    say: (_: object) => 'The prompt is empty.',
    hint: 'Write at least one character; leave the prompt out with --raw to start from the beginning-of-text token.',
  },
  prompt_too_long: {
    exit: Exit.usage,
    http: 400,
    openai: 'context_length_exceeded',
    say: (p: {tokens: number; context: number}) =>
      `The prompt is ${p.tokens} tokens long and leaves no room in the context of ${p.context}.`,
    hint: 'Shorten the prompt, or raise --num-ctx where the model allows more.',
  },
  chat_template_failed: {
    exit: Exit.failed,
    http: 500,
    say: (p: {file: string; reason: string}) => `The chat template of ${p.file} failed: ${p.reason}.`,
    hint: 'Use --raw to send the prompt without the template.',
  },
  generation_failed: {
    exit: Exit.failed,
    http: 500,
    say: (p: {reason: string}) => `The model could not be run: ${p.reason}.`,
    hint: 'Check that the machine has enough free memory; --debug shows more.',
  },
})
