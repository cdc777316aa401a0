import {Flags} from '@oclif/core'

/** The language model of a command. */
export const modelFlag = Flags.string({
  char: 'm',
  description: 'Run directory, model directory, or id (owner/name) of a model in the local Hugging Face cache.',
  helpValue: 'MODEL',
  required: true,
})
