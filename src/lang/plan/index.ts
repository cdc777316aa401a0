/** Operations on the database as SQL: static text, bound parameters, and the hints that go with them. */
export {type Capabilities, type ExplainRow, explain, type PlanJson, planJson} from './explain.js'
export {type Encoding, type Param, type Plan, planChain} from './plan.js'
export {type RuntimeProjection, runtimeProjection} from './projection.js'
export {keyOf, quoted} from './sql.js'
