import type {ListrTask} from 'listr2'
import type {WorkflowJournalEntry} from '../contracts/index.js'
import type {Step, Workflow} from '../workflow/index.js'

type Show = (entry: WorkflowJournalEntry) => void

/** A line of the tree: a step, and the steps in it. */
interface Line {
  readonly step: Step
  readonly children: readonly Line[]
  title: string
  note: (text: string) => void
  end: (how: 'done' | 'skipped') => void
  readonly ended: Promise<'done' | 'skipped'>
}

/** Runs work and shows the steps of a workflow as a tree on standard error, if it is a terminal. */
export async function withWorkflowTree<T>(
  {steps}: Workflow,
  isEnabled: boolean,
  work: (show: Show) => Promise<T>,
): Promise<T> {
  if (!isEnabled || !process.stderr.isTTY) return work(() => undefined)
  const {DefaultRenderer, Listr, ListrLogger, ProcessOutput} = await import('listr2')
  class StderrRenderer extends DefaultRenderer {
    static override nonTTY = true
  }
  const lines = steps.map(lineOf)
  const all = lines.flatMap(withChildren)
  const logger = new ListrLogger({processOutput: new ProcessOutput(process.stderr, process.stderr)})
  const tree = new Listr(lines.map(taskOf), {
    concurrent: true,
    renderer: StderrRenderer,
    rendererOptions: {logger, collapseSubtasks: false},
    registerSignalListeners: false,
    exitOnError: false,
  })
  const drawing = tree.run()
  try {
    return await work((entry) => showEntry(entry, all))
  } finally {
    for (const line of all) line.end('skipped')
    await drawing
  }
}

function lineOf(step: Step): Line {
  let end: Line['end'] = () => undefined
  const ended = new Promise<'done' | 'skipped'>((resolve) => {
    end = resolve
  })
  return {step, children: childrenOf(step).map(lineOf), title: step.name, note: () => undefined, end, ended}
}

function childrenOf(step: Step): readonly Step[] {
  switch (step.kind) {
    case 'activity':
      return []
    case 'branch':
      return [...step.consequent, ...step.otherwise]
    case 'parallel':
      return Object.values(step.branches).flat()
    case 'for_each':
      return step.steps
  }
}

const withChildren = (line: Line): Line[] => [line, ...line.children.flatMap(withChildren)]

function taskOf(line: Line): ListrTask {
  return {
    title: line.title,
    task: async (_, task) => {
      line.note = (text) => {
        task.title = `${line.title}: ${text}`
      }
      if (line.children.length > 0)
        return task.newListr(line.children.map(taskOf), {concurrent: true, exitOnError: false})
      if ((await line.ended) === 'skipped') task.skip()
    },
  }
}

/** Updates the lines of an entry. The steps of a loop share a line, which ends with the run. */
function showEntry(
  {event, activity, activity_id: id, branch, attempt, error}: WorkflowJournalEntry,
  all: Line[],
): void {
  const line = all.find(
    ({step}) => step.name === activity && (step.id === undefined || id === step.id || isIn(id, step.id)),
  )
  if (line === undefined) return
  if (event === 'BranchDecision') {
    if (line.step.kind !== 'branch') return
    const {step} = line
    const left = branch === 'then' ? step.otherwise : step.consequent
    for (const child of line.children)
      if (left.includes(child.step)) withChildren(child).map((each) => each.end('skipped'))
  } else if (event === 'ActivityStarted') line.note('running')
  else if (event === 'ActivityAttemptFailed') line.note(`attempt ${attempt} failed: ${error}`)
  else if (event === 'ActivityCompleted' || event === 'ActivitySkipped') {
    const position = /\[\d+\]$/.exec(id ?? '')?.[0]
    if (position !== undefined) {
      line.note(`${position} done`)
      return
    }
    line.note(event === 'ActivitySkipped' ? 'skipped' : 'done')
    line.end(event === 'ActivitySkipped' ? 'skipped' : 'done')
  }
}

const isIn = (id: string | undefined, stepId: string): boolean => id?.startsWith(`${stepId}[`) ?? false
