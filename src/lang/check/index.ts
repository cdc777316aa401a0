/** Name resolution, type checking and effect analysis: from the syntax tree to the checked tree. */

export {
  functions as builtinFunctions,
  methods as builtinMethods,
  namespaced as builtinNamespaced,
  type RoundingMode,
  roundingModes,
} from './builtins.js'
export {declaredNames} from './declared-names.js'
export {builtinsOf, reachable, usesDatabase, waits} from './effects.js'
export {checkExpressionIn, type ExpressionCheck} from './expression.js'
export type * from './ir.js'
export {defaultOf} from './ir.js'
export {isInternal, snakeCase} from './names.js'
export {checkProgram, kindOf, type Program} from './program.js'
export {compileRegex} from './regex.js'
export {placeholders, servedRoutes} from './routes.js'
export {signature} from './signatures.js'
export type {SourceSymbol} from './symbols.js'
export {conversions, dateFields, timeFields, unknownField} from './time-builtins.js'
export {durationMs, msPerUnit, readDate, readDateTime, readDuration, writeDateTime, writeDuration} from './time-text.js'
export * from './types.js'
export {uniqueIndexes} from './upsert.js'
export {type Visitor, visit, visitSome} from './visitor.js'
