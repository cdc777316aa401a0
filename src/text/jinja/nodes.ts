import type {Arithmetic, Comparison} from './operators.js'
import type {Value} from './values.js'

export interface Arguments {
  positional: Expression[]
  named: [name: string, value: Expression][]
  /** `*values` and `**values`. */
  rest?: Expression
  namedRest?: Expression
}

export type Expression =
  | {kind: 'constant'; value: Value}
  | {kind: 'name'; name: string}
  | {kind: 'list' | 'tuple'; items: Expression[]}
  | {kind: 'dict'; entries: [key: Expression, value: Expression][]}
  | {kind: 'attribute'; of: Expression; name: string}
  | {kind: 'item'; of: Expression; key: Expression}
  | {kind: 'slice'; of: Expression; bounds: (Expression | undefined)[]}
  | {kind: 'call'; of: Expression; args: Arguments}
  | {kind: 'filter' | 'test'; of: Expression; name: string; args: Arguments}
  | {kind: 'not'; of: Expression}
  | {kind: 'sign'; sign: 1 | -1; of: Expression}
  | {kind: 'arithmetic'; operator: Arithmetic; left: Expression; right: Expression}
  | {kind: 'and' | 'or'; left: Expression; right: Expression}
  | {kind: 'comparison'; first: Expression; rest: [operator: Comparison, value: Expression][]}
  | {kind: 'concatenation'; items: Expression[]}
  | {kind: 'condition'; test: Expression; then: Expression; otherwise: Expression | undefined}

/** What an assignment writes: a variable, an attribute of a namespace, or several variables. */
export type Target =
  | {kind: 'name'; name: string}
  | {kind: 'attribute'; of: string; name: string}
  | {kind: 'tuple'; items: Target[]}

/** A filter applied to the text of a block. */
export type BlockFilter = {name: string; args: Arguments}

export interface Parameter {
  name: string
  fallback: Expression | undefined
}

export type Statement = {line: number} & (
  | {kind: 'text'; text: string}
  | {kind: 'print'; value: Expression}
  | {kind: 'if'; branches: [test: Expression, body: Statement[]][]; otherwise: Statement[]}
  | {
      kind: 'for'
      target: Target
      values: Expression
      condition: Expression | undefined
      recursive: boolean
      body: Statement[]
      otherwise: Statement[]
    }
  | {kind: 'set'; target: Target; value: Expression}
  | {kind: 'capture'; target: Target; filters: BlockFilter[]; body: Statement[]}
  | {kind: 'macro'; name: string; parameters: Parameter[]; body: Statement[]}
  | {kind: 'call'; call: Expression & {kind: 'call'}; parameters: Parameter[]; body: Statement[]}
  | {kind: 'filtered'; filters: BlockFilter[]; body: Statement[]}
  | {kind: 'with'; entries: [target: Target, value: Expression][]; body: Statement[]}
  | {kind: 'break' | 'continue'}
)
