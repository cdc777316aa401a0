import type {Journey} from './journey.js'

/** How a message wants to be answered. */
export interface Profile {
  readonly temperature: number
  /** Most tokens of the answer; undefined leaves it to the settings. */
  readonly maxTokens?: number
  /** From 1 to 10. */
  readonly complexity: number
  /** The cheapest model will do. */
  readonly economy: boolean
  /** What the model is told about it. */
  readonly advice?: string
}

const plain: Profile = {temperature: 0.3, complexity: 5, economy: false}

const profiles: Readonly<Record<string, Profile>> = {
  fast: {...plain, maxTokens: 512, economy: true, advice: 'Answer in a few sentences.'},
  reasoning: {...plain, complexity: 9, advice: 'Work through the matter step by step before you conclude.'},
  creative: {...plain, temperature: 0.8},
}

export const profileOf = ({cognitive_profile: name}: Journey): Profile =>
  (typeof name === 'string' && Object.hasOwn(profiles, name) ? profiles[name] : undefined) ?? plain
