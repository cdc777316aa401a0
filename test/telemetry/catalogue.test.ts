import assert from 'node:assert/strict'
import {existsSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {orchestratorSettings} from '../../src/config/index.js'
import {
  contractSchema,
  contractViolations,
  findContract,
  readDocument,
  readRetentionPolicy,
  type TelemetryEventsV1,
} from '../../src/contracts/index.js'
import {metricTypes} from '../../src/telemetry/metric-types.js'
import {projectFile} from '../support/project.js'

const {file} = await findContract('telemetry/events.v1.yaml')
const catalogue = (await readDocument(readFileSync(file, 'utf8'), file)) as TelemetryEventsV1
const {events} = catalogue

const types = new Set<string>(Object.keys(metricTypes))

const {kind} = contractSchema('orchestration/event.v1').properties as {
  kind: {oneOf: {properties: {type: {const?: string; enum?: string[]}}}[]}
}
const kinds = kind.oneOf.flatMap(({properties: {type}}) => type.enum ?? [type.const])

describe('the catalogue of metrics and events', () => {
  it('lists each metric type and each kind of event once', () => {
    assert.deepEqual(events.map(({id}) => id).sort(), [...types, ...kinds].sort())
  })

  it('refers to the schemas of events and to modules', () => {
    for (const {id, schema_path: path, owner, description} of events) {
      if (!types.has(id)) assert.equal(path, 'contracts/orchestration/event.v1.schema.json', id)
      assert.ok(existsSync(projectFile(path)), path)
      assert.ok(existsSync(projectFile(`src/${owner}/index.ts`)), owner)
      assert.match(description, /^[A-Z].*\.$/)
    }
  })

  it('has the default retention of metrics and of events', async () => {
    const metrics = (await readRetentionPolicy()).tables.research_metrics
    assert.ok(metrics?.kind === 'days')
    const kept = orchestratorSettings.rows.eventRetentionDays.default
    for (const {id, retention_days: days} of events) assert.equal(days, types.has(id) ? metrics.days : kept, id)
  })

  it('records all events, metrics about work and workflows unless disabled, and the rest on request', () => {
    const {oneOf} = contractSchema('telemetry/work-metric.v1') as {oneOf: {properties: {name: {const: string}}}[]}
    const work = [...oneOf.map(({properties: {name}}) => name.const), 'workflow_journal_entry']
    const ofTier = (wanted: string) => events.filter(({tier}) => tier === wanted).map(({id}) => id)
    assert.deepEqual(ofTier('B').sort(), [...work].sort())
    const others = [...types].filter((type) => !work.includes(type))
    assert.deepEqual(ofTier('C').sort(), ['cost_incurred', ...others].sort())
  })

  const [event] = events
  for (const [defect, change] of [
    ['an unknown tier', {events: [{...event, tier: 'D'}]}],
    ['an unknown member', {events: [{...event, colour: 'red'}]}],
    ['a path outside the contracts', {events: [{...event, schema_path: 'contracts/../a.schema.json'}]}],
    ['no retention', {events: [{...event, retention_days: 0}]}],
    ['an invalid id', {events: [{...event, id: 'a b'}]}],
    ['no events', {events: []}],
    ['another version', {version: 2}],
  ] as const)
    it(`with ${defect} violates its schema`, async () => {
      assert.deepEqual(await contractViolations('telemetry/events.v1', catalogue), [])
      assert.notDeepEqual(await contractViolations('telemetry/events.v1', {...catalogue, ...change}), [])
    })
})
