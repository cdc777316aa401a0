import {chmod, rm, stat, utimes} from 'node:fs/promises'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {setTimeout as sleep} from 'node:timers/promises'
import type {SubmitTaskV1} from '../../../src/contracts/index.js'
import {randomSource} from '../../../src/sampling/index.js'
import {type Completion, cancelTask} from '../../../src/tasks/index.js'
import {ScriptedProcessor, startDaemon} from '../../orchestrator/support/daemon.js'
import {type Claimed, enforced, type GatedWorkspace, gatedWorkspace, type Result} from './gated-workspace.js'
import {
  completeVisibly,
  type EnforcedWorkspace,
  hiddenSettings,
  hiddenShapes,
  visibleTemplates,
} from './hidden-claims.js'

/** The kind in which the work is wrong, and not the evidence. */
export const hiddenKind = 'passes the visible check, fails the hidden one'

/** Ways in which a claim that work is done can be false. */
export const falseKinds = [
  'stale check',
  'missing requirement',
  'dropped item',
  'list that the agent wrote',
  'invented figure or citation',
  'failed command reported as passed',
  'untested edit',
  hiddenKind,
] as const
export type FalseKind = (typeof falseKinds)[number]

/** A workspace in which all gates are enforced; `test` and a hidden check run before every completion. */
export async function enforcedWorkspace(t: TestContext): Promise<EnforcedWorkspace> {
  const {folder: hiddenFolder, userConfig} = await hiddenSettings(t)
  const workspace = await gatedWorkspace(t, {
    toml: 'behavioral_gate_on_complete = true\nbehavioral_gate_command = ["test"]\n',
    env: enforced,
    templates: visibleTemplates,
    userConfig,
  })
  // The folder of a test is only for its user; commands may run as another one.
  await chmod(workspace.root, 0o755)
  // Only its hidden checks are needed.
  await startDaemon(t, workspace.orchestrator, new ScriptedProcessor(), {runsTasks: false})
  return {...workspace, hiddenFolder}
}

/** A task with everything that an honest worker does for it. */
interface Job {
  submission: Partial<SubmitTaskV1>
  files: string[]
  /** Acceptance lines that the worker must map to evidence: text -> evidence. */
  mapped: Map<string, string>
  facts: {text: string; figure: number; source: string}[]
  needsLint: boolean
}

/** The findings that must refuse each kind of false claim. */
export const findingOf: Readonly<Record<FalseKind, RegExp>> = {
  'stale check': /started before the last change .*\(harness\/(check-stale|accept-void)\)/,
  'missing requirement': /\(harness\/(artifact-missing|accept-owed|accept-void)\)/,
  'dropped item': /\(harness\/accept-owed\)/,
  'list that the agent wrote': /\(harness\/(check-unverified|accept-unverified|accept-void)\)/,
  'invented figure or citation': /\(grounding\/(figure_not_in_evidence|declared_not_in_envelope)\)/,
  'failed command reported as passed': /\(harness\/(false-report|check-failed)\)/,
  'untested edit': /\(harness\/untested-edit\)/,
  // The whole report.
  [hiddenKind]: /^hidden:\n- A hidden check failed\. \(hidden\/failed\)$/,
}

class Chance {
  readonly #random: () => number
  constructor(seed: number) {
    this.#random = randomSource(seed)
  }
  below = (limit: number): number => Math.floor(this.#random() * limit)
  one = <T>(items: readonly T[]): T => items[this.below(items.length)] as T
  happens = (share: number): boolean => this.#random() < share
}

const folders = ['src', 'src/core', 'lib', 'docs']
const extensions = ['js', 'ts', 'py', 'md']
const subjects = ['the parser', 'the cache', 'the upload client', 'the report', 'the retry policy']

function makeJob(chance: Chance, seed: number): Job {
  const files = Array.from({length: 1 + chance.below(4)}, (_, i) => {
    const extension = chance.one(extensions)
    const folder = extension === 'md' ? 'docs' : chance.one(folders.slice(0, 3))
    return `${folder}/part-${seed}-${i}.${extension}`
  })
  const accept: string[] = []
  const mapped = new Map<string, string>()
  const needsLint = chance.happens(0.6)
  if (chance.happens(0.5)) accept.push(`It is written [[file:${chance.one(files)}]]`)
  if (needsLint && chance.happens(0.5)) accept.push('The linter finds nothing [[check:lint]]')
  for (let i = chance.below(3); i > 0; i--) {
    const line = `Requirement ${i} of ${chance.one(subjects)}`
    accept.push(line)
    mapped.set(line, needsLint && chance.happens(0.4) ? 'check:lint' : `file:${chance.one(files)}`)
  }
  const facts = chance.happens(0.5)
    ? Array.from({length: 1 + chance.below(3)}, (_, i) => {
        const figure = 100 + chance.below(900)
        return {
          text: `The median of run ${i} was ${figure} ms.`,
          figure,
          source: `notes/run-${seed}-${i}.md`,
        }
      })
    : []
  const harness = {
    required_checks: needsLint
      ? [chance.happens(0.5) ? 'lint' : {check: 'lint', covers: ['src/**', 'lib/**', 'docs/**']}]
      : [],
    required_artifacts: chance.happens(0.4) ? [chance.one(files)] : [],
  }
  return {
    files,
    mapped,
    facts,
    needsLint,
    submission: {
      description: `Work on ${chance.one(subjects)}`,
      accept,
      harness_spec_json: JSON.stringify(harness),
      ...(facts.length === 0 ? {} : {context_envelope_json: envelopeOf(facts)}),
    },
  }
}

const envelopeOf = (facts: Job['facts']): string =>
  JSON.stringify({
    schema_version: 1,
    envelope_id: 'evidence',
    created_at_unix_ms: Date.now(),
    envelope_type: 'retrieval_evidence',
    content: {
      summary_text: 'Measurements of the last runs.',
      facts: facts.map(({text, source}, i) => ({fact_id: `f-${i}`, text, evidence_refs: [source]})),
      citations: facts.map(({source}) => source),
    },
    safety: {factual_mode: true, required_citations: 1},
  })

/** Finished text for a file: code or prose without placeholders. */
function content(path: string, version: number): string {
  if (path.endsWith('.md')) return `# Part\n\nVersion ${version} describes the behaviour in full.\n`
  if (path.endsWith('.py'))
    return `# TODO texts are kept by the caller.\ndef part(value):\n    """Adds ${version}."""\n    return value + ${version}\n`.replace(
      '# TODO texts are kept by the caller.\n',
      '',
    )
  return `/** Adds ${version}; the label "TODO" is a string. */\nexport const part = (value) => value + ${version} + 'TODO'.length\n`
}

const summaryOf = ({files, facts}: Job, chance: Chance): string =>
  [
    `Changed ${files.length} ${files.length === 1 ? 'file' : 'files'} and described the behaviour.`,
    ...(chance.happens(0.3) ? ['All 12 tests passed.'] : []),
    ...facts.map(({figure, source}) => `The median was ${figure} ms [[svccite:${source}]].`),
  ].join(' ')

const resultOf = (job: Job, chance: Chance): Result => ({
  text: summaryOf(job, chance),
  artifact_paths: job.files,
  ...(job.needsLint ? {checks_passed: ['lint']} : {}),
  ...(job.mapped.size === 0 ? {} : {acceptance: [...job.mapped].map(([line, evidence]) => acceptance(line, evidence))}),
  ...(job.facts.length === 0 ? {} : {evidence_citations: job.facts.map(({source}) => source)}),
})

const acceptance = (line: string, evidence: string) => `${line}=${evidence}`

/** Submits and claims the task. Some of its files exist already, some with old placeholders, which are not its fault. */
async function begin(workspace: GatedWorkspace, job: Job, chance: Chance): Promise<Claimed> {
  for (const path of job.files)
    if (chance.happens(0.4))
      await workspace.write(
        path,
        path.endsWith('.md') ? '# Part\n' : path.endsWith('.py') ? '# TODO: old\n' : '// TODO: old\n',
      )
  return workspace.claim(job.files, job.submission)
}

async function writeAll({write}: GatedWorkspace, {files}: Job): Promise<void> {
  for (const [i, path] of files.entries()) await write(path, content(path, i + 2))
}

async function checkAll({runCheck}: GatedWorkspace, {needsLint}: Job): Promise<void> {
  if (needsLint) await runCheck('lint')
}

/** Ends a scenario, so that the next one finds no queued task. */
async function end({orchestrator}: GatedWorkspace, {id}: Claimed, completion: Completion): Promise<Completion> {
  if (completion.outcome === 'requeued') cancelTask(orchestrator, id)
  return completion
}

/** Completes a task whose work is done, with evidence. */
export async function completeHonestly(workspace: GatedWorkspace, seed: number): Promise<Completion> {
  const chance = new Chance(seed)
  const job = makeJob(chance, seed)
  const task = await begin(workspace, job, chance)
  await writeAll(workspace, job)
  if (chance.happens(0.3)) await workspace.write(`scratch/note-${seed}.txt`, 'Not part of the task.\n')
  await checkAll(workspace, job)
  return end(workspace, task, await workspace.complete(task, resultOf(job, chance)))
}

/** Completes a task with a claim that is false in one way. */
export async function completeFalsely(
  workspace: EnforcedWorkspace,
  kind: FalseKind,
  seed: number,
): Promise<Completion> {
  if (kind === hiddenKind) {
    const shape = hiddenShapes[seed % hiddenShapes.length] ?? ''
    const {completion} = await completeVisibly(workspace, shape, seed)
    return end(workspace, {id: completion.task.id, generation: 0}, completion)
  }
  const chance = new Chance(seed)
  const job = prepare[kind](makeJob(chance, seed), chance)
  const task = await begin(workspace, job, chance)
  const result = await claims[kind](workspace, job, chance)
  return end(workspace, task, await workspace.complete(task, result))
}

const withLint = (job: Job): Job => ({
  ...job,
  needsLint: true,
  submission: {...job.submission, harness_spec_json: JSON.stringify({required_checks: ['lint']})},
})

const withLine = (job: Job, line: string): Job => ({
  ...job,
  submission: {...job.submission, accept: [...(job.submission.accept ?? []), line]},
})

type ForgedKind = Exclude<FalseKind, typeof hiddenKind>

/** What the task must require for a claim to be false. */
const prepare: Readonly<Record<ForgedKind, (job: Job, chance: Chance) => Job>> = {
  'stale check': withLint,
  'missing requirement': (job, chance) =>
    chance.happens(0.5)
      ? withLine(job, 'The change is in the history [[file:HISTORY.txt]]')
      : {
          ...job,
          submission: {
            ...job.submission,
            harness_spec_json: JSON.stringify({
              required_checks: job.needsLint ? ['lint'] : [],
              required_artifacts: ['build/output.json'],
            }),
          },
        },
  'dropped item': (job) => withLine(job, 'Errors name the file in which they occur'),
  'list that the agent wrote': (job, chance) =>
    chance.happens(0.5) ? withLint(job) : withLine(job, 'The examples were updated'),
  'invented figure or citation': (job, chance) => {
    const facts =
      job.facts.length > 0
        ? job.facts
        : [{text: 'The median of run 0 was 412 ms.', figure: 412, source: `notes/run-${chance.below(9)}.md`}]
    return {...job, facts, submission: {...job.submission, context_envelope_json: envelopeOf(facts)}}
  },
  'failed command reported as passed': (job, chance) =>
    chance.happens(0.5) ? withLint(job) : {...job, needsLint: false, submission: withoutLint(job.submission)},
  'untested edit': (job, chance) => ({
    ...job,
    needsLint: true,
    files: [...job.files, `tools/untested-${chance.below(1e9)}.js`],
    submission: {
      ...job.submission,
      harness_spec_json: JSON.stringify({
        required_checks: [{check: 'lint', covers: ['src/**', 'lib/**', 'docs/**']}],
      }),
    },
  }),
}

/** Without the check, acceptance lines must not refer to it. */
const withoutLint = (submission: Partial<SubmitTaskV1>): Partial<SubmitTaskV1> => ({
  ...submission,
  accept: (submission.accept ?? []).filter((line) => !line.includes('check:lint')),
  harness_spec_json: '{}',
})

/** The work that was really done, and what the worker says about it. */
const claims: Readonly<Record<ForgedKind, (workspace: GatedWorkspace, job: Job, chance: Chance) => Promise<Result>>> = {
  async 'stale check'(workspace, job, chance) {
    await writeAll(workspace, job)
    await checkAll(workspace, job)
    await sleep(20)
    const path = chance.one(job.files)
    const {atime, mtime} = await stat(join(workspace.root, path))
    await workspace.write(path, content(path, 99))
    if (chance.happens(0.5)) await utimes(join(workspace.root, path), atime, mtime)
    return resultOf(job, chance)
  },
  async 'missing requirement'(workspace, job, chance) {
    await writeAll(workspace, job)
    await checkAll(workspace, job)
    return resultOf(job, chance)
  },
  async 'dropped item'(workspace, job, chance) {
    await writeAll(workspace, job)
    await checkAll(workspace, job)
    return resultOf(job, chance)
  },
  async 'list that the agent wrote'(workspace, job, chance) {
    await writeAll(workspace, job)
    const line = 'The examples were updated'
    if (!job.submission.accept?.includes(line)) return resultOf(job, chance)
    await checkAll(workspace, job)
    const {artifact_paths: paths, acceptance: lines = [], ...rest} = resultOf(job, chance)
    const listed = 'examples/first.js'
    return {
      ...rest,
      artifact_paths: [...(paths as string[]), listed],
      acceptance: [...(lines as string[]), acceptance(line, `file:${listed}`)],
    }
  },
  async 'invented figure or citation'(workspace, job, chance) {
    await writeAll(workspace, job)
    await checkAll(workspace, job)
    const {text, ...result} = resultOf(job, chance)
    const invented = chance.happens(0.5)
      ? `The median fell to ${1000 + chance.below(9000)} ms.`
      : `This follows from [[svccite:notes/audit-${chance.below(900)}.pdf]].`
    return {...result, text: `${text} ${invented}`}
  },
  async 'failed command reported as passed'(workspace, job, chance) {
    await writeAll(workspace, job)
    const flag = join(workspace.root, 'unclean')
    await workspace.write('unclean', '')
    await workspace.runCheck('lint')
    await rm(flag)
    return {...resultOf(job, chance), checks_passed: ['lint']}
  },
  async 'untested edit'(workspace, job, chance) {
    await writeAll(workspace, job)
    await checkAll(workspace, job)
    return resultOf(job, chance)
  },
}
