import {SvcError} from '../../errors/index.js'
import type {AnsweredQuestion, PendingAgentQuestion} from '../../messages/index.js'
import type {AnswerRequest, Question, QuestionRequest} from '../../tasks/index.js'
import {submitterOf} from '../attention.js'
import type {OperationContext} from '../context.js'
import {questionForm} from '../open-question.js'
import {type Operation, operation} from '../operation.js'
import {agentId, flag, integer, list, number, object, oneOf, taskId, text} from '../schema.js'
import {question} from '../shapes.js'

const sessionId = (description: string) => text(description, {maxLength: 2048})
const questionId = text('Question id, such as Q-0007.', {minLength: 1, maxLength: 64})
const agentNamed = (description: string) => ({
  ...agentId,
  description: `${description}: its name, or its id such as A-03.`,
})
const ofTask = {...taskId, description: 'Task of the question.'}
const agentSession = sessionId('Session id of the agent; required if the agent is bound to a session.')

type AskRequest = Omit<QuestionRequest, 'options'> & {
  options?: readonly (string | NonNullable<QuestionRequest['options']>[number])[]
}

/** If someone else answers the question while the person is asked, that answer wins and a notice reports it. */
async function askPerson(asked: Question, {ask, notice, modules, orchestrator}: OperationContext): Promise<Question> {
  const answer = (await ask?.(questionForm(asked)))?.answer
  if (typeof answer !== 'string') return asked
  const {question_id} = asked
  const [current = asked] = modules.tasks
    .pendingQuestions(orchestrator, {sessionId: asked.session_id, answered: true})
    .filter((each) => each.question_id === question_id)
  if (current.answered_at_ms === undefined) return modules.tasks.answerQuestion(orchestrator, {question_id, answer})
  notice(`warning: ${question_id} has already been answered; your answer was ignored.`)
  return current
}

const pendingAgentQuestion = object(
  {
    correlation_id: text('Id to answer the question with.'),
    from_agent: integer(),
    to_agent: integer(),
    question: text(),
    asked_at_ms: integer('Unix milliseconds.'),
  },
  {required: ['correlation_id', 'from_agent', 'to_agent', 'question', 'asked_at_ms']},
)

/** Questions to a person, and questions between agents. */
export const questionOperations: readonly Operation[] = [
  operation<AskRequest, {question: Question; interrupts?: boolean}>({
    name: 'ask_question',
    title: 'Ask a question',
    summary: 'Ask the user a question, which a task can wait for.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        prompt: text('The question.', {minLength: 1, maxLength: 2048}),
        question_kind: oneOf(
          ['multiple_choice', 'open_ended', 'entry', 'assumption_confirm'],
          'Kind of the question; default: by whether it has options.',
        ),
        options: list(
          {
            ...object(
              {
                option_id: text(undefined, {minLength: 1, maxLength: 64}),
                label: text(undefined, {minLength: 1, maxLength: 256}),
                is_other: flag('The answer may be any text instead.'),
              },
              {required: ['option_id', 'label']},
            ),
            type: ['object', 'string'],
            minLength: 1,
            maxLength: 64,
          },
          'Answers to choose from; a string is both id and label.',
          {maxItems: 16},
        ),
        session_id: sessionId('Session of the question; default: that of the task.'),
        task_id: ofTask,
        expected_information_gain_bits: number('Expected information gain, in bits.', {minimum: 0}),
        expected_user_cost: number('Expected cost to the user, 0 to 1.', {minimum: 0, maximum: 1}),
        blocks: flag('The task waits for the answer, which is appended to its description.'),
      },
      {required: ['prompt']},
    ),
    output: object(
      {question, interrupts: flag('False if the question waits in the inbox, to spare the attention of the user.')},
      {required: ['question']},
    ),
    bindings: {
      rpc: {method: 'orch.questions.ask'},
      tool: {name: 'svc_questioning_ask', tier: 'dev', lane: 'workflow'},
      cli: {
        command: 'orch questions ask',
        renames: {kind: 'question_kind', option: 'options'},
        args: ['prompt'],
        hidden: ['expected_information_gain_bits', 'expected_user_cost'],
        piped: ['prompt'],
        placeholders: {session_id: 'ID'},
      },
    },
    async run({options: given, ...input}, context) {
      const {modules, orchestrator} = context
      const options = given?.map((option) => (typeof option === 'string' ? {option_id: option, label: option} : option))
      const request: QuestionRequest = {...input, ...(options === undefined ? {} : {options})}
      if (submitterOf(context) === 'person') return {question: modules.tasks.askQuestion(orchestrator, request)}
      const asked = modules.tasks.askAsAgent(orchestrator, request)
      return asked.interrupts ? {...asked, question: await askPerson(asked.question, context)} : asked
    },
  }),
  operation<{session_id?: string; answered?: boolean; limit?: number; after_id?: string}, {questions: Question[]}>({
    name: 'pending_questions',
    title: 'List questions',
    summary: 'List questions that wait for an answer, oldest first.',
    effect: 'read',
    idempotent: true,
    input: object({
      session_id: sessionId('Only questions of this session.'),
      answered: flag('Also list answered questions with their answers.'),
      limit: integer('Maximum number of questions.', {minimum: 1, maximum: 1000, default: 1000}),
      after_id: {...questionId, description: 'Only questions after this one, such as Q-0007, to get the next page.'},
    }),
    output: object({questions: list(question)}, {required: ['questions']}),
    bindings: {
      rpc: {method: 'orch.questions.pending'},
      tool: {name: 'svc_questioning_pending', tier: 'dev', lane: 'workflow'},
      cli: {command: 'orch questions', placeholders: {session_id: 'ID', after_id: 'ID'}},
    },
    run: ({session_id: sessionId, after_id: after, ...filter}, {modules, orchestrator}) => ({
      questions: modules.tasks.pendingQuestions(orchestrator, {sessionId, after, ...filter}),
    }),
  }),
  operation<AnswerRequest, {question: Question}>({
    name: 'answer_question',
    title: 'Answer a question',
    summary: 'Answer a question of an agent.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        question_id: {...questionId, description: 'Question id, such as Q-0007; default: the oldest of the session.'},
        session_id: sessionId('Session of the question.'),
        answer: text('The id or label of an option, or a text.', {minLength: 1, maxLength: 4096}),
      },
      {required: ['answer']},
    ),
    output: object({question}, {required: ['question']}),
    bindings: {
      rpc: {method: 'orch.questions.answer'},
      tool: {
        name: 'svc_questioning_submit_answer',
        tier: 'dev',
        lane: 'workflow',
        required: ['session_id'],
      },
      cli: {
        command: 'orch questions answer',
        renames: {id: 'question_id', text: 'answer'},
        args: ['id', 'text'],
        hidden: ['session_id'],
        required: ['id'],
        piped: ['text'],
      },
    },
    run: (request, {modules, orchestrator}) => ({question: modules.tasks.answerQuestion(orchestrator, request)}),
  }),
  operation<{session_id?: string; task_id?: number}, {questions: Question[]}>({
    name: 'close_questions',
    title: 'Close questions',
    summary: 'Close the questions of a session or task.',
    effect: 'destructive',
    idempotent: true,
    input: object({session_id: sessionId('Session of the questions.'), task_id: ofTask}),
    output: object({questions: list(question, 'The questions that had no answer.')}, {required: ['questions']}),
    bindings: {
      rpc: {method: 'orch.questions.close'},
      tool: {name: 'svc_questioning_close', tier: 'advanced', lane: 'workflow'},
      cli: {command: 'orch questions close', placeholders: {session_id: 'ID'}},
    },
    run({session_id, task_id}, {modules, orchestrator}) {
      if (!session_id?.trim() && task_id === undefined)
        throw new SvcError('question_invalid', {place: 'The call', fault: 'it names neither a session nor a task'})
      return {questions: modules.tasks.closeQuestions(orchestrator, {sessionId: session_id, taskId: task_id})}
    },
  }),
  operation<
    {from_agent: string | number; to_agent: string | number; question: string; agent_session_id?: string},
    PendingAgentQuestion
  >({
    name: 'ask_agent',
    title: 'Ask an agent',
    summary: 'Ask another agent a question; its answer arrives as a message with the same correlation id.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        from_agent: agentNamed('Asking agent'),
        to_agent: agentNamed('Agent to ask'),
        question: text('The question.', {minLength: 1, maxLength: 131_072}),
        agent_session_id: agentSession,
      },
      {required: ['from_agent', 'to_agent', 'question']},
    ),
    output: pendingAgentQuestion,
    bindings: {
      rpc: {method: 'orch.a2a.ask'},
      tool: {name: 'svc_ask_agent', tier: 'dev', lane: 'interop'},
    },
    run: ({from_agent: from, to_agent: to, question: asked, agent_session_id: session}, {modules, orchestrator}) =>
      modules.messages.askAgent(orchestrator, {from, to, question: asked, ...sessionOf(session)}),
  }),
  operation<{agent_id: string | number; agent_session_id?: string}, {questions: PendingAgentQuestion[]}>({
    name: 'agent_questions',
    title: 'List the questions to an agent',
    summary: 'List the unanswered questions of other agents to an agent, oldest first.',
    effect: 'read',
    idempotent: true,
    input: object({agent_id: agentId, agent_session_id: agentSession}, {required: ['agent_id']}),
    output: object({questions: list(pendingAgentQuestion)}, {required: ['questions']}),
    bindings: {
      rpc: {method: 'orch.a2a.questions'},
      tool: {name: 'svc_pending_questions', tier: 'dev', lane: 'interop'},
    },
    run: ({agent_id, agent_session_id: session}, {modules, orchestrator}) => ({
      questions: modules.messages.pendingAgentQuestions(orchestrator, agent_id, sessionOf(session)),
    }),
  }),
  operation<
    {correlation_id: string; answer: string; from_agent?: string | number; agent_session_id?: string},
    AnsweredQuestion
  >({
    name: 'answer_agent_question',
    title: 'Answer an agent',
    summary: 'Answer a question of another agent.',
    effect: 'write',
    idempotent: false,
    input: object(
      {
        correlation_id: text('Correlation id of the question.', {minLength: 1, maxLength: 512}),
        answer: text('The answer.', {minLength: 1, maxLength: 131_072}),
        from_agent: {...agentId, description: 'Answering agent; default, or 0: the agent that was asked.'},
        agent_session_id: agentSession,
      },
      {required: ['correlation_id', 'answer']},
    ),
    output: object(
      {
        correlation_id: text(),
        from_agent: integer(),
        to_agent: integer(),
        message_id: integer('Id of the durable message with the answer.'),
      },
      {required: ['correlation_id', 'from_agent', 'to_agent', 'message_id']},
    ),
    bindings: {
      rpc: {method: 'orch.a2a.answer'},
      tool: {name: 'svc_answer_question', tier: 'dev', lane: 'interop'},
    },
    run: ({correlation_id, answer, from_agent: from, agent_session_id: session}, {modules, orchestrator}) =>
      modules.messages.answerAgent(orchestrator, {
        correlationId: correlation_id,
        answer,
        ...(from === undefined ? {} : {from}),
        ...sessionOf(session),
      }),
  }),
]

const sessionOf = (session: string | undefined) => (session === undefined ? {} : {sessionId: session})
