import assert from 'node:assert/strict'
import {mkdir, realpath} from 'node:fs/promises'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {workspaceJourney} from '../../src/orchestrator/index.js'
import {repositoryId} from '../../src/store/index.js'
import {breakStore} from '../support/empty-store.js'
import {temporaryFolder, writeFiles} from '../support/temporary.js'
import {openTestOrchestrator} from './support/open-test-orchestrator.js'

const here = (cwd: string, env: Readonly<Record<string, string>> = {}) => ({sources: {env}, cwd})

describe('workspaceJourney', () => {
  it('reports the project store from every folder of the workspace', async (t) => {
    const root = await realpath(await temporaryFolder(t))
    await writeFiles(root, {'Svc.toml': '', 'src/deep/a.ts': ''})
    const orchestrator = await openTestOrchestrator(t, {root})
    for (const folder of ['', 'src/deep'])
      assert.deepEqual(workspaceJourney(orchestrator, here(join(root, folder))), {
        workspace_journey_store_mode: 'project',
        project_store_path: join(root, '.svc', 'store.db'),
        repository_id: orchestrator.repositoryId,
        fallback_canonical: false,
        daemon_repository_id: orchestrator.repositoryId,
        discovered_repository_id: orchestrator.repositoryId,
        match: true,
        active_store: 'project',
      })
  })

  it('reports a mismatch with the repository of the current folder', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const other = await realpath(await temporaryFolder(t))
    await mkdir(join(other, '.git'))
    const journey = workspaceJourney(orchestrator, here(other))
    assert.deepEqual([journey.match, journey.discovered_repository_id], [false, repositoryId(other)])
    assert.equal(journey.daemon_repository_id, orchestrator.repositoryId)
    const named = workspaceJourney(orchestrator, here(orchestrator.root, {SVC_REPOSITORY_ROOT: other}))
    assert.deepEqual([named.match, named.discovered_repository_id], [false, repositoryId(other)])
  })

  it('discovers the repository from SVC_REPOSITORY_ROOT', async (t) => {
    const named = await realpath(await temporaryFolder(t))
    const env = {SVC_REPOSITORY_ROOT: named}
    const orchestrator = await openTestOrchestrator(t, {env})
    assert.equal(workspaceJourney(orchestrator, here(orchestrator.root, env)).match, true)
    assert.equal(workspaceJourney(orchestrator, here(orchestrator.root)).match, false)
  })

  it('reports the user store if it is configured', async (t) => {
    const env = {SVC_WORKSPACE_JOURNEY_STORE: 'Canonical', SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: 'off'}
    const orchestrator = await openTestOrchestrator(t, {env})
    const journey = workspaceJourney(orchestrator, here(orchestrator.root))
    assert.deepEqual(
      [journey.workspace_journey_store_mode, journey.active_store, journey.fallback_canonical],
      ['canonical', 'canonical', false],
    )
  })

  it('reports the file that is configured as the store', async (t) => {
    const env = {SVC_WORKSPACE_JOURNEY_STORE: './tasks.db'}
    const orchestrator = await openTestOrchestrator(t, {env})
    const journey = workspaceJourney(orchestrator, here(orchestrator.root))
    assert.deepEqual([journey.workspace_journey_store_mode, journey.active_store], ['file', 'file'])
  })

  it('reports the user store after a fallback, and no store if none can be opened', async (t) => {
    const broken = async (env: Readonly<Record<string, string>>) => {
      const root = await temporaryFolder(t)
      await writeFiles(root, {'Svc.toml': ''})
      await breakStore(root)
      return openTestOrchestrator(t, {root, env})
    }
    const fallen = await broken({SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: 'on'})
    const journey = workspaceJourney(fallen, here(fallen.root))
    assert.deepEqual([journey.workspace_journey_store_mode, journey.active_store], ['project', 'canonical'])
    const lost = await broken({
      SVC_WORKSPACE_JOURNEY_FALLBACK_CANONICAL: 'true',
      SVC_DB_PATH: '/dev/null/svc.db',
      SVC_ORCHESTRATOR_MIGRATION_V2_ENABLED: 'true',
    })
    assert.equal(workspaceJourney(lost, here(lost.root)).active_store, 'none')
  })
})
