import type {TestContext} from 'node:test'
import {openRpcServer} from '../../../src/daemon/index.js'
import {configureLog} from '../../../src/log/index.js'
import * as modules from '../../../src/orchestrator/index.js'
import {openTestOrchestrator} from '../../orchestrator/support/open-test-orchestrator.js'

/** Starts an RPC server in this process. */
export async function openTestServer(test: TestContext, {lineTimeoutMs = 60_000} = {}) {
  configureLog({filter: 'off', format: 'text'})
  const orchestrator = await openTestOrchestrator(test, {clock: 'real'})
  const face = await openRpcServer({
    listen: {kind: 'tcp', host: '127.0.0.1', port: 0},
    base: {modules, orchestrator, surface: 'daemon', version: '1', sources: {env: {}}, speech: undefined},
    token: undefined,
    allowRemote: false,
    lineTimeoutMs,
    onShutDown: () => undefined,
  })
  test.after(() => face.close(0))
  return {orchestrator, addr: face.address ?? ''}
}
