import {SvcError} from '../errors/index.js'
import {exactNumber, parseExactJson} from '../files/index.js'

/**
 * Parses a document: YAML if the name ends with .yaml or .yml, else JSON.
 * @throws document_unparsable
 */
export async function readDocument(source: string, name: string): Promise<unknown> {
  try {
    if (!/\.ya?ml$/.test(name)) return parseExactJson(source)
    const exact = (key: unknown, value: unknown) => (typeof value === 'bigint' ? exactNumber(value, key) : value)
    return (await import('yaml')).parse(source, exact, {intAsBigInt: true})
  } catch (error) {
    const reason = ((error as Error).message.split('\n')[0] ?? '').replace(/:$/, '')
    throw new SvcError('document_unparsable', {subject: name, reason}, {cause: error})
  }
}
