import type {TestContext} from 'node:test'
import {type LanguageModel, loadLanguageModel} from '../../src/llm/index.js'
import type {LoadOptions} from '../../src/llm/load-options.js'

/** Loads a model until the end of a test. */
export async function loadModel(
  test: Pick<TestContext, 'after'>,
  folder: string,
  options: Partial<LoadOptions>,
): Promise<LanguageModel> {
  const model = await loadLanguageModel(folder, {threads: 1, numCtx: 0, ...options})
  test.after(async () => {
    await model.idle()
    await model.release()
  })
  return model
}
