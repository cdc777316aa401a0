import {readFile} from 'node:fs/promises'
import {join} from 'node:path'
import type {ContentBlock, Prompt} from '@modelcontextprotocol/sdk/types.js'
import {SvcError} from '../errors/index.js'
import {packageRoot} from '../files/index.js'
import type {OperationBase} from '../operations/index.js'
import type {Task} from '../tasks/index.js'
import type {Completable} from './completion.js'
import {jsonType} from './resources/list.js'
import {taskUri} from './resources/uri.js'

interface PromptArgument {
  name: string
  description: string
  required?: true
  completes?: Completable
}

/** Something that a person asks a model to do, with the facts that it needs. */
export interface PromptRow {
  name: string
  title: string
  description: string
  arguments: readonly PromptArgument[]
  /** Parts of the message of the user. @throws task_not_found and the like */
  write(given: Readonly<Record<string, string>>, open: () => Promise<OperationBase>): Promise<ContentBlock[]>
}

const text = (words: string): ContentBlock => ({type: 'text', text: words})

const taskPart = (task: Task): ContentBlock => ({
  type: 'resource',
  resource: {uri: taskUri(task.id), mimeType: jsonType, text: JSON.stringify(task, null, 2)},
})

async function readTask(given: string, open: () => Promise<OperationBase>): Promise<Task> {
  const {modules, orchestrator} = await open()
  return modules.tasks.requireTask(orchestrator, modules.tasks.parseTaskId(given))
}

/** A program to learn the language from. */
const exampleProgram = join(packageRoot, 'examples', 'todo.svc')

export const prompts: readonly PromptRow[] = [
  {
    name: 'settle_doubt',
    title: 'Settle a doubt',
    description: 'Look into a task that is in doubt, decide with the user, and settle it.',
    arguments: [{name: 'task_id', description: 'The task: 42 or T-0042.', required: true, completes: 'doubted_task'}],
    async write({task_id = ''}, open) {
      const task = await readTask(task_id, open)
      const {id, display_id, status_reason: reason} = task
      return [
        taskPart(task),
        text(`The task ${display_id} is in doubt${reason === undefined ? '' : `: ${reason}`}.

Find out what is right: read the files of the task and what its transcript says. Where only a person can decide, ask me,
with the choices that there are and what each would mean. Then call svc_resolve_doubt with task_id ${id}: validated true
where the work is sound as it stands, else false; and a report that tells the agent in a few sentences what holds.`),
      ]
    },
  },
  {
    name: 'plan_goal',
    title: 'Plan a goal',
    description: 'Break a goal into steps that agents can work through one by one.',
    arguments: [
      {name: 'goal', description: 'What is to be reached.', required: true},
      {name: 'agent', description: 'Name of the agent that should get the tasks.', completes: 'agent'},
    ],
    async write({goal = '', agent}) {
      return [
        text(`Plan this goal: ${goal}

Read what it touches first. Call svc_plan with the goal and the files in its scope, and look at the plan as a strict
reviewer: is a step missing, too large to be checked, or in the wrong order? Improve it with svc_replan until it is sound.
Show me the steps, say what could go wrong, and wait for my consent before anything is submitted.${
          agent === undefined ? '' : `\nThe tasks go to the agent ${agent}.`
        }`),
      ]
    },
  },
  {
    name: 'write_program',
    title: 'Write a program of the data language',
    description: 'Write a program with tables, endpoints and tests, from what it should do.',
    arguments: [{name: 'purpose', description: 'What the program is for.', required: true}],
    async write({purpose = ''}) {
      const example = await readFile(exampleProgram, 'utf8')
      return [
        {
          type: 'resource',
          resource: {uri: 'file:///examples/todo.svc', mimeType: 'text/plain', text: example},
        },
        text(`Write a program of the data language of svc for this: ${purpose}

The program above shows the language: @table types whose columns have types, @index, @endpoint functions of the kinds
query (only reads), mutation (one transaction) and server, http routes, and @test functions. A Result says why something
was refused; Option[T] is a value that may be missing. Every endpoint that changes something checks its arguments first,
and every rule has a @test. Save it as src/main.svc, check it with svc db check, run its tests with svc db test, and
put right what they find.`),
      ]
    },
  },
  {
    name: 'review_task',
    title: 'Review a task',
    description: 'Check what came of a task against what was asked.',
    arguments: [
      {name: 'task_id', description: 'The task: 42 or T-0042.', required: true, completes: 'task'},
      {name: 'agent', description: 'Name of the agent that should put right what is wrong.', completes: 'agent'},
    ],
    async write({task_id = '', agent}, open) {
      const task = await readTask(task_id, open)
      const {id, display_id} = task
      const next = agent === undefined ? '' : ` for the agent ${agent} (agent_name)`
      return [
        taskPart(task),
        text(`Review ${display_id}: hold what came of it against its description, sentence by sentence. Look at the files
themselves and run what can be run; believe no summary. List what is missing or wrong, the gravest first, each with its
place. Where you cannot tell whether the work is right, call svc_doubt_task with task_id ${id} and say what is in doubt.
Otherwise submit what must be put right with svc_submit_task${next}, one task for each thing.`),
      ]
    },
  },
]

/** As `prompts/list` gives them. */
export const listedPrompts: readonly Prompt[] = prompts.map(({write: _, arguments: args, ...prompt}) => ({
  ...prompt,
  arguments: args.map(({completes: __, ...argument}) => argument),
}))

/** The message of a prompt. @throws prompt_invalid, task_not_found */
export async function writePrompt(
  name: string,
  given: Readonly<Record<string, string>>,
  open: () => Promise<OperationBase>,
): Promise<{description: string; content: ContentBlock[]}> {
  const prompt = prompts.find((row) => row.name === name)
  if (prompt === undefined) throw new SvcError('prompt_invalid', {name, fault: 'there is no such prompt'})
  const missing = prompt.arguments.find((argument) => argument.required && (given[argument.name] ?? '').trim() === '')
  if (missing !== undefined) throw new SvcError('prompt_invalid', {name, fault: `${missing.name} is missing`})
  return {description: prompt.description, content: await prompt.write(given, open)}
}
