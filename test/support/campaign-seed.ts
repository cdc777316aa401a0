import {randomInt} from 'node:crypto'
import {relative, sep} from 'node:path'
import {fileURLToPath} from 'node:url'
import {projectFile} from './project.js'

/** Variable with the seed of all campaigns of a run. `test/run.ts` sets it, so that a repeated file has the same seed. */
export const seedVariable = 'TEST_SEED'

/** A seed after which a campaign can use thousands of consecutive ones. */
export const newSeed = (): number => randomInt(1, 1_000_000_000)

/**
 * The seed of the run, or a new one. Prints it, with the command that repeats the campaign.
 * @param module `import.meta.url` of the campaign
 * @param variables names of the environment variables that it reads
 */
export function campaignSeed(module: string, variables: readonly string[] = []): number {
  const seed = Number(process.env[seedVariable] ?? newSeed())
  const title = relative(projectFile('dist/test'), fileURLToPath(module)).replaceAll(sep, '/').replace(/\.js$/, '')
  const settings = variables.flatMap((name) => (process.env[name] === undefined ? [] : `${name}=${process.env[name]} `))
  process.stdout.write(`Seed ${seed}. Repeat: ${settings.join('')}npm run test:slow -- ${title} --seed ${seed}\n`)
  return seed
}
