import {clearDecision} from '../contracts/index.js'
import type {Question as AgentQuestion, Task} from '../tasks/index.js'
import type {OperationBase, Question} from './context.js'
import {object} from './schema.js'

/** What a task waits for a person to decide. */
export interface OpenQuestion {
  /** Unique among all questions about the task. */
  readonly key: string
  readonly question: Question
  /** Applies an answer that matches the schema of the question. @throws the errors of the operation */
  answer(content: Readonly<Record<string, unknown>>): void
}

/** The question about a doubt. */
export const doubtForm = ({display_id, description, status_reason}: Task): Question => ({
  message: `${display_id} is in doubt${status_reason === undefined ? '' : `: ${status_reason}`}.\n\n${description}`,
  schema: object(
    {
      validated: {type: 'boolean', title: 'The work is correct as it is'},
      report: {type: 'string', title: 'Findings for the agent', minLength: 1},
    },
    {required: ['validated', 'report'], open: true},
  ),
})

/** The question of an agent. If it has a fixed list of options, the form offers it. */
export function questionForm({prompt, options}: AgentQuestion): Question {
  const labels = options.map(({label}) => label)
  const isFixed = options.length > 0 && !options.some(({is_other}) => is_other)
  const hint = isFixed || options.length === 0 ? '' : `\n\nSuggested answers: ${labels.join(', ')}`
  return {
    message: `${prompt}${hint}`,
    schema: object(
      {answer: {type: 'string', title: 'Answer', ...(isFixed ? {enum: labels} : {minLength: 1})}},
      {required: ['answer'], open: true},
    ),
  }
}

const approvalForm = ({display_id, description, status_reason}: Task): Question => ({
  message: `${display_id} waits for approval${status_reason === undefined ? '' : ` (${status_reason})`}.\n\n${description}`,
  schema: object(
    {approve: {type: 'boolean', title: 'Run the task; otherwise it is cancelled'}},
    {required: ['approve'], open: true},
  ),
})

/** The decision that a task waits for; undefined if it waits for none. */
export function openQuestionOf(base: OperationBase, task: Task): OpenQuestion | undefined {
  if (task.status === 'Doubted') return aboutDoubt(base, task)
  if (task.status !== 'BlockedOnApproval') return undefined
  const id = base.modules.tasks.questionOfReason(task.status_reason ?? null)
  return id === undefined ? aboutApproval(base, task) : ofAgent(base, task, id)
}

function aboutDoubt({modules: {tasks}, orchestrator}: OperationBase, task: Task): OpenQuestion {
  const doubts = tasks.readEvents(orchestrator, {taskId: task.id, types: ['task_doubted']})
  return {
    key: `doubt-${doubts.at(-1)?.id ?? 0}`,
    question: doubtForm(task),
    answer({validated, report}) {
      const decision = clearDecision(validated)
      if (decision !== undefined)
        tasks.resolveDoubt(orchestrator, task.id, {validated: decision, report: String(report)})
    },
  }
}

function aboutApproval({modules: {tasks}, orchestrator}: OperationBase, task: Task): OpenQuestion {
  return {
    key: `approval-${task.retry_count}-${task.generation}`,
    question: approvalForm(task),
    answer({approve}) {
      const decision = clearDecision(approve)
      if (decision === true) tasks.approveTask(orchestrator, task.id, tasks.localUser())
      if (decision === false) tasks.cancelTask(orchestrator, task.id, {reason: 'not approved', by: 'person'})
    },
  }
}

function ofAgent({modules: {tasks}, orchestrator}: OperationBase, task: Task, id: string): OpenQuestion | undefined {
  const asked = tasks.pendingQuestions(orchestrator, {taskId: task.id}).find(({question_id}) => question_id === id)
  if (asked === undefined) return undefined
  return {
    key: `question-${id}`,
    question: questionForm(asked),
    answer({answer}) {
      tasks.answerQuestion(orchestrator, {question_id: id, answer: String(answer)})
    },
  }
}
