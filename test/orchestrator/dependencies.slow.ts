import {describeChain} from './support/chain.js'

describeChain(10_000)
