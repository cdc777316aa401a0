import {all, testCanaries} from './support/canaries.js'

testCanaries(all)
