import {createHash} from 'node:crypto'
import {mkdtemp, rm} from 'node:fs/promises'
import {tmpdir} from 'node:os'
import {join} from 'node:path'
import {round} from '../../src/bench/measure.js'
import {readJsonObject} from '../../src/weights/index.js'
import {fresh, heldOut, questions as tuned} from '../help/evaluate.js'
import {askAll, fiveGrams, guideRun, heldOutQuestions, judgeGuide, linkBase, trainingText} from '../support/guide.js'

/**
 * Share of held-out questions for which the answer of the guide contains the key fact, with and without its adapter.
 * How often it is right, says that it does not know, and is wrong, for the questions of `bench -- ask`. Also the number of
 * 5-grams that the held-out questions share with the training text.
 */
export async function guide() {
  const questions = await heldOutQuestions()
  const base = await mkdtemp(join(tmpdir(), 'svc-guide-'))
  try {
    await linkBase(base)
    const adapted = await askAll(guideRun, questions)
    const {share: without} = await askAll(base, questions)
    const text = await trainingText()
    const learnt = new Set(text.split('\n').flatMap(fiveGrams))
    const {train_text_sha256: trained} = await readJsonObject(join(guideRun, 'training_manifest.json'))
    return {
      questions: questions.length,
      answered_with_adapter: round(adapted.share, 3),
      answered_without_adapter: round(without, 3),
      missed: adapted.missed,
      about_svc_and_else: {
        tuned: await judgeGuide(tuned),
        held_out: await judgeGuide(heldOut),
        fresh: await judgeGuide(fresh),
      },
      shared_five_grams: questions.flatMap(({question}) => fiveGrams(question)).filter((gram) => learnt.has(gram))
        .length,
      text_is_that_of_the_training: createHash('sha256').update(text).digest('hex') === trained,
    }
  } finally {
    await rm(base, {recursive: true})
  }
}
