import assert from 'node:assert/strict'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {
  type Assistant,
  assistantFragment,
  type Journey,
  type ModelUsage,
  openAssistant,
  type Work,
} from '../../../src/assistant/index.js'
import {type ErrorCode, isErrorOf, type SvcError} from '../../../src/errors/index.js'
import {openStore} from '../../../src/store/index.js'
import {telemetryFragment} from '../../../src/telemetry/index.js'
import {temporaryFolder} from '../../support/temporary.js'

export interface TestAssistant {
  assistant: Assistant
  root: string
  /** Costs emitted as events. */
  costs: ModelUsage[]
  /** Work for which a model was chosen. */
  works: Work[]
}

export interface TestOptions {
  /** URL of the inference server. */
  url?: string
  env?: Readonly<Record<string, string>>
  /** An existing workspace. */
  root?: string
  isKept?: boolean
  repositoryId?: string
  now?: () => number
}

/** Default time of a test, Unix ms. */
export const nowMs = 1_764_000_000_500

/** Prices in US dollars per token. Other models are free. */
const prices: Readonly<Record<string, number>> = {'run-a': 0.001, 'run-b': 0.0001}

/** Opens an assistant in a workspace with its own store. */
export async function openTestAssistant(
  test: Pick<TestContext, 'after'>,
  {
    url = 'http://127.0.0.1:9',
    env = {},
    root,
    isKept = true,
    repositoryId = 'repo-1',
    now = () => nowMs,
  }: TestOptions = {},
): Promise<TestAssistant> {
  const folder = root ?? (await temporaryFolder(test))
  const store = await openStore(join(folder, '.svc', 'store.db'), [assistantFragment, telemetryFragment])
  test.after(() => store.close())
  const costs: ModelUsage[] = []
  const works: Work[] = []
  const assistant = await openAssistant(
    {store, repositoryId, root: folder, isKept, now},
    {env: {SVC_INFERENCE_URL: url, SVC_INFERENCE_MODEL: 'run-a', ...env}},
    {
      chooseModel(registry, work) {
        works.push(work)
        return (work.economy ? registry.at(-1) : registry[0])?.id ?? ''
      },
      costOf: (model, tokens) => tokens * (prices[model] ?? 0),
      onCost: (usage) => costs.push(usage),
    },
  )
  return {assistant, root: folder, costs, works}
}

export const journeyOf = (members: Partial<Journey> = {}): Journey => ({
  envelope_version: 1,
  journey_id: 'journey-1',
  session_id: 'default',
  repository_id: 'repo-1',
  origin_surface: 'mcp',
  ...members,
})

/** Hooks of a call that is never aborted. */
export const unstopped: {signal: AbortSignal} = {signal: new AbortController().signal}

/** Asserts that the call rejects with this error code, and returns the error. */
export async function refused<C extends ErrorCode>(code: C, call: Promise<unknown>): Promise<SvcError<C>> {
  const thrown = await call.then(
    () => assert.fail(`the call succeeded, ${code} was expected`),
    (error: unknown) => error,
  )
  assert.ok(isErrorOf(thrown, code), `${code} was expected, not ${(thrown as Error).stack}`)
  return thrown
}

/** All stored conversations, messages and usage records. */
export const kept = ({assistant: {store}}: TestAssistant) => ({
  conversations: store.all<Record<string, unknown>>('SELECT * FROM conversations ORDER BY id'),
  messages: store.all<Record<string, unknown>>('SELECT * FROM conversation_messages ORDER BY id'),
  interactions: store.all<Record<string, unknown>>('SELECT * FROM llm_interactions ORDER BY id'),
})
