import {existsSync} from 'node:fs'
import {realpath} from 'node:fs/promises'

/**
 * The path to open a graph by. It may keep its weights in a second file, which the runtime looks for beside that path:
 * in a hub's cache beside the link, since both files lead to blobs of other names; elsewhere beside what a link leads to.
 * @throws an error of the file system where the file is not there
 */
export const modelPath = async (file: string): Promise<string> =>
  existsSync(file) && existsSync(`${file}_data`) ? file : await realpath(file)
