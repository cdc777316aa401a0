import type {Adequacy} from '../drafting/adequacy.js'
import type {DraftStep} from '../drafting/step.js'
import type {PlanDepth} from '../vocabulary.js'

/** The system prompt, the same for every question. */
export const planSystem = `You break a goal into steps that workers can do one after the other without asking back.
Answer with a JSON array between <execute> and </execute>, and with nothing else.`

const depths: Readonly<Record<PlanDepth, string>> = {
  minimal: 'Make as few steps as the goal allows.',
  standard: 'Make every step one piece of work with one result.',
  deep: 'Make every step so small that one person can do it and check it in a short time, and miss nothing.',
}

const form = `Each element of the array is an object:
{"id": 1, "description": "what is to be done, beginning with a verb", "files": ["path/of/a/file.ts"], "category": "codegen", "estimated_complexity": 4, "depends_on": []}
- id: whole numbers from 1; depends_on: ids of the steps that come first.
- files: paths relative to the root of the workspace that the step reads or writes; [] where none is known.
- category: general, codegen, testing, debugging, typechecking, research, parsing, review or planning.
- estimated_complexity: 1 to 10.
Let the last step check the work.`

export interface PlanQuestion {
  goal: string
  /** Files of the goal. */
  scope: readonly string[]
  /** Maximum number of steps. */
  limit: number
  depth: PlanDepth
}

const maxScopeFiles = 400

/** The first prompt. */
export function firstPrompt({goal, scope, limit, depth}: PlanQuestion): string {
  const rest = scope.length - maxScopeFiles
  const files = [...scope.slice(0, maxScopeFiles), ...(rest > 0 ? [`and ${rest} more`] : [])]
  return paragraphs(
    ['Goal:', goal],
    scope.length === 0 ? [] : ['Files that it is about:', ...files],
    [`${depths[depth]} At most ${limit} steps.`],
    [form],
  )
}

/** Joins paragraphs of lines; paragraphs without lines are omitted. */
const paragraphs = (...lines: readonly (readonly string[])[]): string =>
  lines
    .filter(({length}) => length > 0)
    .map((each) => each.join('\n'))
    .join('\n\n')

/** The prompt after an answer that is not a plan. */
export const againPrompt = (question: string, fault: string): string =>
  paragraphs([question], [`Your last answer could not be used: ${fault}. Answer once more, with the JSON array alone.`])

/** The prompt to refine a plan with gaps. */
export function refinePrompt(question: PlanQuestion, steps: readonly DraftStep[], {codes, gaps}: Adequacy): string {
  const plan = JSON.stringify(steps.map(asElement))
  const faults = [
    ...codes.map((code) => `- the plan: ${code}`),
    ...gaps.map(({step, gaps: left}) => `- step ${step}: ${left.join(', ')}`),
  ]
  const wrong =
    faults.length === 0
      ? ['Look for what it misses, and for steps that are too large or too vague.']
      : ['What is wrong with it:', ...faults]
  return paragraphs([firstPrompt(question)], ['The plan so far:', plan], wrong, ['Write the whole plan anew, better.'])
}

const asElement = ({description, files, category, complexity, dependsOn}: DraftStep, place: number) => ({
  id: place + 1,
  description,
  files: files.map(({path}) => path),
  category,
  estimated_complexity: complexity,
  depends_on: dependsOn.map((each) => each + 1),
})
