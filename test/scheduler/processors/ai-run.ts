import assert from 'node:assert/strict'
import type {ServerResponse} from 'node:http'
import type {TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import {SvcError} from '../../../src/errors/index.js'
import {resolveEndpoint} from '../../../src/inference-client/index.js'
import {type AiOptions, aiProcessor} from '../../../src/scheduler/processors/ai.js'
import {type Answer, scriptedInference} from '../../support/scripted-inference.js'
import {aTask, recordedReport, unstopped} from './a-task.js'

export const processorFor = (url: string, options: Partial<AiOptions> = {}, env: Record<string, string> = {}) =>
  aiProcessor({
    endpoint: resolveEndpoint({env: {SVC_INFERENCE_URL: url, SVC_INFERENCE_MODEL: 'run-a', ...env}}).endpoint,
    prices: {},
    costPreference: 'performance',
    ...options,
  })

export const line = (value: unknown) => `${JSON.stringify(value)}\n`

/** Writes the same data repeatedly until the client disconnects. */
export async function forever(response: ServerResponse, text: string): Promise<void> {
  while (!response.destroyed) {
    if (!response.write(text)) await Promise.race([sleep(5), new Promise((resolve) => response.once('drain', resolve))])
  }
}

export const linesWithoutText: Answer = (response) =>
  forever(response, line({response: '', done: false, rest: 'x'.repeat(65_000)}))

/** Runs a task that must fail; returns its error. */
export async function failure(test: TestContext, answer: Answer, options: Partial<AiOptions> = {}) {
  const server = await scriptedInference(test, answer)
  const report = recordedReport()
  const error = await processorFor(server.baseUrl, options)
    .run(aTask(), report, unstopped)
    .then(
      () => assert.fail('it should have failed'),
      (thrown: unknown) => thrown,
    )
  assert.ok(error instanceof SvcError, String(error))
  return {error, report, server}
}
