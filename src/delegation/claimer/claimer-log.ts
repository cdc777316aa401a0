import {logger} from '../../log/index.js'
import type {MeshClient} from '../../mesh/index.js'

/** Created at each use, because logging is configured after this module is loaded. */
export const claimerLog = () => logger('svc.orchestrator.delegation')

/** The message of an error of the control plane, without its tokens. */
export const redacted = (client: MeshClient, error: unknown): string =>
  client.redact((error as Error).message ?? String(error))
