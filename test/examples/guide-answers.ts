import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {mergeAdapter} from '../../src/weights/index.js'
import {type Asked, askAll, guideRun, type HeldOut, linkBase} from '../support/guide.js'
import {temporaryFolder} from '../support/temporary.js'

const answered = new Map<readonly HeldOut[], Promise<Asked>>()

/** Cached answers of the guide by list of questions. */
function answersTo(questions: readonly HeldOut[]): Promise<Asked> {
  const asked = answered.get(questions) ?? askAll(guideRun, questions)
  answered.set(questions, asked)
  return asked
}

/** Asserts that nine of ten answers of the guide contain the key fact, and at most two of ten of its base model. */
export async function testAnswers(test: TestContext, questions: readonly HeldOut[]): Promise<void> {
  const {share, missed} = await answersTo(questions)
  assert.ok(share >= 0.9, JSON.stringify(missed, undefined, 1))
  const base = await temporaryFolder(test)
  await linkBase(base)
  assert.ok((await askAll(base, questions)).share <= 0.2)
}

/** Asserts that the guide gives the same answers with a separate and a merged adapter. */
export async function testMerged(test: TestContext, questions: readonly HeldOut[]): Promise<void> {
  const folder = await temporaryFolder(test)
  const source = {run: guideRun, ignoreEvalGate: false, cwd: folder}
  await mergeAdapter({source, output: 'whole', full: true, dtype: 'F32', untie: false, overwrite: false})
  const [apart, merged] = [await answersTo(questions), await askAll(join(folder, 'whole'), questions)]
  assert.deepEqual(merged, apart)
}
