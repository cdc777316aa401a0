import type {Handoff} from '../../tasks/index.js'
import type {ResultOf} from '../context.js'
import {type Operation, operation} from '../operation.js'
import {agentId, flag, integer, list, object, taskId, text} from '../schema.js'
import {task} from '../shapes.js'

const maxJsonLength = 131_072
const lines = (description: string) => list(text(undefined, {maxLength: 512}), description, {maxItems: 32})

/** Handing tasks over between agents. */
export const handoffOperations: readonly Operation[] = [
  operation<Handoff, ResultOf<'handoffTask'>>({
    name: 'handoff_task',
    title: 'Hand a task over',
    summary: 'Hand a task over to another agent, with a plan and verification criteria.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        task_id: taskId,
        from_agent_id: {...agentId, description: 'Agent that has the task: its name, or its id such as A-03.'},
        to_agent_id: {...agentId, description: 'Agent that receives the task: its name, or its id such as A-03.'},
        generation: integer('Generation of the claim; required while the task is claimed.', {minimum: 1}),
        plan_summary: text('What was done and what comes next.', {maxLength: 8192}),
        unresolved_objectives: lines('Objectives that are still open.'),
        verification_criteria: lines('Criteria that the finished task must meet.'),
        context_envelope_json: text('Context for the receiver, a JSON object.', {maxLength: maxJsonLength}),
        harness_spec_json: text(
          'Required checks, required artifacts and acceptance lines, a JSON object. It can only add to what the task owes.',
          {maxLength: maxJsonLength},
        ),
      },
      {required: ['task_id', 'from_agent_id', 'to_agent_id', 'plan_summary', 'verification_criteria']},
    ),
    output: object(
      {accepted: flag(), reasons: list(text(), 'Why the hand-over was not accepted.'), task},
      {required: ['accepted', 'reasons', 'task']},
    ),
    bindings: {
      rpc: {method: 'orch.handoff_task'},
      tool: {name: 'svc_agent_handoff', tier: 'dev', lane: 'workflow'},
    },
    run: (input, {modules, orchestrator}) => modules.tasks.handoffTask(orchestrator, input),
  }),
]
