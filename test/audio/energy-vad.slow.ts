import {describe, it} from 'node:test'
import {skipWithout} from '../support/project.js'
import {assertHearsDigits} from '../support/speech-regions.js'

describe('energyVad: spoken digits', {skip: skipWithout('fsdd')}, () => {
  it('misses none, in every seventh of 3,000 recordings', () => assertHearsDigits(7))
})
