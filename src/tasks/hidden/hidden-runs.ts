import {appendJsonLine} from '../../files/index.js'
import {logger} from '../../log/index.js'
import type {HiddenChecks, WorkspaceContext} from '../../workspace/index.js'
import {announceHiddenChecks} from '../base/hidden-reader.js'
import type {DaemonLease} from '../daemon/lease.js'
import {answerHiddenRequest, type HiddenRequest, openHiddenRequests} from './requests.js'
import {clearCopies, runHiddenChecks} from './run-checks.js'

/**
 * The hidden checks that a daemon runs for completions in any process. The log of the daemon is in the workspace, so
 * what failed is written to the log of the user only.
 */
export class HiddenRuns {
  readonly #context: WorkspaceContext
  readonly #lease: DaemonLease
  readonly #runs = new Map<string, Promise<void>>()
  readonly #stopping = new AbortController()
  #announced: HiddenChecks | undefined

  constructor(context: WorkspaceContext, lease: DaemonLease) {
    this.#context = context
    this.#lease = lease
    this.#announce()
  }

  /** Removes what a killed daemon left behind. */
  async start(): Promise<void> {
    if (this.#context.hiddenChecks !== undefined) await clearCopies(this.#context)
  }

  /** Starts the checks of new requests. Must be called often; it reads little. */
  wake(): void {
    if (this.#context.hiddenChecks !== this.#announced) this.#announce()
    for (const request of openHiddenRequests(this.#context)) {
      const {request: id} = request
      if (this.#runs.has(id)) continue
      const run = this.#answer(request)
        .catch((error: unknown) => logger('svc.orchestrator').warn({err: error}, 'cannot answer a hidden check'))
        .finally(() => this.#runs.delete(id))
      this.#runs.set(id, run)
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await Promise.all(this.#runs.values())
  }

  #announce(): void {
    const context = this.#context
    const {hiddenChecks} = context
    this.#lease.transaction(() => announceHiddenChecks(context))
    this.#announced = hiddenChecks
  }

  async #answer(request: HiddenRequest): Promise<void> {
    const {hiddenChecks, root} = this.#context
    const {signal} = this.#stopping
    const results = hiddenChecks === undefined ? [] : await runHiddenChecks(this.#context, hiddenChecks, signal)
    const passed = results.every((result) => result.passed)
    if (hiddenChecks !== undefined) {
      const line = {time: new Date().toISOString(), workspace: root, task_id: request.task_id, passed, results}
      await appendJsonLine(hiddenChecks.logPath, line, 0o600).catch((error: unknown) =>
        logger('svc.orchestrator').warn({err: error}, 'cannot log the results of hidden checks'),
      )
    }
    await this.#lease.write(() => answerHiddenRequest(this.#context, request, passed))
  }
}
