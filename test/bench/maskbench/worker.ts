import {readFileSync} from 'node:fs'
import {parentPort} from 'node:worker_threads'
import {SvcError} from '../../../src/errors/index.js'
import {compileGrammar, schemaGrammar} from '../../../src/grammar/index.js'
import {processorMs} from '../structured/processor-time.js'
import {accepts, acceptsReordered, instancesOf, instanceText} from './instance.js'

/** A test with a verdict that differs from that of MaskBench. */
export interface Difference {
  readonly index: number
  readonly kind: 'accepted' | 'rejected' | 'reordered'
}

export type FileResult =
  | {readonly kind: 'refused'; readonly keyword: string; readonly message: string}
  | {readonly kind: 'crashed'; readonly message: string}
  | {
      readonly kind: 'checked'
      /** Time of the processor: other programs do not add to it. */
      readonly compileMs: number
      readonly tests: number
      readonly differences: readonly Difference[]
    }

interface MaskBenchFile {
  schema: unknown
  tests: readonly {valid: boolean}[]
}

/** Compiles the schema of a file and checks its tests. */
function check(path: string): FileResult {
  const source = readFileSync(path, 'utf8')
  const {schema, tests} = JSON.parse(source) as MaskBenchFile
  const started = processorMs()
  const compiled = compileGrammar(schemaGrammar(schema))
  const compileMs = processorMs() - started
  const differences = instancesOf(source).flatMap((instance, index): Difference[] => {
    const {valid} = tests[index]!
    const isAccepted = accepts(compiled, instanceText(instance))
    if (isAccepted) return valid ? [] : [{index, kind: 'accepted'}]
    if (acceptsReordered(compiled, instance)) return [{index, kind: valid ? 'reordered' : 'accepted'}]
    return valid ? [{index, kind: 'rejected'}] : []
  })
  return {kind: 'checked', compileMs, tests: tests.length, differences}
}

function result(path: string): FileResult {
  try {
    return check(path)
  } catch (error) {
    if (!(error instanceof SvcError)) return {kind: 'crashed', message: String(error)}
    const {keyword, what} = error.params as {keyword?: string; what?: string}
    return {kind: 'refused', keyword: keyword ?? what ?? error.code, message: error.message}
  }
}

parentPort?.on('message', (path: string) => parentPort?.postMessage(result(path)))
