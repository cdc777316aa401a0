import {describeChain} from '../orchestrator/support/chain.js'

describeChain(10_000)
