import type {CanonicalSteps} from '../../journeys/index.js'
import type {LoggedOperation} from '../../orchestrator/index.js'
import {type Operation, operation} from '../operation.js'
import {flag, integer, list, object, text} from '../schema.js'
import {loggedOperation} from '../shapes.js'

const step = object(
  {step_id: text(), ordinal: integer(), actor: text(), primary_operation_id: text(), maturity: text()},
  {required: ['step_id', 'ordinal', 'actor', 'maturity'], open: true},
)

const reversed = object({ok: flag(), operation: loggedOperation}, {required: ['ok', 'operation']})
const which = object(
  {
    op_id: text('Operation id, such as OP-000007 or 7, or id of a submitted task, such as T-0042.', {
      minLength: 1,
      maxLength: 32,
    }),
  },
  {required: ['op_id']},
)

interface Which {
  op_id: string
}
interface Reversed {
  ok: true
  operation: LoggedOperation
}

export const journeyOperations: readonly Operation[] = [
  operation<{journey_id?: string}, CanonicalSteps>({
    name: 'journey_canonical_steps',
    title: 'List journey steps',
    summary: 'List the steps of a journey with the operation for each.',
    effect: 'read',
    idempotent: true,
    input: object({journey_id: text('Id of the journey; default: the canonical journey.', {maxLength: 512})}),
    output: object({journey_id: text(), steps: list(step)}, {required: ['journey_id', 'steps']}),
    bindings: {
      rpc: {method: 'orch.journey.canonical_steps'},
      tool: {name: 'svc_journey_canonical_steps', tier: 'core', lane: 'workflow'},
      cli: {command: 'orch journey', renames: {id: 'journey_id'}, args: ['id']},
    },
    run: ({journey_id}, {modules, orchestrator}) => modules.journeys.canonicalSteps(orchestrator, journey_id),
  }),
  operation<Which, Reversed>({
    name: 'undo_operation',
    title: 'Undo an operation',
    summary: 'Undo a priority change, pause, spawned agent or submission.',
    effect: 'write',
    idempotent: false,
    input: which,
    output: reversed,
    bindings: {
      rpc: {method: 'orch.undo_operation'},
      tool: {name: 'svc_undo_operation', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch undo', renames: {op: 'op_id'}, args: ['op']},
    },
    run: ({op_id}, {modules, orchestrator}) => ({ok: true, operation: modules.undoOperation(orchestrator, op_id)}),
  }),
  operation<Which, Reversed>({
    name: 'redo_operation',
    title: 'Redo an operation',
    summary: 'Redo an undone operation.',
    effect: 'write',
    idempotent: false,
    input: which,
    output: reversed,
    bindings: {
      rpc: {method: 'orch.redo_operation'},
      tool: {name: 'svc_redo_operation', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch redo', renames: {op: 'op_id'}, args: ['op']},
    },
    run: ({op_id}, {modules, orchestrator}) => ({ok: true, operation: modules.redoOperation(orchestrator, op_id)}),
  }),
  operation<{limit?: number}, {operations: LoggedOperation[]}>({
    name: 'list_operations',
    title: 'List operations',
    summary: 'List operations that can be undone or redone, newest first.',
    effect: 'read',
    idempotent: true,
    input: object({limit: integer('Maximum number of operations.', {minimum: 1, maximum: 1000, default: 50})}),
    output: object({operations: list(loggedOperation)}, {required: ['operations']}),
    bindings: {
      rpc: {method: 'orch.oplog'},
      tool: {name: 'svc_oplog', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch oplog'},
    },
    run: ({limit = 50}, {modules, orchestrator}) => ({operations: modules.listOperations(orchestrator, {limit})}),
  }),
]
