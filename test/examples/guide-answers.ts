import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {mergeAdapter} from '../../src/weights/index.js'
import {type Asked, askAll, guideRun, type HeldOut, linkBase} from '../support/guide.js'
import {temporaryFolder} from '../support/temporary.js'

const answered = new Map<readonly HeldOut[], Promise<Asked>>()

/** What the guide answers; each list of questions is asked once. */
function answersTo(questions: readonly HeldOut[]): Promise<Asked> {
  const asked = answered.get(questions) ?? askAll(guideRun, questions)
  answered.set(questions, asked)
  return asked
}

/** Nine of ten answers of the guide hold their key, and at most two of ten of its base model. */
export async function testAnswers(test: TestContext, questions: readonly HeldOut[]): Promise<void> {
  const {share, missed} = await answersTo(questions)
  assert.ok(share >= 0.9, JSON.stringify(missed, undefined, 1))
  const base = await temporaryFolder(test)
  await linkBase(base)
  assert.ok((await askAll(base, questions)).share <= 0.2)
}

/** The guide answers the same with its adapter apart and merged. */
export async function testMerged(test: TestContext, questions: readonly HeldOut[]): Promise<void> {
  const folder = await temporaryFolder(test)
  const source = {run: guideRun, ignoreEvalGate: false, cwd: folder}
  await mergeAdapter({source, output: 'whole', full: true, dtype: 'F32', untie: false, overwrite: false})
  const [apart, merged] = [await answersTo(questions), await askAll(join(folder, 'whole'), questions)]
  assert.deepEqual(merged, apart)
}
