import {randomUUID} from 'node:crypto'
import {withoutUndefined} from '../contracts/index.js'
import {SvcError} from '../errors/index.js'
import type {WorkspaceContext} from '../workspace/index.js'

/** The interface that received a request. */
export const journeySurfaces = ['mcp', 'cli', 'orchestrator', 'daemon'] as const
export type JourneySurface = (typeof journeySurfaces)[number]

/** Requested answering style: quick, thorough, or free. */
export const cognitiveProfiles = ['fast', 'reasoning', 'creative'] as const
export type CognitiveProfile = (typeof cognitiveProfiles)[number]

/** The context of a request, stored with all its records: the contract `journey-envelope.v1`. */
export interface JourneyEnvelope {
  envelope_version: 1
  /** The same for everything that one user request triggers. */
  journey_id: string
  session_id: string
  thread_id?: string
  /** W3C trace id where possible. */
  trace_id?: string
  /** Used if there is no trace id. */
  correlation_id?: string
  repository_id: string
  origin_surface: JourneySurface
  cognitive_profile?: CognitiveProfile
}

/** Ids from a caller; null and blank text count as missing. */
export type JourneyIds = {
  readonly [K in 'journey_id' | 'session_id' | 'thread_id' | 'trace_id' | 'correlation_id' | 'cognitive_profile']?:
    | string
    | null
}

/** Maximum length of each member in characters. */
const maxLengths = {
  journey_id: 2048,
  session_id: 2048,
  thread_id: 2048,
  trace_id: 256,
  correlation_id: 256,
  repository_id: 512,
  cognitive_profile: 64,
} as const

/**
 * The envelope of a request. The default journey id is new, the default session is `default`.
 * @throws journey_invalid if a member is too long or the profile is unknown
 */
export function journeyEnvelope(
  ids: JourneyIds,
  {repositoryId, surface}: Pick<WorkspaceContext, 'repositoryId'> & {surface: JourneySurface},
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

function limited<T extends string | undefined>(member: keyof typeof maxLengths, value: T): T {
  const limit = maxLengths[member]
  if (value === undefined || value.length <= limit) return value
  throw new SvcError('journey_invalid', {
    member,
    fault: `has ${value.length} characters; the limit is ${limit}`,
  })
}

function profile(word: string | undefined): CognitiveProfile | undefined {
  if (word === undefined) return undefined
  const found = cognitiveProfiles.find((one) => one === word.toLowerCase())
  if (found !== undefined) return found
  const fault = `is ${JSON.stringify(word)}; expected one of: ${cognitiveProfiles.join(', ')}`
  throw new SvcError('journey_invalid', {member: 'cognitive_profile', fault})
}
