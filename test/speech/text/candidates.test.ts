import assert from 'node:assert/strict'
import {writeFile} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {randomSource} from '../../../src/sampling/index.js'
import {biasPhrases, countHits} from '../../../src/speech/text/bias-phrases.js'
import {candidatesOf, sortByHits} from '../../../src/speech/text/candidates.js'
import {defaultRefineSettings} from '../../../src/speech/text/confidence.js'
import {type FinishContext, finishSegment, finishText} from '../../../src/speech/text/finish.js'
import {applyLexicon, loadLexicons, parseLexicon} from '../../../src/speech/text/lexicon.js'
import {writeSpokenCode} from '../../../src/speech/text/spoken-code.js'
import {writeSpokenNumbers} from '../../../src/speech/text/spoken-numbers.js'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

const lexiconOf = (...entries: object[]) => parseLexicon(JSON.stringify({schema_version: '1', entries}))

describe('a lexicon', () => {
  const lexicon = lexiconOf(
    {canonical: 'getUser', aliases: ['getter', ' Get  User ']},
    {canonical: 'ONNX', aliases: ['onyx', 'on x', 'on x runtime']},
    {canonical: 'ONNX Runtime', aliases: ['on x runtime']},
    {canonical: '  ', aliases: ['nothing']},
  )
  const texts: readonly (readonly [heard: string, written: string])[] = [
    ['call getter now', 'call getUser now'],
    ['call Get User, now', 'call getUser, now'],
    ['getters and together', 'getters and together'],
    ['onyx runs', 'ONNX runs'],
    ['on x runtime runs', 'ONNX Runtime runs'],
    ['on  x', 'on  x'],
    ['nothing', 'nothing'],
    ['', ''],
  ]
  for (const [heard, written] of texts)
    it(`writes "${heard}" as "${written}"`, () => assert.equal(applyLexicon(heard, lexicon), written))

  it('does not process its replacements again', () => {
    const circle = lexiconOf({canonical: 'b', aliases: ['a']}, {canonical: 'c', aliases: ['b']})
    assert.equal(applyLexicon('a b', circle), 'b c')
  })

  it('of two files uses the first one specified', async (test) => {
    const folder = await temporaryFolder(test)
    const write = (canonical: string) => JSON.stringify({schema_version: '1', entries: [{canonical, aliases: ['x']}]})
    await writeFiles(folder, {'named.json': write('named'), '.svc/speech_lexicon.json': write('repository')})
    const both = await loadLexicons(join(folder, 'named.json'), folder)
    assert.equal(applyLexicon('x', both.lexicon), 'named')
    assert.deepEqual(
      both.sources.map(({entries}) => entries),
      [1, 1],
    )
    assert.equal(applyLexicon('x', (await loadLexicons(undefined, folder)).lexicon), 'repository')
  })

  it('that cannot be read is a warning, not an error; that of the repository is optional', async (test) => {
    const folder = await temporaryFolder(test)
    await writeFile(join(folder, 'broken.json'), '{')
    assert.deepEqual((await loadLexicons(undefined, folder)).sources, [])
    for (const name of ['broken.json', 'gone.json']) {
      const {lexicon: none, sources} = await loadLexicons(join(folder, name), undefined)
      assert.deepEqual([none.entries.length, typeof sources[0]?.fault], [0, 'string'])
    }
  })
})

describe('preferred phrases', () => {
  it('are aliases, words and hotwords without duplicates, longest first', () => {
    const lexicon = lexiconOf({canonical: 'getUser', aliases: ['getter']})
    assert.deepEqual(biasPhrases(lexicon, ['mesh', ' getter ', 'svc mesh'], 256), [
      'svc mesh',
      'getUser',
      'getter',
      'mesh',
    ])
    assert.deepEqual(biasPhrases(lexicon, ['svc mesh'], 0), ['svc mesh'])
  })

  it('are counted as complete words, case-insensitively', () => {
    assert.equal(countHits('call getUser for mesh', ['getUser', 'MESH']), 2)
    assert.equal(countHits('meshes remesh mesh', ['mesh']), 1)
    assert.equal(countHits('a a a', ['a a']), 1)
    assert.equal(countHits('a.b and a.b', ['a.b']), 2)
  })
})

describe('spoken numbers', () => {
  const numbers: readonly (readonly [spoken: string, written: string])[] = [
    ['twenty one', '21'],
    ['one hundred five', '105'],
    ['one hundred and five', '105'],
    ['one oh one', '101'],
    ['three point one four', '3.14'],
    ['two thousand twenty six', '2026'],
    ['one million two hundred thousand', '1200000'],
    ['nineteen ninety', '19 90'],
    ['zero', '0'],
    ['oh no', 'oh no'],
    ['ten and eleven', '10 and 11'],
    ['point of view', 'point of view'],
  ]
  for (const [spoken, written] of numbers)
    it(`"${spoken}" is ${written}`, () => assert.equal(writeSpokenNumbers(spoken.split(' ')).join(' '), written))
})

describe('spoken code', () => {
  const code: readonly (readonly [spoken: string, written: string])[] = [
    ['x fat arrow y', 'x => y'],
    ['camel case get user name', 'getUserName'],
    ['Pascal case user name', 'UserName'],
    ['snake case User Name', 'user_name'],
    ['kebab case user name', 'user-name'],
    ['constant case max size', 'MAX_SIZE'],
    ['open bracket twenty one close bracket', '[21]'],
    ['get underscore user open paren close paren', 'get_user()'],
    ['run it with dash dash verbose', 'run it with --verbose'],
    ['user dot name', 'user.name'],
    ['the pipeline is an arrowhead', 'the pipeline is an arrowhead'],
    ['a double equals b', 'a == b'],
  ]
  for (const [spoken, written] of code)
    it(`"${spoken}" is ${written}`, () => assert.equal(writeSpokenCode(spoken), written))
})

describe('candidates', () => {
  it('are the refined text, the raw text, and both as code, without duplicates', () => {
    assert.deepEqual(candidatesOf('a', ' a '), ['a'])
    assert.deepEqual(candidatesOf('x pipe y', 'x  pipe y'), ['x pipe y', 'x  pipe y', 'x | y'])
    assert.deepEqual(candidatesOf('', ''), [])
  })

  it('are sorted by the phrases they contain, and otherwise keep their order', () => {
    assert.deepEqual(sortByHits(['a', 'b', 'c'], []), ['a', 'b', 'c'])
    assert.deepEqual(sortByHits(['a', 'b b', 'b'], ['b']), ['b b', 'b', 'a'])
  })
})

describe('a finished text', () => {
  const context: FinishContext = {
    profile: 'balanced',
    domain: 'general',
    settings: defaultRefineSettings,
    lexicon: lexiconOf({canonical: 'getUser', aliases: ['getter']}),
    hotwords: [],
    contextualBias: true,
    maxBiasPhrases: 256,
  }
  const finish = (
    raws: readonly string[],
    changes: Partial<FinishContext> = {},
    alternatives: readonly string[] = [],
  ) => finishText(raws, {...context, ...changes}, alternatives)

  it('contains the refined text with the words of the lexicon, and the raw text', () => {
    const finished = finish([' call the  getter'], {contextualBias: false})
    assert.equal(finished.refinedText, 'call the getUser')
    assert.deepEqual(finished.nBest, ['call the getUser', 'call the  getter'])
    assert.deepEqual([finished.rawText, finished.confidence], [' call the  getter', 0.855])
  })

  it('of a file is its text without surrounding spaces', () => {
    const {rawText, refinedText, confidence, nBest} = finish(['  hello world  \n'])
    assert.deepEqual([rawText, refinedText, confidence], ['  hello world  \n', 'hello world', 0.855])
    assert.equal(nBest, undefined)
  })

  it('is never based on another hypothesis of the model because of a hotword', () => {
    const finished = finish(['one'], {hotwords: ['seven']}, ['one', 'seven', ' '])
    assert.equal(finished.refinedText, 'one')
    assert.deepEqual(finished.nBest, ['one', '1', 'seven'])
  })

  it('lists the other hypotheses refined and with the words of the lexicon, without duplicates', () => {
    const {nBest} = finish([' call the getter'], {}, ['call the getter', 'call  the getter', 'make a tool call getter'])
    assert.deepEqual(nBest, ['call the getUser', 'call the getter', 'make a tool-call getUser'])
  })

  it('is the spelling with most hotwords', () => {
    const {refinedText, segmentTexts} = finish(['camel case get user name', ' now'], {hotwords: ['getUserName']})
    assert.equal(refinedText, 'getUserName now')
    assert.deepEqual(segmentTexts, ['getUserName', 'now'])
  })

  it('is not the misrecognition with most aliases of the lexicon', () => {
    const lexicon = lexiconOf({canonical: 'ONNX', aliases: ['on x', 'x']})
    assert.equal(finish(['on x'], {lexicon}).refinedText, 'ONNX')
  })

  it('consists of the texts of its segments, also if a hotword spans them', () => {
    const {refinedText, nBest, segmentTexts} = finish([' make a  tool', ' call'], {hotwords: ['tool call']})
    assert.equal(refinedText, 'make a tool call')
    assert.deepEqual([nBest?.[0], segmentTexts?.join(' ')], [refinedText, refinedText])
  })

  it('of a segment on its own is that of the segment in the transcript', () => {
    const raws = [' make a  tool call', ' ', ' to getter and', ' camel case get user']
    const all = {...context, hotwords: ['getUser', 'tool call']}
    assert.deepEqual(
      raws.map((raw) => finishSegment(raw, all)),
      finishText(raws, all).segmentTexts,
    )
  })

  it('consists of the texts of its segments for any words, hotwords and profile', () => {
    const random = randomSource(5)
    const words = 'um getter tool call mesh MESH camel case open brace x. y, one the the src/a 7'.split(' ')
    const some = (most: number) =>
      Array.from({length: Math.floor(random() * most)}, () => words[Math.floor(random() * words.length)] ?? '')
    for (let round = 0; round < 300; round++) {
      const raws = Array.from(
        {length: 1 + Math.floor(4 * random())},
        () => ` ${some(5).join(random() < 0.5 ? ' ' : '  ')}`,
      )
      const hotwords = [some(3).join(' '), some(2).join(' ')]
      const profile = (['conservative', 'balanced', 'aggressive'] as const)[round % 3] ?? 'balanced'
      const alternatives = [some(6).join(' ')]
      const {refinedText, nBest, segmentTexts} = finish(raws, {hotwords, profile}, alternatives)
      assert.equal(segmentTexts?.filter(Boolean).join(' '), refinedText, JSON.stringify({raws, hotwords, profile}))
      assert.ok(nBest === undefined || (nBest[0] === refinedText && new Set(nBest).size === nBest.length))
    }
  })

  it('starts with the candidate that is code, and then has no segments', () => {
    const rank = (candidates: readonly string[]) => candidates.indexOf('x => y')
    const finished = finish(['x fat', ' arrow y'], {rank})
    assert.equal(finished.refinedText, 'x => y')
    assert.deepEqual(finished.nBest, ['x => y', 'x fat arrow y'])
    assert.equal(finished.segmentTexts, undefined)
    const alternative = finish(['x fat error y'], {rank}, ['x fat error y', 'x fat arrow y'])
    assert.deepEqual(alternative.nBest, ['x => y', 'x fat error y', 'x fat arrow y'])
  })

  it('without a candidate that is code has the one with most hotwords first', () => {
    const {refinedText, segmentTexts} = finish(['camel case get user'], {hotwords: ['getUser'], rank: () => undefined})
    assert.deepEqual([refinedText, segmentTexts], ['getUser', ['getUser']])
  })
})
