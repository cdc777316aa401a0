import {some, testCanaries} from './support/canaries.js'

// `canary.slow.ts` tests every token with every operation.
testCanaries(some)
