import {readFile} from 'node:fs/promises'
import {SvcError} from '../errors/index.js'
import type {TlsOptions} from './app.js'

interface TlsFiles {
  /** PEM files of the certificate chain and of its private key. */
  cert: string | undefined
  key: string | undefined
  minVersion: TlsOptions['minVersion']
}

/**
 * Reads the certificate and key of a server.
 * @returns undefined if neither is configured
 * @throws tls_unusable if only one is configured; file system errors
 */
export async function readTlsFiles({cert, key, minVersion}: TlsFiles): Promise<TlsOptions | undefined> {
  if (cert === undefined && key === undefined) return undefined
  if (cert === undefined) throw new SvcError('tls_unusable', {reason: 'the key has no certificate'})
  if (key === undefined) throw new SvcError('tls_unusable', {reason: 'the certificate has no key'})
  const [certificate, privateKey] = await Promise.all([readFile(cert, 'utf8'), readFile(key, 'utf8')])
  return {cert: certificate, key: privateKey, minVersion}
}
