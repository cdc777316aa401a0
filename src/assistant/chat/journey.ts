/** What a request says of itself: the envelope of its journey, as it is kept with both turns and given back. */
export interface Journey {
  readonly envelope_version: 1
  readonly journey_id: string
  readonly session_id: string
  readonly thread_id?: string
  readonly trace_id?: string
  readonly correlation_id?: string
  readonly repository_id: string
  readonly origin_surface: string
  readonly cognitive_profile?: 'fast' | 'reasoning' | 'creative'
}
