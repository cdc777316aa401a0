import type {Journey} from './journey.js'

/** Parameters for answering a message. */
export interface Profile {
  readonly temperature: number
  /** Maximum number of tokens of the answer; default: from the settings. */
  readonly maxTokens?: number
  /** From 1 to 10. */
  readonly complexity: number
  /** The cheapest model is sufficient. */
  readonly economy: boolean
  /** Instructions for the model. */
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
