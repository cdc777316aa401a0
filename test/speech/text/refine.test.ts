import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {asrConfidence, defaultRefineSettings, refineConfidence} from '../../../src/speech/text/confidence.js'
import {type RefineContext, refine, refineSegments} from '../../../src/speech/text/refine.js'
import {confusionTables, phraseTable} from '../../../src/speech/text/refine-rules.js'

const context: RefineContext = {profile: 'balanced', domain: 'general', settings: defaultRefineSettings}
const refined = (text: string, changes: Partial<RefineContext> = {}) => refine(text, {...context, ...changes})
const text = (raw: string, changes: Partial<RefineContext> = {}) => refined(raw, changes).text

describe('refinement', () => {
  it('collapses spaces, and reports it', () => {
    const {text: result, confidence, trace} = refined('  hello world  \n')
    assert.deepEqual([result, confidence], ['hello world', 0.855])
    assert.deepEqual(trace, [
      {rule: 'light_trim', before: '  hello world  \n', after: 'hello world', reason: 'whitespace collapsed'},
    ])
  })

  const balanced: readonly (readonly [raw: string, result: string])[] = [
    ['make a tool call now', 'make a tool-call now'],
    ['two tool calls, please', 'two tool-calls, please'],
    ['the pipeline is fine', 'the pipeline is fine'],
    ['ask MESH for it', 'ask mesh for it'],
    ['Mesh works. Mesh is good', 'Mesh works. Mesh is good'],
    ['run s v c here', 'run svc here'],
    ['--tool call', '--tool call'],
    ['use --MESH', 'use --MESH'],
    ['open src/tool calls', 'open src/tool calls'],
    ['', ''],
  ]
  for (const [raw, result] of balanced) it(`writes "${raw}" as "${result}"`, () => assert.equal(text(raw), result))

  it('keeps protected words', () => {
    assert.equal(text('a tool call', {protectedWords: new Set(['tool'])}), 'a tool call')
  })

  it('replaces no words of a dysarthric speaker', () => {
    assert.equal(text('a tool call', {dysarthric: true}), 'a tool call')
  })

  it('applies the words of the domain code', () => {
    assert.equal(text('at table user with list of string', {domain: 'code'}), '@table user with List[str]')
    assert.equal(text('at table user'), 'at table user')
  })

  it('with the conservative profile changes no words', () => {
    assert.equal(text('um  a tool call', {profile: 'conservative'}), 'um a tool call')
  })

  const aggressive: readonly (readonly [raw: string, result: string])[] = [
    ['um so the the test is uh done', 'So the test is done.'],
    ['it works. now go home', 'It works. Now go home.'],
    ['that is very very good', 'That is very very good.'],
    ['call mr. smith', 'Call mr. smith.'],
    ['is it? yes', 'Is it? Yes.'],
    ['um', 'Um.'],
  ]
  for (const [raw, result] of aggressive)
    it(`with the aggressive profile writes "${raw}" as "${result}"`, () => {
      assert.equal(text(raw, {profile: 'aggressive'}), result)
    })

  it('of segments writes sentences across them', () => {
    const segments = [' um so we go', ' on. and then', ' um', ' it works the', ' the uh tool', ' call']
    const {texts} = refineSegments(segments, {...context, profile: 'aggressive'})
    assert.deepEqual(texts, ['So we go', 'on. And then', '', 'it works the', 'tool-call.', ''])
    assert.equal(texts.filter(Boolean).join(' '), text(segments.join(''), {profile: 'aggressive'}))
  })

  it('of segments of code replaces words across them', () => {
    const {texts} = refineSegments([' pub', ' function at', ' table user'], {...context, domain: 'code'})
    assert.deepEqual(texts, ['pub fn', '@table', 'user'])
  })

  it('of segments without sentences refines each one', () => {
    const {texts, trace, confidence} = refineSegments([' a  tool call', ' and a tool', ' call'], context)
    assert.deepEqual(texts, ['a tool-call', 'and a tool', 'call'])
    assert.deepEqual([trace.map(({rule}) => rule), confidence], [['light_trim', 'confusion_map'], 0.84])
  })

  it('keeps English fillers in other languages', () => {
    assert.equal(text('um die Ecke', {profile: 'aggressive', language: 'de'}), 'Um die Ecke.')
  })

  it('is idempotent', () => {
    for (const profile of ['conservative', 'balanced', 'aggressive'] as const)
      for (const domain of ['general', 'code'] as const)
        for (const raw of [
          'um the the tool call uh',
          'at end point  s v c list of int',
          'Mesh IS. mesh? (um) "the the"',
        ]) {
          const once = text(raw, {profile, domain})
          assert.equal(text(once, {profile, domain}), once)
        }
  })

  it('has no replacement that another rule replaces', () => {
    for (const table of [...Object.values(confusionTables), phraseTable])
      for (const [heard, written] of table)
        assert.ok(heard === written.toLowerCase() || !table.has(written.toLowerCase()), heard)
  })
})

describe('the confidence', () => {
  it('is that of the profile minus a penalty per correction, within its bounds', () => {
    const of = (profile: RefineContext['profile'], corrections: number) =>
      refineConfidence(profile, corrections, defaultRefineSettings)
    assert.deepEqual(
      [of('balanced', 0), of('balanced', 20), of('aggressive', 1), of('conservative', 2)],
      [0.87, 0.62, 0.885, 0.79],
    )
    assert.equal(refineConfidence('balanced', 20, {...defaultRefineSettings, confidenceMin: 0.7}), 0.7)
  })

  it('of the model is the mean of its tokens', () => {
    const half = Math.log(0.5)
    assert.equal(asrConfidence([{avgLogprob: half, tokens: [1, 2]}]), 0.5)
    assert.equal(asrConfidence([]), undefined)
    const both = asrConfidence([
      {avgLogprob: 0, tokens: [1, 2, 3]},
      {avgLogprob: half, tokens: [4]},
    ])
    assert.equal(both, Math.round(1e4 * 0.5 ** 0.25) / 1e4)
  })
})
