import type {Schema} from '../contracts/index.js'
import {flag, integer, list, number, object, oneOf, text} from './schema.js'

// Shapes shared by several operations. They list only the members that callers depend on; answers have more.

export const task = object(
  {id: integer(), display_id: text(), status: text(), agent_name: text(), description: text()},
  {required: ['id', 'display_id', 'status', 'agent_name', 'description'], open: true},
)

export const agent = object(
  {id: integer(), display_id: text(), name: text(), state: text(), queued: integer(), running: integer()},
  {required: ['id', 'display_id', 'name', 'state', 'queued', 'running'], open: true},
)

export const loggedOperation = object(
  {op_id: text(), operation: text(), summary: text(), undone: flag()},
  {required: ['op_id', 'operation', 'summary', 'undone'], open: true},
)

const planStep = object(
  {id: integer(), node_id: text(), description: text(), depends_on: list(integer()), status: text()},
  {required: ['id', 'node_id', 'description', 'depends_on', 'status'], open: true},
)

export const planVersion = object(
  {version: integer(), steps: list(planStep)},
  {required: ['version', 'steps'], open: true},
)

export const message = object(
  {
    id: integer(),
    uuid: text(),
    sender: {type: ['integer', 'string']},
    receiver: {type: ['integer', 'null']},
    msg_type: text(),
    payload: text(),
    route: text(),
    delivery_plane: text(),
  },
  {required: ['id', 'sender', 'receiver', 'msg_type', 'payload', 'route', 'delivery_plane'], open: true},
)

/** How well the evidence of a session supports an answer; only `reason` without evidence. */
export const socrates = object(
  {
    risk_decision: oneOf(['answer', 'ask', 'abstain']),
    confidence_estimate: number(),
    contradiction_ratio: number(),
    band: oneOf(['low', 'medium', 'high']),
    citation_coverage: number(),
    reason: oneOf(['no_evidence_context']),
    questioning: object({}, {open: true}),
  },
  {open: true},
)

/** A question in the inbox. */
export const question = object(
  {
    question_id: text(),
    session_id: text(),
    task_id: integer(),
    question_kind: text(),
    prompt: text(),
    options: list(object({option_id: text(), label: text(), is_other: flag()}, {open: true})),
    answer: text('The id of the chosen option, or the text; absent if unanswered.'),
  },
  {required: ['question_id', 'session_id', 'question_kind', 'prompt', 'options'], open: true},
)

/** Shapes by their names in the contract of the daemon methods. */
export const shapes: Readonly<Record<string, Schema>> = {
  Task: task,
  Agent: agent,
  LoggedOperation: loggedOperation,
  PlanVersion: planVersion,
  InboxEntry: message,
  Socrates: socrates,
  Question: question,
}
