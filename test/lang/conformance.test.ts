import assert from 'node:assert/strict'
import {join} from 'node:path'
import {before, describe, it} from 'node:test'
import {pathToFileURL} from 'node:url'
import {
  checkProgram,
  decoder,
  type FunctionType,
  functionsFile,
  type Program,
  pureFunction,
  toJson,
  typesFile,
} from '../../src/lang/index.js'
import {suiteFolder, writeFiles} from '../support/temporary.js'
import {compileTypeScript} from './compile-typescript.js'
import {type ConformanceCall, conformanceCases} from './conformance.js'

/** Calls a function with JSON arguments and returns JSON. @throws the failure of the function */
type Evaluate = (call: ConformanceCall) => unknown

/** `Unit` is null. */
const asJson = (value: unknown) => JSON.parse(JSON.stringify(value ?? null))

function closuresOf(program: Program): Evaluate {
  return ({name, args}) => {
    const target = program.functions.find((made) => made.name === name) as FunctionType
    const values = args.map((arg, i) => decoder((target.params[i] as FunctionType['params'][number]).type)(arg))
    return asJson(toJson(pureFunction(target)(...values)))
  }
}

async function typeScriptOf(path: string): Promise<Evaluate> {
  const functions = (await import(pathToFileURL(path).href)) as Record<string, (...args: readonly unknown[]) => unknown>
  return ({name, args}) => asJson((functions[name] ?? functions[`${name}$`])?.(...args))
}

function checkCall(evaluate: Evaluate, call: ConformanceCall): void {
  const {name, args, outcome} = call
  const label = `${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`
  if ('value' in outcome) assert.deepEqual(evaluate(call), outcome.value, label)
  else assert.throws(() => evaluate(call), {message: outcome.failure}, label)
}

describe('functions that need no database', () => {
  const folder = suiteFolder()
  const cases = Object.entries(conformanceCases).map(([name, {source, ...rest}], i) => ({
    name,
    ...rest,
    program: checkProgram(source),
    path: `case-${i}/functions`,
  }))

  before(async () => {
    const files = cases.flatMap(({program, path, isLoose = false}) => [
      [`api/${path}.ts`, (isLoose ? '// @ts-nocheck\n' : '') + functionsFile(program)],
      [`api/${path.replace('functions', 'types')}.ts`, typesFile(program)],
    ])
    await writeFiles(folder, Object.fromEntries(files))
    await compileTypeScript(folder)
  })

  for (const {name, program, path, calls} of cases)
    describe(name, () => {
      it('have no diagnostics and one case each', () => {
        assert.deepEqual(program.diagnostics, [])
        const called = new Set(calls.map((call) => call.name))
        const names = program.functions.map((made) => made.name)
        assert.deepEqual(
          names.filter((each) => !called.has(each)),
          [],
        )
      })

      it('return the same result as closures', async () => {
        const evaluate = await closuresOf(program)
        for (const call of calls) checkCall(evaluate, call)
      })

      it('return the same result as generated TypeScript', async () => {
        const evaluate = await typeScriptOf(join(folder, 'out', `${path}.js`))
        for (const call of calls) checkCall(evaluate, call)
      })
    })
})
