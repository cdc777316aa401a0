/** From text to tree: tokens, declarations, statements, expressions. Nothing here knows what a name means. */
export type * from './ast.js'
export {parse} from './declarations.js'
export {formatSource} from './format.js'
