import {Flags} from '@oclif/core'
import {inGroup} from './flag-groups.js'

/** The language model of a command. */
export const modelFlag = Flags.string({
  char: 'm',
  description: 'Run directory, model directory, or id (owner/name) of a model in the local Hugging Face cache.',
  helpValue: 'MODEL',
  required: true,
})

export const ignoreConfigKeyFlag = Flags.string({
  description: 'Unknown key of config.json or adapter_config.json to ignore; may be repeated.',
  helpValue: 'NAME',
  multiple: true,
  multipleNonGreedy: true,
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
})
