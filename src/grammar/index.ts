/**
 * Structured output: grammars that a reply must match, and which tokens may come next. The language of a grammar is exact,
 * and every text that is accepted so far can be completed.
 */
export {type CompiledGrammar, compileGrammar, type Matcher} from './compile.js'
export type {Expression, Grammar, Pattern} from './grammar.js'
