import {resolve} from 'node:path'
import {Args, Flags} from '@oclif/core'
import {SvcError} from '../errors/index.js'
import {isFolder} from '../files/index.js'
import type {ModelDefaults} from '../weights/index.js'
import {inGroup} from './flag-groups.js'
import {nameAndValue} from './name-value.js'

/** The language model of a command that has no default. */
export const modelFlag = Flags.string({
  char: 'm',
  description:
    'Run directory, model directory, GGUF file, or id (owner/name) of a model in the local Hugging Face cache.',
  helpValue: 'MODEL',
  required: true,
})

/** The language or speech model that a command describes. */
export const installedModelArg = Args.string({
  description: 'Directory, GGUF or whisper.cpp file, or name of a model on this machine.',
  required: true,
})

export const ignoreConfigKeyFlag = Flags.string({
  description: 'Unknown key of config.json or adapter_config.json to ignore; may be repeated.',
  helpValue: 'NAME',
  multiple: true,
  multipleNonGreedy: true,
})

/** The base model of a run directory. */
export const baseFlags = {
  base: Flags.string({
    description: 'Base model directory or GGUF file. (default: the one in the manifest)',
    helpValue: 'DIR',
  }),
  'no-adapter': Flags.boolean({
    description: 'Run only the base model of a run directory, without the adapter or merged weights.',
  }),
}

/** Adapters of a model, with the names that clients see. */
export const namedAdapterFlag = (description: string, exclusive: string[] = []) =>
  Flags.string({description, helpValue: 'NAME=DIR', multiple: true, multipleNonGreedy: true, exclusive})

/**
 * The adapters of `--adapter`, which have different names.
 * @throws flag_value, usage, directory_not_found
 */
export async function namedAdapters(words: readonly string[] = []): Promise<{name: string; folder: string}[]> {
  const adapters = words.map((word) => {
    const [name, folder] = nameAndValue('--adapter', word, 'NAME=DIR')
    return {name, folder: resolve(folder)}
  })
  const repeated = adapters.find(({name}, i) => adapters.findIndex((other) => other.name === name) < i)
  if (repeated !== undefined) throw new SvcError('usage', {reason: `--adapter names two adapters ${repeated.name}.`})
  for (const {folder} of adapters)
    if (!(await isFolder(folder))) throw new SvcError('directory_not_found', {path: folder})
  return adapters
}

/**
 * Replaces the switch `--base` of earlier versions, which has no value, by `--no-adapter`. A prompt behind it looks like a
 * directory here.
 */
export function withoutBaseSwitch(argv: readonly string[]): string[] {
  const end = argv.indexOf('--')
  return argv.map((word, i) => {
    const isSwitch = word === '--base' && (end === -1 || i < end) && argv[i + 1]?.startsWith('-') !== false
    return isSwitch ? '--no-adapter' : word
  })
}

/** The inference server of a command. */
export const serverFlag = Flags.string({
  description: 'Base URL of the inference server. (default: SVC_INFERENCE_URL, or http://127.0.0.1:11435)',
  helpValue: 'URL',
})

/** How conversations are formatted. */
export const chatFlags = inGroup('generation', {
  'chat-template': Flags.string({
    description: 'Jinja chat template to use; none joins the messages without one. (default: that of the model)',
    helpValue: 'FILE|none',
  }),
  system: Flags.string({
    description: 'System message of conversations without one.',
    helpValue: 'TEXT',
  }),
  set: Flags.string({
    description: 'Parameter of replies, such as top_p=0.8 or stop=END; may be repeated.',
    helpValue: 'KEY=VALUE',
    multiple: true,
    multipleNonGreedy: true,
  }),
})

interface ChosenFlags {
  system?: string | undefined
  set?: readonly string[] | undefined
  seed?: number | undefined
  stop?: readonly string[] | undefined
}

type ChosenSettings = Partial<Record<'temperature' | 'topK' | 'topP' | 'maxTokens', number | undefined>>

/**
 * What a user has chosen, which precedes the defaults of the model: `--seed` and `--stop`, then `--set`, then other settings.
 * @param settings only those that are not defaults
 * @throws flag_value, usage
 */
export async function chosenDefaults(
  {system, set = [], seed, stop}: ChosenFlags,
  {temperature, topK, topP, maxTokens}: ChosenSettings,
): Promise<Pick<ModelDefaults, 'system' | 'stop' | 'parameters'>> {
  const {parameterFault} = await import('../llm/index.js')
  const words = set.map((word) => nameAndValue('--set', word, 'KEY=VALUE'))
  const stops = stop ?? words.filter(([name]) => name === 'stop').map(([, value]) => value)
  const parameters = words.filter(([name]) => name !== 'stop').map(([name, text]) => [name, numberOf(text)] as const)
  for (const [name, value] of parameters) {
    const reason = name === 'num_ctx' ? 'use --num-ctx for the context length' : parameterFault(name, value)
    if (reason !== undefined) throw new SvcError('usage', {reason: `--set: ${reason}.`})
  }
  const named = {temperature, top_k: topK, top_p: topP, num_predict: maxTokens}
  return {
    ...(system === undefined ? {} : {system}),
    ...(stops.length === 0 ? {} : {stop: stops}),
    parameters: {
      ...Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined)),
      ...Object.fromEntries(parameters),
      ...(seed === undefined ? {} : {seed}),
    },
  }
}

const numberOf = (text: string): number | string =>
  text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text)
