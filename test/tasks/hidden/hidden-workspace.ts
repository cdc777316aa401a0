import {chmod} from 'node:fs/promises'
import {join} from 'node:path'
import type {TestContext} from 'node:test'
import {temporaryFolder, writeFiles} from '../../support/temporary.js'

/** An account that owns nothing and runs the commands if the tests run as root; undefined otherwise. */
export const otherUser: string | undefined = process.getuid?.() === 0 ? 'nobody' : undefined

/** Why tests of another user are skipped. */
export const needsRoot = otherUser === undefined && 'only root can run programs as another user'

/** TOML of a list of strings. */
export const tomlList = (items: readonly string[]): string => JSON.stringify(items)

/**
 * Creates a folder that only this user can read, with files and the settings of the user.
 * @param toml makes the settings from the path of the folder
 * @returns the folder, and the path of the settings
 */
export async function userFolder(
  t: Pick<TestContext, 'after'>,
  files: Readonly<Record<string, string>>,
  toml: (folder: string) => string,
): Promise<{folder: string; userConfig: string}> {
  const folder = await temporaryFolder(t)
  await writeFiles(folder, {...files, 'config.toml': toml(folder)})
  for (const path of Object.keys(files)) if (/\.sh$/.test(path)) await chmod(join(folder, path), 0o755)
  return {folder, userConfig: join(folder, 'config.toml')}
}
