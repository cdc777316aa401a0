import {describe} from 'node:test'
import {suiteFolder} from '../../support/temporary.js'
import {meshStoreConformance} from './conformance.js'
import {openIn} from './sqlite/open-store.js'

describe('SQLite mesh store', () => meshStoreConformance(openIn(suiteFolder())))
