import {Flags} from '@oclif/core'

/** `--overwrite`, shared by all commands that write to a path given by the user. */
export const overwriteFlag = Flags.boolean({description: 'Overwrite existing files, except input files.'})
