import assert from 'node:assert/strict'
import {describe, it} from 'node:test'
import {contractViolations} from '../../src/contracts/index.js'
import {isErrorOf} from '../../src/errors/index.js'
import {type JourneyIds, type JourneySurface, journeyEnvelope} from '../../src/journeys/index.js'

const repositoryId = '4be1c0d2a9f03377'
const contract = 'orchestration/journey-envelope.v1'
const uuid4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

const envelope = (ids: JourneyIds, surface: JourneySurface = 'mcp') => journeyEnvelope(ids, {repositoryId, surface})

const long = (length: number) => 'x'.repeat(length)

describe('the envelope of a journey', () => {
  for (const [what, ids, expected] of [
    ['without members', {}, {session_id: 'default'}],
    ['with only blank members', {journey_id: ' ', session_id: '', thread_id: null}, {session_id: 'default'}],
    [
      'with all members',
      {
        journey_id: ' j1 ',
        session_id: 's1',
        thread_id: 't1',
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        correlation_id: 'c1',
        cognitive_profile: 'Fast',
      },
      {
        journey_id: 'j1',
        session_id: 's1',
        thread_id: 't1',
        trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
        correlation_id: 'c1',
        cognitive_profile: 'fast',
      },
    ],
    [
      'with members of maximum length',
      {
        journey_id: long(2048),
        session_id: long(2048),
        thread_id: long(2048),
        trace_id: long(256),
        correlation_id: long(256),
      },
      {
        journey_id: long(2048),
        session_id: long(2048),
        thread_id: long(2048),
        trace_id: long(256),
        correlation_id: long(256),
      },
    ],
  ] as const)
    it(`of a request ${what} matches its contract`, async () => {
      const made = envelope(ids)
      assert.deepEqual(await contractViolations(contract, made), [])
      const {journey_id, ...others} = made
      const {journey_id: asked, ...rest} = {journey_id: undefined, ...expected}
      assert.deepEqual(others, {
        envelope_version: 1,
        repository_id: repositoryId,
        origin_surface: 'mcp',
        ...rest,
      })
      if (asked === undefined) assert.match(journey_id, uuid4)
      else assert.equal(journey_id, asked)
    })

  it('contains the surface of the request', async () => {
    for (const surface of ['mcp', 'cli', 'orchestrator', 'daemon'] as const) {
      const made = envelope({}, surface)
      assert.equal(made.origin_surface, surface)
      assert.deepEqual(await contractViolations(contract, made), [])
    }
  })

  it('has a new journey id for every request without one', () => {
    assert.notEqual(envelope({}).journey_id, envelope({}).journey_id)
  })

  for (const [member, value, fault] of [
    ['journey_id', long(2049), 'has 2049 characters; the limit is 2048'],
    ['session_id', long(2049), 'has 2049 characters; the limit is 2048'],
    ['thread_id', long(2049), 'has 2049 characters; the limit is 2048'],
    ['trace_id', long(257), 'has 257 characters; the limit is 256'],
    ['correlation_id', long(257), 'has 257 characters; the limit is 256'],
    ['cognitive_profile', long(65), 'has 65 characters; the limit is 64'],
    ['cognitive_profile', 'slow', 'is "slow"; expected one of: fast, reasoning, creative'],
  ] as const)
    it(`rejects a ${member} that ${fault}`, () => {
      assert.throws(
        () => envelope({[member]: value}),
        (error) => {
          assert.ok(isErrorOf(error, 'journey_invalid'))
          assert.equal(error.message, `The ${member} of a journey ${fault}.`)
          assert.equal(error.exit, 2)
          return true
        },
      )
    })
})

describe('the contract of the envelope', () => {
  const good = {
    envelope_version: 1,
    journey_id: 'j',
    session_id: 'default',
    thread_id: null,
    trace_id: null,
    correlation_id: null,
    repository_id: repositoryId,
    origin_surface: 'cli',
    more: {of: 'another'},
  }

  it('accepts null and unknown members', async () => {
    assert.deepEqual(await contractViolations(contract, good), [])
  })

  for (const [what, change] of [
    ['another version', {envelope_version: 2}],
    ['an empty journey', {journey_id: ''}],
    ['a journey id that is too long', {journey_id: long(2049)}],
    ['an unknown surface', {origin_surface: 'web'}],
    ['a repository that is too long', {repository_id: long(513)}],
    ['no session', {session_id: undefined}],
    ['a profile that is too long', {cognitive_profile: long(65)}],
  ] as const)
    it(`rejects ${what}`, async () => {
      assert.notDeepEqual(await contractViolations(contract, {...good, ...change}), [])
    })
})
