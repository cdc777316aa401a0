import type {TestContext} from 'node:test'
import {
  type Consumer,
  type SendRequest,
  type Sent,
  sendMessage,
  spawnAgent,
} from '../../../../src/orchestrator/index.js'
import {openTestOrchestrator, type TestOptions, type TestOrchestrator} from '../../support/open-test-orchestrator.js'

export type Agents = TestOrchestrator & {
  /** Sends from anna to bert. */
  say(payload: string, request?: Partial<SendRequest>): Sent
}

/** A workspace with the agents anna (1), bert (2) and carl (3). */
export async function openWithAgents(test: Pick<TestContext, 'after'>, options: TestOptions = {}): Promise<Agents> {
  const orchestrator = await openTestOrchestrator(test, options)
  for (const name of ['anna', 'bert', 'carl']) spawnAgent(orchestrator, {name})
  return {
    ...orchestrator,
    say: (payload, request = {}) =>
      sendMessage(orchestrator, {sender: 'anna', receiver: 'bert', type: 'free_form', payload, ...request}),
  }
}

/** Someone who reads. */
export const consumer = (owner = 'tester', limit = 256): Consumer => ({owner, limit})

/** Gives an agent a session, as an assistant that works for it would have. */
export const giveSession = ({store}: TestOrchestrator, agent: string, session: string): void => {
  store.run('UPDATE orch_agents SET session_id = ? WHERE name = ?', [session, agent])
}
