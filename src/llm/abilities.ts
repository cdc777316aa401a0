import type {ModelText} from './model-text.js'

/** What not every model can do: conversations, calls of tools, thinking, and inserting text before a suffix. */
export type Ability = 'chat' | 'tools' | 'thinking' | 'insert'
export type Abilities = Readonly<Record<Ability, boolean>>

export const abilitiesOf = ({template, style, insertion}: ModelText): Abilities => ({
  chat: template !== undefined && template.error === undefined,
  tools: style !== undefined,
  thinking: style?.thinking !== undefined,
  insert: insertion !== undefined,
})

/** The names of what a model can do: the `completion` of a text, and its abilities. */
export const capabilitiesOf = (abilities: Abilities): ('completion' | Ability)[] => [
  'completion',
  ...(['chat', 'tools', 'thinking', 'insert'] as const).filter((ability) => abilities[ability]),
]
