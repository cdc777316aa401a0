import {randomUUID} from 'node:crypto'
import {SvcError} from '../errors/index.js'
import {type TaskContext, withoutUndefined} from '../tasks/index.js'

/** Where a request came in. */
export const journeySurfaces = ['mcp', 'cli', 'orchestrator', 'daemon'] as const
export type JourneySurface = (typeof journeySurfaces)[number]

/** How a request wants to be thought about: soon, long, or freely. */
export const cognitiveProfiles = ['fast', 'reasoning', 'creative'] as const
export type CognitiveProfile = (typeof cognitiveProfiles)[number]

/** What one request says of itself to everything that is written down of it: the contract `journey-envelope.v1`. */
export interface JourneyEnvelope {
  envelope_version: 1
  /** The same for all that one wish of a user sets going. */
  journey_id: string
  session_id: string
  thread_id?: string
  /** W3C trace id where possible. */
  trace_id?: string
  /** Stands in where there is no trace id. */
  correlation_id?: string
  repository_id: string
  origin_surface: JourneySurface
  cognitive_profile?: CognitiveProfile
}

/** What a caller says; null and blank text count as nothing. */
export type JourneyIds = {
  readonly [K in 'journey_id' | 'session_id' | 'thread_id' | 'trace_id' | 'correlation_id' | 'cognitive_profile']?:
    | string
    | null
}

/** Most characters of each member. */
const longest = {
  journey_id: 2048,
  session_id: 2048,
  thread_id: 2048,
  trace_id: 256,
  correlation_id: 256,
  repository_id: 512,
  cognitive_profile: 64,
} as const

/**
 * The envelope of a request. A journey without an id gets a new one, a request without a session belongs to `default`.
 * @throws journey_invalid where a member is too long, or the profile is none
 */
export function journeyEnvelope(
  ids: JourneyIds,
  {repositoryId, surface}: Pick<TaskContext, 'repositoryId'> & {surface: JourneySurface},
): JourneyEnvelope {
  const read = (member: keyof JourneyIds) => limited(member, ids[member]?.trim() || undefined)
  return {
    envelope_version: 1,
    journey_id: read('journey_id') ?? randomUUID(),
    session_id: read('session_id') ?? 'default',
    ...withoutUndefined({
      thread_id: read('thread_id'),
      trace_id: read('trace_id'),
      correlation_id: read('correlation_id'),
    }),
    repository_id: limited('repository_id', repositoryId),
    origin_surface: surface,
    ...withoutUndefined({cognitive_profile: profile(read('cognitive_profile'))}),
  }
}

function limited<T extends string | undefined>(member: keyof typeof longest, value: T): T {
  const limit = longest[member]
  if (value === undefined || value.length <= limit) return value
  throw new SvcError('journey_invalid', {
    member,
    fault: `has ${value.length} characters, and ${limit} are allowed`,
  })
}

function profile(word: string | undefined): CognitiveProfile | undefined {
  if (word === undefined) return undefined
  const found = cognitiveProfiles.find((one) => one === word.toLowerCase())
  if (found !== undefined) return found
  const fault = `is ${JSON.stringify(word)}, and there are ${cognitiveProfiles.join(', ')}`
  throw new SvcError('journey_invalid', {member: 'cognitive_profile', fault})
}
