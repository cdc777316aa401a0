/**
 * Benchmarks that run from the installed package: each compares svc with a base in the same run. Also the speed of a
 * language model, checks of models, and the estimate of the information in a source, syntax-K.
 */
import type {Benchmark} from './benchmark.js'
import {langCheck} from './lang-check.js'
import {langFilter} from './lang-filter.js'
import {orchestratorDequeue} from './orchestrator-dequeue.js'
import {orchestratorSubmit} from './orchestrator-submit.js'
import {startup} from './startup.js'

export type {Benchmark, Result} from './benchmark.js'
export {type LlmSpeeds, measureLlm} from './llm.js'
export {estimateSyntaxK, type SyntaxKRequest} from './syntax-k.js'
export {cardExamples, readExamples} from './verify/examples.js'
export {verifyLanguageModel} from './verify/language.js'
export {verifySpeechModel} from './verify/speech.js'

export const benchmarks: readonly Benchmark[] = [
  startup,
  langCheck,
  langFilter,
  orchestratorSubmit,
  orchestratorDequeue,
]
