import {Args} from '@oclif/core'
import {inputChunks, meshPlace, meshStoreFlags, SvcCommand} from '../../src/cli/index.js'
import {meshServerSettings} from '../../src/config/index.js'
import type {MeshTransferV1} from '../../src/contracts/index.js'
import {counted} from '../../src/errors/index.js'

export default class MeshImport extends SvcCommand<typeof MeshImport> {
  static override summary = 'Import an exported mesh into an empty database.'
  static override description =
    `Reads the output of svc mesh export. The database must not contain a mesh, and no control plane may use it. All data is
imported, or nothing if the export is incomplete or was changed.

Nodes, leases, messages, files, used tokens and the audit log keep their ids, and new fencing tokens are higher than all
earlier ones. When the next control plane starts, leases and claims are extended by the time since the old one stopped.`
  static override examples = [
    '<%= config.bin %> <%= command.id %> mesh.ndjson --store postgres://svc@db.example.com/mesh',
    'gunzip -c backup.ndjson.gz | <%= config.bin %> <%= command.id %> - --db ./mesh.db',
  ]
  static override args = {
    file: Args.string({description: 'Export to read, or - for standard input.', required: true}),
  }
  static override flags = {...meshStoreFlags}

  async run(): Promise<void> {
    const {file} = this.args
    const place = await meshPlace(this.settings(meshServerSettings), this.flags)
    const {importMesh} = await import('../../src/mesh/index.js')
    const source = file === '-' ? 'standard input' : file
    const result: MeshTransferV1 = {file, rows: await importMesh(place, inputChunks(file, this.signal), source)}
    const count = Object.values(result.rows).reduce((sum, rows) => sum + rows, 0)
    await this.output.result(result, () => `${counted(count, 'row')} imported`)
  }
}
