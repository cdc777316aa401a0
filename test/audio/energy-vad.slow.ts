import {describe, it} from 'node:test'
import {skipWithout} from '../support/project.js'
import {assertHearsDigits} from '../support/speech-regions.js'

describe('a spoken digit', {skip: skipWithout('fsdd')}, () => {
  it('is never lost, in every seventh of 3,000 recordings', () => assertHearsDigits(7))
})
