import {SvcError} from '../../errors/index.js'
import {adapterFilesOf} from '../adapter.js'

/** The files of an adapter in a repository: weights and manifest. @throws adapter_missing */
export function adapterRepositoryFiles(id: string, names: readonly string[]): string[] {
  const files = adapterFilesOf(names)
  if (files === undefined) throw new SvcError('adapter_missing', {path: id, isRepository: true})
  return files
}
