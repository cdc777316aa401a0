import {type FileHandle, mkdir, open} from 'node:fs/promises'
import {dirname} from 'node:path'
import {writeFault} from './atomic-write.js'

/**
 * Appends a value as one line of JSON. Creates the file and missing folders. The line is written in one call, so lines
 * of concurrent writers do not mix. If the file ends within a line, the value still gets a line of its own.
 * @param mode permissions of a new file
 * @throws disk_full, file_unwritable
 */
export async function appendJsonLine(path: string, value: object, mode = 0o666): Promise<void> {
  try {
    await mkdir(dirname(path), {recursive: true})
    const file = await open(path, 'a+', mode)
    try {
      const start = (await endsWithinLine(file)) ? '\n' : ''
      await file.appendFile(`${start}${JSON.stringify(value)}\n`)
    } finally {
      await file.close()
    }
  } catch (error) {
    throw writeFault(error, path)
  }
}

async function endsWithinLine(file: FileHandle): Promise<boolean> {
  const found = await file.stat()
  if (!found.isFile() || found.size === 0) return false
  const {buffer} = await file.read({buffer: Buffer.alloc(1), position: found.size - 1})
  return buffer.toString() !== '\n'
}
