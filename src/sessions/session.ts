/** States of a session; cleanup removes archived sessions. */
export const sessionStates = ['active', 'idle', 'compacted', 'archived'] as const
export type SessionState = (typeof sessionStates)[number]

export interface Turn {
  /** `user`, `assistant`, `system`, or another word of the client. */
  readonly role: string
  readonly content: string
  readonly tokens: number
  /** Unix seconds. */
  readonly at: number
}

/** A session between an agent and its client. Names are those of the wire; times are Unix seconds. */
export interface Session {
  readonly id: string
  readonly agent_id: string
  readonly tenant_id: string | null
  readonly state: SessionState
  readonly created_at: number
  /** Everything except a timer's state change counts as activity. */
  readonly last_active: number
  readonly last_expensive_op_at: number | null
  readonly turns: readonly Turn[]
  readonly meta: Readonly<Record<string, string>>
  /** JSON values of plugins. */
  readonly plugin_state: Readonly<Record<string, unknown>>
  /** Number of turns ever added; reset and compaction do not change it. */
  readonly turn_count: number
  /** Tokens of all those turns. */
  readonly total_tokens: number
}
