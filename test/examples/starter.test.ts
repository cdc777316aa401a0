import assert from 'node:assert/strict'
import {readdir, readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {projectFile, skipWithout} from '../support/project.js'
import {svcInTurn} from '../support/svc-in-turn.js'
import {temporaryFolder} from '../support/temporary.js'
import {digitsOf, samplesOf, wordErrorRate} from './word-error-rate.js'

const starter = projectFile('examples/models/starter')

/** A tenth of the sentences; `starter.slow.ts` measures all of them. */
const tenthOf = async (dataset: string) => (await samplesOf(dataset)).filter((_, i) => i % 10 === 0)

describe('the starter speech model', () => {
  it('is at most 5 MB, under a licence of its own', async () => {
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
  for (const [name, text] of Object.entries(clips))
    it(`writes exactly what is said in ${name}`, async (test) => {
      const env = {HOME: await temporaryFolder(test)}
      const {stdout, stderr, exitCode} = await svcInTurn(['transcribe', projectFile(join('examples', name))], {env})
      assert.deepEqual([stdout, exitCode], [`${text}\n`, 0])
      assert.match(stderr, /^Using the starter model, .* svc speech pull tiny\.en once\.\n$/)
    })

  it('says so once, and not where it is asked for or where nothing is to be said', async (test) => {
    const cwd = await temporaryFolder(test)
    const env = {HOME: cwd}
    const files = [projectFile('examples/hello.wav'), projectFile('examples/digits.wav')]
    const notices = async (...args: string[]) =>
      (await svcInTurn(['transcribe', ...files, ...args], {cwd, env})).stderr
        .split('\n')
        .filter((line) => /starter/.test(line))
    assert.equal((await notices()).length, 1)
    assert.deepEqual(await notices('--model', 'starter'), [])
    assert.deepEqual(await notices('--quiet'), [])
  })

  it('gets at most 8 words of 100 wrong in unseen sentences of known voices', async (test) => {
    const samples = await tenthOf(projectFile('examples/train-starter/eval/known-voices.jsonl'))
    assert.equal(samples.length, 10)
    assert.ok((await wordErrorRate(samples, await temporaryFolder(test))) <= 0.08)
  })

  it('gets at most 25 words of 100 wrong in an unseen voice', async (test) => {
    const samples = await tenthOf(projectFile('examples/train-starter/eval/unseen-voice.jsonl'))
    assert.equal(samples.length, 10)
    assert.ok((await wordErrorRate(samples, await temporaryFolder(test))) <= 0.25)
  })

  it('gets at most 20 digits of 100 wrong of a real speaker who was left out', {
    skip: skipWithout('fsdd'),
  }, async (test) => {
    const samples = await digitsOf(/_jackson_[05]\.wav$/)
    assert.equal(samples.length, 20)
    assert.ok((await wordErrorRate(samples, await temporaryFolder(test))) <= 0.2)
  })

  it('has a card that tells its figures', async () => {
    const card = await readFile(join(starter, 'MODEL_CARD.md'), 'utf8')
    for (const part of ['known voices', 'unseen voice', 'left out', 'svc speech pull']) assert.ok(card.includes(part))
  })
})
