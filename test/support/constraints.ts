import {type CompiledConstraints, constraintCompiler} from '../../src/speech/constraints/compile.js'
import type {TextVocabulary} from '../../src/speech/constraints/text-vocabulary.js'
import {type DecodingConstraints, noConstraints} from '../../src/speech/model/model.js'

/** Constraints with the default limits. */
export const constraintsOf = (changes: Partial<DecodingConstraints>): DecodingConstraints => ({
  ...noConstraints,
  biasStrength: 0.8,
  biasMaxTokens: 256,
  stuckSteps: 2,
  ...changes,
})

export const compiledFor = (
  vocabulary: TextVocabulary,
  changes: Partial<DecodingConstraints>,
): CompiledConstraints | undefined => constraintCompiler(vocabulary)(constraintsOf(changes))
