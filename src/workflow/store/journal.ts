import type {WorkflowJournalEntry} from '../../contracts/index.js'
import {appendEvent} from '../../tasks/index.js'
import {recordMetrics, sessionOf} from '../../telemetry/index.js'
import type {WorkspaceContext} from '../../workspace/index.js'

/** The members of an entry that the contract names. */
type Known = {[K in keyof WorkflowJournalEntry as string extends K ? never : K]: WorkflowJournalEntry[K]}

/** What an entry adds to the members that the journal sets. */
export type JournalEvent = Omit<Known, 'journal_version' | 'workflow' | 'run_id' | 'result' | 'output'> & {
  readonly result?: unknown
  readonly output?: unknown
}

/** Part of an entry that says what an activity did. It is kept with the result, and repeated when it is replayed. */
export type StepEvent = JournalEvent

export interface JournalOptions {
  readonly workflow: string
  readonly runId: string
  readonly onEntry?: ((entry: WorkflowJournalEntry) => void) | undefined
}

/** Maximum number of entries that are recorded later. */
const maxDeferred = 100
/** Maximum time for which they are not recorded while the run proceeds, ms. */
const maxDeferralMs = 1000

/**
 * The journal of a run. Entries are copies of what the tables of the run contain, and nothing reads them to continue a
 * run. They are reported after the transaction of the step. They are recorded in it, or together with those of a later
 * step: a process that is killed can lose entries, but no results. Entries of a transaction that fails are neither
 * reported nor recorded.
 */
export class Journal {
  readonly #context: WorkspaceContext
  readonly #options: JournalOptions
  /** Entries of the current transaction. */
  #pending: WorkflowJournalEntry[] = []
  /** Entries to record, those of earlier transactions before those of the current one. */
  #copies: WorkflowJournalEntry[] = []
  #recordedAtMs = 0

  constructor(context: WorkspaceContext, options: JournalOptions) {
    this.#context = context
    this.#options = options
  }

  /** Adds an entry, within a transaction of `write`. */
  append(event: JournalEvent): void {
    const entry = this.#entryOf(event)
    this.#pending.push(entry)
    this.#copies.push(entry)
  }

  /** Adds an entry that is reported but not recorded, because an earlier process has recorded the same. */
  repeat(event: JournalEvent): void {
    this.#pending.push(this.#entryOf(event))
  }

  #entryOf(event: JournalEvent): WorkflowJournalEntry {
    const {workflow, runId} = this.#options
    const {event: name, ...members} = event
    return {journal_version: 1, event: name, workflow, run_id: runId, ...members} as WorkflowJournalEntry
  }

  /**
   * Runs work in a transaction, and reports its entries after the commit.
   * @param defers its entries can be recorded with those of the next transaction, at the latest when the lease is renewed
   */
  write<T>(work: () => T, {defers = false} = {}): T {
    const deferred = this.#copies
    this.#copies = [...deferred]
    this.#pending = []
    let result: T
    try {
      result = this.#context.store.transaction(() => {
        const done = work()
        if (!defers || !this.#canDefer()) this.#record()
        return done
      })
    } catch (error) {
      this.#copies = deferred
      throw error
    }
    for (const entry of this.#pending) this.#options.onEntry?.(entry)
    return result
  }

  #canDefer(): boolean {
    return this.#copies.length < maxDeferred && this.#context.now() - this.#recordedAtMs < maxDeferralMs
  }

  #record(): void {
    const {telemetry, repositoryId, now} = this.#context
    const entries = this.#copies
    this.#copies = []
    this.#recordedAtMs = now()
    if (!telemetry.workflowJournal) return
    const type = 'workflow_journal_entry'
    const rows = entries.map((entry) => {
      const {workflow, run_id, activity_id} = entry
      return {workflow, run_id, ...(activity_id === undefined ? {} : {activity_id}), entry: bounded(entry)}
    })
    recordMetrics(this.#context, {sessionId: sessionOf(type, repositoryId), type, nowMs: now()}, rows)
  }

  /** Appends an event of the workspace. */
  emit(event: Parameters<typeof appendEvent>[1]): void {
    appendEvent(this.#context, event)
  }
}

/** Maximum size of a result in the journal, characters of JSON; the tables of the run have the whole result. */
const maxResultCharacters = 64 << 10

function bounded(entry: WorkflowJournalEntry): WorkflowJournalEntry {
  if (entry.result === undefined && entry.output === undefined) return entry
  if (JSON.stringify(entry).length <= maxResultCharacters) return entry
  const {result: _, output: __, ...rest} = entry
  return rest as WorkflowJournalEntry
}
