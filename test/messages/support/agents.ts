import type {TestContext} from 'node:test'
import type {MessageContext} from '../../../src/messages/context.js'
import {
  type Acknowledged,
  type AckRequest,
  ackRouted,
  type Consumer,
  type SendRequest,
  type Sent,
  sendRouted,
} from '../../../src/messages/index.js'
import {spawnAgent} from '../../../src/orchestrator/index.js'
import {
  openTestOrchestrator,
  type TestOptions,
  type TestOrchestrator,
} from '../../orchestrator/support/open-test-orchestrator.js'

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
      sendHere(orchestrator, {sender: 'anna', receiver: 'bert', type: 'free_form', payload, ...request}),
  }
}

const nowhere = {sources: {env: {}}}

/** Sends within this machine, which is synchronous. */
export const sendHere = (orchestrator: MessageContext, request: SendRequest): Sent =>
  atOnce(sendRouted(orchestrator, request, nowhere))

/** Acknowledges a message of this machine, which is synchronous. */
export const ackHere = (orchestrator: MessageContext, request: AckRequest, owner: string): Acknowledged =>
  atOnce(ackRouted(orchestrator, request, owner, nowhere))

function atOnce<T extends object>(answer: T | Promise<T>): T {
  if (answer instanceof Promise) throw new TypeError('the call went over the mesh')
  return answer
}

/** A reader of inboxes. */
export const consumer = (owner = 'tester', limit = 256): Consumer => ({owner, limit})

/** Sets the session of an agent, as an assistant that works for it would. */
export const giveSession = ({store}: TestOrchestrator, agent: string, session: string): void => {
  store.run('UPDATE orch_agents SET session_id = ? WHERE name = ?', [session, agent])
}
