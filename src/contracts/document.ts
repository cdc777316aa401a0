import {SvcError} from '../errors/index.js'
import {parseExactJson, parseYaml} from '../files/index.js'

/**
 * Parses a document: YAML if the name ends with .yaml or .yml, else JSON.
 * @throws document_unparsable
 */
export async function readDocument(source: string, name: string): Promise<unknown> {
  try {
    return /\.ya?ml$/.test(name) ? await parseYaml(source) : parseExactJson(source)
  } catch (error) {
    const reason = ((error as Error).message.split('\n')[0] ?? '').replace(/:$/, '')
    throw new SvcError('document_unparsable', {subject: name, reason}, {cause: error})
  }
}
