import assert from 'node:assert/strict'
import {readdir, readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {projectFile, skipWithout} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {suiteFolder, temporaryFolder} from '../support/temporary.js'
import {digitsOf, type Heard, hear, onOneThread, type Sample, samplesOf, wordErrorRate} from './word-error-rate.js'

const starter = projectFile('examples/models/starter')

/** A subset of the sentences; `starter.slow.ts` uses all of them. */
const someOf = async (dataset: string) => (await samplesOf(dataset)).filter((_, i) => i % 20 === 0)

describe('the starter speech model', () => {
  it('is at most 5 MB and has its own licence', async () => {
    const names = await readdir(starter)
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(starter, name))).size))
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 5e6)
    const licence = await readFile(join(starter, 'LICENSE'), 'utf8')
    assert.match(licence, /CC BY-SA 4\.0/)
    assert.match(licence, /Free Spoken Digit Dataset/)
    assert.match(await readFile(projectFile('LICENSE'), 'utf8'), /examples\/models\/starter/)
  })

  const clips = {
    'hello.wav': 'hello and welcome to your own machine',
    'question.wav': 'how do i transcribe my recording',
    'memo.wav': 'the server is ready and the tests have finished please restart the worker tomorrow morning',
    'digits.wav': 'four two seven zero nine',
  }
  const recording = (name: string) => projectFile(join('examples', name))

  it('transcribes the example recordings exactly, and prints one notice', async (test) => {
    const env = onOneThread(await temporaryFolder(test))
    const {stdout, stderr, exitCode} = await svcInTurn(['transcribe', ...Object.keys(clips).map(recording)], {env})
    const expected = Object.entries(clips).map(([name, text]) => `==> ${recording(name)} <==\n${text}\n`)
    assert.deepEqual([stdout, exitCode], [expected.join('\n'), 0])
    assert.match(stderr, /^Using the starter model, .* `svc speech pull tiny\.en` once\.\n$/)
  })

  for (const flags of [['--model', 'starter'], ['--quiet']])
    it(`prints no notice with ${flags.join(' ')}`, async (test) => {
      const cwd = await temporaryFolder(test)
      const args = ['transcribe', recording('digits.wav'), ...flags]
      const {stdout, stderr} = await svcInTurn(args, {cwd, env: onOneThread(cwd)})
      assert.deepEqual([stdout, stderr], [`${clips['digits.wav']}\n`, ''])
    })

  describe('on held-out recordings', () => {
    const folder = suiteFolder()
    const groups = {known: [] as Sample[], unseen: [] as Sample[], digits: [] as Sample[]}
    let heard: Heard[] = []
    before(async () => {
      const evaluation = (name: string) => someOf(projectFile(`examples/train-starter/eval/${name}.jsonl`))
      groups.known = await evaluation('known-voices')
      groups.unseen = await evaluation('unseen-voice')
      if (skipWithout('fsdd') === false) groups.digits = await digitsOf(/_jackson_0\.wav$/)
      heard = await hear(Object.values(groups).flat(), folder)
    })
    const rateOf = (samples: readonly Sample[]) =>
      wordErrorRate(heard.filter((one) => samples.some(({path}) => path === one.path)))

    it('has a word error rate of at most 8 % for known voices', () => {
      assert.equal(groups.known.length, 5)
      assert.ok(rateOf(groups.known) <= 0.08)
    })

    it('has a word error rate of at most 25 % for an unseen voice', () => {
      assert.equal(groups.unseen.length, 5)
      assert.ok(rateOf(groups.unseen) <= 0.25)
    })

    it('has a word error rate of at most 20 % for the digits of a real speaker', {skip: skipWithout('fsdd')}, () => {
      assert.equal(groups.digits.length, 10)
      assert.ok(rateOf(groups.digits) <= 0.2)
    })
  })

  it('has a model card with its results', async () => {
    const card = await readFile(join(starter, 'MODEL_CARD.md'), 'utf8')
    for (const part of ['known voices', 'unseen voice', 'left out', 'svc speech pull']) assert.ok(card.includes(part))
  })
})
