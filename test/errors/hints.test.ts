import assert from 'node:assert/strict'
import {after, before, describe, it} from 'node:test'
import {type ErrorCode, type ErrorRow, errorCatalogue} from '../../src/errors/catalogue.js'
import {explainErrors} from '../../src/errors/index.js'
import {startHub} from '../support/hub-server.js'
import {meshTokens, suiteMeshServer} from '../support/mesh-workspace.js'
import {tinyModelFiles} from '../support/tiny-model.js'
import {commandsIn, everyFlag, families, faultOf, wordsOf} from './support/commands.js'
import {hintCases} from './support/hint-cases.js'
import {runHint, runText} from './support/run-hint.js'
import {mentions, shownTexts} from './support/shown-texts.js'
import {textCases} from './support/text-cases.js'

const catalogue = Object.entries(errorCatalogue()) as [ErrorCode, ErrorRow<object>][]

const isOldNode = Number.parseInt(process.versions.node, 10) < 22

/** A value that a shell would split and expand if it was not quoted. */
const awkward = "it's $a"
const lists = new Set(['by', 'variables', 'names', 'faults'])

/** Parameters with which a hint has each of its forms. */
const forms: readonly object[] = [
  {},
  {outcome: 'failed', status: 'Failed', kind: 'cost', isKnown: true},
  {
    status: 'failed',
    kind: 'tokens',
    by: ['--offline'],
    known: ['en'],
    flag: undefined,
    holder: undefined,
    convert: "python -c 'x'",
    model: 'acme/llama',
  },
].map(
  (form) =>
    new Proxy<Record<string, unknown>>(
      {pid: 7, port: 80, seconds: 1, convert: undefined, known: ['en', 'de'], isKnown: false, ...form},
      {get: (known, name) => (name in known ? known[String(name)] : lists.has(String(name)) ? ['A'] : awkward)},
    ),
)

const rowOf = (code: string) => errorCatalogue()[code as ErrorCode] as ErrorRow<object>

const hintsOf = ({hint}: ErrorRow<object>): string[] =>
  typeof hint === 'string' ? [hint] : [...new Set(forms.map((form) => hint(form)))]

/** A message without its commands. */
const proseOf = (text: string) => text.replaceAll(/`[^`]*`/g, '')

describe('the hint of an error', () => {
  for (const [code, row] of catalogue)
    it(`of ${code} contains only commands that exist, between backticks, with quoted values`, () => {
      for (const hint of hintsOf(row)) {
        for (const line of commandsIn(hint)) {
          assert.equal(faultOf(line), undefined, hint)
          for (const word of wordsOf(line)) assert.ok(word === awkward || !/it's|\$a/.test(word), hint)
        }
        assert.deepEqual(mentionsIn(proseOf(hint)), [], hint)
        for (const [flag] of proseOf(hint).matchAll(/--[a-z][a-z-]+/g))
          assert.ok(everyFlag.has(flag), `${flag}: ${hint}`)
      }
    })

  it('has the same commands in its explanation', async () => {
    for (const {code, fix} of await explainErrors())
      for (const line of commandsIn(fix)) assert.equal(faultOf(line), undefined, `${code}: ${line}`)
  })

  it('is run by a case of this table if it contains a command', () => {
    const withCommands = catalogue.filter(([, row]) => hintsOf(row).some((hint) => commandsIn(hint).length > 0))
    assert.deepEqual(Object.keys(hintCases).sort(), withCommands.map(([code]) => code).sort())
  })
})

describe('a command in another message', async () => {
  const texts = await shownTexts()
  for (const {path, commands, prose} of texts)
    it(`of ${path} exists and has its arguments, between backticks`, () => {
      for (const line of commands) assert.equal(faultOf(line), undefined, line)
      assert.deepEqual(mentionsIn(prose), mentions[path] ?? [])
    })

  it('is run by a case of this table', () => {
    const paths = texts.filter(({commands}) => commands.length > 0).map(({path}) => path)
    assert.deepEqual(Object.keys(textCases).sort(), paths.sort())
  })
})

/** Commands of svc that a text names outside backticks. */
function mentionsIn(text: string): string[] {
  return [...text.matchAll(/\bsvc ([a-z][\w-]*)/g)]
    .filter(([, word = '']) => families.has(word))
    .map(([found]) => found)
}

describe('the commands of a hint or message', {concurrency: 2}, () => {
  const mesh = suiteMeshServer()
  let endpoint = ''
  const ends: (() => unknown)[] = []
  after(() => Promise.all(ends.map((end) => end())))
  before(async () => {
    const whisper = {'config.json': '{"model_type": "whisper"}', 'tokenizer.json': '{}', 'model.safetensors': ''}
    const models = {
      'acme/whisper': whisper,
      'openai/whisper-tiny.en': whisper,
      'acme/llama': tinyModelFiles(),
      'Qwen/Qwen2.5-0.5B-Instruct': tinyModelFiles(),
    }
    endpoint = (
      await startHub(
        {after: (end) => ends.push(end as () => unknown)},
        Object.fromEntries(
          Object.entries(models).map(([id, files]) => [id, {commit: 'c'.repeat(40), revisions: ['main'], files}]),
        ),
      )
    ).endpoint
  })
  const servers = () => ({
    mesh: {SVC_MESH_CONTROL_ADDR: mesh().baseUrl, SVC_MESH_TOKEN: meshTokens.SVC_MESH_TOKEN},
    hub: {HF_ENDPOINT: endpoint},
  })
  for (const [code, cases] of Object.entries(hintCases))
    for (const [i, hintCase] of [cases].flat().entries())
      if ('steps' in hintCase)
        it(
          `of ${code} do what it promises${i === 0 ? '' : `, case ${i + 1}`}`,
          {
            timeout: 120_000,
            skip: hintCase.node === 'old' && !isOldNode && 'needs a version of Node.js before 22',
          },
          (test) => runHint(test, servers(), code, hintCase),
        )
  for (const [path, cases] of Object.entries(textCases))
    for (const [i, textCase] of [cases].flat().entries())
      if ('steps' in textCase)
        it(`of ${path} do what it promises${i === 0 ? '' : `, case ${i + 1}`}`, {timeout: 120_000}, (test) =>
          runText(test, servers(), textCase),
        )

  it('are the same where one case stands for several errors', () => {
    for (const [code, cases] of Object.entries(hintCases))
      for (const hintCase of [cases].flat())
        if ('steps' in hintCase && hintCase.sameAs !== undefined)
          assert.deepEqual(hintsOf(rowOf(code)), hintsOf(rowOf(hintCase.sameAs)), code)
  })
})
