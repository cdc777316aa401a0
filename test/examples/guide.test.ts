import assert from 'node:assert/strict'
import {createHash} from 'node:crypto'
import {readdir, readFile, stat} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {assertContract} from '../../src/contracts/index.js'
import {mergeAdapter, readJsonObject} from '../../src/weights/index.js'
import {askAll, fiveGrams, guideRun, heldOutQuestions, linkBase, trainingText} from '../support/guide.js'
import {temporaryFolder} from '../support/temporary.js'

describe('the guide', () => {
  it('is a run directory of at most 8 MB, as training leaves it', async () => {
    const names = await readdir(guideRun)
    for (const name of ['adapter_manifest.json', 'training_manifest.json', 'tokenizer.json', 'config.json'])
      assert.ok(names.includes(name), name)
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(guideRun, name))).size))
    assert.ok(sizes.reduce((sum, size) => sum + size, 0) <= 8e6)
  })

  it('has a hand-off that fits its contract', async () => {
    const name = 'external_serving_handoff_v1.json'
    await assertContract('eval/external-serving-handoff', await readJsonObject(join(guideRun, name)), name)
  })

  it('answers nine of ten questions that it has never learnt from, and hardly one without its adapter', async (test) => {
    const questions = await heldOutQuestions()
    assert.equal(questions.length, 60)
    const {share, missed} = await askAll(guideRun, questions)
    assert.ok(share >= 0.9, JSON.stringify(missed, undefined, 1))
    const base = await temporaryFolder(test)
    await linkBase(base)
    assert.ok((await askAll(base, questions)).share <= 0.2)
  })

  it('answers the same when its adapter is merged', async (test) => {
    const folder = await temporaryFolder(test)
    const source = {run: guideRun, ignoreEvalGate: false, cwd: folder}
    await mergeAdapter({source, output: 'whole', full: true, dtype: 'F32', untie: false, overwrite: false})
    const questions = await heldOutQuestions()
    const [apart, merged] = [await askAll(guideRun, questions), await askAll(join(folder, 'whole'), questions)]
    assert.deepEqual(merged, apart)
  })

  it('was trained on text that shares no five words in a row with those questions', async () => {
    const text = await trainingText()
    const {train_text_sha256: trained} = await readJsonObject(join(guideRun, 'training_manifest.json'))
    assert.equal(createHash('sha256').update(text).digest('hex'), trained, 'the text is that of the training')
    const learnt = new Set(text.split('\n').flatMap(fiveGrams))
    const shared = (await heldOutQuestions()).flatMap(({question}) => fiveGrams(question))
    assert.deepEqual(
      shared.filter((gram) => learnt.has(gram)),
      [],
    )
  })

  it('has a card with the figures that were measured', async () => {
    const card = await readFile(join(guideRun, 'MODEL_CARD.md'), 'utf8')
    const {answered_with_adapter: share} = await readJsonObject(join(guideRun, 'training_manifest.json'))
    assert.ok(card.includes(`${Math.round(60 * Number(share))} of 60`))
  })
})
