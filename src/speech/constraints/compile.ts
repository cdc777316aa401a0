import {SvcError} from '../../errors/index.js'
import type {ConstraintWarning, DecodingConstraints} from '../model/model.js'
import {PhraseBias} from './phrase-bias.js'
import {PhraseGrammar} from './phrase-grammar.js'
import {PhraseTrie, type Spelling, spellingsOf} from './phrase-trie.js'
import type {TextVocabulary} from './text-vocabulary.js'

/** Constraints as tokens of one vocabulary. They have no state and serve any number of hypotheses. */
export interface CompiledConstraints {
  readonly forbidden: ReadonlySet<number>
  readonly bias: PhraseBias | undefined
  readonly grammar: PhraseGrammar | undefined
  readonly stuckSteps: number
  readonly warnings: readonly ConstraintWarning[]
}

/** @throws phrase_unwritable */
export type ConstraintCompiler = (constraints: DecodingConstraints) => CompiledConstraints | undefined

/** Number of sets of constraints to keep: those of concurrent callers. */
const maxKnown = 8

/** Creates a compiler that remembers its latest results, so that windows and drafts share them. */
export function constraintCompiler(vocabulary: TextVocabulary): ConstraintCompiler {
  const known = new Map<string, CompiledConstraints>()
  return (constraints) => {
    if (isEmpty(constraints)) return undefined
    const key = JSON.stringify(constraints)
    const compiled = known.get(key) ?? compile(vocabulary, constraints)
    known.delete(key)
    known.set(key, compiled)
    if (known.size > maxKnown) known.delete(known.keys().next().value as string)
    return compiled
  }
}

const isBiased = ({bias, biasStrength}: DecodingConstraints) => bias.length > 0 && biasStrength > 0

const isEmpty = (constraints: DecodingConstraints): boolean =>
  constraints.phrases.length === 0 && constraints.forbidden.length === 0 && !isBiased(constraints)

function compile(vocabulary: TextVocabulary, constraints: DecodingConstraints): CompiledConstraints {
  const {isRequired, size} = vocabulary
  const forbidden = new Set(constraints.forbidden.filter((token) => token < size && !isRequired(token)))
  const ignored = constraints.forbidden.filter((token) => !forbidden.has(token))
  const isAllowed = ({tokens}: Spelling) => !tokens.some((token) => forbidden.has(token))
  const grammar = grammarOf(vocabulary, constraints.phrases, isAllowed)
  const warnings: ConstraintWarning[] = []
  if (ignored.length > 0) warnings.push(ignoredWarning(ignored))
  if (grammar === undefined && constraints.phrases.length > 0) warnings.push(droppedWarning)
  const {stuckSteps} = constraints
  return {forbidden, bias: biasOf(vocabulary, constraints, isAllowed), grammar, stuckSteps, warnings}
}

const ignoredWarning = (tokens: readonly number[]): ConstraintWarning => ({
  code: 'forbidden_token_ignored',
  message: `Tokens that cannot be forbidden are ignored: ${tokens.join(', ')}. Decoding needs them, or the model does not have them.`,
})

const droppedWarning: ConstraintWarning = {
  code: 'constraint_dropped',
  message: 'The constrained phrases are ignored, because each of them needs a forbidden token.',
}

/** @throws phrase_unwritable */
function grammarOf(
  vocabulary: TextVocabulary,
  phrases: readonly string[],
  isAllowed: (spelling: Spelling) => boolean,
): PhraseGrammar | undefined {
  const trie = new PhraseTrie()
  const spellings = phrases.flatMap((phrase) => {
    const found = spellingsOf(phrase, vocabulary)
    if (found.length === 0) throw new SvcError('phrase_unwritable', {phrase})
    return found.filter(isAllowed)
  })
  if (spellings.length === 0) return undefined
  for (const spelling of spellings) trie.add(spelling)
  const single = (text: string) => {
    const tokens = vocabulary.encode(text) ?? []
    return tokens.length === 1 && isAllowed({isSpaced: false, tokens}) ? tokens : []
  }
  return new PhraseGrammar(trie, {space: single(' '), marks: [',', '.'].flatMap(single)})
}

/** Adds phrases in order; one that would exceed the number of tokens is left out. */
function biasOf(
  vocabulary: TextVocabulary,
  {bias, biasStrength, biasMaxTokens}: DecodingConstraints,
  isAllowed: (spelling: Spelling) => boolean,
): PhraseBias | undefined {
  const trie = new PhraseTrie()
  const raised = new Set<number>()
  if (biasStrength <= 0) return undefined
  for (const phrase of bias)
    for (const spelling of spellingsOf(phrase, vocabulary).filter(isAllowed)) {
      const added = spelling.tokens.filter((token) => !raised.has(token))
      if (raised.size + new Set(added).size > biasMaxTokens) continue
      for (const token of added) raised.add(token)
      trie.add(spelling)
    }
  return raised.size === 0 ? undefined : new PhraseBias(trie, biasStrength, vocabulary.endsInWord)
}
