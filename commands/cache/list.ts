import {cacheEntryRow, formatCache, SvcCommand, tableFlags} from '../../src/cli/index.js'
import type {CacheListV1} from '../../src/contracts/index.js'

export default class CacheList extends SvcCommand<typeof CacheList> {
  static override summary = 'List cached files that were made from models.'
  static override description =
    `The cache contains weights of 8 or 4 bits, whisper.cpp models in another format, and prompt prefixes. It is in ~/.cache/svc/derived
(XDG_CACHE_HOME), or in derived/ of SVC_SPEECH_CACHE_DIR. Downloaded models are not in this cache.`
  static override examples = [
    '<%= config.bin %> <%= command.id %>',
    '<%= config.bin %> <%= command.id %> --json | jq .bytes',
  ]
  static override flags = tableFlags

  async run(): Promise<void> {
    const {derivedFolder, listCache} = await import('../../src/weights/index.js')
    const folder = derivedFolder(process.env)
    const entries = (await listCache(folder)).map(cacheEntryRow)
    const result: CacheListV1 = {folder, bytes: entries.reduce((sum, {bytes}) => sum + bytes, 0), entries}
    await this.output.result(result, () => formatCache(entries, `in ${folder}`, this.view))
  }
}
