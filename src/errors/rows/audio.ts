import {rows} from '../row.js'

/** Errors of audio files and their decoders. */
export const audioErrors = rows({})
