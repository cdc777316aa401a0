import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {readdir, readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {assertContract} from '../../src/contracts/index.js'
import {readJsonObject} from '../../src/weights/index.js'
import {fresh, heldOut} from '../help/evaluate.js'
import {fiveGrams, guideRun, heldOutQuestions, judgeGuide, trainingText} from '../support/guide.js'
import {skipWithoutProgram} from '../support/programs.js'
import {testAnswers, testMerged} from './guide-answers.js'

describe('the guide', async () => {
  const questions = await heldOutQuestions()
  /** A sixth of the questions; `guide.slow.ts` asks all of them. */
  const someQuestions = questions.filter((_, i) => i % 6 === 0)

  it('is a complete run directory of at most 8 MB', async () => {
    const names = await readdir(guideRun)
    for (const name of ['adapter_manifest.json', 'training_manifest.json', 'tokenizer.json', 'config.json'])
      assert.ok(names.includes(name), name)
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(guideRun, name))).size))
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 8e6)
  })

  it('has a hand-off file that matches its contract', async () => {
    const name = 'external_serving_handoff_v1.json'
    await assertContract('eval/external-serving-handoff', await readJsonObject(join(guideRun, name)), name)
  })

  it('answers nine of ten held-out questions, and at most two without its adapter', async (test) => {
    await testAnswers(test, someQuestions)
  })

  it('gives the same answers when its adapter is merged', async (test) => {
    await testMerged(test, someQuestions)
  })

  it('says that it does not know what its facts do not answer', async () => {
    const asked = [...heldOut, ...fresh].filter((_, i) => i % 2 === 0)
    const {own, wrong, foreign, refused} = await judgeGuide(asked)
    assert.ok(own >= 40 && wrong / own <= 0.15, `${wrong} of ${own} answers are wrong`)
    assert.ok(foreign >= 12 && refused / foreign >= 0.9, `${refused} of ${foreign} are refused`)
  })

  it('was trained on text that shares no 5-gram with the held-out questions', {
    skip: skipWithoutProgram('python3'),
  }, async () => {
    const text = await trainingText()
    const {train_text_sha256: trained} = await readJsonObject(join(guideRun, 'training_manifest.json'))
    assert.equal(createHash('sha256').update(text).digest('hex'), trained, 'the text is the training text')
    const trained5Grams = new Set(text.split('\n').flatMap(fiveGrams))
    const shared = questions.flatMap(({question}) => fiveGrams(question))
    assert.deepEqual(
      shared.filter((gram) => trained5Grams.has(gram)),
      [],
    )
  })

  it('has a model card with the measured results', async () => {
    const card = await readFile(join(guideRun, 'MODEL_CARD.md'), 'utf8')
    const {answered_with_adapter: share} = await readJsonObject(join(guideRun, 'training_manifest.json'))
    assert.ok(card.includes(`${Math.round(60 * Number(share))} of 60`))
  })
})
