import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {parse} from 'yaml'
import type {WorkflowDefinition, WorkflowJournalEntry} from '../../src/contracts/index.js'
import {compileWorkflow} from '../../src/workflow/definition/compile.js'
import {resumeRun, startRun} from '../../src/workflow/engine/index.js'
import type {ActivityPorts, DriveOptions, RunRow, Workflow} from '../../src/workflow/index.js'
import {
  openTestOrchestrator,
  type TestOptions,
  type TestOrchestrator,
} from '../orchestrator/support/open-test-orchestrator.js'

/** Ports of a process without models and mesh. */
export const plainPorts: ActivityPorts = {
  env: process.env,
  transcribe: undefined,
  generate: () => Promise.reject(new Error('there is no model')),
  mesh: undefined,
  countLocalNodes: async () => 0,
}

/** Compiles a definition in YAML. */
export const workflow = (yaml: string, name = 'flow'): Workflow =>
  compileWorkflow(name, parse(yaml) as WorkflowDefinition, 'flow.yaml')

export interface Driving extends Partial<DriveOptions> {
  runId?: string
  input?: Readonly<Record<string, unknown>>
  source?: string
}

/** A workspace in which tests run workflows. */
export interface Flows {
  readonly context: TestOrchestrator
  /** All entries of the journals, in order. */
  readonly entries: WorkflowJournalEntry[]
  /** Runs a workflow until it ends or waits. */
  run(yaml: string | Workflow, options?: Driving): Promise<RunRow>
  resume(runId: string, options?: Partial<DriveOptions> & {adopt?: boolean}): Promise<RunRow>
  /** Path of a file that steps write to. */
  file(name: string): string
}

export async function openFlows(test: TestContext, options: TestOptions = {}): Promise<Flows> {
  const context = await openTestOrchestrator(test, {clock: 'real', ...options})
  const entries: WorkflowJournalEntry[] = []
  const signal = new AbortController().signal
  const base = {ports: plainPorts, signal, stays: false, onEntry: (entry: WorkflowJournalEntry) => entries.push(entry)}
  return {
    context,
    entries,
    run: (yaml, {runId, input = {}, source, ...more} = {}) =>
      startRun(context, typeof yaml === 'string' ? workflow(yaml) : yaml, {runId, input, source}, {...base, ...more})
        .done,
    resume: async (runId, more = {}) => (await resumeRun(context, runId, {...base, ...more})).done,
    file: (name) => join(context.root, name),
  }
}

/** The output of a completed run. */
export const outputOf = ({output_json: json}: RunRow): unknown => JSON.parse(json ?? 'null')

/** Names of the events of an activity, or of all. */
export const eventsOf = (entries: readonly WorkflowJournalEntry[], activity?: string): string[] =>
  entries.filter((entry) => activity === undefined || entry.activity === activity).map(({event}) => event)
