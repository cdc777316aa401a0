import {failed, notFound, rows} from '../row.js'
import {didYouMean} from '../suggestion.js'

/** Errors of benchmarks. */
export const benchErrors = rows(() => ({
  benchmark_unknown: notFound({
    message: (p: {name: string; suggestion?: string | undefined}) =>
      `There is no benchmark ${p.name}.${didYouMean(p.suggestion)}`,
    hint: 'Run `svc bench run` to list the benchmarks.',
  }),
  syntax_k_limit_exceeded: failed({
    message: (p: {fixture: string; bytes: number; limit: number}) =>
      `The estimate for ${p.fixture} is ${p.bytes} bytes; the limit is ${p.limit} bytes.`,
    hint: 'Shorten the source, or raise SVC_SYNTAX_K_MAX_BYTES.',
  }),
}))
