import {resolve} from 'node:path'
import {Flags} from '@oclif/core'
import {meshPlace, meshStoreFlags, overwriteFlag, SvcCommand} from '../../src/cli/index.js'
import {meshServerSettings} from '../../src/config/index.js'
import type {MeshTransferV1} from '../../src/contracts/index.js'
import {checkOutputs, writeFileAtomic} from '../../src/files/index.js'

export default class MeshExport extends SvcCommand<typeof MeshExport> {
  static override summary = 'Export all data of a control plane.'
  static override description =
    `Writes a backup, or moves a mesh to another database together with svc mesh import. The control plane must be stopped,
because an export would miss its later changes; --live exports it anyway. The lines are JSON: a header, one line per
row, and a footer with the number of rows and a checksum.

The file contains all messages and files of tasks; only its owner can read it. Secrets are not part of it.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> -o mesh.ndjson',
    '<%= config.bin %> <%= command.id %> --live | gzip > backup.ndjson.gz',
    '<%= config.bin %> <%= command.id %> --db ./mesh.db | <%= config.bin %> mesh import - --store postgres://svc@db.example.com/mesh',
  ]
  static override flags = {
    ...meshStoreFlags,
    output: Flags.string({
      char: 'o',
      description: 'File to write, or - for standard output.',
      default: '-',
      helpValue: 'FILE',
    }),
    overwrite: overwriteFlag,
    live: Flags.boolean({description: 'Export a backup while a control plane uses the store.'}),
  }

  async run(): Promise<void> {
    const {output, overwrite = false, live = false} = this.flags
    const place = await meshPlace(this.settings(meshServerSettings), this.flags)
    const {exportMesh} = await import('../../src/mesh/index.js')
    const {lines, counts: rows} = exportMesh(place, live)
    if (output === '-') {
      for await (const line of this.#untilAborted(lines)) await this.output.raw(line)
      return
    }
    const file = resolve(output)
    await checkOutputs([file], {overwrite, inputs: 'path' in place ? [place.path] : []})
    await writeFileAtomic(file, this.#untilAborted(lines), {keep: !overwrite, mode: 0o600, flush: true})
    const result: MeshTransferV1 = {file, rows}
    await this.output.result(result, () => file)
  }

  async *#untilAborted(lines: AsyncIterable<string>): AsyncGenerator<string> {
    for await (const line of lines) {
      this.signal.throwIfAborted()
      yield line
    }
  }
}
