import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {Diagnostics} from '../../src/lang/diagnostics/index.js'
import {type Block, type Module, parse, parseHeads} from '../../src/lang/syntax/index.js'
import {seeded} from '../support/random.js'
import {corpus, everything, mutated} from './fuzz.js'

const bodiesOf = ({decls}: Module): (Block | undefined)[] =>
  decls.flatMap((decl) => ('body' in decl ? [decl.body()] : []))

describe('bodies that are parsed later', () => {
  const random = seeded(20_260_211)
  const programs = [everything, ...corpus()]
  const sources = [...programs, ...Array.from({length: 400}, () => mutated(random, programs))]

  it('have the trees of the whole program, unless the parser reports anything', () => {
    let [same, reported] = [0, 0]
    for (const source of sources) {
      const diagnostics = new Diagnostics()
      const whole = bodiesOf(parse(source, diagnostics).module)
      const heads = parseHeads(source, new Diagnostics())
      const later = heads === undefined ? [undefined] : bodiesOf(heads)
      if (later.includes(undefined)) {
        assert.notDeepEqual(diagnostics.sorted(), [], source)
        reported++
      } else {
        assert.deepEqual(later, whole, source)
        same++
      }
    }
    assert.ok(same > 40 && reported > 40, `${same} with the same trees, ${reported} with reports`)
  })
})
