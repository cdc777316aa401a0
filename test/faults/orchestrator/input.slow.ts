import {suiteFolder} from '../../support/temporary.js'
import {describeLargeBatches} from './large-batches.js'

describeLargeBatches(suiteFolder(), 50_000_000)
