import {existsSync} from 'node:fs'
import {realpath} from 'node:fs/promises'

/**
 * The path by which to open a graph. The runtime looks for external weights next to this path. In a hub cache that is
 * next to the symbolic link, because the blobs have other names; otherwise it is next to the link's target.
 * @throws a file system error if the file does not exist
 */
export const modelPath = async (file: string): Promise<string> =>
  existsSync(file) && existsSync(`${file}_data`) ? file : await realpath(file)
