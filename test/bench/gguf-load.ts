import {execFile} from 'node:child_process'
import {rm} from 'node:fs/promises'
import {join} from 'node:path'
import {fileURLToPath} from 'node:url'
import {promisify} from 'node:util'
import {median, medianRatio, round} from '../../src/bench/measure.js'
import type {LoadFigures} from './gguf-load-once.js'

const program = fileURLToPath(new URL('./gguf-load-once.js', import.meta.url))

/**
 * Loads a GGUF file until the first token, in processes of their own: with a new cache and from the cache. With `peer`, the
 * folder of an installation of node-llama-cpp, llama.cpp loads it, too. All alternate. Ratios are medians of the same round.
 * @param cache folder, which is emptied
 */
export async function ggufLoad(file: string, cache: string, rounds: number, peer: string | undefined) {
  const load = async (...args: readonly string[]): Promise<LoadFigures> => {
    const env = {...process.env, XDG_CACHE_HOME: cache}
    const {stdout} = await promisify(execFile)(process.execPath, [program, file, ...args], {env})
    return JSON.parse(stdout) as LoadFigures
  }
  const [first, again, other]: LoadFigures[][] = [[], [], []]
  for (let i = 0; i < rounds; i++) {
    await rm(join(cache, 'svc'), {recursive: true, force: true})
    first?.push(await load())
    again?.push(await load())
    if (peer !== undefined) other?.push(await load(peer))
  }
  const lists = {first, again, ...(peer === undefined ? {} : {'llama.cpp': other})}
  const figures = ['cpu_ms', 'wall_ms', 'peak_mb'] as const
  return Object.entries(lists).map(([name, found = []]) => ({
    name,
    ...Object.fromEntries(figures.map((key) => [key, round(median(found.map((each) => each[key])))])),
    ...(peer === undefined || found === other
      ? {}
      : {
          ratio: Object.fromEntries(
            figures.map((key) => [
              key,
              round(
                medianRatio(
                  found.map((each) => each[key]),
                  (other ?? []).map((each) => each[key]),
                ),
                2,
              ),
            ]),
          ),
        }),
  }))
}
