import assert from 'node:assert/strict'
import {existsSync, readFileSync} from 'node:fs'
import {describe, it} from 'node:test'
import {contractViolations, findContract, readDocument} from '../../src/contracts/index.js'
import {inboxSources, planeOf, routes} from '../../src/messages/planes.js'
import {projectFile} from '../support/project.js'

interface Plane {
  id: string
  wire_tokens: string[]
  scope: string
  pattern: string
  durability: string
  idempotency: string
  auth_boundary: string
}

interface Family {
  id: string
  status: string
  category: string
  delivery_planes: string[]
  wire_formats: string[]
  machine_contract_paths: string[]
  prose_reference_paths: string[]
  primary_implementation_paths: string[]
  telemetry_evidence_paths?: string[]
}

interface Catalog {
  delivery_planes: Plane[]
  protocol_families: Family[]
}

const schema = 'communication/protocol-catalog'
const {file} = await findContract(`${schema}.yaml`)
const catalog = (await readDocument(readFileSync(file, 'utf8'), file)) as Catalog
const {delivery_planes: planes, protocol_families: families} = catalog

describe('the catalogue of protocols', () => {
  it('has five planes with their guarantees', () => {
    assert.deepEqual(
      planes.map(({id, wire_tokens, scope, pattern, durability, idempotency, auth_boundary: auth}) =>
        [id, wire_tokens.join(), scope, pattern, durability, idempotency, auth].join(' '),
      ),
      [
        'local_ephemeral local same_process push none caller_defined host_session',
        'local_durable db same_host push durable caller_defined host_session',
        'remote_mesh mesh remote_network request_response durable optional bearer_or_jwt',
        'broadcast  mixed fanout mixed not_applicable mixed',
        'stream  mixed stream mixed mixed mixed',
      ],
    )
  })

  it('has the route names of messages', () => {
    const tokens = planes.flatMap(({id, wire_tokens}) => wire_tokens.map((token) => [token, id]))
    assert.deepEqual(Object.fromEntries(tokens), planeOf)
    assert.deepEqual(inboxSources, ['merged', ...routes])
  })

  it('lists every family once, and at least one per plane', () => {
    const ids = families.map(({id}) => id)
    assert.equal(new Set(ids).size, ids.length)
    const covered = new Set(families.flatMap((family) => family.delivery_planes))
    assert.deepEqual([...covered].sort(), planes.map(({id}) => id).sort())
  })

  for (const family of families)
    it(`${family.id} refers to existing files${family.status === 'current' ? ', including an implementation' : ''}`, () => {
      const paths = [
        ...family.machine_contract_paths,
        ...family.prose_reference_paths,
        ...family.primary_implementation_paths,
        ...(family.telemetry_evidence_paths ?? []),
      ]
      for (const path of paths) assert.ok(existsSync(projectFile(path)), path)
      for (const path of family.machine_contract_paths) assert.match(path, /^contracts\//)
      if (family.status === 'current') assert.notDeepEqual(family.primary_implementation_paths, [])
    })

  it('marks implemented families as current, and others as experimental', () => {
    const current = families.filter(({status}) => status === 'current').map(({id}) => id)
    for (const id of [
      'mcp-stdio',
      'orchestrator-local-a2a',
      'orchestrator-db-inbox',
      'orchestrator-json-line-rpc',
      'mesh-control-plane',
      'mesh-a2a-relay',
    ])
      assert.ok(current.includes(id), id)
    assert.ok(!current.includes('orchestrator-persistence-outbox'))
  })

  const [plane] = planes
  const [family] = families
  for (const [defect, change] of [
    ['an unknown plane', {protocol_families: [{...family, delivery_planes: ['pigeon']}]}],
    ['an unknown scope', {delivery_planes: [{...plane, scope: 'galaxy'}]}],
    ['an empty member', {delivery_planes: [{...plane, ordering: ''}]}],
    ['an unknown member', {delivery_planes: [{...plane, colour: 'red'}]}],
    ['an unknown status', {protocol_families: [{...family, status: 'done'}]}],
    ['a path outside the package', {protocol_families: [{...family, prose_reference_paths: ['a/../../b.md']}]}],
    ['an absolute path', {protocol_families: [{...family, prose_reference_paths: ['/etc/hosts']}]}],
    ['no planes', {delivery_planes: []}],
    ['another version', {schema_version: 2}],
  ] as const)
    it(`with ${defect} violates its schema`, async () => {
      assert.deepEqual(await contractViolations(schema, catalog), [])
      assert.equal((await contractViolations(schema, {...catalog, ...change})).length > 0, true)
    })
})
