import type {FileOutcomesV1} from '../../contracts/index.js'
import {containedOutput, writeFileAtomic} from '../../files/index.js'

/**
 * Writes a program into the workspace atomically.
 * @throws path_denied, output_exists, disk_full, file_unreadable
 */
export async function writeProgram(root: string, path: string, code: string): Promise<FileOutcomesV1> {
  await writeFileAtomic(await containedOutput(root, path), code)
  return {
    schema: 'svc_generate_code_file_outcomes_v1',
    schema_version: 1,
    written_paths: [path],
    bytes_written: Buffer.byteLength(code),
    artifact_kind: 'svc_generated',
  }
}
