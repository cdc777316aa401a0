import {join} from 'node:path'
import {cwd} from 'node:process'
import {SvcError} from '../errors/index.js'
import {packageRoot} from '../files/index.js'

/** The run directory that ships with svc. */
export const guideFolder = join(packageRoot, 'examples', 'runs', 'guide')

const guideNotice =
  'notice: Using the included guide model, which knows only 60 facts about svc; for help, run `svc ask QUESTION`. --model or engine.model in Svc.toml selects another one.'

/**
 * The language model of a command: the configured one, else the only one on this machine, else the guide.
 * @param root of the workspace
 * @param cacheFolder of downloaded models, if it is configured
 * @param notice prints which model was chosen
 * @throws model_ambiguous
 */
export async function chooseLanguageModel(
  configured: string | undefined,
  root: string,
  cacheFolder: string | undefined,
  notice: (text: string) => void,
): Promise<string> {
  if (configured !== undefined) return configured
  const {findLanguageModels} = await import('../llm/index.js')
  const {hubCacheFolder} = await import('../weights/index.js')
  const models = await findLanguageModels({root, cwd: cwd(), cacheFolder: cacheFolder ?? hubCacheFolder(process.env)})
  const [only, ...others] = models
  if (others.length > 0) throw new SvcError('model_ambiguous', {models})
  notice(only === undefined ? guideNotice : `notice: Using the model ${only}, the only one on this machine.`)
  return only ?? guideFolder
}
