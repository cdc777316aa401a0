/** Lexer, parser and formatter. Names are not resolved here. */
export type * from './ast.js'
export {parse, parseHeads} from './declarations.js'
export {promisesProtection} from './decorators.js'
export {parseExpression} from './expression.js'
export {formatSource} from './format.js'
