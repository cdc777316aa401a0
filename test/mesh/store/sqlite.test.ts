import {describe} from 'node:test'
import {suiteFolder} from '../../support/temporary.js'
import {meshStoreConformance} from './conformance.js'
import {openIn} from './sqlite/open-store.js'

describe('a mesh store in a SQLite file', () => meshStoreConformance(openIn(suiteFolder())))
