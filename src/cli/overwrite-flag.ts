import {Flags} from '@oclif/core'

/** Of every command that writes files where its user says. */
export const overwriteFlag = Flags.boolean({description: 'Replace files that are there; never an input.'})
