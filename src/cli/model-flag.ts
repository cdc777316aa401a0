import {Args, Flags} from '@oclif/core'
import {inGroup} from './flag-groups.js'

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
})
