import assert from 'node:assert/strict'
import {join} from 'node:path'
import {describe, it} from 'node:test'
import {isErrorOf} from '../../src/errors/index.js'
import {canonicalSteps} from '../../src/journeys/index.js'
import {journeyFragment} from '../../src/journeys/schema.js'
import {openStore} from '../../src/store/index.js'
import {openTestOrchestrator, refused} from '../orchestrator/support/open-test-orchestrator.js'
import {temporaryFolder} from '../support/temporary.js'

const canonical = 'canonical_journey.v1.greenfield_svc_devloop'

describe('a workspace', () => {
  it('has the canonical journey with its steps in order', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const {journey_id, steps} = canonicalSteps(orchestrator)
    assert.equal(journey_id, canonical)
    assert.deepEqual(
      steps.map(({ordinal, step_id}) => [ordinal, step_id]),
      [
        [1, 'bootstrap_repo'],
        [2, 'open_workspace_store'],
        [3, 'author_compile'],
        [4, 'structured_plan'],
        [5, 'agentic_assist'],
        [6, 'research_evidence'],
        [7, 'corpus_train'],
        [8, 'verify_ship'],
      ],
    )
    assert.equal(steps[1]?.primary_operation_id, 'orch.workspace_journey')
    assert.deepEqual(
      steps.map(({limitation_ids}) => limitation_ids),
      [['L-021'], ['L-021', 'L-023'], ['L-001'], ['L-010', 'L-015'], ['L-022'], ['L-016'], ['L-005'], ['L-028']],
    )
    assert.deepEqual(canonicalSteps(orchestrator, canonical).steps, steps)
  })

  it('has the journeys in its store with their steps in order', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const {store, root} = orchestrator
    const own = 'canonical_journey.v1.own'
    store.run(
      'INSERT INTO developer_journey_definitions (journey_id, version, title, definition_json) VALUES (?, 1, ?, ?)',
      [own, 'Own', '{}'],
    )
    for (const ordinal of [10, 2, 1])
      store.run('INSERT INTO developer_journey_steps VALUES (?, ?, ?, ?)', [
        own,
        ordinal,
        `s${ordinal}`,
        JSON.stringify({step_id: `s${ordinal}`, ordinal, actor: 'human', maturity: 'beta'}),
      ])
    const again = await openTestOrchestrator(t, {root})
    assert.deepEqual(
      canonicalSteps(again, own).steps.map(({step_id}) => step_id),
      ['s1', 's2', 's10'],
    )
    assert.equal(canonicalSteps(again).steps.length, 8)
  })

  it('lists the known journeys if an unknown one is requested', async (t) => {
    const orchestrator = await openTestOrchestrator(t)
    const error = refused('journey_not_found', () => canonicalSteps(orchestrator, 'canonical_journey.v1.other'))
    assert.deepEqual(error.params.known, [canonical])
    assert.ok(isErrorOf(error, 'journey_not_found') && error.exit === 3)
  })
})

describe('a store with an older canonical journey', () => {
  it('gets the current limitations for unmodified steps', async (t) => {
    const {name, migrations} = journeyFragment
    const [seed = ''] = migrations
    const first = seed.replace('"L-010","L-015"', '"L-010"').replace('"L-021","L-023"', '"L-021"')
    const path = join(await temporaryFolder(t), 'store.db')
    const before = await openStore(path, [{name, migrations: [first]}])
    before.run("UPDATE developer_journey_steps SET step_json = json_set(step_json, '$.actor', 'ci') WHERE ordinal = 4")
    before.close()
    const after = await openStore(path, [{name, migrations}])
    const limitations = (ordinal: number) =>
      after.get<{ids: string}>(
        "SELECT step_json ->> 'limitation_ids' AS ids FROM developer_journey_steps WHERE ordinal = ?",
        [ordinal],
      )?.ids
    assert.equal(limitations(2), '["L-021","L-023"]')
    assert.equal(limitations(4), '["L-010"]', 'a step that somebody has changed stays')
    after.close()
  })

  it('keeps modified steps', async () => {
    const {name, migrations} = journeyFragment
    const seeded = await openStore(':memory:', [{name, migrations}])
    seeded.run("UPDATE developer_journey_definitions SET title = 'Ours'")
    const seeds = (migrations[0] ?? '').slice((migrations[0] ?? '').indexOf('INSERT OR IGNORE'))
    for (const statement of seeds.split(';\n').filter((sql) => sql.trim() !== '')) seeded.run(statement)
    assert.deepEqual(seeded.all('SELECT title FROM developer_journey_definitions'), [{title: 'Ours'}])
    assert.deepEqual(seeded.get('SELECT count(*) AS steps FROM developer_journey_steps'), {steps: 8})
    seeded.close()
  })
})
