import {spawn} from 'node:child_process'
import {once} from 'node:events'
import {join} from 'node:path'
import {setTimeout} from 'node:timers/promises'
import {complete} from '../../src/bench/llm.js'
import {median, medianRatio, round} from '../../src/bench/measure.js'
import {startEngine} from '../../src/llm/index.js'
import {freePort} from '../../src/net/index.js'
import {defaultSampling} from '../../src/sampling/index.js'

export interface LookupOptions {
  /** Directory of a model whose tokens are followed by the next ones of the vocabulary. */
  model: string
  vocabSize: number
  precision: 'w8' | 'w4'
  threads: number
  rounds: number
  /** Directory of `llama-server`, and the file of the same model. */
  peer: {name: string; directory: string; file: string} | undefined
}

interface Program {
  name: string
  /** Generates a reply of a fixed length. `ms` is the time from its first token to its last. */
  reply(prompt: readonly number[], tokens: number): Promise<{tokens: readonly number[]; ms: number}>
  close(): Promise<unknown>
}

/**
 * Texts with the length of the reply. One token in `every` tokens of the prompt differs from the reply. These are a few
 * edits, nothing that repeats, and so many edits that n-grams of three tokens always predict a wrong token.
 */
const texts = {
  edit: {tokens: 512, every: 128, times: 1},
  // Small differences are expected, so the programs alternate after short replies.
  novel: {tokens: 48, every: 1, times: 4},
  misleading: {tokens: 48, every: 4, times: 4},
}

/**
 * Tokens per second of replies that repeat their prompts with edits, with and without prompt lookup, and of two texts
 * for which lookup is of no use.
 * @throws Error if a program generates another text
 */
export async function compareLookup(options: LookupOptions) {
  const {rounds, vocabSize, peer} = options
  const own = [await startSvc('svc', options, true), await startSvc('svc without lookup', options, false)]
  const others =
    peer === undefined
      ? []
      : [
          await startServer(`${peer.name} with ngram-mod`, peer, options.threads, ['--spec-type', 'ngram-mod']),
          await startServer(peer.name, peer, options.threads, []),
        ]
  const all = Object.entries(texts).map(([text, sizes]) => ({
    text,
    ...sizes,
    programs: (text === 'edit' ? [...own, ...others] : own).map((program) => ({...program, speeds: [] as number[]})),
  }))
  let start = 1000
  // The texts alternate, too, because svc adapts to the rate of correct drafts.
  for (let i = 0; i < rounds; i++)
    for (const {tokens, every, times, programs} of all)
      for (let time = 0; time < times; time++) {
        // Each time with other tokens, because n-grams of earlier requests are remembered.
        const expected = Array.from({length: tokens}, (_, at) => start + at)
        const edited = expected.map((token, at) => ((at + 1) % every === 0 ? token + Math.floor(vocabSize / 2) : token))
        for (const {name, reply, speeds} of programs) {
          const {tokens: actual, ms} = await reply([...edited, start - 1], tokens)
          if (`${actual}` !== `${expected}`) throw new Error(`${name} generated another text: ${actual}`)
          speeds.push(((tokens - 1) * 1000) / ms)
        }
        start += tokens + 1
      }
  await Promise.all([...own, ...others].map(({close}) => close()))
  return Object.fromEntries(
    all.map(({text, programs}) => {
      const first = programs[0]?.speeds ?? []
      const figures = programs.map(({name, speeds}) => [
        name,
        {speed: round(median(speeds), 1), ratio: round(medianRatio(first, speeds), 2)},
      ])
      return [text, Object.fromEntries(figures)]
    }),
  )
}

async function startSvc(name: string, options: LookupOptions, promptLookup: boolean): Promise<Program> {
  const {model, precision, threads} = options
  const engine = await startEngine(model, {threads, precision, numCtx: 0, promptLookup})
  return {
    name,
    async reply(prompt, maxTokens) {
      const {tokens, decodeMs} = await complete(engine, {
        prompt: {kind: 'tokens', tokens: prompt},
        maxTokens,
        stop: [],
        sampling: {...defaultSampling, temperature: 0},
      })
      return {tokens: tokens.slice(prompt.length), ms: decodeMs}
    },
    close: () => engine.close(),
  }
}

async function startServer(
  name: string,
  {directory, file}: {directory: string; file: string},
  threads: number,
  settings: readonly string[],
): Promise<Program> {
  const port = await freePort()
  const sizes = ['-t', `${threads}`, '-c', '2048', '-np', '1']
  const args = ['-m', file, '--port', `${port}`, ...sizes, ...settings]
  const child = spawn(join(directory, 'llama-server'), args, {stdio: 'ignore'})
  const exited = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  const isReady = () =>
    fetch(`${url}/health`).then(
      ({ok}) => ok,
      () => false,
    )
  while (!(await isReady())) {
    if (child.exitCode !== null) throw new Error(`llama-server ${args.join(' ')} exited with ${child.exitCode}.`)
    await setTimeout(100)
  }
  return {
    name,
    async reply(prompt, tokens) {
      const request = {prompt, n_predict: tokens, temperature: 0, cache_prompt: false, return_tokens: true}
      const answer = await fetch(`${url}/completion`, {method: 'POST', body: JSON.stringify(request)})
      const {tokens: reply, timings} = (await answer.json()) as {tokens: number[]; timings: {predicted_ms: number}}
      return {tokens: reply, ms: timings.predicted_ms}
    },
    close() {
      child.kill()
      return exited
    },
  }
}
