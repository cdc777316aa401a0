/**
 * Structured output: grammars that a reply must match, and which tokens may come next. The language of a grammar is exact,
 * and every text that is accepted so far can be completed.
 */
export {type CompiledGrammar, compileGrammar, compileInSteps, type Matcher, type ReadNested} from './compile.js'
export {type Constraint, type ConstraintSource, createConstraintSource} from './constraint.js'
export {formatGrammar, type ReplyFormat} from './format.js'
export type {Expression, Grammar, Pattern} from './grammar.js'
export type {Whitespace} from './json/text.js'
export {jsonGrammar} from './json/value.js'
export {type SchemaOptions, schemaGrammar, schemaGrammarInSteps, stringsOfSchema} from './json-schema/compile.js'
export {checkStrict} from './json-schema/strict.js'
export {LruCache} from './lru-cache.js'
export {bytesOfMark, bytesOfMarked, characterOfMark, hasBytesOfMarks, maxMarks} from './marks.js'
export {allSteps, type Steps, stepsInTurns} from './steps.js'
export {readGrammar, type StoredGrammar, storeGrammar} from './stored-grammar.js'
export {braceNotation, type GrammarPart, structure} from './structure.js'
export {gbnfGrammar} from './syntax/gbnf.js'
export {larkGrammar} from './syntax/lark.js'
export {choiceGrammar, regexGrammar} from './syntax/regex.js'
export {createVocabulary, type Vocabulary} from './vocabulary/slices.js'
export {readTokenTrie, trieFormat, writeTokenTrie} from './vocabulary/stored-trie.js'
export {hasToken, maskWords} from './vocabulary/token-set.js'
export {bytesOfToken, createTokenTrie, type TokenBytes, type TokenTrie} from './vocabulary/token-trie.js'
