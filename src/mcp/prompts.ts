import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ContentBlock, Prompt} from '@modelcontextprotocol/server'
import {SvcError} from '../errors/index.js'
import {packageRoot} from '../files/index.js'
import type {OperationBase} from '../operations/index.js'
import type {Task} from '../tasks/index.js'
import type {Completable} from './completion.js'
import {jsonType} from './resources/list.js'
import {taskUri} from './resources/uri.js'
import type {CallingClient} from './tool.js'

interface PromptArgument {
  name: string
  description: string
  required?: true
  completes?: Completable
}

/** What a prompt is written with. */
export interface PromptWriter {
  open(): Promise<OperationBase>
  client?: CallingClient | undefined
}

/** Prompt template: a request of the user to the model, with the context it needs. */
export interface PromptRow {
  name: string
  title: string
  description: string
  arguments: readonly PromptArgument[]
  /** Writes the content of the user message. @throws task_not_found and other errors of the store */
  write(args: Readonly<Record<string, string>>, writer: PromptWriter): Promise<ContentBlock[]>
}

const text = (words: string): ContentBlock => ({type: 'text', text: words})

const taskPart = (task: Task): ContentBlock => ({
  type: 'resource',
  resource: {uri: taskUri(task.id), mimeType: jsonType, text: JSON.stringify(task, null, 2)},
})

async function readTask(id: string, open: () => Promise<OperationBase>): Promise<Task> {
  const {modules, orchestrator} = await open()
  return modules.tasks.requireTask(orchestrator, modules.tasks.parseTaskId(id))
}

/** Example from which the model learns the data language. */
const exampleProgram = join(packageRoot, 'examples', 'todo.svc')

export const prompts: readonly PromptRow[] = [
  {
    name: 'settle_doubt',
    title: 'Resolve a doubt',
    description: 'Investigate a task in doubt, decide with the user, and resolve the doubt.',
    arguments: [{name: 'task_id', description: 'Task id: 42 or T-0042.', required: true, completes: 'doubted_task'}],
    async write({task_id = ''}, {open}) {
      const task = await readTask(task_id, open)
      const {id, display_id, status_reason: reason} = task
      return [
        taskPart(task),
        text(`The task ${display_id} is in doubt${reason === undefined ? '' : `: ${reason}`}.

Read the files and the transcript of the task to find out whether its work is correct. If only a person can decide, ask
me: list the options and the consequences of each. Then call svc_resolve_doubt with task_id ${id}. Set validated to true
if the work is correct as it is, otherwise to false. Write the decision into report, a few sentences for the agent.`),
      ]
    },
  },
  {
    name: 'plan_goal',
    title: 'Plan a goal',
    description: 'Break a goal into steps that agents can complete one at a time.',
    arguments: [
      {name: 'goal', description: 'Goal to reach.', required: true},
      {name: 'agent', description: 'Name of the agent to assign the tasks to.', completes: 'agent'},
    ],
    async write({goal = '', agent}) {
      return [
        text(`Plan this goal: ${goal}

First read the files it affects. Call svc_plan with the goal and the files in its scope, then review the plan strictly:
is a step missing, too large to verify, or in the wrong order? Improve it with svc_replan until it has none of these
problems. Show me the steps and the risks, and wait for my approval before you submit anything.${
          agent === undefined ? '' : `\nAssign the tasks to the agent ${agent}.`
        }`),
      ]
    },
  },
  {
    name: 'write_program',
    title: 'Write a program in the data language',
    description: 'Write a program with tables, endpoints and tests from a description of its purpose.',
    arguments: [{name: 'purpose', description: 'Purpose of the program.', required: true}],
    async write({purpose = ''}) {
      const example = await readFile(exampleProgram, 'utf8')
      return [
        {
          type: 'resource',
          resource: {uri: 'file:///examples/todo.svc', mimeType: 'text/plain', text: example},
        },
        text(`Write a program in svc's data language for this purpose: ${purpose}

The program above shows the language: @table types with typed columns, @index, @endpoint functions of the kinds query
(read-only), mutation (one transaction) and server, http routes, and @test functions. A Result contains a value or the
reason for a refusal; Option[T] is an optional value. Every endpoint that changes data must validate its arguments,
and every rule must have a @test. Save it as src/main.svc, check it with \`svc db check\`, run its tests with \`svc db test\`,
and fix all errors.`),
      ]
    },
  },
  {
    name: 'review_task',
    title: 'Review a task',
    description: 'Check the result of a task against its description.',
    arguments: [
      {name: 'task_id', description: 'Task id: 42 or T-0042.', required: true, completes: 'task'},
      {name: 'agent', description: 'Name of the agent to fix the problems found.', completes: 'agent'},
    ],
    async write({task_id = '', agent}, {open}) {
      const task = await readTask(task_id, open)
      const {id, display_id} = task
      const next = agent === undefined ? '' : ` for the agent ${agent} (agent_name)`
      return [
        taskPart(task),
        text(`Review ${display_id}: compare its result with its description, sentence by sentence. Read the files, run
the code and tests, and do not rely on summaries. List what is missing or wrong with its location, most severe first.
If you cannot tell whether the work is correct, call svc_doubt_task with task_id ${id} and describe the doubt.
Otherwise submit each fix with svc_submit_task${next}, one task per problem.`),
      ]
    },
  },
]

/** Entry of `prompts/list`. */
export const listPrompt = ({write: _, arguments: args, ...prompt}: PromptRow): Prompt => ({
  ...prompt,
  arguments: args.map(({completes: __, ...argument}) => argument),
})

/** Writes the message of a prompt. @throws prompt_invalid, task_not_found */
export async function writePrompt(
  rows: readonly PromptRow[],
  name: string,
  args: Readonly<Record<string, string>>,
  writer: PromptWriter,
): Promise<{description: string; content: ContentBlock[]}> {
  const prompt = rows.find((row) => row.name === name)
  if (prompt === undefined) throw new SvcError('prompt_invalid', {name, fault: 'the prompt does not exist'})
  const missing = prompt.arguments.find((argument) => argument.required && (args[argument.name] ?? '').trim() === '')
  if (missing !== undefined)
    throw new SvcError('prompt_invalid', {name, fault: `the argument ${missing.name} is missing`})
  return {description: prompt.description, content: await prompt.write(args, writer)}
}
