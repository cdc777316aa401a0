import {startThread} from '../process/index.js'
import {failure} from './failure.js'
import type {LoadOptions} from './load-options.js'
import type {ModelDescription} from './model-description.js'

/**
 * Describes a model without loading its weights, in a thread of its own: large tokenizers take long to read.
 * @throws what `readModelFiles` throws
 */
export async function describeModelFiles(
  model: string,
  {onProgress: _, ...options}: LoadOptions,
): Promise<ModelDescription> {
  const program = new URL('./describe-worker.js', import.meta.url)
  const {description, exited} = await startThread<ModelDescription>(program, {data: {model, options}, failure})
  await exited
  return description
}
