import {join, resolve} from 'node:path'
import type {SettingSources} from '../../config/index.js'

type Environment = SettingSources['env']

const homeFolder = (env: Environment): string => env.HOME?.trim() || env.USERPROFILE?.trim() || '.'

/** Path below `~/.svc`, for files that belong to the machine and not to a workspace. */
export const userFile = (env: Environment, ...names: string[]): string =>
  resolve(join(homeFolder(env), '.svc', ...names))

/** Folder of the tasks of other machines. */
export const workFolder = (env: Environment): string => userFile(env, 'mesh', 'work')

/** Lock file of the process that runs the tasks of other machines. */
export const workerLock = (folder: string): string => `${folder}.lock`
