import {error} from './findings.js'
import type {Gate} from './gate.js'

/** Requires that the hidden checks pass. It names none of them: the worker reads the finding. */
export const hidden: Gate = {
  name: 'hidden',
  family: 'debug',
  mode: ({hiddenPassed}) => (hiddenPassed === undefined ? 'off' : 'enforce'),
  evaluate: ({hiddenPassed}) => (hiddenPassed === true ? [] : [error('hidden/failed', 'A hidden check failed.')]),
}
