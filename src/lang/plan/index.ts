/** Database operations as SQL: static text, bound parameters and hints. */
export {conditionColumns, conditionSql, indexedColumns} from './condition.js'
export {type ExplainRow, explain} from './explain.js'
export {cursorId, keyName, pageKeys} from './page.js'
export {type Plan, planChain} from './plan.js'
export {runtimeProjection} from './projection.js'
export {type Encoding, keyOf, type Param, quoted, storedEncoding} from './sql.js'
