import type {Budget} from './budget.js'
import type {Client} from './clients.js'

/**
 * The headers that say what a client may still use, in the form of OpenAI; for the routes of the Anthropic API also in its
 * form. A client without a budget gets none.
 */
export function rateHeaders({requests, tokens}: Client, path: string): Record<string, string> {
  const isAnthropic = /^\/v1\/messages(\/|$)/.test(path)
  const of = (kind: 'requests' | 'tokens', budget: Budget | undefined): [string, string][] => {
    if (budget === undefined) return []
    const {perMinute, remaining, resetMs} = budget
    const openai: [string, string][] = [
      [`x-ratelimit-limit-${kind}`, String(perMinute)],
      [`x-ratelimit-remaining-${kind}`, String(remaining)],
      [`x-ratelimit-reset-${kind}`, `${Math.ceil(resetMs / 1000)}s`],
    ]
    if (!isAnthropic) return openai
    const prefix = `anthropic-ratelimit-${kind}`
    return [
      ...openai,
      [`${prefix}-limit`, String(perMinute)],
      [`${prefix}-remaining`, String(remaining)],
      [`${prefix}-reset`, new Date(Date.now() + resetMs).toISOString()],
    ]
  }
  return Object.fromEntries([...of('requests', requests), ...of('tokens', tokens)])
}
