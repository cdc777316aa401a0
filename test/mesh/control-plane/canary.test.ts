import {some, testCanaries} from './support/canaries.js'

// `canary.slow.ts` shows every token in every way.
testCanaries(some)
