import {commandErrors} from './rows/command.js'
import {configErrors} from './rows/config.js'
import {modelErrors} from './rows/model.js'
import {networkErrors} from './rows/network.js'
import {storeErrors} from './rows/store.js'

export {type ErrorRow, Exit, type ExitStatus} from './row.js'

/** Every error a user can meet, by code. Codes are part of the interface: they are added, never renamed. */
export const catalogue = {...commandErrors, ...configErrors, ...modelErrors, ...networkErrors, ...storeErrors}

export type ErrorCode = keyof typeof catalogue

/** What the sentence of an error needs to know. */
export type ErrorParams<C extends ErrorCode> = Parameters<(typeof catalogue)[C]['say']>[0]
