import {createHash} from 'node:crypto'
import {createReadStream} from 'node:fs'

/** Bytes that are read at once. */
const chunkBytes = 1 << 20

/** SHA-256 of a file, 64 hexadecimal digits. @throws the error of the file system */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file, {highWaterMark: chunkBytes})) hash.update(chunk as Buffer)
  return hash.digest('hex')
}
