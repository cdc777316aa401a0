import {join, resolve} from 'node:path'
import type {SettingSources} from '../../config/index.js'

type Environment = SettingSources['env']

/** The folder of the user, as the environment says it. */
const homeFolder = (env: Environment): string => env.HOME?.trim() || env.USERPROFILE?.trim() || '.'

/** A place below `.svc` in the folder of the user: what belongs to the machine and to no workspace lies there. */
export const userFile = (env: Environment, ...names: string[]): string =>
  resolve(join(homeFolder(env), '.svc', ...names))
