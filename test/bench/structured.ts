import {fork} from 'node:child_process'
import {once} from 'node:events'
import {round} from '../../src/bench/measure.js'
import type {Figures, Job} from './structured/measure.js'
import {cases, write} from './structured/schemas.js'
import {tools} from './structured/tools.js'
import {encoderOf, vocabularyNames} from './structured/vocabularies.js'

/** Rounds of each program. A round of XGrammar takes half a minute, because it computes its masks when it compiles. */
const svcRounds = {warmUp: 200, rounds: 200}
const xgrammarRounds = {warmUp: 1, rounds: 2}

/**
 * Masks of structured output in three vocabularies, next to XGrammar in WebAssembly with the same schemas and replies. Each
 * program runs in a process of its own. Times are those of its processor, garbage collection and compilation of JavaScript
 * included. `ratio` values are XGrammar's time divided by ours. Then calls of tools, without a peer.
 */
export async function structured() {
  const figures: Record<string, object> = {tools: await tools()}
  for (const vocabulary of vocabularyNames) {
    const encode = encoderOf(vocabulary)
    const replies = Object.fromEntries(
      Object.entries(cases).map(([name, {values}]) => [name, values.map((value) => encode(write(value)))]),
    )
    const svc = await measured({program: 'svc', vocabulary, replies, ...svcRounds})
    const other = await measured({program: 'xgrammar', vocabulary, replies, ...xgrammarRounds})
    const {first_round: _, longest_step_ms: __, bytes_p50: ___, ...xgrammar} = other
    figures[vocabulary] = {
      ...svc,
      xgrammar,
      ratio_mask_p50: round(other.mask_ms_p50 / svc.mask_ms_p50, 2),
      ratio_mask_p99: round(other.mask_ms_p99 / svc.mask_ms_p99, 2),
      ratio_first_mask: round(other.first_mask_ms_p95 / svc.first_mask_ms_p95, 2),
    }
  }
  return figures
}

/** @throws if the process fails */
async function measured(job: Job): Promise<Figures> {
  const child = fork(new URL('./structured/measure.js', import.meta.url), {execArgv: []})
  const ended = once(child, 'exit').then(([status]) => {
    throw new Error(`The measurement of ${job.program} ended with status ${status}.`)
  })
  try {
    child.send(job)
    const [figures] = (await Promise.race([once(child, 'message'), ended])) as [Figures]
    return figures
  } finally {
    ended.catch(() => undefined)
    child.kill()
  }
}
